//! Work that builtins do natively is charged, and work as a whole can be cut off.

#![allow(
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test fails by it"
)]

mod memory_scope;

use std::time::{Duration, Instant};

use dormouse_expressions::{Cut, EvaluationError, Expressions, Language, Limits};
use memory_scope::MemoryScope;
use serde_json::json;

/// Runs each script until it reaches its limit of work, which must not take long.
fn expect_limit(language: Language, scripts: &[&str]) {
    let expressions = Expressions::new(Limits {
        steps_max: 50,
        time_ms_max: 60_000,
        ..Limits::default()
    });
    for source in scripts {
        let script = expressions.compile(language, source).unwrap();
        let began = Instant::now();
        let result = expressions.evaluate(&script, &mut MemoryScope::default());
        assert!(
            matches!(
                result,
                Err(EvaluationError::Limit {
                    limit: "steps_max" | "memory_bytes_max",
                    ..
                })
            ),
            "{source}: {result:?}"
        );
        assert!(
            began.elapsed() < Duration::from_secs(5),
            "{source}: {:?}",
            began.elapsed()
        );
    }
}

#[test]
fn what_works_natively_for_long_is_charged() {
    let scripts = [
        "const a = new Uint8Array(8e6); for (;;) a.indexOf(1)",
        "const a = new Uint8Array(8e6); for (;;) a.fill(1)",
        "const a = new Uint8Array(8e6); for (;;) a.copyWithin(1, 0)",
        "const t = 'x'.repeat(4e6); for (;;) t.slice(1)",
        "const t = 'x'.repeat(4e6); for (;;) /y/.test(t)",
        "const s = { raw: { length: 2, 0: 'x'.repeat(1e6), 1: '' } }; let n = 0; for (;;) n += String.raw(s).length",
    ];
    expect_limit(Language::JavaScript, &scripts);
    let templates = [
        "{% assign t = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..14) %}{% assign t = t | append: t %}{% endfor %}{% for i in (1..100000) %}{% if t contains 'y' %}{% endif %}{% endfor %}",
        "{% assign t = 'xxxxxxxxxxxxxxxx' %}{% for i in (1..14) %}{% assign t = t | append: t %}{% endfor %}{% assign u = t | append: '' %}{% for i in (1..100000) %}{% if t == u %}{% endif %}{% endfor %}",
    ];
    expect_limit(Language::Liquid, &templates);
}

#[test]
fn operations_on_large_values_end_soon_after_the_time_is_over() {
    let expressions = Expressions::new(Limits {
        steps_max: u64::MAX,
        time_ms_max: 200,
        ..Limits::default()
    });
    // Ten thousand turns of each, after which the interpreter would ask, take minutes.
    let sources = [
        "const a = 3n ** 300000n; for (;;) a * a",
        "const a = 3n ** 300000n; for (;;) { try { a * a } catch {} }",
        "const a = 3n ** 300000n; for (;;) a.toString()",
        "const a = '9'.repeat(200000); for (;;) BigInt(a)",
        "const t = 'x'.repeat(4e6); for (let n = 0;; n++) (t + n).length",
        "const a = new Uint8Array(4e6); for (;;) new Uint8Array(a)",
        "for (;;) new ArrayBuffer(8e6)",
        "const a = new ArrayBuffer(8e6); for (;;) a.slice(0)",
        "const a = []; a.length = 1e5; a.fill(0); for (;;) [...a]",
    ];
    // As a function, which is compiled beforehand; one also as a text that is compiled when it runs, for which there is time.
    let functions = sources.map(|source| (format!("(() => {{ {source} }})()"), 4));
    let texts = [
        (sources[0].to_owned(), 60),
        (format!("eval('{}')", sources[0]), 60),
    ];
    for (source, most_s) in functions.into_iter().chain(texts) {
        let script = expressions.compile(Language::JavaScript, &source).unwrap();
        let began = Instant::now();
        let result = expressions.evaluate(&script, &mut MemoryScope::default());
        assert!(
            matches!(result, Err(EvaluationError::Limit { .. })),
            "{source}: {result:?}"
        );
        let took = began.elapsed();
        println!("{took:?} {source}");
        assert!(took < Duration::from_secs(most_s), "{source}: {took:?}");
        // The interpreter works as before.
        let script = expressions.compile(Language::JavaScript, "[1, 2].map(n => n + 1)");
        let after = expressions.evaluate(&script.unwrap(), &mut MemoryScope::default());
        assert_eq!(after, Ok(json!([2, 3])), "{source}");
    }
}

#[test]
fn work_is_cut_off_from_another_thread_and_by_its_own_time() {
    let unlimited = Limits {
        steps_max: u64::MAX,
        time_ms_max: 60_000,
        ..Limits::default()
    };
    let expressions = Expressions::new(unlimited);
    let script = |source| expressions.compile(Language::JavaScript, source).unwrap();
    let (endless, short) = (script("for (;;);"), script("[1, 2].map(n => n + 1)"));
    let mut scope = MemoryScope::default();
    let mut evaluate = |script| expressions.evaluate(script, &mut scope);
    let is_cut = |result| {
        matches!(
            result,
            Err(EvaluationError::Limit {
                limit: "time_ms_max",
                ..
            })
        )
    };
    let by_call = Cut::after(Duration::from_secs(60));
    let other = by_call.clone();
    let caller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(100));
        other.cut();
    });
    for cut in [by_call, Cut::after(Duration::from_millis(100))] {
        let began = Instant::now();
        // What is evaluated afterwards is over at once, and outside of it nothing has changed.
        assert!(cut.during(|| is_cut(evaluate(&endless)) && is_cut(evaluate(&short))));
        assert!(
            began.elapsed() < Duration::from_secs(2),
            "{:?}",
            began.elapsed()
        );
        assert_eq!(evaluate(&short), Ok(json!([2, 3])));
    }
    caller.join().unwrap();
}
