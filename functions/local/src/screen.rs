//! What a command says on the standard output: lines and tables for people, or one JSON value for programs.

use std::io::{IsTerminal, Write};

use serde_json::Value;

use crate::text_table::TextTable;

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

    /// Whether the output is for a program.
    pub(crate) fn is_json(&self) -> bool {
        self.is_json
    }

    /// Writes a line for people; nothing in JSON mode.
    pub(crate) fn line(&self, text: impl AsRef<str>) {
        if !self.is_json {
            write(text.as_ref());
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

    /// Text that is not the main thing.
    pub(crate) fn dim(&self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Text that is.
    pub(crate) fn bold(&self, text: &str) -> String {
        self.paint("1", text)
    }

    /// A status in the colour that people expect.
    pub(crate) fn status(&self, status: &str) -> String {
        let colour = match status {
            "Finished" | "Completed" => "32",
            "Faulted" => "31",
            "Cancelled" | "Canceled" => "35",
            _ => "33",
        };
        self.paint(colour, status)
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.has_colour {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Writes a line. Whoever has stopped reading (`dormouse list | head -1`) wants no more and no error.
fn write(line: &str) {
    let mut out = std::io::stdout().lock();
    let _nobody_reads = writeln!(out, "{line}").and_then(|()| out.flush());
}
