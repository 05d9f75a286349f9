//! .NET's date formats, such as `yyyy-MM-dd HH:mm` and the standard `d`, `o`, `R`.

use jiff::civil::{DateTime, Weekday};

use crate::moment::{Moment, offset_text};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Formats a moment.
pub(crate) fn format_date(moment: &Moment, format: &str) -> String {
    let (pattern, is_utc) = match format {
        "d" => ("MM/dd/yyyy", false),
        "D" => ("dddd, dd MMMM yyyy", false),
        "f" => ("dddd, dd MMMM yyyy HH:mm", false),
        "F" => ("dddd, dd MMMM yyyy HH:mm:ss", false),
        "g" => ("MM/dd/yyyy HH:mm", false),
        "G" | "" => ("MM/dd/yyyy HH:mm:ss", false),
        "M" | "m" => ("MMMM dd", false),
        "O" | "o" => ("yyyy-MM-ddTHH:mm:ss.fffffffK", false),
        "R" | "r" => ("ddd, dd MMM yyyy HH:mm:ss 'GMT'", true),
        "s" => ("yyyy-MM-ddTHH:mm:ss", false),
        "t" => ("HH:mm", false),
        "T" => ("HH:mm:ss", false),
        "u" => ("yyyy-MM-dd HH:mm:ss'Z'", true),
        "U" => ("dddd, dd MMMM yyyy HH:mm:ss", true),
        "Y" | "y" => ("yyyy MMMM", false),
        _ => (format, false),
    };
    if is_utc {
        custom(&moment.in_utc(), pattern)
    } else {
        custom(moment, pattern)
    }
}

fn custom(moment: &Moment, pattern: &str) -> String {
    let date = moment.civil();
    let mut text = String::new();
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let run = rest.chars().take_while(|next| *next == first).count();
        let length = match first {
            '\'' | '"' => {
                let inside = rest.get(1..).unwrap_or("");
                let end = inside.find(first).unwrap_or(inside.len());
                text.push_str(inside.get(..end).unwrap_or(""));
                end + 2
            }
            '\\' => {
                let escaped = rest.chars().nth(1);
                text.extend(escaped);
                1 + escaped.map_or(0, char::len_utf8)
            }
            // A percent sign makes a single letter a custom format.
            '%' => 1,
            _ => match field(moment, &date, first, run) {
                Some(field) => {
                    text.push_str(&field);
                    run
                }
                None => {
                    text.push(first);
                    first.len_utf8()
                }
            },
        };
        rest = rest.get(length..).unwrap_or("");
    }
    text
}

/// A field of the date, `run` letters long; `None`: the letter stands for itself.
fn field(moment: &Moment, date: &DateTime, letter: char, run: usize) -> Option<String> {
    let digits = |value: i16| {
        if run == 1 {
            value.to_string()
        } else {
            format!("{value:02}")
        }
    };
    let month = MONTHS
        .get(usize::from(date.month().unsigned_abs()).wrapping_sub(1))
        .unwrap_or(&"");
    let twelve = |hour: i8| (i16::from(hour) + 11) % 12 + 1;
    Some(match (letter, run) {
        ('d', 1 | 2) => digits(date.day().into()),
        ('d', 3) => weekday(date).get(..3).unwrap_or("").to_owned(),
        ('d', _) => weekday(date).to_owned(),
        ('M', 1 | 2) => digits(date.month().into()),
        ('M', 3) => month.get(..3).unwrap_or("").to_owned(),
        ('M', _) => (*month).to_owned(),
        ('y', 1 | 2) => digits(date.year() % 100),
        ('y', _) => format!("{:0run$}", date.year()),
        ('H', _) => digits(date.hour().into()),
        ('h', _) => digits(twelve(date.hour())),
        ('m', _) => digits(date.minute().into()),
        ('s', _) => digits(date.second().into()),
        ('f', _) => fraction(date, run),
        ('F', _) => fraction(date, run).trim_end_matches('0').to_owned(),
        ('t', 1) => if date.hour() < 12 { "A" } else { "P" }.to_owned(),
        ('t', _) => if date.hour() < 12 { "AM" } else { "PM" }.to_owned(),
        ('g', _) => "A.D.".to_owned(),
        ('K', _) if moment.offset_minutes() == 0 => "Z".repeat(run),
        ('K', _) => offset_text(moment.offset_minutes()),
        ('z', 1) => format!("{:+}", moment.offset_minutes() / 60),
        ('z', 2) => format!("{:+03}", moment.offset_minutes() / 60),
        ('z', _) => offset_text(moment.offset_minutes()),
        _ => return None,
    })
}

fn fraction(date: &DateTime, digits: usize) -> String {
    let nanoseconds = format!("{:09}", date.subsec_nanosecond());
    nanoseconds.chars().take(digits.min(7)).collect()
}

fn weekday(date: &DateTime) -> &'static str {
    match date.weekday() {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_formats_are_those_of_the_invariant_culture() {
        let moment = Moment::parse("2024-03-05T14:07:09.123+02:00").unwrap();
        let cases = [
            ("d", "03/05/2024"),
            ("D", "Tuesday, 05 March 2024"),
            ("o", "2024-03-05T14:07:09.1230000+02:00"),
            ("R", "Tue, 05 Mar 2024 12:07:09 GMT"),
            ("u", "2024-03-05 12:07:09Z"),
            ("", "03/05/2024 14:07:09"),
            ("yyyy-MM-dd HH:mm:ss.fff", "2024-03-05 14:07:09.123"),
            ("ddd d MMM yy h:m:s tt z", "Tue 5 Mar 24 2:7:9 PM +2"),
            ("'day' %d \\d", "day 5 d"),
            ("zzz K", "+02:00 +02:00"),
        ];
        for (format, expected) in cases {
            assert_eq!(format_date(&moment, format), expected, "{format}");
        }
    }
}
