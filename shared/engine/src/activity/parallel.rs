//! `Elsa.Parallel`: all activities at once, until every one has ended.

use super::{Activity, BuiltIn, Descriptor};
use crate::graph::NodeIndex;
use crate::step::{Cx, Ended, Fault, Then};

#[derive(Debug)]
struct Parallel {
    activities: Vec<NodeIndex>,
}

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.Parallel",
            "Workflows",
            "Runs activities concurrently and ends when all of them have ended.",
        )
        .container(),
        build: |builder, fields| {
            Box::new(Parallel {
                activities: builder.children(fields, "activities"),
            })
        },
    }
}

/// Waits for what is still open. An activity that failed stays open, so it is waited for in vain, as in Elsa.
pub(super) fn when_all_ended(cx: &Cx<'_, '_>) -> Then {
    if cx.children_open() == 0 {
        Then::DONE
    } else {
        Then::Wait
    }
}

impl Activity for Parallel {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        for activity in &self.activities {
            cx.schedule(*activity);
        }
        Ok(when_all_ended(cx))
    }

    fn child_ended(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }

    fn child_cancelled(&self, cx: &mut Cx<'_, '_>, _child: &Ended) -> Result<Then, Fault> {
        Ok(when_all_ended(cx))
    }

    fn is_container(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, fault, line, sequence};
    use crate::instance::SubStatus;

    fn parallel(activities: Value) -> Scenario {
        let parallel = json!({ "id": "p", "type": "Elsa.Parallel", "activities": activities });
        Scenario::of(sequence(json!([parallel, line("after")]))).start()
    }

    #[test]
    fn all_run_and_then_what_follows() {
        let nested = json!({ "type": "Elsa.Parallel", "activities": [line("b"), line("c")] });
        let scenario = parallel(json!([line("a"), nested, line("d")]));
        assert_eq!(scenario.lines, ["a", "d", "b", "c", "after"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn an_empty_one_ends_at_once() {
        assert_eq!(parallel(json!([])).lines, ["after"]);
    }

    #[test]
    fn it_waits_for_the_last() {
        let mut scenario = parallel(json!([event("e1"), event("e2")]));
        scenario.resume("e2", json!({}));
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        scenario.resume("e1", json!({}));
        assert_eq!(scenario.lines, ["after"]);
    }

    #[test]
    fn a_failed_activity_lets_the_others_run_and_never_lets_it_end() {
        let definition = json!({
            "options": { "incidentStrategyType": "ContinueWithIncidentsStrategy" },
            "root": { "id": "p", "type": "Elsa.Parallel", "activities": [fault("no"), line("b")] },
        });
        let scenario = Scenario::workflow(definition).start();
        assert_eq!(scenario.lines, ["b"]);
        assert_eq!(scenario.sub_status(), SubStatus::Suspended);
        assert_eq!(scenario.instance.incidents.len(), 1);
    }

    #[test]
    fn a_cancelled_activity_counts_as_ended() {
        let mut scenario = parallel(json!([event("e1"), event("e2")]));
        scenario.resume("e2", json!({}));
        scenario.play(crate::step::Stimulus::CancelActivity {
            activity_id: "e1".into(),
        });
        assert_eq!(scenario.lines, ["after"]);
    }
}
