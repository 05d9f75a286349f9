//! A version of a definition as it is given back.

use dormouse_engine::definition::Definition;
use dormouse_engine::time::Timestamp;

/// A version of a definition, with its identity and its flags as they are now.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinitionView {
    /// The definition. Its JSON has `id`, `definitionId`, `version`, `isLatest` and `isPublished` as they are now.
    pub definition: Definition,
    /// The definition's id.
    pub definition_id: String,
    /// The version's own id.
    pub version_id: String,
    /// The version's number.
    pub version: u32,
    /// Whether it is the latest version.
    pub is_latest: bool,
    /// Whether it is the published version.
    pub is_published: bool,
    /// When it was saved.
    pub created_at: Timestamp,
}

/// What lists show of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionSummary {
    /// The definition's id.
    pub definition_id: String,
    /// The version's own id.
    pub version_id: String,
    /// The version's number.
    pub version: u32,
    /// Its name.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The version of the tool that wrote it.
    pub tool_version: Option<String>,
    /// Whether it is the latest version.
    pub is_latest: bool,
    /// Whether it is the published version.
    pub is_published: bool,
    /// Whether it refuses changes.
    pub is_readonly: bool,
    /// Whether lists hide it.
    pub is_system: bool,
    /// Whether other workflows can use it as an activity.
    pub usable_as_activity: bool,
    /// When it was saved.
    pub created_at: Timestamp,
}
