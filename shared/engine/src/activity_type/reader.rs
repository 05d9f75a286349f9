//! Reading members of JSON, with a flaw for each that is not what it should be.

use serde_json::{Map, Value};

/// The most inputs, outputs, outcomes or final errors of a type.
pub(super) const LIST_MAX: usize = 100;
/// The most characters of a name.
pub(super) const NAME_CHARS_MAX: usize = 128;
/// The most characters of a text for people.
pub(super) const TEXT_CHARS_MAX: usize = 4_000;

/// Something that is wrong with a type.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Flaw {
    /// Where in the JSON.
    pub path: String,
    /// What, in a sentence.
    pub message: String,
}

#[derive(Default)]
pub(super) struct Reader {
    pub(super) flaws: Vec<Flaw>,
}

impl Reader {
    pub(super) fn flaw(&mut self, path: &str, message: impl Into<String>) {
        self.flaws.push(Flaw {
            path: path.to_owned(),
            message: message.into(),
        });
    }

    /// Members that mean nothing are mistakes.
    pub(super) fn only(&mut self, json: &Map<String, Value>, path: &str, known: &[&str]) {
        for name in json.keys() {
            if !known.contains(&name.as_str()) {
                let name: String = name.chars().take(64).collect();
                self.flaw(
                    &below(path, &name),
                    format!(
                        "`{name}` means nothing here; what does: {}",
                        known.join(", ")
                    ),
                );
            }
        }
    }

    pub(super) fn text(&mut self, json: &Map<String, Value>, path: &str, name: &str) -> String {
        match json.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) if text.chars().count() <= TEXT_CHARS_MAX => text.clone(),
            Some(_) => {
                self.flaw(
                    &below(path, name),
                    format!("`{name}` is a text of at most {TEXT_CHARS_MAX} characters"),
                );
                String::new()
            }
        }
    }

    pub(super) fn flag(
        &mut self,
        json: &Map<String, Value>,
        path: &str,
        name: &str,
        usual: bool,
    ) -> bool {
        match json.get(name) {
            None | Some(Value::Null) => usual,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.flaw(&below(path, name), format!("`{name}` is `true` or `false`"));
                usual
            }
        }
    }

    pub(super) fn number(
        &mut self,
        json: &Map<String, Value>,
        path: &str,
        name: &str,
        least: i64,
        most: i64,
    ) -> Option<i64> {
        let value = json.get(name).filter(|value| !value.is_null())?;
        let number = value.as_i64().filter(|n| (least..=most).contains(n));
        if number.is_none() {
            self.flaw(
                &below(path, name),
                format!("`{name}` is a whole number from {least} to {most}"),
            );
        }
        number
    }

    pub(super) fn list<'a>(
        &mut self,
        json: &'a Map<String, Value>,
        path: &str,
        name: &str,
    ) -> &'a [Value] {
        match json.get(name) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) if items.len() <= LIST_MAX => items,
            Some(_) => {
                self.flaw(
                    &below(path, name),
                    format!("`{name}` is a list of at most {LIST_MAX}"),
                );
                &[]
            }
        }
    }

    pub(super) fn names(
        &mut self,
        json: &Map<String, Value>,
        path: &str,
        list: &str,
    ) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        let items = self.list(json, path, list);
        let path = below(path, list);
        for (place, item) in items.iter().enumerate() {
            let is_name = |name: &&str| !name.trim().is_empty() && name.len() <= NAME_CHARS_MAX;
            match item.as_str().filter(is_name) {
                Some(name) if names.iter().any(|known| known == name) => {
                    self.flaw(
                        &format!("{path}[{place}]"),
                        format!("`{name}` is there twice"),
                    );
                }
                Some(name) => names.push(name.to_owned()),
                None => self.flaw(
                    &format!("{path}[{place}]"),
                    format!("a name is a text of at most {NAME_CHARS_MAX} bytes"),
                ),
            }
        }
        names
    }
}

pub(super) fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}
