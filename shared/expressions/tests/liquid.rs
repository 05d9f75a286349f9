//! Liquid over a workflow's values, as Elsa's expressions use it.

mod memory_scope;

use dormouse_expressions::{Language, Limits};
use memory_scope::{MemoryScope, order, rendered, run_within};
use serde_json::{Value, json};

fn scope() -> MemoryScope {
    let mut scope = MemoryScope::with(&[
        ("Order", order()),
        ("Name", json!("Ada")),
        ("List", json!([3, 1, 2])),
        ("Flag", json!(false)),
        ("Empty", json!([])),
        ("when", json!("2024-03-05T14:07:09Z")),
    ]);
    scope.inputs.insert("ProductId".to_owned(), json!(42));
    scope
        .configuration
        .insert("Mail:From".to_owned(), json!("a@b"));
    scope.correlation_id = Some("c-1".to_owned());
    scope
}

fn check(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(rendered(source, &mut scope()), *expected, "{source}");
    }
}

#[test]
fn templates_see_what_elsa_shows_them() {
    check(&[
        (
            "https://x/products/{{ Input.ProductId }}",
            "https://x/products/42",
        ),
        ("{{ Variables.Order.customer.name }}", "Ada"),
        ("{{ Variables['Order'].lines[1].sku }}", "b"),
        ("{{ Variables.Order.lines.size }}", "2"),
        ("{{ Variables.Order.lines.first.sku }}", "a"),
        (
            "{{ WorkflowInstanceId }} {{ WorkflowDefinitionId }}",
            "instance-1 definition-1",
        ),
        (
            "{{ WorkflowDefinitionVersionId }} {{ WorkflowDefinitionVersion }}",
            "version-1 3",
        ),
        ("{{ CorrelationId }}", "c-1"),
        ("{{ Configuration.Mail.From }}", "a@b"),
        ("no markup", "no markup"),
    ]);
}

#[test]
fn what_is_missing_renders_as_nothing() {
    check(&[
        ("[{{ Variables.Nosuch }}]", "[]"),
        ("[{{ Variables.Nosuch.a.b[3] }}]", "[]"),
        ("[{{ Variables.Order.nosuch.deeper }}]", "[]"),
        (
            "[{{ nosuch }}{{ Input.Nosuch }}{{ Configuration.No }}]",
            "[]",
        ),
        ("[{{ variables.Name }}]", "[]"),
        ("{% if Variables.Nosuch %}a{% else %}b{% endif %}", "b"),
        (
            "{% for x in Variables.Nosuch %}a{% else %}none{% endfor %}",
            "none",
        ),
        ("{{ Variables.Nosuch | upcase | default: 'd' }}", "d"),
    ]);
}

#[test]
fn a_blank_template_is_null() {
    for source in ["", "  \n"] {
        let value = run_within(Limits::default(), Language::Liquid, source, &mut scope());
        assert_eq!(value.unwrap(), Value::Null);
    }
}

#[test]
fn conditions_choose() {
    check(&[
        ("{% if Variables.Name == 'Ada' %}yes{% endif %}", "yes"),
        (
            "{% if Variables.Flag %}a{% elsif Variables.Name contains 'd' %}b{% else %}c{% endif %}",
            "b",
        ),
        ("{% unless Variables.Flag %}off{% endunless %}", "off"),
        (
            "{% if Variables.List[0] > 2 and Variables.List[1] <= 1 %}a{% endif %}",
            "a",
        ),
        ("{% if true or false and false %}a{% endif %}", "a"),
        (
            "{% if Variables.Empty == empty %}e{% endif %}{% if Variables.Nosuch == blank %}b{% endif %}",
            "eb",
        ),
        (
            "{% if Variables.Nosuch == nil %}n{% endif %}{% if 'a' != nil %}m{% endif %}",
            "nm",
        ),
        (
            "{% if '' %}texts are true{% endif %}{% if 0 %}, zero too{% endif %}",
            "texts are true, zero too",
        ),
        (
            "{% if Variables.Name startswith 'A' %}s{% endif %}{% if Variables.Name endswith 'a' %}e{% endif %}",
            "se",
        ),
        (
            "{% if 1 == 1.0 %}same{% endif %}{% if '1' == 1 %}never{% endif %}",
            "same",
        ),
        (
            "{% case Variables.Name %}{% when 'Bob' %}b{% when 'Eve', 'Ada' %}a{% else %}c{% endcase %}",
            "a",
        ),
        (
            "{% case 5 %}{% when 1 or 5 %}x{% endcase %}{% case 6 %}{% when 5 %}x{% else %}y{% endcase %}",
            "xy",
        ),
    ]);
}

#[test]
fn loops_repeat() {
    check(&[
        (
            "{% for x in Variables.List %}{{ x }},{% endfor %}",
            "3,1,2,",
        ),
        ("{% for i in (1..3) %}{{ i }}{% endfor %}", "123"),
        (
            "{% for i in (3..1) %}{{ i }}{% else %}none{% endfor %}",
            "none",
        ),
        (
            "{% for x in Variables.List limit: 1 offset: 1 %}{{ x }}{% endfor %}",
            "1",
        ),
        (
            "{% for x in Variables.List reversed %}{{ x }}{% endfor %}",
            "213",
        ),
        (
            "{% for x in Variables.List limit: 2 %}{{ x }}{% endfor %}-{% for x in Variables.List offset: continue %}{{ x }}{% endfor %}",
            "31-2",
        ),
        (
            "{% for x in Variables.List %}{% if x == 1 %}{% continue %}{% endif %}{{ x }}{% endfor %}",
            "32",
        ),
        (
            "{% for x in Variables.List %}{{ x }}{% break %}{% endfor %}",
            "3",
        ),
        (
            "{% for x in Variables.List %}{{ forloop.index }}/{{ forloop.length }}{% unless forloop.last %} {% endunless %}{% endfor %}",
            "1/3 2/3 3/3",
        ),
        (
            "{% for pair in Variables.Order.customer %}{{ pair[0] }}={{ pair[1] }};{% endfor %}",
            "name=Ada;email=ada@example.com;",
        ),
        (
            "{% for a in (1..2) %}{% for b in (1..2) %}{{ a }}{{ b }} {% endfor %}{% endfor %}",
            "11 12 21 22 ",
        ),
        (
            "{% for i in (1..4) %}{% cycle 'odd', 'even' %} {% endfor %}",
            "odd even odd even ",
        ),
        (
            "{% for i in (1..2) %}{% cycle g: 'a', 'b' %}{% cycle 'g': 'c', 'd' %}{% endfor %}",
            "adad",
        ),
    ]);
}

#[test]
fn names_are_assigned_captured_and_counted() {
    check(&[
        ("{% assign x = Variables.Name | upcase %}{{ x }}", "ADA"),
        (
            "{% assign x = 1 %}{% for i in (1..3) %}{% assign x = x | plus: i %}{% endfor %}{{ x }}",
            "7",
        ),
        (
            "{% for i in (1..2) %}{% assign y = i %}{% endfor %}{{ y }}[{{ i }}]",
            "2[]",
        ),
        (
            "{% capture c %}a{{ Variables.Name }}{% endcapture %}{{ c | size }}",
            "4",
        ),
        (
            "{% increment n %}{% increment n %}{% decrement m %}",
            "01-1",
        ),
        ("{% assign Variables = 'mine' %}{{ Variables }}", "mine"),
        (
            "{% liquid\n  assign a = 2\n  # a comment\n  for i in (1..a)\n    echo i\n  endfor\n%}",
            "12",
        ),
        (
            "{% echo 'a' | append: 'b' %}{% comment %}{{ x }}{% endcomment %}{% raw %}{{ y }}{% endraw %}",
            "ab{{ y }}",
        ),
    ]);
}

#[test]
fn filters_chain() {
    check(&[
        ("{{ Variables.List | sort | join: '-' }}", "1-2-3"),
        ("{{ Variables.Order.lines | map: 'price' | sum }}", "13.5"),
        (
            "{{ Variables.Order.lines | where: 'sku', 'b' | map: 'count' | first }}",
            "1",
        ),
        (
            "{{ Variables.Order.customer | json }}",
            "{\"name\":\"Ada\",\"email\":\"ada@example.com\"}",
        ),
        (
            "{{ Variables.Order.customer | keys | join: ' ' }}",
            "name email",
        ),
        ("{{ 'now' | date: '%Y-%m-%d' }}", "2023-11-14"),
        (
            "{{ Variables.when | time_zone: 'Europe/Berlin' | date: '%H:%M' }}",
            "15:07",
        ),
        (
            "{{ Variables.when | format_date: 'dd.MM.yyyy' }}",
            "05.03.2024",
        ),
        ("{{ 1234.5 | format_number: 'N2' }}", "1,234.50"),
        ("{{ false | default: 'x', allow_false: true }}", "false"),
        (
            "{{ 10 | divided_by: 4 }} {{ 10 | divided_by: 4.0 }}",
            "2 2.5",
        ),
        ("{{ Variables.Name | base64 | base64_decode }}", "Ada"),
        ("{{ '<b>' | escape }} {{ '<b>' }}", "&lt;b&gt; <b>"),
    ]);
}

#[test]
fn a_filter_that_cannot_work_says_why() {
    let error = run_within(
        Limits::default(),
        Language::Liquid,
        "{{ 1 | divided_by: 0 }}",
        &mut scope(),
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "a number cannot be divided by 0"
    );
}

#[test]
fn a_broken_template_renders_what_is_wrong_with_it() {
    let text = run_within(Limits::default(), Language::Liquid, "a\n{{ b", &mut scope());
    assert_eq!(
        text,
        Ok(json!("\n'}}' is missing at (2:1)\nSource:\n{{ b\n"))
    );
}
