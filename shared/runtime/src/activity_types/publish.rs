//! Publishing and deleting activity types.

use dormouse_engine::activity_type::{self, ActivityType, Flaw, Handler, TYPE_BYTES_MAX, script};
use dormouse_engine::definition::name::type_key;
use dormouse_expressions::Language;
use dormouse_store::Tenant;
use dormouse_store::definition::activity_type::TypeHead;
use dormouse_store::item::versioned::Versioned;
use serde_json::Value;

use super::{ActivityTypes, TypeView, json_of, view};
use crate::error::RuntimeError;
use crate::port::not_allowed;

/// How often it is tried while others change the same type.
const ATTEMPTS_MAX: u32 = 5;
/// The most types of a tenant.
const TYPES_MAX: usize = 200;
/// The most names of types that a tenant has ever used.
const NAMES_MAX: usize = 1_000;
/// The most versions of a type.
const VERSIONS_MAX: u32 = 10_000;

/// What became of a publish.
#[derive(Debug, Clone, PartialEq)]
pub enum TypePublished {
    /// It is published. `is_new`: as a new version; otherwise the latest one is the same already.
    Done {
        /// As it is now.
        view: TypeView,
        /// Whether there was anything to do.
        is_new: bool,
    },
    /// It is no type.
    Invalid(Vec<Flaw>),
    /// A workflow that is used as an activity has the name.
    NameTaken {
        /// The workflow's definition.
        definition_id: String,
    },
    /// There are as many as may be.
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
}

/// What became of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TypeDeleted {
    /// It is gone for whoever publishes; what uses it goes on.
    Done,
    /// There is none.
    NotFound,
}

impl ActivityTypes<'_> {
    /// Publishes a type as a new version, unless the latest one is the same.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn publish(
        self,
        tenant: &Tenant,
        json: &Value,
    ) -> Result<TypePublished, RuntimeError> {
        let body = serde_json::to_vec(json).map_err(RuntimeError::format("activity type"))?;
        let ty = match self.check(json, body.len()) {
            Ok(ty) => ty,
            Err(flaws) => return Ok(TypePublished::Invalid(flaws)),
        };
        let name = ty.type_name.as_str();
        if let Some(definition_id) = self.workflow_of(tenant, name).await? {
            return Ok(TypePublished::NameTaken { definition_id });
        }
        let types = self.store().own_types();
        for _ in 0..ATTEMPTS_MAX {
            let found = types.head(tenant, name).await?;
            if let Some(found) = &found
                && !found.value.is_deleted
                && json_of(&found.value.body)? == *json
            {
                let view = view(&found.value)?;
                return Ok(TypePublished::Done {
                    view,
                    is_new: false,
                });
            }
            if found.as_ref().is_none_or(|found| found.value.is_deleted)
                && let Some(full) = self.full(tenant, found.is_none()).await?
            {
                return Ok(full);
            }
            let before = found.as_ref().map_or(0, |found| found.value.version);
            if before >= VERSIONS_MAX {
                return Ok(TypePublished::TooMany {
                    what: "versions of the activity type",
                    limit: VERSIONS_MAX as usize,
                });
            }
            let next = Versioned {
                version: found.map_or(0, |found| found.version),
                value: TypeHead {
                    name: name.to_owned(),
                    version: before + 1,
                    body: body.clone().into(),
                    published_ms: self.now().0,
                    is_deleted: false,
                },
            };
            if types.publish(tenant, &next).await? {
                self.has_changed(tenant, name).await;
                let view = view(&next.value)?;
                return Ok(TypePublished::Done { view, is_new: true });
            }
        }
        Err(RuntimeError::DefinitionContended {
            definition_id: name.to_owned(),
        })
    }

    /// Deletes a type: nothing new can use it. Its versions stay for what uses it.
    ///
    /// # Errors
    ///
    /// [`RuntimeError`]
    pub async fn delete(self, tenant: &Tenant, name: &str) -> Result<TypeDeleted, RuntimeError> {
        let types = self.store().own_types();
        for _ in 0..ATTEMPTS_MAX {
            let found = types.head(tenant, name).await?;
            let Some(mut found) = found.filter(|found| !found.value.is_deleted) else {
                return Ok(TypeDeleted::NotFound);
            };
            found.value.is_deleted = true;
            found.value.body = Vec::new().into();
            if types.put_head(tenant, &found).await? {
                self.has_changed(tenant, name).await;
                return Ok(TypeDeleted::Done);
            }
        }
        Err(RuntimeError::DefinitionContended {
            definition_id: name.to_owned(),
        })
    }

    /// What does not need the table to be found wrong.
    fn check(self, json: &Value, bytes: usize) -> Result<ActivityType, Vec<Flaw>> {
        let flaw = |path: &str, message: String| {
            Err(vec![Flaw {
                path: path.to_owned(),
                message,
            }])
        };
        if bytes > TYPE_BYTES_MAX {
            return flaw(
                "",
                format!("the type has {bytes} bytes of JSON; at most {TYPE_BYTES_MAX} are kept"),
            );
        }
        let ty = activity_type::read(json, 1)?;
        match &ty.handler {
            Handler::JavaScript { source } => {
                let text = script(source).unwrap_or_default();
                if let Err(error) = self.expressions().compile(Language::JavaScript, &text) {
                    return flaw(
                        "handler.source",
                        format!("the script is no program: {error}"),
                    );
                }
            }
            Handler::Http { .. } if self.config().signing_secret.is_none() => {
                return flaw(
                    "handler.kind",
                    "requests to handlers are signed, and there is nothing to sign them with: give the server a secret with --webhook-secret or DORMOUSE_WEBHOOK_SECRET".into(),
                );
            }
            Handler::Command { .. } if self.ports().commands.is_none() => {
                return flaw(
                    "handler.kind",
                    "commands are not allowed here; a server that was started with --allow-commands runs them".into(),
                );
            }
            Handler::Lambda { function } if !self.allows(function) => {
                return flaw("handler.function", not_allowed(function));
            }
            Handler::Http { .. }
            | Handler::Command { .. }
            | Handler::Lambda { .. }
            | Handler::Worker { .. } => {}
        }
        Ok(ty)
    }

    fn allows(self, function: &str) -> bool {
        let functions = self.ports().functions.as_ref();
        functions.is_some_and(|functions| functions.allows(function))
    }

    /// The workflow that is used as an activity under a name.
    async fn workflow_of(
        self,
        tenant: &Tenant,
        name: &str,
    ) -> Result<Option<String>, RuntimeError> {
        let definitions = self.store().definitions();
        let found = definitions
            .find_by_type_name(tenant, &type_key(name))
            .await?;
        Ok(found.into_iter().next())
    }

    /// Whether there is room for one more.
    async fn full(
        self,
        tenant: &Tenant,
        is_new: bool,
    ) -> Result<Option<TypePublished>, RuntimeError> {
        let all = self.store().own_types().all(tenant).await?;
        let there = all.iter().filter(|head| !head.is_deleted).count();
        let (what, limit) = if there >= TYPES_MAX {
            ("activity types", TYPES_MAX)
        } else if is_new && all.len() >= NAMES_MAX {
            ("names of activity types, deleted ones included", NAMES_MAX)
        } else {
            return Ok(None);
        };
        Ok(Some(TypePublished::TooMany { what, limit }))
    }

    /// What missed the type looks again, here and on other nodes.
    async fn has_changed(self, tenant: &Tenant, name: &str) {
        self.changed(tenant, name).await;
    }
}
