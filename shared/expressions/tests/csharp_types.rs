//! C# scripts that declare types, query lists and use .NET's classes.

mod memory_scope;

use dormouse_expressions::{EvaluationError, Expressions, Language};
use memory_scope::MemoryScope;
use serde_json::{Value, json};

fn run(source: &str) -> Result<Value, EvaluationError> {
    let expressions = Expressions::default();
    let mut scope = MemoryScope::with(&[("N", json!(7)), ("S", json!("Hello"))]);
    let script = expressions.compile(Language::CSharp, source)?;
    expressions.evaluate(&script, &mut scope)
}

fn check(cases: &[(&str, Value)]) {
    for (source, expected) in cases {
        assert_eq!(run(source).as_ref(), Ok(expected), "{source}");
    }
}

#[test]
fn declared_types_have_members_constructors_and_values() {
    check(&[
        (
            "class P { public int X { get; set; } = 5; public string Hi() => $\"hi {X}\"; } return new P().Hi();",
            json!("hi 5"),
        ),
        (
            "class P { private int _x; public P(int x) { _x = x; } public int Twice => _x * 2; } return new P(4);",
            json!({ "Twice": 8 }),
        ),
        (
            "record R(string Name, int Age); return (new R(\"x\", 5) with { Age = 6 }).ToString();",
            json!("R { Name = x, Age = 6 }"),
        ),
        (
            "record R(string A, int B); return new R(\"x\", 5) == new R(\"x\", 5);",
            json!(true),
        ),
        (
            "struct S { public int X; } return new S { X = 1 };",
            json!({}),
        ),
        (
            "enum E { A, B = 5, C } return new[] { E.C.ToString(), ((E)5).ToString() };",
            json!(["C", "B"]),
        ),
        (
            "abstract class A { public abstract int F(); public int G() => F() + 1; } \
             class B : A { public override int F() => 1; } return new B().G();",
            json!(2),
        ),
        (
            "static class U { public static int F(int x) => x + 1; } return U.F(2);",
            json!(3),
        ),
    ]);
}

#[test]
fn lists_are_queried() {
    check(&[
        (
            "return new[] { \"bb\", \"a\", \"cc\" }.OrderBy(x => x.Length).ThenByDescending(x => x).ToList();",
            json!(["a", "cc", "bb"]),
        ),
        (
            "return (from x in new[] { 1, 2, 3 } where x > 1 orderby x descending select x * 2).ToList();",
            json!([6, 4]),
        ),
        (
            "return (from x in new[] { \"a\", \"b\", \"a\" } group x by x into g select new { g.Key, N = g.Count() }).First();",
            json!({ "Key": "a", "N": 2 }),
        ),
        (
            "return new[] { 1, 2 }.Join(new[] { 2, 3 }, a => a, b => b, (a, b) => a + b).ToList();",
            json!([4]),
        ),
        (
            "var l = new List<int> { 1, 2, 3 }; l.RemoveAll(x => x > 1); return l;",
            json!([1]),
        ),
        (
            "var s = new Stack<int>(); s.Push(1); s.Push(2); return s.Pop();",
            json!(2),
        ),
        ("return new HashSet<int> { 1, 1, 2 };", json!([1, 2])),
        ("return new[] { 1, 2, 3 } is [1, .., 3];", json!(true)),
        (
            "IEnumerable<int> G() { yield return 1; yield return 2; } return G().Sum();",
            json!(3),
        ),
    ]);
}

#[test]
fn what_is_not_imported_is_unknown() {
    check(&[
        (
            "var b = new System.Text.StringBuilder(); b.Append(1).AppendLine(\"x\"); return b.ToString();",
            json!("1x\n"),
        ),
        (
            "using System.Text.RegularExpressions; return Regex.Replace(\"a1b2\", @\"\\d\", m => (int.Parse(m.Value) * 2).ToString());",
            json!("a2b4"),
        ),
        (
            "using System.Threading.Tasks; return await Task.FromResult(5);",
            json!(5),
        ),
    ]);
    for unknown in [
        "return new StringBuilder();",
        "return Regex.IsMatch(\"a\", \"a\");",
        "return await Task.FromResult(5);",
        "using Nope.Space; return 1;",
    ] {
        assert!(run(unknown).is_err(), "{unknown}");
    }
}

#[test]
fn the_compiler_refuses_what_does_not_fit() {
    for refused in [
        "int i = \"x\"; return i;",
        "int i = 2.5; return i;",
        "string s = 5; return s;",
        "return int.MaxValue + 1;",
        "return (byte)300;",
        "return new[] { 1 }.Count;",
        "return new List<int>().Length;",
        "return 1m + 1.0;",
        "try { return Nope; } catch { return 1; }",
    ] {
        assert!(run(refused).is_err(), "{refused}");
    }
    check(&[
        (
            "return unchecked(int.MaxValue + 1);",
            json!(-2_147_483_648_i64),
        ),
        ("int v = 300; return (byte)v;", json!(44)),
    ]);
}

#[test]
fn values_of_net_are_written_as_its_serializer_does() {
    check(&[
        ("return new byte[] { 1, 2 };", json!("AQI=")),
        ("return 0.1f + 0.2f;", json!(0.3)),
        ("return DayOfWeek.Monday;", json!(1)),
        ("return new DateOnly(2024, 2, 3);", json!("2024-02-03")),
        ("return new TimeOnly(4, 5);", json!("04:05:00")),
        (
            "return new Uri(\"http://x.y:8080/a?b=1\").Port;",
            json!(8080),
        ),
        ("return new Random(42).Next(1000);", json!(668)),
        (
            "return JsonSerializer.Deserialize<JsonElement>(\"{\\\"a\\\":[1,2]}\").GetProperty(\"a\").GetArrayLength();",
            json!(2),
        ),
        (
            "return DateTime.ParseExact(\"03/02/2024\", \"dd/MM/yyyy\", null);",
            json!("2024-02-03T00:00:00"),
        ),
        (
            "return TimeSpan.FromMinutes(90).ToString(@\"hh\\:mm\");",
            json!("01:30"),
        ),
    ]);
}
