//! The functions: their events, their time.

use dormouse_tests::template::Template;
use serde_json::{Value, json};

#[test]
fn each_is_a_program_of_its_own() {
    let template = Template::read();
    let globals = template.globals();
    assert_eq!(globals["Runtime"], "provided.al2023");
    assert_eq!(globals["Architectures"], json!([{ "Ref": "Architecture" }]));
    let architectures = &template.section("Parameters")["Architecture"]["AllowedValues"];
    assert_eq!(*architectures, json!(["arm64", "x86_64"]));
}

#[test]
fn the_api_answers_before_its_gateway_gives_up() {
    let template = Template::read();
    // The page "Quotas for configuring and running an HTTP API": 30 seconds, and no more.
    assert_eq!(template.properties("ApiFunction")["Timeout"], 29);
}

#[test]
fn what_goes_on_by_message_is_not_taken_for_a_loop() {
    let template = Template::read();
    for name in ["ResumeFunction", "TimerFunction"] {
        assert_eq!(
            template.properties(name)["RecursiveLoop"],
            "Allow",
            "{name}"
        );
    }
    for name in ["ApiFunction", "InvalidationFunction"] {
        assert_eq!(
            template.properties(name)["RecursiveLoop"],
            Value::Null,
            "{name}"
        );
    }
}

#[test]
fn the_sweep_comes_every_minute() {
    let template = Template::read();
    let sweep = template.properties("Sweep");
    assert_eq!(sweep["ScheduleExpression"], "rate(1 minute)");
    assert_eq!(
        sweep["Target"]["Arn"],
        json!({ "Fn::GetAtt": "TimerFunction.Arn" })
    );
    assert_eq!(sweep["Target"]["Input"], r#"{"source":"dormouse.sweep"}"#);
}
