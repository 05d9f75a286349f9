//! The partitions of the indexes that list instances: by definition, by sub-status, by correlation id, by search attribute.

use crate::item::error::StoreError;
use crate::item::key_text::{part, partition};
use crate::item::tenant::Tenant;
use sha2::{Digest, Sha256};

/// The partition of index one that lists a shard of a definition's instances.
pub(crate) fn definition_partition(
    tenant: &Tenant,
    definition: &str,
    shard: u16,
) -> Result<String, StoreError> {
    let definition = part("a definition id", definition)?;
    Ok(partition(tenant, &format!("WFD#{definition}#{shard:02}")))
}

/// The greatest length of a value in a partition, in bytes, escaped: a definition id and a name must fit beside it.
const VALUE_BYTES_MAX: usize = 300;

/// The partition of index two that lists a shard of a definition's instances with a sub-status.
pub(crate) fn status_partition(
    tenant: &Tenant,
    definition: &str,
    sub_status: &str,
    shard: u16,
) -> Result<String, StoreError> {
    let definition = part("a definition id", definition)?;
    let sub_status = part("a sub-status", sub_status)?;
    Ok(partition(
        tenant,
        &format!("WFS#{definition}#{sub_status}#{shard:02}"),
    ))
}

/// The partition of index three that lists the instances with a correlation id.
pub(crate) fn correlation_partition(
    tenant: &Tenant,
    correlation: &str,
) -> Result<String, StoreError> {
    Ok(partition(
        tenant,
        &format!("WFC#{}", part("a correlation id", correlation)?),
    ))
}

/// The partition of index three that lists a shard of a definition's instances with a value of a search attribute.
pub(crate) fn attribute_partition(
    tenant: &Tenant,
    definition: &str,
    (name, value): (&str, &str),
    shard: u16,
) -> Result<String, StoreError> {
    let definition = part("a definition id", definition)?;
    let name = part("a search attribute", name)?;
    let value = attribute_value(value);
    Ok(partition(
        tenant,
        &format!("WFA#{definition}#{name}#{value}#{shard:02}"),
    ))
}

/// A value as a part of a key. Where its text would be too long for one, its digest stands for it; no text begins like that.
fn attribute_value(value: &str) -> String {
    let text = part("a value", value).ok();
    let text = text.filter(|text| text.len() <= VALUE_BYTES_MAX);
    text.unwrap_or_else(|| {
        let digest = Sha256::digest(value.as_bytes());
        let digits = digest.iter().map(|byte| format!("{byte:02x}"));
        format!("%%{}", digits.collect::<String>())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_any_length_have_partitions_of_their_own_that_fit_in_a_key() {
        let tenant = Tenant::new("acme").unwrap();
        let place = |value: &str| {
            let definition = "d".repeat(400);
            let name = "n".repeat(64);
            attribute_partition(&tenant, &definition, (&name, value), 3).unwrap()
        };
        let long = ["\u{1}".repeat(100), "大".repeat(100), "大".repeat(101)];
        let values = ["a", "#"]
            .into_iter()
            .chain(long.iter().map(String::as_str));
        let places: std::collections::BTreeSet<_> = values.map(place).collect();
        assert_eq!(places.len(), 5);
        assert!(places.iter().all(|place| place.len() <= 1_024));
    }
}
