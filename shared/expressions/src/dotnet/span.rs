//! .NET's lengths of time in their constant format, `[-][d.]hh:mm:ss[.fffffff]`.

use std::str::FromStr;

/// A length of time in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) i64);

impl FromStr for Span {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (sign, text) = match text.trim().strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text.trim()),
        };
        let number = |digits: &str| digits.parse::<i64>().map_err(|_| ());
        let mut parts = text.split(':');
        let head = parts.next().ok_or(())?;
        let Some(minutes) = parts.next() else {
            return Ok(Self(sign * number(head)? * 86_400_000));
        };
        let (days, hours) = head.split_once('.').unwrap_or(("0", head));
        let (seconds, fraction) = match parts.next() {
            Some(seconds) => seconds.split_once('.').unwrap_or((seconds, "0")),
            None => ("0", "0"),
        };
        let thousandths: String = fraction.chars().chain("000".chars()).take(3).collect();
        let minutes = (number(days)? * 24 + number(hours)?) * 60 + number(minutes)?;
        Ok(Self(
            sign * ((minutes * 60 + number(seconds)?) * 1_000 + number(&thousandths)?),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn the_constant_format_is_read() {
        assert_eq!("00:05:00".parse(), Ok(Span(300_000)));
        assert_eq!("1.02:03:04.5".parse(), Ok(Span(93_784_500)));
        assert_eq!("-00:00:01".parse(), Ok(Span(-1_000)));
        assert_eq!("soon".parse::<Span>(), Err(()));
    }
}
