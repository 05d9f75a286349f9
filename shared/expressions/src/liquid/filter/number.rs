//! Filters on numbers.

use serde_json::Value;

use super::{Filter, Input, failure};
use crate::EvaluationError;
use crate::dotnet;
use crate::liquid::value::Amount;

type Made = Result<Value, EvaluationError>;

pub(super) const FILTERS: &[(&str, Filter)] = &[
    ("abs", |input| {
        combine(input, |a, _| a.checked_abs(), |a, _| a.abs())
    }),
    ("at_least", |input| {
        combine(input, |a, b| Some(a.max(b)), f64::max)
    }),
    ("at_most", |input| {
        combine(input, |a, b| Some(a.min(b)), f64::min)
    }),
    ("plus", |input| {
        combine(input, i64::checked_add, |a, b| a + b)
    }),
    ("minus", |input| {
        combine(input, i64::checked_sub, |a, b| a - b)
    }),
    ("times", |input| {
        combine(input, i64::checked_mul, |a, b| a * b)
    }),
    ("divided_by", divided_by),
    ("modulo", modulo),
    ("ceil", |input| Ok(whole(input.counted()?.as_f64().ceil()))),
    ("floor", |input| {
        Ok(whole(input.counted()?.as_f64().floor()))
    }),
    ("round", round),
    ("format_number", format_number),
];

fn combine(
    input: &Input<'_>,
    whole: fn(i64, i64) -> Option<i64>,
    fraction: fn(f64, f64) -> f64,
) -> Made {
    Ok(input
        .counted()?
        .combine(Amount::or_zero(input.argument(0)), whole, fraction))
}

/// The quotient; by a whole number it is rounded down.
fn divided_by(input: &Input<'_>) -> Made {
    let divisor = divisor(input)?;
    let amount = input.counted()?;
    if let (Amount::Fraction(dividend), Amount::Whole(_)) = (amount, divisor) {
        return Ok(whole((dividend / divisor.as_f64()).floor()));
    }
    let quotient = amount.combine(divisor, floored, |a, b| a / b);
    Ok(match Amount::of(&quotient) {
        Some(Amount::Fraction(fraction)) if fraction.fract() == 0.0 => whole(fraction),
        Some(_) | None => quotient,
    })
}

fn floored(dividend: i64, divisor: i64) -> Option<i64> {
    let quotient = dividend.checked_div(divisor)?;
    let is_exact = dividend.checked_rem(divisor)? == 0;
    Some(if !is_exact && (dividend < 0) != (divisor < 0) {
        quotient - 1
    } else {
        quotient
    })
}

fn modulo(input: &Input<'_>) -> Made {
    let divisor = divisor(input)?;
    // Fluid takes both as whole numbers, halves to even.
    let [dividend, divisor] = [input.counted()?, divisor].map(|amount| match amount {
        Amount::Whole(whole) => whole,
        #[allow(clippy::cast_possible_truncation, reason = "saturates")]
        Amount::Fraction(fraction) => fraction.round_ties_even() as i64,
    });
    let rest = dividend.checked_rem(divisor);
    rest.map(Value::from)
        .ok_or_else(|| failure("a number cannot be divided by 0"))
}

fn divisor(input: &Input<'_>) -> Result<Amount, EvaluationError> {
    let divisor = Amount::or_zero(input.argument(0));
    if divisor.as_f64() == 0.0 {
        return Err(failure("a number cannot be divided by 0"));
    }
    Ok(divisor)
}

fn round(input: &Input<'_>) -> Made {
    let digits = Amount::or_zero(input.argument(0)).truncated().clamp(0, 15);
    let number = input.counted()?;
    if digits == 0 {
        return Ok(whole(number.as_f64().round_ties_even()));
    }
    let digits = usize::try_from(digits).unwrap_or(0);
    let rounded = format!("{:.digits$}", number.as_f64())
        .parse()
        .unwrap_or_default();
    Ok(Amount::Fraction(rounded).into())
}

fn whole(number: f64) -> Value {
    #[allow(clippy::cast_precision_loss, reason = "only the range matters")]
    let is_in_range = number.abs() < i64::MAX as f64;
    #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
    if is_in_range {
        Value::from(number as i64)
    } else {
        Amount::Fraction(number).into()
    }
}

/// Formats a number as .NET does a decimal, which has no hexadecimal form and no form of whole numbers.
fn format_number(input: &Input<'_>) -> Made {
    let format = input.text_argument(0);
    let digits = format.trim_start_matches(['X', 'x', 'D', 'd']);
    if digits.len() + 1 == format.len() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(failure("Format specifier was invalid."));
    }
    let number = input.counted()?.as_f64();
    if !input.text_argument(1).starts_with("de") {
        return input.made(dotnet::format_exact(&number.to_string(), &format));
    }
    let format = match format.as_ref() {
        "N" | "n" => "N3".into(),
        _ => format,
    };
    let text = dotnet::format_exact(&number.to_string(), &format);
    let swapped = text.chars().map(|c| match c {
        ',' => '.',
        '.' => ',',
        other => other,
    });
    input.made(swapped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::run;

    #[test]
    fn number_filters_do_what_fluid_does() {
        let cases = [
            ("abs", json!(-3), vec![], json!(3)),
            ("abs", json!("-1.5"), vec![], json!(1.5)),
            ("at_least", json!(4), vec![json!(5)], json!(5)),
            ("at_most", json!(4.5), vec![json!(3)], json!(3.0)),
            ("plus", json!("5"), vec![json!(3)], json!(8)),
            ("plus", json!(0.1), vec![json!(0.2)], json!(0.3)),
            (
                "plus",
                json!(i64::MAX),
                vec![json!(1)],
                json!(9_223_372_036_854_780_000.0),
            ),
            ("minus", json!(4), vec![json!(5)], json!(-1)),
            ("times", json!(3), vec![json!(1.5)], json!(4.5)),
            ("divided_by", json!(20), vec![json!(7)], json!(2)),
            ("divided_by", json!(-7), vec![json!(2)], json!(-4)),
            ("divided_by", json!(5.0), vec![json!(2)], json!(2)),
            ("modulo", json!(7), vec![json!(3)], json!(1)),
            ("ceil", json!(1.2), vec![], json!(2)),
            ("floor", json!(-1.2), vec![], json!(-2)),
            ("round", json!(1.5), vec![], json!(2)),
            ("round", json!(183.357), vec![json!(2)], json!(183.36)),
            (
                "format_number",
                json!(1234.567),
                vec![json!("N2")],
                json!("1,234.57"),
            ),
        ];
        for (name, value, arguments, expected) in cases {
            assert_eq!(run(name, &value, &arguments), expected, "{name}");
        }
    }
}
