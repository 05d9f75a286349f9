//! `Elsa.FlowSendHttpRequest`: sends an HTTP request in a flowchart; the status is the outcome.

use serde_json::json;

use super::http_call::{Reply, expected, inputs, outcomes, send, send_again, settle};
use super::{Activity, ActivityKind, BuiltIn, Descriptor};
use crate::call::Answer;
use crate::instance::Bookmark;
use crate::resilience::Resilience;
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct FlowSendHttpRequest {
    resilience: Resilience,
}

pub(crate) fn built_in() -> BuiltIn {
    let descriptor = Descriptor::new("Elsa.FlowSendHttpRequest", "HTTP", "Sends an HTTP request.")
        .titled("HTTP Request (flow)")
        .kind(ActivityKind::Task);
    BuiltIn {
        descriptor: inputs(descriptor, "content", "contentType")
            .input(
                "expectedStatusCodes",
                "Int32[]",
                "Status codes that are outcomes.",
            )
            .default_value(json!([200]))
            .output("statusCode", "Int32", "Status code.")
            .output("parsedContent", "Object", "Body of the response, parsed.")
            .output(
                "responseHeaders",
                "ObjectDictionary",
                "Headers of the response.",
            )
            .output("result", "Object", "Response, without its body.")
            .opaque()
            .outcomes(&[
                "200",
                "Unmatched status code",
                "Failed to connect",
                "Timeout",
                "Done",
            ]),
        build: |builder, fields| {
            Box::new(FlowSendHttpRequest {
                resilience: Resilience::read(builder, fields),
            })
        },
    }
}

impl Activity for FlowSendHttpRequest {
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
        let outcomes = match settle(cx, bookmark, answer, &self.resilience)? {
            Reply::Retrying => return Ok(Then::Wait),
            Reply::FailedToConnect => Outcomes::one("Failed to connect"),
            Reply::TimedOut => Outcomes::one("Timeout"),
            Reply::Response(response) => {
                response.give(cx);
                Outcomes::Named(outcomes(response.status, &expected(cx)?))
            }
        };
        Ok(Then::Complete(outcomes))
    }

    fn makes_calls(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, literal};
    use crate::call::Answer;

    fn ended(expected: Value, answer: Answer) -> Value {
        let send = json!({
            "id": "s", "type": "Elsa.FlowSendHttpRequest", "url": literal("http://a.example"), "expectedStatusCodes": expected,
        });
        let mut scenario = Scenario::of(send).start();
        scenario.answer(answer);
        scenario.outcomes("s")
    }

    fn status(status: u16) -> Answer {
        let headers = BTreeMap::new();
        Answer::Http {
            status,
            headers,
            body: Vec::new(),
        }
    }

    #[test]
    fn the_status_is_the_outcome() {
        let codes = || literal(json!(["200", "404"]));
        assert_eq!(ended(codes(), status(404)), json!(["404", "Done"]));
        assert_eq!(
            ended(codes(), status(500)),
            json!(["Unmatched status code", "Done"])
        );
        assert_eq!(ended(Value::Null, status(200)), json!(["200", "Done"]));
        assert_eq!(ended(literal(json!([])), status(200)), json!(["Done"]));
        assert_eq!(ended(codes(), Answer::TimedOut), json!(["Timeout"]));
        let message = String::new();
        assert_eq!(
            ended(codes(), Answer::FailedToConnect { message }),
            json!(["Failed to connect"])
        );
    }
}
