//! `Elsa.HttpEndpoint`: starts an instance when a request comes, or waits for one.
//!
//! A request comes with the burst's input, see [`crate::http::HTTP_CONTEXT`]. One that is not taken is answered by
//! the activity itself, unless it exposes an outcome for it. Where Elsa then leaves the instance without a bookmark,
//! an instance that waited waits on, and one that was started by the request fails with an incident that says why.

mod offer;
pub mod template;

use serde_json::{Value, json};

pub use offer::{hashed, normal_path, route};
use offer::{listening, options, pathless};

use super::{Activity, ActivityKind, BuiltIn, Descriptor, Listening};
use crate::definition::data_type::DataType;
use crate::graph::Expression;
use crate::http::{Arrived, File, HTTP_CONTEXT, Rules, content, text};
use crate::instance::Bookmark;
use crate::step::{Cx, Fault, Outcomes, Then};

/// The type, and the stimulus's name.
pub const HTTP_ENDPOINT: &str = "Elsa.HttpEndpoint";

/// The properties that expose an outcome, and the outcomes.
const EXPOSABLE: [(&str, &str); 4] = [
    ("exposeRequestTooLargeOutcome", "Request too large"),
    ("exposeFileTooLargeOutcome", "File too large"),
    (
        "exposeInvalidFileExtensionOutcome",
        "Invalid file extension",
    ),
    ("exposeInvalidFileMimeTypeOutcome", "Invalid file MIME type"),
];

#[derive(Debug)]
struct HttpEndpoint {
    exposed: Vec<&'static str>,
}

pub(crate) fn built_in() -> BuiltIn {
    let descriptor = Descriptor::new(
        HTTP_ENDPOINT,
        "HTTP",
        "Starts the workflow when an HTTP request arrives, or waits for one.",
    )
    .titled("HTTP Endpoint")
    .kind(ActivityKind::Trigger)
    .input("path", "String", "The path, such as `orders/{id}`.")
    .input("supportedMethods", "String[]", "HTTP methods.")
    .default_value(json!(["GET"]))
    .hint("checklist")
    .with(|i| i.options = vec!["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"])
    .input("authorize", "Boolean", "Require an authenticated user.")
    .default_value(false)
    .input("policy", "String", "Policy that the user must meet.")
    .input(
        "requestTimeout",
        "TimeSpan",
        "Maximum time that the request waits for its response.",
    )
    .input("requestSizeLimit", "Int64", "Maximum body size in bytes.")
    .input("fileSizeLimit", "Int64", "Maximum file size in bytes.")
    .input(
        "allowedFileExtensions",
        "String[]",
        "Accepted file extensions, with their dots; empty: all.",
    )
    .input(
        "blockedFileExtensions",
        "String[]",
        "Rejected file extensions.",
    )
    .input(
        "allowedMimeTypes",
        "String[]",
        "Accepted MIME types of files; empty: all.",
    )
    .output("result", "Object", "Request, without its body.")
    .opaque()
    .output("parsedContent", "Object", "Parsed body of the request.")
    .output("files", "Object[]", "The files of a form.")
    .opaque()
    .output("file", "Object", "First file.")
    .opaque()
    .output(
        "routeData",
        "ObjectDictionary",
        "Values of the path parameters.",
    )
    .output(
        "queryStringData",
        "ObjectDictionary",
        "Values of the query string.",
    )
    .output("headers", "ObjectDictionary", "Headers of the request.");
    BuiltIn {
        descriptor: exposing(descriptor),
        build: |_, fields| {
            let is_exposed = |(property, _): &(&str, &str)| fields.flag(property).unwrap_or(false);
            let exposed = EXPOSABLE.into_iter().filter(is_exposed);
            Box::new(HttpEndpoint {
                exposed: exposed.map(|(_, outcome)| outcome).collect(),
            })
        },
    }
}

/// With the properties that expose an outcome.
fn exposing(mut descriptor: Descriptor) -> Descriptor {
    for (property, outcome) in EXPOSABLE {
        let description = format!("Enable the outcome `{outcome}`.");
        descriptor = descriptor
            .plain(property, "Boolean", &description)
            .with_plain(|p| p.default = false.into());
    }
    descriptor
}

impl HttpEndpoint {
    fn wait(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        for (hashed, payload) in listening(cx, &self.exposed)? {
            cx.wait_for_stimulus(HTTP_ENDPOINT, &hashed, payload);
        }
        Ok(Then::Wait)
    }

    /// Takes a request, or deals with one that is not taken.
    fn receive(
        &self,
        cx: &mut Cx<'_, '_>,
        request: &Arrived,
        bookmark: Option<&Bookmark>,
    ) -> Result<Then, Fault> {
        cx.set_output("routeData", Value::Object(request.route_data.clone()));
        cx.set_output("queryStringData", Value::Object(request.query.clone()));
        cx.set_output("headers", Value::Object(request.headers.clone()));
        cx.set_output("result", request.summary());
        let rules = Rules::of(&Value::Object(options(cx, &self.exposed)?));
        let Some(rejection) = rules.check(request) else {
            take(cx, request)?;
            return Ok(Then::DONE);
        };
        if rules.exposes(&rejection) {
            let outcome = rejection.outcome().unwrap_or("Done");
            return Ok(Then::Complete(Outcomes::one(outcome)));
        }
        if cx.has_http_request() {
            cx.respond(rejection.response());
        }
        let Some(bookmark) = bookmark else {
            return Err(Fault::new("RequestRejected", rejection.message()));
        };
        // The bookmark was burnt by the resume; what it stood for is waited for again.
        if let Some((path, method)) = route(&bookmark.payload) {
            let payload = bookmark.payload.clone();
            cx.wait_for_stimulus(HTTP_ENDPOINT, &hashed(&path, &method), payload);
        }
        Ok(Then::Wait)
    }
}

/// Sets the outputs that hold the body.
fn take(cx: &mut Cx<'_, '_>, request: &Arrived) -> Result<(), Fault> {
    if let Some(form) = request.form() {
        if form.is_malformed {
            let message = "the form of the request has no boundary, or is cut off";
            return Err(Fault::new("InvalidDataException", message));
        }
        let files: Vec<_> = form.files.iter().map(File::value).collect();
        let has_fields = !form.fields.is_empty() || !files.is_empty();
        let fields = if has_fields {
            Value::Object(form.fields)
        } else {
            Value::Null
        };
        cx.set_output("parsedContent", fields);
        cx.set_output("file", files.first().cloned().unwrap_or(Value::Null));
        cx.set_output("files", Value::Array(files));
        return Ok(());
    }
    let wanted = wanted(cx);
    // It was checked before that it can be read.
    let content = content(&request.media_type, "", &request.body, &wanted);
    cx.set_output(
        "parsedContent",
        content.unwrap_or_else(|_| text(&request.body).into()),
    );
    Ok(())
}

/// The type of what the body becomes.
fn wanted(cx: &Cx<'_, '_>) -> DataType {
    match cx.bound_type("parsedContent") {
        Some(wanted) => wanted,
        // Elsa gives the raw text of JSON that is bound to nothing. Files of older tools read it as an object.
        None if cx.node().modern => DataType::String,
        None => DataType::Object,
    }
}

/// The request that the burst was given.
fn arrived(cx: &Cx<'_, '_>) -> Option<Arrived> {
    Arrived::read(&cx.burst_input(HTTP_CONTEXT)?)
}

impl Activity for HttpEndpoint {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        if cx.is_trigger()
            && let Some(request) = arrived(cx)
        {
            return self.receive(cx, &request, None);
        }
        self.wait(cx)
    }

    fn resumed(&self, cx: &mut Cx<'_, '_>, bookmark: &Bookmark) -> Result<Then, Fault> {
        match arrived(cx) {
            Some(request) => self.receive(cx, &request, Some(bookmark)),
            // Resumed by hand, without a request.
            None => Ok(Then::DONE),
        }
    }

    fn listen(&self, cx: &mut Cx<'_, '_>) -> Result<Vec<Listening>, Fault> {
        // Elsa knows no variables yet where it looks for triggers.
        let mut inputs = cx.node().inputs.iter();
        let path = inputs.find(|input| input.name == "path");
        if path.is_some_and(|path| matches!(path.expression, Some(Expression::Variable(_)))) {
            return Err(pathless());
        }
        // A path that no request can meet is an error of the run, as in Elsa: nothing listens there.
        if cx.text("path")?.is_some_and(|path| path.contains("//")) {
            return Ok(Vec::new());
        }
        let listening = listening(cx, &self.exposed)?.into_iter();
        Ok(listening
            .map(|(hashed, payload)| Listening {
                name: HTTP_ENDPOINT.into(),
                hashed,
                payload,
                recurrence: None,
            })
            .collect())
    }

    fn is_trigger(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::{Value, json};

    use super::{hashed, normal_path, route};
    use crate::activity::scenario::{Scenario, bound, line, literal, write};
    use crate::graph::stimulus_hash;
    use crate::instance::SubStatus;

    fn endpoint(more: Value) -> Scenario {
        let mut endpoint = json!({
            "id": "h", "type": "Elsa.HttpEndpoint", "path": literal("/Orders/{Id}/"), "canStartWorkflow": true,
            "supportedMethods": literal(json!(["GET", "Post"])), "parsedContent": bound("Body"), "routeData": bound("Route"),
        });
        endpoint
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let variables = json!({ "Body": null, "Route": null });
        let activities = json!([line("before"), endpoint, write("Body"), write("Route")]);
        let mut scenario = Scenario::sequence(variables, activities);
        scenario.has_http_request = true;
        scenario
    }

    fn request(content_type: &str, body: &str) -> Value {
        json!({ "HttpContext": {
            "method": "post", "path": "/orders/17", "routeData": { "id": "17" }, "query": {}, "headers": {},
            "contentType": content_type, "contentLength": body.len(), "body": STANDARD.encode(body),
        } })
    }

    #[test]
    fn each_method_is_a_trigger_of_its_own() {
        let options = json!({ "authorize": literal(true), "requestSizeLimit": literal(8), "exposeFileTooLargeOutcome": true });
        let triggers = endpoint(options).triggers().unwrap();
        let path = normal_path("orders/{id}");
        let hashes = ["get", "post"].map(|m| stimulus_hash("Elsa.HttpEndpoint", &hashed(&path, m)));
        assert_eq!(
            triggers.iter().map(|t| t.hash.clone()).collect::<Vec<_>>(),
            hashes
        );
        let kept = json!({
            "Path": "/orders/{id}", "Method": "get", "Authorize": true, "RequestSizeLimit": 8,
            "ExposedOutcomes": ["File too large"],
        });
        assert_eq!(triggers[0].payload, kept);
        assert_eq!(route(&kept), Some(("/orders/{id}".into(), "get".into())));
    }

    #[test]
    fn where_no_request_can_come_nothing_listens() {
        for path in [json!(null), crate::activity::scenario::variable("Body")] {
            let refused = endpoint(json!({ "path": path })).triggers();
            assert_eq!(refused.unwrap_err().len(), 1);
        }
        let twice = || endpoint(json!({ "path": literal("a//b") }));
        assert_eq!(twice().triggers(), Ok(Vec::new()));
        assert_eq!(twice().start().sub_status(), SubStatus::Faulted);
    }

    #[test]
    fn a_form_that_is_cut_off_is_an_incident() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nA\r\n--b";
        for kind in ["multipart/form-data; boundary=b", "multipart/form-data"] {
            let scenario = endpoint(json!({})).trigger("h", request(kind, body));
            assert_eq!(scenario.sub_status(), SubStatus::Faulted, "{kind}");
        }
    }

    #[test]
    fn a_request_starts_it() {
        let scenario =
            endpoint(json!({})).trigger("h", request("application/json", "{\"Name\":\"Ada\"}"));
        assert_eq!(
            scenario.lines,
            ["before", "{\"Name\":\"Ada\"}", "{\"id\":\"17\"}"]
        );
        assert_eq!(scenario.sub_status(), SubStatus::Finished);
    }

    #[test]
    fn in_the_middle_it_waits_for_either_method_and_one_request_is_enough() {
        let mut scenario = endpoint(json!({})).start();
        let second = scenario.bookmarks_at("h")[1].clone();
        assert_eq!(
            second.payload,
            json!({ "Path": "/orders/{id}", "Method": "post" })
        );
        scenario.resume_bookmark(second.id, request("text/plain", "hello"));
        assert_eq!(scenario.lines, ["before", "hello", "{\"id\":\"17\"}"]);
        assert!(scenario.instance.bookmarks.is_empty());
    }

    #[test]
    fn a_waiting_instance_survives_a_request_that_is_not_taken() {
        let mut scenario = endpoint(json!({ "requestSizeLimit": literal(8) })).start();
        let first = scenario.bookmarks_at("h")[0].id.clone();
        scenario.resume_bookmark(first, request("text/plain", "123456789"));
        assert_eq!(scenario.response.take().map(|r| r.status), Some(413));
        assert_eq!(scenario.bookmarks_at("h").len(), 2);
        let kept = |s: &Scenario| {
            s.bookmarks_at("h")
                .into_iter()
                .map(|b| b.payload.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(kept(&scenario)[1]["Method"], json!("get"));
        let again = scenario.bookmarks_at("h")[1].id.clone();
        scenario.resume_bookmark(again, request("text/plain", "12345678"));
        assert_eq!(scenario.lines[1], "12345678");
    }

    #[test]
    fn an_instance_started_by_a_bad_request_fails_and_the_client_is_told() {
        let scenario = endpoint(json!({})).trigger("h", request("application/json", "{ oops"));
        assert_eq!(scenario.response.as_ref().map(|r| r.status), Some(400));
        assert_eq!(scenario.sub_status(), SubStatus::Faulted);
        assert!(scenario.incidents()[0].contains("invalid start of a property name"));
    }

    #[test]
    fn an_exposed_outcome_is_for_the_workflow_to_deal_with() {
        let options = json!({ "blockedFileExtensions": literal(json!([".exe"])), "exposeInvalidFileExtensionOutcome": true });
        let body = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.EXE\"\r\n\r\nMZ\r\n--b--";
        let scenario =
            endpoint(options).trigger("h", request("multipart/form-data; boundary=b", body));
        assert_eq!(scenario.outcomes("h"), json!(["Invalid file extension"]));
        assert_eq!(scenario.response, None);
    }

    #[test]
    fn forms_give_fields_and_files() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\nA\r\n\
            --b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\n\r\nhello\r\n--b--";
        let bound_file = json!({ "file": bound("Route"), "routeData": null });
        let scenario =
            endpoint(bound_file).trigger("h", request("multipart/form-data; boundary=b", body));
        assert_eq!(scenario.lines[1], "{\"t\":\"A\"}");
        assert!(scenario.lines[2].contains("\"fileName\":\"a.txt\""));
        let empty =
            endpoint(json!({})).trigger("h", request("application/x-www-form-urlencoded", ""));
        assert_eq!(empty.lines[1], "");
    }
}
