//! Naming a definition and which of its versions is meant.

use std::fmt;
use std::str::FromStr;

use dormouse_store::definition::head::DefinitionHead;
use serde::{Deserialize, Serialize};

/// Which version of a definition. Elsa's version options.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum VersionOptions {
    /// The published one.
    #[default]
    Published,
    /// The latest one, published or not.
    Latest,
    /// The latest one, or the published one where that is another: both, in a list.
    LatestAndPublished,
    /// The published one, or the latest one where none is published.
    LatestOrPublished,
    /// The latest one, if it is not published.
    Draft,
    /// Every one, in a list; else the latest.
    AllVersions,
    /// The one with this number.
    Number(u32),
}

impl VersionOptions {
    /// The number of the version that is meant, where one is.
    pub(crate) fn pick(self, head: &DefinitionHead) -> Option<u32> {
        let published = head.published.as_ref().map(|info| info.version);
        let latest = head.latest.version;
        match self {
            Self::Published => published,
            Self::Latest | Self::AllVersions => Some(latest),
            Self::LatestAndPublished => Some(latest).filter(|latest| Some(*latest) == published),
            Self::LatestOrPublished => published.or(Some(latest)),
            Self::Draft => Some(latest).filter(|latest| Some(*latest) != published),
            Self::Number(number) => Some(number),
        }
    }
}

/// The text is none of the version options.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a version: use Published, Latest, LatestOrPublished, LatestAndPublished, Draft, AllVersions or a number"
)]
pub struct BadVersionOptions(pub String);

impl FromStr for VersionOptions {
    type Err = BadVersionOptions;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.to_ascii_lowercase().as_str() {
            "published" => Self::Published,
            "latest" => Self::Latest,
            "latestandpublished" => Self::LatestAndPublished,
            "latestorpublished" => Self::LatestOrPublished,
            "draft" => Self::Draft,
            "allversions" | "all" => Self::AllVersions,
            number => Self::Number(
                number
                    .parse()
                    .map_err(|_| BadVersionOptions(text.to_owned()))?,
            ),
        })
    }
}

impl fmt::Display for VersionOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Published => f.write_str("Published"),
            Self::Latest => f.write_str("Latest"),
            Self::LatestAndPublished => f.write_str("LatestAndPublished"),
            Self::LatestOrPublished => f.write_str("LatestOrPublished"),
            Self::Draft => f.write_str("Draft"),
            Self::AllVersions => f.write_str("AllVersions"),
            Self::Number(number) => write!(f, "{number}"),
        }
    }
}

impl Serialize for VersionOptions {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for VersionOptions {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

/// A version of a definition, by either of Elsa's ways to name one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum DefinitionHandle {
    /// By the definition's id and which version.
    Definition {
        /// The definition's id.
        id: String,
        /// Which version.
        version: VersionOptions,
    },
    /// By the version's own id.
    Version {
        /// The version's id.
        id: String,
    },
}

impl DefinitionHandle {
    /// The published version of a definition.
    pub fn published(definition_id: impl Into<String>) -> Self {
        Self::Definition {
            id: definition_id.into(),
            version: VersionOptions::Published,
        }
    }

    /// The latest version of a definition.
    pub fn latest(definition_id: impl Into<String>) -> Self {
        Self::Definition {
            id: definition_id.into(),
            version: VersionOptions::Latest,
        }
    }

    /// The version with an id.
    pub fn version(version_id: impl Into<String>) -> Self {
        Self::Version {
            id: version_id.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_options_are_read_as_elsa_writes_them() {
        for text in ["Published", "Latest", "LatestAndPublished", "Draft", "12"] {
            assert_eq!(text.parse::<VersionOptions>().unwrap().to_string(), text);
        }
        assert!("newest".parse::<VersionOptions>().is_err());
    }
}
