//! What an endpoint takes: sizes, file endings and types. Checked by the activity, and before it by a shell that wants
//! to turn a request away without starting an instance for it.

use serde_json::{Value, json};

use super::arrived::Arrived;
use super::content::{MalformedJson, content};
use super::file::File;
use crate::call::HttpResponse;
use crate::definition::convert::text_of;
use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::time::parse_duration_ms;

/// What an endpoint takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Whether only known users may ask.
    pub is_authorized_only: bool,
    /// The policy that they must meet.
    pub policy: Option<String>,
    request_size_max: Option<u64>,
    file_size_max: Option<u64>,
    extensions_allowed: Vec<String>,
    extensions_blocked: Vec<String>,
    types_allowed: Vec<String>,
    timeout_ms: Option<u64>,
    /// The body is not read as JSON: nothing wants it, or its text is wanted.
    is_raw: bool,
    /// Outcomes through which the workflow itself deals with a request that is not taken.
    exposed: Vec<String>,
}

/// Why a request is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rejection {
    /// The body is larger than the limit, bytes.
    RequestTooLarge(u64),
    /// A file is larger than the limit, bytes.
    FileTooLarge(u64),
    /// A file's ending is none of these.
    ExtensionNotAllowed(Vec<String>),
    /// A file's ending is one of these.
    ExtensionBlocked(Vec<String>),
    /// A file's type is none of these.
    InvalidMimeType(Vec<String>),
    /// The body says that it is JSON and is not.
    MalformedJson {
        /// What is wrong.
        message: String,
        /// The line, from 0.
        line: usize,
    },
}

impl Rules {
    /// Reads the rules out of what a trigger or a bookmark of an endpoint keeps.
    #[must_use]
    pub fn of(payload: &Value) -> Self {
        let fields = Fields::of(payload);
        let size = |name: &str| fields.integer(name).and_then(|n| u64::try_from(n).ok());
        let list = |name: &str| {
            let values = fields.list(name).into_iter();
            values.map(|v| text_of(v.clone())).collect()
        };
        let exposed = fields.list("ExposedOutcomes").into_iter();
        Self {
            is_authorized_only: fields.flag("Authorize").unwrap_or(false),
            policy: fields.text("Policy").filter(|policy| !policy.is_empty()),
            request_size_max: size("RequestSizeLimit"),
            file_size_max: size("FileSizeLimit"),
            extensions_allowed: list("AllowedFileExtensions"),
            extensions_blocked: list("BlockedFileExtensions"),
            types_allowed: list("AllowedMimeTypes"),
            timeout_ms: fields
                .text("RequestTimeout")
                .and_then(|text| parse_duration_ms(&text))
                .and_then(|ms| u64::try_from(ms).ok()),
            is_raw: fields.flag("RawContent").unwrap_or(false),
            exposed: exposed.map(|v| text_of(v.clone())).collect(),
        }
    }

    /// How long the request may wait for its answer, ms.
    #[must_use]
    pub fn timeout_ms(&self) -> Option<u64> {
        self.timeout_ms
    }

    /// Why a request is not taken, if so.
    #[must_use]
    pub fn check(&self, request: &Arrived) -> Option<Rejection> {
        if let Some(limit) = self.request_size_max
            && (request.is_cut || request.length() > limit)
        {
            return Some(Rejection::RequestTooLarge(limit));
        }
        if let Some(form) = request.form() {
            return form.files.iter().find_map(|file| self.check_file(file));
        }
        let wanted = match self.is_raw {
            true => DataType::String,
            false => DataType::Object,
        };
        match content(&request.media_type, "", &request.body, &wanted) {
            Ok(_) => None,
            Err(MalformedJson { message, line }) => {
                Some(Rejection::MalformedJson { message, line })
            }
        }
    }

    fn check_file(&self, file: &File) -> Option<Rejection> {
        if let Some(limit) = self.file_size_max
            && file.bytes.len() as u64 > limit
        {
            return Some(Rejection::FileTooLarge(limit));
        }
        let has = |list: &[String], text: &str| list.iter().any(|t| t.to_lowercase() == text);
        let extension = file.extension();
        if !self.extensions_allowed.is_empty() && !has(&self.extensions_allowed, &extension) {
            let allowed = self.extensions_allowed.clone();
            return Some(Rejection::ExtensionNotAllowed(allowed));
        }
        if has(&self.extensions_blocked, &extension) {
            let blocked = self.extensions_blocked.clone();
            return Some(Rejection::ExtensionBlocked(blocked));
        }
        if !self.types_allowed.is_empty() && !has(&self.types_allowed, &file.media_type()) {
            return Some(Rejection::InvalidMimeType(self.types_allowed.clone()));
        }
        None
    }

    /// Whether the workflow deals with the rejection itself.
    #[must_use]
    pub fn exposes(&self, rejection: &Rejection) -> bool {
        rejection
            .outcome()
            .is_some_and(|outcome| self.exposed.iter().any(|e| e == outcome))
    }

    /// The answer to a request that is not taken and that the workflow does not deal with itself. A shell that asks
    /// before it starts or resumes an instance spares one that could do nothing but fail.
    #[must_use]
    pub fn refusal(&self, request: &Arrived) -> Option<HttpResponse> {
        let rejection = self.check(request)?;
        (!self.exposes(&rejection)).then(|| rejection.response())
    }
}

impl Rejection {
    /// The outcome that an endpoint may expose for it.
    #[must_use]
    pub fn outcome(&self) -> Option<&'static str> {
        match self {
            Self::RequestTooLarge(_) => Some("Request too large"),
            Self::FileTooLarge(_) => Some("File too large"),
            Self::ExtensionNotAllowed(_) | Self::ExtensionBlocked(_) => {
                Some("Invalid file extension")
            }
            Self::InvalidMimeType(_) => Some("Invalid file MIME type"),
            Self::MalformedJson { .. } => None,
        }
    }

    /// What is wrong, in a sentence for the client.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::RequestTooLarge(limit) => {
                format!("The maximum request size allowed is {limit} bytes.")
            }
            Self::FileTooLarge(limit) => {
                format!("The maximum file size allowed is {limit} bytes.")
            }
            Self::ExtensionNotAllowed(allowed) => {
                format!(
                    "Only the following file extensions are allowed: {}",
                    allowed.join(", ")
                )
            }
            Self::ExtensionBlocked(blocked) => {
                format!(
                    "The following file extensions are not allowed: {}",
                    blocked.join(", ")
                )
            }
            Self::InvalidMimeType(allowed) => {
                format!(
                    "Only the following MIME types are allowed: {}",
                    allowed.join(", ")
                )
            }
            Self::MalformedJson { message, .. } => message.clone(),
        }
    }

    /// The answer to the client: 413, 415 or 400.
    #[must_use]
    pub fn response(&self) -> HttpResponse {
        let (status, body) = match self {
            Self::RequestTooLarge(_) | Self::FileTooLarge(_) => {
                (413, json!({ "message": self.message() }))
            }
            Self::ExtensionNotAllowed(_) | Self::ExtensionBlocked(_) | Self::InvalidMimeType(_) => {
                (415, json!({ "message": self.message() }))
            }
            Self::MalformedJson { line, .. } => (
                400,
                json!({ "message": self.message(), "path": "$", "lineNumber": line }),
            ),
        };
        HttpResponse {
            status,
            headers: vec![("content-type".into(), "application/json".into())],
            body: body.to_string().into_bytes(),
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    fn upload(name: &str, kind: &str, bytes: &str) -> Arrived {
        let body = format!(
            "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n{bytes}\r\n--b--"
        );
        arrived("multipart/form-data; boundary=b", &body)
    }

    fn arrived(kind: &str, body: &str) -> Arrived {
        Arrived::read(&json!({ "contentType": kind, "body": STANDARD.encode(body) })).unwrap()
    }

    #[test]
    fn sizes_endings_and_types_are_checked() {
        let rules = Rules::of(&json!({
            "RequestSizeLimit": 300, "FileSizeLimit": 4, "AllowedFileExtensions": [".txt", ".exe"],
            "BlockedFileExtensions": [".EXE"], "AllowedMimeTypes": ["text/plain"],
        }));
        assert_eq!(
            rules.check(&upload("a.TXT", "Text/Plain; charset=utf-8", "1234")),
            None
        );
        let long = "x".repeat(300);
        assert_eq!(
            rules.check(&upload("a.txt", "text/plain", &long)),
            Some(Rejection::RequestTooLarge(300))
        );
        assert_eq!(
            rules.check(&upload("a.txt", "text/plain", "12345")),
            Some(Rejection::FileTooLarge(4))
        );
        assert_eq!(
            rules.check(&upload("a.exe", "text/plain", "")),
            Some(Rejection::ExtensionBlocked(vec![".EXE".into()]))
        );
        assert_eq!(
            rules.check(&upload("a", "text/plain", "1")),
            Some(Rejection::ExtensionNotAllowed(vec![
                ".txt".into(),
                ".exe".into()
            ]))
        );
        assert_eq!(
            rules.check(&upload("a.txt", "a/b", "1")),
            Some(Rejection::InvalidMimeType(vec!["text/plain".into()]))
        );
        assert_eq!(Rules::default().check(&upload("a.exe", "a/b", &long)), None);
    }

    #[test]
    fn a_cut_body_is_too_large_whatever_it_declares() {
        let mut request = arrived("text/plain", "12345678");
        let rules = Rules::of(&json!({ "RequestSizeLimit": 8 }));
        assert_eq!(rules.check(&request), None);
        request.is_cut = true;
        assert_eq!(rules.refusal(&request).map(|r| r.status), Some(413));
    }

    #[test]
    fn an_exposed_outcome_is_not_refused() {
        let request = upload("a.exe", "a/b", "1");
        let payload = |exposed: &[&str]| json!({ "BlockedFileExtensions": [".exe"], "ExposedOutcomes": exposed });
        assert_eq!(
            Rules::of(&payload(&[])).refusal(&request).map(|r| r.status),
            Some(415)
        );
        assert_eq!(
            Rules::of(&payload(&["Invalid file extension"])).refusal(&request),
            None
        );
    }

    #[test]
    fn malformed_json_is_answered_with_its_line() {
        let answer = Rules::default()
            .refusal(&arrived("application/json", "{\n oops"))
            .unwrap();
        assert_eq!(answer.status, 400);
        let body: Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(body["lineNumber"], json!(1));
        assert_eq!(
            Rules::default().refusal(&arrived("application/json", "")),
            None
        );
    }
}
