//! .NET's number formats: the standard ones (`N2`, `F0`, `P1`, `D5`, `X`) and patterns such as `#,##0.00`.

/// The most digits behind the point that a format may ask for.
const DIGITS_MAX: usize = 30;

/// Formats a number.
pub(crate) fn format_number(number: f64, format: &str) -> String {
    if !number.is_finite() {
        return number.to_string();
    }
    let mut letters = format.chars();
    let letter = letters.next().unwrap_or('G');
    match letters.as_str().parse::<usize>() {
        Ok(digits) if letter.is_ascii_alphabetic() => {
            standard(number, letter, Some(digits.min(DIGITS_MAX)))
        }
        Err(_) if letter.is_ascii_alphabetic() && letters.as_str().is_empty() => {
            standard(number, letter, None)
        }
        _ => custom(number, format),
    }
    .unwrap_or_else(|| format.to_owned())
}

/// A standard format; `None`: there is none of that letter.
fn standard(number: f64, letter: char, digits: Option<usize>) -> Option<String> {
    let two = digits.unwrap_or(2);
    Some(match letter.to_ascii_uppercase() {
        'F' => format!("{number:.two$}"),
        'N' => grouped(&format!("{number:.two$}")),
        'C' if number < 0.0 => format!("(¤{})", grouped(&format!("{:.two$}", -number))),
        'C' => format!("¤{}", grouped(&format!("{number:.two$}"))),
        'P' => format!("{} %", grouped(&format!("{:.two$}", number * 100.0))),
        'D' => {
            let sign = if number < 0.0 { "-" } else { "" };
            format!(
                "{sign}{:0width$.0}",
                number.abs().trunc(),
                width = digits.unwrap_or(0)
            )
        }
        'G' | 'R' => number.to_string(),
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        'X' => {
            let text = format!("{:0width$X}", number as i64, width = digits.unwrap_or(0));
            if letter == 'x' {
                text.to_lowercase()
            } else {
                text
            }
        }
        'E' => {
            let text = format!("{number:.*e}", digits.unwrap_or(6));
            let (mantissa, exponent) = text.split_once('e')?;
            format!("{mantissa}{letter}{:+04}", exponent.parse::<i32>().ok()?)
        }
        _ => return None,
    })
}

/// A pattern of `0`, `#`, `.`, `,` and `%`, with sections for positive, negative and zero numbers.
fn custom(number: f64, format: &str) -> Option<String> {
    let sections: Vec<_> = format.split(';').collect();
    let section = match sections.as_slice() {
        [_, _, zero] if number == 0.0 => zero,
        [_, negative, ..] if number < 0.0 && !negative.is_empty() => {
            return Some(pattern(-number, negative));
        }
        [positive, ..] => positive,
        [] => return None,
    };
    let sign = if number < 0.0 { "-" } else { "" };
    Some(format!("{sign}{}", pattern(number.abs(), section)))
}

fn pattern(number: f64, section: &str) -> String {
    let is_digit = |c: char| matches!(c, '0' | '#');
    let Some(start) = section.find(is_digit) else {
        return section.to_owned();
    };
    let end = section
        .rfind(is_digit)
        .map_or(section.len(), |last| last + 1);
    let digits = section.get(start..end).unwrap_or("");
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number = if section.contains('%') {
        number * 100.0
    } else {
        number
    };
    let places = fraction
        .chars()
        .filter(|c| is_digit(*c))
        .count()
        .min(DIGITS_MAX);
    let certain = fraction.rfind('0').map_or(0, |last| last + 1);
    let text = format!("{number:.places$}");
    let (mut integer, mut decimals) = match text.split_once('.') {
        Some((integer, decimals)) => (integer.to_owned(), decimals.to_owned()),
        None => (text, String::new()),
    };
    while decimals.len() > certain && decimals.ends_with('0') {
        decimals.pop();
    }
    let least = whole.chars().filter(|c| *c == '0').count().min(DIGITS_MAX);
    if integer == "0" && least == 0 {
        integer.clear();
    }
    integer = format!("{integer:0>least$}");
    if whole.contains(',') {
        integer = grouped(&integer);
    }
    let point = if decimals.is_empty() { "" } else { "." };
    let around = |part: Option<&str>| part.unwrap_or("").replace(['\'', '"', '\\'], "");
    let (before, after) = (around(section.get(..start)), around(section.get(end..)));
    format!("{before}{integer}{point}{decimals}{after}")
}

/// Puts commas between groups of three digits.
fn grouped(number: &str) -> String {
    let (sign, digits) = number
        .strip_prefix('-')
        .map_or(("", number), |digits| ("-", digits));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_formats_are_those_of_the_invariant_culture() {
        let cases = [
            (1234.567, "N2", "1,234.57"),
            (-1234567.0, "N0", "-1,234,567"),
            (1234.5, "F", "1234.50"),
            (1234.5, "C", "¤1,234.50"),
            (0.1234, "P1", "12.3 %"),
            (42.0, "D5", "00042"),
            (-42.0, "D5", "-00042"),
            (255.0, "x4", "00ff"),
            (1234.5, "E2", "1.23E+003"),
            (0.5, "G", "0.5"),
            (0.5, "", "0.5"),
            (1234.5, "#,##0.00", "1,234.50"),
            (0.5, "#.##", ".5"),
            (7.0, "000", "007"),
            (0.256, "0.#%", "25.6%"),
            (-3.0, "0.0;(0.0);zero", "(3.0)"),
            (0.0, "0.0;(0.0);zero", "zero"),
            (5.0, "0 'items'", "5 items"),
        ];
        for (number, format, expected) in cases {
            assert_eq!(format_number(number, format), expected, "{number} {format}");
        }
    }
}
