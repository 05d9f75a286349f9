//! Regular expressions of C# scripts. They take time in proportion to the text: no look-around, no back references.

use super::members::count;
use super::run::{Done, Run, thrown};
use super::text_method::plain;
use super::value::V;

/// The longest pattern.
const SOURCE_MAX: usize = 4_096;

#[derive(Debug)]
pub(super) struct Regex {
    pub(super) source: String,
    compiled: regex_lite::Regex,
}

impl Regex {
    /// Compiles a pattern with .NET's options.
    pub(super) fn new<'p>(source: &str, options: Option<&V<'p>>) -> Done<'p, Self> {
        let names = options.map(V::shown).unwrap_or_default();
        let flags: String = [
            ("IgnoreCase", 'i'),
            ("Multiline", 'm'),
            ("Singleline", 's'),
            ("IgnorePatternWhitespace", 'x'),
        ]
        .iter()
        .filter(|(name, _)| names.contains(name))
        .map(|(_, flag)| *flag)
        .collect();
        let pattern = if flags.is_empty() {
            source.to_owned()
        } else {
            format!("(?{flags}){source}")
        };
        match regex_lite::Regex::new(&pattern) {
            Ok(compiled) if source.len() <= SOURCE_MAX => Ok(Self {
                source: source.to_owned(),
                compiled,
            }),
            Ok(_) | Err(_) => thrown(
                "RegexParseException",
                format!("Invalid pattern '{source}', or one that is not run here"),
            ),
        }
    }
}

fn place<'p>(text: &str, at: usize) -> V<'p> {
    count(text.get(..at).unwrap_or_default().encode_utf16().count())
}

/// A match with its groups, or one that failed.
fn found<'p>(regex: &Regex, text: &str, captures: Option<&regex_lite::Captures<'_>>) -> V<'p> {
    let part = |matched: Option<regex_lite::Match<'_>>, name: &str| {
        let value = matched.map_or("", |m| m.as_str());
        V::anonymous(vec![
            ("Success", V::Bool(matched.is_some())),
            ("Name", V::text(name)),
            ("Value", V::text(value)),
            ("Index", place(text, matched.map_or(0, |m| m.start()))),
            ("Length", count(value.encode_utf16().count())),
        ])
    };
    let names = regex.compiled.capture_names().enumerate();
    let groups = names.map(|(at, name)| {
        let name = name.map_or_else(|| at.to_string(), str::to_owned);
        part(captures.and_then(|c| c.get(at)), &name)
    });
    let groups = V::list(groups.collect());
    let whole = part(captures.and_then(|c| c.get(0)), "0");
    if let V::Map(map) = &whole {
        map.entries.borrow_mut().push((V::text("Groups"), groups));
    }
    whole
}

/// .NET's `$1` and `${name}` in a replacement, as the engine has them.
fn replacement(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        made.push_str(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            made.push_str(&format!("${{{}}}", rest.get(..digits).unwrap_or_default()));
            rest = rest.get(digits..).unwrap_or_default();
        } else if rest.starts_with('{') || rest.starts_with('$') {
            made.push('$');
            made.push_str(rest.get(..1).unwrap_or_default());
            rest = rest.get(1..).unwrap_or_default();
        } else if rest.starts_with('&') {
            made.push_str("${0}");
            rest = rest.get(1..).unwrap_or_default();
        } else {
            made.push_str("$$");
        }
    }
    made + rest
}

impl Run<'_> {
    /// `Regex.Name(text, pattern, …)`
    pub(super) fn regex_call<'p>(&mut self, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let text = plain(arguments.first());
        match name {
            "Escape" => {
                let mut made = String::new();
                for c in text.chars() {
                    match c {
                        '\n' => made.push_str("\\n"),
                        '\r' => made.push_str("\\r"),
                        '\t' => made.push_str("\\t"),
                        '\\' | '*' | '+' | '?' | '|' | '{' | '[' | '(' | ')' | '^' | '$' | '.'
                        | '#' | ' ' => made.extend(['\\', c]),
                        c => made.push(c),
                    }
                }
                return self.made(V::text(made));
            }
            "Unescape" => return self.made(V::text(text.replace('\\', ""))),
            _ => {}
        }
        let options = arguments.iter().find(|a| matches!(a, V::Enum(_)));
        let regex = Regex::new(&plain(arguments.get(1)), options)?;
        let mut rest = vec![V::text(text)];
        rest.extend(arguments.iter().skip(2).cloned());
        self.regex_method(&regex, name, &rest)
    }

    /// A method of a pattern; the text is the first argument.
    pub(super) fn regex_method<'p>(
        &mut self,
        regex: &Regex,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        if matches!(arguments.first(), Some(V::Null) | None) {
            return thrown("ArgumentNullException", "Value cannot be null.");
        }
        let text = plain(arguments.first());
        self.charge(text.len().saturating_mul(regex.source.len() + 1) / 16 + 1)?;
        let compiled = &regex.compiled;
        let made = match name {
            "IsMatch" => V::Bool(compiled.is_match(&text)),
            "Count" => count(compiled.find_iter(&text).count()),
            "Match" => found(regex, &text, compiled.captures(&text).as_ref()),
            "Matches" => {
                let all = compiled.captures_iter(&text);
                V::list(all.map(|c| found(regex, &text, Some(&c))).collect())
            }
            "Split" => V::array(compiled.split(&text).map(V::text).collect()),
            "Replace" => match arguments.get(1) {
                Some(function @ V::Func(_)) => {
                    let mut made = String::new();
                    let mut end = 0;
                    for captures in compiled.captures_iter(&text) {
                        let Some(whole) = captures.get(0) else {
                            continue;
                        };
                        made.push_str(text.get(end..whole.start()).unwrap_or_default());
                        let one = found(regex, &text, Some(&captures));
                        made.push_str(&self.call(function, &[one])?.shown());
                        end = whole.end();
                    }
                    V::text(made + text.get(end..).unwrap_or_default())
                }
                with => {
                    let with = replacement(&plain(with));
                    V::text(match arguments.get(2) {
                        Some(V::Int(times)) => {
                            let times = usize::try_from(*times).unwrap_or(0);
                            compiled.replacen(&text, times, with.as_str())
                        }
                        _ => compiled.replace_all(&text, with.as_str()),
                    })
                }
            },
            _ => {
                return thrown(
                    "CompilationErrorException",
                    format!("'Regex' does not contain a definition for '{name}'"),
                );
            }
        };
        self.made(made)
    }
}
