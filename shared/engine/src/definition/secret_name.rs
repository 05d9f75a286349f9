//! Names of secrets.

/// The longest name of a secret.
const NAME_LENGTH_MAX: usize = 200;

/// A name of a secret as it is stored: Elsa's rule, in lower case. `None`: it can be none.
#[must_use]
pub fn secret_name(name: &str) -> Option<String> {
    let name = name.trim();
    let is_name = (2..=NAME_LENGTH_MAX).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b':' | b'-'));
    is_name.then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_elsas_rule() {
        assert_eq!(secret_name(" Stripe:Key ").as_deref(), Some("stripe:key"));
        for wrong in ["", "a", "1a", "a b", "a/b", "ž-key", &"a".repeat(201)] {
            assert_eq!(secret_name(wrong), None, "{wrong}");
        }
    }
}
