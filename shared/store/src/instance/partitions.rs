//! The partitions of the indexes that list instances: by definition, by sub-status, by correlation id.

use crate::item::error::StoreError;
use crate::item::key_text::{part, partition};
use crate::item::tenant::Tenant;

/// The partition of index one that lists a shard of a definition's instances.
pub(crate) fn definition_partition(
    tenant: &Tenant,
    definition: &str,
    shard: u16,
) -> Result<String, StoreError> {
    let definition = part("a definition id", definition)?;
    Ok(partition(tenant, &format!("WFD#{definition}#{shard:02}")))
}

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
