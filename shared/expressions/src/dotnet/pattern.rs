//! .NET's patterns for numbers: `#,##0.00`, `000-0000`, `0.0;(0.0);zero`, `0.00E+00`.

use super::number::Digits;

/// A pattern, with sections for positive, negative and zero numbers.
pub(super) fn custom(digits: &Digits, format: &str) -> String {
    let sections = sections(format);
    let section = |at: usize| sections.get(at).copied().filter(|s| !s.is_empty());
    let first = sections.first().copied().unwrap_or_default();
    let chosen = if digits.is_zero() {
        section(2).unwrap_or(first)
    } else if digits.is_negative {
        match section(1) {
            Some(negative) => return pattern(digits, negative),
            None => first,
        }
    } else {
        first
    };
    let text = pattern(digits, chosen);
    let shows_something = text.bytes().any(|b| matches!(b, b'1'..=b'9'));
    let sign = if digits.is_negative && shows_something {
        "-"
    } else {
        ""
    };
    format!("{sign}{text}")
}

/// The parts between semicolons that stand outside of quotes.
fn sections(format: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut quote, mut escaped) = (0, None, false);
    for (at, c) in format.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if quote.is_none() => quote = Some(c),
            ';' if quote.is_none() => {
                found.push(format.get(start..at).unwrap_or_default());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(format.get(start..).unwrap_or_default());
    found
}

/// A piece of a pattern.
enum Piece {
    /// A place for a digit; `0` is always there.
    Digit(bool),
    Text(String),
    Point,
    Exponent(String),
}

/// The pieces of a section, whether thousands are grouped, and the power of ten that scales the number.
fn pieces(section: &str) -> (Vec<Piece>, bool, i32) {
    let mut pieces = Vec::new();
    let (mut groups, mut power, mut commas, mut has_point) = (false, 0, 0, false);
    let mut rest = section.chars().peekable();
    while let Some(c) = rest.next() {
        if matches!(c, '0' | '#') {
            groups |= commas > 0 && !has_point;
            commas = 0;
        }
        match c {
            '0' => pieces.push(Piece::Digit(true)),
            '#' => pieces.push(Piece::Digit(false)),
            '.' if has_point => {}
            '.' => {
                power -= 3 * commas;
                commas = 0;
                has_point = true;
                pieces.push(Piece::Point);
            }
            ',' => commas += i32::from(pieces.iter().any(|p| matches!(p, Piece::Digit(_)))),
            '%' | '‰' => {
                power += if c == '%' { 2 } else { 3 };
                pieces.push(Piece::Text(c.to_string()));
            }
            '\\' => pieces.push(Piece::Text(
                rest.next().map(String::from).unwrap_or_default(),
            )),
            '\'' | '"' => {
                let mut text = String::new();
                for inside in rest.by_ref() {
                    if inside == c {
                        break;
                    }
                    text.push(inside);
                }
                pieces.push(Piece::Text(text));
            }
            'e' | 'E' if matches!(rest.peek(), Some('0' | '+' | '-')) => {
                let mut form = c.to_string();
                while let Some(next) = rest.next_if(|n| matches!(n, '0' | '+' | '-')) {
                    form.push(next);
                }
                pieces.push(Piece::Exponent(form));
            }
            c => pieces.push(Piece::Text(c.to_string())),
        }
    }
    if !has_point {
        power -= 3 * commas;
    }
    (pieces, groups, power)
}

fn pattern(digits: &Digits, section: &str) -> String {
    let (pieces, groups, power) = pieces(section);
    let point = pieces.iter().position(|p| matches!(p, Piece::Point));
    let (before, after) = pieces.split_at(point.unwrap_or(pieces.len()));
    let counted = |of: &[Piece]| of.iter().filter(|p| matches!(p, Piece::Digit(_))).count();
    let places = counted(after);
    let wholes = counted(before);
    if wholes + places == 0 {
        return written(&pieces, "", "", false, 0);
    }
    let mut exponent = 0;
    let mut scaled = digits.scaled(power);
    if pieces.iter().any(|p| matches!(p, Piece::Exponent(_))) && !digits.is_zero() {
        let lead = if scaled.whole == "0" {
            let zeros = scaled.fraction.len() - scaled.fraction.trim_start_matches('0').len();
            -i32::try_from(zeros).unwrap_or(0) - 1
        } else {
            i32::try_from(scaled.whole.len()).unwrap_or(0) - 1
        };
        exponent = lead + 1 - i32::try_from(wholes.max(1)).unwrap_or(1);
        scaled = scaled.scaled(-exponent);
    }
    let number = scaled.rounded(places);
    let least = before.iter().position(|p| matches!(p, Piece::Digit(true)));
    let least = least.map_or(0, |from| counted(before.get(from..).unwrap_or_default()));
    let whole = if number.whole == "0" {
        ""
    } else {
        &number.whole
    };
    let whole = format!("{whole:0>least$}");
    let certain = after.iter().rposition(|p| matches!(p, Piece::Digit(true)));
    let certain = certain.map_or(0, |to| counted(after.get(..=to).unwrap_or_default()));
    let mut fraction = number.fraction;
    while fraction.len() > certain && fraction.ends_with('0') {
        fraction.pop();
    }
    written(&pieces, &whole, &fraction, groups, exponent)
}

fn written(pieces: &[Piece], whole: &str, fraction: &str, groups: bool, exponent: i32) -> String {
    let is_whole = |p: &&Piece| !matches!(p, Piece::Point);
    let mut left = pieces
        .iter()
        .take_while(is_whole)
        .filter(|p| matches!(p, Piece::Digit(_)))
        .count();
    let mut text = String::new();
    let mut put = 0;
    let mut decimals = fraction.chars();
    let mut is_behind = false;
    let digit = |text: &mut String, digit: char, put: usize| {
        text.push(digit);
        let rest = whole.len() - put - 1;
        if groups && rest > 0 && rest.is_multiple_of(3) {
            text.push(',');
        }
    };
    for piece in pieces {
        match piece {
            Piece::Digit(_) if is_behind => text.extend(decimals.next()),
            Piece::Digit(_) => {
                // The first place takes all digits that have no place of their own.
                while put + left <= whole.len() && left > 0 {
                    let Some(c) = whole.chars().nth(put) else {
                        break;
                    };
                    digit(&mut text, c, put);
                    put += 1;
                    if put + left > whole.len() {
                        break;
                    }
                }
                left -= 1;
            }
            Piece::Point => {
                is_behind = true;
                if !fraction.is_empty() {
                    text.push('.');
                }
            }
            Piece::Text(inside) => text.push_str(inside),
            Piece::Exponent(form) => {
                let zeros = form.matches('0').count();
                let sign = match (exponent < 0, form.contains('+')) {
                    (true, _) => "-",
                    (false, true) => "+",
                    (false, false) => "",
                };
                let mark = form.get(..1).unwrap_or_default();
                text.push_str(&format!("{mark}{sign}{:0>zeros$}", exponent.abs()));
            }
        }
    }
    text
}
