//! Lengths of time as test files write them.

use dormouse_engine::time::parse_duration_ms;

/// Reads a length of time in milliseconds: `3d`, `2h30m`, `1.5s`, `500ms`, or as .NET (`1.00:00:00`) and ISO 8601
/// (`P3DT2H`) write it. Negative ones and more than 1,000 years are refused.
#[must_use]
pub fn span_ms(text: &str) -> Option<i64> {
    const MAX: i64 = 1_000 * 366 * 86_400_000;
    let text = text.trim();
    let is_other = text.contains(':') || text.starts_with('P');
    let ms = match is_other {
        true => parse_duration_ms(text)?,
        false => with_units(text)?,
    };
    (0..=MAX).contains(&ms).then_some(ms)
}

fn with_units(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut sum = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at(end);
        let end = tail
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let ms = match unit {
            "ms" => 1.0,
            "s" => 1_000.0,
            "m" | "min" => 60_000.0,
            "h" => 3_600_000.0,
            "d" => 86_400_000.0,
            "w" => 604_800_000.0,
            _ => return None,
        };
        sum += number.parse::<f64>().ok()? * ms;
        rest = tail.trim_start();
    }
    // The sum of a few lengths; too large ones become the largest number, which is refused.
    #[allow(clippy::cast_possible_truncation, reason = "a float's cast saturates")]
    Some(sum.round() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read_in_three_forms() {
        for (text, ms) in [
            ("3d", Some(259_200_000)),
            ("2h30m", Some(9_000_000)),
            ("1 d 12 h", None),
            ("1d 12h", Some(129_600_000)),
            ("1.5s", Some(1_500)),
            ("500ms", Some(500)),
            ("1.00:00:00", Some(86_400_000)),
            ("PT5M", Some(300_000)),
            ("-00:00:01", None),
            ("99999999999w", None),
            ("3 days", None),
            ("3", None),
            ("", None),
        ] {
            assert_eq!(span_ms(text), ms, "{text}");
        }
    }
}
