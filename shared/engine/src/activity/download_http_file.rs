//! `Elsa.DownloadHttpFile`: fetches a file by HTTP.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::http_call::{Reply, Response, expected, inputs, outcomes, send, send_again, settle};
use super::{Activity, ActivityKind, BuiltIn, Descriptor};
use crate::call::Answer;
use crate::instance::Bookmark;
use crate::resilience::Resilience;
use crate::step::{Cx, Fault, Outcomes, Then};

#[derive(Debug)]
struct DownloadHttpFile {
    resilience: Resilience,
}

pub(crate) fn built_in() -> BuiltIn {
    let descriptor = Descriptor::new("Elsa.DownloadHttpFile", "HTTP", "Downloads a file.")
        .titled("Download File")
        .kind(ActivityKind::Task);
    BuiltIn {
        descriptor: inputs(descriptor, "requestContent", "requestContentType")
            .input(
                "expectedStatusCodes",
                "Int32[]",
                "Status codes that are outcomes.",
            )
            .default_value(json!([200]))
            .output("result", "Object", "The file.")
            .opaque()
            .output("response", "Object", "Response, without its body.")
            .opaque()
            .output("statusCode", "Int32", "Status code.")
            .output("responseContentStream", "Stream", "Content as bytes.")
            .opaque()
            .output("responseContentBytes", "ByteArray", "Content as bytes.")
            .opaque()
            .output(
                "responseHeaders",
                "ObjectDictionary",
                "Headers of the response.",
            )
            .output(
                "responseContentHeaders",
                "ObjectDictionary",
                "Headers that describe the body.",
            )
            .outcomes(&[
                "200",
                "Unmatched status code",
                "Failed to connect",
                "Timeout",
                "Done",
            ]),
        build: |builder, fields| {
            Box::new(DownloadHttpFile {
                resilience: Resilience::read(builder, fields),
            })
        },
    }
}

fn give(cx: &mut Cx<'_, '_>, response: &Response) {
    let file = match response.body.is_empty() {
        true => Value::Null,
        false => response.file().value(),
    };
    cx.set_output("result", file);
    cx.set_output("response", response.summary());
    cx.set_output("statusCode", response.status.into());
    cx.set_output("responseHeaders", response.headers_value(|_| true));
    cx.set_output(
        "responseContentHeaders",
        response.headers_value(|name| name.starts_with("content-")),
    );
    // The same bytes again are kept only for those who asked for them.
    for output in ["responseContentStream", "responseContentBytes"] {
        if cx.bound_type(output).is_some() {
            cx.set_output(output, Value::String(STANDARD.encode(&response.body)));
        }
    }
}

impl Activity for DownloadHttpFile {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        send(cx, "requestContent", "requestContentType")
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
                give(cx, &response);
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

    use crate::activity::scenario::{Scenario, bound, event, literal};
    use crate::call::Answer;

    fn downloaded(url: &str, disposition: &str) -> Scenario {
        let download = json!({
            "id": "d", "type": "Elsa.DownloadHttpFile", "url": literal(url), "result": bound("File"),
            "responseContentBytes": bound("Bytes"), "responseContentHeaders": bound("Headers"),
        });
        let variables = json!({ "File": null, "Bytes": null, "Headers": null });
        let mut scenario = Scenario::sequence(variables, json!([download, event("end")])).start();
        let headers = [
            ("content-type", "image/png; q=1"),
            ("content-disposition", disposition),
            ("x-other", "1"),
        ];
        let headers = headers.map(|(name, value)| (name.to_owned(), vec![value.to_owned()]));
        scenario.answer(Answer::Http {
            status: 200,
            headers: BTreeMap::from(headers),
            body: b"png".to_vec(),
        });
        scenario
    }

    #[test]
    fn the_file_has_its_name_type_and_bytes() {
        let scenario = downloaded("https://a.example/x/logo.png?size=1", "");
        let file = scenario.variable("File");
        for (name, value) in [
            ("name", json!("")),
            ("fileName", json!("logo.png")),
            ("ContentType", json!("image/png")),
            ("Length", json!(3)),
            ("content", json!("cG5n")),
        ] {
            assert_eq!(file[name], value);
        }
        assert_eq!(scenario.variable("Bytes"), json!("cG5n"));
        assert_eq!(
            scenario
                .variable("Headers")
                .as_object()
                .map(serde_json::Map::len),
            Some(2)
        );
        assert_eq!(scenario.outcomes("d"), json!(["200", "Done"]));
    }

    #[test]
    fn the_answer_may_name_the_file() {
        let name = |url: &str, disposition: &str| -> Value {
            downloaded(url, disposition).variable("File")["fileName"].clone()
        };
        assert_eq!(
            name(
                "https://a.example/x",
                "attachment; filename=\"my logo.png\""
            ),
            json!("my logo.png")
        );
        assert_eq!(name("https://a.example/", ""), json!("file"));
        assert_eq!(name("https://a.example", ""), json!("file"));
    }
}
