//! Hostile scripts: every limit holds, nothing aborts the process, and the next script runs as if nothing was.

#![allow(clippy::panic, clippy::unwrap_used, reason = "a test fails by it")]

mod memory_scope;

use std::time::{Duration, Instant};

use dormouse_expressions::{EvaluationError, Expressions, Language, Limits};
use memory_scope::{MemoryScope, order};
use serde_json::json;

/// Limits small enough for a test.
fn limits() -> Limits {
    Limits {
        steps_max: 50,
        memory_bytes_max: 16 << 20,
        output_bytes_max: 1 << 20,
        time_ms_max: 60_000,
        ..Limits::default()
    }
}

/// Runs each script, and checks the limit it reaches and that the thread is as good as new after it.
fn expect_limit(limit: &str, language: Language, scripts: &[&str]) {
    let expressions = Expressions::new(limits());
    for source in scripts {
        let mut scope = MemoryScope::with(&[("Order", order()), ("Text", json!("abc"))]);
        let started = Instant::now();
        let script = expressions.compile(language, source);
        let result = script.and_then(|script| expressions.evaluate(&script, &mut scope));
        match result {
            Err(EvaluationError::Limit { limit: found, .. }) => {
                assert!(
                    limit.split('|').any(|limit| limit == found),
                    "{source}: {found}"
                );
            }
            other => panic!("{source}: {other:?}"),
        }
        assert!(started.elapsed() < Duration::from_secs(30), "{source}");
        let next = expressions.compile(
            Language::JavaScript,
            "[typeof leak, 'x'.repeat(1e6).length]",
        );
        let next = expressions.evaluate(&next.unwrap(), &mut scope).unwrap();
        assert_eq!(next, json!(["undefined", 1_000_000]), "after: {source}");
    }
}

#[test]
fn a_script_without_end_is_stopped() {
    let scripts = [
        "for (;;);",
        "leak = 1; while (true) { try { for (;;); } catch {} }",
        "while (true) { try { for (;;); } catch {} finally { continue } }",
        "while (true) { try { getOrder() } catch {} }",
        "(function f() { try { f() } catch { f() } })()",
        "(function f() { Promise.resolve().then(f) })(); 1",
        "(async () => { for (;;) await 1 })()",
        "(async () => { while (true) { try { await 1; for (;;); } catch {} } })()",
        "(async () => { const t = { then(r) { r(t) } }; return await t })()",
        "function* g() { while (true) yield 1 } for (const x of g());",
        "[1, 2, 3].sort(() => { for (;;); })",
        "for (;;) newGuid()",
        "for (;;) Date.now()",
        "for (;;) setOutcomes([])",
        "eval('for (;;);')",
        "new Function('for (;;);')()",
        "with ({}) { for (;;); }",
        "throw { toString() { for (;;); } }",
    ];
    expect_limit("steps_max", Language::JavaScript, &scripts);
}

#[test]
fn a_pattern_that_explodes_is_stopped() {
    let scripts = [
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "'a'.repeat(30).match(/(a*)*b/)",
        "'a'.repeat(2 ** 16).replace(/(?=(a*))/g, 'x').length",
        "/((((((((((a?)?)?)?)?)?)?)?)?)?){1000}b/.test('a'.repeat(1000))",
        "new RegExp('(?:a{0,1000}){0,1000}'.repeat(10) + 'b').test('a'.repeat(1e4))",
        "try { /^(a+)+$/.test('a'.repeat(40) + 'b') } catch { 'caught' }",
    ];
    expect_limit("steps_max|memory_bytes_max", Language::JavaScript, &scripts);
}

#[test]
fn builtins_that_would_work_natively_for_hours_are_stopped() {
    let scripts = [
        "new Array(2 ** 32 - 1).join()",
        "new Array(2 ** 32 - 1).sort()",
        "new Array(2 ** 32 - 1).reverse()",
        "[new Array(2 ** 32 - 1)].flat()",
        "[].concat(new Array(2 ** 32 - 1))",
        "String(new Array(2 ** 32 - 1))",
        "new Set(new Array(2 ** 32 - 1))",
        "Array.prototype.join.call({ length: 2 ** 53 - 1 })",
        "Array.prototype.reverse.call({ length: 2 ** 53 - 1 })",
        "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
        "Array.prototype.join.call(new Proxy([], { get: (t, k) => k === 'length' ? 2 ** 53 - 1 : '' }))",
        "Array.prototype.values.call({ length: 2 ** 53 - 1 }).drop(2 ** 52).next()",
        "Array.prototype.values.call({ length: 2 ** 53 - 1 }).forEach(isNaN)",
        "new Set([1]).union({ size: 1, has() {}, keys: () => Array.prototype.values.call({ length: 2 ** 53 - 1 }) })",
        "JSON.stringify({ a: 1 }, new Array(2 ** 32 - 1))",
        "'a'.repeat(2 ** 22).indexOf('a'.repeat(2 ** 21) + 'b')",
        "'a'.repeat(2 ** 22).split('a'.repeat(2 ** 21) + 'b')",
        "'a'.repeat(2 ** 22).includes({ toString: () => 'a'.repeat(2 ** 21) + 'b' })",
        "'a'.repeat(2 ** 20).replaceAll('a', 'bb'.repeat(1e6))",
    ];
    expect_limit("steps_max", Language::JavaScript, &scripts);
}

#[test]
fn a_memory_bomb_is_stopped() {
    let scripts = [
        "'x'.repeat(1e9)",
        "let s = 'x'; while (true) s += s",
        "const a = []; while (true) a.push([1, 2, 3])",
        "const a = []; while (true) a.push('x'.repeat(1e5) + a.length)",
        "const m = new Map(); for (let i = 0; ; i++) m.set(i, i)",
        "[...new Array(2 ** 32 - 1)]",
        "function* g() { while (true) yield 1 } [...g()]",
        "new Uint8Array(1e9)",
        "'a'.padEnd(2 ** 29)",
        "'a'.repeat(2 ** 22).split('')",
        "let o = {}; o.o = o; o.s = 'x'.repeat(3e7)",
        "JSON.stringify(new Array(2 ** 25).fill(0))",
        "for (let i = 0; ; i++) globalThis['x' + i] = i",
        "new Proxy({}, { ownKeys: () => Array.from({ length: 1e6 }, (_, i) => 'k' + i), getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }) })",
    ];
    expect_limit("memory_bytes_max|steps_max", Language::JavaScript, &scripts);
}

#[test]
fn deep_recursion_is_stopped() {
    let deep =
        |open: &str, close: &str| format!("{}1{}", open.repeat(15_000), close.repeat(15_000));
    let sources = [
        deep("(", ")"),
        deep("[", "]"),
        deep("!", ""),
        deep("a=>", ""),
        deep("{", "}"),
        deep("`${", "}`"),
        deep("1+(", ")"),
    ];
    let mut scripts = vec![
        "(function f() { f() })()",
        "async function f() { await f() } f()",
        "function* g() { yield* g() } [...g()]",
        "JSON.parse('['.repeat(1e5) + ']'.repeat(1e5))",
        "let o = []; for (let i = 0; i < 1e5; i++) o = [o]; JSON.stringify(o)",
        "let p = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); p.x",
        "let f = () => 1; for (let i = 0; i < 1e4; i++) f = f.bind(); f()",
        "new RegExp('(?:'.repeat(1e5) + ')'.repeat(1e5))",
        "const a = []; a[0] = a; a.flat(Infinity)",
    ];
    scripts.extend(sources.iter().map(String::as_str));
    expect_limit(
        "stack_bytes_max|memory_bytes_max|script_bytes_max",
        Language::JavaScript,
        &scripts,
    );
}

#[test]
fn a_result_too_deep_or_without_end_is_stopped() {
    let scripts = [
        "let o = {}; for (let i = 0; i < 1e4; i++) o = { o }; o",
        "const o = {}; o.o = o; o",
        "({ get a() { return { get a() { return this } } } })",
        "setVariable('X', (() => { const a = []; a[0] = a; return a })())",
        "variables.X = {}; variables.X.x = variables",
    ];
    expect_limit("depth_max", Language::JavaScript, &scripts);
    expect_limit(
        "steps_max",
        Language::JavaScript,
        &[
            "({ get a() { for (;;); } })",
            "new Proxy({}, { ownKeys() { for (;;); } })",
        ],
    );
}

#[test]
fn too_much_output_is_stopped() {
    let scripts = [
        "'x'.repeat(2e6)",
        "new Array(2 ** 32 - 1)",
        "new Array(1e6).fill(1)",
        "new Uint8Array(2e6)",
        "for (let i = 0; ; i++) setVariable('x' + i, i)",
        "for (let i = 0; ; i++) setCorrelationId('x'.repeat(1e5))",
        "setOutcomes(new Array(2e5).fill('x'))",
        "const h = {}; for (let i = 0; i < 1e5; i++) h['key' + i] = i; h",
        "for (let i = 0; i < 30; i++) variables['X' + i] = 'x'.repeat(1e5)",
    ];
    expect_limit("output_bytes_max|steps_max", Language::JavaScript, &scripts);
}

#[test]
fn a_script_that_swallows_every_error_still_meets_its_limit() {
    let scripts = [
        "for (;;) try { setVariable('x', 'y'.repeat(1e6)) } catch {}",
        "for (;;) try { 'x'.repeat(1e9) } catch {}",
        "for (;;) try { new Array(2 ** 32 - 1).join() } catch {}",
        "for (;;) try { JSON.parse('['.repeat(1e5)) } catch {}",
    ];
    expect_limit(
        "steps_max|output_bytes_max|memory_bytes_max",
        Language::JavaScript,
        &scripts,
    );
}

#[test]
fn a_template_without_end_is_stopped() {
    let scripts = [
        "{% for i in (1..1000000000) %}{% endfor %}",
        "{% for i in (1..100000) %}{% for j in (1..100000) %}{% endfor %}{% endfor %}",
        "{% for i in (-9223372036854775807..9223372036854775807) %}{{ i }}{% endfor %}",
    ];
    expect_limit("steps_max|output_bytes_max", Language::Liquid, &scripts);
}

#[test]
fn a_template_that_takes_too_much_memory_is_stopped() {
    let scripts = [
        "{% assign a = 'x' %}{% for i in (1..100) %}{% assign a = a | append: a %}{% endfor %}",
        "{% assign a = 'a,b' | split: ',' %}{% for i in (1..100) %}{% assign a = a | concat: a %}{% endfor %}",
        "{% assign r = (1..1000000000) %}",
        "{% assign a = 'x' %}{% for i in (1..18) %}{% assign a = a | append: a %}{% endfor %}{{ a | replace: 'x', a | size }}",
        "{% assign a = 'x' %}{% for i in (1..18) %}{% assign a = a | append: a %}{% endfor %}{% assign l = a | split: '' %}{{ l | join: a | size }}",
        "{% capture a %}{% for i in (1..100000) %}{{ Variables.Order }}{% endfor %}{% endcapture %}",
        "{{ '{0,2000000000}' | format_string: 1 }}",
    ];
    expect_limit("memory_bytes_max|steps_max", Language::Liquid, &scripts);
}

#[test]
fn a_template_with_too_much_output_is_stopped() {
    let scripts =
        ["{% for i in (1..100000) %}some text that is written again and again{% endfor %}"];
    expect_limit("output_bytes_max|steps_max", Language::Liquid, &scripts);
}

#[test]
fn a_source_that_is_too_long_is_refused() {
    let expressions = Expressions::default();
    let limits = expressions.limits();
    let languages = [
        (
            Language::JavaScript,
            "script_bytes_max",
            limits.script_bytes_max,
        ),
        (
            Language::Liquid,
            "template_bytes_max",
            limits.template_bytes_max,
        ),
    ];
    for (language, limit, value) in languages {
        assert!(expressions.compile(language, &" ".repeat(value)).is_ok());
        let error = expressions
            .compile(language, &" ".repeat(value + 1))
            .unwrap_err();
        assert_eq!(
            error,
            EvaluationError::Limit {
                limit,
                value: value as u64
            }
        );
    }
}

#[test]
fn time_is_the_last_resort() {
    let limits = Limits {
        steps_max: u64::MAX,
        time_ms_max: 50,
        ..Limits::default()
    };
    let error = memory_scope::run_within(
        limits,
        Language::JavaScript,
        "for (;;);",
        &mut MemoryScope::default(),
    );
    assert_eq!(
        error.unwrap_err(),
        EvaluationError::Limit {
            limit: "time_ms_max",
            value: 50
        }
    );
}

#[test]
fn memory_that_runs_out_anywhere_harms_nothing() {
    // The interpreter meets its limit at many different places, and must survive each.
    let script = "const a = []; for (let i = 0; i < 2000; i++) a.push({ i, s: 'x' + i, f: () => i, d: new Date(i), r: /a/g, \
        p: Promise.resolve(i).then(x => [x]), t: `a${i}`, e: new Error('x'), m: new Map([[i, i]]) }); \
        JSON.parse(JSON.stringify(a)).map(x => x.s).sort().join()";
    let (mut stopped, mut done) = (0, 0);
    for kilobytes in (1_000..8_000).step_by(61) {
        let limits = Limits {
            memory_bytes_max: kilobytes << 10,
            ..Limits::default()
        };
        match memory_scope::run_within(
            limits,
            Language::JavaScript,
            script,
            &mut MemoryScope::default(),
        ) {
            Ok(_) => done += 1,
            Err(EvaluationError::Limit { .. }) => stopped += 1,
            Err(other) => panic!("{kilobytes} KB: {other:?}"),
        }
    }
    assert!(stopped > 20 && done > 20, "{stopped} {done}");
}

#[test]
fn the_stack_limit_holds_wherever_the_caller_stands() {
    fn deeper<R>(levels: usize, run: &mut dyn FnMut() -> R) -> R {
        let room = std::hint::black_box([0_u8; 4096]);
        let result = if levels == 0 {
            run()
        } else {
            deeper(levels - 1, run)
        };
        std::hint::black_box(room);
        result
    }
    let depth = |levels: usize| {
        let source = "let n = 0; try { (function f() { n++; f() })() } catch {} n";
        deeper(levels, &mut || {
            memory_scope::value(source, &mut MemoryScope::default())
                .as_u64()
                .unwrap()
        })
    };
    let thread = std::thread::Builder::new().stack_size(8 << 20);
    let check = move || {
        // Made deep in the stack, used at the top, and the other way round.
        let measured = [depth(100), depth(0), depth(100), depth(200), depth(0)];
        let (least, most) = (
            measured.iter().min().unwrap(),
            measured.iter().max().unwrap(),
        );
        assert!(*least > 100 && most - least <= most / 50, "{measured:?}");
    };
    thread.spawn(check).unwrap().join().unwrap();
}
