//! Bytes that are compressed where that pays: one byte says how, then the bytes.

use std::sync::LazyLock;

use bytes::{BufMut, Bytes, BytesMut};
use zstd::bulk::{Compressor, Decompressor};
use zstd::dict::{DecoderDictionary, EncoderDictionary};

use crate::item::error::StoreError;

const PLAIN: u8 = 1;
/// With the dictionary. Other bytes of the dictionary are another format.
const ZSTD: u8 = 2;

/// Contents of heads as they begin and end, so that those of a short workflow fit in one kilobyte: one write unit. The
/// example `head_dictionary` of `dormouse-cost` writes it.
static DICTIONARY: &[u8] = include_bytes!("head.dictionary");

static TO_PACK: LazyLock<EncoderDictionary<'static>> =
    LazyLock::new(|| EncoderDictionary::copy(DICTIONARY, 1));

static TO_UNPACK: LazyLock<DecoderDictionary<'static>> =
    LazyLock::new(|| DecoderDictionary::copy(DICTIONARY));

/// Packs `bytes`, with zstd (level 1) if there are at least `compress_from` of them and it makes them fewer.
pub(crate) fn pack(bytes: &[u8], compress_from: usize) -> Bytes {
    if bytes.len() >= compress_from
        && let Ok(small) = compress(bytes)
        && small.len() + 4 < bytes.len()
        && let Ok(size) = u32::try_from(bytes.len())
    {
        let mut out = BytesMut::with_capacity(small.len() + 5);
        out.put_u8(ZSTD);
        out.put_u32(size);
        out.put_slice(&small);
        return out.freeze();
    }
    let mut out = BytesMut::with_capacity(bytes.len() + 1);
    out.put_u8(PLAIN);
    out.put_slice(bytes);
    out.freeze()
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    Compressor::with_prepared_dictionary(&TO_PACK)?.compress(bytes)
}

fn decompress(small: &[u8], size: usize) -> std::io::Result<Vec<u8>> {
    Decompressor::with_prepared_dictionary(&TO_UNPACK)?.decompress(small, size)
}

/// The bytes that were packed. `what` names them in an error.
///
/// # Errors
///
/// [`StoreError`]: damage, a newer format, or more than `max` bytes.
pub fn unpack(what: &'static str, packed: &Bytes, max: usize) -> Result<Bytes, StoreError> {
    match packed.first() {
        None | Some(0) => Err(StoreError::damaged(what)),
        Some(&PLAIN) => Ok(packed.slice(1..)),
        Some(&ZSTD) => {
            let (Some(size), Some(small)) = (packed.get(1..5), packed.get(5..)) else {
                return Err(StoreError::damaged(what));
            };
            let size = size
                .iter()
                .fold(0_usize, |n, byte| n << 8 | usize::from(*byte));
            if size > max {
                return Err(StoreError::TooLarge {
                    what,
                    size,
                    limit: max,
                });
            }
            decompress(small, size)
                .map(Bytes::from)
                .map_err(|cause| StoreError::Damaged {
                    what,
                    cause: Some(cause.into()),
                })
        }
        Some(&format) => Err(StoreError::NewerFormat {
            what,
            format,
            newest: ZSTD,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_long_ones_shrink() {
        for len in [0, 1, 1_023, 1_024, 100_000] {
            let bytes = vec![b'x'; len];
            let packed = pack(&bytes, 1_024);
            assert_eq!(packed.len() <= len, len >= 1_024);
            assert_eq!(unpack("state", &packed, 100_000).unwrap(), bytes);
        }
    }

    #[test]
    fn the_dictionary_is_the_one_that_stored_heads_need() {
        use sha2::{Digest, Sha256};
        let digest = Sha256::digest(DICTIONARY);
        let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(
            hex,
            "dbd950197212dec1a9f1e204beaa4e18b033a308889d1d7dcc62883f221005c0"
        );
    }

    #[test]
    fn damage_and_giants_are_told_apart() {
        let packed = pack(&vec![b'x'; 5_000], 1);
        assert!(matches!(
            unpack("state", &packed, 4_999),
            Err(StoreError::TooLarge { size: 5_000, .. })
        ));
        assert!(matches!(
            unpack("state", &packed.slice(..20), 9_999),
            Err(StoreError::Damaged { .. })
        ));
        assert!(matches!(
            unpack("state", &Bytes::new(), 1),
            Err(StoreError::Damaged { .. })
        ));
        let newer = Bytes::from_static(&[9, 1]);
        assert!(matches!(
            unpack("state", &newer, 1),
            Err(StoreError::NewerFormat { format: 9, .. })
        ));
    }
}
