//! Cuts a template into text, outputs `{{ … }}` and tags `{% … %}`, with whitespace control.

use crate::EvaluationError;

/// A piece of a template and the line it begins in, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    pub(super) kind: ChunkKind,
    pub(super) text: &'a str,
    pub(super) line: u32,
}

/// What a chunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkKind {
    /// Text as it is written.
    Text,
    /// The inside of `{{ … }}`.
    Output,
    /// The inside of `{% … %}`.
    Tag,
}

/// How often a template's text may be looked through for quotes that do not end.
const SCANS_MAX: usize = 8;

/// The chunks of a template. Comments are gone, and raw blocks are text.
pub(super) fn cut(source: &str) -> Result<Vec<Chunk<'_>>, EvaluationError> {
    let mut cutter = Cutter {
        source,
        position: 0,
        line: 1,
        chunks: Vec::new(),
        trims: false,
        scans_left: source.len().saturating_mul(SCANS_MAX),
    };
    while cutter.position < source.len() {
        cutter.next()?;
    }
    Ok(cutter.chunks)
}

/// An error of syntax in a line.
pub(super) fn syntax(line: u32, message: impl Into<String>) -> EvaluationError {
    EvaluationError::Syntax {
        message: message.into(),
        line: Some(line),
    }
}

struct Cutter<'a> {
    source: &'a str,
    position: usize,
    line: u32,
    chunks: Vec<Chunk<'a>>,
    /// The chunk before ended in `-}}` or `-%}`.
    trims: bool,
    /// Bytes that may still be looked through in vain.
    scans_left: usize,
}

impl<'a> Cutter<'a> {
    fn rest(&self) -> &'a str {
        self.source.get(self.position..).unwrap_or("")
    }

    fn next(&mut self) -> Result<(), EvaluationError> {
        let rest = self.rest();
        // In one go: for each mark on its own, one that never comes would be looked for from each of the others.
        let opening = rest.bytes().zip(rest.bytes().skip(1));
        let opening = opening.enumerate().find_map(|(at, (first, second))| {
            (first == b'{' && matches!(second, b'{' | b'%')).then_some(at)
        });
        let length = opening.unwrap_or(rest.len());
        let trims_end = rest
            .get(length + 2..)
            .is_some_and(|inside| inside.starts_with('-'));
        self.push_text(length, trims_end);
        if opening.is_none() {
            return Ok(());
        }
        let line = self.line;
        let (kind, inside) = self.take_marked()?;
        let word = inside.split_whitespace().next().unwrap_or("");
        match (kind, word) {
            (ChunkKind::Tag, "raw") => self.skip_to("endraw", line, true),
            (ChunkKind::Tag, "comment") => self.skip_to("endcomment", line, false),
            (ChunkKind::Tag, inline) if inline.starts_with('#') => Ok(()),
            _ => {
                self.chunks.push(Chunk {
                    kind,
                    text: inside,
                    line,
                });
                Ok(())
            }
        }
    }

    /// Takes `length` bytes of text, without the whitespace that a mark beside them trims.
    fn push_text(&mut self, length: usize, trims_end: bool) {
        let line = self.line;
        let mut text = self.advance(length);
        if std::mem::take(&mut self.trims) {
            text = text.trim_start();
        }
        if trims_end {
            text = text.trim_end();
        }
        if !text.is_empty() {
            self.chunks.push(Chunk {
                kind: ChunkKind::Text,
                text,
                line,
            });
        }
    }

    /// Takes an output or a tag, and gives what is inside.
    fn take_marked(&mut self) -> Result<(ChunkKind, &'a str), EvaluationError> {
        let (line, rest) = (self.line, self.rest());
        let (kind, closing) = match rest.starts_with("{{") {
            true => (ChunkKind::Output, "}}"),
            false => (ChunkKind::Tag, "%}"),
        };
        let inside = rest.get(2..).unwrap_or("");
        // The closing mark may stand in a text inside; in a tag that is text itself, quotes mean nothing.
        let end = self.unquoted(inside, closing);
        let end = end.or_else(|| inside.find(closing));
        let end = end.ok_or_else(|| syntax(line, format!("'{closing}' is missing")))?;
        self.advance(end + 4);
        let inside = inside.get(..end).unwrap_or("");
        let inside = inside.strip_prefix('-').unwrap_or(inside);
        self.trims = inside.ends_with('-');
        Ok((kind, inside.strip_suffix('-').unwrap_or(inside).trim()))
    }

    /// Where `mark` is in `text`, outside of quotes. Quotes without an end are looked through a few times, not for each tag.
    fn unquoted(&mut self, text: &str, mark: &str) -> Option<usize> {
        if self.scans_left == 0 {
            return None;
        }
        let found = unquoted(text, mark);
        if found.is_none() {
            self.scans_left = self.scans_left.saturating_sub(text.len());
        }
        found
    }

    /// Skips to the tag that ends a block whose inside is no template.
    fn skip_to(&mut self, end: &str, line: u32, keeps: bool) -> Result<(), EvaluationError> {
        let rest = self.rest();
        let mut from = 0;
        while let Some(at) = rest
            .get(from..)
            .and_then(|rest| rest.find("{%"))
            .map(|at| at + from)
        {
            let inside = rest.get(at + 2..).unwrap_or("");
            let word = inside.trim_start_matches('-').trim_start();
            let is_end = word
                .strip_prefix(end)
                .is_some_and(|after| after.trim_start().trim_start_matches('-').starts_with("%}"));
            if is_end {
                if keeps {
                    self.push_text(at, inside.starts_with('-'));
                } else {
                    self.advance(at);
                }
                self.take_marked()?;
                return Ok(());
            }
            from = at + 2;
        }
        Err(syntax(line, format!("'{{% {end} %}}' is missing")))
    }

    fn advance(&mut self, length: usize) -> &'a str {
        let text = self.rest().get(..length).unwrap_or("");
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        self.line += u32::try_from(lines).unwrap_or(u32::MAX);
        self.position += length;
        text
    }
}

/// Where `mark` is in `text`, outside of quotes.
fn unquoted(text: &str, mark: &str) -> Option<usize> {
    let mut quote = None;
    let mut characters = text.char_indices();
    while let Some((index, character)) = characters.next() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), '\\') => {
                characters.next();
            }
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, _) if text.get(index..)?.starts_with(mark) => return Some(index),
            (None, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        cut(source)
            .unwrap()
            .into_iter()
            .map(|chunk| chunk.text)
            .collect()
    }

    #[test]
    fn dashes_trim_the_whitespace_beside_them() {
        assert_eq!(
            texts("a {{- b -}} c {% d %} e"),
            ["a", "b", "c ", "d", " e"]
        );
    }

    #[test]
    fn raw_is_text_and_comments_are_nothing() {
        let source = "a{% raw %}{{ b }}{% endraw %}{% comment %}{{ c }{% endcomment %}{% # d %}e";
        assert_eq!(texts(source), ["a", "{{ b }}", "e"]);
    }

    #[test]
    fn a_closing_mark_inside_a_text_closes_nothing() {
        assert_eq!(texts("{{ '}}' }}"), ["'}}'"]);
    }

    #[test]
    fn a_template_of_very_many_marks_is_cut_in_linear_time() {
        for piece in ["{{ x }}", "{{\\'}}", "{% x %}", "{{ x }} {"] {
            let source = piece.repeat((512 << 10) / piece.len());
            let began = std::time::Instant::now();
            assert!(cut(&source).unwrap().len() > 50_000, "{piece}");
            assert!(
                began.elapsed().as_secs() < 5,
                "{piece}: {:?}",
                began.elapsed()
            );
        }
    }

    #[test]
    fn what_never_ends_is_reported_with_its_line() {
        for source in ["a\n{{ b", "a\n{% b", "a\n{% raw %}", "a\n{% comment %}"] {
            let error = cut(source).unwrap_err();
            assert!(
                matches!(error, EvaluationError::Syntax { line: Some(2), .. }),
                "{error:?}"
            );
        }
    }
}
