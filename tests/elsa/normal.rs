//! What no two servers share is made the same: identifiers, times, the name of the run, the server's address.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Map, Number, Value};

/// What one run of a case is called, and what it talks to.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) base: String,
    pub(crate) echo: String,
    pub(crate) credential: String,
    /// Texts of the definitions that look like identifiers and stay.
    pub(crate) known: BTreeSet<String>,
}

impl Run {
    /// The name in letters and digits alone, for workflows that are used as activities.
    pub(crate) fn word(&self) -> String {
        let letters = self.name.chars().filter(char::is_ascii_alphanumeric);
        std::iter::once('C').chain(letters).collect()
    }

    pub(crate) fn normal(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.normal(item)).collect(),
            Value::Object(members) => {
                let members = members.iter();
                let mut members: Vec<_> = members
                    .map(|(name, value)| (self.text(name), self.normal(value)))
                    .collect();
                members.sort_by(|a, b| a.0.cmp(&b.0));
                Value::Object(Map::from_iter(members))
            }
            Value::Number(number) => Value::Number(plain(number)),
            Value::Null | Value::Bool(_) => value.clone(),
        }
    }

    /// Only the numbers made the same.
    pub(crate) fn numbers(value: &Value) -> Value {
        match value {
            Value::Array(items) => items.iter().map(Self::numbers).collect(),
            Value::Object(members) => {
                let members = members.iter();
                Value::Object(
                    members
                        .map(|(k, v)| (k.clone(), Self::numbers(v)))
                        .collect(),
                )
            }
            Value::Number(number) => Value::Number(plain(number)),
            Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
        }
    }

    fn text(&self, text: &str) -> String {
        let host = self.base.trim_start_matches("http://");
        let mut text = text
            .replace(&self.name, "$CASE")
            .replace(&self.word(), "$WORD")
            .replace(&self.base, "$BASE")
            .replace(host, "$HOST")
            .replace(&self.echo, "$ECHO")
            .replace(&self.credential, "$AUTH");
        text = self.guids(&text);
        text = self.words(&text, |word| {
            (15..=64).contains(&word.len()) && is_hex(word) && has_digit(word)
        });
        text = self.words(&text, |word| {
            let has_letter = word.bytes().any(|b| b.is_ascii_lowercase());
            (13..=14).contains(&word.len()) && is_hex(word) && has_digit(word) && has_letter
        });
        times(&text)
    }

    fn id(&self, text: &str) -> String {
        if self.known.contains(text) {
            text.to_owned()
        } else {
            "<id>".to_owned()
        }
    }

    fn words(&self, text: &str, is_id: impl Fn(&str) -> bool) -> String {
        let pieces = runs(text).into_iter();
        pieces
            .map(|piece| {
                if is_id(piece) {
                    self.id(piece)
                } else {
                    piece.to_owned()
                }
            })
            .collect()
    }

    fn guids(&self, text: &str) -> String {
        const PARTS: [usize; 5] = [8, 4, 4, 4, 12];
        let pieces = runs(text);
        let mut out = String::new();
        let mut at = 0;
        while at < pieces.len() {
            let is_guid = PARTS.iter().enumerate().all(|(part, length)| {
                let word = pieces.get(at + part * 2);
                let dash = part == 4 || pieces.get(at + part * 2 + 1) == Some(&"-");
                dash && word.is_some_and(|w| w.len() == *length && is_hex(w))
            });
            let length = if is_guid { 9 } else { 1 };
            let whole = pieces[at..at + length].concat();
            out.push_str(&if is_guid { self.id(&whole) } else { whole });
            at += length;
        }
        out
    }
}

/// Numbers as JavaScript has them: doubles, whole ones without a fraction.
fn plain(number: &Number) -> Number {
    let Some(double) = number.as_f64() else {
        return number.clone();
    };
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
    if double.fract() == 0.0 && double.abs() < 9e15 {
        return Number::from(double as i64);
    }
    Number::from_f64(double).unwrap_or_else(|| number.clone())
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn has_digit(word: &str) -> bool {
    word.bytes().any(|b| b.is_ascii_digit())
}

/// Texts in a definition that look like identifiers.
pub(crate) fn known(definitions: &str) -> BTreeSet<String> {
    let is_part = |c: char| matches!(c, '0'..='9' | 'a'..='f' | '-');
    let pieces = definitions.split(|c| !is_part(c));
    let pieces = pieces.filter(|piece| piece.len() >= 15);
    pieces
        .map(|piece| piece.get(..64).unwrap_or(piece).to_owned())
        .collect()
}

/// A text cut into words and what is between them, character by character.
fn runs(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if is_word(first) {
            rest.find(|c| !is_word(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (piece, after) = rest.split_at(length);
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// Replaces times of today.
fn times(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(length) = time(rest) {
            out.push_str("<time>");
            rest = &rest[length..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// How long the time at the beginning of a text is, if it is one of today.
fn time(text: &str) -> Option<usize> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00";
    let bytes = text.as_bytes();
    let fits = |(place, shape): (usize, &u8)| {
        let found = bytes.get(place);
        found.is_some_and(|b| {
            if *shape == b'0' {
                b.is_ascii_digit()
            } else {
                b == shape
            }
        })
    };
    if !SHAPE.iter().enumerate().all(fits) {
        return None;
    }
    let mut end = SHAPE.len();
    if bytes.get(end) == Some(&b'.') {
        let digits = bytes[end + 1..].iter().take_while(|b| b.is_ascii_digit());
        end += 1 + digits.count();
    }
    match bytes.get(end)? {
        b'Z' => end += 1,
        b'+' | b'-' => {
            let zone = bytes.get(end + 1..end + 6)?;
            let is_zone = zone.iter().enumerate().all(|(place, b)| {
                if place == 2 {
                    *b == b':'
                } else {
                    b.is_ascii_digit()
                }
            });
            if !is_zone {
                return None;
            }
            end += 6;
        }
        _ => return None,
    }
    let at: Timestamp = text.get(..end)?.parse().ok()?;
    let apart = (Timestamp::now().as_second() - at.as_second()).abs();
    (apart < 86_400).then_some(end)
}
