//! Definitions: one head item, one item per version, one item that lists the rows a definition owns elsewhere.
//!
//! The head has two counters. The *revision* rises with every change and is what an editor must name to change it.
//! The *generation* rises only with a publish and a retract: a trigger belongs to a published version if and only
//! if it carries the head's generation.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::{count, last_part, part, partition};
use crate::item::packed;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Item, Key, Value};

/// The largest definition, in bytes of JSON.
pub const DEFINITION_MAX: usize = 16 * 1_024 * 1_024;

/// The largest definition, in bytes of its packed form: what fits in an item.
pub(crate) const PACKED_MAX: usize = 380 * 1_024;

/// What lists show of a version.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionInfo {
    /// Its number, from 1.
    #[serde(rename = "n")]
    pub version: u32,
    /// Its own id, unique over all definitions.
    #[serde(rename = "i")]
    pub version_id: String,
    /// Its name for people.
    #[serde(rename = "na")]
    pub name: String,
    /// What it is for.
    #[serde(rename = "d")]
    pub description: String,
    /// When it was saved last, in ms since 1970.
    #[serde(rename = "c")]
    pub created_ms: i64,
    /// Anything else that lists show; the runtime's own format.
    #[serde(rename = "x")]
    pub extra: Bytes,
}

/// What is known of a definition without reading a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionHead {
    /// The definition's id.
    pub definition_id: String,
    /// Rises with every change.
    pub revision: u64,
    /// Rises with every publish and retract. 0: never published.
    pub generation: u64,
    /// The latest version.
    pub latest: VersionInfo,
    /// The published version, if there is one. May be an older one than the latest.
    pub published: Option<VersionInfo>,
}

/// One version with its body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionVersion {
    /// The definition's id.
    pub definition_id: String,
    /// Number, name and the like.
    pub info: VersionInfo,
    /// The definition as it was saved.
    pub body: Bytes,
    /// Whether it was published at some time. Then it never changes.
    pub was_published: bool,
    /// Whether an instance may name it. Then it never changes.
    pub used: bool,
    /// Whether it was deleted while instances may name it: kept for them, shown in no list.
    pub hidden: bool,
}

/// The body of the head's summary attribute.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct HeadBody {
    #[serde(rename = "l")]
    latest: VersionInfo,
    /// Left out where it is the latest.
    #[serde(rename = "p")]
    published: Option<VersionInfo>,
    #[serde(rename = "lp")]
    latest_is_published: bool,
}

/// The rows a definition owns outside its partition; read by the next publish, which replaces them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct OwnedRows {
    /// The generation in the keys of the triggers.
    #[serde(rename = "g")]
    pub(crate) generation: u64,
    /// Stimulus hash and activity id of each trigger.
    #[serde(rename = "t")]
    pub(crate) triggers: BTreeSet<(String, String)>,
    /// Template and method of each route.
    #[serde(rename = "r")]
    pub(crate) routes: BTreeSet<(String, String)>,
    /// The definitions that the latest version uses as activities.
    #[serde(rename = "u")]
    pub(crate) uses: BTreeSet<String>,
    /// The activity type name under which other definitions find the published version.
    #[serde(rename = "n")]
    pub(crate) type_name: Option<String>,
}

pub(crate) fn def_partition(tenant: &Tenant, definition: &str) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("DEF#{}", part("a definition id", definition)?),
    ))
}

pub(crate) fn head_key(tenant: &Tenant, definition: &str) -> Result<Key, StoreError> {
    Ok(Key::new(def_partition(tenant, definition)?, "HEAD"))
}

pub(crate) fn rows_key(tenant: &Tenant, definition: &str) -> Result<Key, StoreError> {
    Ok(Key::new(def_partition(tenant, definition)?, "ROWS"))
}

pub(crate) fn version_key(
    tenant: &Tenant,
    definition: &str,
    version: u32,
) -> Result<Key, StoreError> {
    Ok(Key::new(
        def_partition(tenant, definition)?,
        format!("V#{}", count(version.into())),
    ))
}

/// Where the definition that has a version id is found.
pub(crate) fn version_id_key(tenant: &Tenant, version_id: &str) -> Result<Key, StoreError> {
    let id = part("a definition version id", version_id)?;
    Ok(Key::new(partition(tenant, &format!("VID#{id}")), "HEAD"))
}

/// A row of a child's partition that says that `parent` uses it.
pub(crate) fn uses_key(tenant: &Tenant, child: &str, parent: &str) -> Result<Key, StoreError> {
    let parent = part("a definition id", parent)?;
    Ok(Key::new(
        def_partition(tenant, child)?,
        format!("USES#{parent}"),
    ))
}

/// A row that says that a definition's published version is the activity `name`.
pub(crate) fn type_name_key(
    tenant: &Tenant,
    name: &str,
    definition: &str,
) -> Result<Key, StoreError> {
    let name = part("an activity type name", name)?;
    let definition = part("a definition id", definition)?;
    Ok(Key::new(
        partition(tenant, &format!("TYPE#{name}")),
        format!("D#{definition}"),
    ))
}

/// The partition of index one that lists a tenant's definitions by id.
pub(crate) fn list_partition(tenant: &Tenant) -> String {
    partition(tenant, "DEFS")
}

impl DefinitionHead {
    /// The attributes that a head's summary makes.
    pub(crate) fn summary(&self) -> Result<Bytes, StoreError> {
        let latest_is_published = self.published.as_ref() == Some(&self.latest);
        let published = if latest_is_published {
            None
        } else {
            self.published.clone()
        };
        body::encode(
            "definition head",
            &HeadBody {
                latest: self.latest.clone(),
                published,
                latest_is_published,
            },
        )
    }

    /// Reads a summary as a list finds it; the counters are 0 then where the index does not carry them.
    /// `None` if the definition was deleted, or is only about to be.
    pub(crate) fn from_item(item: &Item) -> Result<Option<Self>, StoreError> {
        let what = "definition head";
        let Some(summary) = body::bytes(&item.attributes, "su") else {
            return Ok(None);
        };
        let head: HeadBody = body::decode(what, summary)?;
        let counter = |name| {
            body::number(&item.attributes, name)
                .unwrap_or(0)
                .unsigned_abs()
        };
        let published = if head.latest_is_published {
            Some(head.latest.clone())
        } else {
            head.published
        };
        Ok(Some(Self {
            definition_id: last_part(what, &item.key.partition)?,
            revision: counter("rv"),
            generation: counter("ge"),
            latest: head.latest,
            published,
        }))
    }
}

/// The body and the marks of a version as attributes.
pub(crate) fn version_attributes(
    info: &VersionInfo,
    definition: &[u8],
    published: bool,
) -> Result<Attributes, StoreError> {
    let what = "the definition";
    if definition.len() > DEFINITION_MAX {
        return Err(StoreError::TooLarge {
            what,
            size: definition.len(),
            limit: DEFINITION_MAX,
        });
    }
    let packed = packed::pack(definition, 256);
    if packed.len() > PACKED_MAX {
        return Err(StoreError::TooLarge {
            what,
            size: packed.len(),
            limit: PACKED_MAX,
        });
    }
    let mut attributes = body::attributes("definition version", info)?;
    attributes.insert("de".into(), Value::B(packed));
    attributes.insert("dg".into(), Value::B(digest(definition)));
    if published {
        attributes.insert("pb".into(), Value::N(1));
    }
    Ok(attributes)
}

/// What two saves of the same definition have in common.
pub(crate) fn digest(definition: &[u8]) -> Bytes {
    use sha2::{Digest, Sha256};
    Bytes::copy_from_slice(&Sha256::digest(definition))
}

impl DefinitionVersion {
    pub(crate) fn from_item(item: &Item) -> Result<Self, StoreError> {
        let what = "definition version";
        let packed = body::bytes(&item.attributes, "de").ok_or(StoreError::damaged(what))?;
        let has = |name| item.attributes.contains_key(name);
        Ok(Self {
            definition_id: last_part(what, &item.key.partition)?,
            info: body::of_item(what, item)?,
            body: packed::unpack(what, packed, DEFINITION_MAX)?,
            was_published: has("pb"),
            used: has("us"),
            hidden: has("hi"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(version: u32) -> VersionInfo {
        VersionInfo {
            version,
            version_id: format!("v{version}"),
            name: "N".into(),
            ..VersionInfo::default()
        }
    }

    #[test]
    fn keys_are_as_they_always_were() {
        let tenant = Tenant::default();
        let key = version_key(&tenant, "or#der", 7).unwrap();
        assert_eq!(key, Key::new("default/DEF#or%23der", "V#000000000007"));
        assert_eq!(
            head_key(&tenant, "a").unwrap(),
            Key::new("default/DEF#a", "HEAD")
        );
        assert_eq!(
            rows_key(&tenant, "a").unwrap(),
            Key::new("default/DEF#a", "ROWS")
        );
        assert_eq!(
            uses_key(&tenant, "c", "p").unwrap(),
            Key::new("default/DEF#c", "USES#p")
        );
        assert_eq!(
            type_name_key(&tenant, "Ship", "d").unwrap(),
            Key::new("default/TYPE#Ship", "D#d")
        );
        assert_eq!(
            version_id_key(&tenant, "x").unwrap(),
            Key::new("default/VID#x", "HEAD")
        );
        assert_eq!(last_part("x", "DEF#or%23der").unwrap(), "or#der");
    }

    #[test]
    fn a_head_comes_back_with_and_without_another_published_version() {
        for published in [None, Some(info(2)), Some(info(1))] {
            let head = DefinitionHead {
                definition_id: "a#b".into(),
                revision: 3,
                generation: 2,
                latest: info(2),
                published,
            };
            let attributes = Attributes::from([
                ("su".into(), Value::B(head.summary().unwrap())),
                ("rv".into(), Value::N(3)),
                ("ge".into(), Value::N(2)),
            ]);
            let item = Item {
                key: head_key(&Tenant::default(), "a#b").unwrap(),
                attributes,
            };
            assert_eq!(DefinitionHead::from_item(&item).unwrap(), Some(head));
        }
    }

    #[test]
    fn a_version_comes_back_and_a_giant_is_refused() {
        let attributes = version_attributes(&info(1), b"{\"a\":1}", true).unwrap();
        let item = Item {
            key: version_key(&Tenant::default(), "d", 1).unwrap(),
            attributes,
        };
        let version = DefinitionVersion::from_item(&item).unwrap();
        assert_eq!(
            (version.body.as_ref(), &version.info),
            (&b"{\"a\":1}"[..], &info(1))
        );
        assert!(version.was_published && !version.used && !version.hidden);
        let giant = vec![0; DEFINITION_MAX + 1];
        let refused = version_attributes(&info(1), &giant, false);
        assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    }
}
