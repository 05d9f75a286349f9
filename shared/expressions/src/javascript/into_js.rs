//! JSON to JavaScript: copies a value of the workflow into the interpreter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rquickjs::function::This;
use rquickjs::object::Property;
use rquickjs::{
    Array, ArrayBuffer, Constructor, Ctx, Function, Object, Result, String as JsString,
    Value as JsValue,
};
use serde_json::{Map, Number, Value};

use super::current::Current;
use crate::Kind;
use crate::budget::Reached;

/// Copies `value` into the interpreter; every node counts as an operation.
pub(super) fn into_js<'js>(
    ctx: &Ctx<'js>,
    value: &Value,
    current: &Current,
) -> Result<JsValue<'js>> {
    copy(ctx, value, current, 0)
}

/// Copies a value of a kind into the interpreter: a date as a `Date`, .NET's types as what stands in for them.
pub(super) fn into_js_kind<'js>(
    ctx: &Ctx<'js>,
    value: &Value,
    kind: Kind,
    current: &Current,
) -> Result<JsValue<'js>> {
    let copied = into_js(ctx, value, current)?;
    if let Some(items) = copied.as_array() {
        return typed_items(ctx, value, kind, current, items);
    }
    if let Some(object) = copied.as_object() {
        if kind == Kind::Node {
            as_nodes(ctx, &copied, current)?;
        } else if matches!(kind, Kind::Json | Kind::Dictionary) {
            for member in object.values::<JsValue>() {
                as_nodes(ctx, &member?, current)?;
            }
        }
        if let Some(prototype) = current.prototype(ctx, kind)? {
            object.set_prototype(Some(&prototype))?;
        }
        return Ok(copied);
    }
    if !value.is_string() {
        return Ok(copied);
    }
    if kind == Kind::Bytes {
        // .NET's bytes are a buffer to scripts; text that is none stays text.
        return match STANDARD.decode(value.as_str().unwrap_or_default()) {
            Ok(bytes) => ArrayBuffer::new_copy(ctx.clone(), bytes).map(ArrayBuffer::into_value),
            Err(_) => Ok(copied),
        };
    }
    let globals = ctx.globals();
    match kind {
        Kind::DateTime => {
            let date: Constructor = globals.get("Date")?;
            date.construct((copied,))
        }
        Kind::TimeSpan | Kind::Guid => {
            let name = if kind == Kind::Guid {
                "Guid"
            } else {
                "TimeSpan"
            };
            let class: Object = globals.get(name)?;
            let parse: Function = class.get("Parse")?;
            parse.call((This(class), copied))
        }
        Kind::Plain
        | Kind::Double
        | Kind::Bytes
        | Kind::Json
        | Kind::Dictionary
        | Kind::Node
        | Kind::ListOfJson
        | Kind::Texts
        | Kind::BigInteger
        | Kind::Function
        | Kind::Opaque => Ok(copied),
    }
}

/// A list with its items as values of its kind.
fn typed_items<'js>(
    ctx: &Ctx<'js>,
    value: &Value,
    kind: Kind,
    current: &Current,
    items: &Array<'js>,
) -> Result<JsValue<'js>> {
    if kind == Kind::ListOfJson {
        for item in items.iter::<JsValue>() {
            as_nodes(ctx, &item?, current)?;
        }
    } else if matches!(kind, Kind::DateTime | Kind::TimeSpan | Kind::Guid) {
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            items.set(index, into_js_kind(ctx, item, kind, current)?)?;
        }
    }
    Ok(items.clone().into_value())
}

/// Makes objects of JSON of all objects in a value.
fn as_nodes<'js>(ctx: &Ctx<'js>, value: &JsValue<'js>, current: &Current) -> Result<()> {
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    if let (false, Some(prototype)) = (value.is_array(), current.prototype(ctx, Kind::Node)?) {
        object.set_prototype(Some(&prototype))?;
    }
    for member in object.values::<JsValue>() {
        as_nodes(ctx, &member?, current)?;
    }
    Ok(())
}

fn copy<'js>(
    ctx: &Ctx<'js>,
    value: &Value,
    current: &Current,
    depth: usize,
) -> Result<JsValue<'js>> {
    match value {
        Value::Null => Ok(JsValue::new_null(ctx.clone())),
        Value::Bool(flag) => Ok(JsValue::new_bool(ctx.clone(), *flag)),
        Value::Number(number) => Ok(copy_number(ctx, number)),
        Value::String(text) => {
            if !current.budget.charge(text.len() as u64 / 64) {
                return Err(current.stop(ctx));
            }
            JsString::from_str(ctx.clone(), text).map(JsString::into_value)
        }
        Value::Array(items) => copy_array(ctx, items, current, depth + 1),
        Value::Object(entries) => copy_object(ctx, entries, current, depth + 1),
    }
}

fn copy_number<'js>(ctx: &Ctx<'js>, number: &Number) -> JsValue<'js> {
    match number
        .as_i64()
        .and_then(|integer| i32::try_from(integer).ok())
    {
        Some(small) => JsValue::new_int(ctx.clone(), small),
        None => JsValue::new_float(ctx.clone(), number.as_f64().unwrap_or(f64::NAN)),
    }
}

fn copy_array<'js>(
    ctx: &Ctx<'js>,
    items: &[Value],
    current: &Current,
    depth: usize,
) -> Result<JsValue<'js>> {
    enter(ctx, items.len(), current, depth)?;
    let array = Array::new(ctx.clone())?;
    for (index, item) in items.iter().enumerate() {
        array.set(index, copy(ctx, item, current, depth)?)?;
    }
    Ok(array.into_value())
}

fn copy_object<'js>(
    ctx: &Ctx<'js>,
    entries: &Map<String, Value>,
    current: &Current,
    depth: usize,
) -> Result<JsValue<'js>> {
    enter(ctx, entries.len(), current, depth)?;
    let object = Object::new(ctx.clone())?;
    if let Some(prototype) = current.prototype(ctx, Kind::Plain)? {
        object.set_prototype(Some(&prototype))?;
    }
    // What a child gave is there in both casings, as members of .NET are, and is told of in one.
    let is_twofold = entries.contains_key("WorkflowDefinitionVersionId")
        && entries.contains_key("workflowInstanceId");
    for (key, entry) in entries {
        let entry = copy(ctx, entry, current, depth)?;
        if is_twofold && key.starts_with(|c: char| c.is_ascii_lowercase()) {
            object.prop(
                key.as_str(),
                Property::from(entry).writable().configurable(),
            )?;
            continue;
        }
        define(&object, key, entry)?;
    }
    Ok(object.into_value())
}

/// Gives `object` its own property `key`, whatever its prototype has under that name.
pub(super) fn define<'js>(object: &Object<'js>, key: &str, value: JsValue<'js>) -> Result<()> {
    if is_inherited(key) {
        // An assignment would meet the prototype's accessor; JSON.parse defines, too.
        return object.prop(
            key,
            Property::from(value).writable().enumerable().configurable(),
        );
    }
    object.set(key, value)
}

fn is_inherited(key: &str) -> bool {
    key.starts_with("__")
        || matches!(
            key,
            "constructor"
                | "toString"
                | "valueOf"
                | "toLocaleString"
                | "hasOwnProperty"
                | "isPrototypeOf"
                | "propertyIsEnumerable"
        )
}

fn enter(ctx: &Ctx<'_>, nodes: usize, current: &Current, depth: usize) -> Result<()> {
    if depth > current.budget.limits().depth_max {
        current.budget.reach(Reached::Depth);
    }
    if current.budget.charge(nodes as u64 + 1) && depth <= current.budget.limits().depth_max {
        return Ok(());
    }
    Err(current.stop(ctx))
}
