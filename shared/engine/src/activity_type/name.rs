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

#[cfg(test)]
mod tests {
    use super::is_match;

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
