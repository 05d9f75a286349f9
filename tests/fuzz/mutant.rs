//! Inputs made of others: bytes cut, doubled, flipped and joined, and JSON whose parts are exchanged.

use dormouse_engine::id::splitmix;
use serde_json::{Value, json};

/// Chance under a seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        splitmix(self.0)
    }

    /// A number below `bound`; 0 where there is none.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = bound.max(1) as u64;
        usize::try_from(self.bits() % bound).unwrap()
    }

    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// What programs trip over.
const AWKWARD: [&str; 34] = [
    "",
    " ",
    "\0",
    "0",
    "-1",
    "1e999",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "0.1",
    "NaN",
    "null",
    "true",
    "[]",
    "{}",
    "\"",
    "\\",
    "'",
    "`",
    "%",
    "%00",
    "%zz",
    "#",
    "../",
    "//",
    "{{",
    "}}",
    "{%",
    "\u{feff}",
    "\u{202e}",
    "ß",
    "💤",
    "𝔘",
    "\u{301}",
];

/// A changed copy of one of the inputs.
pub(crate) fn mutant(chance: &mut Chance, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = chance.pick(corpus).clone();
    for _ in 0..=chance.below(4) {
        change(chance, &mut bytes, corpus);
    }
    bytes.truncate(64 * 1_024);
    bytes
}

fn change(chance: &mut Chance, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
    let at = chance.below(bytes.len() + 1);
    let len = chance.below((bytes.len() - at).min(64) + 1);
    match chance.below(9) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..at + len)),
        2 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        3 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte = chance.bits().to_le_bytes()[0];
            }
        }
        4 => {
            let piece = bytes[at..at + len].to_vec();
            let times = [1, 2, 50, 2_000][chance.below(4)];
            bytes.splice(at..at, piece.repeat(times));
        }
        5 | 6 => {
            let text = chance.pick(&AWKWARD).as_bytes();
            bytes.splice(at..at + len, text.iter().copied());
        }
        7 => {
            let text = chance.pick(&AWKWARD).as_bytes();
            bytes.splice(at..at, text.iter().copied());
        }
        _ => {
            let other = chance.pick(corpus);
            let from = chance.below(other.len() + 1);
            let until = from + chance.below(other.len() - from + 1);
            bytes.splice(at..at + len, other[from..until].iter().copied());
        }
    }
}

/// A changed copy of a JSON document: parts of it replaced, removed, moved, nested, and taken from others.
pub(crate) fn mutant_json(chance: &mut Chance, corpus: &[Value]) -> Value {
    let mut json = chance.pick(corpus).clone();
    for _ in 0..=chance.below(6) {
        let count = size(&json);
        let donor = chance.pick(corpus).clone();
        let from = chance.below(size(&donor));
        let given = part(&donor, &mut { from }).cloned().unwrap_or(Value::Null);
        let at = chance.below(count);
        if let Some(place) = part_mut(&mut json, &mut { at }) {
            replace(chance, place, given);
        }
    }
    json
}

fn replace(chance: &mut Chance, place: &mut Value, given: Value) {
    *place = match chance.below(10) {
        0..4 => given,
        4 => json!(*chance.pick(&AWKWARD)),
        5 => chance
            .pick(&[
                json!(null),
                json!(-1),
                json!(1e308),
                json!(u64::MAX),
                json!([]),
                json!({}),
            ])
            .clone(),
        6 => {
            let mut nested = place.take();
            for _ in 0..[1, 3, 100][chance.below(3)] {
                nested = json!([nested]);
            }
            nested
        }
        7 => match place.take() {
            Value::String(text) => {
                let mut bytes = text.into_bytes();
                change(chance, &mut bytes, &[given.to_string().into_bytes()]);
                json!(String::from_utf8_lossy(&bytes))
            }
            Value::Array(mut all) => {
                let again = all.get(chance.below(all.len())).cloned();
                all.extend(again);
                json!(all)
            }
            Value::Object(mut all) => {
                let names: Vec<String> = all.keys().cloned().collect();
                if let Some(name) = names.get(chance.below(names.len())) {
                    all.shift_remove(name);
                }
                json!(all)
            }
            other => other,
        },
        8 => match place.take() {
            Value::Object(mut all) => {
                let names: Vec<String> = all.keys().cloned().collect();
                if let Some(name) = names.get(chance.below(names.len())) {
                    all.insert(name.clone(), given);
                }
                json!(all)
            }
            other => other,
        },
        _ => Value::Null,
    };
}

fn size(json: &Value) -> usize {
    1 + match json {
        Value::Array(all) => all.iter().map(size).sum(),
        Value::Object(all) => all.values().map(size).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

fn part<'a>(json: &'a Value, at: &mut usize) -> Option<&'a Value> {
    if *at == 0 {
        return Some(json);
    }
    *at -= 1;
    match json {
        Value::Array(all) => all.iter().find_map(|one| part(one, at)),
        Value::Object(all) => all.values().find_map(|one| part(one, at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn part_mut<'a>(json: &'a mut Value, at: &mut usize) -> Option<&'a mut Value> {
    if *at == 0 {
        return Some(json);
    }
    *at -= 1;
    match json {
        Value::Array(all) => all.iter_mut().find_map(|one| part_mut(one, at)),
        Value::Object(all) => all.values_mut().find_map(|one| part_mut(one, at)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}
