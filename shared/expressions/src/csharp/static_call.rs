//! Static methods.

use serde_json::Value;

use super::conversion::{bytes_of, conversion, whole};
use super::date::Date;
use super::math::math;
use super::methods::span_of_ms;
use super::operators;
use super::run::{Done, Run, thrown};
use super::statics::{entry, parsed};
use super::syntax::Type;
use super::text_call::char_call;
use super::value::{MapKind, V};
use crate::dotnet::json_text;

impl Run<'_> {
    pub(super) fn static_call<'p>(
        &mut self,
        class: &str,
        name: &str,
        types: &[Type],
        arguments: Vec<V<'p>>,
    ) -> Done<'p, V<'p>> {
        let text = |at: usize| arguments.get(at).map(V::shown).unwrap_or_default();
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let full = operators::full_name(&Type {
            name: class.to_owned(),
            ..Type::default()
        });
        match (full.as_str(), name) {
            ("Enum", _) => self.enum_call(name, types, &arguments),
            ("Regex", _) => self.regex_call(name, &arguments),
            (
                "DateTime" | "DateTimeOffset" | "DateOnly" | "TimeOnly" | "TimeSpan",
                "ParseExact" | "TryParseExact",
            ) => super::exact::parse_exact(&full, name, &arguments),
            ("Int32" | "Int64", "Parse" | "TryParse")
                if arguments
                    .iter()
                    .any(|a| matches!(a, V::Enum(m) if &*m.name == "HexNumber")) =>
            {
                conversion("ToInt64", &[first, V::Int(16)]).and_then(|n| {
                    operators::cast(
                        n,
                        &Type {
                            name: if full == "Int32" {
                                "int".into()
                            } else {
                                "long".into()
                            },
                            ..Type::default()
                        },
                    )
                })
            }
            ("Path", _) => super::address::path_call(name, &arguments),
            ("WebUtility", _) => super::address::web_call(name, &text(0)),
            (_, "Parse") if !full.starts_with("Json") => {
                let bad = || {
                    thrown(
                        "FormatException",
                        format!(
                            "The input string '{}' was not in a correct format.",
                            text(0)
                        ),
                    )
                };
                parsed(&full, &text(0)).map_or_else(bad, Ok)
            }
            (_, "TryParse") => {
                let found = parsed(&full, &text(0));
                let has = V::Bool(found.is_some());
                let default = operators::default_of(&Type {
                    name: class.to_owned(),
                    ..Type::default()
                });
                Ok(V::Tuple(std::rc::Rc::new(vec![
                    (None, has),
                    (None, found.unwrap_or(default)),
                ])))
            }
            ("Math" | "MathF", _) => math(name, &arguments),
            ("Task", "FromResult") => Ok(super::statics::task(first)),
            ("Task", "Run") => {
                let value = self.call(&first, &[])?;
                Ok(super::statics::task(value))
            }
            ("Task", "Delay" | "Yield") => Ok(super::statics::task(V::Null)),
            ("Task", "WhenAll") => {
                let items = match arguments.as_slice() {
                    [only @ V::List(_)] => self.items(only)?,
                    items => items.to_vec(),
                };
                let results = items.iter().map(|item| entry(item, "Result")).collect();
                Ok(super::statics::task(V::array(results)))
            }
            ("Tuple" | "ValueTuple", "Create") => Ok(V::Tuple(std::rc::Rc::new(
                arguments.into_iter().map(|a| (None, a)).collect(),
            ))),
            ("KeyValuePair", "Create") => Ok(V::anonymous(vec![
                ("Key", first),
                ("Value", arguments.get(1).cloned().unwrap_or(V::Null)),
            ])),
            ("Environment", "GetEnvironmentVariable") => Ok(V::Null),
            ("HashCode", "Combine") => Ok(V::Int(i32::try_from(arguments.len()).unwrap_or(1))),
            ("BitConverter", "ToString") => {
                let hex: Vec<_> = bytes_of(&first)
                    .iter()
                    .map(|b| format!("{b:02X}"))
                    .collect();
                Ok(V::text(hex.join("-")))
            }
            ("BitConverter", "GetBytes") => Ok(V::bytes(&match &first {
                V::Long(number) => number.to_le_bytes().to_vec(),
                V::Double(number) => number.to_le_bytes().to_vec(),
                other => i32::try_from(whole(other))
                    .unwrap_or(0)
                    .to_le_bytes()
                    .to_vec(),
            })),
            (
                "Double" | "Single",
                "IsNaN" | "IsInfinity" | "IsFinite" | "IsNegative" | "IsPositiveInfinity",
            ) => {
                let number = operators::as_double(&first).unwrap_or(f64::NAN);
                Ok(V::Bool(match name {
                    "IsNaN" => number.is_nan(),
                    "IsInfinity" => number.is_infinite(),
                    "IsFinite" => number.is_finite(),
                    "IsNegative" => number.is_sign_negative(),
                    _ => number == f64::INFINITY,
                }))
            }
            ("Int32" | "Int64", "IsEvenInteger" | "IsOddInteger") => Ok(V::Bool(
                (whole(&first) % 2 == 0) == (name == "IsEvenInteger"),
            )),
            (
                "Int32" | "Int64" | "Double" | "Decimal",
                "Max" | "Min" | "Abs" | "Clamp" | "Sign" | "Round" | "Floor" | "Ceiling"
                | "Truncate",
            ) => math(name, &arguments),
            (
                "Decimal",
                "Add" | "Subtract" | "Multiply" | "Divide" | "Remainder" | "Negate" | "ToInt32"
                | "ToDouble" | "Compare",
            ) => {
                let second = arguments.get(1).cloned().unwrap_or(V::Null);
                match name {
                    "Add" => operators::binary("+", &first, &second),
                    "Subtract" => operators::binary("-", &first, &second),
                    "Multiply" => operators::binary("*", &first, &second),
                    "Divide" => operators::binary("/", &first, &second),
                    "Remainder" => operators::binary("%", &first, &second),
                    "Negate" => operators::unary("-", first),
                    "Compare" => self.method(&first, "CompareTo", &[], vec![second]),
                    _ => conversion(name, &arguments),
                }
            }
            ("Convert", _) => conversion(name, &arguments),
            ("String", _) => self.string_call(name, &arguments),
            ("Char", _) => Ok(char_call(name, &arguments)),
            ("Guid", "NewGuid") => {
                let (a, b) = (self.scope.random(), self.scope.random());
                let text = format!("{a:016x}{b:016x}");
                Ok(parsed("Guid", &text).unwrap_or(V::Null))
            }
            ("TimeSpan", "Compare") | ("DateTime" | "DateTimeOffset", "Compare") => self.method(
                &first,
                "CompareTo",
                &[],
                vec![arguments.get(1).cloned().unwrap_or(V::Null)],
            ),
            ("TimeSpan", "FromTicks") => Ok(V::Span(whole(&first))),
            ("TimeSpan", _) if arguments.len() > 1 => {
                let units = [
                    864_000_000_000_i64,
                    36_000_000_000,
                    600_000_000,
                    10_000_000,
                    10_000,
                ];
                let from = [
                    "FromDays",
                    "FromHours",
                    "FromMinutes",
                    "FromSeconds",
                    "FromMilliseconds",
                ]
                .iter()
                .position(|known| *known == name)
                .unwrap_or(0);
                let parts = arguments.iter().zip(units.iter().skip(from));
                Ok(V::Span(
                    parts
                        .map(|(part, unit)| whole(part).saturating_mul(*unit))
                        .sum(),
                ))
            }
            ("DateTime", "SpecifyKind") => match (&first, arguments.get(1)) {
                (V::Date(date), Some(V::Enum(kind))) => Ok(V::Date(Date {
                    is_utc: &*kind.name == "Utc",
                    ..*date
                })),
                _ => Ok(first),
            },
            ("DateTime", "FromFileTimeUtc" | "FromBinary") => Ok(V::Date(Date {
                ticks: whole(&first)
                    + if name == "FromBinary" {
                        0
                    } else {
                        504_911_232_000_000_000
                    },
                is_utc: name != "FromBinary",
                offset: None,
                part: super::date::Part::Whole,
            })),
            ("TimeZoneInfo", _) => super::exact::in_zone(name, &arguments),
            ("TimeSpan", _) => {
                let amount = operators::as_double(&first).unwrap_or(0.0);
                let unit = match name {
                    "FromDays" => 86_400_000.0,
                    "FromHours" => 3_600_000.0,
                    "FromMinutes" => 60_000.0,
                    "FromSeconds" => 1_000.0,
                    "FromMicroseconds" => 0.001,
                    _ => 1.0,
                };
                Ok(span_of_ms(amount * unit))
            }
            ("DateTime", "IsLeapYear") => Ok(V::Bool(Date::of(&[whole(&first), 2, 29]).is_some())),
            ("DateTime", "DaysInMonth") => {
                let days = (28..=31).rev().find(|day| {
                    Date::of(&[whole(&first), arguments.get(1).map_or(1, whole), *day]).is_some()
                });
                Ok(V::Int(
                    days.and_then(|d| i32::try_from(d).ok()).unwrap_or(0),
                ))
            }
            ("DateOnly", "FromDateTime") => match &first {
                V::Date(date) => Ok(V::Date(Date {
                    ticks: date.ticks - date.ticks.rem_euclid(864_000_000_000),
                    part: super::date::Part::Day,
                    is_utc: false,
                    offset: None,
                })),
                _ => Ok(V::Null),
            },
            ("DateTimeOffset", "FromUnixTimeSeconds") => Ok(V::Date(Date {
                offset: Some(0),
                ..Date::utc(whole(&first).saturating_mul(1_000))
            })),
            ("DateTimeOffset", "FromUnixTimeMilliseconds") => Ok(V::Date(Date {
                offset: Some(0),
                ..Date::utc(whole(&first))
            })),
            ("Enumerable", "Range" | "Repeat" | "Empty") | ("Array", "Empty") => {
                let times = usize::try_from(arguments.get(1).map_or(0, whole)).unwrap_or(0);
                if !self.budget.allocate(times.saturating_mul(32)) {
                    return Err(super::run::Stop::Limit);
                }
                self.charge(times)?;
                let item = |at: usize| {
                    if name == "Range" {
                        operators::binary("+", &first, &super::members::count(at))
                    } else {
                        Ok(first.clone())
                    }
                };
                let kind = if class == "Array" {
                    super::value::ListKind::Array
                } else {
                    super::value::ListKind::Lazy
                };
                Ok(V::items_of(
                    kind,
                    (0..times).map(item).collect::<Done<'p, Vec<_>>>()?,
                ))
            }
            ("Enumerable" | "Array", _) if !arguments.is_empty() => {
                let rest = arguments.get(1..).unwrap_or_default().to_vec();
                if let (V::List(list), "Array") = (&first, class) {
                    match name {
                        "Reverse" => {
                            list.items.borrow_mut().reverse();
                            return Ok(V::Null);
                        }
                        "Fill" => {
                            let value = rest.first().cloned().unwrap_or(V::Null);
                            list.items
                                .borrow_mut()
                                .iter_mut()
                                .for_each(|item| *item = value.clone());
                            return Ok(V::Null);
                        }
                        "FindAll" | "ConvertAll" => {
                            let found = self.method(&first, name, types, rest)?;
                            return Ok(V::array(self.items(&found)?));
                        }
                        _ => {}
                    }
                }
                self.method(&first, name, types, rest)
            }
            ("JsonSerializer", "Serialize") => {
                let options = arguments.get(1).cloned().unwrap_or(V::Null);
                let camel = matches!(
                    entry(&options, "PropertyNamingPolicy"),
                    V::Enum(policy) if &*policy.name == "CamelCase"
                );
                let json = self.plain_value(first, 0)?.to_json(camel, 0);
                Ok(V::text(
                    if matches!(entry(&options, "WriteIndented"), V::Bool(true)) {
                        crate::dotnet::indented_json_text(&json)
                    } else {
                        json_text(&json, true)
                    },
                ))
            }
            ("JsonSerializer", "Deserialize") | ("JsonNode", "Parse") => {
                if matches!(first, V::Null) {
                    return thrown("ArgumentNullException", "Value cannot be null.");
                }
                let Ok(json) = serde_json::from_str::<Value>(&text(0)) else {
                    return thrown("JsonException", "The input is not valid JSON.");
                };
                let kind = if class == "JsonNode"
                    || types.first().is_some_and(|t| t.name.starts_with("Json"))
                {
                    MapKind::Node
                } else {
                    MapKind::Dictionary
                };
                let value = V::from_json(&json, kind);
                let value = match types.first() {
                    Some(of) => super::exact::deserialized(value, of)?,
                    None => value,
                };
                self.made(value)
            }
            ("JsonDocument", "Parse") => {
                let Ok(json) = serde_json::from_str::<Value>(&text(0)) else {
                    return thrown("JsonException", "The input is not valid JSON.");
                };
                self.made(V::anonymous(vec![(
                    "RootElement",
                    super::element::element(&json),
                )]))
            }
            ("JsonValue", "Create") => Ok(first),
            ("Uri", "UnescapeDataString") => Ok(V::text(super::address::unescaped(&text(0)))),
            ("Uri", "IsWellFormedUriString" | "TryCreate") => {
                let is_absolute = text(0).split_once("://").is_some_and(|(scheme, rest)| {
                    !scheme.is_empty() && !rest.is_empty() && !rest.contains(' ')
                });
                if name == "TryCreate" {
                    let made = if is_absolute {
                        self.construct(
                            &Type {
                                name: "Uri".into(),
                                ..Type::default()
                            },
                            vec![first],
                        )?
                    } else {
                        V::Null
                    };
                    return Ok(V::Tuple(std::rc::Rc::new(vec![
                        (None, V::Bool(is_absolute)),
                        (None, made),
                    ])));
                }
                Ok(V::Bool(is_absolute))
            }
            ("Uri", "EscapeDataString" | "EscapeUriString") => {
                Ok(V::text(super::address::escaped(&text(0))))
            }
            ("UTF8", "GetBytes") => Ok(V::bytes(text(0).as_bytes())),
            ("UTF8", "GetByteCount") => Ok(super::members::count(text(0).len())),
            ("UTF8", "GetString") => Ok(V::text(
                String::from_utf8_lossy(&bytes_of(&first)).into_owned(),
            )),
            ("Object", "Equals" | "ReferenceEquals") => Ok(V::Bool(operators::equal(
                &first,
                arguments.get(1).unwrap_or(&V::Null),
            ))),
            ("Console", _) => Ok(V::Null),
            _ => thrown(
                "CompilationErrorException",
                format!("'{class}.{name}' is not run here"),
            ),
        }
    }
}
