//! Passwords, kept as Argon2id in the PHC's form, which names its own parameters.

use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use subtle::ConstantTimeEq;

/// The longest password that is looked at, in bytes.
pub const PASSWORD_BYTES_MAX: usize = 256;

/// The shortest password that is taken, in characters.
pub const PASSWORD_CHARS_MIN: usize = 10;

/// Memory in KiB, passes, lanes: OWASP's "Password Storage Cheat Sheet", Argon2id.
const COST: Cost = Cost {
    memory_kib: 19 * 1024,
    passes: 2,
    lanes: 1,
};

/// The most memory that a kept hash may ask for, in KiB.
const MEMORY_KIB_MAX: u32 = 256 * 1024;

/// Why a password was not kept.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// It has too few or too many characters.
    #[error(
        "a password needs {PASSWORD_CHARS_MIN} characters or more, and {PASSWORD_BYTES_MAX} bytes at most"
    )]
    Length,
    /// The hash could not be made.
    #[error("the password could not be hashed")]
    Hash,
}

/// What a guess costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    memory_kib: u32,
    passes: u32,
    lanes: u32,
}

impl Cost {
    fn hash(self, password: &str, salt: &[u8]) -> Option<[u8; 32]> {
        let params = Params::new(self.memory_kib, self.passes, self.lanes, Some(32)).ok()?;
        let mut out = [0; 32];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(password.as_bytes(), salt, &mut out)
            .ok()?;
        Some(out)
    }
}

/// What is kept of a password. `salt` must be random. Takes some 20 ms of a processor.
///
/// # Errors
///
/// [`PasswordError`]
pub fn hash(password: &str, salt: [u64; 2]) -> Result<String, PasswordError> {
    let is_short = password.chars().count() < PASSWORD_CHARS_MIN;
    if is_short || password.len() > PASSWORD_BYTES_MAX {
        return Err(PasswordError::Length);
    }
    let salt: Vec<u8> = salt.iter().flat_map(|n| n.to_le_bytes()).collect();
    let hash = COST.hash(password, &salt).ok_or(PasswordError::Hash)?;
    Ok(format!(
        "$argon2id$v=19$m={},t={},p={}${}${}",
        COST.memory_kib,
        COST.passes,
        COST.lanes,
        STANDARD_NO_PAD.encode(salt),
        STANDARD_NO_PAD.encode(hash)
    ))
}

/// Whether a password is the one of which `kept` was made. Without a user there is nothing kept: then it takes as
/// long all the same, so that the time does not tell who exists.
#[must_use]
pub fn verify(password: &str, kept: Option<&str>) -> bool {
    if password.len() > PASSWORD_BYTES_MAX {
        return false;
    }
    let Some(kept) = kept else {
        let _same_time = COST.hash(password, &[0; 16]);
        return false;
    };
    let Some((cost, salt, hash)) = read(kept) else {
        return false;
    };
    let found = cost.hash(password, &salt);
    found.is_some_and(|found| found.as_slice().ct_eq(&hash).into())
}

/// The cost, the salt and the hash in what was kept.
fn read(kept: &str) -> Option<(Cost, Vec<u8>, Vec<u8>)> {
    let mut parts = kept.strip_prefix("$argon2id$v=19$")?.split('$');
    let mut numbers = parts.next()?.split(',');
    let mut number = |name: &str| numbers.next()?.strip_prefix(name)?.parse::<u32>().ok();
    let cost = Cost {
        memory_kib: number("m=").filter(|m| *m <= MEMORY_KIB_MAX)?,
        passes: number("t=")?,
        lanes: number("p=")?,
    };
    let mut bytes = || STANDARD_NO_PAD.decode(parts.next()?).ok();
    let (salt, hash) = (bytes()?, bytes()?);
    Some((cost, salt, hash))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use super::*;

    #[test]
    fn a_password_is_recognised_and_another_is_not() {
        let kept = hash("correct horse", [1, 2]).unwrap();
        assert!(
            kept.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{kept}"
        );
        assert!(verify("correct horse", Some(&kept)));
        assert!(!verify("correct horsf", Some(&kept)));
        assert!(!verify("correct horse", None));
        assert!(!verify("correct horse", Some("plain")));
        assert_ne!(kept, hash("correct horse", [1, 3]).unwrap());
    }

    #[test]
    fn passwords_have_a_least_and_a_greatest_length() {
        assert!(matches!(hash("short", [0; 2]), Err(PasswordError::Length)));
        let long = "x".repeat(257);
        assert!(matches!(hash(&long, [0; 2]), Err(PasswordError::Length)));
        assert!(!verify(&long, None));
    }
}
