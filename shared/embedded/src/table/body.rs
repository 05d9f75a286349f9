//! An item's attributes as bytes: a format number, each attribute with its name, and a checksum at the end, so
//! that a damaged page is noticed before anybody acts on it. Numbers are little-endian base 128.
//!
//! The format is stable for ever; a change takes the next number and keeps reading this one.

use std::collections::BTreeSet;

use bytes::Bytes;
use dormouse_store::table::{Attributes, Value};

const FORMAT: u8 = 1;

const TEXT: u8 = 0;
const NUMBER: u8 = 1;
const BYTES: u8 = 2;
const SET: u8 = 3;

/// The body does not read back: it is damaged, or was written by another program.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damaged;

/// Writes the attributes.
pub(super) fn encode(attributes: &Attributes) -> Vec<u8> {
    let mut body = vec![FORMAT];
    for (name, value) in attributes {
        put_bytes(&mut body, name.as_bytes());
        match value {
            Value::S(text) => {
                body.push(TEXT);
                put_bytes(&mut body, text.as_bytes());
            }
            Value::N(number) => {
                body.push(NUMBER);
                put_number(&mut body, zigzag(*number));
            }
            Value::B(bytes) => {
                body.push(BYTES);
                put_bytes(&mut body, bytes);
            }
            Value::Ss(texts) => {
                body.push(SET);
                put_number(&mut body, texts.len() as u64);
                for text in texts {
                    put_bytes(&mut body, text.as_bytes());
                }
            }
        }
    }
    let checksum = crc32fast::hash(&body);
    body.extend(checksum.to_le_bytes());
    body
}

/// Reads what [`encode`] wrote, but for the attributes that are not wanted.
pub(super) fn decode(body: &[u8], wanted: impl Fn(&str) -> bool) -> Result<Attributes, Damaged> {
    let (content, checksum) = body.split_last_chunk::<4>().ok_or(Damaged)?;
    if crc32fast::hash(content).to_le_bytes() != *checksum {
        return Err(Damaged);
    }
    let mut rest = content.strip_prefix(&[FORMAT]).ok_or(Damaged)?;
    let mut attributes = Attributes::new();
    while !rest.is_empty() {
        let name = take_text(&mut rest)?;
        let is_wanted = wanted(name);
        let value = match take_byte(&mut rest)? {
            TEXT => Value::S(take_text(&mut rest)?.to_owned()),
            NUMBER => Value::N(unzigzag(take_number(&mut rest)?)),
            BYTES => {
                let bytes = take_bytes(&mut rest)?;
                // The large attributes are the ones that indexes leave out.
                if !is_wanted {
                    continue;
                }
                Value::B(Bytes::copy_from_slice(bytes))
            }
            SET => {
                let count = take_number(&mut rest)?;
                let texts = (0..count).map(|_| take_text(&mut rest).map(str::to_owned));
                Value::Ss(texts.collect::<Result<BTreeSet<_>, _>>()?)
            }
            _ => return Err(Damaged),
        };
        if is_wanted {
            attributes.insert(name.to_owned(), value);
        }
    }
    Ok(attributes)
}

fn put_bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    put_number(body, bytes.len() as u64);
    body.extend_from_slice(bytes);
}

fn put_number(body: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        body.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    body.push(number as u8);
}

fn take_byte(rest: &mut &[u8]) -> Result<u8, Damaged> {
    let (first, tail) = rest.split_first().ok_or(Damaged)?;
    *rest = tail;
    Ok(*first)
}

fn take_number(rest: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take_byte(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged)
}

fn take_bytes<'a>(rest: &mut &'a [u8]) -> Result<&'a [u8], Damaged> {
    let length = usize::try_from(take_number(rest)?).map_err(|_| Damaged)?;
    let (bytes, tail) = rest.split_at_checked(length).ok_or(Damaged)?;
    *rest = tail;
    Ok(bytes)
}

fn take_text<'a>(rest: &mut &'a [u8]) -> Result<&'a str, Damaged> {
    std::str::from_utf8(take_bytes(rest)?).map_err(|_| Damaged)
}

/// Small numbers of either sign in few bytes.
fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Attributes {
        let set = ["a", "", "žluť"].map(str::to_owned);
        let every: Vec<u8> = (0..=255).collect();
        [
            ("text", Value::S("čas".to_owned())),
            ("empty", Value::S(String::new())),
            ("least", Value::N(i64::MIN)),
            ("minus", Value::N(-1)),
            ("most", Value::N(i64::MAX)),
            ("bytes", Value::B(every.into())),
            ("set", Value::Ss(set.into())),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
    }

    #[test]
    fn every_kind_of_value_reads_back() {
        assert_eq!(decode(&encode(&sample()), |_| true), Ok(sample()));
        assert_eq!(
            decode(&encode(&Attributes::new()), |_| true),
            Ok(Attributes::new())
        );
    }

    #[test]
    fn unwanted_attributes_are_left_out() {
        let read = decode(&encode(&sample()), |name| name != "bytes").unwrap();
        let mut without = sample();
        without.remove("bytes");
        assert_eq!(read, without);
    }

    #[test]
    fn a_changed_or_missing_byte_is_noticed() {
        let body = encode(&sample());
        for place in 0..body.len() {
            let mut changed = body.clone();
            changed[place] ^= 0x10;
            assert_eq!(
                decode(&changed, |_| true),
                Err(Damaged),
                "changed at {place}"
            );
            assert_eq!(
                decode(&body[..place], |_| true),
                Err(Damaged),
                "cut at {place}"
            );
        }
    }

    #[test]
    fn the_first_format_stays_as_it_is() {
        let attributes = Attributes::from([
            ("n".to_owned(), Value::N(-3)),
            ("s".to_owned(), Value::Ss(["x".to_owned()].into())),
        ]);
        let written = [1, 1, b'n', NUMBER, 5, 1, b's', SET, 1, 1, b'x'];
        let body = encode(&attributes);
        assert_eq!(body.split_last_chunk::<4>().unwrap().0, written);
    }
}
