//! What Lambda does to a process: it starts it, freezes and thaws it, and ends it.

use anyhow::Result;
use dormouse_tests::lambda::Lambda;

use super::stage::{Stage, binary, event, sequence, write};

#[test]
fn a_function_that_cannot_begin_says_what_to_set() {
    for (variables, lacks) in [
        (&[][..], "DORMOUSE_TABLE"),
        (&[("DORMOUSE_TABLE", "t")][..], "DORMOUSE_RESUME_QUEUE_URL"),
        (
            &[("DORMOUSE_TABLE", "t"), ("DORMOUSE_ARCHIVE", "perhaps")][..],
            "DORMOUSE_ARCHIVE",
        ),
    ] {
        for name in ["api", "resume", "timer", "invalidation"] {
            let function = Lambda::start(&binary(name), variables);
            let error = function.init_error();
            let said = error["errorMessage"].as_str().unwrap_or_default();
            assert!(said.contains(lacks), "{name}: {error}");
            assert!(!function.ended().success(), "{name}");
            assert!(function.log().contains(lacks), "{}", function.log());
        }
    }
}

#[test]
fn an_api_that_is_not_told_who_may_call_does_not_begin() {
    let named = [
        ("DORMOUSE_TABLE", "t"),
        ("DORMOUSE_RESUME_QUEUE_URL", "http://127.0.0.1:9/r"),
        ("DORMOUSE_TIMER_QUEUE_URL", "http://127.0.0.1:9/t"),
        ("DORMOUSE_TIMER_QUEUE_ARN", "arn:aws:sqs:us-east-1:1:t"),
        ("DORMOUSE_SCHEDULE_GROUP", "g"),
        ("DORMOUSE_SCHEDULE_ROLE_ARN", "arn:aws:iam::1:role/r"),
    ];
    for (setting, lacks) in [
        ("", "DORMOUSE_AUTHENTICATION is not set"),
        ("everybody", "none, or some of apiKeys, users and jwt"),
        ("jwt", "`jwt` needs an issuer"),
    ] {
        let variables = [&named[..], &[("DORMOUSE_AUTHENTICATION", setting)]].concat();
        let function = Lambda::start(&binary("api"), &variables);
        let error = function.init_error();
        let said = error["errorMessage"].as_str().unwrap_or_default();
        assert!(said.contains(lacks), "{setting}: {error}");
        assert!(!function.ended().success(), "{setting}");
    }
}

#[tokio::test]
async fn a_process_goes_on_after_it_was_frozen() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    stage.publish(&sequence("flow", &[write("hello"), event("Go")]));
    let api = stage.function("api");
    for _ in 0..3 {
        api.freeze();
        let event = super::stage::request("GET", "/health/ready");
        let id = api.begin(&event.to_string(), 60_000);
        api.thaw();
        let answer = super::stage::answered(api.answer(id).unwrap());
        assert_eq!(answer.status, 200, "{:#}", answer.body);
        assert_eq!(stage.sub_status(&stage.start("flow")), "Suspended");
    }
    Ok(())
}

#[tokio::test]
async fn a_process_ends_when_it_is_told_to() -> Result<()> {
    let Some(stage) = Stage::set().await? else {
        return Ok(());
    };
    for name in ["api", "resume", "timer", "invalidation"] {
        let function = stage.function(name);
        let _ready = function.ready_after();
        assert!(function.terminate().success(), "{name}: {}", function.log());
    }
    Ok(())
}
