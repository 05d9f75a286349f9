//! `Elsa.SendHttpRequest`: sends an HTTP request and runs the activity for the status that comes back.

use super::http_call::{Reply, inputs, send, send_again, settle};
use super::{Activity, ActivityKind, BuiltIn, Descriptor};
use crate::call::Answer;
use crate::definition::fields::Fields;
use crate::graph::{Builder, NodeIndex};
use crate::instance::Bookmark;
use crate::resilience::Resilience;
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct SendHttpRequest {
    expected: Vec<(i64, Option<NodeIndex>)>,
    unmatched: Option<NodeIndex>,
    failed_to_connect: Option<NodeIndex>,
    timed_out: Option<NodeIndex>,
    resilience: Resilience,
}

pub(crate) fn built_in() -> BuiltIn {
    let descriptor = Descriptor::new("Elsa.SendHttpRequest", "HTTP", "Sends an HTTP request.")
        .titled("HTTP Request")
        .kind(ActivityKind::Task);
    BuiltIn {
        descriptor: inputs(descriptor, "content", "contentType")
            .plain(
                "expectedStatusCodes",
                "HttpStatusCodeCase[]",
                "Status codes with an activity of their own.",
            )
            .port("unmatchedStatusCode")
            .port("failedToConnect")
            .port("timeout")
            .output("statusCode", "Int32", "Status code.")
            .output("parsedContent", "Object", "Body of the response, parsed.")
            .output(
                "responseHeaders",
                "ObjectDictionary",
                "Headers of the response.",
            )
            .output("result", "Object", "Response, without its body.")
            .opaque(),
        build: |builder, fields| {
            Box::new(SendHttpRequest {
                expected: expected(builder, fields),
                unmatched: builder.child(fields, "unmatchedStatusCode"),
                failed_to_connect: builder.child(fields, "failedToConnect"),
                timed_out: builder.child(fields, "timeout"),
                resilience: Resilience::read(builder, fields),
            })
        },
    }
}

fn expected(builder: &mut Builder<'_>, fields: Fields<'_>) -> Vec<(i64, Option<NodeIndex>)> {
    let mut cases = Vec::new();
    for (place, json) in fields.list("expectedStatusCodes").into_iter().enumerate() {
        let case = Fields::of(json);
        let depth = builder.enter(&format!("expectedStatusCodes[{place}]"));
        let activity = builder.child(case, "activity");
        cases.extend(case.integer("statusCode").map(|code| (code, activity)));
        builder.leave(depth);
    }
    cases
}

impl Activity for SendHttpRequest {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        send(cx, "content", "contentType")
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, _bookmark: &Bookmark) -> Result<Then, Fault> {
        Ok(send_again(cx))
    }

    fn answered(
        &self,
        cx: &mut Cx<'_, '_>,
        bookmark: &Bookmark,
        answer: Answer,
    ) -> Result<Then, Fault> {
        let next = match settle(cx, bookmark, answer, &self.resilience)? {
            Reply::Retrying => return Ok(Then::Wait),
            Reply::FailedToConnect => self.failed_to_connect,
            Reply::TimedOut => self.timed_out,
            Reply::Response(response) => {
                response.give(cx);
                let status = i64::from(response.status);
                let case = self.expected.iter().find(|(code, _)| *code == status);
                case.and_then(|(_, activity)| *activity).or(self.unmatched)
            }
        };
        Ok(match next {
            Some(activity) => {
                cx.schedule(activity);
                Then::Wait
            }
            None => Then::DONE,
        })
    }

    fn makes_calls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, bound, line, literal, script, write};
    use crate::call::{Answer, HttpRequest, Request};
    use crate::effect::Effect;
    use crate::instance::SubStatus;
    use crate::journal::Event;

    fn send(more: Value) -> Scenario {
        let mut send = json!({
            "id": "s", "type": "Elsa.SendHttpRequest", "url": literal("https://shop.example/orders?x=1"),
            "method": literal("post"), "content": script("({ no: 17 })"), "authorization": literal("Bearer secret"),
            "requestHeaders": literal(json!({ "x-one": "1" })), "parsedContent": bound("Got"),
            "expectedStatusCodes": [{ "statusCode": 201, "activity": line("created") }],
            "unmatchedStatusCode": line("unmatched"), "failedToConnect": line("nobody there"), "timeout": line("too slow"),
        });
        send.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        Scenario::sequence(json!({ "Got": null }), json!([send, write("Got")])).start()
    }

    fn requested(scenario: &Scenario) -> HttpRequest {
        match &scenario.calls[0].request {
            Request::Http(request) => request.clone(),
            Request::ExecuteWorkflow(_) | Request::FindWorkflow { .. } => {
                panic!("it sends a request")
            }
        }
    }

    fn answer(status: u16, body: &str) -> Answer {
        let headers = BTreeMap::from([(
            "content-type".to_owned(),
            vec!["application/json; charset=utf-8".to_owned()],
        )]);
        Answer::Http {
            status,
            headers,
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn the_request_says_all_and_the_journal_keeps_the_secret() {
        let scenario = send(
            json!({ "authorization": crate::activity::scenario::script("'Bearer ' + 'secret'") }),
        );
        let request = requested(&scenario);
        assert_eq!(
            (request.method.as_str(), request.url.as_str()),
            ("POST", "https://shop.example/orders?x=1")
        );
        let headers = [
            ("x-one", "1"),
            ("authorization", "Bearer secret"),
            ("content-type", "application/json"),
        ];
        assert_eq!(
            request.headers,
            headers.map(|(n, v)| (n.to_owned(), v.to_owned()))
        );
        assert_eq!(request.body.as_deref(), Some(&b"{\"no\":17}"[..]));
        assert!(request.idempotency_key.starts_with("i1/"));
        assert!(!format!("{:?}", scenario.journal).contains("secret"));
    }

    #[test]
    fn the_activity_of_the_status_runs() {
        for (status, said) in [(201, "created"), (404, "unmatched")] {
            let mut scenario = send(json!({}));
            scenario.answer(answer(status, "{\"id\":1}"));
            assert_eq!(scenario.lines, [said, "{\"id\":1}"]);
        }
    }

    #[test]
    fn what_has_no_activity_just_ends() {
        let mut scenario = send(json!({ "unmatchedStatusCode": null, "failedToConnect": null }));
        scenario.answer(answer(500, "not json"));
        assert_eq!(scenario.lines, ["not json"]);
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn failures_have_activities_too_and_a_forbidden_address_is_an_incident() {
        let mut scenario = send(json!({}));
        scenario.answer(Answer::TimedOut);
        assert_eq!(scenario.lines[0], "too slow");
        let mut scenario = send(json!({}));
        scenario.answer(Answer::FailedToConnect {
            message: "refused".into(),
        });
        assert_eq!(scenario.lines[0], "nobody there");
        let mut scenario = send(json!({}));
        scenario.answer(Answer::Refused {
            message: "that address is not allowed".into(),
        });
        assert_eq!(scenario.incidents(), ["that address is not allowed"]);
        assert_eq!(
            send(json!({ "url": literal(" ") })).sub_status(),
            SubStatus::Faulted
        );
    }

    #[test]
    fn a_call_that_fails_is_made_again_after_a_timer_under_the_same_key() {
        let strategy = json!({ "mode": "Expression", "expression": { "type": "Object",
            "value": "{\"maxRetryAttempts\": 2, \"delay\": \"00:00:10\", \"backoffType\": \"Linear\", \"useJitter\": false}" } });
        let mut scenario = send(json!({ "customProperties": { "resilienceStrategy": strategy } }));
        let first = requested(&scenario);
        for pause in ["00:00:10", "00:00:20"] {
            scenario.answer(answer(503, ""));
            assert_eq!(scenario.sub_status(), SubStatus::Suspended);
            let tried = scenario.journaled("s", Event::Retrying);
            assert_eq!(tried.last().unwrap()["retryDelay"], json!(pause));
            scenario.let_time_pass();
            assert_eq!(requested(&scenario), first);
        }
        scenario.answer(answer(503, ""));
        assert_eq!(scenario.lines[0], "unmatched");
        assert_eq!(scenario.journaled("s", Event::Retrying).len(), 2);
    }

    #[test]
    fn in_the_background_each_attempt_is_an_effect() {
        let custom = json!({ "runAsynchronously": true, "resilienceStrategy": { "mode": "Identifier", "strategyId": "any" } });
        let mut scenario = send(json!({ "customProperties": custom }));
        let background = |s: &Scenario| {
            s.effects
                .iter()
                .filter(|e| matches!(e, Effect::CallInBackground { .. }))
                .count()
        };
        assert_eq!((scenario.calls.len(), background(&scenario)), (0, 1));
        let bookmark = scenario.waiting_at("s").id.clone();
        scenario.play(crate::step::Stimulus::Answered {
            bookmark,
            answer: Answer::TimedOut,
        });
        scenario.let_time_pass();
        assert_eq!((scenario.calls.len(), background(&scenario)), (0, 2));
    }
}
