//! Values in the place of references, in what leaves for outside; and nothing of them in what comes back.

use std::collections::BTreeSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_engine::call::{Answer, HttpRequest};
use dormouse_engine::sensitive::REDACTED;
use dormouse_store::Tenant;
use serde_json::Value;

use crate::error::RuntimeError;
use crate::runtime::Runtime;
use crate::runtime::secret_references::{KEPT, PREFIX, Piece, Reader, Values, open_kept};

/// Shorter values are not looked for in what comes back: they would be found everywhere.
const MARK_LENGTH_MIN: usize = 4;

/// Puts values in the place of an instance's references.
pub(crate) struct Filling {
    reader: Reader,
    values: Arc<Values>,
    /// What was put anywhere, in the forms that it was put in.
    redaction: Redaction,
    /// The first secret that has no value.
    missing: Option<String>,
}

/// What must not come back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Redaction(BTreeSet<String>);

/// How a value is written where it is put.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Json,
    Percent,
}

impl Form {
    fn of(self, value: &str) -> String {
        match self {
            Self::Plain => value.to_owned(),
            Self::Json => {
                let quoted = Value::String(value.to_owned()).to_string();
                let inner = quoted.get(1..quoted.len().saturating_sub(1));
                inner.unwrap_or_default().to_owned()
            }
            Self::Percent => form_urlencoded::byte_serialize(value.as_bytes())
                .collect::<String>()
                .replace('+', "%20"),
        }
    }

    /// The form of a body.
    fn of_body(request: &HttpRequest) -> Self {
        let mut headers = request.headers.iter();
        let kind = headers.find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let kind = kind.map(|(_, value)| value.to_ascii_lowercase());
        match kind.unwrap_or_default() {
            kind if kind.contains("json") => Self::Json,
            kind if kind.contains("x-www-form-urlencoded") => Self::Percent,
            _ => Self::Plain,
        }
    }
}

/// The credentials of a `Basic` header, decoded.
fn basic(header: &str) -> Option<String> {
    let (scheme, encoded) = header.split_once(' ')?;
    let is_basic = scheme.eq_ignore_ascii_case("basic");
    let bytes = is_basic.then(|| STANDARD.decode(encoded.trim()).ok())??;
    String::from_utf8(bytes).ok()
}

/// Whether anything in a request looks like a reference.
fn may_name_secrets(request: &HttpRequest) -> bool {
    let in_body = request.body.as_ref().is_some_and(|body| {
        let mut windows = body.windows(PREFIX.len());
        windows.any(|part| part == PREFIX.as_bytes())
    });
    let in_header = |value: &str| {
        value.contains(PREFIX) || basic(value).is_some_and(|text| text.contains(PREFIX))
    };
    in_body
        || request.url.contains(PREFIX)
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
                Piece::Secret(name) => match self.values.get(&name) {
                    Some(value) => {
                        for form in [Form::Plain, Form::Json, Form::Percent] {
                            self.redaction.add(form.of(value));
                        }
                        filled.push_str(&form.of(value));
                    }
                    None => self.missing = Some(name),
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
        // A body that is no text has no references.
        let body = request.body.as_deref().map(str::from_utf8);
        if let Some(Ok(body)) = body {
            filled.body = Some(self.fill(body, Form::of_body(request)).into_bytes());
        }
        filled
    }

    fn finish<T>(self, filled: T) -> Filled<T> {
        match self.missing {
            Some(name) => Filled::NoSuchSecret(name),
            None => Filled::Done(filled, self.redaction),
        }
    }
}

/// What became of filling.
pub(crate) enum Filled<T> {
    /// This is to be sent, and that not to come back.
    Done(T, Redaction),
    /// There is no secret of that name, or it does not count.
    NoSuchSecret(String),
}

/// What is said of a secret that is not there.
pub(crate) fn no_such_secret(name: &str) -> String {
    format!(
        "there is no secret `{name}` that counts: it was never set, is revoked, or has expired; list secrets with `dormouse secrets list`"
    )
}

impl Redaction {
    /// All values of a tenant.
    pub(crate) fn of(values: &Values) -> Self {
        let mut all = Self::default();
        for value in values.values() {
            for form in [Form::Plain, Form::Json, Form::Percent] {
                all.add(form.of(value));
            }
        }
        all
    }

    fn add(&mut self, mark: String) {
        if mark.len() >= MARK_LENGTH_MIN {
            self.0.insert(mark);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the values out of a text, the longest first: one may be a part of another.
    pub(crate) fn text(&self, text: &mut String) {
        let mut marks: Vec<&String> = self.0.iter().collect();
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.len()));
        for mark in marks {
            if text.contains(mark.as_str()) {
                *text = text.replace(mark.as_str(), REDACTED);
            }
        }
    }

    /// Takes them out of every text of a value, and out of the names of its members.
    pub(crate) fn json(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        let is_in_names = self.0.iter().any(|mark| value.to_string().contains(mark));
        each_text(value, &mut |text| self.text(text));
        if is_in_names {
            // Whatever is left is in names or spread over what is no text.
            let mut text = value.to_string();
            self.text(&mut text);
            if let Ok(read) = serde_json::from_str(&text) {
                *value = read;
            }
        }
    }

    fn bytes(&self, bytes: &mut Vec<u8>) {
        if self.is_empty() {
            return;
        }
        let mut marks: Vec<&[u8]> = self.0.iter().map(String::as_bytes).collect();
        marks.sort_by_key(|mark| std::cmp::Reverse(mark.len()));
        let (mut clean, mut rest) = (Vec::with_capacity(bytes.len()), bytes.as_slice());
        while let Some((first, others)) = rest.split_first() {
            match marks.iter().find_map(|mark| rest.strip_prefix(*mark)) {
                Some(after) => {
                    clean.extend_from_slice(REDACTED.as_bytes());
                    rest = after;
                }
                None => {
                    clean.push(*first);
                    rest = others;
                }
            }
        }
        *bytes = clean;
    }

    /// Takes them out of an answer.
    pub(crate) fn answer(&self, answer: &mut Answer) {
        match answer {
            Answer::Http { headers, body, .. } => {
                headers
                    .values_mut()
                    .flatten()
                    .for_each(|value| self.text(value));
                self.bytes(body);
            }
            Answer::FailedToConnect { message }
            | Answer::Refused { message }
            | Answer::NotStarted { message } => self.text(message),
            Answer::TimedOut | Answer::Executed { .. } | Answer::Found => {}
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
            missing: None,
        }))
    }

    /// A request with values in the place of the instance's references. `None`: it has none, and goes as it is.
    pub(crate) async fn filled_request(
        &self,
        tenant: &Tenant,
        instance: &str,
        request: &HttpRequest,
    ) -> Result<Option<Filled<HttpRequest>>, RuntimeError> {
        if !may_name_secrets(request) {
            return Ok(None);
        }
        let filling = self.filling(tenant, instance).await?;
        Ok(filling.map(|mut filling| {
            let filled = filling.request(request);
            filling.finish(filled)
        }))
    }

    /// The same with the body of a task.
    pub(crate) async fn filled_body(
        &self,
        tenant: &Tenant,
        instance: &str,
        mut body: Value,
    ) -> Result<Filled<Value>, RuntimeError> {
        let mut redaction = Redaction::default();
        if let (Some(vault), Some(Value::Object(inputs))) =
            (&self.ports().vault, body.get_mut("input"))
        {
            for value in inputs.values_mut() {
                let sealed = value.as_str().filter(|text| text.starts_with(KEPT));
                if let Some(plain) =
                    sealed.and_then(|text| open_kept(vault, tenant, instance, text))
                {
                    each_text(&mut plain.clone(), &mut |text| redaction.add(text.clone()));
                    *value = plain;
                }
            }
        }
        if !any_text(&body, &|text| text.contains(PREFIX)) {
            return Ok(Filled::Done(body, redaction));
        }
        let Some(mut filling) = self.filling(tenant, instance).await? else {
            return Ok(Filled::Done(body, redaction));
        };
        filling.redaction = redaction;
        each_text(&mut body, &mut |text| {
            *text = filling.fill(text, Form::Plain)
        });
        Ok(filling.finish(body))
    }

    /// What must not come back from a worker: which secrets it was given is not known here.
    pub(crate) async fn tenants_redaction(
        &self,
        tenant: &Tenant,
    ) -> Result<Redaction, RuntimeError> {
        Ok(Redaction::of(&*self.secret_values(tenant).await?))
    }
}
