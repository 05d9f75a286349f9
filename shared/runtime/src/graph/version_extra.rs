//! What the store keeps with a version for the lists and for the start, beside its number and name.

use bytes::Bytes;
use dormouse_engine::definition::Definition;
use dormouse_store::definition::head::VersionInfo;
use serde::{Deserialize, Serialize};

use crate::error::RuntimeError;
use crate::graph::bindings::Bindings;

/// What is kept with a version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct VersionExtra {
    #[serde(rename = "tv", skip_serializing_if = "Option::is_none")]
    pub(crate) tool_version: Option<String>,
    #[serde(rename = "ro", skip_serializing_if = "is_false")]
    pub(crate) is_readonly: bool,
    #[serde(rename = "sy", skip_serializing_if = "is_false")]
    pub(crate) is_system: bool,
    #[serde(rename = "ua", skip_serializing_if = "is_false")]
    pub(crate) usable_as_activity: bool,
    /// Who saved it last, where somebody was asked who he is.
    #[serde(rename = "by", skip_serializing_if = "Option::is_none")]
    pub(crate) saved_by: Option<String>,
    /// When it was published, in ms since 1970: recurring triggers count from then.
    #[serde(rename = "pu", skip_serializing_if = "Option::is_none")]
    pub(crate) published_ms: Option<i64>,
    /// The workflows it uses as activities, as they were when it was published.
    #[serde(rename = "bi", skip_serializing_if = "Bindings::is_empty")]
    pub(crate) bindings: Bindings,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl VersionExtra {
    /// What lists show of a definition.
    pub(crate) fn of(definition: &Definition) -> Self {
        let text = |name| definition.property(name).and_then(|v| v.as_str());
        Self {
            tool_version: text("toolVersion").map(str::to_owned),
            is_readonly: definition.is_readonly,
            is_system: definition.is_system,
            usable_as_activity: definition.options.usable_as_activity,
            saved_by: None,
            published_ms: None,
            bindings: Bindings::default(),
        }
    }

    pub(crate) fn encode(&self) -> Result<Bytes, RuntimeError> {
        serde_json::to_vec(self)
            .map(Bytes::from)
            .map_err(RuntimeError::format("version"))
    }

    pub(crate) fn read(info: &VersionInfo) -> Result<Self, RuntimeError> {
        if info.extra.is_empty() {
            return Ok(Self::default());
        }
        serde_json::from_slice(&info.extra).map_err(RuntimeError::format("version"))
    }
}
