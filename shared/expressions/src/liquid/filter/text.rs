//! Filters on text.

use serde_json::Value;

use super::date::moment;
use super::{Filter, Input};
use crate::EvaluationError;
use crate::dotnet;
use crate::liquid::value::{Amount, to_text};

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("append", append),
    ("prepend", prepend),
    ("capitalize", capitalize),
    ("upcase", |input| input.made(input.text().to_uppercase())),
    ("downcase", |input| input.made(input.text().to_lowercase())),
    ("strip", |input| input.made(input.text().trim())),
    ("lstrip", |input| input.made(input.text().trim_start())),
    ("rstrip", |input| input.made(input.text().trim_end())),
    ("strip_newlines", |input| {
        input.made(input.text().replace(['\r', '\n'], ""))
    }),
    ("newline_to_br", newline_to_br),
    ("strip_html", |input| input.made(strip_html(&input.text()))),
    ("truncate", truncate),
    ("truncatewords", truncate_words),
    ("slice", slice),
    ("handle", |input| input.made(handle(&input.text()))),
    ("handleize", |input| input.made(handle(&input.text()))),
    ("format_string", format_string),
    ("raw", |input| Ok(input.value.clone())),
];

fn append(input: &Input<'_>) -> Made {
    input.made(format!("{}{}", input.text(), input.text_argument(0)))
}

fn prepend(input: &Input<'_>) -> Made {
    input.made(format!("{}{}", input.text_argument(0), input.text()))
}

fn capitalize(input: &Input<'_>) -> Made {
    let text = input.text();
    let mut result = String::with_capacity(text.len());
    let mut begins_word = true;
    for character in text.chars() {
        if begins_word {
            result.extend(character.to_uppercase());
        } else {
            result.push(character);
        }
        begins_word = character.is_whitespace();
    }
    input.made(result)
}

fn newline_to_br(input: &Input<'_>) -> Made {
    let text = input.text();
    input.work.allocate(text.len().saturating_mul(6))?;
    input.made(text.replace("\r\n", "\n").replace('\n', "<br />\n"))
}

/// Takes away tags and comments, and leaves what is between them.
fn strip_html(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tag)) = rest.split_once('<') {
        let Some((_, after)) = tag.split_once('>') else {
            break;
        };
        result.push_str(before);
        rest = after;
    }
    result.push_str(rest);
    result
}

fn truncate(input: &Input<'_>) -> Made {
    let text = input.text();
    let length = length_argument(input, 50);
    let ellipsis = if input.has_argument(1) {
        input.text_argument(1)
    } else {
        "...".into()
    };
    if text.chars().count() <= length {
        return Ok(Value::String(text.into_owned()));
    }
    let kept = length.saturating_sub(ellipsis.chars().count());
    input.made(text.chars().take(kept).collect::<String>() + &ellipsis)
}

fn truncate_words(input: &Input<'_>) -> Made {
    let text = input.text();
    let length = length_argument(input, 15).max(1);
    let ellipsis = if input.has_argument(1) {
        input.text_argument(1)
    } else {
        "...".into()
    };
    let mut words = text.split_whitespace();
    let kept: Vec<_> = words.by_ref().take(length).collect();
    if words.next().is_none() {
        return Ok(Value::String(text.into_owned()));
    }
    input.made(kept.join(" ") + &ellipsis)
}

fn length_argument(input: &Input<'_>, default: usize) -> usize {
    match Amount::of(input.argument(0)) {
        Some(length) => usize::try_from(length.truncated()).unwrap_or(0),
        None => default,
    }
}

/// A part of a text or a list, from an index that may count from the end.
fn slice(input: &Input<'_>) -> Made {
    let start = Amount::or_zero(input.argument(0)).truncated();
    let length = match Amount::of(input.argument(1)) {
        Some(length) => usize::try_from(length.truncated()).unwrap_or(0),
        None => 1,
    };
    let from = |count: usize| match usize::try_from(start) {
        Ok(start) => Some(start),
        Err(_) => count.checked_sub(usize::try_from(start.unsigned_abs()).ok()?),
    };
    if let Value::Array(items) = input.value {
        let Some(from) = from(items.len()) else {
            return Ok(Value::Array(Vec::new()));
        };
        return Ok(items.iter().skip(from).take(length).cloned().collect());
    }
    let text = input.text();
    let Some(from) = from(text.chars().count()) else {
        return input.made("");
    };
    input.made(text.chars().skip(from).take(length).collect::<String>())
}

/// Lower case, with a dash for everything that is no letter or digit.
fn handle(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

fn format_string(input: &Input<'_>) -> Made {
    let format = input.text();
    let mut result = String::new();
    for part in dotnet::format_parts(&format) {
        match part {
            dotnet::Part::Text(text) => result.push_str(text),
            dotnet::Part::Item {
                index,
                format,
                width,
            } => {
                let text = format_item(input, index, format);
                let width_bytes = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
                input
                    .work
                    .allocate(text.len().saturating_add(width_bytes))?;
                let padding = " ".repeat(width_bytes.saturating_sub(text.chars().count()));
                let (before, after) = if width < 0 {
                    ("", &*padding)
                } else {
                    (&*padding, "")
                };
                result.extend([before, &text, after]);
            }
        }
    }
    input.made(result)
}

fn format_item(input: &Input<'_>, index: usize, format: &str) -> String {
    let value = input.argument(index);
    if let Some(number) = value.as_f64().filter(|_| !format.is_empty()) {
        return dotnet::format_exact(&number.to_string(), format);
    }
    let moment = if value.is_string() {
        moment(value, input.work.now_ms)
    } else {
        None
    };
    match moment.filter(|_| !format.is_empty()) {
        Some(moment) => dotnet::format_date(&moment, format),
        None => to_text(value).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::run;

    #[test]
    fn text_filters_do_what_fluid_does() {
        let cases = [
            (
                "capitalize",
                json!("my great title"),
                vec![],
                json!("My Great Title"),
            ),
            ("newline_to_br", json!("a\nb"), vec![], json!("a<br />\nb")),
            (
                "strip_html",
                json!("a <b>b</b><script>c</script> d < e"),
                vec![],
                json!("a bc d < e"),
            ),
            (
                "truncate",
                json!("Ground control to Major Tom."),
                vec![json!(20)],
                json!("Ground control to..."),
            ),
            (
                "truncate",
                json!("Ground"),
                vec![json!(2), json!("")],
                json!("Gr"),
            ),
            (
                "truncatewords",
                json!("a b c d"),
                vec![json!(3)],
                json!("a b c..."),
            ),
            (
                "slice",
                json!("Liquid"),
                vec![json!(-3), json!(2)],
                json!("ui"),
            ),
            (
                "slice",
                json!([1, 2, 3]),
                vec![json!(1), json!(5)],
                json!([2, 3]),
            ),
            ("handle", json!("100% M & Ms!"), vec![], json!("100-m-ms")),
            (
                "format_string",
                json!("hello {0} {1:N1}"),
                vec![json!("you"), json!(2)],
                json!("hello you 2.0"),
            ),
            ("append", json!(null), vec![json!("x")], json!("x")),
        ];
        for (name, value, arguments, expected) in cases {
            assert_eq!(run(name, &value, &arguments), expected, "{name}");
        }
    }
}
