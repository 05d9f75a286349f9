//! Bodies of requests, read by counted bytes, and JSON in them.

use std::pin::pin;
use std::time::Instant;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use axum::http::header;
use dormouse_engine::http::JsonError;
use futures_util::future::{Either, select};
use http_body_util::BodyExt;
use serde::de::{DeserializeOwned, Visitor};
use serde::{Deserializer, forward_to_deserialize_any};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::memory::Ledger;
use crate::refusal::{Overload, Refusal};

/// The deepest JSON taken; serde_json's own limit.
pub(crate) const DEPTH_MAX: usize = 128;

/// The bytes of a body, at most the server's limit of them, whatever the request declares.
#[derive(Debug)]
pub(crate) struct Body(pub(crate) Bytes);

/// A body that was read and counted before the handler asks for it; among a request's extensions.
#[derive(Debug, Clone)]
pub(crate) struct Read(pub(crate) Bytes);

/// Time for a body to begin, in ms, and the least speed afterwards.
const GRACE_MS: u64 = 10_000;
const BYTES_PER_MS_MIN: u64 = 8;

impl FromRequest<App> for Body {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if let Some(Read(bytes)) = request.extensions().get::<Read>() {
            return Ok(Self(bytes.clone()));
        }
        let ledger = Ledger::of(&request, app);
        let bytes = read(request, app, &ledger).await?;
        let is_structure = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        if is_structure {
            ledger.take_json(&bytes, app.config().parsed_bytes_max)?;
        }
        Ok(Self(bytes))
    }
}

/// Reads a body by counted bytes, at most the server's limit of them, and not for ever.
async fn read(request: Request, app: &App, ledger: &Ledger) -> Result<Bytes, Refusal> {
    let limit = app.config().body_bytes_max;
    let clock = &app.runtime().ports().clock;
    let began = Instant::now();
    let mut body = request.into_body();
    let mut whole = Vec::new();
    loop {
        let spent_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let granted_ms = GRACE_MS + whole.len() as u64 / BYTES_PER_MS_MIN;
        let left_ms = granted_ms.saturating_sub(spent_ms);
        let next = pin!(body.frame());
        let frame = match select(next, clock.sleep(left_ms)).await {
            Either::Left((Some(frame), _)) => frame,
            Either::Left((None, _)) => break,
            Either::Right(_) => return Err(Overload::SlowBody.into()),
        };
        let frame = frame.map_err(|error| Refusal::BodyBroken {
            reason: error.to_string(),
        })?;
        let Ok(data) = frame.into_data() else {
            continue;
        };
        if whole.len() + data.len() > limit {
            return Err(Refusal::BodyTooLarge { limit });
        }
        ledger.take_body(data.len())?;
        whole.extend_from_slice(&data);
    }
    Ok(whole.into())
}

/// A JSON body of a route of our own. An empty one counts as `{}`; the content type is not asked for.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        let Body(bytes) = Body::from_request(request, app).await?;
        parse(&bytes).map(Self)
    }
}

/// A JSON body of one of Elsa's routes: it must say that it is JSON, and there must be one. `null` counts as `{}`, and
/// members are read in any case.
#[derive(Debug)]
pub(crate) struct ElsaJson<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for ElsaJson<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if !is_json(&request) {
            return Err(Refusal::NotJsonType);
        }
        let Body(bytes) = Body::from_request(request, app).await?;
        whole(&bytes).map(Self)
    }
}

/// The bytes of a JSON body of one of Elsa's routes, which reads them itself.
#[derive(Debug)]
pub(crate) struct ElsaBody(pub(crate) Bytes);

impl FromRequest<App> for ElsaBody {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if !is_json(&request) {
            return Err(Refusal::NotJsonType);
        }
        let Body(bytes) = Body::from_request(request, app).await?;
        match serde_json::from_slice::<serde::de::IgnoredAny>(&bytes) {
            Ok(_) => Ok(Self(bytes)),
            Err(error) => Err(broken(&bytes, &error)),
        }
    }
}

/// The same of a route that also answers GET: what does not say that it is JSON counts as `{}`.
#[derive(Debug)]
pub(crate) struct ElsaJsonOrNone<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for ElsaJsonOrNone<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if !is_json(&request) {
            return whole(b"{}").map(Self);
        }
        let Body(bytes) = Body::from_request(request, app).await?;
        whole(&bytes).map(Self)
    }
}

/// The same where also an empty body counts as `{}`.
#[derive(Debug)]
pub(crate) struct ElsaJsonOrEmpty<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for ElsaJsonOrEmpty<T> {
    type Rejection = Refusal;

    async fn from_request(request: Request, app: &App) -> Result<Self, Refusal> {
        if !is_json(&request) {
            return whole(b"{}").map(Self);
        }
        let Body(bytes) = Body::from_request(request, app).await?;
        let is_empty = bytes.trim_ascii().is_empty();
        whole(if is_empty { b"{}" } else { &bytes }).map(Self)
    }
}

fn is_json(request: &Request) -> bool {
    let kind = request.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let bare = kind.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case("application/json")
}

/// Reads one of Elsa's requests.
fn whole<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| broken(bytes, &error))?;
    let value = if value.is_null() { json!({}) } else { value };
    if !value.is_object() {
        let reason = "it is no object".to_owned();
        return Err(Refusal::WrongShape { reason });
    }
    T::deserialize(AnyCase(value)).map_err(|error| {
        let is_no_text = error.to_string().contains("expected a string");
        match is_no_text.then(|| no_text::<T>(bytes)).flatten() {
            Some((name, token)) => {
                let told = format!("Cannot get the value of a token type '{token}' as a string.");
                Refusal::invalid(name, told)
            }
            None => refused(&error),
        }
    })
}

/// How large a request may be for its wrong member to be looked for, in bytes, and how many members it may have: each is
/// tried.
const NO_TEXT_BYTES_MAX: usize = 16 * 1_024;
const NO_TEXT_MEMBERS_MAX: usize = 32;

/// The member that is no text where one is wanted, and .NET's name of what it is: without it, the request can be read.
fn no_text<T: DeserializeOwned>(bytes: &[u8]) -> Option<(String, &'static str)> {
    if bytes.len() > NO_TEXT_BYTES_MAX {
        return None;
    }
    let members: Map<String, Value> = serde_json::from_slice(bytes).ok()?;
    if members.len() > NO_TEXT_MEMBERS_MAX {
        return None;
    }
    members.iter().find_map(|(name, value)| {
        let token = match value {
            Value::Object(_) => "StartObject",
            Value::Array(_) => "StartArray",
            Value::Number(_) => "Number",
            Value::Bool(true) => "True",
            Value::Bool(false) => "False",
            Value::Null | Value::String(_) => return None,
        };
        let mut others = members.clone();
        others.shift_remove(name);
        T::deserialize(AnyCase(others.into())).ok()?;
        let mut chars = name.chars();
        let first = chars.next().map(|c| c.to_ascii_lowercase());
        Some((first.into_iter().chain(chars).collect(), token))
    })
}

fn broken(bytes: &[u8], error: &serde_json::Error) -> Refusal {
    match (JsonError::find(bytes), refused(error)) {
        (Some(found), Refusal::NotJson { .. }) => Refusal::NotJson {
            reason: found.sentence(),
        },
        (_, refusal) => refusal,
    }
}

/// JSON whose members have their names in any case.
struct AnyCase(Value);

impl<'de> Deserializer<'de> for AnyCase {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.0.deserialize_any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.0.deserialize_option(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        if let Value::Object(members) = &mut self.0 {
            let named = std::mem::take(members).into_iter().map(|(name, value)| {
                let field = fields.iter().find(|f| f.eq_ignore_ascii_case(&name));
                (field.map_or(name, |f| (*f).to_owned()), value)
            });
            *members = named.collect();
        }
        self.0.deserialize_struct(name, fields, visitor)
    }

    /// A struct with flattened members asks for a map: its names are made camelCase.
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Self::Error> {
        if let Value::Object(members) = &mut self.0 {
            let named = std::mem::take(members).into_iter().map(|(name, value)| {
                let mut chars = name.chars();
                let first = chars.next().map(|c| c.to_ascii_lowercase());
                (first.into_iter().chain(chars).collect(), value)
            });
            *members = named.collect();
        }
        self.0.deserialize_map(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct enum identifier ignored_any
    }
}

/// Reads JSON; nothing at all counts as `{}`.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let bytes = if bytes.trim_ascii().is_empty() {
        b"{}"
    } else {
        bytes
    };
    serde_json::from_slice(bytes).map_err(|error| refused(&error))
}

/// Takes a value out of JSON that was read already.
pub(crate) fn shape<T: DeserializeOwned>(value: Value) -> Result<T, Refusal> {
    serde_json::from_value(value).map_err(|error| refused(&error))
}

fn refused(error: &serde_json::Error) -> Refusal {
    let reason = error.to_string();
    if reason.starts_with("recursion limit exceeded") {
        Refusal::JsonTooDeep { limit: DEPTH_MAX }
    } else if error.is_data() {
        Refusal::WrongShape { reason }
    } else {
        Refusal::NotJson { reason }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize, Debug, PartialEq, Default)]
    #[serde(rename_all = "camelCase", default)]
    struct Sample {
        page_size: Option<u32>,
        name: String,
    }

    #[test]
    fn members_are_read_in_any_case_and_null_is_an_empty_object() {
        let read = |text: &str| whole::<Sample>(text.as_bytes()).unwrap();
        let sample = read("{\"PageSize\": 2, \"NAME\": \"a\", \"other\": 1}");
        assert_eq!((sample.page_size, sample.name.as_str()), (Some(2), "a"));
        assert_eq!(read("null"), Sample::default());
        assert!(whole::<Sample>(b"").is_err());
        assert!(whole::<Sample>(b"[1]").is_err());
    }

    #[test]
    fn what_is_wrong_with_a_body_is_told_apart() {
        assert_eq!(parse::<Value>(b" \n").unwrap(), serde_json::json!({}));
        assert!(matches!(
            parse::<Value>(b"{\"a\":"),
            Err(Refusal::NotJson { .. })
        ));
        assert!(matches!(
            parse::<Vec<u8>>(b"{}"),
            Err(Refusal::WrongShape { .. })
        ));
        let deep = "[".repeat(200);
        assert!(matches!(
            parse::<Value>(deep.as_bytes()),
            Err(Refusal::JsonTooDeep { .. })
        ));
    }
}
