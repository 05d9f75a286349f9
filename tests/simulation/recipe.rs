//! A workflow and what its user was promised of it: how often each activity runs, what it asks for, how it ends.
//! That is the reference model's knowledge, written down where the workflow is made and not taken from the engine.

use std::collections::BTreeMap;

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{delay, dispatch, sequence, task};
use dormouse_tests::{Activity, activity, js, workflow};
use serde_json::Value;

/// How an instance ends if nobody interferes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Ending {
    /// As meant.
    #[default]
    Finished,
    /// By a failure that is part of the workflow.
    Faulted,
}

/// What was promised of one run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Expect {
    /// How often each activity completes.
    pub(crate) runs: BTreeMap<String, u32>,
    /// How it ends.
    pub(crate) ending: Ending,
    /// Events that it waits for, by the input that gives the name: how many.
    pub(crate) events: BTreeMap<String, u32>,
    /// Requests that it makes.
    pub(crate) calls: u32,
    /// Children that it starts, by definition.
    pub(crate) children: BTreeMap<String, u32>,
    /// The least time between beginning and end of activities, ms.
    pub(crate) delays: BTreeMap<String, i64>,
    /// The first activity completes before the second one begins.
    pub(crate) order: Vec<(String, String)>,
    /// Of each two activities exactly one completes.
    pub(crate) either: Vec<(String, String)>,
    /// How long the text is that it is given, in bytes.
    pub(crate) text_bytes: usize,
}

/// A workflow and what is expected of it.
#[derive(Debug, Clone)]
pub(crate) struct Recipe {
    /// The definition's id.
    pub(crate) id: String,
    /// The definition.
    pub(crate) json: Value,
    /// What is expected.
    pub(crate) expect: Expect,
}

impl Recipe {
    /// A workflow in which each of these activities completes once.
    pub(crate) fn once(id: &str, root: Activity, activities: &[&str]) -> Self {
        let kept = ["Payload", "E1", "Count", "Until"];
        let workflow = kept
            .iter()
            .fold(workflow(id, root), |w, name| w.kept_input(name, "Object"));
        Self {
            id: id.to_owned(),
            json: workflow.json().clone(),
            expect: Expect {
                runs: activities.iter().map(|id| ((*id).to_owned(), 1)).collect(),
                ..Expect::default()
            },
        }
    }

    pub(crate) fn expecting(mut self, change: impl FnOnce(&mut Expect)) -> Self {
        change(&mut self.expect);
        self
    }
}

/// The workflows of a small world.
pub(crate) fn small() -> Vec<Recipe> {
    let wait = activity("Elsa.Event")
        .input("eventName", js("getInput('E1')"))
        .id("wait");
    let ordered = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    };
    vec![
        Recipe::once("lines", flow("one > two", []), &["one", "two"])
            .expecting(|e| e.order = ordered(&[("one", "two")])),
        Recipe::once(
            "task",
            flow("before > work > after", [task("work")]),
            &["before", "work", "after"],
        )
        .expecting(|e| e.order = ordered(&[("before", "work"), ("work", "after")])),
        sleep(),
        Recipe::once("event", flow("wait > went", [wait]), &["wait", "went"])
            .expecting(|e| e.events = BTreeMap::from([("E1".to_owned(), 1)])),
        Recipe::once(
            "twice",
            sequence([
                activity("Elsa.Event")
                    .input("eventName", js("getInput('E1')"))
                    .id("first"),
                activity("Elsa.Event")
                    .input("eventName", js("getInput('E1')"))
                    .id("second"),
            ]),
            &["first", "second"],
        )
        .expecting(|e| {
            e.events = BTreeMap::from([("E1".to_owned(), 2)]);
            e.order = ordered(&[("first", "second")]);
        }),
        Recipe::once(
            "parent",
            flow("child > after", [dispatch("sleep", true).id("child")]),
            &["child", "after"],
        )
        .expecting(|e| e.children = BTreeMap::from([("sleep".to_owned(), 1)])),
        // Two branches that wait for different things, and meet again.
        Recipe::once(
            "both",
            flow(
                "begin > sleep > end; begin > work > end",
                [delay("00:00:00.300").id("sleep"), task("work")],
            ),
            &["begin", "sleep", "work", "end"],
        )
        .expecting(|e| {
            e.delays = BTreeMap::from([("sleep".to_owned(), 300)]);
            e.order = ordered(&[("sleep", "end"), ("work", "end")]);
        }),
        call(),
    ]
}

fn sleep() -> Recipe {
    Recipe::once(
        "sleep",
        flow("sleep > awake", [delay("00:00:01").id("sleep")]),
        &["sleep", "awake"],
    )
    .expecting(|e| e.delays = BTreeMap::from([("sleep".to_owned(), 1_000)]))
}

fn call() -> Recipe {
    let send = activity("Elsa.SendHttpRequest")
        .input("url", "https://shop.example/orders")
        .input("method", "POST")
        .id("send");
    Recipe::once("call", flow("send > sent", [send]), &["send", "sent"]).expecting(|e| e.calls = 1)
}
