//! Lists of the engine: its activity types and its metrics.

use std::fmt::Write as _;

use dormouse_engine::activity::{ActivityKind, Descriptor, InputDescriptor, built_ins};
use dormouse_telemetry::Registry;
use serde_json::Value;

use super::cell;

fn kind(descriptor: &Descriptor) -> &'static str {
    match descriptor.kind {
        ActivityKind::Action => "runs in the burst",
        ActivityKind::Trigger => "can start instances, or wait in the middle of a workflow",
        ActivityKind::Task => "runs in the burst, or in the background if asked",
        ActivityKind::Job => "runs in the background",
    }
}

fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = names.iter().map(|n| format!("`{}`", n.as_ref())).collect();
    names.join(", ")
}

fn input(page: &mut String, input: &InputDescriptor) {
    let InputDescriptor {
        name,
        type_name,
        default,
        description,
        options,
        ..
    } = input;
    let default = match default {
        Value::Null => String::new(),
        value => format!("`{}`", cell(&value.to_string())),
    };
    let mut text = cell(description);
    if !options.is_empty() {
        text = format!("{text} One of {}.", list(options))
            .trim_start()
            .to_owned();
    }
    let type_name = cell(type_name);
    let _infallible = writeln!(page, "| `{name}` | `{type_name}` | {default} | {text} |");
}

fn activity(page: &mut String, descriptor: &Descriptor) {
    let Descriptor {
        type_name,
        description,
        inputs,
        plain,
        outputs,
        ports,
        outcomes,
        ..
    } = descriptor;
    let how = kind(descriptor);
    let _infallible = write!(page, "\n### {type_name}\n\n{description}\n\nKind: {how}.\n");
    if !ports.is_empty() {
        let _infallible = write!(page, "\nPorts: {}.\n", list(ports));
    }
    if !outcomes.is_empty() {
        let _infallible = write!(page, "\nOutcomes: {}.\n", list(outcomes));
    }
    if inputs.len() + plain.len() > 0 {
        page.push_str("\n| Input | Type | Default | Meaning |\n|---|---|---|---|\n");
        inputs.iter().chain(plain).for_each(|one| input(page, one));
    }
    if !outputs.is_empty() {
        page.push_str("\n| Output | Type | Meaning |\n|---|---|---|\n");
        for output in outputs {
            let (name, type_name) = (&output.name, cell(&output.type_name));
            let text = cell(&output.description);
            let _infallible = writeln!(page, "| `{name}` | `{type_name}` | {text} |");
        }
    }
}

/// The page of the activity types.
pub(super) fn activities() -> String {
    let types: Vec<&Descriptor> = built_ins().values().map(|b| &b.descriptor).collect();
    assert!(types.len() >= 40, "{} types", types.len());
    let mut categories: Vec<&str> = types.iter().map(|t| &*t.category).collect();
    categories.sort_unstable();
    categories.dedup();
    let mut page = String::from(
        "# Activities\n\nThis page is generated from the activity types of the engine. An activity without outcomes of its own \
         has the outcome `Done` in a flowchart. Names of inputs are as in the JSON of a definition.\n",
    );
    for category in categories {
        let name = if category.is_empty() {
            "Other"
        } else {
            category
        };
        let _infallible = write!(page, "\n## {name}\n");
        let of = types.iter().filter(|t| t.category == category);
        of.for_each(|descriptor| activity(&mut page, descriptor));
    }
    page
}

/// The page of the metrics.
pub(super) fn metrics() -> String {
    let mut page = String::from(
        "# Metrics\n\nThis page is generated from the text that a node serves at `GET /metrics`. The functions on AWS report the \
         same metrics to CloudWatch under the namespace `Dormouse/<stack>`. How to collect them: \
         [Monitor](../how-to/monitor.md).\n\n| Metric | Type | Meaning |\n|---|---|---|\n",
    );
    let text = Registry::new().prometheus();
    let helps = text.lines().filter_map(|l| l.strip_prefix("# HELP "));
    let mut count = 0;
    for (name, help) in helps.filter_map(|line| line.split_once(' ')) {
        let begin = format!("# TYPE {name} ");
        let kind = text.lines().find_map(|line| line.strip_prefix(&begin));
        let kind = kind.unwrap_or_else(|| panic!("{name} has no type"));
        let _infallible = writeln!(page, "| `{name}` | {kind} | {} |", cell(help));
        count += 1;
    }
    assert!(count >= 20, "{count} metrics");
    page
}
