//! Tenants in messages: their names.

use dormouse_store::Tenant;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes the name.
pub(crate) fn serialize<S: Serializer>(tenant: &Tenant, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(tenant.as_str())
}

/// Reads the name, and checks it.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Tenant, D::Error> {
    let name = String::deserialize(from)?;
    Tenant::new(&name).map_err(serde::de::Error::custom)
}
