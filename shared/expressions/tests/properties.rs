//! Laws over generated values and texts.

mod memory_scope;

use dormouse_expressions::{EvaluationError, Expressions, Language, Limits};
use memory_scope::{MemoryScope, run_within, value};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use serde_json::{Value, json};

/// JSON as workflows have it. Numbers are those that a double holds exactly.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1_i64 << 53)..(1 << 53)).prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON", |f| f.is_finite() && f.fract() != 0.0)
            .prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 64, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..6).prop_map(Value::Array),
            btree_map(
                "[a-z_]{0,6}|__proto__|constructor|toJSON|[0-9]",
                inner,
                0..6
            )
            .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Texts that look like scripts: words, marks and blanks of the language in any order.
fn scriptlike() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "1",
        "2.5",
        "'x'",
        "`y`",
        "`${a}`",
        "getA()",
        "return",
        "if",
        "else",
        "for",
        "of",
        "in",
        "const",
        "let",
        "function",
        "=>",
        "=",
        "==",
        "+",
        "++",
        "-",
        "*",
        "/",
        "/x/",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ";",
        ".",
        "?.",
        "?",
        ":",
        "!",
        "\n",
        " ",
        "await",
        "async",
        "throw",
        "try",
        "catch",
        "typeof",
        "// c\n",
        "/* d */",
        "variables.A",
        "class",
        "new",
        "this",
        "\\",
        "\u{1F600}",
        "\"",
        "'",
        "`",
        "${",
    ]);
    vec(piece, 0..16).prop_map(|pieces| pieces.join(" "))
}

fn templatelike() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{{",
        "}}",
        "{%",
        "%}",
        "{%-",
        "-%}",
        "Variables.A",
        "a",
        "b",
        "|",
        "upcase",
        "split:",
        "','",
        "if",
        "endif",
        "for",
        "in",
        "endfor",
        "else",
        "elsif",
        "case",
        "when",
        "endcase",
        "assign",
        "=",
        "==",
        "contains",
        "(1..3)",
        "1",
        "[",
        "]",
        ".",
        ",",
        ":",
        "raw",
        "endraw",
        "comment",
        "endcomment",
        "capture",
        "endcapture",
        "liquid",
        "\n",
        "text",
        "'",
        "empty",
    ]);
    vec(piece, 0..20).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_value_comes_back_as_it_went_in(before in json_value()) {
        let mut scope = MemoryScope::with(&[("Data", before.clone())]);
        prop_assert_eq!(value("const data = getData(); data", &mut scope), before.clone());
        prop_assert_eq!(value("getData()", &mut scope), before);
    }

    #[test]
    fn an_unchanged_variable_is_not_written_back(before in json_value()) {
        let mut scope = MemoryScope::with(&[("Data", before)]);
        let unchanged = scope.clone();
        value("variables.Data; 1", &mut scope);
        prop_assert_eq!(scope, unchanged);
    }

    #[test]
    fn the_same_script_over_the_same_scope_gives_the_same_bytes(data in json_value(), seed in any::<u64>()) {
        let source = "({ d: getData(), r: Math.random(), g: newGuid(), t: new Date(), k: Object.keys(getData() ?? {}) })";
        let run = || {
            let mut scope = MemoryScope { random_state: seed, ..MemoryScope::with(&[("Data", data.clone())]) };
            (value(source, &mut scope).to_string(), scope.random_state)
        };
        let elsewhere = std::thread::scope(|threads| threads.spawn(run).join().unwrap());
        prop_assert_eq!(run(), elsewhere);
    }

    #[test]
    fn json_in_a_script_is_json(data in json_value()) {
        let mut scope = MemoryScope::with(&[("Data", data.clone())]);
        let text = value("JSON.stringify(getData())", &mut scope);
        let back: Value = serde_json::from_str(text.as_str().unwrap()).unwrap();
        // Both through the same reader, which is not exact to the last bit.
        let expected: Value = serde_json::from_str(&data.to_string()).unwrap();
        prop_assert_eq!(back, expected);
    }

    #[test]
    fn any_text_is_a_program_or_a_syntax_error_and_never_more(source in prop_oneof![scriptlike(), any::<String>()]) {
        let limits = Limits { steps_max: 20, ..Limits::default() };
        let mut scope = MemoryScope::with(&[("A", json!({"b": 1}))]);
        let _ = run_within(limits, Language::JavaScript, &source, &mut scope);
    }

    #[test]
    fn the_value_is_what_eval_would_give(source in scriptlike()) {
        // The rewriting of the last expression must not change what a script means. A script without `return`
        // and `await` is also a program for `eval`, whose value is the measure.
        let expressions = Expressions::default();
        let is_plain = !["return", "await", "variables", "this"].iter().any(|word| source.contains(word));
        if is_plain && expressions.compile(Language::JavaScript, &source).is_ok() {
            let mut scope = MemoryScope::with(&[("A", json!(5))]);
            let direct = memory_scope::run(&source, &mut scope).map_err(kind);
            let text = serde_json::to_string(&source).unwrap();
            let evaluated = memory_scope::run(&format!("eval({text})"), &mut scope).map_err(kind);
            prop_assert_eq!(direct, evaluated);
        }
    }

    #[test]
    fn any_template_renders_or_is_refused_and_never_more(source in prop_oneof![templatelike(), any::<String>()]) {
        let mut scope = MemoryScope::with(&[("A", json!(["x", {"b": 1}]))]);
        let _ = run_within(Limits::default(), Language::Liquid, &source, &mut scope);
    }

    #[test]
    fn text_without_marks_renders_as_it_is(source in "[^{]*") {
        let mut scope = MemoryScope::default();
        let expected = if source.trim().is_empty() { Value::Null } else { json!(source) };
        prop_assert_eq!(run_within(Limits::default(), Language::Liquid, &source, &mut scope), Ok(expected));
    }
}

/// What kind of failure it is; its text names places, which differ.
fn kind(error: EvaluationError) -> String {
    error
        .to_string()
        .split(':')
        .next()
        .unwrap_or_default()
        .to_owned()
}
