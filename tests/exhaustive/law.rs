//! What must hold of every change of an instance's head, whoever makes it and whatever was lost before.

use dormouse_store::table::{Attributes, Item, Key, Value};

fn number(attributes: &Attributes, name: &str) -> Option<i64> {
    match attributes.get(name)? {
        Value::N(number) => Some(*number),
        Value::S(_) | Value::B(_) | Value::Ss(_) => None,
    }
}

/// What is wrong with a change of an item, if it is an instance's head.
pub(crate) fn broken(key: &Key, before: Option<&Item>, after: Option<&Item>) -> Option<String> {
    if key.sort != "HEAD" || !key.partition.contains("/WF#") {
        return None;
    }
    let (before, after) = (&before?.attributes, &after?.attributes);
    if before.contains_key("de") && !after.contains_key("de") {
        return Some("a deleted instance came back".into());
    }
    if after.contains_key("de") {
        return None;
    }
    let (commit, next) = (number(before, "cn"), number(after, "cn"));
    let (fence, now) = (number(before, "fe"), number(after, "fe"));
    if now < fence {
        return Some(format!("the fence fell from {fence:?} to {now:?}"));
    }
    if commit.is_none() || commit == next {
        return None;
    }
    if next != commit.map(|n| n + 1) {
        return Some(format!("commit {next:?} came after commit {commit:?}"));
    }
    if before.contains_key("en") {
        return Some(format!(
            "commit {next:?} changed an instance that had ended"
        ));
    }
    // A commit may take the lease, which raises the fence once.
    if now > fence.map(|n| n + 1) {
        return Some(format!(
            "a commit raised the fence from {fence:?} to {now:?}"
        ));
    }
    None
}
