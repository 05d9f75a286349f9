//! Rows of search attributes: an instance is listed under each value that it has. A row lies beside its head and is written
//! in the write of the head that changes the value, so a list shows each instance once and a count is exact.
//!
//! The alternative, rows that a commit prepares under its stamp, costs one write unit less on DynamoDB for each change,
//! but leaves rows of lost commits in the lists until somebody looks at each.

use std::collections::BTreeSet;

use crate::instance::head::{Summary, wf_partition};
use crate::instance::partitions::attribute_partition;
use crate::instance::plan::{Plan, Role};
use crate::item::config::StoreConfig;
use crate::item::error::StoreError;
use crate::item::key_text::{part, time};
use crate::item::shard;
use crate::item::tenant::Tenant;
use crate::table::{Attributes, Condition, Item, Key, Value, Write};

/// What the sort keys of the rows begin with.
pub(crate) const PREFIX: &str = "A#";

/// The key of the row of an attribute.
pub(crate) fn key(tenant: &Tenant, instance: &str, name: &str) -> Result<Key, StoreError> {
    let name = part("a search attribute", name)?;
    let partition = wf_partition(tenant, instance)?;
    Ok(Key::new(partition, format!("{PREFIX}{name}")))
}

/// The row of an attribute of an instance.
pub(crate) fn row(
    tenant: &Tenant,
    config: &StoreConfig,
    instance: &str,
    summary: &Summary,
    (name, value): (&str, &str),
) -> Result<Item, StoreError> {
    let shard = shard::of(instance, config.list_shards);
    let definition = &summary.definition_id;
    let partition = attribute_partition(tenant, definition, (name, value), shard)?;
    let id = part("an instance id", instance)?;
    let sort = format!("{}#{id}", time(summary.created_ms));
    Ok(Item {
        key: key(tenant, instance, name)?,
        attributes: Attributes::from([
            ("g3p".to_owned(), Value::S(partition)),
            ("g3s".to_owned(), Value::S(sort)),
        ]),
    })
}

impl Plan {
    /// Plans the rows of what changes, decided with the head.
    pub(crate) fn attributes(
        &mut self,
        tenant: &Tenant,
        config: &StoreConfig,
        old: &Summary,
    ) -> Result<(), StoreError> {
        let next = &self.next.head.summary;
        let id = &self.next.head.instance_id;
        let names: BTreeSet<&String> = old
            .attributes
            .keys()
            .chain(next.attributes.keys())
            .collect();
        for name in names {
            let value = next.attributes.get(name);
            if value == old.attributes.get(name) {
                continue;
            }
            let write = match value {
                Some(value) => {
                    let row = row(tenant, config, id, next, (name, value))?;
                    Write::Put(row, Condition::Always)
                }
                None => Write::Delete(key(tenant, id, name)?, Condition::Always),
            };
            self.with.push((Role::Plain, write));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::body;

    #[test]
    fn a_row_lies_beside_its_head_and_is_found_by_its_value() {
        let tenant = Tenant::new("acme").unwrap();
        let summary = Summary {
            definition_id: "d#1".into(),
            created_ms: 77,
            ..Summary::default()
        };
        let config = StoreConfig::embedded();
        let item = row(&tenant, &config, "i#1", &summary, ("Region", "E#U")).unwrap();
        assert_eq!(item.key, Key::new("acme/WF#i%231", "A#Region"));
        assert_eq!(
            body::text(&item.attributes, "g3p"),
            Some("acme/WFA#d%231#Region#E%23U#00")
        );
        assert_eq!(
            body::text(&item.attributes, "g3s"),
            Some("0000000000077#i%231")
        );
    }
}
