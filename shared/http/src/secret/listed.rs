//! Secrets as lists show them, and which of them a list has.

use dormouse_engine::time::Timestamp;
use dormouse_runtime::SecretView;
use serde::Deserialize;
use serde_json::{Value, json};

/// Elsa's name of the store that seals values.
pub(super) const ENCRYPTED: &str = "Encrypted";
/// Elsa's name of the store that reads them elsewhere.
pub(super) const CONFIGURATION: &str = "Configuration";
/// Elsa's name of the type of all secrets here.
pub(super) const TEXT: &str = "Text";

/// A secret as Elsa tells it.
pub(super) fn model(secret: &SecretView, now: Timestamp) -> Value {
    let is_over = secret.expires_at.is_some_and(|end| end <= now);
    let status = match (secret.is_revoked, is_over) {
        (true, _) => "Revoked",
        (false, true) => "Expired",
        (false, false) => "Active",
    };
    let time = |at: Option<Timestamp>| at.map(|at| at.to_string());
    json!({
        "id": secret.id,
        "name": secret.name,
        "displayName": secret.display_name,
        "description": secret.description,
        "typeName": TEXT,
        "storeName": if secret.is_reference { CONFIGURATION } else { ENCRYPTED },
        "scope": secret.scope,
        "tags": secret.tags,
        "status": status,
        "currentVersion": (status == "Active").then_some(secret.version),
        "createdAt": secret.created_at.to_string(),
        "updatedAt": time(secret.updated_at),
        "expiresAt": time(secret.expires_at),
    })
}

/// Which secrets to list.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Filter {
    pub(super) search: Option<String>,
    pub(super) type_names: Vec<String>,
    pub(super) store_names: Vec<String>,
    pub(super) scope: Option<String>,
    pub(super) active_only: Option<bool>,
    pub(super) status: Option<String>,
}

impl Filter {
    /// Whether the list has this secret.
    pub(super) fn takes(&self, secret: &Value) -> bool {
        let text = |name: &str| secret.get(name).and_then(Value::as_str).unwrap_or_default();
        let found = |search: &String| {
            let search = search.trim().to_lowercase();
            ["name", "displayName", "description"]
                .iter()
                .any(|name| text(name).to_lowercase().contains(&search))
        };
        let one_of = |wanted: &[String], name: &str| {
            wanted.is_empty() || wanted.iter().any(|w| w.eq_ignore_ascii_case(text(name)))
        };
        let same = |wanted: &Option<String>, name: &str| {
            let wanted = wanted.as_deref().map(str::trim).unwrap_or_default();
            wanted.is_empty() || wanted.eq_ignore_ascii_case(text(name))
        };
        self.search.as_ref().is_none_or(found)
            && one_of(&self.type_names, "typeName")
            && one_of(&self.store_names, "storeName")
            && same(&self.scope, "scope")
            && same(&self.status, "status")
    }
}
