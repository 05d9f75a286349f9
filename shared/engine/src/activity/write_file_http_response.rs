//! `Elsa.WriteFileHttpResponse`: answers the HTTP request with a file, or with several as a ZIP archive.
//!
//! A file is what another activity gave as one, bytes, text, or an http(s) address, which is fetched first.
//! Archives are the same bytes each time, so an interrupted download can go on without anything being kept for it.

use serde_json::Value;

use super::write_http_response::expect_request;
use super::{Activity, BuiltIn, Descriptor};
use crate::call::{Answer, HttpRequest, HttpResponse, Request};
use crate::http::{Arrived, File, HTTP_CONTEXT, Outgoing, archive, delivery, entity_tag, tag_of};
use crate::instance::{Bookmark, Memory, Wait};
use crate::step::{Cx, Fault, Then};

#[derive(Debug)]
struct WriteFileHttpResponse;

pub(crate) fn built_in() -> BuiltIn {
    BuiltIn {
        descriptor: Descriptor::new(
            "Elsa.WriteFileHttpResponse",
            "HTTP",
            "Sends a file as the HTTP response.",
        )
        .titled("HTTP File Response")
        .input(
            "contentType",
            "String",
            "Content type of the file. By default, the type of the file itself.",
        )
        .input("filename", "String", "Name under which the file is saved.")
        .input(
            "entityTag",
            "String",
            "Entity tag. An archive has one of its own.",
        )
        .input(
            "content",
            "Object",
            "File, bytes, text, address, or a list of them.",
        )
        .input(
            "enableResumableDownloads",
            "Boolean",
            "Accept range requests.",
        )
        .default_value(false)
        .input(
            "downloadCorrelationId",
            "String",
            "Accepted and ignored: nothing is stored between downloads.",
        ),
        build: |_, _| Box::new(WriteFileHttpResponse),
    }
}

/// The http(s) address that a content is, if it is one.
fn address(content: &Value) -> Option<&str> {
    let text = content.as_str()?.trim();
    let is_address = ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme));
    (is_address && !text.contains(char::is_whitespace)).then_some(text)
}

/// Whether a content is a file or text. Elsa sends nothing of any other value.
fn is_file(content: &Value) -> bool {
    content.is_string() || File::read(content).is_some()
}

/// Fetches the next content that is an address, or answers when there is none left.
fn go_on(cx: &mut Cx<'_, '_>, contents: Vec<Value>) -> Result<Then, Fault> {
    let Some(url) = contents.iter().find_map(address) else {
        let response = respond(cx, &contents)?;
        cx.respond(response);
        return Ok(Then::DONE);
    };
    let serial = cx.serial();
    let request = HttpRequest {
        method: "GET".into(),
        url: url.to_owned(),
        idempotency_key: format!("{}/{serial}", cx.instance_id()),
        ..HttpRequest::default()
    };
    *cx.memory() = Memory::Json(Value::Array(contents));
    cx.call(Request::Http(request));
    Ok(Then::Wait)
}

fn respond(cx: &mut Cx<'_, '_>, contents: &[Value]) -> Result<HttpResponse, Fault> {
    let content_type = cx.text("contentType")?.filter(|t| !t.trim().is_empty());
    let name = cx.text("filename")?.filter(|n| !n.trim().is_empty());
    let files: Vec<_> = contents
        .iter()
        .map(|c| file(c, content_type.as_deref()))
        .collect();
    let mut file = match files.as_slice() {
        [] => {
            return Ok(HttpResponse {
                status: 204,
                ..HttpResponse::default()
            });
        }
        [single] => single.clone(),
        several => File {
            name: "download.zip".into(),
            content_type: "application/zip".into(),
            bytes: archive(several).ok_or_else(|| {
                Fault::new(
                    "LimitReached",
                    "the files are more than a ZIP archive holds",
                )
            })?,
            ..File::default()
        },
    };
    if let Some(name) = name {
        file.name = name;
    }
    let given = cx.text("entityTag")?.unwrap_or_default();
    let is_resumable = cx.flag("enableResumableDownloads")?;
    if !is_resumable {
        return Ok(delivery(file, None, false, None));
    }
    let tag = match files.as_slice() {
        [_] => entity_tag(&given),
        _ => Some(tag_of(&file.bytes)),
    };
    let range = asked_for(cx, tag.as_deref());
    Ok(delivery(file, tag.as_deref(), true, range.as_deref()))
}

/// A content as a file. Text that is Base64 is bytes where the content type is one of bytes.
fn file(content: &Value, content_type: Option<&str>) -> File {
    let own = File::read(content);
    let name = own.map(|f| f.name).filter(|n| !n.is_empty());
    let outgoing = Outgoing::of(content, content_type);
    let ending = match outgoing.content_type.split(';').next().unwrap_or_default() {
        "text/plain" => ".txt",
        "application/json" => ".json",
        _ => "",
    };
    File {
        name: name.unwrap_or_else(|| format!("file{ending}")),
        content_type: outgoing.content_type,
        bytes: outgoing.body,
        ..File::default()
    }
}

/// The range that the request asks for, unless it means another version of the file.
fn asked_for(cx: &Cx<'_, '_>, tag: Option<&str>) -> Option<String> {
    let request = Arrived::read(&cx.burst_input(HTTP_CONTEXT)?)?;
    let is_same = request
        .header("if-range")
        .is_none_or(|wanted| Some(wanted) == tag);
    request
        .header("range")
        .filter(|_| is_same)
        .map(str::to_owned)
}

impl Activity for WriteFileHttpResponse {
    fn execute(&self, cx: &mut Cx<'_, '_>) -> Result<Then, Fault> {
        expect_request(cx)?;
        let contents = match cx.input("content")? {
            Value::Null => Vec::new(),
            Value::Array(contents) => contents,
            single @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                vec![single]
            }
        };
        let contents = contents.into_iter().filter(is_file).collect();
        go_on(cx, contents)
    }

    fn answered(
        &self,
        cx: &mut Cx<'_, '_>,
        bookmark: &Bookmark,
        answer: Answer,
    ) -> Result<Then, Fault> {
        expect_request(cx)?;
        let contents = std::mem::take(cx.memory());
        let (Wait::Call(request), Memory::Json(Value::Array(mut contents))) =
            (&bookmark.wait, contents)
        else {
            return Ok(Then::DONE);
        };
        let Request::Http(request) = request.as_ref() else {
            return Ok(Then::DONE);
        };
        let fetched = match answer {
            Answer::Http {
                status,
                headers,
                body,
            } if (200..300).contains(&status) => {
                let response = super::http_call::Response {
                    status,
                    headers,
                    body,
                    url: request.url.clone(),
                };
                response.file()
            }
            failed @ (Answer::Http { .. }
            | Answer::FailedToConnect { .. }
            | Answer::TimedOut
            | Answer::Refused { .. }
            | Answer::Executed { .. }
            | Answer::Found
            | Answer::NotStarted { .. }) => {
                let why = match failed {
                    Answer::Http { status, .. } => format!("the status was {status}"),
                    Answer::FailedToConnect { message } | Answer::Refused { message } => message,
                    Answer::TimedOut
                    | Answer::Executed { .. }
                    | Answer::Found
                    | Answer::NotStarted { .. } => "there was no answer".into(),
                };
                let message = format!("the file at {} could not be fetched: {why}", request.url);
                return Err(Fault::new("HttpRequestFailed", message));
            }
        };
        for content in contents
            .iter_mut()
            .filter(|c| address(c) == Some(request.url.as_str()))
        {
            *content = fetched.value();
        }
        go_on(cx, contents)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};

    use crate::activity::scenario::{Scenario, literal, script};
    use crate::call::{Answer, HttpResponse};

    fn written(content: Value, more: Value, range: &str) -> Scenario {
        // A literal would be given as text.
        let content = script(&format!("({content})"));
        let mut activity =
            json!({ "id": "w", "type": "Elsa.WriteFileHttpResponse", "content": content });
        activity
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let mut scenario = Scenario::of(activity);
        scenario.has_http_request = true;
        scenario.trigger(
            "x",
            json!({ "HttpContext": { "headers": { "range": range } } }),
        )
    }

    fn header<'r>(response: &'r HttpResponse, name: &str) -> Option<&'r str> {
        response
            .headers
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, value)| value.as_str())
    }

    #[test]
    fn a_single_file_is_sent_as_it_is() {
        let more =
            json!({ "filename": literal("report.pdf"), "contentType": literal("application/pdf") });
        let response = written(json!("JVBERg=="), more, "").response.unwrap();
        assert_eq!(
            (response.status, response.body.as_slice()),
            (200, &b"%PDF"[..])
        );
        assert_eq!(header(&response, "content-type"), Some("application/pdf"));
        assert_eq!(
            header(&response, "content-disposition"),
            Some("attachment; filename=report.pdf; filename*=UTF-8''report.pdf")
        );
        let text = written(json!("Grüße"), json!({}), "").response.unwrap();
        assert_eq!(
            header(&text, "content-disposition"),
            Some("attachment; filename=file.txt; filename*=UTF-8''file.txt")
        );
    }

    #[test]
    fn several_are_an_archive_and_none_is_no_content() {
        let response = written(json!(["one", "two", { "three": 3 }]), json!({}), "")
            .response
            .unwrap();
        assert_eq!(header(&response, "content-type"), Some("application/zip"));
        assert!(response.body.starts_with(b"PK"));
        for nothing in [json!(null), json!([]), json!({ "a": 1 })] {
            assert_eq!(
                written(nothing, json!({}), "").response.unwrap().status,
                204
            );
        }
    }

    #[test]
    fn parts_are_sent_when_they_may_be_asked_for() {
        let resumable = json!({ "enableResumableDownloads": literal(true) });
        let part = written(json!("0123456789"), resumable.clone(), "bytes=2-4")
            .response
            .unwrap();
        assert_eq!((part.status, part.body.as_slice()), (206, &b"234"[..]));
        assert_eq!(header(&part, "content-range"), Some("bytes 2-4/10"));
        let beyond = written(json!("0123456789"), resumable, "bytes=10-")
            .response
            .unwrap();
        assert_eq!(beyond.status, 416);
        let whole = written(json!("0123456789"), json!({}), "bytes=2-4")
            .response
            .unwrap();
        assert_eq!((whole.status, whole.body.len()), (200, 10));
    }

    #[test]
    fn an_address_is_fetched_first() {
        let mut scenario = written(json!(["https://a.example/logo.png", "text"]), json!({}), "");
        assert_eq!(scenario.response, None);
        let headers = BTreeMap::from([("content-type".to_owned(), vec!["image/png".to_owned()])]);
        scenario.answer(Answer::Http {
            status: 200,
            headers,
            body: b"png".to_vec(),
        });
        let response = scenario.response.take().unwrap();
        assert!(response.body.windows(8).any(|w| w == b"logo.png"));
        let mut scenario = written(json!("https://a.example/logo.png"), json!({}), "");
        scenario.answer(Answer::Http {
            status: 404,
            headers: BTreeMap::new(),
            body: Vec::new(),
        });
        assert!(scenario.incidents()[0].contains("the status was 404"));
    }
}
