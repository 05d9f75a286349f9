//! Evaluations per second on one thread, the cost of an interpreter, and of a script with one of its own.
//!
//! `cargo bench -p dormouse-expressions`

#![allow(clippy::expect_used, reason = "a benchmark fails by it")]
#![allow(clippy::print_stdout, reason = "its result is what it prints")]

#[path = "../tests/memory_scope/mod.rs"]
mod memory_scope;

use std::hint::black_box;
use std::time::{Duration, Instant};

use dormouse_expressions::{Expressions, Language, Script};
use memory_scope::{MemoryScope, order};
use serde_json::json;

const JAVASCRIPT: Language = Language::JavaScript;
const LIQUID: Language = Language::Liquid;

/// How long each line is measured, after a tenth of that to warm up.
const MEASURED: Duration = Duration::from_millis(500);

const CASES: &[(&str, Language, &str)] = &[
    ("getter", JAVASCRIPT, "getCounter()"),
    (
        "getter of an object's member",
        JAVASCRIPT,
        "getOrder().customer.name",
    ),
    ("getter in the interpreter", JAVASCRIPT, "(getCounter())"),
    ("arithmetic", JAVASCRIPT, "getCounter() * 2 + 1"),
    (
        "template literal, two variables",
        JAVASCRIPT,
        "`${getName()} has ${getCounter()}`",
    ),
    (
        "object literal",
        JAVASCRIPT,
        "({ id: getCounter(), name: getName(), tags: ['a', 'b'] })",
    ),
    (
        "map over an order's lines",
        JAVASCRIPT,
        "getOrder().lines.map(l => l.count * l.price)",
    ),
    (
        "variables.X written back",
        JAVASCRIPT,
        "variables.Counter = variables.Counter + 1",
    ),
    (
        "undeclared name, swept",
        JAVASCRIPT,
        "total = getCounter() + 1; total",
    ),
    (
        "statements, eval",
        JAVASCRIPT,
        "if (getCounter() > 1) { 'many' } else { 'few' }",
    ),
    (
        "promise awaited",
        JAVASCRIPT,
        "await Promise.resolve(getCounter())",
    ),
    (
        "private interpreter",
        JAVASCRIPT,
        "Array.prototype.last = 1; getCounter()",
    ),
    (
        "template, two variables",
        LIQUID,
        "{{ Variables.Name }} has {{ Variables.Counter }}",
    ),
    ("loop with filters", LIQUID, LOOP),
];
const LOOP: &str = "{% for line in Variables.Order.lines %}\
    {{ line.sku | upcase }}: {{ line.price | times: line.count }}\n{% endfor %}";

fn main() {
    for (name, language, source) in CASES {
        let expressions = Expressions::default();
        let script = compile(&expressions, *language, source);
        let mut scope = scope();
        report(name, &mut || evaluate(&expressions, &script, &mut scope));
    }
    let mut scope = scope();
    report("new interpreter and first script", &mut || {
        let expressions = Expressions::default();
        let script = compile(&expressions, JAVASCRIPT, "(getCounter())");
        evaluate(&expressions, &script, &mut scope);
    });
    let expressions = Expressions::default();
    for (language, source) in [
        (JAVASCRIPT, "`${getName()} has`"),
        (LIQUID, "{{ Variables.Name }} has"),
    ] {
        report(&format!("compile {language:?}"), &mut || {
            black_box(compile(&expressions, language, source));
        });
    }
}

fn compile(expressions: &Expressions, language: Language, source: &str) -> Script {
    expressions.compile(language, source).expect("a program")
}

fn scope() -> MemoryScope {
    MemoryScope::with(&[
        ("Counter", json!(4)),
        ("Name", json!("Ada")),
        ("Order", order()),
    ])
}

fn evaluate(expressions: &Expressions, script: &Script, scope: &mut MemoryScope) {
    black_box(expressions.evaluate(script, scope).expect("a value"));
}

fn report(name: &str, work: &mut dyn FnMut()) {
    measure(work, MEASURED / 10);
    let each = measure(work, MEASURED);
    println!("{name:34} {:>10.0}/s {:>10.2} µs", 1e6 / each, each);
}

/// Repeats `work` for about `time`, and gives the microseconds it takes.
fn measure(work: &mut dyn FnMut(), time: Duration) -> f64 {
    let (start, mut count) = (Instant::now(), 0_u32);
    while start.elapsed() < time {
        for _ in 0..16 {
            work();
        }
        count += 16;
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(count)
}
