//! C# scripts give what the real compiler gives.

mod memory_scope;

use dormouse_expressions::{EvaluationError, Expressions, Language};
use memory_scope::MemoryScope;
use serde_json::{Value, json};

fn run(source: &str) -> Result<Value, EvaluationError> {
    let expressions = Expressions::default();
    let mut scope = MemoryScope::with(&[
        ("N", json!(7)),
        ("S", json!("Hello")),
        ("L", json!([3, 1, 2])),
    ]);
    let script = expressions.compile(Language::CSharp, source)?;
    expressions.evaluate(&script, &mut scope)
}

fn check(cases: &[(&str, Value)]) {
    for (source, expected) in cases {
        assert_eq!(run(source).as_ref(), Ok(expected), "{source}");
    }
}

#[test]
fn numbers_are_those_of_csharp() {
    check(&[
        ("return 7 / 2;", json!(3)),
        ("return 7 / 2.0;", json!(3.5)),
        (
            "int x = int.MaxValue; return x + 1;",
            json!(-2_147_483_648_i64),
        ),
        ("return 0.1m + 0.2m;", json!(0.3)),
        ("return 5.50m.ToString();", json!("5.50")),
        ("return Math.Round(2.5);", json!(2.0)),
        ("return Convert.ToInt32(3.5);", json!(4)),
        ("return 1 << 4;", json!(16)),
        ("return (int)2.9;", json!(2)),
        ("return 1.0E-5.ToString();", json!("1E-05")),
        ("return int.TryParse(\"42\", out var n) ? n : 0;", json!(42)),
    ]);
}

#[test]
fn texts_are_those_of_csharp() {
    check(&[
        ("return $\"Hello {Variables.S}!\";", json!("Hello Hello!")),
        ("return $\"{Variables.S,-8}|\";", json!("Hello   |")),
        ("return $\"{1234567.891:N2}\";", json!("1,234,567.89")),
        ("return \"Hello\"[^1];", json!("o")),
        ("return \"Hello\"[1..3];", json!("el")),
        ("return @\"C:\\temp\";", json!("C:\\temp")),
        (
            "return $\"\"\"{Variables.S} and \"quotes\" \"\"\";",
            json!("Hello and \"quotes\" "),
        ),
        (
            "return \"a, b,,c\".Split(new[] { ',', ' ' }, StringSplitOptions.RemoveEmptyEntries).Length;",
            json!(3),
        ),
        (
            "return string.Join(\", \", new List<int> { 1, 2, 3 });",
            json!("1, 2, 3"),
        ),
        (
            "return new DateTime(2024, 2, 3).AddDays(30).ToString(\"yyyy-MM-dd\");",
            json!("2024-03-04"),
        ),
    ]);
}

#[test]
fn statements_run() {
    check(&[
        (
            "var total = 0; foreach (var x in (object[])Variables.L) total += Convert.ToInt32(x); return total;",
            json!(6),
        ),
        (
            "var i = 0; do { i++; if (i == 3) break; } while (true); return i;",
            json!(3),
        ),
        (
            "switch (Variables.S) { case \"Hello\": case \"Hi\": return 1; } return 0;",
            json!(1),
        ),
        (
            "return Variables.S switch { \"Hello\" => 1, _ => 0 };",
            json!(1),
        ),
        ("return Variables.N is > 5 and < 10;", json!(true)),
        ("object o = 5; return o is int i ? i + 1 : 0;", json!(6)),
        (
            "try { int.Parse(\"x\"); return 1; } catch (FormatException) { return -1; } finally { }",
            json!(-1),
        ),
        (
            "string Greet(string name) => $\"Hello {name}!\"; return Greet(Variables.S);",
            json!("Hello Hello!"),
        ),
        ("var (a, b) = (1, 2); return a + b;", json!(3)),
        ("var x = 5; x", json!(5)),
    ]);
}

#[test]
fn lists_are_queried() {
    check(&[
        (
            "return Enumerable.Range(1, 5).Where(x => x % 2 == 0).Select(x => x * x).ToArray();",
            json!([4, 16]),
        ),
        (
            "return new[] { new { N = \"a\", V = 1 }, new { N = \"a\", V = 2 } }.GroupBy(x => x.N).Select(g => new { g.Key, Total = g.Sum(x => x.V) }).ToList();",
            json!([{ "Key": "a", "Total": 3 }]),
        ),
        (
            "return new[] { \"a\", \"b\" }.ToDictionary(x => x, x => x.Length);",
            json!({ "a": 1, "b": 1 }),
        ),
        (
            "return new[] { 1, 2, 3 }.Aggregate((a, b) => a * b);",
            json!(6),
        ),
        (
            "int[] a = [1, 2, .. new[] { 3 }]; return a;",
            json!([1, 2, 3]),
        ),
        (
            "return JsonNode.Parse(\"{\\\"a\\\":[1,2]}\")[\"a\"][1].GetValue<int>();",
            json!(2),
        ),
    ]);
}

#[test]
fn what_fails_says_why() {
    for source in [
        "return \"a\" * 2;",
        "return int.Parse(\"abc\");",
        "throw new Exception(\"boom\");",
        "string s = null; return s.Length;",
    ] {
        assert!(
            matches!(run(source), Err(EvaluationError::Thrown { .. })),
            "{source}"
        );
    }
    for source in ["5;", "return 1", "retrun 1;", "unsafe { } return 1;"] {
        assert!(
            matches!(
                run(source),
                Err(EvaluationError::Syntax { line: Some(1), .. })
            ),
            "{source}"
        );
    }
}

#[test]
fn a_loop_without_end_is_stopped() {
    let endless = run("var s = \"\"; while (true) { s += \"xxxxxxxx\"; }");
    assert!(matches!(endless, Err(EvaluationError::Limit { .. })));
    assert!(matches!(
        run("int f(int n) => f(n + 1); return f(0);"),
        Err(EvaluationError::Limit { .. })
    ));
}
