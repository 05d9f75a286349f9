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
    /// A file's ending is not allowed, or is blocked.
    InvalidExtension(String),
    /// A file's type is not allowed.
    InvalidMimeType(String),
    /// The body says that it is JSON and is not.
    MalformedJson {
        /// What is wrong.
        message: String,
        /// Where, from 1.
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
            values.map(|v| text_of(v.clone()).to_lowercase()).collect()
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
            exposed: exposed.map(|v| text_of(v.clone())).collect(),
        }
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
        match content(&request.media_type, "", &request.body, &DataType::Object) {
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
        let extension = file.extension();
        let is_unlisted =
            !self.extensions_allowed.is_empty() && !self.extensions_allowed.contains(&extension);
        if is_unlisted || self.extensions_blocked.contains(&extension) {
            return Some(Rejection::InvalidExtension(extension));
        }
        let media_type = file.media_type();
        if !self.types_allowed.is_empty() && !self.types_allowed.contains(&media_type) {
            return Some(Rejection::InvalidMimeType(media_type));
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
            Self::InvalidExtension(_) => Some("Invalid file extension"),
            Self::InvalidMimeType(_) => Some("Invalid file MIME type"),
            Self::MalformedJson { .. } => None,
        }
    }

    /// What is wrong, in a sentence for the client.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::RequestTooLarge(limit) => {
                format!("The request is too large; the limit is {limit} bytes.")
            }
            Self::FileTooLarge(limit) => {
                format!("A file is too large; the limit is {limit} bytes.")
            }
            Self::InvalidExtension(extension) => {
                format!("Files ending in `{extension}` are not taken.")
            }
            Self::InvalidMimeType(media_type) => {
                format!("Files of type `{media_type}` are not taken.")
            }
            Self::MalformedJson { message, .. } => format!("The body is not JSON: {message}"),
        }
    }

    /// The answer to the client: 413, 415 or 400.
    #[must_use]
    pub fn response(&self) -> HttpResponse {
        let (status, body) = match self {
            Self::RequestTooLarge(_) | Self::FileTooLarge(_) => {
                (413, json!({ "message": self.message() }))
            }
            Self::InvalidExtension(_) | Self::InvalidMimeType(_) => {
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
            Some(Rejection::InvalidExtension(".exe".into()))
        );
        assert_eq!(
            rules.check(&upload("a", "text/plain", "1")),
            Some(Rejection::InvalidExtension(String::new()))
        );
        assert_eq!(
            rules.check(&upload("a.txt", "a/b", "1")),
            Some(Rejection::InvalidMimeType("a/b".into()))
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
        assert_eq!(body["lineNumber"], json!(2));
        assert_eq!(
            Rules::default().refusal(&arrived("application/json", "")),
            None
        );
    }
}
