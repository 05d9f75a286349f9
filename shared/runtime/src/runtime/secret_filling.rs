//! Puts values in the place of references, in what leaves for outside.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_engine::activity::own::OpenTask;
use dormouse_engine::call::HttpRequest;
use dormouse_engine::instance::Instance;
use dormouse_engine::step::SEALED_PREFIX;
use dormouse_store::Tenant;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::runtime::secret_redaction::{Form, Redaction};
use crate::runtime::secret_references::{
    PREFIX, Piece, Reader, claims_reference, open_kept, said_before_name,
};
use crate::runtime::secret_values::Values;

/// Bytes of values that are put into one request or task.
pub const FILLED_BYTES_MAX: usize = 8 << 20;

/// Puts values in the place of an instance's references.
struct Filling {
    reader: Reader,
    values: Arc<Values>,
    /// What was put anywhere, in the forms that it was put in.
    redaction: Redaction,
    /// Bytes that may still be put in.
    left: usize,
    /// The first reason why this cannot be sent.
    lack: Option<Unfilled>,
}

/// Reason why something is not sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unfilled {
    /// Stable, for programs.
    pub(crate) code: &'static str,
    /// Sentence for people.
    pub(crate) message: String,
}

impl Unfilled {
    fn not_found(message: String) -> Self {
        let code = "SecretNotFound";
        Self { code, message }
    }

    /// A process without secrets has what another process of the deployment made.
    fn no_secrets() -> Self {
        Self::not_found(
            "it names a secret, and the process that was to send it has no secrets: send it from servers that have them, `dormouse serve`".into(),
        )
    }

    fn sealed(input: &str) -> Self {
        let message = format!(
            "the sensitive input `{input}` is sealed in the state, and this server does not have the key that sealed it"
        );
        Self {
            code: "InputUnreadable",
            message,
        }
    }

    fn too_large() -> Self {
        let message =
            format!("the values of its secrets have more than {FILLED_BYTES_MAX} bytes together");
        Self {
            code: "SecretsTooLarge",
            message,
        }
    }
}

/// Outcome of filling.
pub(crate) enum Filled<T> {
    /// This is to be sent, and that not to come back.
    Done(T, Redaction),
    /// It must not be sent.
    Refused(Unfilled),
}

/// The form of a body.
fn form_of_body(request: &HttpRequest) -> Form {
    let mut headers = request.headers.iter();
    let kind = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let kind = kind.map(|(_, value)| value.to_ascii_lowercase());
    match kind.unwrap_or_default() {
        kind if kind.contains("json") => Form::Json,
        kind if kind.contains("x-www-form-urlencoded") => Form::Percent,
        _ => Form::Plain,
    }
}

/// The credentials of a `Basic` header, decoded.
fn basic(header: &str) -> Option<String> {
    let (scheme, encoded) = header.split_once(' ')?;
    let is_basic = scheme.eq_ignore_ascii_case("basic");
    let bytes = is_basic.then(|| STANDARD.decode(encoded.trim()).ok())??;
    String::from_utf8(bytes).ok()
}

/// The body as text. One that is no text has no references.
fn text_of_body(request: &HttpRequest) -> Option<&str> {
    str::from_utf8(request.body.as_deref()?).ok()
}

/// Whether any text of a request is like this.
fn any_part(request: &HttpRequest, found: impl Fn(&str) -> bool) -> bool {
    let in_header = |value: &str| found(value) || basic(value).is_some_and(|text| found(&text));
    found(&request.url)
        || text_of_body(request).is_some_and(&found)
        || request.headers.iter().any(|(_, value)| in_header(value))
}

fn any_text(value: &Value, found: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => found(text),
        Value::Array(items) => items.iter().any(|item| any_text(item, found)),
        Value::Object(map) => map.values().any(|item| any_text(item, found)),
    }
}

fn each_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| each_text(item, change)),
    }
}

impl Filling {
    fn fill(&mut self, text: &str, form: Form) -> String {
        let mut filled = String::with_capacity(text.len());
        for piece in self.reader.pieces(text) {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Secret(_) if self.lack.is_some() => {}
                Piece::Secret(name) => match self.values.get(&name) {
                    Ok(value) => {
                        let put = form.of(value);
                        match self.left.checked_sub(put.len()) {
                            Some(left) => self.left = left,
                            None => self.lack = Some(Unfilled::too_large()),
                        }
                        self.redaction.add_value(value);
                        filled.push_str(&put);
                    }
                    Err(lack) => self.lack = Some(Unfilled::not_found(lack.sentence(&name))),
                },
            }
        }
        filled
    }

    fn header(&mut self, value: &str) -> String {
        match basic(value).filter(|text| text.contains(PREFIX)) {
            Some(text) => {
                let encoded = STANDARD.encode(self.fill(&text, Form::Plain));
                self.redaction.add(encoded.clone());
                format!("Basic {encoded}")
            }
            None => self.fill(value, Form::Plain),
        }
    }

    fn request(&mut self, request: &HttpRequest) -> HttpRequest {
        let mut filled = request.clone();
        filled.url = self.fill(&request.url, Form::Percent);
        for (_, value) in &mut filled.headers {
            *value = self.header(value);
        }
        if let Some(body) = text_of_body(request) {
            filled.body = Some(self.fill(body, form_of_body(request)).into_bytes());
        }
        filled
    }

    fn finish<T>(self, filled: T) -> Filled<T> {
        match self.lack {
            Some(lack) => Filled::Refused(lack),
            None => Filled::Done(filled, self.redaction),
        }
    }
}

impl Runtime {
    async fn filling(
        &self,
        tenant: &Tenant,
        instance: &str,
    ) -> Result<Option<Filling>, RuntimeError> {
        let Some(reader) = self.reference_reader(tenant, instance) else {
            return Ok(None);
        };
        Ok(Some(Filling {
            reader,
            values: self.secret_values(tenant).await?,
            redaction: Redaction::default(),
            left: FILLED_BYTES_MAX,
            lack: None,
        }))
    }

    /// A request with values in the place of the instance's references. `None`: it has none, and goes as it is.
    pub(crate) async fn filled_request(
        &self,
        tenant: &Tenant,
        instance: &str,
        request: &HttpRequest,
    ) -> Result<Option<Filled<HttpRequest>>, RuntimeError> {
        if !any_part(request, |text| text.contains(PREFIX)) {
            return Ok(None);
        }
        let Some(mut filling) = self.filling(tenant, instance).await? else {
            let begin = said_before_name(tenant, instance);
            let is_claimed = any_part(request, |text| claims_reference(text, &begin));
            return Ok(is_claimed.then(|| Filled::Refused(Unfilled::no_secrets())));
        };
        let filled = filling.request(request);
        Ok(Some(filling.finish(filled)))
    }

    /// A task as its handler is told it: sensitive inputs opened, and values in the place of references.
    pub(crate) async fn filled_task(
        &self,
        tenant: &Tenant,
        instance: &Instance,
        task: &OpenTask<'_>,
    ) -> Result<Filled<Value>, RuntimeError> {
        let id = instance.id.as_str();
        let mut redaction = Redaction::default();
        let mut body = task.body(instance, tenant.as_str());
        let declared = task.activity_type.inputs.iter();
        for input in declared.filter(|input| input.is_sensitive) {
            let inputs = body.get_mut("input").and_then(Value::as_object_mut);
            let Some(value) = inputs.and_then(|inputs| inputs.get_mut(&input.name)) else {
                continue;
            };
            let sealed = value.as_str();
            let Some(sealed) = sealed.filter(|text| text.starts_with(SEALED_PREFIX)) else {
                continue;
            };
            let vault = self.ports().vault.as_ref();
            let Some(mut plain) = vault.and_then(|vault| open_kept(vault, tenant, id, sealed))
            else {
                return Ok(Filled::Refused(Unfilled::sealed(&input.name)));
            };
            each_text(&mut plain, &mut |text| redaction.add_value(text));
            *value = plain;
        }
        if !any_text(&body, &|text| text.contains(PREFIX)) {
            return Ok(Filled::Done(body, redaction));
        }
        let Some(mut filling) = self.filling(tenant, id).await? else {
            let begin = said_before_name(tenant, id);
            return Ok(
                match any_text(&body, &|text| claims_reference(text, &begin)) {
                    true => Filled::Refused(Unfilled::no_secrets()),
                    false => Filled::Done(body, redaction),
                },
            );
        };
        filling.redaction = redaction;
        each_text(&mut body, &mut |text| {
            *text = filling.fill(text, Form::Plain);
        });
        Ok(filling.finish(body))
    }
}
