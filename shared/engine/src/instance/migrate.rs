//! An instance that goes over to another version of its definition.

use std::collections::BTreeMap;

use super::{Context, Instance, Undoable};
use crate::activity::Versions;
use crate::graph::{Graph, NodeIndex};

impl Instance {
    /// The same instance, at another version of its definition: where it stands is where the same activities stand
    /// there, found by their node ids. Variables keep their values by their ids, flowcharts and sequences go on from
    /// the same activities. What it waits for stays as it is, also where the activity that waits is set otherwise. What
    /// was added before the place where it stands is not run.
    ///
    /// # Errors
    ///
    /// Why it cannot go over, in a sentence for an operator.
    pub fn migrate(self, from: &Graph, to: &Graph) -> Result<Self, String> {
        let versions = Versions { from, to };
        // Before what the activities around them remember: a missing activity explains more than its container.
        let mut queue = self.queue;
        for work in &mut queue {
            work.node = versions.find(work.node)?;
        }
        let places: Vec<NodeIndex> = self
            .contexts
            .values()
            .map(|context| versions.find(context.node))
            .collect::<Result<_, _>>()?;
        let mut contexts = BTreeMap::new();
        for ((id, context), node) in self.contexts.into_iter().zip(places) {
            contexts.insert(id, carry(context, node, versions)?);
        }
        let mut undoable = self.undoable;
        for entry in &mut undoable {
            carry_undoable(entry, versions)?;
        }
        for entry in contexts.values_mut().flat_map(Context::left_to_undo_mut) {
            carry_undoable(entry, versions)?;
        }
        Ok(Self {
            undoable,
            version_id: to.version_id.clone(),
            version: to.version,
            contexts,
            ended: BTreeMap::new(),
            queue,
            ..self
        })
    }
}

/// What has completed can be undone at the other version too.
fn carry_undoable(entry: &mut Undoable, versions: Versions<'_>) -> Result<(), String> {
    let old = versions.from.node(entry.node);
    let found = versions.to.by_node_id(&old.node_id);
    let found = found.filter(|node| versions.to.node(*node).guard.undo.is_some());
    entry.node = found.ok_or_else(|| {
        format!(
            "`{}` has completed and can be undone, which version {} does not know how to do",
            old.id, versions.to.version
        )
    })?;
    Ok(())
}

fn carry(mut context: Context, node: NodeIndex, versions: Versions<'_>) -> Result<Context, String> {
    let (old, new) = (versions.from.node(context.node), versions.to.node(node));
    let values = std::mem::take(&mut context.variables);
    context.variables = values
        .into_iter()
        .filter_map(|(place, value)| {
            let id = &old.variables.get(place as usize)?.id;
            let place = new.variables.iter().position(|v| &v.id == id)?;
            Some((u32::try_from(place).ok()?, value))
        })
        .collect();
    context.outputs.retain_mut(|recorded| {
        let found = versions.find(recorded.node);
        recorded.node = *found.as_ref().unwrap_or(&recorded.node);
        found.is_ok()
    });
    let memory = std::mem::take(&mut context.memory);
    let carried = new
        .activity
        .carry_over(old.activity.as_ref(), memory, versions);
    context.memory = carried.ok_or_else(|| {
        format!(
            "`{}` has changed where the instance stands in it, so that it cannot go on there",
            old.id
        )
    })?;
    context.node = node;
    Ok(context)
}

impl Versions<'_> {
    /// The same activity at the other version.
    pub(crate) fn find(&self, node: NodeIndex) -> Result<NodeIndex, String> {
        let old = self.from.node(node);
        let version = self.to.version;
        let Some(found) = self.to.by_node_id(&old.node_id) else {
            let id = &old.id;
            return Err(format!(
                "the instance stands at the activity `{id}`, which version {version} does not have"
            ));
        };
        let new = self.to.node(found);
        if !new.type_name.eq_ignore_ascii_case(&old.type_name) {
            return Err(format!(
                "the instance stands at the activity `{}`, which is another one in version {version}: {} instead of {}",
                old.id, new.type_name, old.type_name
            ));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, event, line, set, write};
    use crate::instance::SubStatus;
    use crate::step::{Change, Stimulus};

    fn named(id: &str, mut activity: Value) -> Value {
        activity["id"] = id.into();
        activity
    }

    /// Goes over to the version of another scenario, and says so.
    fn over(mut before: Scenario, after: Scenario) -> Result<Scenario, String> {
        let instance = before.instance.clone();
        before.instance = instance.migrate(&before.graph, &after.graph)?;
        before.graph = after.graph;
        let version = before.graph.version;
        let changes = vec![Change::Migrate { version }];
        assert!(before.play(Stimulus::Alter { changes }));
        Ok(before)
    }

    fn refused(before: Scenario, after: Scenario) -> String {
        over(before, after).err().expect("it cannot go over")
    }

    #[test]
    fn a_sequence_goes_on_behind_the_activity_where_it_stands() {
        let before = Scenario::sequence(
            json!({ "x": 1, "y": 2 }),
            json!([
                named("first", line("first")),
                event("go"),
                named("old", line("old"))
            ]),
        );
        let mut before = before.start();
        before.play(Stimulus::Alter {
            changes: vec![Change::SetVariable {
                id: "y".into(),
                value: json!("kept"),
            }],
        });
        let after = Scenario::sequence(
            json!({ "new": 0, "y": 3, "x": 4 }),
            json!([
                named("zero", line("zero")),
                named("first", line("other")),
                event("go"),
                named("in", line("in")),
                named("told", write("y"))
            ]),
        );
        let mut moved = over(before, after).unwrap();
        assert_eq!(moved.sub_status(), SubStatus::Suspended);
        assert_eq!(moved.variable("new"), json!(0));
        assert!(moved.resume("go", json!({})));
        assert_eq!(moved.lines, ["first", "in", "kept"]);
        assert_eq!(moved.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn it_stays_where_the_other_version_has_no_place_for_it() {
        let waiting = || Scenario::sequence(json!({}), json!([event("go")])).start();
        let gone = Scenario::sequence(json!({}), json!([event("come")]));
        assert!(refused(waiting(), gone).contains("`go`"));
        let other = json!([{ "id": "go", "type": "Elsa.Delay", "timeSpan": "00:01:00" }]);
        let other = refused(waiting(), Scenario::sequence(json!({}), other));
        assert!(
            other.contains("Elsa.Delay instead of Elsa.Event"),
            "{other}"
        );
    }

    fn chart(activities: Value, ways: &[(&str, &str)]) -> Scenario {
        let way = |(from, to): &(&str, &str)| json!({ "source": { "activity": from, "port": "Done" }, "target": { "activity": to, "port": "In" } });
        let ways: Vec<_> = ways.iter().map(way).collect();
        Scenario::of(json!({
            "id": "chart", "type": "Elsa.Flowchart", "activities": activities, "connections": ways,
        }))
    }

    #[test]
    fn a_flowchart_goes_on_along_the_new_connections_and_waits_for_nothing_that_is_past() {
        let before = chart(
            json!([named("a", line("a")), event("b"), named("c", line("c"))]),
            &[("a", "b"), ("b", "c")],
        );
        // `n` and `o` are beside `b`, and `a` is past: `c` must not wait for them. `m` is ahead.
        let after = chart(
            json!([
                named("o", line("o")),
                named("n", line("n")),
                named("c", line("c")),
                named("m", line("m")),
                event("b"),
                named("a", line("a")),
            ]),
            &[
                ("a", "b"),
                ("a", "n"),
                ("n", "o"),
                ("o", "c"),
                ("b", "m"),
                ("m", "c"),
            ],
        );
        let mut moved = over(before.start(), after).unwrap();
        assert!(moved.resume("b", json!({})));
        assert_eq!(moved.lines, ["a", "m", "c"]);
        assert_eq!(moved.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn tokens_under_way_come_to_the_same_activities() {
        let with_tokens = |mut scenario: Scenario| {
            scenario
                .instance
                .properties
                .insert("Flowchart:ExecutionMode".into(), "TokenBased".into());
            scenario.play(Stimulus::Start);
            scenario
        };
        let activities = json!([named("a", line("a")), event("b"), event("d"), { "id": "c", "type": "Elsa.WriteLine", "text": "c", "customProperties": { "mergeMode": "Merge" } }]);
        let ways = [("a", "b"), ("a", "d"), ("b", "c"), ("d", "c")];
        let mut before = with_tokens(chart(activities.clone(), &ways));
        assert!(before.resume("b", json!({})));
        let mut turned = activities.as_array().unwrap().clone();
        turned.reverse();
        let mut moved = over(before, chart(json!(turned), &ways)).unwrap();
        assert!(moved.resume("d", json!({})));
        assert_eq!(moved.lines, ["a", "c"]);
        assert_eq!(moved.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn a_state_machine_goes_over_where_its_states_are_the_same() {
        let machine = |states: &[&str]| {
            let states: Vec<_> = states.iter().map(|name| json!({ "name": name })).collect();
            let ways = json!([{ "name": "w", "from": "one", "to": "two", "trigger": event("go") }]);
            Scenario::of(
                json!({ "id": "m", "type": "Elsa.StateMachine", "states": states, "transitions": ways }),
            )
        };
        let mut moved = over(machine(&["one", "two"]).start(), machine(&["one", "two"])).unwrap();
        assert!(moved.resume("go", json!({})));
        assert_eq!(moved.sub_status(), SubStatus::Finished);
        let other = refused(
            machine(&["one", "two"]).start(),
            machine(&["zero", "one", "two"]),
        );
        assert!(other.contains("`m` has changed"), "{other}");
    }

    #[test]
    fn other_changes_come_after_the_version() {
        let before = Scenario::sequence(json!({}), json!([event("go")])).start();
        let after = Scenario::sequence(
            json!({ "v": 0 }),
            json!([event("go"), set("v", 2), named("t", write("v"))]),
        );
        let mut moved = over(before, after).unwrap();
        let changes = vec![
            Change::CancelActivity {
                activity_id: "go".into(),
            },
            Change::RunActivity {
                activity_id: "t".into(),
            },
        ];
        assert!(moved.play(Stimulus::Alter { changes }));
        assert_eq!(moved.lines, ["0"]);
    }
}
