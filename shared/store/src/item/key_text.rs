//! Text as a part of a key: `#` separates parts, so it is escaped, and a part has a greatest length.

use crate::item::error::StoreError;
use crate::item::tenant::Tenant;

/// The engine's own rows that are no tenant's (each names its tenant inside). No [`Tenant`] can have this name.
pub(crate) const SYSTEM: &str = "~";

/// The greatest length of one part of a key in bytes, escaped. Two parts and their marks fit in a key.
pub(crate) const PART_MAX: usize = 400;

/// `text` as one part of a key: `#`, `%` and control characters become `%` and two hex digits.
pub(crate) fn part(what: &'static str, text: &str) -> Result<String, StoreError> {
    if text.is_empty() {
        return Err(StoreError::BadId {
            what,
            problem: "it is empty",
        });
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_control() || matches!(c, '#' | '%') {
            out.push('%');
            for digit in [c as u32 >> 4, c as u32 & 15] {
                out.push(char::from_digit(digit, 16).unwrap_or('0'));
            }
        } else {
            out.push(c);
        }
    }
    if out.len() > PART_MAX {
        return Err(StoreError::BadId {
            what,
            problem: "it is longer than 400 bytes",
        });
    }
    Ok(out)
}

/// The text that [`part`] made this of.
pub(crate) fn plain(part: &str) -> Option<String> {
    let mut out = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(c) = chars.next() {
        if c == '%' {
            let code = chars.next()?.to_digit(16)? * 16 + chars.next()?.to_digit(16)?;
            out.push(char::from_u32(code)?);
        } else {
            out.push(c);
        }
    }
    Some(out)
}

/// A number of milliseconds as text that sorts like the number. Times before 1970 count as 1970.
pub(crate) fn time(ms: i64) -> String {
    format!("{:013}", ms.max(0))
}

/// A counter as text that sorts like the number.
pub(crate) fn count(n: u64) -> String {
    format!("{n:012}")
}

/// The partition of a tenant's kind of item.
pub(crate) fn partition(tenant: &Tenant, kind: &str) -> String {
    format!("{tenant}/{kind}")
}

/// The last part of a sort key, as it was before it was escaped.
pub(crate) fn last_part(what: &'static str, sort: &str) -> Result<String, StoreError> {
    sort.rsplit_once('#')
        .and_then(|(_, last)| plain(last))
        .ok_or(StoreError::damaged(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_comes_back_and_holds_no_separator() {
        for text in [
            "a",
            "a#b",
            "100%",
            "a/b",
            "\u{0}\n\u{7f}",
            "größe 大小",
            "%23",
            "##",
        ] {
            let escaped = part("an id", text).unwrap();
            assert!(!escaped.contains('#') && !escaped.contains('\n'));
            assert_eq!(plain(&escaped).as_deref(), Some(text));
        }
        assert_ne!(
            part("an id", "a#b").unwrap(),
            part("an id", "a%23b").unwrap()
        );
        assert_eq!(plain("%2"), None);
    }

    #[test]
    fn empty_and_endless_text_is_refused() {
        assert!(matches!(part("an id", ""), Err(StoreError::BadId { .. })));
        assert!(part("an id", &"x".repeat(400)).is_ok());
        assert!(part("an id", &"x".repeat(401)).is_err());
        assert!(part("an id", &"#".repeat(134)).is_err());
    }

    #[test]
    fn numbers_sort_as_text() {
        assert!(time(9) < time(10) && time(-5) == time(0));
        assert!(count(99) < count(100));
    }
}
