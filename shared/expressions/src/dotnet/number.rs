//! .NET's number formats: the standard ones (`N2`, `F0`, `P1`, `D5`, `X`); patterns are in `pattern.rs`.

use super::pattern::custom;

/// The most digits behind the point that a format may ask for.
const DIGITS_MAX: usize = 30;

/// Formats a double.
pub(crate) fn format_number(number: f64, format: &str) -> String {
    if !number.is_finite() {
        return super::number_text(number);
    }
    formatted(&Digits::of_double(number), Some(number), format)
}

/// Formats a number that is written out: a decimal, or a whole number of any size.
pub(crate) fn format_exact(number: &str, format: &str) -> String {
    formatted(&Digits::of_text(number), None, format)
}

/// The digits of a number.
#[derive(Debug, Clone)]
pub(super) struct Digits {
    pub(super) is_negative: bool,
    pub(super) whole: String,
    pub(super) fraction: String,
}

impl Digits {
    fn of_text(text: &str) -> Self {
        let digits = text.trim_start_matches('-');
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let whole = whole.trim_start_matches('0');
        Self {
            is_negative: text.starts_with('-'),
            whole: if whole.is_empty() { "0" } else { whole }.to_owned(),
            fraction: fraction.to_owned(),
        }
    }

    /// The 15 digits that a pattern works with.
    fn of_double(number: f64) -> Self {
        let certain = format!("{number:.14e}").parse::<f64>().unwrap_or(number);
        Self::of_text(&format!("{certain}"))
    }

    /// With that many digits behind the point; halves away from zero.
    pub(super) fn rounded(&self, places: usize) -> Self {
        let fraction = self.fraction.as_bytes();
        if fraction.len() <= places {
            let missing = "0".repeat(places - fraction.len());
            return Self {
                fraction: format!("{}{missing}", self.fraction),
                ..self.clone()
            };
        }
        let kept = self.fraction.get(..places).unwrap_or_default();
        let mut digits: Vec<u8> = self.whole.bytes().chain(kept.bytes()).collect();
        let mut carries = fraction.get(places).is_some_and(|digit| *digit >= b'5');
        for digit in digits.iter_mut().rev() {
            if !carries {
                break;
            }
            carries = *digit == b'9';
            *digit = if carries { b'0' } else { *digit + 1 };
        }
        let mut text: String = digits.iter().map(|digit| char::from(*digit)).collect();
        if carries {
            text.insert(0, '1');
        }
        let (whole, fraction) = text.split_at(text.len() - places);
        Self {
            is_negative: self.is_negative,
            whole: whole.to_owned(),
            fraction: fraction.to_owned(),
        }
    }

    /// Times ten to that power.
    pub(super) fn scaled(&self, power: i32) -> Self {
        let shift = usize::try_from(power.unsigned_abs()).unwrap_or(0).min(400);
        let moved = if power >= 0 {
            let padded = format!("{}{}", self.fraction, "0".repeat(shift));
            let (up, rest) = padded.split_at(shift);
            format!("{}{up}.{rest}", self.whole)
        } else {
            let padded = format!("{}{}", "0".repeat(shift), self.whole);
            let (rest, down) = padded.split_at(padded.len() - shift);
            format!("{rest}.{down}{}", self.fraction)
        };
        Self {
            is_negative: self.is_negative,
            ..Self::of_text(&moved)
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.whole
            .bytes()
            .chain(self.fraction.bytes())
            .all(|b| b == b'0')
    }

    fn text(&self) -> String {
        let point = if self.fraction.is_empty() { "" } else { "." };
        format!("{}{point}{}", self.whole, self.fraction)
    }
}

fn formatted(digits: &Digits, double: Option<f64>, format: &str) -> String {
    let mut letters = format.chars();
    let letter = letters.next().unwrap_or('G');
    match letters.as_str().parse::<usize>() {
        Ok(places) if letter.is_ascii_alphabetic() => {
            standard(digits, double, letter, Some(places.min(DIGITS_MAX)))
        }
        Err(_) if letter.is_ascii_alphabetic() && letters.as_str().is_empty() => {
            standard(digits, double, letter, None)
        }
        _ => Some(custom(digits, format)),
    }
    .unwrap_or_else(|| format.to_owned())
}

/// A standard format; `None`: there is none of that letter.
fn standard(
    digits: &Digits,
    double: Option<f64>,
    letter: char,
    places: Option<usize>,
) -> Option<String> {
    let two = places.unwrap_or(2);
    let sign = if digits.is_negative { "-" } else { "" };
    // A double is rounded from what it is exactly.
    let fixed = |power: i32| match double {
        Some(number) if power == 0 => format!("{:.two$}", number.abs()),
        Some(_) | None => digits.scaled(power).rounded(two).text(),
    };
    Some(match letter.to_ascii_uppercase() {
        'F' => format!("{sign}{}", fixed(0)),
        'N' => format!("{sign}{}", grouped(&fixed(0))),
        'C' if digits.is_negative => format!("(¤{})", grouped(&fixed(0))),
        'C' => format!("¤{}", grouped(&fixed(0))),
        'P' => format!("{sign}{} %", grouped(&fixed(2))),
        'D' => format!(
            "{sign}{:0>width$}",
            digits.whole,
            width = places.unwrap_or(0)
        ),
        'G' | 'R' => general(digits, double, letter, places.filter(|p| *p > 0)),
        'X' | 'B' => {
            let number = format!("{sign}{}", digits.whole).parse::<i64>().ok()?;
            let width = places.unwrap_or(0);
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a 32-bit number keeps its bits"
            )]
            let bits = match i32::try_from(number) {
                Ok(small) => u64::from(small.cast_unsigned()),
                Err(_) => number.cast_unsigned(),
            };
            match letter {
                'x' => format!("{bits:0width$x}"),
                'X' => format!("{bits:0width$X}"),
                _ => format!("{bits:0width$b}"),
            }
        }
        'E' => {
            let number = double.or_else(|| format!("{sign}{}", digits.text()).parse().ok())?;
            let text = format!("{number:.*e}", places.unwrap_or(6));
            let (mantissa, exponent) = text.split_once('e')?;
            format!("{mantissa}{letter}{:+04}", exponent.parse::<i32>().ok()?)
        }
        _ => return None,
    })
}

/// The shorter of the fixed and the scientific form, with so many digits at most.
fn general(digits: &Digits, double: Option<f64>, letter: char, most: Option<usize>) -> String {
    let sign = if digits.is_negative { "-" } else { "" };
    let plain = format!("{sign}{}", digits.text());
    let number = double.or_else(|| plain.parse().ok()).unwrap_or(f64::NAN);
    let Some(most) = most.filter(|_| letter.eq_ignore_ascii_case(&'G')) else {
        return match double {
            Some(number) => super::number_text(number),
            None => plain,
        };
    };
    let text = format!("{number:.*e}", most.min(17) - 1);
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if exponent < -5 || usize::try_from(exponent).is_ok_and(|e| e >= most) {
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        let mark = if letter == 'g' { 'e' } else { 'E' };
        return format!("{mantissa}{mark}{exponent:+03}");
    }
    let rounded: f64 = text.parse().unwrap_or(number);
    format!("{rounded}")
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
            (5_551_234.0, "000-0000", "555-1234"),
            (1234.0, "00000", "01234"),
            (12.3456, "#,##0.###", "12.346"),
            (1_234_567.0, "#,##0,", "1,235"),
            (12345.678, "0.00E+00", "1.23E+04"),
            (0.125, "0.00", "0.13"),
            (-0.4, "0", "0"),
            (12345.678, "G3", "1.23E+04"),
            (2.71559, "G3", "2.72"),
            (1.0, "$0.00", "$1.00"),
        ];
        for (number, format, expected) in cases {
            assert_eq!(format_number(number, format), expected, "{number} {format}");
        }
    }
}
