//! JavaScript as such: the value of a script, its way in and out as JSON, its errors, its time, its libraries.

#![allow(clippy::panic, reason = "a test fails by it")]

mod memory_scope;

use dormouse_expressions::{
    EvaluationError, Expressions, Identity, Language, Library, Limits, Scope,
};
use memory_scope::{MemoryScope, order, run, value};
use serde_json::{Value, json};

#[test]
fn the_value_is_that_of_the_last_expression_or_of_return() {
    let cases = [
        ("1 + 1", json!(2)),
        ("return 1 + 1", json!(2)),
        ("const a = 1; a + 1;", json!(2)),
        ("const a = 1\na + 1 // the end", json!(2)),
        ("if (true) { return 'a' } 'b'", json!("a")),
        ("if (false) { return 'a' } 'b'", json!("b")),
        ("if (true) { 'a' } else { 'b' }", json!("a")),
        ("for (const x of [1, 2, 3]) x", json!(3)),
        ("for (const x of [1, 2, 3])\n  x", json!(3)),
        ("switch (2) { case 2: 'two' }", json!("two")),
        ("try { throw 1 } catch (e) { e }", json!(1)),
        ("function f() { return 1 }\nf()", json!(1)),
        ("const f = () => { return 1 }\nf()", json!(1)),
        ("({ a: 1 })", json!({"a": 1})),
        ("return {\n  a: 1\n}", json!({"a": 1})),
        ("[1, 2].map(x => { return x * 2 })", json!([2, 4])),
        ("var x = 5", Value::Null),
        ("return", Value::Null),
        ("", Value::Null),
        ("// nothing", Value::Null),
        ("`a ${1 + 1} b`", json!("a 2 b")),
        ("/a/.test('a')", json!(true)),
        ("await Promise.resolve(3)", json!(3)),
        ("Promise.resolve([1])", json!([1])),
        ("const x = await (async () => 4)(); x + 1", json!(5)),
    ];
    for (source, expected) in cases {
        assert_eq!(
            value(source, &mut MemoryScope::default()),
            expected,
            "{source}"
        );
    }
}

#[test]
fn values_leave_a_script_as_json() {
    let cases = [
        ("undefined", Value::Null),
        (
            "({ a: undefined, s: Symbol('x') })",
            json!({"a": null, "s": null}),
        ),
        // As in Elsa, nothing is kept of a value with functions in it.
        ("({ a: 1, f() {} })", Value::Null),
        (
            "[NaN, Infinity, -0, 1.5, 1e21]",
            json!([null, null, -0.0, 1.5, 1e21]),
        ),
        (
            "[2 ** 31, 2 ** 53, -(2 ** 40)]",
            json!([
                2_147_483_648_i64,
                9_007_199_254_740_992_i64,
                -1_099_511_627_776_i64
            ]),
        ),
        (
            "[5n, 2n ** 63n, 2n ** 64n]",
            json!([5, 9_223_372_036_854_775_808_u64, "18446744073709551616"]),
        ),
        ("new Date(0)", json!("1970-01-01T00:00:00Z")),
        ("({ toJSON() { return { a: 1 } } })", Value::Null),
        ("new Uint8Array([1, 2, 3])", json!("AQID")),
        (
            "({ ['__proto__']: 1, constructor: 2 })",
            json!({"__proto__": 1, "constructor": 2}),
        ),
        ("[1, , 3]", json!([1, null, 3])),
        ("'a\\ud800b'", json!("a\u{fffd}b")),
        ("'\\ud83d\\ude00'", json!("😀")),
        ("'a\\u0000b'", json!("a\u{0}b")),
        ("LogPersistenceMode.Include", json!("Include")),
    ];
    for (source, expected) in cases {
        assert_eq!(
            value(source, &mut MemoryScope::default()),
            expected,
            "{source}"
        );
    }
}

#[test]
fn values_come_back_as_they_went_in() {
    let before = json!({
        "null": null, "flag": true, "whole": 5, "large": 9_007_199_254_740_991_i64, "fraction": 0.1,
        "text": "ü€😀\"\\\n\u{0}", "list": [[], {}], "__proto__": {"a": 1}, "constructor": "c",
        "toString": 1, "valueOf": 2, "": "empty",
    });
    let mut scope = MemoryScope::with(&[("Data", before.clone())]);
    assert_eq!(value("const data = getData(); data", &mut scope), before);
    assert_eq!(
        value("setVariable('Copy', getData())", &mut scope),
        Value::Null
    );
    assert_eq!(scope.get("Copy"), before);
}

#[test]
fn what_a_script_throws_is_told_in_its_own_words() {
    let cases = [
        ("throw new Error('boo')", "Error: boo"),
        ("throw 'plain'", "plain"),
        ("null.x", "TypeError: cannot read property 'x' of null"),
        ("getMissing()", "ReferenceError: getMissing is not defined"),
        ("nosuch", "ReferenceError: nosuch is not defined"),
        ("await Promise.reject(new Error('later'))", "Error: later"),
        (
            "class Mine extends Error { constructor(m) { super(m); this.name = 'Mine' } }; throw new Mine('x')",
            "Mine: x",
        ),
        (
            "new Promise(() => {})",
            "Error: the script waits for a promise that never settles",
        ),
        ("throw null", "null"),
    ];
    for (source, expected) in cases {
        let error = run(source, &mut MemoryScope::default()).unwrap_err();
        assert!(matches!(error, EvaluationError::Thrown { .. }), "{error:?}");
        assert_eq!(error.to_string(), expected, "{source}");
    }
}

#[test]
fn syntax_errors_are_found_by_compiling_with_their_line() {
    let expressions = Expressions::default();
    for (source, line) in [
        ("1 +", 1),
        ("const a = 1\nconst a = 2", 2),
        ("a\nb\nc d", 3),
        ("}, () => {", 1),
    ] {
        match expressions.compile(Language::JavaScript, source) {
            Err(EvaluationError::Syntax { line: found, .. }) => {
                assert_eq!(found, Some(line), "{source}")
            }
            other => panic!("{source}: {other:?}"),
        }
    }
    assert!(
        expressions
            .compile(Language::JavaScript, "import x from 'y'")
            .is_err()
    );
}

#[test]
fn a_path_gives_what_the_interpreter_gives() {
    let mut scope = MemoryScope::with(&[
        ("Order", order()),
        (
            "Odd",
            json!({"1": 1.0, "big": 12_345_678_901_234_567_890_u64, "f": 2.0, "length": 3, "n": null}),
        ),
        ("Text", json!("abc")),
    ]);
    scope.inputs.insert("In".to_owned(), json!({"a": [1.0]}));
    let paths = [
        "getOrder()",
        "getOrder().customer.name",
        "getOrder().lines",
        "getOrder().lines.length",
        "getOrder().nosuch",
        "getOrder().toString",
        "getOdd()",
        "getOdd().big",
        "getOdd().f",
        "getOdd().length",
        "getText().length",
        "getVariable('Order').id",
        "getInput('In')",
        "getInput(\"In\").a",
        "getVariable('nosuch')",
        "return getOrder().id;",
        "getIn().a",
        "getWorkflowInstanceId()",
    ];
    for path in paths {
        let body = path.trim_start_matches("return ").trim_end_matches(';');
        let long_way = value(&format!("const x = {body}; x"), &mut scope);
        assert_eq!(value(path, &mut scope), long_way, "{path}");
    }
    for path in ["getOdd().n.x", "getNosuch()", "getOrder().a.b.c"] {
        let long_way = run(&format!("const x = {path}; x"), &mut scope)
            .unwrap_err()
            .to_string();
        assert_eq!(run(path, &mut scope).unwrap_err().to_string(), long_way);
    }
}

#[test]
fn libraries_are_there_for_every_script() {
    let library = |source: &str| {
        vec![Library {
            name: "own.js".into(),
            source: source.into(),
        }]
    };
    let source =
        "var own = { twice(x) { return x * 2 } }; function getStaticValue() { return 'path' }";
    let expressions = Expressions::with_libraries(Limits::default(), library(source)).unwrap();
    let mut scope = MemoryScope::default();
    let mut value = |source: &str| {
        let script = expressions.compile(Language::JavaScript, source)?;
        expressions.evaluate(&script, &mut scope)
    };
    assert_eq!(value("own.twice(4)").unwrap(), json!(8));
    assert_eq!(
        value("return getStaticValue() ?? 'first-value';").unwrap(),
        json!("path")
    );
    assert!(value("own.twice = null; own.twice(4)").is_err());
    assert_eq!(
        value("const o = own; o.twice = null; o.twice(4)").unwrap(),
        json!(8)
    );
    let broken = Expressions::with_libraries(Limits::default(), library("nosuch()"));
    assert!(matches!(broken, Err(EvaluationError::Thrown { .. })));
}

#[test]
fn a_script_compiled_on_one_thread_runs_on_any() {
    let expressions = Expressions::default();
    let script = expressions
        .compile(Language::JavaScript, "getCounter() + 1")
        .unwrap();
    let results = std::thread::scope(|threads| {
        let run = |counter: i32| {
            let mut scope = MemoryScope::with(&[("Counter", json!(counter))]);
            expressions.evaluate(&script, &mut scope).unwrap()
        };
        let handles: Vec<_> = (0..4)
            .map(|counter| threads.spawn(move || run(counter)))
            .collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(results, [json!(1), json!(2), json!(3), json!(4)]);
}

#[test]
fn time_is_the_instances_and_always_utc() {
    let cases = [
        (
            "[Date.now(), new Date().getTime(), Number(new Date())]",
            json!([
                1_700_000_000_123_i64,
                1_700_000_000_123_i64,
                1_700_000_000_123_i64
            ]),
        ),
        (
            "new Date(2024, 2, 10, 2, 30).toISOString()",
            json!("2024-03-10T02:30:00.000Z"),
        ),
        (
            "new Date('2024-03-10T02:30:00').toISOString()",
            json!("2024-03-10T02:30:00.000Z"),
        ),
        (
            "new Date('2024-03-10 02:30').toISOString()",
            json!("2024-03-10T02:30:00.000Z"),
        ),
        (
            "new Date('Mar 10 2024 02:30').toISOString()",
            json!("2024-03-10T02:30:00.000Z"),
        ),
        (
            "new Date('2024-03-10T02:30:00+02:00').toISOString()",
            json!("2024-03-10T00:30:00.000Z"),
        ),
        (
            "const d = new Date(0); d.setHours(5); [d.getHours(), d.getDay(), d.getTimezoneOffset()]",
            json!([5, 4, 0]),
        ),
        (
            "String(new Date(0))",
            json!("Thu Jan 01 1970 00:00:00 GMT+0000 (Coordinated Universal Time)"),
        ),
        (
            "new Date(0).toLocaleString()",
            json!("1/1/1970, 12:00:00 AM"),
        ),
        ("Date().slice(0, 15)", json!("Tue Nov 14 2023")),
        (
            "class D extends Date {}; const d = new D(5); [d instanceof Date, d.getTime()]",
            json!([true, 5]),
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(
            value(source, &mut MemoryScope::default()),
            expected,
            "{source}"
        );
    }
}

#[test]
fn the_time_zone_of_the_process_means_nothing() {
    let program = std::env::current_exe().unwrap();
    for zone in ["America/New_York", "Asia/Kathmandu"] {
        let arguments = ["--exact", "time_is_the_instances_and_always_utc"];
        let output = std::process::Command::new(&program)
            .args(arguments)
            .env("TZ", zone)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{zone}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
    }
}

#[test]
fn a_scope_that_panics_harms_only_its_own_evaluation() {
    struct Panicking;
    impl Scope for Panicking {
        fn identity(&self) -> Identity {
            panic!("no identity")
        }
        fn set_correlation_id(&mut self, _id: Option<String>) {}
        fn set_name(&mut self, _name: Option<String>) {}
        fn variable(&self, _name: &str) -> Option<Value> {
            None
        }
        fn variable_names(&self) -> Vec<String> {
            Vec::new()
        }
        fn set_variable(&mut self, _name: &str, _value: Value) {}
        fn input(&self, _name: &str) -> Option<Value> {
            None
        }
        fn input_names(&self) -> Vec<String> {
            Vec::new()
        }
        fn output_names(&self) -> Vec<(String, String)> {
            Vec::new()
        }
        fn output_from(&self, _activity: &str, _output: Option<&str>) -> Option<Value> {
            None
        }
        fn last_result(&self) -> Option<Value> {
            None
        }
        fn now_ms(&self) -> i64 {
            0
        }
        fn random(&mut self) -> u64 {
            0
        }
    }
    let expressions = Expressions::default();
    let script = expressions
        .compile(Language::JavaScript, "[getWorkflowInstanceId()]")
        .unwrap();
    let panicking = std::panic::AssertUnwindSafe(|| expressions.evaluate(&script, &mut Panicking));
    assert!(std::panic::catch_unwind(panicking).is_err());
    let found = expressions.evaluate(&script, &mut MemoryScope::default());
    assert_eq!(found, Ok(json!(["instance-1"])));
}
