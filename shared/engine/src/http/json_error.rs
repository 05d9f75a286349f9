//! What is wrong with a text that is not JSON, in the words of .NET's reader, which Elsa's clients know.

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong, without the place.
    pub message: String,
    /// The line, from 0.
    pub line: usize,
    /// The byte in the line, from 0.
    pub byte: usize,
}

impl JsonError {
    /// Finds the first thing that is wrong. `None`: the text is JSON, or nested deeper than is looked at.
    #[must_use]
    pub fn find(text: &[u8]) -> Option<Self> {
        let mut reader = Reader { text, at: 0 };
        let message = reader.document().err()?;
        let read = text.get(..reader.at).unwrap_or(text);
        let line = read.iter().filter(|b| **b == b'\n').count();
        let begin = read
            .iter()
            .rposition(|b| *b == b'\n')
            .map_or(0, |at| at + 1);
        Some(Self {
            message,
            line,
            byte: reader.at - begin,
        })
    }

    /// The whole sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self {
            message,
            line,
            byte,
        } = self;
        format!("{message} LineNumber: {line} | BytePositionInLine: {byte}.")
    }

    /// The whole sentence, with the path of what was being read.
    #[must_use]
    pub fn sentence_at(&self, path: &str) -> String {
        let Self {
            message,
            line,
            byte,
        } = self;
        format!("{message} Path: {path} | LineNumber: {line} | BytePositionInLine: {byte}.")
    }
}

const EMPTY: &str = "The input does not contain any JSON tokens. Expected the input to start with a valid JSON token, when isFinalBlock is true.";
const OPEN: &str = "Expected depth to be zero at the end of the JSON payload. There is an open JSON object or array that should be closed.";
const CUT_STRING: &str = "Expected end of string, but instead reached end of data.";

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
}

type Read = Result<(), String>;

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += 1;
        }
    }

    /// The character here, in quotes, and what is wrong with it; at the end of the text, that it ends.
    fn wrong<T>(&self, what: &str) -> Result<T, String> {
        match self.peek() {
            None => Err(OPEN.into()),
            Some(byte) if byte.is_ascii_graphic() || byte == b' ' => {
                Err(format!("'{}' {what}", char::from(byte)))
            }
            Some(byte) => Err(format!("'0x{byte:02X}' {what}")),
        }
    }

    /// Iterative, so that no text is too deep.
    fn document(&mut self) -> Read {
        self.space();
        if self.peek().is_none() {
            return Err(EMPTY.into());
        }
        let mut open: Vec<u8> = Vec::new();
        let mut is_value_next = true;
        loop {
            self.space();
            if is_value_next {
                match self.peek() {
                    Some(begin @ (b'{' | b'[')) => {
                        self.at += 1;
                        self.space();
                        let end = if begin == b'{' { b'}' } else { b']' };
                        if self.peek() == Some(end) {
                            self.at += 1;
                            is_value_next = false;
                        } else {
                            open.push(end);
                            if begin == b'{' {
                                self.name()?;
                            }
                        }
                        continue;
                    }
                    Some(_) | None => self.scalar()?,
                }
                is_value_next = false;
                continue;
            }
            let Some(end) = open.last().copied() else {
                return match self.peek() {
                    None => Ok(()),
                    Some(_) => {
                        self.wrong("is invalid after a single JSON value. Expected end of data.")
                    }
                };
            };
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.space();
                    if self.peek() == Some(end) {
                        let kind = if end == b'}' { "object" } else { "array" };
                        return Err(format!(
                            "The JSON {kind} contains a trailing comma at the end which is not supported in this mode. Change the reader options."
                        ));
                    }
                    if end == b'}' {
                        self.name()?;
                    }
                    is_value_next = true;
                }
                Some(byte) if byte == end => {
                    self.at += 1;
                    open.pop();
                }
                Some(_) | None => {
                    return self
                        .wrong("is invalid after a value. Expected either ',', '}', or ']'.");
                }
            }
        }
    }

    fn name(&mut self) -> Read {
        if self.peek() != Some(b'"') {
            return self.wrong("is an invalid start of a property name. Expected a '\"'.");
        }
        self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return self.wrong("is invalid after a property name. Expected a ':'.");
        }
        self.at += 1;
        Ok(())
    }

    fn string(&mut self) -> Read {
        self.at += 1;
        loop {
            match self.peek() {
                None => return Err(CUT_STRING.into()),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => {
                    self.at += 1;
                    match self.peek() {
                        None => return Err(CUT_STRING.into()),
                        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u') => {
                            self.at += 1;
                        }
                        Some(_) => {
                            return self.wrong("is an invalid escapable character within a JSON string. The string should be correctly escaped.");
                        }
                    }
                }
                Some(0..=0x1f) => {
                    return self.wrong(
                        "is invalid within a JSON string. The string should be correctly escaped.",
                    );
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn scalar(&mut self) -> Read {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(b't') => self.literal("true"),
            Some(b'f') => self.literal("false"),
            Some(b'n') => self.literal("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) | None => self.wrong("is an invalid start of a value."),
        }
    }

    fn literal(&mut self, word: &str) -> Read {
        let begin = self.at;
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                let rest = self.text.get(begin..).unwrap_or_default();
                let shown: Vec<u8> = rest.iter().copied().take(word.len() + 1).collect();
                let shown = String::from_utf8_lossy(&shown).into_owned();
                return Err(format!(
                    "'{shown}' is an invalid JSON literal. Expected the literal '{word}'."
                ));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self) -> Read {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.wrong("is invalid within a number, immediately after a sign character ('+' or '-'). Expected a digit ('0'-'9').");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Read {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        match self.peek() {
            None | Some(b' ' | b'\n' | b'\r' | b'\t' | b',' | b'}' | b']' | b'/') => Ok(()),
            Some(_) => self.wrong("is an invalid end of a number. Expected a delimiter."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(text: &str) -> Option<String> {
        JsonError::find(text.as_bytes()).map(|e| e.sentence())
    }

    #[test]
    fn what_is_wrong_is_told_as_in_dot_net() {
        assert_eq!(
            sentence("{not json").unwrap(),
            "'n' is an invalid start of a property name. Expected a '\"'. LineNumber: 0 | BytePositionInLine: 1."
        );
        let comment = JsonError::find(b"{\"a\":1 /* c */}").unwrap();
        assert_eq!(
            comment.sentence_at("$"),
            "'/' is invalid after a value. Expected either ',', '}', or ']'. Path: $ | LineNumber: 0 | BytePositionInLine: 7."
        );
        assert!(
            sentence("[1,\n x]")
                .unwrap()
                .ends_with("LineNumber: 1 | BytePositionInLine: 1.")
        );
        assert!(sentence("{\"a\":1,}").unwrap().contains("trailing comma"));
        assert!(
            sentence("{\"a\":")
                .unwrap()
                .starts_with("Expected depth to be zero")
        );
        assert!(
            sentence("")
                .unwrap()
                .starts_with("The input does not contain")
        );
    }

    #[test]
    fn json_has_nothing_wrong() {
        for text in [
            "{}",
            " [1, -2.5e+3, \"a\\n\", true, null, {\"a\": []}] ",
            "0",
            "\"x\"",
        ] {
            assert_eq!(sentence(text), None, "{text}");
        }
        assert_eq!(sentence(&"[".repeat(100_000).replace('[', "[1,")[..3]), Some("Expected depth to be zero at the end of the JSON payload. There is an open JSON object or array that should be closed. LineNumber: 0 | BytePositionInLine: 3.".into()));
    }
}
