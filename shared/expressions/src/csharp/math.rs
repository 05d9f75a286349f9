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
            .any(|a| matches!(a, V::Enum(mode) if &*mode.name == "AwayFromZero"));
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
    if matches!(
        (&first, name),
        (V::Int(i32::MIN) | V::Long(i64::MIN), "Abs")
    ) {
        return thrown(
            "OverflowException",
            "Negating the minimum value is invalid.",
        );
    }
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
                .any(|a| matches!(a, V::Enum(mode) if &*mode.name == "AwayFromZero"));
            if matches!(first, V::Int(_) | V::Long(_)) && arguments.len() > 2 {
                return Ok(V::Double(x));
            }
            let scaled = x * factor;
            let mode = arguments.iter().find_map(|a| match a {
                V::Enum(mode) => Some(mode.name.to_string()),
                _ => None,
            });
            match mode.as_deref() {
                Some("ToZero") => return Ok(V::Double(scaled.trunc() / factor)),
                Some("ToNegativeInfinity") => return Ok(V::Double(scaled.floor() / factor)),
                Some("ToPositiveInfinity") => return Ok(V::Double(scaled.ceil() / factor)),
                _ => {}
            }
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
        "Tan" => V::Double(x.tan()),
        "Asin" => V::Double(x.asin()),
        "Acos" => V::Double(x.acos()),
        "Atan" => V::Double(x.atan()),
        "Atan2" => V::Double(x.atan2(y)),
        "Sinh" => V::Double(x.sinh()),
        "Cosh" => V::Double(x.cosh()),
        "Tanh" => V::Double(x.tanh()),
        "Cbrt" => V::Double(x.cbrt()),
        "Log2" => V::Double(x.log2()),
        "CopySign" => V::Double(x.copysign(y)),
        "IEEERemainder" => V::Double(x - y * (x / y).round_ties_even()),
        "MaxMagnitude" => V::Double(if x.abs() >= y.abs() { x } else { y }),
        "MinMagnitude" => V::Double(if x.abs() <= y.abs() { x } else { y }),
        "BigMul" => V::Long(operators::as_long(&first).wrapping_mul(operators::as_long(&second))),
        "DivRem" => {
            let parts = [("Quotient", "/"), ("Remainder", "%")];
            let mut items = Vec::new();
            for (name, operator) in parts {
                let part = operators::binary(operator, &first, &second)?;
                items.push((Some(name.to_owned()), part));
            }
            V::Tuple(std::rc::Rc::new(items))
        }
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
