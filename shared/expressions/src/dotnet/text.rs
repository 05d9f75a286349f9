//! Texts that .NET gives to values without being asked for a format.

use crate::moment::Moment;

/// A double as `Double.ToString` writes it in the invariant culture: the shortest text that is read back as the
/// same number, with an exponent from 1E+15 on and below 1E-05.
#[must_use]
pub fn number_text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number.is_infinite() {
        return if number > 0.0 { "∞" } else { "-∞" }.into();
    }
    if number == 0.0 {
        return if number.is_sign_negative() { "-0" } else { "0" }.into();
    }
    let scientific = format!("{number:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..15).contains(&exponent) {
        return format!("{number}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}E{sign}{:02}", exponent.abs())
}

/// A date as .NET's type converter writes it: `MM/dd/yyyy`, with hours and minutes unless it is midnight. The
/// least date is the empty text.
#[must_use]
pub fn date_time_text(iso: &str) -> String {
    let Some(moment) = Moment::parse(iso) else {
        return String::new();
    };
    let at = moment.civil();
    if at.year() <= 1 && at.month() == 1 && at.day() == 1 {
        return String::new();
    }
    let day = format!("{:02}/{:02}/{:04}", at.month(), at.day(), at.year());
    if at.time() == jiff::civil::Time::midnight() {
        return day;
    }
    format!("{day} {:02}:{:02}", at.hour(), at.minute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_dotnet_does() {
        let cases = [
            (1.5, "1.5"),
            (3.0, "3"),
            (1e21, "1E+21"),
            (1.5e-7, "1.5E-07"),
            (0.0001, "0.0001"),
        ];
        for (number, text) in cases {
            assert_eq!(number_text(number), text);
        }
        assert_eq!(date_time_text("1970-01-01T00:00:00Z"), "01/01/1970");
        assert_eq!(date_time_text("2024-02-03T04:05:06Z"), "02/03/2024 04:05");
        assert_eq!(date_time_text("0001-01-01T00:00:00"), "");
    }
}
