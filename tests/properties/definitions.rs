//! Random definitions over all activities.

use dormouse_tests::primitives::{
    break_, bulk, case, complete, decision, delay, dispatch, event, execute, fault, finish,
    flow_switch, for_, for_each, fork, if_, join, parallel, parallel_for_each, publish, run_js,
    sequence, set, set_output, switch, task, throw, try_catch, while_, write,
};
use dormouse_tests::{Activity, Workflow, activity, js, liquid, object, variable, workflow};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A small name, so that names meet.
fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["A", "B", "C"])
}

/// Activities that end by themselves and touch nothing but the text they write.
pub(crate) fn quiet() -> BoxedStrategy<Activity> {
    prop_oneof![
        4 => name().prop_map(write),
        2 => name().prop_map(event),
        2 => Just(delay("00:00:10")),
        1 => name().prop_map(task),
        1 => Just(activity("Elsa.Timer").input("interval", "00:00:30")),
        1 => Just(activity("Elsa.StartAt").input("dateTime", "2026-01-01T00:01:00Z")),
        1 => Just(activity("Elsa.Cron").input("cronExpression", "0 0 * * * *")),
        1 => Just(activity("Elsa.FlowNode").port("body", write("inside"))),
    ]
    .boxed()
}

/// Activities that change what others see, or end others.
fn loud() -> BoxedStrategy<Activity> {
    prop_oneof![
        Just(set("n", js("getN() + 1"))),
        Just(set("items", object(json!(["x", "y"])))),
        Just(set("nowhere", 1_i64)),
        Just(run_js(
            "setVariable('m', getN()); setOutcome('True'); return {a: [getN()]}"
        )),
        Just(run_js("throw new Error('no')")),
        Just(run_js("while (true) {}")),
        Just(write(liquid("{{ Variables.n }}"))),
        Just(write(variable("items"))),
        Just(set_output("Out", js("getLastResult()"))),
        Just(activity("Elsa.Correlate").input("correlationId", js("`c${getN()}`"))),
        Just(activity("Elsa.SetName").input("value", "named")),
        Just(break_()),
        Just(complete(&["True"])),
        Just(finish()),
        Just(fault("broken")),
        Just(throw("Own.Error")),
        Just(activity("Dormouse.Compensate")),
        Just(activity("Elsa.End")),
        Just(activity("Elsa.Unheard")),
        Just(activity("Sub").bind("out", "items")),
        name().prop_map(|n| publish(n, json!({ "n": 1 }))),
        name().prop_map(|n| publish(n, json!(null)).input("isLocalEvent", true)),
        any::<bool>().prop_map(|wait| dispatch("child", wait)),
        any::<bool>().prop_map(|wait| execute("child", wait)),
        any::<bool>().prop_map(|wait| bulk("child", json!([1, 2]), wait)),
        Just(dispatch("nobody", true)),
        Just(activity("Elsa.HttpEndpoint").input("path", "/here")),
        Just(activity("Elsa.WriteHttpResponse").input("content", "hello")),
        Just(activity("Elsa.SendHttpRequest").input("url", "http://localhost/")),
        Just(
            activity("Elsa.FlowSendHttpRequest")
                .input("url", "http://localhost/")
                .background()
        ),
    ]
    .boxed()
}

/// A leaf, perhaps in the background, perhaps tried again or bounded in time.
fn leaf() -> BoxedStrategy<Activity> {
    (
        prop_oneof![2 => quiet(), 1 => loud()],
        prop::bool::weighted(0.1),
        guards(),
    )
        .prop_map(|(leaf, is_background, guards)| {
            let leaf = guarded(leaf, guards);
            if is_background {
                leaf.background()
            } else {
                leaf
            }
        })
        .boxed()
}

/// What is around an activity for when it fails.
#[derive(Debug, Clone)]
struct Guards {
    retries: bool,
    ends: bool,
    undo: Option<Activity>,
    undoes_on: Option<Value>,
}

fn guards() -> impl Strategy<Value = Guards> {
    let undo = prop_oneof![
        3 => name().prop_map(write),
        2 => name().prop_map(event),
        1 => Just(fault("not undone")),
        1 => Just(throw("Own.Undo").custom("retry", json!({ "maxAttempts": 2, "intervalMs": 1_000 }))),
    ];
    let on = prop::sample::select(vec![
        json!(["fault"]),
        json!(["cancel"]),
        json!(["fault", "cancel"]),
    ]);
    let undo = prop::option::weighted(0.3, undo);
    let on = prop::option::weighted(0.4, on);
    let flag = || prop::bool::weighted(0.2);
    (flag(), flag(), undo, on).prop_map(|(retries, ends, undo, undoes_on)| Guards {
        retries,
        ends,
        undo,
        undoes_on,
    })
}

fn guarded(activity: Activity, guards: Guards) -> Activity {
    let Guards {
        retries,
        ends,
        undo,
        undoes_on,
    } = guards;
    let mut activity = activity;
    if let Some(undo) = undo {
        activity = activity.custom("compensate", undo.json());
    }
    if let Some(on) = undoes_on {
        activity = activity.custom("compensateOn", on);
    }
    if retries {
        let retry = json!({ "maxAttempts": 2, "intervalMs": 3_000 });
        activity = activity.custom("retry", retry);
    }
    if ends {
        let timeout = json!({ "wholeMs": 20_000, "attemptMs": 8_000 });
        activity = activity.custom("timeout", timeout);
    }
    activity
}

/// Activities around others.
fn around(inner: BoxedStrategy<Activity>) -> BoxedStrategy<Activity> {
    let some = prop::collection::vec(inner.clone(), 0..4);
    let mode = prop::sample::select(vec!["WaitAll", "WaitAny"]);
    let pick = prop::sample::select(vec!["MatchFirst", "MatchAny"]);
    let items = || object(json!(["x", "y", null]));
    prop_oneof![
        4 => some.clone().prop_map(sequence),
        2 => some.clone().prop_map(parallel),
        2 => (mode, some.clone()).prop_map(|(mode, some)| fork(mode, some)),
        2 => (any::<bool>(), inner.clone()).prop_map(|(is, inner)| if_(is, inner)),
        1 => inner.clone().prop_map(|i| if_(js("getN() > 1"), write("more")).port("else", i)),
        1 => inner.clone().prop_map(|i| while_(js("getN() < 3"), sequence([set("n", js("getN() + 1")), i]))),
        1 => inner.clone().prop_map(|i| while_(true, i)),
        1 => inner.clone().prop_map(|i| for_(1, 3, i)),
        1 => inner.clone().prop_map(move |i| for_each(items(), i)),
        1 => inner.clone().prop_map(move |i| parallel_for_each(items(), i)),
        1 => (pick, inner.clone(), inner.clone()).prop_map(|(mode, a, b)| {
            let cases = vec![case("a", true, Some(a)), case("b", js("getN() > 0"), Some(b))];
            switch(mode, cases)
        }),
        2 => (inner.clone(), inner.clone(), any::<bool>()).prop_map(|(body, other, is_all)| {
            let it = try_catch(body, other.clone()).port("finally", other);
            if is_all { it } else { it.set("errors", json!(["Own.*", "Timeout"])) }
        }),
        1 => (some, guards()).prop_map(|(some, guards)| guarded(sequence(some), guards)),
        4 => flowchart(inner),
    ]
    .boxed()
}

/// A flowchart with random connections, backward ones too.
fn flowchart(inner: BoxedStrategy<Activity>) -> BoxedStrategy<Activity> {
    let special = prop_oneof![
        prop::sample::select(vec!["WaitAny", "WaitAll", "WaitAllActive"]).prop_map(join),
        any::<bool>().prop_map(decision),
        Just(decision(js("getN() > 2"))),
        Just(flow_switch(
            "MatchAny",
            vec![
                case("True", js("getN() < 3"), None),
                case("Done", true, None)
            ]
        )),
        Just(activity("Elsa.FlowFork").input("branches", object(json!(["True", "False"])))),
        Just(set("n", js("getN() + 1"))),
    ];
    let merge = prop::sample::select(vec!["Stream", "Merge", "Converge", "Cascade", "Race"]);
    let one = (
        prop_oneof![2 => inner, 1 => special],
        prop::option::of(merge),
    );
    let nodes = prop::collection::vec(one, 1..6);
    let port = prop::sample::select(vec!["Done", "Done", "Done", "True", "False"]);
    let edges = prop::collection::vec((0_usize..6, 0_usize..6, port), 0..9);
    (nodes, edges)
        .prop_map(|(nodes, edges)| {
            let count = nodes.len();
            let activities = nodes.into_iter().enumerate().map(|(place, (node, merge))| {
                let node = node.id(&format!("n{place}"));
                merge.map_or(node.clone(), |merge| node.custom("mergeMode", merge))
            });
            let connections: Vec<Value> = edges
                .iter()
                .map(|(from, to, port)| {
                    let (from, to) = (format!("n{}", from % count), format!("n{}", to % count));
                    json!({ "source": { "activity": from, "port": port }, "target": { "activity": to } })
                })
                .collect();
            activity("Elsa.Flowchart").children("activities", activities).set("connections", connections)
        })
        .boxed()
}

/// A tree of activities.
fn tree() -> BoxedStrategy<Activity> {
    leaf().prop_recursive(4, 24, 4, around).boxed()
}

/// A tree of activities that end by themselves, wait for what is theirs, and change nothing others see.
pub(crate) fn quiet_tree() -> BoxedStrategy<Activity> {
    quiet()
        .prop_recursive(3, 12, 3, |inner| {
            let some = prop::collection::vec(inner.clone(), 0..4);
            prop_oneof![
                some.clone().prop_map(sequence),
                some.prop_map(parallel),
                inner.clone().prop_map(|i| if_(true, i)),
                inner.prop_map(|i| for_(1, 2, i)),
            ]
        })
        .boxed()
}

/// A random workflow with the variables, the output and the child that its activities name.
pub(crate) fn definition() -> impl Strategy<Value = Workflow> {
    let commit = prop::sample::select(vec![
        "",
        "ActivityExecuting",
        "ActivityExecuted",
        "WorkflowExecuting",
    ]);
    (tree(), any::<bool>(), commit).prop_map(|(root, goes_on, commit)| {
        let one = named("main", root).option("commitStrategyName", commit);
        if goes_on {
            one.continue_with_incidents()
        } else {
            one
        }
    })
}

/// A workflow with the usual variables.
pub(crate) fn named(name: &str, root: Activity) -> Workflow {
    workflow(name, root)
        .variable("n", "Int32", 0)
        .variable("items", "Object", json!([1, 2]))
        .variable_in("m", "Object", Value::Null, None)
        .input("In", "Object")
        .output("Out", "Object")
}

/// The workflows that random ones use.
pub(crate) fn others() -> [Workflow; 2] {
    let child = sequence([delay("00:00:05"), set_output("Out", js("getInput('Item')"))]);
    let sub = sequence([event("A"), set_output("Out", object(json!({ "x": 1 })))]);
    [named("child", child), named("Sub", sub).as_activity()]
}
