//! The rows of the documents that say how Elsa behaves, and which test shows each.

/// A row of a table in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRow {
    /// The heading above it.
    pub section: String,
    /// Its number under that heading, from 1.
    pub number: usize,
    /// Its first cell.
    pub text: String,
}

/// Reads every row of every table, heads left out.
#[must_use]
pub fn read(document: &str) -> Vec<DocumentRow> {
    let mut rows: Vec<DocumentRow> = Vec::new();
    let mut section = String::new();
    let mut number = 0;
    let mut is_in_body = false;
    for line in document.lines().map(str::trim) {
        if line.starts_with("##") {
            section = line.trim_start_matches('#').trim().to_owned();
            number = 0;
        }
        if !line.starts_with('|') {
            is_in_body = false;
        } else if line.chars().all(|c| "|-: ".contains(c)) {
            is_in_body = true;
        } else if is_in_body {
            number += 1;
            let text = line
                .trim_matches('|')
                .split('|')
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned();
            rows.push(DocumentRow {
                section: section.clone(),
                number,
                text,
            });
        }
    }
    rows
}

/// How a row is dealt with.
#[derive(Debug, Clone, Copy)]
pub enum Proof {
    /// By a test: its name and the test itself.
    Test(&'static str, fn()),
    /// Not here, for a reason.
    LeftOut(&'static str),
}

/// What is known of a row.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// How its section's heading ends.
    pub section: &'static str,
    /// Its number in the section, from 1.
    pub number: usize,
    /// How its first cell begins, so that a changed document is noticed.
    pub begins: &'static str,
    /// How it is dealt with.
    pub proof: Proof,
}

impl Row {
    /// Whether this is what is known of the document's row.
    #[must_use]
    pub fn is_about(&self, row: &DocumentRow) -> bool {
        row.section.ends_with(self.section)
            && row.number == self.number
            && row.text.starts_with(self.begins)
    }
}
