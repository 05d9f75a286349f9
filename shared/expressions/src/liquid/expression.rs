//! Expressions of Liquid: what stands inside `{{ … }}` and behind `assign`, `if` and `for`.

use serde_json::Value;

use super::chunk::syntax;
use super::filter::{self, Filter};
use super::token::{Token, tokens};
use crate::EvaluationError;

/// How deep `a[b[c]]` may go.
const DEPTH_MAX: usize = 16;

/// A value, and the filters it goes through.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) base: Expression,
    pub(super) filters: Vec<Call>,
}

/// A filter with its arguments.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) filter: Filter,
    pub(super) arguments: Vec<Expression>,
    pub(super) named: Vec<(String, Expression)>,
}

/// What gives a value.
#[derive(Debug)]
pub(super) enum Expression {
    Literal(Value),
    /// `empty`: equal to a text, list or object without content.
    Empty,
    /// `blank`: equal to those, and to nil, false and whitespace.
    Blank,
    Path(Path),
    Range(Box<Expression>, Box<Expression>),
    Compare(Comparison, Box<Expression>, Box<Expression>),
    And(Box<Expression>, Box<Expression>),
    Or(Box<Expression>, Box<Expression>),
    Not(Box<Expression>),
}

/// `name.member[index]`.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) root: String,
    pub(super) members: Vec<Expression>,
}

/// How two values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Contains,
    StartsWith,
    EndsWith,
}

/// Reads expressions from the inside of an output or a tag.
pub(super) struct Reader<'a> {
    tokens: Vec<Token<'a>>,
    position: usize,
    depth: usize,
    line: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, line: u32) -> Result<Self, EvaluationError> {
        Ok(Self {
            tokens: tokens(text, line)?,
            position: 0,
            depth: 0,
            line,
        })
    }

    /// Reads a value with filters, up to the end.
    pub(super) fn pipeline(&mut self) -> Result<Pipeline, EvaluationError> {
        let base = self.condition()?;
        let mut filters = Vec::new();
        while self.skip("|") {
            filters.push(self.call()?);
        }
        self.end()?;
        Ok(Pipeline { base, filters })
    }

    /// Reads a condition: `and` and `or` bind equally, from the right, as in Liquid everywhere.
    pub(super) fn condition(&mut self) -> Result<Expression, EvaluationError> {
        let first = self.comparison()?;
        let joins = [("and", true), ("or", false)];
        let Some((_, is_and)) = joins.into_iter().find(|(word, _)| self.skip_word(word)) else {
            return Ok(first);
        };
        self.enter()?;
        let rest = self.condition()?;
        self.depth -= 1;
        let (first, rest) = (Box::new(first), Box::new(rest));
        Ok(if is_and {
            Expression::And(first, rest)
        } else {
            Expression::Or(first, rest)
        })
    }

    fn comparison(&mut self) -> Result<Expression, EvaluationError> {
        let left = self.value()?;
        let comparison = match self.peek() {
            Some(Token::Mark("==")) => Comparison::Equal,
            Some(Token::Mark("!=" | "<>")) => Comparison::NotEqual,
            Some(Token::Mark("<")) => Comparison::Less,
            Some(Token::Mark("<=")) => Comparison::LessOrEqual,
            Some(Token::Mark(">")) => Comparison::Greater,
            Some(Token::Mark(">=")) => Comparison::GreaterOrEqual,
            Some(Token::Word("contains")) => Comparison::Contains,
            Some(Token::Word("startswith")) => Comparison::StartsWith,
            Some(Token::Word("endswith")) => Comparison::EndsWith,
            _ => return Ok(left),
        };
        self.position += 1;
        Ok(Expression::Compare(
            comparison,
            Box::new(left),
            Box::new(self.value()?),
        ))
    }

    /// Reads a literal, a path or a range.
    pub(super) fn value(&mut self) -> Result<Expression, EvaluationError> {
        let line = self.line;
        match self.next() {
            Some(Token::Text(text)) => Ok(Expression::Literal(Value::String(text))),
            Some(Token::Number(number)) => Ok(Expression::Literal(number)),
            Some(Token::Word(word)) => self.named(word),
            Some(Token::Mark("(")) => {
                self.enter()?;
                let first = self.value()?;
                self.expect("..")?;
                let last = self.value()?;
                self.expect(")")?;
                self.depth -= 1;
                Ok(Expression::Range(Box::new(first), Box::new(last)))
            }
            Some(Token::Mark(mark)) => Err(syntax(line, format!("a value expected, not '{mark}'"))),
            None => Err(syntax(line, "a value expected")),
        }
    }

    fn named(&mut self, word: &str) -> Result<Expression, EvaluationError> {
        let is_path = matches!(self.peek(), Some(Token::Mark("." | "[")));
        Ok(match word {
            "true" | "false" if !is_path => Expression::Literal(Value::Bool(word == "true")),
            "nil" | "null" if !is_path => Expression::Literal(Value::Null),
            "empty" if !is_path => Expression::Empty,
            "blank" if !is_path => Expression::Blank,
            _ => Expression::Path(Path {
                root: word.to_owned(),
                members: self.members()?,
            }),
        })
    }

    fn members(&mut self) -> Result<Vec<Expression>, EvaluationError> {
        let mut members = Vec::new();
        loop {
            if self.skip(".") {
                members.push(Expression::Literal(Value::String(self.word()?.to_owned())));
            } else if self.skip("[") {
                self.enter()?;
                members.push(self.value()?);
                self.expect("]")?;
                self.depth -= 1;
            } else {
                return Ok(members);
            }
        }
    }

    fn call(&mut self) -> Result<Call, EvaluationError> {
        let name = self.word()?;
        // As in Fluid, a filter that is not known passes its value on.
        let filter = filter::find(name).unwrap_or(|input| Ok(input.value.clone()));
        let (mut arguments, mut named) = (Vec::new(), Vec::new());
        if self.skip(":") {
            loop {
                match self.named_argument() {
                    Some(name) => named.push((name.to_owned(), self.value()?)),
                    None => arguments.push(self.value()?),
                }
                if !self.skip(",") {
                    break;
                }
            }
        }
        Ok(Call {
            filter,
            arguments,
            named,
        })
    }

    /// Takes `name:` in front of an argument.
    pub(super) fn named_argument(&mut self) -> Option<&'a str> {
        let following = (
            self.tokens.get(self.position)?,
            self.tokens.get(self.position + 1)?,
        );
        let (Token::Word(name), Token::Mark(":")) = following else {
            return None;
        };
        let name = *name;
        self.position += 2;
        Some(name)
    }

    /// Takes a name.
    pub(super) fn word(&mut self) -> Result<&'a str, EvaluationError> {
        let line = self.line;
        match self.next() {
            Some(Token::Word(word)) => Ok(word),
            _ => Err(syntax(line, "a name expected")),
        }
    }

    /// Takes this mark, or fails.
    pub(super) fn expect(&mut self, mark: &str) -> Result<(), EvaluationError> {
        if self.skip(mark) {
            return Ok(());
        }
        Err(syntax(self.line, format!("'{mark}' expected")))
    }

    /// Takes this mark if it is next.
    pub(super) fn skip(&mut self, mark: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Mark(next)) if *next == mark);
        self.position += usize::from(is_next);
        is_next
    }

    /// Takes this word if it is next.
    pub(super) fn skip_word(&mut self, word: &str) -> bool {
        let is_next = matches!(self.peek(), Some(Token::Word(next)) if *next == word);
        self.position += usize::from(is_next);
        is_next
    }

    /// Fails if anything is left.
    pub(super) fn end(&self) -> Result<(), EvaluationError> {
        match self.peek() {
            None => Ok(()),
            Some(token) => Err(syntax(self.line, format!("unexpected {token}"))),
        }
    }

    /// Whether nothing is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.peek().is_none()
    }

    fn peek(&self) -> Option<&Token<'a>> {
        self.tokens.get(self.position)
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.tokens.get(self.position).cloned();
        self.position += 1;
        token
    }

    fn enter(&mut self) -> Result<(), EvaluationError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(syntax(self.line, "this expression is nested too deep"));
        }
        Ok(())
    }
}
