//! Ids that are derived from what they are about, so that doing it again finds what the first time did.

use sha2::{Digest, Sha256};

/// 32 hexadecimal digits of SHA-256 over the parts.
pub(crate) fn derived_id(kind: &str, parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(kind);
    for part in parts {
        // The length first, so that no two lists of parts run together to the same text.
        hasher.update(part.len().to_le_bytes());
        hasher.update(part);
    }
    let digest = hasher.finalize();
    digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::derived_id;

    #[test]
    fn ids_are_stable_and_parts_do_not_run_together() {
        assert_eq!(
            derived_id("start", &["a", "b"]),
            derived_id("start", &["a", "b"])
        );
        assert_ne!(
            derived_id("start", &["ab"]),
            derived_id("start", &["a", "b"])
        );
        assert_eq!(derived_id("start", &["a"]).len(), 32);
    }
}
