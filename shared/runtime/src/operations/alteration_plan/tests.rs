//! The stored forms of plans and their messages.

use std::collections::BTreeSet;

use dormouse_store::instance::list::InstanceFilter;
use serde_json::json;

use super::*;

#[test]
fn the_stored_form_of_a_plan_stays() {
    let request = PlanRequest {
        changes: vec![
            Change::Migrate { version: 2 },
            Change::SetVariable {
                id: "v".into(),
                value: json!(1),
            },
            Change::RunActivity {
                activity_id: "a".into(),
            },
            Change::CancelExecution { id: "x".into() },
            Change::Cancel,
        ],
        selection: Selection::Named {
            ids: BTreeSet::from(["i".to_owned()]),
            filter: InstanceFilter {
                version: Some(1),
                ..InstanceFilter::default()
            },
        },
        asked: json!({ "filter": null }),
    };
    let stored = json!({
        "changes": [
            { "migrate": { "version": 2 } },
            { "setVariable": { "id": "v", "value": 1 } },
            { "runActivity": { "activityId": "a" } },
            { "cancelExecution": { "id": "x" } },
            "cancel",
        ],
        "selection": { "named": { "ids": ["i"], "filter": {
            "definitionIds": [], "version": 1, "correlationId": null, "statuses": [], "subStatuses": [],
            "name": null, "search": null, "parentId": null, "hasIncidents": null, "isSystem": null,
            "createdFromMs": null, "createdUntilMs": null,
        } } },
        "asked": { "filter": null },
    });
    assert_eq!(serde_json::to_value(&request).unwrap(), stored);
    assert_eq!(
        serde_json::from_value::<PlanRequest>(stored).unwrap(),
        request
    );
    let few =
        json!({ "changes": ["cancel"], "selection": { "matching": { "definitionIds": ["d"] } } });
    let few: PlanRequest = serde_json::from_value(few).unwrap();
    let filter = InstanceFilter {
        definition_ids: vec!["d".into()],
        ..InstanceFilter::default()
    };
    assert_eq!(few.selection, Selection::Matching(filter));
    let message = plan_message(&Tenant::default(), "p");
    let stored = json!({ "id": "plan/p", "tenant": "default", "task": { "do": "carryOutPlan", "plan": "p" } });
    assert_eq!(serde_json::to_value(message).unwrap(), stored);
}
