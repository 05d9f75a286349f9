//! Output of a command: lines and tables for people, or one JSON value for programs.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::text_table::TextTable;

const BOLD: &str = "\u{1b}[1m";
const DIM: &str = "\u{1b}[2m";
const RED: &str = "\u{1b}[31m";
const GREEN: &str = "\u{1b}[32m";
const YELLOW: &str = "\u{1b}[33m";
const PURPLE: &str = "\u{1b}[35m";
const PLAIN: &str = "\u{1b}[0m";
const COLOURS: [&str; 7] = [BOLD, DIM, RED, GREEN, YELLOW, PURPLE, PLAIN];

/// The standard output of a command.
pub(crate) struct Screen {
    is_json: bool,
    has_colour: bool,
}

impl Screen {
    pub(crate) fn new(is_json: bool) -> Self {
        let wants_none = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        Self {
            is_json,
            has_colour: !is_json && !wants_none && std::io::stdout().is_terminal(),
        }
    }

    /// True if the output is for a program.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Writes a line for people; nothing in JSON mode.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        if !self.is_json {
            let lines: Vec<String> = text.as_ref().split('\n').map(one_line).collect();
            write(&lines.join("\n"));
        }
    }

    /// Writes a warning for people to the error stream; nothing in JSON mode.
    pub(crate) fn warn(&self, text: impl AsRef<str>) {
        if !self.is_json {
            let mut err = std::io::stderr().lock();
            let _nobody_reads = writeln!(err, "warning: {}", one_line(text.as_ref()));
        }
    }

    /// Writes a table for people; nothing in JSON mode.
    pub(crate) fn table(&self, table: &TextTable) {
        for line in table.lines() {
            self.line(line);
        }
    }

    /// Writes a value for programs; nothing otherwise.
    pub(crate) fn value(&self, value: &Value) {
        if self.is_json {
            write(&value.to_string());
        }
    }

    /// Writes text as it is, for a shell or a file; nothing in JSON mode.
    pub(crate) fn text(&self, text: &str) {
        if !self.is_json {
            write(text.trim_end());
        }
    }

    /// Writes a document that a program asked for by its format, whatever the mode.
    pub(crate) fn raw(&self, value: &Value) {
        // A `Value` always has a text.
        let text = match self.is_json {
            true => value.to_string(),
            false => serde_json::to_string_pretty(value).unwrap_or_default(),
        };
        write(&text);
    }

    /// Text that is not the main thing.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint(DIM, text)
    }

    /// Text that is.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint(BOLD, text)
    }

    /// A status in the colour that people expect.
    pub(crate) fn status(&self, status: &str) -> String {
        let colour = match status {
            "Finished" | "Completed" => GREEN,
            "Faulted" => RED,
            "Cancelled" | "Canceled" => PURPLE,
            _ => YELLOW,
        };
        self.paint(colour, status)
    }

    fn paint(&self, colour: &str, text: &str) -> String {
        if self.has_colour {
            format!("{colour}{text}{PLAIN}")
        } else {
            text.to_owned()
        }
    }
}

/// A text without line breaks and control characters, but for colours of our own: what workflows are given and
/// write comes from anybody, and a terminal obeys it.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = COLOURS.iter().find(|colour| rest.starts_with(**colour));
        let taken = match colour {
            Some(colour) => {
                out.push_str(colour);
                colour.len()
            }
            None => {
                out.push(if c.is_control() { ' ' } else { c });
                c.len_utf8()
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Writes a line. A reader that has stopped reading (`dormouse list | head -1`) wants no more and no error.
fn write(line: &str) {
    let mut out = std::io::stdout().lock();
    let _nobody_reads = writeln!(out, "{line}").and_then(|()| out.flush());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_not_passed_on() {
        assert_eq!(one_line("a\tb\u{1b}]0;title\u{7}c\r"), "a b ]0;title c ");
        let own = format!("{RED}é{PLAIN}");
        assert_eq!(one_line(&own), own);
    }
}
