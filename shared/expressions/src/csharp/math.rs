//! `Math`'s methods.

use super::decimal::Decimal;
use super::operators;
use super::run::{Done, thrown};
use super::value::V;

pub(super) fn math<'p>(name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
    let first = arguments.first().cloned().unwrap_or(V::Null);
    let second = arguments.get(1).cloned().unwrap_or(V::Null);
    if let (V::Decimal(number), "Round" | "Floor" | "Ceiling" | "Truncate") = (&first, name) {
        let digits = if let V::Int(digits) = second {
            u32::try_from(digits).unwrap_or(0)
        } else {
            0
        };
        let away = arguments
            .iter()
            .any(|a| matches!(a, V::Enum(mode) if mode == "AwayFromZero"));
        let truncated = number.truncated();
        let up_or_down = match (name, number.compare(truncated)) {
            ("Floor", std::cmp::Ordering::Less) => Some(-1),
            ("Ceiling", std::cmp::Ordering::Greater) => Some(1),
            _ => None,
        };
        return Ok(V::Decimal(match name {
            "Round" => number.rounded(digits, away),
            _ => up_or_down
                .and_then(|by| truncated.add(Decimal::whole(by)))
                .unwrap_or(truncated),
        }));
    }
    let Some(x) = operators::as_double(&first) else {
        return thrown(
            "CompilationErrorException",
            format!("Math.{name} needs a number"),
        );
    };
    let y = operators::as_double(&second).unwrap_or(0.0);
    Ok(match name {
        "Min" | "Max" => {
            let first_less = operators::compare(&first, &second).is_le();
            let chosen = if (name == "Min") == first_less {
                &first
            } else {
                &second
            };
            let unified = operators::unified(vec![chosen.clone(), first.clone(), second.clone()]);
            unified.into_iter().next().unwrap_or(V::Null)
        }
        "Abs" if x < 0.0 => return operators::unary("-", first),
        "Abs" => first,
        "Sign" => V::Int(if x > 0.0 {
            1
        } else if x < 0.0 {
            -1
        } else {
            0
        }),
        "Round" => {
            let digits = if let V::Int(digits) = second {
                digits.clamp(0, 15)
            } else {
                0
            };
            let factor = 10_f64.powi(digits);
            let away = arguments
                .iter()
                .any(|a| matches!(a, V::Enum(mode) if mode == "AwayFromZero"));
            let scaled = x * factor;
            V::Double(
                if away {
                    scaled.round()
                } else {
                    scaled.round_ties_even()
                } / factor,
            )
        }
        "Floor" => V::Double(x.floor()),
        "Ceiling" => V::Double(x.ceil()),
        "Truncate" => V::Double(x.trunc()),
        "Sqrt" => V::Double(x.sqrt()),
        "Pow" => V::Double(x.powf(y)),
        "Log" => V::Double(if arguments.len() > 1 {
            x.log(y)
        } else {
            x.ln()
        }),
        "Log10" => V::Double(x.log10()),
        "Exp" => V::Double(x.exp()),
        "Sin" => V::Double(x.sin()),
        "Cos" => V::Double(x.cos()),
        "Clamp" => {
            let third = arguments.get(2).cloned().unwrap_or(V::Null);
            if operators::compare(&first, &second).is_lt() {
                second
            } else if operators::compare(&first, &third).is_gt() {
                third
            } else {
                first
            }
        }
        _ => {
            return thrown(
                "CompilationErrorException",
                format!("'Math.{name}' is not run here"),
            );
        }
    })
}
