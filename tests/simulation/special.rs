//! The workflows that every world has, for errands about more than one instance or more than one activity.

use std::collections::BTreeMap;

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{
    delay, event, fork, line, parallel, parallel_for_each, run_js, sequence, task,
};
use dormouse_tests::{Activity, activity, js, workflow};

use super::recipe::Recipe;

/// The name of a singleton's definition.
pub(crate) const SINGLE: &str = "single";
/// The definition that is started by an event of the same name.
pub(crate) const TRIGGERED: &str = "triggered";
/// The definition that is published anew while it is used.
pub(crate) const VERSIONED: &str = "versioned";
/// The definition that waits for one event, alone or with many others.
pub(crate) const LISTENER: &str = "listener";
/// The definition whose two branches wait for the same event.
pub(crate) const BOTH: &str = "both-wait";
/// The definition that sets many timers at once when its task is done.
pub(crate) const FAN: &str = "fan";
/// The definition that sets many timers at once when it starts.
pub(crate) const PILE: &str = "pile";
/// The definition of which one branch sets many timers and the other one waits for an approval.
pub(crate) const MIXUP: &str = "mixup";
/// The definition that starts many children and waits for them.
pub(crate) const FAMILY: &str = "family";
/// The definition that fails until a time that it is given, and of which one may run.
pub(crate) const BROKEN_ALONE: &str = "broken-alone";
/// The definition in which the first of two branches wins.
pub(crate) const RACE: &str = "race";
/// The definition that contains another one as an activity.
pub(crate) const WHOLE: &str = "whole";
/// The definition that fails until a time that it is given.
pub(crate) const BROKEN: &str = "broken";
/// The definition that waits for a second, next to one that keeps the system busy.
pub(crate) const NEIGHBOUR: &str = "neighbour";

/// All of them; what another one contains comes first.
pub(crate) fn special() -> Vec<Recipe> {
    vec![
        single(),
        triggered(),
        version(1),
        listener(),
        both(),
        fan(),
        pile(),
        mixup(),
        family(),
        race(),
        part(),
        whole(),
        broken(),
        broken_alone(),
        neighbour(),
    ]
}

fn single() -> Recipe {
    alone(Recipe::once(
        SINGLE,
        flow("one > sleep > two", [delay("00:00:00.500").id("sleep")]),
        &["one", "sleep", "two"],
    ))
}

/// The same, and one may run at a time.
fn alone(mut recipe: Recipe) -> Recipe {
    recipe.json["options"]["activationStrategyType"] =
        "Elsa.Workflows.ActivationValidators.SingletonStrategy, Elsa.Workflows.Core".into();
    recipe
}

fn triggered() -> Recipe {
    let begin = event(TRIGGERED).trigger();
    Recipe::once(
        TRIGGERED,
        flow(
            &format!("{TRIGGERED} > sleep > two"),
            [begin, delay("00:00:00.200").id("sleep")],
        ),
        &["sleep", "two"],
    )
}

/// A version of the definition that changes: its one line says which one it is.
pub(crate) fn version(number: u32) -> Recipe {
    let line = format!("v{number}");
    Recipe::once(
        VERSIONED,
        flow(
            &format!("{line} > sleep > end"),
            [delay("00:00:00.200").id("sleep")],
        ),
        &[&line, "sleep", "end"],
    )
}

/// Waits for the event that its input names.
fn awaited(id: &str) -> Activity {
    activity("Elsa.Event")
        .input("eventName", js("getInput('E1')"))
        .id(id)
}

fn listener() -> Recipe {
    let root = flow("wait > went", [awaited("wait")]);
    Recipe::once(LISTENER, root, &["wait", "went"])
}

fn both() -> Recipe {
    let root = flow(
        "begin > one > end; begin > other > end",
        [awaited("one"), awaited("other")],
    );
    Recipe::once(BOTH, root, &["begin", "one", "other", "end"])
}

/// So many executions of a delay of a second as the input says.
fn many_delays() -> Activity {
    let numbers = js("Array.from({ length: getInput('Count') }, (_, n) => n)");
    parallel_for_each(numbers, delay("00:00:01").id("sleep")).id("many")
}

fn fan() -> Recipe {
    let root = sequence([task("work"), many_delays(), line("after")]);
    Recipe::once(FAN, root, &["work", "after"])
}

fn pile() -> Recipe {
    Recipe::once(PILE, sequence([many_delays(), line("after")]), &["after"])
}

fn mixup() -> Recipe {
    let root = parallel([
        sequence([task("work"), many_delays()]),
        // The line makes the approval's bookmark the one that a lost timer of the other branch names.
        sequence([task("other"), line("noted"), awaited("approval")]),
    ]);
    Recipe::once(MIXUP, root, &["work", "other", "noted", "approval"])
}

fn family() -> Recipe {
    let numbers = js("Array.from({ length: getInput('Count') }, (_, n) => n)");
    let children = activity("Elsa.BulkDispatchWorkflows")
        .input("workflowDefinitionId", "lines")
        .input("items", numbers)
        .input("waitForCompletion", true)
        .id("children");
    Recipe::once(
        FAMILY,
        sequence([children, line("after")]),
        &["children", "after"],
    )
}

fn race() -> Recipe {
    let branches = [delay("00:00:02").id("sleep"), task("work")];
    let root = sequence([fork("WaitAny", branches), line("after")]);
    Recipe::once(RACE, root, &["after"]).expecting(|expect| {
        expect.either = vec![("sleep".to_owned(), "work".to_owned())];
    })
}

fn part() -> Recipe {
    let root = sequence([task("inner-work"), delay("00:00:01").id("inner-sleep")]);
    let json = workflow("Part", root).as_activity().json().clone();
    Recipe {
        id: "Part".to_owned(),
        json,
        expect: super::recipe::Expect::default(),
    }
}

fn whole() -> Recipe {
    let root = sequence([line("before"), activity("Part").id("part"), line("after")]);
    let runs = ["before", "inner-work", "inner-sleep", "part", "after"];
    Recipe::once(WHOLE, root, &runs).expecting(|expect| {
        expect.delays = BTreeMap::from([("inner-sleep".to_owned(), 1_000)]);
    })
}

fn broken() -> Recipe {
    let fails = "if (Date.now() < getInput('Until')) throw new Error('not yet')";
    let root = sequence([line("before"), run_js(fails).id("check"), line("after")]);
    Recipe::once(BROKEN, root, &["before", "after"])
}

fn broken_alone() -> Recipe {
    let fails = "if (Date.now() < getInput('Until')) throw new Error('not yet')";
    let check = run_js(fails).id("check");
    let sleep = delay("00:00:02").id("sleep");
    let root = sequence([check, sleep, line("after")]);
    alone(Recipe::once(BROKEN_ALONE, root, &["sleep", "after"]))
}

fn neighbour() -> Recipe {
    let root = flow("sleep > awake", [delay("00:00:01").id("sleep")]);
    Recipe::once(NEIGHBOUR, root, &["sleep", "awake"]).expecting(|expect| {
        expect.delays = BTreeMap::from([("sleep".to_owned(), 1_000)]);
    })
}
