//! The body of an item: one byte of format number, then named MessagePack.
//!
//! Fields that are unknown are skipped and fields that are missing take their default, so nodes of two builds can
//! share a table while one replaces the other. The number changes only where that is not enough.

use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};

use crate::item::error::StoreError;
use crate::table::{Attributes, Item, Value};

/// Encodes a body in format 1.
pub(crate) fn encode<T: Serialize>(what: &'static str, value: &T) -> Result<Bytes, StoreError> {
    let mut out = vec![1];
    rmp_serde::encode::write_named(&mut out, value).map_err(|cause| StoreError::Encode {
        what,
        cause: cause.into(),
    })?;
    Ok(out.into())
}

/// Decodes a body in format 1.
pub(crate) fn decode<T: DeserializeOwned>(
    what: &'static str,
    body: &[u8],
) -> Result<T, StoreError> {
    match body.split_first() {
        None | Some((0, _)) => Err(StoreError::damaged(what)),
        Some((1, rest)) => rmp_serde::from_slice(rest).map_err(|cause| StoreError::Damaged {
            what,
            cause: Some(cause.into()),
        }),
        Some((&format, _)) => Err(StoreError::NewerFormat {
            what,
            format,
            newest: 1,
        }),
    }
}

/// The number under a name.
pub(crate) fn number(attributes: &Attributes, name: &str) -> Option<i64> {
    match attributes.get(name)? {
        Value::N(n) => Some(*n),
        Value::S(_) | Value::B(_) | Value::Ss(_) => None,
    }
}

/// The bytes under a name.
pub(crate) fn bytes<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a Bytes> {
    match attributes.get(name)? {
        Value::B(bytes) => Some(bytes),
        Value::S(_) | Value::N(_) | Value::Ss(_) => None,
    }
}

/// The text under a name.
pub(crate) fn text<'a>(attributes: &'a Attributes, name: &str) -> Option<&'a str> {
    match attributes.get(name)? {
        Value::S(text) => Some(text),
        Value::B(_) | Value::N(_) | Value::Ss(_) => None,
    }
}

/// The body that an item keeps under `bo`.
pub(crate) fn of_item<T: DeserializeOwned>(
    what: &'static str,
    item: &Item,
) -> Result<T, StoreError> {
    decode(
        what,
        bytes(&item.attributes, "bo").ok_or(StoreError::damaged(what))?,
    )
}

/// The attributes of an item that has only a body.
pub(crate) fn attributes<T: Serialize>(
    what: &'static str,
    value: &T,
) -> Result<Attributes, StoreError> {
    Ok(Attributes::from([(
        "bo".to_owned(),
        Value::B(encode(what, value)?),
    )]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Old {
        a: u32,
    }

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct New {
        a: u32,
        #[serde(default)]
        b: Option<String>,
    }

    #[test]
    fn builds_of_two_ages_read_each_other() {
        let old = encode("thing", &Old { a: 1 }).unwrap();
        let new = encode(
            "thing",
            &New {
                a: 2,
                b: Some("x".into()),
            },
        )
        .unwrap();
        assert_eq!(decode::<New>("thing", &old).unwrap(), New { a: 1, b: None });
        assert_eq!(decode::<Old>("thing", &new).unwrap(), Old { a: 2 });
    }

    #[test]
    fn a_newer_format_is_named_and_garbage_is_damage() {
        let newer = decode::<Old>("thing", &[2, 0]);
        assert!(matches!(
            newer,
            Err(StoreError::NewerFormat {
                format: 2,
                newest: 1,
                ..
            })
        ));
        for body in [&[][..], &[0], &[1], &[1, 0xff]] {
            assert!(matches!(
                decode::<Old>("thing", body),
                Err(StoreError::Damaged { .. })
            ));
        }
    }
}
