//! Names in types, and the function in a handler's script.

use super::reader::NAME_CHARS_MAX;

/// What a queue may be called.
pub(super) const QUEUE_RULE: &str =
    "a queue is named with letters, digits, dots, dashes and underscores, at most 64 of them";

pub(super) fn is_identifier(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether a type may be called so.
#[must_use]
pub fn is_type_name(name: &str) -> bool {
    name.len() <= NAME_CHARS_MAX && name.contains('.') && name.split('.').all(is_identifier)
}

/// Whether a queue may be called so.
#[must_use]
pub fn is_queue_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
}

/// The script that calls a handler's function with `args.task`. `None`: it has not one `export default`.
#[must_use]
pub fn script(source: &str) -> Option<String> {
    const EXPORT: &str = "export default";
    let mut parts = source.splitn(3, EXPORT);
    let (before, after) = (parts.next()?, parts.next()?);
    if parts.next().is_some() || after.trim().is_empty() {
        return None;
    }
    Some(format!(
        "{before}const $handler ={after}\n;return $handler(args.task);"
    ))
}
