//! JavaScript to JSON: copies what leaves a script, within the limits of output and nesting.
//!
//! `undefined`, functions and symbols become null, as do NaN and the infinities, which JSON cannot say. Whole
//! numbers become JSON integers, dates and .NET-like values their text, byte arrays Base64 text (as .NET serialises
//! them), promises what they were settled with, big integers a number where it fits and text where it does not. As in
//! Elsa, a `toJSON` of the script's own is not asked.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::Value as JsValue;
use rquickjs::object::Filter;
use rquickjs::{ArrayBuffer, Coerced, Ctx, Exception, Function, Object, Result, Type, TypedArray};
use rquickjs::{Atom, FromJs as _, function::This};
use serde_json::{Map, Number, Value};

use super::current::Current;
use crate::budget::Reached;

/// The largest number of which every smaller whole number is exact in a double.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// Copies `value` out of the interpreter. Getters of the script may run meanwhile.
pub(super) fn from_js<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
) -> Result<Value> {
    copy(ctx, value, current, 0)
}

fn copy<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
    depth: usize,
) -> Result<Value> {
    match value.type_of() {
        Type::Bool => emit(ctx, current, 5).map(|()| Value::from(value.as_bool())),
        Type::Int => emit(ctx, current, 4).map(|()| Value::from(value.as_int())),
        Type::Float => {
            let double = value.as_float().unwrap_or(f64::NAN);
            if !double.is_finite() {
                current.met_unwritable.set(true);
            }
            emit(ctx, current, 8).map(|()| number(double))
        }
        Type::String => copy_text(ctx, value, current).map(Value::String),
        Type::BigInt => copy_big_integer(ctx, value, current),
        Type::Array => copy_array(ctx, value, current, depth + 1),
        Type::Object | Type::Exception | Type::Promise | Type::Proxy => {
            copy_object(ctx, value, current, depth + 1)
        }
        Type::Constructor | Type::Function => {
            current.met_function.set(true);
            current.met_unwritable.set(true);
            emit(ctx, current, 4).map(|()| Value::Null)
        }
        Type::Uninitialized
        | Type::Undefined
        | Type::Null
        | Type::Symbol
        | Type::Module
        | Type::Unknown => emit(ctx, current, 4).map(|()| Value::Null),
    }
}

/// A double as JSON: whole numbers are integers but for minus zero, and what is no number is null.
pub(crate) fn number(double: f64) -> Value {
    let is_negative_zero = double == 0.0 && double.is_sign_negative();
    if double.fract() == 0.0 && double.abs() <= EXACT_INTEGER_MAX && !is_negative_zero {
        #[allow(
            clippy::cast_possible_truncation,
            reason = "whole and within the exact range"
        )]
        return Value::from(double as i64);
    }
    Number::from_f64(double).map_or(Value::Null, Value::Number)
}

/// The text of a string; halves of surrogate pairs become U+FFFD, as UTF-8 cannot hold them.
pub(super) fn copy_text<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
) -> Result<String> {
    let text = match String::from_js(ctx, value.clone()) {
        Err(rquickjs::Error::Utf8(_)) => {
            let repair: Function = value_method(ctx, "toWellFormed")?;
            repair.call((This(value),))?
        }
        other => other?,
    };
    emit(ctx, current, text.len() + 2)?;
    Ok(text)
}

fn value_method<'js>(ctx: &Ctx<'js>, name: &str) -> Result<Function<'js>> {
    let string: Object = ctx.globals().get("String")?;
    let prototype: Object = string.get("prototype")?;
    prototype.get(name)
}

fn copy_big_integer<'js>(ctx: &Ctx<'js>, value: JsValue<'js>, current: &Current) -> Result<Value> {
    let Coerced(digits) = Coerced::<String>::from_js(ctx, value)?;
    emit(ctx, current, digits.len() + 2)?;
    Ok(match (digits.parse::<i64>(), digits.parse::<u64>()) {
        (Ok(signed), _) => Value::from(signed),
        (Err(_), Ok(unsigned)) => Value::from(unsigned),
        (Err(_), Err(_)) => Value::String(digits),
    })
}

fn copy_array<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
    depth: usize,
) -> Result<Value> {
    enter(ctx, current, depth)?;
    let array = Object::from_js(ctx, value)?;
    let length: f64 = array.get("length")?;
    let mut items = Vec::new();
    let mut index = 0_u32;
    while f64::from(index) < length {
        emit(ctx, current, 1)?;
        items.push(copy(ctx, array.get(index)?, current, depth)?);
        index += 1;
    }
    Ok(Value::Array(items))
}

fn copy_object<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
    depth: usize,
) -> Result<Value> {
    enter(ctx, current, depth)?;
    let object = Object::from_js(ctx, value.clone())?;
    if let Some(bytes) = bytes_of(&object)? {
        return copy_bytes(ctx, bytes.as_object(), bytes.len(), current);
    }
    // What stands in for a type of .NET leaves as its text, whatever JSON.stringify shows of it.
    let text: JsValue = object.get("text$")?;
    if let Some(text) = text.as_function() {
        return copy(ctx, text.call((This(value),))?, current, depth);
    }
    if let Some(primitive) = wrapped(&object)? {
        return copy(ctx, primitive, current, depth);
    }
    if let Some(date) = date_text(&object)? {
        emit(ctx, current, date.len() + 2)?;
        return Ok(Value::String(date));
    }
    if let Some(promise) = value.as_promise() {
        return match promise.result::<JsValue>() {
            Some(settled) => copy(ctx, settled?, current, depth),
            None => Ok(Value::Object(Map::new())),
        };
    }
    copy_entries(ctx, &object, current, depth)
}

/// The value in an object around a number, a text or a truth value.
fn wrapped<'js>(object: &Object<'js>) -> Result<Option<JsValue<'js>>> {
    let globals = object.ctx().globals();
    for name in ["Number", "String", "Boolean"] {
        let class: JsValue = globals.get(name)?;
        if class
            .as_object()
            .is_some_and(|class| object.is_instance_of(class))
        {
            let value_of: JsValue = object.get("valueOf")?;
            return match value_of.as_function() {
                Some(value_of) => value_of.call((This(object.clone()),)).map(Some),
                None => Ok(None),
            };
        }
    }
    Ok(None)
}

/// A date as .NET writes it in JSON: without zeros at the end of the fraction. `None`: the object is no date, or is
/// none that .NET has.
fn date_text(object: &Object<'_>) -> Result<Option<String>> {
    let date: JsValue = object.ctx().globals().get("Date")?;
    let is_date = date
        .as_object()
        .is_some_and(|date| object.is_instance_of(date));
    let to_iso: JsValue = object.get("toISOString")?;
    let (true, Some(to_iso)) = (is_date, to_iso.as_function()) else {
        return Ok(None);
    };
    let time: f64 = match object.get::<_, JsValue>("getTime")?.as_function() {
        Some(get_time) => get_time.call((This(object.clone()),))?,
        None => return Ok(None),
    };
    if !time.is_finite() {
        return Err(Exception::throw_range(object.ctx(), "Invalid time value"));
    }
    let text: Coerced<String> = to_iso.call((This(object.clone()),))?;
    let Some((clock, fraction)) = text.0.trim_end_matches('Z').split_once('.') else {
        return Ok(Some(text.0));
    };
    Ok(Some(match fraction.trim_end_matches('0') {
        // .NET's least date has no zone.
        "" if clock == "0001-01-01T00:00:00" => clock.to_owned(),
        "" => format!("{clock}Z"),
        fraction => format!("{clock}.{fraction}Z"),
    }))
}

fn copy_entries<'js>(
    ctx: &Ctx<'js>,
    object: &Object<'js>,
    current: &Current,
    depth: usize,
) -> Result<Value> {
    let mut entries = Map::new();
    for key in object.own_keys::<Atom>(Filter::new().string().enum_only()) {
        let key = key?;
        let name = copy_text(ctx, key.to_value()?, current)?;
        emit(ctx, current, 2)?;
        let entry = copy(ctx, object.get(key)?, current, depth)?;
        entries.insert(name, entry);
    }
    Ok(Value::Object(entries))
}

/// The bytes that a typed array or a buffer is.
pub(super) fn bytes_of<'js>(object: &Object<'js>) -> Result<Option<TypedArray<'js, u8>>> {
    if let Some(bytes) = object.as_typed_array::<u8>() {
        return Ok(Some(bytes.clone()));
    }
    if object.as_array_buffer().is_none() {
        return Ok(None);
    }
    match ArrayBuffer::from_object(object.clone()) {
        Some(buffer) => TypedArray::from_arraybuffer(buffer).map(Some),
        None => Ok(None),
    }
}

/// Copies what `toJson` writes. A serialiser of .NET writes no number that is none, and no function.
pub(super) fn serializable<'js>(
    ctx: &Ctx<'js>,
    value: JsValue<'js>,
    current: &Current,
) -> Result<Value> {
    current.met_unwritable.set(false);
    let copied = from_js(ctx, value, current)?;
    if current.met_unwritable.get() {
        let problem = "functions and numbers that are not finite cannot be written as JSON";
        return Err(Exception::throw_type(ctx, problem));
    }
    Ok(copied)
}

fn copy_bytes<'js>(
    ctx: &Ctx<'js>,
    array: &Object<'js>,
    length: usize,
    current: &Current,
) -> Result<Value> {
    emit(ctx, current, length.div_ceil(3) * 4 + 2)?;
    let bytes = read_bytes(array, length)?;
    Ok(Value::String(STANDARD.encode(bytes)))
}

/// The bytes of a typed array, one by one: its buffer may not be borrowed while scripts can run.
pub(super) fn read_bytes(array: &Object<'_>, length: usize) -> Result<Vec<u8>> {
    (0..u32::try_from(length).unwrap_or(u32::MAX))
        .map(|index| array.get::<_, u8>(index))
        .collect()
}

fn emit(ctx: &Ctx<'_>, current: &Current, bytes: usize) -> Result<()> {
    if current.budget.emit(bytes) {
        return Ok(());
    }
    Err(current.stop(ctx))
}

fn enter(ctx: &Ctx<'_>, current: &Current, depth: usize) -> Result<()> {
    if depth > current.budget.limits().depth_max {
        current.budget.reach(Reached::Depth);
    }
    emit(ctx, current, 2)
}
