//! JSON as .NET's serializer writes it: HTML-sensitive characters are escaped, and numbers are .NET's.

use serde_json::Value;

use super::text::number_text;

/// A value as JSON in one line. `only_ascii`: every other character is escaped, too, as by the serializer's default
/// encoder.
#[must_use]
pub fn json_text(value: &Value, only_ascii: bool) -> String {
    let mut out = String::new();
    write(value, only_ascii, &mut out);
    out
}

/// A value as indented JSON, as .NET writes the nodes of a document.
#[must_use]
pub fn indented_json_text(value: &Value) -> String {
    let mut out = String::new();
    write_indented(value, 0, &mut out);
    out
}

fn write_indented(value: &Value, depth: usize, out: &mut String) {
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, depth + 1);
                write_indented(item, depth + 1, out);
            }
            line(out, depth);
            out.push(']');
        }
        Value::Object(entries) if !entries.is_empty() => {
            out.push('{');
            for (index, (key, entry)) in entries.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                line(out, depth + 1);
                write_text(key, true, out);
                out.push_str(": ");
                write_indented(entry, depth + 1, out);
            }
            line(out, depth);
            out.push('}');
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => write(value, true, out),
    }
}

fn write(value: &Value, only_ascii: bool, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64() {
            Some(double) if number.is_f64() => out.push_str(&number_text(double)),
            Some(_) | None => out.push_str(&number.to_string()),
        },
        Value::String(text) => write_text(text, only_ascii, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, only_ascii, out);
            }
            out.push(']');
        }
        Value::Object(entries) => {
            out.push('{');
            for (index, (key, entry)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_text(key, only_ascii, out);
                out.push(':');
                write(entry, only_ascii, out);
            }
            out.push('}');
        }
    }
}

fn write_text(text: &str, only_ascii: bool, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '"' | '&' | '\'' | '+' | '<' | '>' | '`' | '\u{7f}' => escape(character, out),
            _ if character < ' ' || only_ascii && !character.is_ascii() => escape(character, out),
            // Beyond the basic plane, and what does not print, is always escaped.
            _ if u32::from(character) > 0xffff => escape(character, out),
            _ => out.push(character),
        }
    }
    out.push('"');
}

fn escape(character: char, out: &mut String) {
    let mut units = [0; 2];
    for unit in character.encode_utf16(&mut units) {
        out.push_str(&format!("\\u{unit:04X}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::json_text;

    #[test]
    fn what_html_minds_is_escaped() {
        let value = json!({ "a": "<b> & \"é\"", "n": 1e21, "l": [1.5, null] });
        assert_eq!(
            json_text(&value, false),
            r#"{"a":"\u003Cb\u003E \u0026 \u0022é\u0022","n":1E+21,"l":[1.5,null]}"#
        );
        assert_eq!(json_text(&json!("é"), true), r#""\u00E9""#);
    }
}
