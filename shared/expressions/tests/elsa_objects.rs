//! Values of the workflow as objects of .NET: what scripts may change in them, what they are as text, and what leaves a
//! script. All of it is as recordings of Elsa show it.

#![allow(clippy::unwrap_used, reason = "a test fails with a sentence")]

mod memory_scope;

use dormouse_expressions::{Expressions, Kind, Language};
use memory_scope::{MemoryScope, order, rendered, run, value};
use serde_json::{Value, json};

/// The value of a script, and what it is.
fn kind(source: &str) -> (Value, Kind) {
    let expressions = Expressions::default();
    let script = expressions.compile(Language::JavaScript, source).unwrap();
    let evaluated = expressions.evaluate_kind(&script, &mut MemoryScope::default());
    let evaluated = evaluated.unwrap();
    (evaluated.value, evaluated.kind)
}

#[test]
fn members_of_a_variable_change_in_place_and_its_lists_do_not() {
    let cases = [
        ("getOrder().customer.name = 'Eve'", json!("Eve"), 2),
        ("delete getOrder().customer.name", Value::Null, 2),
        (
            "getOrder().lines.push(1); getOrder().id += 1",
            json!("Ada"),
            2,
        ),
        ("getOrder().lines = []", json!("Ada"), 0),
        (
            "const o = getVariable('Order'); o.customer = { name: 'Bob' }",
            json!("Bob"),
            2,
        ),
        ("JSON.stringify(getOrder())", json!("Ada"), 2),
    ];
    for (source, name, lines) in cases {
        let mut scope = MemoryScope::with(&[("Order", order())]);
        value(source, &mut scope);
        let after = scope.get("Order");
        assert_eq!(after["customer"]["name"], name, "{source}");
        assert_eq!(after["lines"].as_array().unwrap().len(), lines, "{source}");
    }
}

#[test]
fn a_read_after_another_variable_is_set_gives_the_same_object() {
    let mut scope = MemoryScope::with(&[("Order", order()), ("Count", json!(1))]);
    let source = "const o = getOrder(); setCount(2); o === getOrder() && getCount() === 2";
    assert_eq!(value(source, &mut scope), json!(true));
}

#[test]
fn an_object_of_the_workflow_is_the_name_of_its_type_as_text() {
    let mut scope = MemoryScope::with(&[("Order", order())]);
    for source in [
        "String(getOrder())",
        "getOrder() + ''",
        "`${getOrder().customer}`",
    ] {
        assert_eq!(
            value(source, &mut scope),
            json!("System.Dynamic.ExpandoObject"),
            "{source}"
        );
    }
    assert_eq!(value("String({})", &mut scope), json!("[object Object]"));
}

#[test]
fn names_that_are_missing_have_no_type() {
    let mut scope = MemoryScope::with(&[("Order", order())]);
    for (source, expected) in [
        ("typeof getNope", "undefined"),
        ("typeof getOrder", "function"),
        ("typeof getConfig", "undefined"),
        ("typeof setNope", "undefined"),
    ] {
        assert_eq!(value(source, &mut scope), json!(expected), "{source}");
    }
    assert!(run("getConfig('Mail:From')", &mut scope).is_err());
    assert!(run("getOutputFrom('nothing')", &mut scope).is_err());
}

#[test]
fn what_json_cannot_say_is_told_besides() {
    let cases = [
        ("10n", json!("10"), Kind::BigInteger),
        ("() => 1", Value::Null, Kind::Function),
        ("({ a: 1, f() {} })", Value::Null, Kind::Opaque),
        ("-0", json!(-0.0), Kind::Double),
        ("new ArrayBuffer(3)", json!("AAAA"), Kind::Bytes),
        ("bytesFromString('abc')", json!("YWJj"), Kind::Bytes),
        ("[1, 2].map(async (n) => n)", json!([1, 2]), Kind::Plain),
    ];
    for (source, expected, of) in cases {
        assert_eq!(kind(source), (expected, of), "{source}");
    }
    let mut scope = MemoryScope::default();
    for source in ["toJson({ a: NaN })", "toJson(() => 1)"] {
        assert!(run(source, &mut scope).is_err(), "{source}");
    }
}

#[test]
fn dates_have_the_texts_of_their_locale() {
    let at = "new Date('2024-02-03T16:05:06Z')";
    let cases = [
        ("toLocaleString()", "2/3/2024, 4:05:06 PM"),
        ("toLocaleDateString('de-DE')", "3.2.2024"),
        (
            "toLocaleDateString('en-GB', { year: 'numeric', month: 'long', day: 'numeric' })",
            "3 February, 2024",
        ),
        (
            "toLocaleDateString('en-US', { dateStyle: 'full' })",
            "Saturday, February 3, 2024",
        ),
        (
            "toLocaleTimeString('en-US', { hour: '2-digit', minute: '2-digit' })",
            "04:05 PM",
        ),
        ("toLocaleTimeString('en-GB')", "16:05:06"),
        (
            "toLocaleString('en-US', { timeZone: 'America/New_York' })",
            "2/3/2024, 11:05:06 AM",
        ),
        (
            "toLocaleTimeString('en-US', { timeZone: '+05:30', hour12: false })",
            "21:35:06",
        ),
    ];
    let mut scope = MemoryScope::default();
    for (call, expected) in cases {
        assert_eq!(
            value(&format!("{at}.{call}"), &mut scope),
            json!(expected),
            "{call}"
        );
    }
    assert!(
        run(
            &format!("{at}.toLocaleString('en-US', {{ timeZone: 'Mars' }})"),
            &mut scope
        )
        .is_err()
    );
    let compact = "new Intl.NumberFormat('en-US', { notation: 'compact' }).format(1234567)";
    assert_eq!(value(compact, &mut scope), json!("1.2M"));
}

#[test]
fn liquid_prints_what_stands_before_a_comparison_and_numbers_as_decimals() {
    let mut scope = MemoryScope::default();
    for (source, expected) in [
        ("{{ 7 > 5 }}", "7"),
        ("{% if 7 > 5 %}y{% endif %}", "y"),
        ("{{ 1.5e3 }}", "1500"),
        ("{{ 5.0 | json }}", "5.0"),
        ("{{ 12345678901234567890 }}", "12345678901234567890"),
        ("{% if false %}{% render 'x' %}{% endif %}", ""),
    ] {
        assert_eq!(rendered(source, &mut scope), expected, "{source}");
    }
}
