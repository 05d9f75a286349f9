//! A golden world: every item of a table, in a file that people can read and no build may change.

use std::path::{Path, PathBuf};

use dormouse_store::table::{Attributes, Item, Key, Value};
use serde_json::{Map, Value as Json, json};

/// Where the files lie: `1.json`, and one more for each change of a stored format.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/stored")
}

/// The golden worlds by number, the oldest first.
pub(crate) fn all() -> Vec<(u32, Vec<Item>)> {
    let mut numbers: Vec<u32> = std::fs::read_dir(folder())
        .unwrap()
        .filter_map(|entry| entry.unwrap().path().file_stem()?.to_str()?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let read = |number: u32| {
        let text = std::fs::read_to_string(folder().join(format!("{number}.json"))).unwrap();
        let json: Vec<Json> = serde_json::from_str(&text).unwrap();
        (number, json.iter().map(item).collect())
    };
    numbers.into_iter().map(read).collect()
}

/// Writes a further one. Those that are there stay as they are for ever.
pub(crate) fn add(number: u32, items: &[Item]) {
    let json: Vec<Json> = items.iter().map(json_of).collect();
    let text = serde_json::to_string_pretty(&json).unwrap() + "\n";
    std::fs::write(folder().join(format!("{number}.json")), text).unwrap();
}

fn json_of(item: &Item) -> Json {
    let attributes = item.attributes.iter().map(|(name, value)| {
        let value = match value {
            Value::S(text) => json!({ "S": text }),
            Value::N(number) => json!({ "N": number }),
            Value::B(bytes) => json!({ "B": bytes.escape_ascii().to_string() }),
            Value::Ss(set) => json!({ "SS": set }),
        };
        (name.clone(), value)
    });
    let attributes: Map<String, Json> = attributes.collect();
    json!({ "pk": item.key.partition, "sk": item.key.sort, "attributes": attributes })
}

fn item(json: &Json) -> Item {
    let text = |json: &Json| json.as_str().unwrap().to_owned();
    let mut attributes = Attributes::new();
    for (name, value) in json["attributes"].as_object().unwrap() {
        let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
        let value = match kind.as_str() {
            "S" => Value::S(text(value)),
            "N" => Value::N(value.as_i64().unwrap()),
            "B" => Value::B(unescape(&text(value)).into()),
            "SS" => Value::Ss(value.as_array().unwrap().iter().map(text).collect()),
            other => panic!("a value of kind {other}"),
        };
        attributes.insert(name.clone(), value);
    }
    Item {
        key: Key::new(text(&json["pk"]), text(&json["sk"])),
        attributes,
    }
}

/// The bytes that `escape_ascii` made this of.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next().unwrap() {
                b'x' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                other => other,
            },
            other => other,
        });
    }
    bytes
}

#[test]
fn a_golden_file_says_what_was_stored() {
    let bytes: Vec<u8> = (0..=255).collect();
    let attributes = Attributes::from([
        ("a".into(), Value::B(bytes.into())),
        ("b".into(), Value::N(-1)),
        ("c".into(), Value::Ss(["x".to_owned()].into())),
        ("d".into(), Value::S("ß\"".into())),
    ]);
    let one = Item {
        key: Key::new("p", "s"),
        attributes,
    };
    assert_eq!(item(&json_of(&one)), one);
}
