//! Limits, as the constants of the code say them.

use std::fmt::Write as _;

use dormouse_engine::activity::bulk_dispatch_workflows::CHILDREN_MAX;
use dormouse_engine::definition::DEFINITION_BYTES_MAX;
use dormouse_engine::definition::search_attribute::{ATTRIBUTES_MAX, VALUE_MAX};
use dormouse_engine::graph::{DEPTH_MAX, NODES_MAX};
use dormouse_engine::step;
use dormouse_expressions::Limits;
use dormouse_http::HttpConfig;
use dormouse_runtime::{
    FILLED_BYTES_MAX, NESTED_MAX, SECRET_BYTES_MAX, SECRETS_BYTES_MAX, SECRETS_MAX,
};

/// A number with separators between thousands.
fn number(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn size(bytes: usize) -> String {
    match bytes {
        n if n >= 1 << 20 && n % (1 << 20) == 0 => format!("{} MiB", n >> 20),
        n => format!("{} KiB", number((n >> 10) as u64)),
    }
}

/// The page of the limits.
pub(super) fn page() -> String {
    let script = Limits::default();
    let engine = step::Limits::default();
    let http = HttpConfig::default();
    let rows: Vec<(&str, String, &str)> = vec![
        (
            "size of a definition",
            size(DEFINITION_BYTES_MAX),
            "rejected when it is saved",
        ),
        (
            "activities of a definition, with the workflows that it uses",
            number(NODES_MAX as u64),
            "an error of the definition",
        ),
        (
            "nesting of activities",
            number(DEPTH_MAX as u64),
            "an error of the definition",
        ),
        (
            "search attributes of a definition",
            number(ATTRIBUTES_MAX as u64),
            "an error of the definition",
        ),
        (
            "characters of a search attribute's value",
            number(VALUE_MAX as u64),
            "the rest is cut off",
        ),
        (
            "workflows that execute each other (`ExecuteWorkflow`), one within the other",
            number(NESTED_MAX),
            "an incident",
        ),
        (
            "activities of an instance without a wait",
            number(engine.burst_activities_max),
            "an incident: an endless loop",
        ),
        (
            "activities between two commits of a burst",
            number(engine.step_activities_max),
            "the burst commits and continues",
        ),
        (
            "activities of an instance that run or wait at once",
            number(engine.contexts_max as u64),
            "an incident",
        ),
        (
            "children of one `BulkDispatchWorkflows`",
            number(CHILDREN_MAX as u64),
            "an incident",
        ),
        (
            "work of one script, in steps of about 10,000 operations",
            number(script.steps_max),
            "an incident",
        ),
        (
            "heap of one script",
            size(script.memory_bytes_max),
            "an incident",
        ),
        (
            "stack of one script",
            size(script.stack_bytes_max),
            "an incident",
        ),
        (
            "output of one script, as JSON",
            size(script.output_bytes_max),
            "an incident",
        ),
        (
            "text of one script",
            size(script.script_bytes_max),
            "an incident",
        ),
        (
            "text of one Liquid template",
            size(script.template_bytes_max),
            "an incident",
        ),
        (
            "time of one script",
            format!("{} s", script.time_ms_max / 1_000),
            "an incident",
        ),
        ("secrets of a tenant", number(SECRETS_MAX as u64), "409"),
        ("value of a secret", size(SECRET_BYTES_MAX), "400"),
        (
            "values of the secrets of a tenant, together",
            size(SECRETS_BYTES_MAX),
            "409",
        ),
        (
            "values of secrets in one request or task",
            size(FILLED_BYTES_MAX),
            "an incident; nothing is sent",
        ),
        ("body of an API request", size(http.body_bytes_max), "413"),
        (
            "memory for the bodies of all requests of a node",
            size(http.memory_bytes_max),
            "503",
        ),
        (
            "items on a page of a list, and of one bulk request",
            number(http.page_items_max as u64),
            "a shorter page; 400",
        ),
    ];
    let mut page = String::from(
        "# Limits\n\nThis page is generated from the constants of the code.\n\n| Limit | Value | Beyond it |\n|---|---|---|\n",
    );
    for (name, value, beyond) in rows {
        let _infallible = writeln!(page, "| {name} | {value} | {beyond} |");
    }
    page.push_str(
        "\n## Languages\n\n\
         | Language | Limit |\n|---|---|\n\
         | JavaScript, Liquid | work, memory, stack and output are bounded as above |\n\
         | C# | a safe subset, interpreted within the same limits as JavaScript: types that the script declares, \
         LINQ, texts, dates, JSON and regular expressions without look-around and back references; no reflection, \
         files, network or threads. As in Elsa, types of other namespaces than `System`, `System.Linq`, \
         `System.Collections.Generic`, `System.Dynamic` and `System.Text.Json` need a `using` or their full name. \
         Code outside of the subset is a warning with its line, and faults when it runs |\n\
         | Python | not supported. Validation reports it as an error and names JavaScript and Liquid |\n\n\
         ## Pages of HTTP workflows\n\n\
         A browser keeps a page that a workflow answers with in a sandbox, because `serve` delivers it from the origin of the \
         console. Scripts, forms and pop-ups work. Cookies and storage of that origin do not. A workflow cannot disable the \
         sandbox.\n\n\
         ## Limits of AWS\n\n\
         [Deploy](../how-to/deploy.md#limits-of-aws) lists the limits of AWS and how Dormouse meets them.\n",
    );
    page
}
