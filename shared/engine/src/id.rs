//! Ids as types of their own, so that one is never taken for another.

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// The id as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// The id of an instance. Given by whoever starts it.
    InstanceId
);
text_id!(
    /// The id of a bookmark: 16 hexadecimal digits derived from the instance and a serial number, so that
    /// a step repeated from the same state names its bookmarks alike.
    BookmarkId
);

/// One execution of one activity within an instance: a serial number that only rises.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
#[serde(transparent)]
pub struct ContextId(pub u64);

/// Mixes a text and a number into 64 bits; the same on every machine and in every version.
///
/// FNV-1a over the text, then the finaliser of splitmix64. For ids that must be deterministic and need not be secret.
#[must_use]
pub fn mix(text: &str, number: u64) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    splitmix(hash ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// The finaliser of splitmix64.
#[must_use]
pub fn splitmix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The id as Elsa shows ids: 16 lower-case hexadecimal digits.
#[must_use]
pub fn hex(number: u64) -> String {
    format!("{number:016x}")
}
