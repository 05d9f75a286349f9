//! Cuts C# into tokens. Texts with holes are cut further: each hole is tokens of its own.

use super::syntax::Problem;

/// A token.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Name(String),
    Int(i64),
    Long(i64),
    Single(f32),
    Double(f64),
    Decimal(String),
    Text(String),
    Char(char),
    /// An interpolated text: text, or a hole with its width and format.
    Holes(Vec<Hole>),
    Mark(&'static str),
}

/// A part of an interpolated text.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Hole {
    Text(String),
    Value {
        tokens: Vec<(Token, u32)>,
        width: i32,
        format: String,
    },
}

const MARKS: [&str; 55] = [
    ">>=", "<<=", "??=", "...", "=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "?[", "++",
    "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", "..", "::", "(", ")", "[", "]",
    "{", "}", ";", ",", ".", ":", "?", "+", "-", "*", "/", "%", "=", "<", ">", "!", "&", "|", "^",
    "~", "@", "#", "$", "\\",
];

/// The tokens of a script, each with its line from 1.
pub(super) fn tokens(source: &str) -> Result<Vec<(Token, u32)>, Problem> {
    let mut cutter = Cutter {
        rest: source,
        line: 1,
    };
    let mut found = Vec::new();
    while let Some(token) = cutter.next()? {
        found.push(token);
    }
    Ok(found)
}

struct Cutter<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Cutter<'a> {
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        self.line += u32::try_from(taken.matches('\n').count()).unwrap_or(0);
        self.rest = rest;
        taken
    }

    fn problem(&self, message: &str) -> Problem {
        Problem::new(message, self.line)
    }

    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if self.rest.starts_with("//") || self.rest.starts_with("#") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.take(end);
            } else if self.rest.starts_with("/*") {
                let end = self.rest.find("*/").map_or(self.rest.len(), |at| at + 2);
                self.take(end);
            } else {
                return;
            }
        }
    }

    fn next(&mut self) -> Result<Option<(Token, u32)>, Problem> {
        self.skip_blanks();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = if first.is_ascii_digit() || first == '.' && self.second_is_digit() {
            self.number()?
        } else if first == '\'' {
            self.character()?
        } else if let Some(text) = self.text()? {
            text
        } else if first.is_alphabetic() || first == '_' || first == '@' && self.second_is_letter() {
            if first == '@' {
                self.take(1);
            }
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = self.rest.find(|c| !is_word(c)).unwrap_or(self.rest.len());
            Token::Name(self.take(end).to_owned())
        } else {
            let rest = self.rest;
            // `a ? .5 : b` has no `?.`.
            let fits = |mark: &&&str| rest.starts_with(**mark);
            let mark = MARKS.iter().find(fits).copied();
            let mark = mark.ok_or_else(|| self.problem("a character that C# does not have"))?;
            self.take(mark.len());
            Token::Mark(mark)
        };
        Ok(Some((token, line)))
    }

    fn second_is_letter(&self) -> bool {
        self.rest
            .chars()
            .nth(1)
            .is_some_and(|c| c.is_alphabetic() || c == '_')
    }

    fn second_is_digit(&self) -> bool {
        self.rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit())
    }

    fn number(&mut self) -> Result<Token, Problem> {
        for (prefix, radix) in [("0x", 16), ("0X", 16), ("0b", 2), ("0B", 2)] {
            if let Some(digits) = self.rest.strip_prefix(prefix) {
                let end = digits.find(|c: char| !c.is_ascii_hexdigit() && c != '_');
                let digits = digits
                    .get(..end.unwrap_or(digits.len()))
                    .unwrap_or_default();
                self.take(2 + digits.len());
                let number = i64::from_str_radix(&digits.replace('_', ""), radix);
                let number = number.map_err(|_| self.problem("this is no number"))?;
                return Ok(whole(number, false));
            }
        }
        let bytes = self.rest.as_bytes();
        let mut end = 0;
        let (mut has_point, mut has_exponent) = (false, false);
        while let Some(byte) = bytes.get(end) {
            let next_is_digit = bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
            match byte {
                b'0'..=b'9' | b'_' => {}
                b'.' if !has_point && !has_exponent && next_is_digit => has_point = true,
                b'e' | b'E' if !has_exponent => {
                    has_exponent = true;
                    if matches!(bytes.get(end + 1), Some(b'+' | b'-')) {
                        end += 1;
                    }
                }
                _ => break,
            }
            end += 1;
        }
        let digits = self.take(end).replace('_', "");
        let suffix = self.rest.chars().next().unwrap_or(' ').to_ascii_lowercase();
        if matches!(suffix, 'm' | 'd' | 'f' | 'l' | 'u') {
            self.take(1);
            if matches!(self.rest.chars().next(), Some('l' | 'L')) {
                self.take(1);
            }
        }
        match suffix {
            'm' => Ok(Token::Decimal(digits)),
            'f' => {
                let number = digits
                    .parse()
                    .map_err(|_| self.problem("this is no number"))?;
                Ok(Token::Single(number))
            }
            _ if has_point || has_exponent || suffix == 'd' => {
                let number = digits
                    .parse()
                    .map_err(|_| self.problem("this is no number"))?;
                Ok(Token::Double(number))
            }
            _ => {
                let number = digits
                    .parse()
                    .map_err(|_| self.problem("this number is too large"))?;
                Ok(whole(number, suffix == 'l'))
            }
        }
    }

    fn character(&mut self) -> Result<Token, Problem> {
        self.take(1);
        let character = self.one_character()?;
        if !self.rest.starts_with('\'') {
            return Err(self.problem("a character has one letter between single quotes"));
        }
        self.take(1);
        Ok(Token::Char(character))
    }

    /// One character of a text, or what an escape stands for.
    fn one_character(&mut self) -> Result<char, Problem> {
        let ended = "this text does not end";
        let first = self
            .rest
            .chars()
            .next()
            .ok_or_else(|| self.problem(ended))?;
        self.take(first.len_utf8());
        if first != '\\' {
            return Ok(first);
        }
        let escape = self
            .rest
            .chars()
            .next()
            .ok_or_else(|| self.problem(ended))?;
        self.take(escape.len_utf8());
        Ok(match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'e' => '\u{1b}',
            'u' | 'x' | 'U' => {
                let length = if escape == 'U' { 8 } else { 4 };
                let end = self.rest.find(|c: char| !c.is_ascii_hexdigit());
                let length = length.min(end.unwrap_or(self.rest.len()));
                let code = u32::from_str_radix(self.take(length), 16).unwrap_or(0);
                char::from_u32(code).unwrap_or('\u{fffd}')
            }
            other => other,
        })
    }

    /// A text in any of its forms; `None`: there is none here.
    fn text(&mut self) -> Result<Option<Token>, Problem> {
        let marks = self.rest.find(|c| c != '$' && c != '@').unwrap_or(0);
        let prefix = self.rest.get(..marks).unwrap_or_default();
        let after = self.rest.get(marks..).unwrap_or_default();
        if !after.starts_with('"') {
            return Ok(None);
        }
        let holes = prefix.matches('$').count();
        let is_verbatim = prefix.contains('@');
        let quotes = after.len() - after.trim_start_matches('"').len();
        self.take(marks);
        if quotes >= 3 {
            return self.raw(quotes, holes).map(Some);
        }
        self.take(1);
        let mut parts = Vec::new();
        let mut text = String::new();
        loop {
            if self.rest.starts_with('"') {
                self.take(1);
                if is_verbatim && self.rest.starts_with('"') {
                    self.take(1);
                    text.push('"');
                    continue;
                }
                break;
            }
            if holes > 0 && (self.rest.starts_with("{{") || self.rest.starts_with("}}")) {
                text.push_str(self.take(2).get(..1).unwrap_or_default());
            } else if holes > 0 && self.rest.starts_with('{') {
                self.take(1);
                parts.push(Hole::Text(std::mem::take(&mut text)));
                parts.push(self.hole("}")?);
            } else if is_verbatim {
                let first = self.rest.chars().next();
                let first = first.ok_or_else(|| self.problem("this text does not end"))?;
                text.push_str(self.take(first.len_utf8()));
            } else {
                text.push(self.one_character()?);
            }
        }
        Ok(Some(finished(text, parts, holes > 0)))
    }

    /// A text between three or more quotes.
    fn raw(&mut self, quotes: usize, holes: usize) -> Result<Token, Problem> {
        let fence = "\"".repeat(quotes);
        self.take(quotes);
        let end = self
            .rest
            .find(&fence)
            .ok_or_else(|| self.problem("this text does not end"))?;
        let extra = self.rest.get(end + quotes..).unwrap_or_default();
        let end = end + (extra.len() - extra.trim_start_matches('"').len());
        let line = self.line;
        let inside = unindented(self.take(end));
        self.take(quotes);
        if holes == 0 {
            return Ok(Token::Text(inside));
        }
        let (open, close) = ("{".repeat(holes), "}".repeat(holes));
        let mut inner = Cutter {
            rest: &inside,
            line,
        };
        let mut parts = Vec::new();
        while let Some(at) = inner.rest.find(&open) {
            parts.push(Hole::Text(inner.take(at).to_owned()));
            inner.take(holes);
            parts.push(inner.hole(&close)?);
        }
        let text = inner.rest.to_owned();
        Ok(finished(text, parts, true))
    }

    /// The inside of a hole, up to its closing braces.
    fn hole(&mut self, close: &str) -> Result<Hole, Problem> {
        let mut tokens = Vec::new();
        let mut depth = 0_i32;
        let mut width = 0;
        loop {
            self.skip_blanks();
            if depth == 0 && self.rest.starts_with(close) {
                self.take(close.len());
                return Ok(Hole::Value {
                    tokens,
                    width,
                    format: String::new(),
                });
            }
            if depth == 0 && self.rest.starts_with(',') {
                let end = self.rest.find([':', '}']).unwrap_or(self.rest.len());
                width = self
                    .take(end)
                    .trim_start_matches(',')
                    .trim()
                    .parse()
                    .unwrap_or(0);
                continue;
            }
            if depth == 0 && self.rest.starts_with(':') {
                let end = self.rest.find(close);
                let end = end.ok_or_else(|| self.problem("a hole of this text does not end"))?;
                let format = self.take(end).trim_start_matches(':').to_owned();
                self.take(close.len());
                return Ok(Hole::Value {
                    tokens,
                    width,
                    format,
                });
            }
            let token = self.next()?;
            let token = token.ok_or_else(|| self.problem("a hole of this text does not end"))?;
            match token.0 {
                Token::Mark("(" | "[" | "{" | "?[") => depth += 1,
                Token::Mark(")" | "]" | "}") => depth -= 1,
                _ => {}
            }
            tokens.push(token);
        }
    }
}

fn finished(text: String, mut parts: Vec<Hole>, has_holes: bool) -> Token {
    if !has_holes {
        return Token::Text(text);
    }
    parts.push(Hole::Text(text));
    Token::Holes(parts)
}

fn whole(number: i64, is_long: bool) -> Token {
    match i32::try_from(number) {
        Ok(_) if !is_long => Token::Int(number),
        _ => Token::Long(number),
    }
}

/// A raw text of several lines without the blanks that its last line has.
fn unindented(text: &str) -> String {
    let Some((_, lines)) = text
        .split_once('\n')
        .filter(|(first, _)| first.trim().is_empty())
    else {
        return text.to_owned();
    };
    let Some((lines, indent)) = lines.rsplit_once('\n') else {
        return String::new();
    };
    let lines = lines
        .lines()
        .map(|line| line.strip_prefix(indent).unwrap_or(line.trim_start()));
    lines.collect::<Vec<_>>().join("\n")
}
