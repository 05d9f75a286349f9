//! Settings of the host that scripts read with `getConfig`: the same for all tenants, or a tenant's own.

use std::collections::BTreeMap;

use dormouse_engine::step::Settings;
use dormouse_store::Tenant;
use serde_json::Value;

use crate::runtime::Runtime;

/// Beginning of the names of variables for all tenants.
const FOR_ALL: &str = "DORMOUSE_CONFIG_";
/// Beginning of the names of variables for one tenant, whose name follows.
const FOR_ONE: &str = "DORMOUSE_TENANT_CONFIG_";

/// Settings of a host by name, in lower case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostSettings {
    all: BTreeMap<String, String>,
    tenants: BTreeMap<String, BTreeMap<String, String>>,
}

/// `Mail__From` is `mail:from`, as in .NET.
fn path(name: &str) -> String {
    name.replace("__", ":").to_lowercase()
}

impl HostSettings {
    /// The settings in variables of the environment: `DORMOUSE_CONFIG_Mail__From` for all tenants, and
    /// `DORMOUSE_TENANT_CONFIG_acme__Mail__From` for the tenant `acme`.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut settings = Self::default();
        for (name, value) in variables {
            if let Some(name) = name.strip_prefix(FOR_ALL) {
                settings.all.insert(path(name), value);
            } else if let Some(rest) = name.strip_prefix(FOR_ONE)
                && let Some((tenant, name)) = rest.split_once("__")
            {
                let own = settings.tenants.entry(tenant.to_lowercase()).or_default();
                own.insert(path(name), value);
            }
        }
        settings
    }

    fn is_empty(&self) -> bool {
        self.all.is_empty() && self.tenants.is_empty()
    }

    fn get(&self, tenant: &str, path: &str) -> Option<&String> {
        let path = path.to_lowercase();
        let own = self.tenants.get(&tenant.to_lowercase());
        own.and_then(|own| own.get(&path))
            .or_else(|| self.all.get(&path))
    }
}

/// Settings as a tenant sees them, for a step.
pub(crate) struct TenantSettings<'a> {
    settings: &'a HostSettings,
    tenant: &'a Tenant,
}

impl Settings for TenantSettings<'_> {
    fn setting(&self, path: &str) -> Option<Value> {
        let found = self.settings.get(self.tenant.as_str(), path);
        found.cloned().map(Value::String)
    }
}

impl Runtime {
    /// What scripts of a tenant read. `None`: this host has no settings.
    pub(crate) fn settings_of<'a>(&'a self, tenant: &'a Tenant) -> Option<TenantSettings<'a>> {
        let settings = &self.config().settings;
        (!settings.is_empty()).then_some(TenantSettings { settings, tenant })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenants_own_setting_comes_before_that_of_all() {
        let variables = [
            ("DORMOUSE_CONFIG_Mail__From", "all@example.com"),
            ("DORMOUSE_CONFIG_Plain", "1"),
            (
                "DORMOUSE_TENANT_CONFIG_acme__Mail__From",
                "acme@example.com",
            ),
            ("DORMOUSE_TENANT_CONFIG_nothing", "2"),
            ("PATH", "/bin"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let settings = HostSettings::of(variables);
        let get = |tenant, path| settings.get(tenant, path).map(String::as_str);
        assert_eq!(get("acme", "Mail:From"), Some("acme@example.com"));
        assert_eq!(get("other", "mail:from"), Some("all@example.com"));
        assert_eq!(get("acme", "plain"), Some("1"));
        assert_eq!(get("acme", "path"), None);
        assert!(HostSettings::of([]).is_empty());
    }
}
