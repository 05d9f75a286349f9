//! What scripts see of a workflow and may change there: Elsa's JavaScript functions over a scope.

mod memory_scope;

use memory_scope::{MemoryScope, order, run, value};
use serde_json::{Value, json};

#[test]
fn identity_functions_read_and_set_the_instance() {
    let mut scope = MemoryScope {
        correlation_id: Some("c-1".to_owned()),
        ..MemoryScope::default()
    };
    let source = "[getWorkflowDefinitionId(), getWorkflowDefinitionVersionId(), getWorkflowDefinitionVersion(),
        getWorkflowInstanceId(), getCorrelationId(), getWorkflowInstanceName()]";
    let expected = json!(["definition-1", "version-1", 3, "instance-1", "c-1", null]);
    assert_eq!(value(source, &mut scope), expected);
    value(
        "setCorrelationId(42); setWorkflowInstanceName('mine')",
        &mut scope,
    );
    assert_eq!(
        (scope.correlation_id.as_deref(), scope.name.as_deref()),
        (Some("42"), Some("mine"))
    );
    value("setCorrelationId(null)", &mut scope);
    assert_eq!(scope.correlation_id, None);
}

#[test]
fn three_ways_to_set_a_variable_all_persist() {
    for source in [
        "setCounter(42)",
        "variables.Counter = 42",
        "setVariable('Counter', 42)",
    ] {
        let mut scope = MemoryScope::with(&[("Counter", json!(1))]);
        value(source, &mut scope);
        assert_eq!(scope.get("Counter"), json!(42), "{source}");
    }
}

#[test]
fn a_variable_is_read_under_its_pascal_case_name() {
    let mut scope = MemoryScope::with(&[
        ("counter", json!(1)),
        ("Order", order()),
        ("my_var", json!(3)),
    ]);
    assert_eq!(value("getCounter() + 1", &mut scope), json!(2));
    assert_eq!(value("getOrder().lines[1].sku", &mut scope), json!("b"));
    assert_eq!(value("getVariable('my_var')", &mut scope), json!(3));
    assert!(run("getMyVar()", &mut scope).is_err());
    value("setCounter(getCounter() + 1)", &mut scope);
    assert_eq!(scope.get("counter"), json!(2));
}

#[test]
fn an_unknown_variable_is_made_by_setting_it() {
    let mut scope = MemoryScope::default();
    value(
        "setVariable('Fresh', { a: 1 }); variables.Other = 2",
        &mut scope,
    );
    assert_eq!(
        (scope.get("Fresh"), scope.get("Other")),
        (json!({"a": 1}), json!(2))
    );
    assert_eq!(value("getVariable('Nosuch')", &mut scope), Value::Null);
    let error = run("setNosuch(1)", &mut scope).unwrap_err();
    assert_eq!(
        error.to_string(),
        "ReferenceError: setNosuch is not defined"
    );
}

#[test]
fn the_variables_object_holds_what_the_text_names() {
    let mut scope = MemoryScope::with(&[("A", json!(1)), ("B", json!(2)), ("C", json!(3))]);
    assert_eq!(
        value(
            "Object.keys(variables).length + 0 * variables.A",
            &mut scope
        ),
        json!(1)
    );
    // As in Elsa, a name counts where it follows `variables.`, wherever that stands.
    for (source, expected) in [
        (
            "const { A, B } = variables; A + B // variables.A variables.B",
            json!(3),
        ),
        ("`${variables.C}`", json!("3")),
        ("variables['C']", Value::Null),
        ("variables . C", Value::Null),
        ("const all = variables; all.C", Value::Null),
    ] {
        assert_eq!(value(source, &mut scope), expected, "{source}");
    }
}

#[test]
fn the_write_back_leaves_inputs_alone_and_follows_what_is_set() {
    let mut scope = MemoryScope::with(&[("A", json!(1)), ("B", json!([1]))]);
    scope.inputs.insert("A".to_owned(), json!("input"));
    value(
        "variables.A = 5; setVariable('B', 6); variables.B = 7",
        &mut scope,
    );
    assert_eq!((scope.get("A"), scope.get("B")), (json!(1), json!(7)));
    assert_eq!(
        value("setVariable('B', 6); variables.B", &mut scope),
        json!(6)
    );
    assert_eq!(scope.get("B"), json!(6));
    value("variables.B = null", &mut scope);
    assert_eq!(scope.get("B"), json!(6));
    value("variables.B = [1]; variables.B.push(2)", &mut scope);
    assert_eq!(scope.get("B"), json!([1, 2]));
}

#[test]
fn sorting_a_copy_never_changes_the_original() {
    let mut scope = MemoryScope::with(&[("List", json!([3, 1, 2]))]);
    assert_eq!(value("[...getList()].sort()", &mut scope), json!([1, 2, 3]));
    assert_eq!(value("getList().sort()", &mut scope), json!([1, 2, 3]));
    assert_eq!(scope.get("List"), json!([3, 1, 2]));
}

#[test]
fn one_evaluation_sees_one_object_for_one_variable() {
    let mut scope = MemoryScope::with(&[("Order", order())]);
    assert_eq!(value("getOrder() === getOrder()", &mut scope), json!(true));
    assert_eq!(
        value("getOrder().id = 8; getOrder().id", &mut scope),
        json!(8)
    );
    assert_eq!(
        value("getOrder(); setOrder({ id: 9 }); getOrder().id", &mut scope),
        json!(9)
    );
    assert_eq!(scope.get("Order"), json!({"id": 9}));
}

#[test]
fn inputs_are_read_by_their_exact_and_their_pascal_case_name() {
    let mut scope = MemoryScope::with(&[("Employee", json!("variable"))]);
    scope.inputs.insert("customerId".to_owned(), json!(5));
    scope
        .inputs
        .insert("Employee".to_owned(), json!({"name": "Ada"}));
    let cases = [
        ("getInput('customerId')", json!(5)),
        ("getcustomerId()", json!(5)),
        ("getCustomerId()", json!(5)),
        ("getEmployee().name", json!("Ada")),
        ("getInput('nosuch')", Value::Null),
    ];
    for (source, expected) in cases {
        assert_eq!(value(source, &mut scope), expected, "{source}");
    }
}

#[test]
fn outputs_are_read_by_activity_and_output() {
    let outputs = [
        ("GetUsers1", "ParsedContent", json!([1])),
        ("step 1", "Result", json!("r")),
    ];
    let outputs = outputs.map(|(a, o, value)| (a.to_owned(), o.to_owned(), value));
    let mut scope = MemoryScope {
        outputs: outputs.into(),
        last_result: Some(json!({"a": 1})),
        ..MemoryScope::default()
    };
    let cases = [
        ("getParsedContentFromGetUsers1()", json!([1])),
        ("getResultFromStep1()", json!("r")),
        ("getOutputFrom('GetUsers1', 'ParsedContent')[0]", json!(1)),
        ("getOutputFrom('step 1')", json!("r")),
        ("getOutputFrom('nosuch')", Value::Null),
        ("getLastResult().a", json!(1)),
    ];
    for (source, expected) in cases {
        assert_eq!(value(source, &mut scope), expected, "{source}");
    }
}

#[test]
fn arguments_configuration_outcomes_and_secrets_come_from_the_scope() {
    let mut scope = MemoryScope {
        arguments: vec![("item".to_owned(), json!({"id": 3}))],
        ..MemoryScope::default()
    };
    scope
        .configuration
        .insert("Mail:From".to_owned(), json!("a@b"));
    scope.secrets.insert("key".to_owned(), json!("s3cret"));
    let cases = [
        ("args.item.id", json!(3)),
        ("getItem().id", json!(3)),
        ("getConfig('Mail:From')", json!("a@b")),
        ("getConfig('nosuch')", Value::Null),
        ("getSecret('key')", json!("s3cret")),
        ("(await getSecret('key')).length", json!(6)),
    ];
    for (source, expected) in cases {
        assert_eq!(value(source, &mut scope), expected, "{source}");
    }
    value("setOutcome('Done')", &mut scope);
    assert_eq!(scope.outcomes, ["Done"]);
    value("setOutcomes(['A', 'B'])", &mut scope);
    assert_eq!(scope.outcomes, ["A", "B"]);
}

#[test]
fn what_a_host_lacks_says_so() {
    let mut scope = MemoryScope::default();
    let error = run("getSecret('key')", &mut scope).unwrap_err().to_string();
    assert_eq!(
        error,
        "Error: there is no secret 'key' that this workflow may read"
    );
    let error = run("createEventTriggerUrl('Paid')", &mut scope)
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "Error: createEventTriggerUrl: this host has no public address"
    );
}

#[test]
fn event_links_take_a_lifetime_or_a_moment() {
    let mut scope = MemoryScope {
        event_address: Some("https://h".to_owned()),
        ..MemoryScope::default()
    };
    let cases = [
        ("createEventTriggerUrl('Paid')", "https://h/Paid?until=0"),
        (
            "createEventTriggerUrl('Paid', TimeSpan.FromMinutes(1))",
            "https://h/Paid?until=1700000060123",
        ),
        (
            "createEventTriggerUrl('Paid', new Date(5))",
            "https://h/Paid?until=5",
        ),
        (
            "createEventTriggerUrl('Paid', DateTimeOffset.FromUnixTimeSeconds(2))",
            "https://h/Paid?until=2000",
        ),
    ];
    for (source, expected) in cases {
        assert_eq!(value(source, &mut scope), json!(expected), "{source}");
    }
}

#[test]
fn texts_ids_and_bytes_are_as_in_elsa() {
    let cases = [
        (
            "[isNullOrWhiteSpace(' '), isNullOrWhiteSpace('a'), isNullOrEmpty(''), isNullOrEmpty(null)]",
            json!([true, false, true, true]),
        ),
        ("toJson({ a: [1] })", json!("{\"a\":[1]}")),
        (
            "bytesToString(bytesFromBase64(stringToBase64('héllo')))",
            json!("héllo"),
        ),
        ("bytesFromString('abc')", json!("YWJj")),
        ("bytesToBase64([97, 98, 99])", json!("YWJj")),
        ("stringFromBase64('YWJj')", json!("abc")),
        (
            "bytesToString(streamToBytes('YWJj')) + streamToBase64('YWJj')",
            json!("abcYWJj"),
        ),
        (
            "parseGuid('{AAAAAAAA-BBBB-CCCC-DDDD-EEEEEEEEEEEE}')",
            json!("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"),
        ),
        (
            "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(newGuid())",
            json!(true),
        ),
        (
            "typeof newGuidString() + (newShortGuid().length >= 19)",
            json!("stringtrue"),
        ),
        ("newGuid() + '' === newGuid() + ''", json!(false)),
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
fn the_types_of_dotnet_that_scripts_use_are_there() {
    let cases = [
        ("DateTime.UtcNow", json!("2023-11-14T22:13:20.123Z")),
        ("DateTime.Today", json!("2023-11-14T00:00:00Z")),
        ("new DateTime(2024, 2, 29).getUTCMonth()", json!(1)),
        ("DateTime.UtcNow.Year > 2000", json!(false)),
        ("(DateTime.UtcNow - DateTime.Today) > 1000", json!(true)),
        ("DateTime.MinValue", json!("0001-01-01T00:00:00")),
        (
            "new DateTimeOffset(2024, 3, 10, 2, 30, 0, TimeSpan.FromHours(2))",
            json!("2024-03-10T00:30:00Z"),
        ),
        (
            "DateTimeOffset.Parse('2024-03-10T02:30:00-05:00')",
            json!("2024-03-10T07:30:00Z"),
        ),
        ("TimeSpan.FromMinutes(90)", json!("01:30:00")),
        (
            "TimeSpan.Parse('1.02:03:04.5').TotalSeconds",
            json!(93784.5),
        ),
        (
            "new TimeSpan(1, 2, 3).Add(TimeSpan.FromDays(-2))",
            json!("-1.22:57:57"),
        ),
        ("Guid.Empty", json!("00000000-0000-0000-0000-000000000000")),
        (
            "const n = new Random().Next(5, 7); n === 5 || n === 6",
            json!(true),
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
fn chance_is_the_instances_own_sequence() {
    let source = "[Math.random(), newGuid(), new Random().Next(1000)]";
    let first = value(source, &mut MemoryScope::default());
    assert_eq!(value(source, &mut MemoryScope::default()), first);
    let mut other = MemoryScope {
        random_state: 8,
        ..MemoryScope::default()
    };
    assert_ne!(value(source, &mut other), first);
}
