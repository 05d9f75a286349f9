//! A table of text in columns, as wide as its content.

use unicode_width::UnicodeWidthStr;

use crate::screen::one_line;

/// A table with a header.
pub(crate) struct TextTable {
    rows: Vec<Vec<String>>,
}

impl TextTable {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self {
            rows: vec![header.iter().map(|&h| h.to_owned()).collect()],
        }
    }

    /// A table without a header, indented by its first, empty column.
    pub(crate) fn plain() -> Self {
        Self { rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows
            .push(cells.into_iter().map(|cell| one_line(&cell)).collect());
    }

    /// The lines, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|i| {
                let cells = self.rows.iter().filter_map(|row| row.get(i));
                cells.map(|cell| width(cell)).max().unwrap_or(0)
            })
            .collect();
        let line = |row: &Vec<String>| {
            let mut out = String::new();
            for (cell, wanted) in row.iter().zip(&widths) {
                out.push_str(cell);
                let missing = wanted.saturating_sub(width(cell));
                out.push_str(&" ".repeat(missing + 2));
            }
            out.trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// The columns that a text takes on a terminal; colours take none.
fn width(text: &str) -> usize {
    let mut visible = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        visible.push_str(before);
        rest = after.split_once('m').map_or("", |(_, after)| after);
    }
    visible.push_str(rest);
    visible.width()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_what_is_seen() {
        let mut table = TextTable::new(&["ID", "NAME"]);
        table.row(["1".into(), "日本".into()]);
        table.row(["\u{1b}[1m22\u{1b}[0m".into(), "a\nb".into()]);
        assert_eq!(
            table.lines(),
            ["ID  NAME", "1   日本", "\u{1b}[1m22\u{1b}[0m  a b"]
        );
    }
}
