//! Nothing a script does is visible to the next one.

mod memory_scope;

use dormouse_expressions::{Expressions, Language};
use memory_scope::{MemoryScope, run, value};
use serde_json::{Value, json};

/// Scripts that try to leave something behind, each with a question whose answer must not change.
const TRIES: &[(&str, &str)] = &[
    ("leak = 5", "typeof leak"),
    ("leak = 5; other = leak; delete leak", "typeof other"),
    ("for (leak of [1]);", "typeof leak"),
    (
        "[leak] = [1]; ({ a: leaked } = { a: 1 })",
        "typeof leak + typeof leaked",
    ),
    ("(function () { this.leak = 1 })()", "typeof leak"),
    (
        "(function () { this[5] = 1; this[Symbol.for('s')] = 2 })()",
        "(function () { return [this[5], this[Symbol.for('s')]] })()",
    ),
    ("(function () { Object.freeze(this) })()", "leak = 1; leak"),
    (
        "(function () { Object.setPrototypeOf(this, { leak: 1 }) })()",
        "typeof leak",
    ),
    (
        "(function () { Object.defineProperty(this, 'leak', { value: 1 }) })()",
        "typeof leak",
    ),
    ("globalThis.leak = 1", "typeof leak"),
    ("this.leak = 1", "typeof leak"),
    (
        "var leak = 1; function leaked() {}",
        "typeof leak + typeof leaked",
    ),
    ("Array.prototype.leak = 1", "[].leak"),
    ("[].__proto__.leak = 1", "[].leak"),
    ("const p = Object.getPrototypeOf([]); p.leak = 1", "[].leak"),
    ("({}).constructor.leak = 1", "Object.leak"),
    ("const k = 'proto' + 'type'; Array[k].leak = 1", "[].leak"),
    ("Object.prototype.leak = 1", "({}).leak"),
    (
        "Object.assign(Object.getPrototypeOf({}), { leak: 1 })",
        "({}).leak",
    ),
    (
        "Object.defineProperty(String.prototype, 'leak', { value: 1 })",
        "''.leak",
    ),
    ("Math.max = () => 0", "Math.max(1, 2)"),
    ("const m = Math; m.max = () => 0", "Math.max(1, 2)"),
    ("JSON.stringify = () => 'x'", "JSON.stringify(1)"),
    ("JSON = null", "JSON.stringify(1)"),
    (
        "const f = [].map; f.leak = 1; f.call.leak = 1",
        "[[].map.leak, [].map.call.leak]",
    ),
    ("delete [].map.name", "[].map.name"),
    (
        "getVariable.leak = 1; getCounter.leak = 1",
        "[getVariable.leak, getCounter.leak]",
    ),
    (
        "getVariable = () => 0; getVariable('Counter')",
        "getVariable('Counter')",
    ),
    ("getCounter = () => 0; getCounter()", "getCounter()"),
    ("[getCounter] = [() => 0]", "getCounter()"),
    ("accessors$ = 1", "typeof accessors$"),
    (
        "variables = { Counter: 9 }; args = 1",
        "[variables.Counter, args]",
    ),
    (
        "Date.now = () => 0; Date.prototype.getTime = () => 0",
        "[Date.now(), new Date(5).getTime()]",
    ),
    (
        "Error.prepareStackTrace = () => 'x'; Error.stackTraceLimit = 0",
        "String(new Error('a').stack).length > 9",
    ),
    (
        "const e = Error; e.prepareStackTrace = () => 'x'; e.stackTraceLimit = 0",
        "String(new Error('a').stack).length > 9",
    ),
    (
        "(function* () {}).constructor.leak = 1; Object.getPrototypeOf(function* () {}).leak = 1",
        "Object.getPrototypeOf(function* () {}).leak",
    ),
    (
        "const it = [][Symbol.iterator](); Object.getPrototypeOf(it).next = null",
        "[...[1, 2]]",
    ),
    ("Promise.prototype.then = null", "await Promise.resolve(1)"),
    (
        "const p = Promise; Object.getPrototypeOf(Promise.resolve()).then = null",
        "await Promise.resolve(1)",
    ),
    (
        "RegExp.prototype.exec = () => null; /a/.exec('a')",
        "/a/.test('a')",
    ),
    (
        "TimeSpan.Zero.leak = 1; TimeSpan.FromDays = null; DateTime.leak = 1",
        "[TimeSpan.Zero.leak, TimeSpan.FromDays(1), DateTime.leak]",
    ),
    (
        "Set.prototype.add = null; new Set([1])",
        "new Set([1]).size",
    ),
    ("eval('var leak = 1')", "typeof leak"),
    ("Function('leak = 1')()", "typeof leak"),
    ("(() => {}).constructor('leak = 1')()", "typeof leak"),
    ("(async () => { await 1; leak = 1 })()", "typeof leak"),
    (
        "Promise.resolve().then(() => { leak = 1 }); 1",
        "typeof leak",
    ),
    ("new Promise(() => {}); leak = 1; throw 1", "typeof leak"),
    ("leak = 1; for (;;);", "typeof leak"),
    ("leak = 1; (function f() { f() })()", "typeof leak"),
    ("leak = 1; throw new Error('x')", "typeof leak"),
    ("({ get a() { leak = 1; return 1 } })", "typeof leak"),
    (
        "const t = (s) => { s.leak = 1; return s }; t`a`",
        "((s) => s)`a`.leak",
    ),
    (
        "class Return { constructor(o) { return o } } class Stamp extends Return { #x = 1 } new Stamp(Math)",
        "Reflect.ownKeys(Math).length",
    ),
    ("with (Math) { max = 1 }", "Math.max(1, 2)"),
    (
        "Symbol.iterator.leak = 1; Object(1).constructor.leak = 1",
        "Number.leak",
    ),
    ("\\u0065val('leak = 1')", "typeof leak"),
    (
        "Reflect.ownKeys(Array).forEach(k => { try { Array[k].leak = 1 } catch {} })",
        "Array.from.leak",
    ),
];

#[test]
fn whatever_one_script_does_the_next_one_does_not_see() {
    for (try_it, question) in TRIES {
        // Each evaluation has its own scope, so only the interpreter can carry anything over.
        let scope = || MemoryScope::with(&[("Counter", json!(1))]);
        let answer = |source: &str| run(source, &mut scope()).map_err(|error| error.to_string());
        let before = answer(question);
        let _ = run(try_it, &mut scope());
        let _ = run(try_it, &mut scope());
        assert_eq!(answer(question), before, "after: {try_it}");
    }
}

#[test]
fn a_script_leaves_nothing_behind_for_itself() {
    let cases = [
        (
            "leak = (typeof leak === 'undefined' ? 0 : leak) + 1; leak",
            json!(1),
        ),
        ("this.count = (this.count || 0) + 1", json!(1)),
        ("Array.prototype.n = ([].n || 0) + 1; [].n", json!(1)),
        ("var v; v = (v || 0) + 1; v", json!(1)),
        (
            "const f = (s) => { f.seen = (f.seen || 0) + 1; return f.seen }; f()",
            json!(1),
        ),
        ("const r = /a/g; r.test('aa'); r.lastIndex", json!(1)),
    ];
    for (source, expected) in cases {
        for _ in 0..3 {
            assert_eq!(
                value(source, &mut MemoryScope::default()),
                expected,
                "{source}"
            );
        }
    }
}

#[test]
fn within_its_own_evaluation_a_script_may_change_what_it_likes() {
    let cases = [
        ("leak = 5; leak + 1", json!(6)),
        (
            "Array.prototype.last = function () { return this[this.length - 1] }; [1, 2].last()",
            json!(2),
        ),
        (
            "String.prototype.shout = function () { return this + '!' }; 'a'.shout()",
            json!("a!"),
        ),
        ("Math.max = () => 7; Math.max(1)", json!(7)),
        ("this.x = 3; x", json!(3)),
        ("globalThis.y = 4; y", json!(4)),
        ("eval('1 + getCounter()')", json!(2)),
        ("new Function('a', 'return a * 2')(4)", json!(8)),
        (
            "globalThis.getCounter() + globalThis['get' + 'Counter']()",
            json!(2),
        ),
        (
            "JSON.stringify = () => 'mine'; JSON.stringify(1)",
            json!("mine"),
        ),
        (
            "const e = new Error('x'); e.name = 'Mine'; e.message = 'y'; String(e)",
            json!("Mine: y"),
        ),
        (
            "const o = {}; o.toString = () => 'mine'; o.constructor = 1; `${o}` + o.constructor",
            json!("mine1"),
        ),
        (
            "class A { toString() { return 'a' } } A.prototype.b = 1; `${new A()}${new A().b}`",
            json!("a1"),
        ),
        (
            "function F() {} F.prototype.toString = () => 'f'; `${new F()}`",
            json!("f"),
        ),
        (
            "const a = []; a.toString = () => 'list'; `${a}`",
            json!("list"),
        ),
        (
            "Object.prototype.hasOwnProperty.call({ a: 1 }, 'a')",
            json!(true),
        ),
        ("Array.prototype.slice.call([1, 2, 3], 1)", json!([2, 3])),
        (
            "function getCounter() { return 'own' } getCounter()",
            json!("own"),
        ),
        ("const getCounter = () => 'own'; getCounter()", json!("own")),
        ("getCounter = () => 'own'; getCounter()", json!("own")),
        ("const variables = 1, args = 2; variables + args", json!(3)),
    ];
    for (source, expected) in cases {
        let mut scope = MemoryScope::with(&[("Counter", json!(1))]);
        assert_eq!(value(source, &mut scope), expected, "{source}");
    }
}

#[test]
fn everything_a_script_can_reach_without_making_it_is_frozen() {
    // Walks from what the language gives without a name, and from all names, and reports what is open.
    let source = r"
        const root = (function () { return this })();
        const samples = [[], {}, '', 1, 1n, true, Symbol(), /a/, new Date(), new Map(), new Set(), new WeakMap(),
            new WeakSet(), new Error(), new Uint8Array(1), new ArrayBuffer(1), new DataView(new ArrayBuffer(1)),
            Promise.resolve(), function () {}, () => {}, class {}, async () => {}, function* () {},
            async function* () {}, (function* () {})(), (async function* () {})(), [].values(), [].entries(),
            new Map().keys(), new Set().values(), ''[Symbol.iterator](), ''.matchAll(/a/g), [].values().map(x => x),
            [].values().take(1), [].values().drop(1), Iterator.from({ next() {} }), Iterator.concat([1]),
            newGuid(), DateTime.Now, TimeSpan.Zero, new Random(), getVariable, getCounter,
            (function () { 'use strict'; return arguments })(), (function () { return arguments })(),
            (x => x)`a`];
        const made = new Set(samples.filter(s => Object(s) === s));
        const seen = new Set([root]), open = [], pending = [...samples.map(s => Object.getPrototypeOf(s)), ...made];
        for (const key of Reflect.ownKeys(root)) pending.push(root[key]);
        while (pending.length) {
            const object = pending.pop();
            if (Object(object) !== object || seen.has(object)) continue;
            seen.add(object);
            const isMade = made.has(object) || Reflect.ownKeys(object).length === 0 && Object.isExtensible(object);
            if (!Object.isFrozen(object) && !isMade) open.push(String(object?.constructor?.name) + ' ' + String(object.name));
            pending.push(Object.getPrototypeOf(object));
            for (const key of Reflect.ownKeys(object)) {
                const property = Object.getOwnPropertyDescriptor(object, key);
                if (!made.has(object)) pending.push(property.value, property.get, property.set);
            }
        }
        [seen.size > 300, open]";
    let mut scope = MemoryScope::with(&[("Counter", json!(1))]);
    assert_eq!(
        value(source, &mut scope),
        json!([true, Value::Array(Vec::new())])
    );
}

#[test]
fn two_evaluators_of_a_thread_do_not_meet() {
    let evaluators: Vec<_> = (0..6).map(|_| Expressions::default()).collect();
    for round in 0..2 {
        for (index, expressions) in evaluators.iter().enumerate() {
            let source = format!("leak{index} = {round}; typeof leak{}", (index + 5) % 6);
            let script = expressions.compile(Language::JavaScript, &source).unwrap();
            let found = expressions
                .evaluate(&script, &mut MemoryScope::default())
                .unwrap();
            assert_eq!(found, json!("undefined"));
        }
    }
}

#[test]
fn an_evaluation_within_an_evaluation_is_its_own() {
    struct Nesting {
        inner: MemoryScope,
        expressions: Expressions,
    }
    // The variable of this scope is itself computed by a script.
    impl dormouse_expressions::Scope for Nesting {
        fn identity(&self) -> dormouse_expressions::Identity {
            self.inner.identity()
        }
        fn set_correlation_id(&mut self, _id: Option<String>) {}
        fn set_name(&mut self, _name: Option<String>) {}
        fn variable(&self, name: &str) -> Option<Value> {
            let script = self
                .expressions
                .compile(Language::JavaScript, "leak = 20; leak + 1")
                .ok()?;
            let value = self
                .expressions
                .evaluate(&script, &mut self.inner.clone())
                .ok();
            value.filter(|_| name == "Inner")
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
        .compile(Language::JavaScript, "getInner() * 2 + typeof leak")
        .unwrap();
    let mut scope = Nesting {
        inner: MemoryScope::default(),
        expressions: expressions.clone(),
    };
    assert_eq!(
        expressions.evaluate(&script, &mut scope).unwrap(),
        json!("42undefined")
    );
}
