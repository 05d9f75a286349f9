//! The words, texts, numbers and marks inside an output or a tag.

use std::fmt;

use serde_json::{Number, Value};

use super::chunk::syntax;
use crate::EvaluationError;

/// A token of an expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Text(String),
    Number(Value),
    Mark(&'a str),
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(text) | Token::Mark(text) => write!(formatter, "'{text}'"),
            Token::Text(text) => write!(formatter, "text '{text}'"),
            Token::Number(number) => write!(formatter, "'{number}'"),
        }
    }
}

const MARKS: [&str; 17] = [
    "..", "==", "!=", "<>", "<=", ">=", "<", ">", "=", ".", ",", ":", "|", "[", "]", "(", ")",
];

/// The tokens of `text`.
pub(super) fn tokens(text: &str, line: u32) -> Result<Vec<Token<'_>>, EvaluationError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = if first == '"' || first == '\'' {
            quoted(rest, first).ok_or_else(|| syntax(line, format!("{first} is missing")))?
        } else if is_number(rest) {
            number(rest).ok_or_else(|| syntax(line, "this number is too large"))?
        } else if is_word_start(first) {
            let length = rest.find(|c| !is_word_part(c)).unwrap_or(rest.len());
            (Token::Word(rest.get(..length).unwrap_or("")), length)
        } else if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            (Token::Mark(mark), mark.len())
        } else {
            return Err(syntax(line, format!("unexpected '{first}'")));
        };
        tokens.push(token);
        rest = rest.get(length..).unwrap_or("").trim_start();
    }
    Ok(tokens)
}

fn is_word_start(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

fn is_word_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '-' | '?')
}

fn is_number(rest: &str) -> bool {
    let digits = rest.strip_prefix('-').unwrap_or(rest);
    digits.starts_with(|first: char| first.is_ascii_digit())
}

/// The end of the exponent that begins at a place, as in `1.5e3`.
fn exponent(rest: &str, at: usize, digits: &impl Fn(usize) -> usize) -> Option<usize> {
    let tail = rest.get(at..)?.strip_prefix(['e', 'E'])?;
    let from = at + 1 + usize::from(tail.starts_with(['+', '-']));
    Some(digits(from)).filter(|end| *end > from)
}

fn number(rest: &str) -> Option<(Token<'_>, usize)> {
    let sign = usize::from(rest.starts_with('-'));
    let digits = |from: usize| {
        let tail = rest.get(from..).unwrap_or("");
        from + tail
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(tail.len())
    };
    let whole = digits(sign);
    // "1..3" is a range, not a fraction.
    let has_fraction = rest.get(whole..)?.starts_with('.')
        && rest
            .get(whole + 1..)?
            .starts_with(|next: char| next.is_ascii_digit());
    let end = if has_fraction {
        digits(whole + 1)
    } else {
        whole
    };
    let scaled = exponent(rest, end, &digits);
    let end = scaled.unwrap_or(end);
    let text = rest.get(..end)?;
    let value = match (text.parse::<i64>(), text.parse::<u64>()) {
        (Ok(integer), _) => Value::from(integer),
        (_, Ok(large)) => Value::from(large),
        _ => {
            let double: f64 = text.parse().ok()?;
            match scaled {
                // A decimal with an exponent has no zeros behind its point.
                #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
                Some(_) if double.fract() == 0.0 && double.abs() < 9e15 => {
                    Value::from(double as i64)
                }
                _ => Value::Number(Number::from_f64(double)?),
            }
        }
    };
    Some((Token::Number(value), end))
}

/// A text with its escapes resolved: Fluid knows those of C#.
fn quoted(rest: &str, quote: char) -> Option<(Token<'_>, usize)> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((index, character)) = characters.next() {
        match character {
            _ if character == quote => return Some((Token::Text(text), index + 1)),
            '\\' => {
                let (_, escaped) = characters.next()?;
                match escaped {
                    'n' => text.push('\n'),
                    'r' => text.push('\r'),
                    't' => text.push('\t'),
                    '0' => text.push('\0'),
                    '\\' | '"' | '\'' => text.push(escaped),
                    // No escape: both characters are meant, as in a pattern or a path.
                    _ => text.extend(['\\', escaped]),
                }
            }
            _ => text.push(character),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_is_no_fraction() {
        let found = tokens("(1..3) 1.5 -2", 1).unwrap();
        let expected = [
            Token::Mark("("),
            Token::Number(json!(1)),
            Token::Mark(".."),
            Token::Number(json!(3)),
            Token::Mark(")"),
            Token::Number(json!(1.5)),
            Token::Number(json!(-2)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn texts_keep_what_is_no_escape() {
        let found = tokens(r#"'a\nb' "c\d" 'e\'f'"#, 1).unwrap();
        let texts = ["a\nb", "c\\d", "e'f"].map(|text| Token::Text(text.to_owned()));
        assert_eq!(found, texts);
    }
}
