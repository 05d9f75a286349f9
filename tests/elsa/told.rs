//! Parts of an answer that a step asks for, and archives sent and answered.

use miniz_oxide::inflate::decompress_to_vec;
use serde_json::{Map, Value};

use crate::client::Reply;

/// The value at a path; `*` is every element.
pub(crate) fn found(value: &Value, path: &str) -> Value {
    let mut all = vec![value.clone()];
    let mut is_many = false;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        if key == "*" {
            is_many = true;
            let each = all.iter().flat_map(|v| match v {
                Value::Array(items) => items.clone(),
                Value::Object(members) => members.values().cloned().collect(),
                _ => Vec::new(),
            });
            all = each.collect();
        } else {
            let of = |v: &Value| match v {
                Value::Array(items) if key == "length" => Some(items.len().into()),
                Value::Array(items) => key.parse().ok().and_then(|k: usize| items.get(k).cloned()),
                Value::Object(members) => members.get(key).cloned(),
                _ => None,
            };
            all = all.iter().map(|v| of(v).unwrap_or_default()).collect();
        }
    }
    if is_many {
        Value::Array(all)
    } else {
        all.into_iter().next().unwrap_or_default()
    }
}

/// Changes the value at a path in place.
fn at_mut<'v>(value: &'v mut Value, path: &str) -> Option<&'v mut Value> {
    let mut at = value;
    for key in path.split('.').filter(|key| !key.is_empty()) {
        at = match at {
            Value::Array(items) => items.get_mut(key.parse::<usize>().ok()?)?,
            Value::Object(members) => members.get_mut(key)?,
            _ => return None,
        };
    }
    Some(at)
}

fn without(value: &Value, is_left_out: &dyn Fn(&str, &Value) -> bool) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|v| without(v, is_left_out)).collect(),
        Value::Object(members) => {
            let members = members.iter().filter(|(k, v)| !is_left_out(k, v));
            let members = members.map(|(k, v)| (k.clone(), without(v, is_left_out)));
            Value::Object(members.collect())
        }
        _ => value.clone(),
    }
}

fn shape(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().take(1).map(shape).collect(),
        Value::Object(members) => {
            let members = members.iter().map(|(k, v)| (k.clone(), shape(v)));
            Value::Object(members.collect())
        }
        Value::Null => "null".into(),
        Value::Bool(_) => "boolean".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
    }
}

/// What a step is told of its answer.
pub(crate) fn told(step: &Value, reply: &Reply) -> Value {
    let mut value = if step["zip"].as_bool().unwrap_or(false) {
        unzip(&reply.bytes)
    } else {
        reply.json()
    };
    let texts = |name: &str| {
        step[name]
            .as_str()
            .map(|t| t.split(',').collect::<Vec<_>>())
    };
    for sorted in texts("sort").into_iter().flatten() {
        let (path, by) = sorted.split_once(':').unwrap_or((sorted, ""));
        if let Some(Value::Array(items)) = at_mut(&mut value, path) {
            let key = |v: &Value| match by {
                "" => v.to_string(),
                by => v[by]
                    .as_str()
                    .map_or_else(|| v[by].to_string(), str::to_owned),
            };
            items.sort_by_key(key);
        }
    }
    if let Some(picked) = texts("pick") {
        value = picked.iter().map(|path| found(&value, path)).collect();
    }
    if let Some(omitted) = texts("omit") {
        value = without(&value, &|name, _| omitted.contains(&name));
    }
    if step["nulls"] == Value::Bool(false) {
        value = without(&value, &|_, v| v.is_null());
    }
    if step["shape"].as_bool().unwrap_or(false) {
        value = shape(&value);
    }
    value
}

fn number(bytes: &[u8], at: usize, width: usize) -> Option<usize> {
    let bytes = bytes.get(at..at + width)?;
    let bytes = bytes.iter().rev();
    Some(bytes.fold(0, |n, b| n << 8 | usize::from(*b)))
}

/// What is in an archive, by name; null if it is none.
fn unzip(bytes: &[u8]) -> Value {
    entries(bytes).map_or(Value::Null, Value::Object)
}

fn entries(bytes: &[u8]) -> Option<Map<String, Value>> {
    let end = bytes.windows(4).rposition(|w| w == b"PK\x05\x06")?;
    let count = number(bytes, end + 10, 2)?;
    let mut at = number(bytes, end + 16, 4)?;
    let mut entries = Map::new();
    for _ in 0..count {
        let part = |place, width| number(bytes, at + place, width);
        let (method, size, offset) = (part(10, 2)?, part(20, 4)?, part(42, 4)?);
        let (name, extra, comment) = (part(28, 2)?, part(30, 2)?, part(32, 2)?);
        let called = String::from_utf8_lossy(bytes.get(at + 46..at + 46 + name)?).into_owned();
        let from = offset + 30 + number(bytes, offset + 26, 2)? + number(bytes, offset + 28, 2)?;
        let raw = bytes.get(from..from + size)?;
        let content = if method == 0 {
            raw.to_vec()
        } else {
            decompress_to_vec(raw).ok()?
        };
        let text = String::from_utf8_lossy(&content).into_owned();
        let text = text.trim_start_matches('\u{feff}');
        let value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
        entries.insert(called, value);
        at += 46 + name + extra + comment;
    }
    Some(entries)
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 {
                sum >> 1 ^ 0xedb8_8320
            } else {
                sum >> 1
            };
        }
    }
    !sum
}

fn content(value: &Value) -> Vec<u8> {
    match value {
        Value::String(text) => text.clone().into_bytes(),
        other => other.to_string().into_bytes(),
    }
}

/// An archive of texts that are not compressed.
fn zip(contents: &Map<String, Value>) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).expect("a small archive");
    let put = |out: &mut Vec<u8>, value: u32, width: usize| {
        out.extend_from_slice(&value.to_le_bytes()[..width]);
    };
    for (name, value) in contents {
        let (at, data) = (length(&out), content(value));
        let mut facts = Vec::new();
        for (value, width) in [
            (20, 2),
            (0, 2),
            (0, 2),
            (0, 4),
            (checksum(&data), 4),
            (length(&data), 4),
            (length(&data), 4),
            (length(name.as_bytes()), 2),
            (0, 2),
        ] {
            put(&mut facts, value, width);
        }
        out.extend_from_slice(b"PK\x03\x04");
        out.extend_from_slice(&facts);
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(&data);
        directory.extend_from_slice(b"PK\x01\x02\x14\x00");
        directory.extend_from_slice(&facts);
        for (value, width) in [(0, 2), (0, 2), (0, 2), (0, 4), (at, 4)] {
            put(&mut directory, value, width);
        }
        directory.extend_from_slice(name.as_bytes());
    }
    let count = u32::try_from(contents.len()).expect("few entries");
    let (at, size) = (length(&out), length(&directory));
    out.extend_from_slice(&directory);
    out.extend_from_slice(b"PK\x05\x06");
    for (value, width) in [
        (0, 2),
        (0, 2),
        (count, 2),
        (count, 2),
        (size, 4),
        (at, 4),
        (0, 2),
    ] {
        put(&mut out, value, width);
    }
    out
}

/// Separates the parts of an upload.
pub(crate) const BOUNDARY: &str = "----recorded-case";

/// A form with files.
pub(crate) fn upload(files: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    for file in files.as_array().into_iter().flatten() {
        let archive = file["zip"].as_object();
        let usual = if archive.is_some() {
            "application/zip"
        } else {
            "application/json"
        };
        let text = |name: &str, usual: &str| file[name].as_str().unwrap_or(usual).to_owned();
        let head = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"; filename=\"{}\"\r\nContent-Type: {}\r\n\r\n",
            text("field", "files"),
            text("name", "blob"),
            text("type", usual),
        );
        out.extend_from_slice(head.as_bytes());
        out.extend(archive.map_or_else(|| content(&file["text"]), zip));
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    out
}

#[test]
fn an_archive_comes_back_as_it_was_packed() {
    let packed = serde_json::json!({ "a.json": { "x": 1 }, "b.txt": "text" });
    let bytes = zip(packed.as_object().expect("members"));
    assert_eq!(unzip(&bytes), packed);
    assert_eq!(unzip(b"nothing"), Value::Null);
}
