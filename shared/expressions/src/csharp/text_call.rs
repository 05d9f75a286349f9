//! Static methods of texts and characters.

use super::operators;
use super::run::{Done, Run, thrown};
use super::statics::formatted;
use super::text_method::plain;
use super::value::V;

impl Run<'_> {
    pub(super) fn string_call<'p>(&mut self, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let text = first.shown();
        match name {
            "IsNullOrEmpty" => Ok(V::Bool(text.is_empty())),
            "IsNullOrWhiteSpace" => Ok(V::Bool(text.trim().is_empty())),
            "Join" => {
                let items = match arguments {
                    [_, only @ (V::List(_) | V::Map(_))] => self.items(only)?,
                    [_, rest @ ..] => rest.to_vec(),
                    [] => Vec::new(),
                };
                let mut shown = Vec::with_capacity(items.len());
                for item in &items {
                    shown.push(self.text_of(item)?);
                }
                self.made(V::text(shown.join(&text)))
            }
            "Concat" => {
                let items = match arguments {
                    [only @ V::List(_)] => self.items(only)?,
                    items => items.to_vec(),
                };
                self.made(V::text(items.iter().map(V::shown).collect::<String>()))
            }
            "Format" => {
                let mut made = String::new();
                // `Format(culture, format, …)`
                let (text, arguments) = match arguments {
                    [V::Enum(_), format, ..] => {
                        (format.shown(), arguments.get(1..).unwrap_or_default())
                    }
                    arguments => (text, arguments),
                };
                let given = arguments.len().saturating_sub(1);
                for part in crate::dotnet::format_parts(&text) {
                    match part {
                        crate::dotnet::Part::Text(part) => made.push_str(part),
                        crate::dotnet::Part::Item {
                            index,
                            format,
                            width,
                        } => {
                            if index >= given {
                                return thrown(
                                    "FormatException",
                                    "Index must be less than the size of the argument list.",
                                );
                            }
                            let shown = arguments
                                .get(index + 1)
                                .map(|v| formatted(v, format))
                                .unwrap_or_default();
                            let padding = usize::try_from(width.unsigned_abs())
                                .unwrap_or(0)
                                .min(10_000);
                            let padding = " ".repeat(padding.saturating_sub(shown.chars().count()));
                            made.push_str(&if width < 0 {
                                shown + &padding
                            } else {
                                padding + &shown
                            });
                        }
                    }
                }
                self.made(V::text(made))
            }
            "Equals" | "Compare" | "CompareOrdinal" => {
                let second = arguments.get(1).cloned().unwrap_or(V::Null);
                let ignores = arguments.iter().any(|a| {
                    matches!(a, V::Bool(true))
                        || matches!(a, V::Enum(n) if n.name.ends_with("IgnoreCase"))
                });
                if name == "CompareOrdinal"
                    || arguments
                        .iter()
                        .any(|a| matches!(a, V::Enum(n) if &*n.name == "Ordinal"))
                {
                    let (a, b) = (first.shown(), second.shown());
                    let differs = a.chars().zip(b.chars()).find(|(a, b)| a != b);
                    let order = match differs {
                        Some((a, b)) => i64::from(u32::from(a)) - i64::from(u32::from(b)),
                        None => {
                            i64::try_from(a.len()).unwrap_or(0)
                                - i64::try_from(b.len()).unwrap_or(0)
                        }
                    };
                    return Ok(if name == "Equals" {
                        V::Bool(operators::equal(&first, &second))
                    } else {
                        V::Int(i32::try_from(order).unwrap_or(0))
                    });
                }
                let fold = |v: &V<'p>| {
                    if ignores {
                        V::text(v.shown().to_lowercase())
                    } else {
                        v.clone()
                    }
                };
                let (a, b) = (fold(&first), fold(&second));
                if name == "Equals" {
                    return Ok(V::Bool(operators::equal(&a, &b)));
                }
                self.method(&a, "CompareTo", &[], vec![b])
            }
            "Copy" | "Intern" => Ok(first),
            "Create" => Ok(V::text(plain(arguments.get(1)))),
            _ => thrown(
                "CompilationErrorException",
                format!("'string.{name}' is not run here"),
            ),
        }
    }
}

/// `char.Name(…)`
pub(super) fn char_call<'p>(name: &str, arguments: &[V<'p>]) -> V<'p> {
    let first = arguments.first().unwrap_or(&V::Null);

    let c = plain(arguments.first()).chars().next().unwrap_or(' ');
    match name {
        "IsDigit" | "IsNumber" => V::Bool(c.is_numeric()),
        "IsLetter" => V::Bool(c.is_alphabetic()),
        "IsLetterOrDigit" => V::Bool(c.is_alphanumeric()),
        "IsWhiteSpace" => V::Bool(c.is_whitespace()),
        "IsUpper" => V::Bool(c.is_uppercase()),
        "IsPunctuation" => V::Bool(c.is_ascii_punctuation() && !"$+<=>^`|~".contains(c)),
        "IsSymbol" => V::Bool("$+<=>^`|~".contains(c)),
        "IsControl" => V::Bool(c.is_control()),
        "IsSeparator" => V::Bool(c == ' ' || c == '\u{a0}'),
        "IsAscii" => V::Bool(c.is_ascii()),
        "IsAsciiDigit" => V::Bool(c.is_ascii_digit()),
        "IsAsciiLetter" => V::Bool(c.is_ascii_alphabetic()),
        "IsBetween" => V::Bool(
            operators::compare(first, arguments.get(1).unwrap_or(&V::Null)).is_ge()
                && operators::compare(first, arguments.get(2).unwrap_or(&V::Null)).is_le(),
        ),
        "GetNumericValue" => V::Double(c.to_digit(10).map_or(-1.0, f64::from)),
        "ToString" => V::text(c.to_string()),
        "ConvertFromUtf32" => V::text(
            u32::try_from(super::conversion::whole(first))
                .ok()
                .and_then(char::from_u32)
                .map_or(String::new(), String::from),
        ),
        "IsLower" => V::Bool(c.is_lowercase()),
        "ToUpper" | "ToUpperInvariant" => V::Char(c.to_uppercase().next().unwrap_or(c)),
        _ => V::Char(c.to_lowercase().next().unwrap_or(c)),
    }
}
