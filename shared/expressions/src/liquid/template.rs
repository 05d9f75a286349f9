//! A parsed template, and the parser of its blocks.

use super::chunk::{Chunk, ChunkKind, cut, syntax};
use super::diagnosis;
use super::expression::{Expression, Reader};
use super::node::{For, Node, Offset};
use crate::EvaluationError;

/// How deep blocks may stand in each other.
const DEPTH_MAX: usize = 64;

/// A parsed template.
#[derive(Debug)]
pub(crate) struct Template {
    pub(super) nodes: Vec<Node>,
}

impl Template {
    /// Reads `source`. As in Fluid, a template that cannot be parsed renders what is wrong with it; only its limits are
    /// errors.
    pub(crate) fn new(source: &str) -> Result<Self, EvaluationError> {
        match Self::parse(source) {
            Err(EvaluationError::Syntax { message, line }) => Ok(Self {
                nodes: vec![Node::Text(diagnosis::text(source, &message, line))],
            }),
            other => other,
        }
    }

    /// Parses `source`.
    pub(crate) fn parse(source: &str) -> Result<Self, EvaluationError> {
        let mut parser = Parser {
            chunks: expand(cut(source)?),
            position: 0,
            depth: 0,
        };
        let (nodes, end) = parser.block(&[])?;
        match end {
            None => Ok(Self { nodes }),
            Some(end) => Err(syntax(end.line, format!("unexpected '{}'", end.name))),
        }
    }
}

/// Makes a tag of each line inside `{% liquid %}`.
fn expand(chunks: Vec<Chunk<'_>>) -> Vec<Chunk<'_>> {
    let mut expanded = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let lines = chunk.text.strip_prefix("liquid").filter(|rest| {
            chunk.kind == ChunkKind::Tag && rest.starts_with(|next: char| next.is_whitespace())
        });
        let Some(lines) = lines else {
            expanded.push(chunk);
            continue;
        };
        for (offset, text) in (0_u32..).zip(lines.lines()) {
            let text = text.trim();
            if !text.is_empty() && !text.starts_with('#') {
                let line = chunk.line + offset;
                expanded.push(Chunk {
                    kind: ChunkKind::Tag,
                    text,
                    line,
                });
            }
        }
    }
    expanded
}

/// The tag that ended a block: its name, the rest of its text, its line.
struct End<'a> {
    name: &'a str,
    text: &'a str,
    line: u32,
}

struct Parser<'a> {
    chunks: Vec<Chunk<'a>>,
    position: usize,
    depth: usize,
}

type Block<'a> = (Vec<Node>, Option<End<'a>>);

impl<'a> Parser<'a> {
    /// Parses up to one of the tags `ends`, or to the end of the template.
    fn block(&mut self, ends: &[&str]) -> Result<Block<'a>, EvaluationError> {
        let mut nodes = Vec::new();
        while let Some(chunk) = self.chunks.get(self.position).cloned() {
            self.position += 1;
            match chunk.kind {
                ChunkKind::Text => nodes.push(Node::Text(chunk.text.to_owned())),
                ChunkKind::Output => {
                    let value = Reader::new(chunk.text, chunk.line)?.pipeline()?;
                    nodes.push(Node::Output(value));
                }
                ChunkKind::Tag => {
                    let length = chunk
                        .text
                        .find(char::is_whitespace)
                        .unwrap_or(chunk.text.len());
                    let (name, text) = chunk.text.split_at(length);
                    let end = End {
                        name,
                        text: text.trim(),
                        line: chunk.line,
                    };
                    if ends.contains(&name) {
                        return Ok((nodes, Some(end)));
                    }
                    nodes.extend(self.tag(&end)?);
                }
            }
        }
        Ok((nodes, None))
    }

    /// Parses what stands between a tag and one of `ends`, which must come.
    fn inside(
        &mut self,
        tag: &End<'a>,
        ends: &[&str],
    ) -> Result<(Vec<Node>, End<'a>), EvaluationError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(syntax(
                tag.line,
                "the blocks of this template are nested too deep",
            ));
        }
        let (nodes, end) = self.block(ends)?;
        self.depth -= 1;
        let missing = || {
            syntax(
                tag.line,
                format!("'{}' is missing", ends.last().unwrap_or(&"")),
            )
        };
        Ok((nodes, end.ok_or_else(missing)?))
    }

    fn tag(&mut self, tag: &End<'a>) -> Result<Option<Node>, EvaluationError> {
        let reader = || Reader::new(tag.text, tag.line);
        let node = match tag.name {
            "assign" => {
                let mut reader = reader()?;
                let name = reader.word()?.to_owned();
                reader.expect("=")?;
                Node::Assign {
                    name,
                    value: reader.pipeline()?,
                }
            }
            "echo" => Node::Output(reader()?.pipeline()?),
            "capture" => {
                let name = reader()?.word()?.to_owned();
                Node::Capture {
                    name,
                    body: self.inside(tag, &["endcapture"])?.0,
                }
            }
            "if" | "unless" => self.choice(tag)?,
            "case" => self.case(tag)?,
            "for" => Node::For(Box::new(self.repeat(tag)?)),
            "break" => Node::Break,
            "continue" => Node::Continue,
            "cycle" => cycle(tag)?,
            "increment" => Node::Count {
                name: reader()?.word()?.to_owned(),
                by: 1,
            },
            "decrement" => Node::Count {
                name: reader()?.word()?.to_owned(),
                by: -1,
            },
            // A `{% liquid %}` tag without lines.
            "liquid" => return Ok(None),
            "include" | "render" => Node::Missing {
                tag: tag.name.to_owned(),
            },
            name => return Err(syntax(tag.line, format!("there is no tag '{name}' here"))),
        };
        Ok(Some(node))
    }

    fn choice(&mut self, tag: &End<'a>) -> Result<Node, EvaluationError> {
        let is_unless = tag.name == "unless";
        let ends = [
            "elsif",
            "else",
            if is_unless { "endunless" } else { "endif" },
        ];
        let first = condition(tag)?;
        let mut test = if is_unless {
            Expression::Not(Box::new(first))
        } else {
            first
        };
        let mut branches = Vec::new();
        loop {
            let (body, end) = self.inside(tag, &ends)?;
            branches.push((test, body));
            match end.name {
                "elsif" => test = condition(&end)?,
                "else" => {
                    let otherwise = self.inside(tag, ends.get(2..).unwrap_or(&[]))?.0;
                    return Ok(Node::If {
                        branches,
                        otherwise,
                    });
                }
                _ => {
                    return Ok(Node::If {
                        branches,
                        otherwise: Vec::new(),
                    });
                }
            }
        }
    }

    fn case(&mut self, tag: &End<'a>) -> Result<Node, EvaluationError> {
        let subject = condition(tag)?;
        let (mut whens, mut otherwise) = (Vec::new(), Vec::new());
        // What stands before the first `when` belongs to none.
        let (_, mut end) = self.inside(tag, &["when", "else", "endcase"])?;
        while end.name != "endcase" {
            let values = if end.name == "when" {
                Some(alternatives(&end)?)
            } else {
                None
            };
            let (body, next) = self.inside(tag, &["when", "else", "endcase"])?;
            match values {
                Some(values) => whens.push((values, body)),
                None => otherwise = body,
            }
            end = next;
        }
        Ok(Node::Case {
            subject,
            whens,
            otherwise,
        })
    }

    fn repeat(&mut self, tag: &End<'a>) -> Result<For, EvaluationError> {
        let mut reader = Reader::new(tag.text, tag.line)?;
        let variable = reader.word()?.to_owned();
        if !reader.skip_word("in") {
            return Err(syntax(tag.line, "'in' expected"));
        }
        let source = reader.value()?;
        let (mut limit, mut offset, mut is_reversed) = (None, None, false);
        while !reader.is_at_end() {
            reader.skip(",");
            match reader.named_argument() {
                Some("limit") => limit = Some(reader.value()?),
                Some("offset") if reader.skip_word("continue") => offset = Some(Offset::Continue),
                Some("offset") => offset = Some(Offset::At(reader.value()?)),
                Some(name) => return Err(syntax(tag.line, format!("'for' has no '{name}'"))),
                None if reader.skip_word("reversed") => is_reversed = true,
                None => reader.end()?,
            }
        }
        let (body, end) = self.inside(tag, &["else", "endfor"])?;
        let otherwise = match end.name {
            "else" => self.inside(tag, &["endfor"])?.0,
            _ => Vec::new(),
        };
        let key = tag.text.split_whitespace().take(3).collect();
        Ok(For {
            variable,
            source,
            key,
            limit,
            offset,
            is_reversed,
            body,
            otherwise,
        })
    }
}

fn condition(tag: &End<'_>) -> Result<Expression, EvaluationError> {
    let mut reader = Reader::new(tag.text, tag.line)?;
    let condition = reader.condition()?;
    reader.end()?;
    Ok(condition)
}

/// The values of a `when`, between commas or `or`.
fn alternatives(tag: &End<'_>) -> Result<Vec<Expression>, EvaluationError> {
    let mut reader = Reader::new(tag.text, tag.line)?;
    let mut values = vec![reader.value()?];
    while reader.skip(",") || reader.skip_word("or") {
        values.push(reader.value()?);
    }
    reader.end()?;
    Ok(values)
}

fn cycle(tag: &End<'_>) -> Result<Node, EvaluationError> {
    let mut reader = Reader::new(tag.text, tag.line)?;
    let mut group = reader
        .named_argument()
        .map(|name| Expression::Literal(name.into()));
    let mut first = reader.value()?;
    if group.is_none() && reader.skip(":") {
        group = Some(std::mem::replace(&mut first, reader.value()?));
    }
    let mut values = vec![first];
    while reader.skip(",") {
        values.push(reader.value()?);
    }
    reader.end()?;
    Ok(Node::Cycle {
        group,
        values,
        key: tag.text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let cases = [
            ("a\n{% if b %}", 2, "'endif' is missing"),
            ("{% endif %}", 1, "there is no tag 'endif' here"),
            ("{{ a b }}", 1, "unexpected 'b'"),
            ("{{ }}", 1, "a value expected"),
            ("{% for a of b %}{% endfor %}", 1, "'in' expected"),
            (
                "{% liquid\n assign a = 1\n nosuch\n%}",
                3,
                "there is no tag 'nosuch' here",
            ),
        ];
        for (source, line, message) in cases {
            let error = Template::parse(source).unwrap_err();
            let expected = EvaluationError::Syntax {
                message: message.to_owned(),
                line: Some(line),
            };
            assert_eq!(error, expected, "{source}");
        }
    }

    #[test]
    fn nesting_has_an_end() {
        let blocks = format!("{}{}", "{% if a %}".repeat(70), "{% endif %}".repeat(70));
        let indexes = format!(
            "{{{{ a{}1{} }}}}",
            "[a".repeat(100_000),
            "]".repeat(100_000)
        );
        let joins = format!("{{% if {} b %}}{{% endif %}}", "a and ".repeat(100_000));
        for source in [blocks, indexes, joins] {
            assert!(matches!(
                Template::parse(&source),
                Err(EvaluationError::Syntax { .. })
            ));
        }
    }
}
