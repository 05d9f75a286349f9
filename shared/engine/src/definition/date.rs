//! Dates, dates with an offset and durations as .NET reads them from text and writes them in JSON.

use serde_json::Value;

use crate::time::{Timestamp, format_duration, parse_duration_ms};

/// A date as .NET writes it in JSON. What is no date is `default`.
pub(super) fn date_time(value: &Value, default: &str) -> Value {
    let found = value.as_str().and_then(|text| {
        let text = text.trim();
        Timestamp::parse(text)?;
        Some(match text.split_once(['T', ' ']) {
            None => format!("{text}T00:00:00"),
            Some((day, rest)) => {
                let zone = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
                let (clock, zone) = rest.split_at(zone);
                let clock = match clock.split_once('.') {
                    Some((clock, fraction)) => match fraction.trim_end_matches('0') {
                        "" => clock.to_owned(),
                        fraction => format!("{clock}.{fraction}"),
                    },
                    None if clock.matches(':').count() == 1 => format!("{clock}:00"),
                    None => clock.to_owned(),
                };
                format!("{day}T{clock}{zone}")
            }
        })
    });
    Value::String(
        found
            .or_else(|| written_by_people(value))
            .unwrap_or_else(|| default.to_owned()),
    )
}

/// `MM/dd/yyyy`, with or without a time: .NET's invariant culture.
fn written_by_people(value: &Value) -> Option<String> {
    let text = value.as_str()?.trim();
    let (day, clock) = text.split_once(' ').unwrap_or((text, "00:00:00"));
    let day = jiff::civil::Date::strptime("%m/%d/%Y", day).ok()?;
    let clock = jiff::civil::Time::strptime("%H:%M:%S", clock)
        .or_else(|_| jiff::civil::Time::strptime("%H:%M", clock))
        .ok()?;
    Some(format!("{day}T{clock}"))
}

/// A date with an offset, which is UTC where there is none.
pub(super) fn offset_of(date: &Value) -> Value {
    let text = date.as_str().unwrap_or_default();
    let clock = text.split_once('T').map_or("", |(_, clock)| clock);
    Value::String(if let Some(text) = text.strip_suffix(['Z', 'z']) {
        format!("{text}+00:00")
    } else if clock.contains(['+', '-']) {
        text.to_owned()
    } else {
        format!("{text}+00:00")
    })
}

/// A duration as .NET writes it in JSON. What is no duration is zero.
pub(super) fn time_span(value: &Value) -> Value {
    // .NET reads its own format only, not ISO 8601's.
    let text = value
        .as_str()
        .filter(|t| !t.trim_start_matches(['-', ' ']).starts_with(['P', 'p']));
    let ms = text.and_then(parse_duration_ms).unwrap_or(0);
    Value::String(format_duration(ms))
}
