//! Secrets that stand in a definition.

use dormouse_engine::definition::fields::Fields;
use serde_json::Value;

use super::{Finding, Level};

/// Parts of names whose values are secrets.
const NAMES: [&str; 8] = [
    "authorization",
    "password",
    "passwd",
    "secret",
    "apikey",
    "accesstoken",
    "privatekey",
    "connectionstring",
];

/// Beginnings of well-known secrets, and their least length.
const FORMS: [(&str, usize); 9] = [
    ("AKIA", 20),
    ("ghp_", 30),
    ("github_pat_", 30),
    ("sk_live_", 20),
    ("xoxb-", 20),
    ("glpat-", 20),
    ("AIza", 35),
    ("eyJ", 60),
    ("-----BEGIN ", 30),
];

/// Literals that are secrets by their name or form, and scripts with a secret in them.
pub(super) fn in_literals(definition: &Value) -> Vec<Finding> {
    let mut findings = Vec::new();
    walk(definition, String::new(), &mut findings);
    findings
}

fn walk(value: &Value, path: String, findings: &mut Vec<Finding>) {
    match value {
        Value::Object(entries) => {
            for (name, inner) in entries {
                let inner_path = match path.as_str() {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                let expression = Fields::of(inner).object("expression");
                if expression.is_present() {
                    let kind = expression.text("type").unwrap_or_default();
                    let held = expression.get("value").unwrap_or(&Value::Null);
                    if let Some(why) = reason(name, &kind, held) {
                        let message = format!("{why}; give it as an input or configuration");
                        let finding =
                            Finding::new(Level::Error, "secretInLiteral", &inner_path, message);
                        findings.push(finding);
                        continue;
                    }
                }
                walk(inner, inner_path, findings);
            }
        }
        Value::Array(items) => {
            for (place, inner) in items.iter().enumerate() {
                walk(inner, format!("{path}[{place}]"), findings);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn reason(name: &str, kind: &str, held: &Value) -> Option<String> {
    let is_literal = kind == "Literal" || kind == "Object";
    if is_literal && names_secret(name) && held.as_str().is_some_and(|t| !t.trim().is_empty()) {
        return Some(format!("`{name}` is a secret and stands in the definition"));
    }
    if is_literal && let Some(found) = named_inside(held) {
        return Some(format!(
            "`{found}` is a secret and stands in the definition"
        ));
    }
    formed_inside(held).then(|| "it has the form of a secret".to_owned())
}

/// True if a name, without punctuation, is that of a secret.
fn names_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    let plain = plain.to_lowercase();
    NAMES.iter().any(|secret| plain.contains(secret))
}

/// The name of a secret within a literal object, or within a literal text that is one.
fn named_inside(held: &Value) -> Option<String> {
    match held {
        Value::Object(entries) => {
            let secret = |(name, value): (&String, &Value)| {
                let is_text = value.as_str().is_some_and(|text| !text.trim().is_empty());
                (names_secret(name) && is_text).then(|| name.clone())
            };
            let own = entries.iter().find_map(secret);
            own.or_else(|| entries.values().find_map(named_inside))
        }
        Value::Array(items) => items.iter().find_map(named_inside),
        Value::String(text) if text.trim_start().starts_with('{') => {
            named_inside(&serde_json::from_str::<Value>(text).ok()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

fn formed_inside(held: &Value) -> bool {
    match held {
        Value::String(text) => has_form(text),
        Value::Object(entries) => entries.values().any(formed_inside),
        Value::Array(items) => items.iter().any(formed_inside),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn has_form(text: &str) -> bool {
    let is_separator = |c: char| !(c.is_ascii_alphanumeric() || "-_.+/=".contains(c));
    let mut words = text.split(is_separator);
    let is_secret = words.any(|word| {
        let known =
            |(begin, least): &(&str, usize)| word.starts_with(begin) && word.len() >= *least;
        FORMS.iter().any(known)
    });
    is_secret || text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") || has_password(text)
}

/// True if an address has a password: `https://user:password@host`.
fn has_password(text: &str) -> bool {
    let mut rest = text.split("://").skip(1);
    rest.any(|rest| {
        let authority = rest.split(['/', '?', '#', ' ', '"', '\'']).next();
        let user = authority.and_then(|a| a.rsplit_once('@'));
        let password = user.and_then(|(user, _)| user.split_once(':'));
        password.is_some_and(|(_, p)| !p.is_empty() && !p.starts_with(['$', '{']))
    })
}
