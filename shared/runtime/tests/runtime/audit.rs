//! The audit log: what one node noted is read in the order in which it was noted.

use dormouse_runtime::{AuditRecord, Tenant};

use crate::world::World;

#[tokio::test]
async fn records_of_one_millisecond_are_read_in_their_order() {
    let world = World::new();
    let node = world.node();
    let tenant = Tenant::default();
    for n in 0..20 {
        let record = AuditRecord {
            subject: n.to_string(),
            ..AuditRecord::default()
        };
        node.runtime
            .operations()
            .audit(&tenant, record)
            .await
            .unwrap();
    }
    let page = node
        .runtime
        .operations()
        .audit_records(&tenant, None, 100, None)
        .await
        .unwrap();
    let times: std::collections::BTreeSet<_> = page.records.iter().map(|r| r.at_ms).collect();
    assert_eq!(times.len(), 1, "the clock stands still");
    let subjects: Vec<_> = page
        .records
        .iter()
        .map(|r| r.subject.parse::<u32>().unwrap())
        .collect();
    assert_eq!(subjects, (0..20).rev().collect::<Vec<_>>());
}
