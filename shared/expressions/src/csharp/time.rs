//! Members and methods of dates and lengths of time.

use super::date::TICKS_A_MS;
use super::methods::ratio;
use super::operators;
use super::value::V;

#[allow(clippy::cast_precision_loss, reason = "as .NET divides")]
pub(super) fn time_member<'p>(value: &V<'p>, name: &str) -> Option<V<'p>> {
    let int = |number: i64| V::Int(i32::try_from(number).unwrap_or(i32::MAX));
    Some(match value {
        V::Span(ticks) => {
            let total = |unit: i64| V::Double(*ticks as f64 / (unit * TICKS_A_MS) as f64);
            match name {
                "TotalDays" => total(86_400_000),
                "TotalHours" => total(3_600_000),
                "TotalMinutes" => total(60_000),
                "TotalSeconds" => total(1_000),
                "TotalMilliseconds" => total(1),
                "Days" => int(ticks / (86_400_000 * TICKS_A_MS)),
                "Hours" => int(ticks / (3_600_000 * TICKS_A_MS) % 24),
                "Minutes" => int(ticks / (60_000 * TICKS_A_MS) % 60),
                "Seconds" => int(ticks / (1_000 * TICKS_A_MS) % 60),
                "Milliseconds" => int(ticks / TICKS_A_MS % 1_000),
                "Ticks" => V::Long(*ticks),
                _ => return None,
            }
        }
        V::Date(date) => {
            let at = date.civil();
            match name {
                "Year" => int(i64::from(at.year())),
                "Month" => int(i64::from(at.month())),
                "Day" => int(i64::from(at.day())),
                "Hour" => int(i64::from(at.hour())),
                "Minute" => int(i64::from(at.minute())),
                "Second" => int(i64::from(at.second())),
                "Millisecond" => int(date.ticks / TICKS_A_MS % 1_000),
                "DayOfYear" => int(i64::from(at.date().day_of_year())),
                "Ticks" => V::Long(date.ticks),
                "DayOfWeek" => {
                    let day = at.date().weekday();
                    let number = i64::from(day.to_sunday_zero_offset());
                    V::member("DayOfWeek", &format!("{day:?}"), number)
                }
                "Date" => V::Date(super::date::Date {
                    ticks: date.ticks - date.ticks.rem_euclid(864_000_000_000),
                    ..*date
                }),
                "TimeOfDay" => V::Span(date.ticks.rem_euclid(864_000_000_000)),
                "Kind" => {
                    if date.is_utc {
                        V::member("DateTimeKind", "Utc", 1)
                    } else {
                        V::member("DateTimeKind", "Unspecified", 0)
                    }
                }
                "UtcDateTime" => V::Date(super::date::Date::utc(date.unix_ms())),
                "DateTime" => V::Date(super::date::Date {
                    offset: None,
                    is_utc: false,
                    ..*date
                }),
                "Offset" => V::Span(i64::from(date.offset.unwrap_or(0)) * 60_000 * TICKS_A_MS),
                _ => return None,
            }
        }
        _ => return None,
    })
}

pub(super) fn time_method<'p>(of: &V<'p>, name: &str, arguments: &[V<'p>]) -> Option<V<'p>> {
    let first = arguments.first();
    let amount = first.and_then(operators::as_double).unwrap_or(0.0);
    #[allow(clippy::cast_possible_truncation, reason = "saturates")]
    let ticks = |unit_ms: f64| (amount * unit_ms * 10_000.0).round() as i64;
    let unit = match name {
        "AddDays" => Some(86_400_000.0),
        "AddHours" => Some(3_600_000.0),
        "AddMinutes" => Some(60_000.0),
        "AddSeconds" => Some(1_000.0),
        "AddMilliseconds" => Some(1.0),
        "AddMicroseconds" => Some(0.001),
        "AddTicks" => Some(0.000_1),
        _ => None,
    };
    match (of, name, first) {
        (V::Date(date), _, _) if unit.is_some() => date.plus(ticks(unit?)).map(V::Date),
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        (V::Date(date), "AddMonths", _) => date.plus_months(amount as i64).map(V::Date),
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        (V::Date(date), "AddYears", _) => date.plus_months(amount as i64 * 12).map(V::Date),
        (V::Date(date), "Add", Some(V::Span(span))) => date.plus(*span).map(V::Date),
        (V::Date(date), "Subtract", Some(V::Span(span))) => date.plus(-*span).map(V::Date),
        (V::Date(date), "Subtract", Some(V::Date(other))) => Some(V::Span(date.minus(*other))),
        (V::Date(date), "ToUniversalTime" | "ToLocalTime", _) => {
            Some(V::Date(super::date::Date::utc(date.unix_ms())))
        }
        (V::Date(date), "ToUnixTimeSeconds", _) => Some(V::Long(date.unix_ms().div_euclid(1_000))),
        (V::Date(date), "ToUnixTimeMilliseconds", _) => Some(V::Long(date.unix_ms())),
        (V::Date(date), "ToShortDateString", _) => Some(V::text(date.formatted("d"))),
        (V::Date(date), "ToLongDateString", _) => Some(V::text(date.formatted("D"))),
        (V::Date(date), "ToShortTimeString", _) => Some(V::text(date.formatted("t"))),
        (V::Date(date), "ToLongTimeString", _) => Some(V::text(date.formatted("T"))),
        (V::Date(date), "IsDaylightSavingTime", _) => Some(V::Bool(date.ticks < 0)),
        (V::Date(date), "ToOffset", Some(V::Span(span))) => {
            let minutes = i32::try_from(span / (60_000 * TICKS_A_MS)).ok()?;
            Some(V::Date(date.seen_at(minutes)))
        }
        #[allow(clippy::cast_precision_loss, reason = "as .NET converts")]
        (V::Date(date), "ToOADate", _) => Some(V::Double(
            (date.ticks - 599_264_352_000_000_000) as f64 / 864_000_000_000.0,
        )),
        (V::Date(date), "ToFileTimeUtc" | "ToFileTime", _) => {
            Some(V::Long(date.ticks - 504_911_232_000_000_000))
        }
        (V::Date(date), "ToBinary", _) => Some(V::Long(date.ticks)),
        (V::Span(span), "Add", Some(V::Span(other))) => Some(V::Span(span + other)),
        (V::Span(span), "Subtract", Some(V::Span(other))) => Some(V::Span(span - other)),
        (V::Span(span), "Negate", _) => Some(V::Span(-span)),
        (V::Span(span), "Duration", _) => Some(V::Span(span.abs())),
        (V::Span(span), "Divide", _) => match first? {
            V::Span(other) => Some(V::Double(ratio(*span, *other))),
            other => operators::binary("/", &V::Span(*span), other).ok(),
        },
        (V::Span(span), "Multiply", _) => operators::binary("*", &V::Span(*span), first?).ok(),
        _ => None,
    }
}
