//! Elsa's functions between bytes, text and Base64.
//!
//! Bytes are an `ArrayBuffer` in a script, as in Elsa. As JSON they are Base64 text, so that is taken for bytes, too, and so
//! are arrays of numbers.

use std::rc::Rc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Result, TypedArray, Value as JsValue};

use super::current::Current;
use super::from_js::{bytes_of, read_bytes};
use super::host::Functions;

impl<'js> Functions<'js> {
    pub(super) fn add_bytes(&self) -> Result<()> {
        self.add_encoding("bytesToBase64")?;
        self.add_encoding("streamToBase64")?;
        let current = Rc::clone(&self.current);
        self.add(
            "bytesToString",
            move |ctx: Ctx<'js>, bytes: JsValue<'js>| {
                let bytes = to_bytes(&ctx, &bytes, &current)?;
                Ok::<_, rquickjs::Error>(String::from_utf8_lossy(&bytes).into_owned())
            },
        )?;
        let current = Rc::clone(&self.current);
        self.add(
            "streamToBytes",
            move |ctx: Ctx<'js>, bytes: JsValue<'js>| {
                ArrayBuffer::new_copy(ctx.clone(), to_bytes(&ctx, &bytes, &current)?)
            },
        )?;
        self.add("bytesFromString", |ctx: Ctx<'js>, text: Coerced<String>| {
            ArrayBuffer::new_copy(ctx, text.0.as_bytes())
        })?;
        self.add("bytesFromBase64", |ctx: Ctx<'js>, text: Coerced<String>| {
            ArrayBuffer::new_copy(ctx.clone(), decode(&ctx, &text.0)?)
        })?;
        self.add("stringToBase64", |text: Coerced<String>| {
            STANDARD.encode(text.0)
        })?;
        self.add(
            "stringFromBase64",
            |ctx: Ctx<'js>, text: Coerced<String>| {
                let bytes = decode(&ctx, &text.0)?;
                Ok::<_, rquickjs::Error>(String::from_utf8_lossy(&bytes).into_owned())
            },
        )
    }

    fn add_encoding(&self, name: &str) -> Result<()> {
        let current = Rc::clone(&self.current);
        self.add(name, move |ctx: Ctx<'js>, bytes: JsValue<'js>| {
            to_bytes(&ctx, &bytes, &current).map(|bytes| STANDARD.encode(bytes))
        })
    }
}

fn to_bytes<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>, current: &Current) -> Result<Vec<u8>> {
    if let Some(text) = value.as_string() {
        return decode(ctx, &text.to_string()?);
    }
    let object = value.as_object().ok_or_else(|| not_bytes(ctx))?;
    let bytes = bytes_of(object)?;
    let object = bytes.as_ref().map_or(object, TypedArray::as_object);
    let length: f64 = match &bytes {
        #[allow(clippy::cast_precision_loss, reason = "no array is longer than 2^53")]
        Some(bytes) => bytes.len() as f64,
        None if object.is_array() => object.get("length")?,
        None => return Err(not_bytes(ctx)),
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a length"
    )]
    let length = length as usize;
    if !current.budget.charge(length as u64) {
        return Err(current.stop(ctx));
    }
    read_bytes(object, length)
}

fn decode(ctx: &Ctx<'_>, text: &str) -> Result<Vec<u8>> {
    STANDARD
        .decode(text.trim())
        .map_err(|error| Exception::throw_type(ctx, &format!("this is not Base64: {error}")))
}

fn not_bytes(ctx: &Ctx<'_>) -> rquickjs::Error {
    Exception::throw_type(ctx, "bytes, an array of numbers or Base64 text expected")
}
