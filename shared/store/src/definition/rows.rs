//! One change of a definition as writes: the head, a version, and the rows that the definition owns elsewhere.

use bytes::Bytes;

use crate::definition::head::{
    DefinitionHead, OwnedRows, head_key, list_partition, rows_key, type_name_key, uses_key,
    version_id_key,
};
use crate::definition::publish::Saved;
use crate::definition::route::{self, Route};
use crate::definition::trigger::{self, NewTrigger};
use crate::item::body;
use crate::item::error::StoreError;
use crate::item::key_text::part;
use crate::item::number::number;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Change, Condition, Item, Key, Value, Write};

/// A definition before a change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Current {
    /// `None`: there is none, or it was deleted.
    pub(crate) head: Option<DefinitionHead>,
    /// The head's counters, of a deleted one too.
    pub(crate) revision: u64,
    pub(crate) generation: u64,
    /// The greatest generation that an interrupted publish may have put triggers of.
    pub(crate) reserved: u64,
    /// The greatest version number that was ever given out.
    pub(crate) greatest: u32,
    /// Whether there is a head item with a revision.
    pub(crate) is_there: bool,
    pub(crate) rows: OwnedRows,
}

impl Current {
    /// The answer to somebody who saw another revision.
    pub(crate) fn conflict(&self, expected_revision: u64) -> Option<Saved> {
        let revision = self.head.as_ref().map_or(0, |head| head.revision);
        (revision != expected_revision).then(|| Saved::Conflict(self.head.clone()))
    }

    /// A generation that no trigger carries, not even one of an interrupted publish.
    pub(crate) fn next_generation(&self) -> u64 {
        self.generation.max(self.reserved) + 1
    }

    /// Whether nobody changed the definition since it was read.
    pub(crate) fn is_unchanged(&self) -> Condition {
        if self.is_there {
            Condition::Equals("rv".into(), number(self.revision))
        } else {
            Condition::Lacks("rv".into())
        }
    }
}

/// A change to carry out.
#[derive(Debug, Clone)]
pub(crate) struct DefinitionChange {
    pub(crate) current: Current,
    /// The head as it will be.
    pub(crate) head: DefinitionHead,
    /// The rows that it will own.
    pub(crate) rows: OwnedRows,
    /// The triggers among them, where they are put anew.
    pub(crate) triggers: Vec<NewTrigger>,
    /// The write of the version.
    pub(crate) version: Option<Write>,
    /// The version's own id and its number.
    pub(crate) version_id: Option<(String, u32)>,
    /// An id that the version had before.
    pub(crate) old_version_id: Option<String>,
    /// What the body is known by; it is how a repeat after a lost answer knows its own change.
    pub(crate) digest: Bytes,
    /// Whether the definition is deleted with it.
    pub(crate) deletes: bool,
}

/// A change as writes.
pub(crate) struct Writes {
    /// May be done before the head changes.
    pub(crate) before: Vec<Write>,
    /// The head first, then the version.
    pub(crate) with: Vec<Write>,
    /// May be done after the head has changed.
    pub(crate) after: Vec<Write>,
}

impl DefinitionChange {
    /// A change that changes nothing yet but the revision.
    pub(crate) fn of(current: Current, mut head: DefinitionHead) -> Self {
        head.revision = current.revision + 1;
        Self {
            rows: current.rows.clone(),
            current,
            head,
            triggers: Vec::new(),
            version: None,
            version_id: None,
            old_version_id: None,
            digest: Bytes::new(),
            deletes: false,
        }
    }

    /// Takes the published version out of force.
    pub(crate) fn retract(&mut self) {
        self.head.published = None;
        self.head.generation = self.current.next_generation();
        let uses = std::mem::take(&mut self.rows.uses);
        self.rows = OwnedRows {
            generation: self.head.generation,
            uses,
            ..OwnedRows::default()
        };
    }

    /// The first version number that is free.
    pub(crate) fn next_version(&self) -> u32 {
        let this = self.version_id.as_ref().map_or(0, |(_, version)| *version);
        self.current.greatest.max(this) + 1
    }

    fn head_changes(&self, tenant: &Tenant) -> Result<Vec<Change>, StoreError> {
        let mut changes = Vec::new();
        let mut set = |name: &str, value| changes.push(Change::Set(name.to_owned(), value));
        let greatest = self
            .current
            .greatest
            .max(self.version_id.as_ref().map_or(0, |(_, n)| *n));
        set("rv", number(self.head.revision));
        set("ge", number(self.head.generation));
        set(
            "gr",
            number(self.head.generation.max(self.current.reserved)),
        );
        set("la", number(greatest.into()));
        let digest = Change::Set("hd".into(), Value::B(self.digest.clone()));
        changes.push(if self.digest.is_empty() {
            Change::Remove("hd".into())
        } else {
            digest
        });
        let mut set = |name: &str, value| changes.push(Change::Set(name.to_owned(), value));
        if self.deletes {
            // Numbers below are of versions that nobody may see any more.
            set("fi", number(u64::from(greatest) + 1));
            changes.push(Change::Remove("su".to_owned()));
        } else {
            set("su", Value::B(self.head.summary()?));
        }
        // A deleted one stays in the index: its instances are listed by it.
        let mut set = |name: &str, value| changes.push(Change::Set(name.to_owned(), value));
        set("g1p", Value::S(list_partition(tenant)));
        set(
            "g1s",
            Value::S(part("a definition id", &self.head.definition_id)?),
        );
        Ok(changes)
    }

    pub(crate) fn writes(&self, tenant: &Tenant) -> Result<Writes, StoreError> {
        let id = self.head.definition_id.as_str();
        let head_key = head_key(tenant, id)?;
        let mut w = Writes {
            before: Vec::new(),
            with: Vec::new(),
            after: Vec::new(),
        };
        w.with.push(Write::Update(
            head_key,
            self.head_changes(tenant)?,
            self.current.is_unchanged(),
        ));
        w.with.extend(self.version.clone());
        if let Some((version_id, version)) = &self.version_id {
            let owner = ("d".to_owned(), Value::S(id.to_owned()));
            let attributes =
                Attributes::from([owner.clone(), ("n".to_owned(), number((*version).into()))]);
            let free = Condition::Any(vec![Condition::Absent, Condition::Equals(owner.0, owner.1)]);
            let key = version_id_key(tenant, version_id)?;
            w.with.push(Write::Put(Item { key, attributes }, free));
        }
        if let Some(old) = &self.old_version_id {
            w.after.push(delete(version_id_key(tenant, old)?));
        }
        let rows_key = rows_key(tenant, id)?;
        if self.deletes {
            w.with.push(delete(rows_key));
        } else {
            let attributes = body::attributes("definition's rows", &self.rows)?;
            w.with.push(Write::Put(
                Item {
                    key: rows_key,
                    attributes,
                },
                Condition::Always,
            ));
        }
        self.trigger_writes(tenant, &mut w)?;
        self.row_writes(tenant, &mut w)?;
        Ok(w)
    }

    fn trigger_writes(&self, tenant: &Tenant, w: &mut Writes) -> Result<(), StoreError> {
        let id = self.head.definition_id.as_str();
        let (old, new) = (&self.current.rows, &self.rows);
        for trigger in &self.triggers {
            let key = trigger::key(
                tenant,
                &trigger.hash,
                id,
                &trigger.activity_id,
                new.generation,
            )?;
            let attributes = trigger::attributes(trigger)?;
            w.before
                .push(Write::Put(Item { key, attributes }, Condition::Always));
        }
        if old.generation != new.generation || self.deletes {
            for (hash, activity) in &old.triggers {
                w.after.push(delete(trigger::key(
                    tenant,
                    hash,
                    id,
                    activity,
                    old.generation,
                )?));
            }
        }
        Ok(())
    }

    /// Routes, uses and the type name.
    fn row_writes(&self, tenant: &Tenant, w: &mut Writes) -> Result<(), StoreError> {
        let id = self.head.definition_id.as_str();
        let (old, new) = (&self.current.rows, &self.rows);
        let route = |(template, method): &(String, String)| {
            let route = Route {
                template: template.clone(),
                method: method.clone(),
            };
            route::key(tenant, &route, Some(id))
        };
        for added in new.routes.difference(&old.routes) {
            w.before.push(row(route(added)?));
        }
        for gone in old.routes.difference(&new.routes) {
            w.after.push(delete(route(gone)?));
        }
        for added in new.uses.difference(&old.uses) {
            w.before.push(row(uses_key(tenant, added, id)?));
        }
        for gone in old.uses.difference(&new.uses) {
            w.after.push(delete(uses_key(tenant, gone, id)?));
        }
        if old.type_name != new.type_name {
            if let Some(name) = &new.type_name {
                w.with.push(row(type_name_key(tenant, name, id)?));
            }
            if let Some(name) = &old.type_name {
                w.after.push(delete(type_name_key(tenant, name, id)?));
            }
        }
        Ok(())
    }
}

fn row(key: Key) -> Write {
    Write::Put(
        Item {
            key,
            attributes: route::attributes(),
        },
        Condition::Always,
    )
}

fn delete(key: Key) -> Write {
    Write::Delete(key, Condition::Always)
}
