//! Names in types, and the function in a handler's script.

use super::reader::NAME_CHARS_MAX;

/// What a queue may be called.
pub(super) const QUEUE_RULE: &str =
    "a queue is named with letters, digits, dots, dashes and underscores, at most 64 of them";

pub(super) fn is_identifier(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a type may be called so.
#[must_use]
pub fn is_type_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX && name.contains('.') && name.split('.').all(is_identifier)
}

/// Whether a queue may be called so.
#[must_use]
pub fn is_queue_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// Whether the type of an error fits a pattern, in which `*` stands for any characters.
#[must_use]
pub fn is_match(pattern: &str, kind: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == kind;
    };
    let (middle, last) = rest.rsplit_once('*').map_or(("", rest), |(m, l)| (m, l));
    let Some(inner) = kind.strip_prefix(first).and_then(|k| k.strip_suffix(last)) else {
        return false;
    };
    // Each part is taken where it comes first, which leaves the most for those behind it.
    let mut parts = middle.split('*').filter(|part| !part.is_empty());
    let left = parts.try_fold(inner, |left, part| Some(left.split_once(part)?.1));
    left.is_some()
}

/// The script that calls a handler's function with `args.task`. `None`: it has not one `export default`.
#[must_use]
pub fn script(source: &str) -> Option<String> {
    const EXPORT: &str = "export default";
    let mut parts = source.splitn(3, EXPORT);
    let (before, after) = (parts.next()?, parts.next()?);
    if parts.next().is_some() || after.trim().is_empty() {
        return None;
    }
    Some(format!(
        "{before}const $handler ={after}\n;return $handler(args.task);"
    ))
}

/// What is said of a name that is none.
pub(super) const FUNCTION_RULE: &str = "a handler of the kind `lambda` has a `function`: a name of at most 64 letters, digits, dashes and underscores, or an ARN such as `arn:aws:lambda:eu-west-1:123456789012:function:charge`; a version or alias may follow a colon";

/// Whether it is the name or the ARN of a function of AWS Lambda, with or without a version or alias.
#[must_use]
pub fn is_function_name(text: &str) -> bool {
    let is_name = |text: &str, most: usize| {
        (1..=most).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    let is_qualified = |name: &str, qualifier: Option<&str>| {
        is_name(name, 64) && qualifier.is_none_or(|q| q == "$LATEST" || is_name(q, 128))
    };
    let parts: Vec<&str> = text.split(':').collect();
    match parts.as_slice() {
        [name] => is_qualified(name, None),
        // What begins like an ARN is meant as one.
        [name, qualifier] => *name != "arn" && is_qualified(name, Some(qualifier)),
        [
            "arn",
            partition,
            "lambda",
            region,
            account,
            "function",
            name,
            rest @ ..,
        ] => {
            partition.starts_with("aws")
                && is_name(partition, 20)
                && is_name(region, 30)
                && account.len() == 12
                && account.bytes().all(|b| b.is_ascii_digit())
                && match rest {
                    [] => is_qualified(name, None),
                    [qualifier] => is_qualified(name, Some(qualifier)),
                    [_, _, ..] => false,
                }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_named_by_name_or_arn() {
        let arn = "arn:aws:lambda:eu-west-1:123456789012:function:charge";
        let long = "x".repeat(65);
        let qualified = format!("{arn}:live");
        for name in ["charge", "charge_2:$LATEST", "a:3", arn, &qualified] {
            assert!(is_function_name(name), "{name}");
        }
        let other = arn.replace("1234", "12x4");
        let event = arn.replace(":lambda:", ":sqs:");
        for name in [
            "",
            "a/b",
            "a b",
            ":live",
            "a:b:c",
            "..",
            &long,
            &other,
            &event,
            "arn:aws:lambda:r:1:function:x",
            "arn:x",
        ] {
            assert!(!is_function_name(name), "{name}");
        }
    }

    #[test]
    fn a_pattern_takes_any_characters_for_a_star() {
        for (pattern, kind) in [
            ("Payment.Declined", "Payment.Declined"),
            ("Payment.*", "Payment.Declined"),
            ("*", ""),
            ("*.Declined", "Payment.Declined"),
            ("P*t.D*d", "Payment.Declined"),
            ("a*b*b*c", "axbxbxc"),
            ("**", "x"),
        ] {
            assert!(is_match(pattern, kind), "{pattern} {kind}");
        }
        for (pattern, kind) in [
            ("Payment.Declined", "payment.declined"),
            ("Payment.*", "Payment"),
            ("aa*aa", "aaa"),
            ("a*b*b*c", "axbxc"),
            ("", "x"),
        ] {
            assert!(!is_match(pattern, kind), "{pattern} {kind}");
        }
    }
}
