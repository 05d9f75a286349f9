//! Filters on dates. "now" is the instance's time.

use jiff::fmt::strtime::{BrokenDownTime, Config};
use serde_json::Value;

use super::{Filter, Input};
use crate::EvaluationError;
use crate::dotnet;
use crate::liquid::value::date_of;
use crate::moment::Moment;

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("date", date),
    ("format_date", format_date),
    ("time_zone", time_zone),
];

/// The date in a value: a text, or a number of seconds since 1970.
pub(super) fn moment(value: &Value, now_ms: i64) -> Option<Moment> {
    match value {
        Value::String(text) if matches!(text.trim(), "now" | "today") => {
            Some(Moment::new(now_ms, 0))
        }
        Value::String(text) => Moment::parse(text),
        Value::Number(number) =>
        {
            #[allow(clippy::cast_possible_truncation, reason = "saturates")]
            number
                .as_f64()
                .map(|seconds| Moment::new((seconds * 1000.0) as i64, 0))
        }
        Value::Object(_) => date_of(value).and_then(Moment::parse),
        Value::Null | Value::Bool(_) | Value::Array(_) => None,
    }
}

/// Formats a date by a pattern of `strftime`; what is no date is nil.
fn date(input: &Input<'_>) -> Made {
    let format = input.text_argument(0);
    let Some(moment) = moment(input.value, input.work.now_ms) else {
        return Ok(Value::Null);
    };
    input.work.charge(format.len())?;
    let format = match &*format {
        "" => "%Y-%m-%d %H:%M:%SZ",
        format => format,
    };
    // Patterns that are a culture's own are those of the invariant one.
    let format = format
        .replace("%c", "%A, %d %B %Y %H:%M:%S")
        .replace("%x", "%m/%d/%Y")
        .replace("%X", "%H:%M")
        .replace("%r", "%I:%M:%S %p")
        .replace("%k", "%-H")
        .replace("%v", "%e-%b-%Y")
        .replace("%Q", "%%Q");
    // Ruby's %L are milliseconds; a width is not worth its danger.
    let format = format.replace("%L", "%3f");
    let config = Config::new().lenient(true);
    let mut text = String::new();
    let done = BrokenDownTime::from(moment.zoned()).format_with_config(&config, &format, &mut text);
    match done {
        Ok(()) => input.made(text),
        Err(_) => Ok(input.value.clone()),
    }
}

/// Formats a date by a format of .NET.
fn format_date(input: &Input<'_>) -> Made {
    match moment(input.value, input.work.now_ms) {
        Some(moment) => {
            let format = input.text_argument(0);
            let is_german = input.text_argument(1).starts_with("de");
            let format = match format.as_ref() {
                "d" if is_german => "dd.MM.yyyy".into(),
                _ => format,
            };
            let mut text = dotnet::format_date(&moment, &format);
            // It always has an offset to .NET.
            if matches!(format.as_ref(), "o" | "O") && text.ends_with('Z') {
                text.replace_range(text.len() - 1.., "+00:00");
            }
            input.made(text)
        }
        None => Ok(input.value.clone()),
    }
}

/// The same instant in another zone, as text with its offset.
fn time_zone(input: &Input<'_>) -> Made {
    let moment = moment(input.value, input.work.now_ms);
    match moment.and_then(|moment| moment.in_zone(&input.text_argument(0))) {
        Some(moment) => input.made(moment.to_iso()),
        None => Ok(input.value.clone()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::run;

    #[test]
    fn date_filters_do_what_fluid_does() {
        let cases = [
            (
                "date",
                json!("2024-03-05T14:07:09Z"),
                "%Y-%m-%d %H:%M:%S",
                "2024-03-05 14:07:09",
            ),
            ("date", json!("now"), "%s.%L %Z", "1700000000.123 UTC"),
            ("date", json!(0), "%A, %e %B %y", "Thursday,  1 January 70"),
            (
                "date",
                json!("2024-03-05"),
                "%-d.%-m. %% %I %p %j",
                "5.3. % 12 AM 065",
            ),
            (
                "date",
                json!("2024-03-05T14:07:09+02:00"),
                "%H %z",
                "14 +0200",
            ),
            (
                "format_date",
                json!("2024-03-05"),
                "dd.MM.yyyy",
                "05.03.2024",
            ),
            (
                "time_zone",
                json!("2024-07-01T12:00:00Z"),
                "Europe/Berlin",
                "2024-07-01T14:00:00+02:00",
            ),
            (
                "time_zone",
                json!("2024-07-01T12:00:00Z"),
                "Nowhere",
                "2024-07-01T12:00:00Z",
            ),
        ];
        for (name, value, argument, expected) in cases {
            assert_eq!(
                run(name, &value, &[json!(argument)]),
                json!(expected),
                "{name} {argument}"
            );
        }
    }
}
