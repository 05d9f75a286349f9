//! Worlds in which something was wrong once, made as small as they could be. Each has shown a bug of the product or of
//! the model; none may show again.

use super::plan::Plan;
use super::run::run;
use super::workshop::Workshop;

/// Plans, and what was wrong.
const FOUND: [(&str, &str); 2] = [
    (
        "whoever cancels what was dispatched asks for ever, while its start is a dead letter",
        r#"{"seed":13,"menu":"Small","nodes":1,"is_function":false,"has_queue":false,"has_table_timers":false,"is_embedded":false,"writes_max":100,"has_broadcast":true,"sweep_s":5,"faults":{"refused":149,"lost":136,"vanished":68,"late":0,"slow":0,"slow_ms":3000,"crash":53,"freeze":0,"twice":0,"skew_ms":0},"errands":[{"Run":{"place":185161,"dispatches":true,"end":"Cancel"}}]}"#,
    ),
    (
        "an event is kept while another delivery of it is about to commit",
        r#"{"seed":5000590,"menu":"Small","nodes":3,"is_function":true,"has_queue":true,"has_table_timers":false,"is_embedded":false,"writes_max":100,"has_broadcast":false,"sweep_s":60,"faults":{"refused":0,"lost":0,"vanished":0,"late":8,"slow":119,"slow_ms":3000,"crash":14,"freeze":3,"twice":164,"skew_ms":0},"errands":[{"Run":{"place":441155,"dispatches":true,"end":"Cancel"}},{"Run":{"place":613023,"dispatches":false,"end":"None"}},{"Run":{"place":200988,"dispatches":false,"end":"None"}}]}"#,
    ),
];

#[test]
fn what_was_wrong_once_is_right() {
    let mut workshop = Workshop::new();
    for (what, plan) in FOUND {
        let plan: Plan = serde_json::from_str(plan).expect("a plan as a failing run prints it");
        let outcome = run(&mut workshop, &plan, None, false);
        assert!(outcome.wrong.is_empty(), "{what}: {:#?}", outcome.wrong);
    }
}
