//! Activity types that are data: publishing, reading, deleting.

pub(crate) mod publish;

use std::ops::Deref;
use std::sync::Arc;

use dormouse_engine::activity_type::ActivityType;
use dormouse_engine::time::Timestamp;
use dormouse_store::Tenant;
use dormouse_store::definition::activity_type::TypeHead;
use serde_json::Value;

use crate::definitions::Definitions;
use crate::error::RuntimeError;
use crate::loading::own_type::read_type;

/// Activity types that are data.
#[derive(Clone, Copy)]
pub struct ActivityTypes<'a>(Definitions<'a>);

impl<'a> Deref for ActivityTypes<'a> {
    type Target = Definitions<'a>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'a> Definitions<'a> {
    /// Activity types that are data.
    #[must_use]
    pub fn types(self) -> ActivityTypes<'a> {
        ActivityTypes(self)
    }
}

/// How many versions of a type designers are told of.
const DRAWN_MAX: u32 = 20;

/// A version of a type as it was published.
#[derive(Debug, Clone, PartialEq)]
pub struct TypeView {
    /// Its name.
    pub name: String,
    /// Its number.
    pub version: u32,
    /// As it was given.
    pub json: Value,
    /// When the latest version was published.
    pub published_at: Timestamp,
}

fn view(head: &TypeHead) -> Result<TypeView, RuntimeError> {
    Ok(TypeView {
        name: head.name.clone(),
        version: head.version,
        json: json_of(&head.body)?,
        published_at: Timestamp(head.published_ms),
    })
}

fn json_of(body: &[u8]) -> Result<Value, RuntimeError> {
    serde_json::from_slice(body).map_err(RuntimeError::format("activity type"))
}

impl ActivityTypes<'_> {
    /// A type in a version, or in its latest one. `None`: there is none, or it was deleted.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn get(
        self,
        tenant: &Tenant,
        name: &str,
        version: Option<u32>,
    ) -> Result<Option<TypeView>, RuntimeError> {
        let types = self.store().own_types();
        let head = types.head(tenant, name).await?;
        let Some(head) = head.filter(|head| !head.value.is_deleted) else {
            return Ok(None);
        };
        let latest = view(&head.value)?;
        match version.filter(|version| *version != latest.version) {
            None => Ok(Some(latest)),
            Some(version) => {
                let body = types.version(tenant, name, version).await?;
                let json = body.map(|body| json_of(&body)).transpose()?;
                Ok(json.map(|json| TypeView {
                    version,
                    json,
                    ..latest
                }))
            }
        }
    }

    /// All types in their latest versions, by name.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn list(self, tenant: &Tenant) -> Result<Vec<TypeView>, RuntimeError> {
        let heads = self.store().own_types().all(tenant).await?;
        let there = heads.iter().filter(|head| !head.is_deleted);
        there.map(view).collect()
    }

    /// All types as designers draw them: the newest versions of each, the latest one last.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn drawn(self, tenant: &Tenant) -> Result<Vec<Arc<ActivityType>>, RuntimeError> {
        let types = self.store().own_types();
        let mut drawn = Vec::new();
        for head in types.all(tenant).await? {
            if head.is_deleted {
                continue;
            }
            let mut newest = match head.version {
                1 => vec![(1, head.body)],
                _ => types.newest(tenant, &head.name, DRAWN_MAX).await?,
            };
            newest.reverse();
            for (version, body) in newest {
                drawn.push(Arc::new(read_type(&body, version)?));
            }
        }
        Ok(drawn)
    }
}
