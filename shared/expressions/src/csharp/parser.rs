//! Reads statements of C#. Expressions are read in `expression.rs`.

use super::import;
use super::syntax::{Expr, Problem, Statement};
use super::token::{Token, tokens};

/// How deep a script may nest.
const DEPTH_MAX: usize = 96;

pub(super) struct Parser {
    pub(super) tokens: Vec<(Token, u32)>,
    pub(super) at: usize,
    pub(super) depth: usize,
}

type Read<T> = Result<T, Problem>;

/// The statements of a script, and the namespaces that it imports.
type Script = (Vec<Statement>, Vec<String>);

/// A whole script: statements, and perhaps a value at the end.
pub(super) fn script(source: &str) -> Read<Script> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
    };
    let mut usings = Vec::new();
    while let Some(using) = parser.attempt(Parser::using) {
        let namespace = using.strip_prefix("static ").unwrap_or(&using);
        let class = namespace
            .rsplit_once('.')
            .map_or(namespace, |(_, class)| class);
        if !import::is_namespace(&using) && import::namespace(class).is_none() {
            return Err(parser.problem(format!("the namespace '{using}' could not be found")));
        }
        usings.push(using);
    }
    let mut statements = Vec::new();
    while parser.peek().is_some() {
        statements.push(parser.statement(true)?);
    }
    Ok((statements, usings))
}

impl Parser {
    /// `using System.Text;`
    fn using(&mut self) -> Read<String> {
        if !self.skip_name("using") {
            return Err(self.problem("`using` expected"));
        }
        let mut path = String::new();
        if self.skip_name("static") {
            path.push_str("static ");
        }
        path.push_str(&self.name()?);
        while self.skip(".") {
            path.push('.');
            path.push_str(&self.name()?);
        }
        self.expect(";")?;
        Ok(path)
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    pub(super) fn line(&self) -> u32 {
        let here = self.tokens.get(self.at).or(self.tokens.last());
        here.map_or(1, |(_, line)| *line)
    }

    pub(super) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(message, self.line())
    }

    pub(super) fn is_mark_at(&self, offset: usize, mark: &str) -> bool {
        matches!(self.tokens.get(self.at + offset), Some((Token::Mark(m), _)) if *m == mark)
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        self.is_mark_at(0, mark)
    }

    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Token::Name(n)) if n == name)
    }

    pub(super) fn skip(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    pub(super) fn skip_name(&mut self, name: &str) -> bool {
        let found = self.is_name(name);
        self.at += usize::from(found);
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Read<()> {
        if self.skip(mark) {
            return Ok(());
        }
        Err(self.problem(format!("`{mark}` expected")))
    }

    pub(super) fn name(&mut self) -> Read<String> {
        match self.peek() {
            Some(Token::Name(name)) => {
                let name = name.clone();
                self.at += 1;
                Ok(name)
            }
            _ => Err(self.problem("a name expected")),
        }
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.problem("this script is nested too deep"));
        }
        let found = read(self);
        self.depth -= 1;
        found
    }

    /// Tries to read something; if it is not there, nothing is read.
    pub(super) fn attempt<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Option<T> {
        let (at, depth) = (self.at, self.depth);
        let found = read(self).ok();
        if found.is_none() {
            (self.at, self.depth) = (at, depth);
        }
        found
    }

    pub(super) fn block(&mut self) -> Read<Vec<Statement>> {
        self.expect("{")?;
        let mut statements = Vec::new();
        while !self.skip("}") {
            statements.push(self.nested(|parser| parser.statement(false))?);
        }
        Ok(statements)
    }

    pub(super) fn inner(&mut self) -> Read<Box<Statement>> {
        self.nested(|parser| parser.statement(false)).map(Box::new)
    }

    /// `is_top`: a value without a semicolon may end the script.
    pub(super) fn statement(&mut self, is_top: bool) -> Read<Statement> {
        if self.is_mark("{") {
            return self.block().map(Statement::Block);
        }
        if self.skip(";") {
            return Ok(Statement::Block(Vec::new()));
        }
        let keyword = match self.peek() {
            Some(Token::Name(name)) => name.clone(),
            _ => String::new(),
        };
        match keyword.as_str() {
            "if" => self.choice(),
            "while" => {
                self.at += 1;
                let condition = self.parenthesized()?;
                Ok(Statement::While(condition, self.inner()?))
            }
            "do" => {
                self.at += 1;
                let body = self.inner()?;
                if !self.skip_name("while") {
                    return Err(self.problem("`while` expected"));
                }
                let condition = self.parenthesized()?;
                self.expect(";")?;
                Ok(Statement::Do(body, condition))
            }
            "for" => self.for_(),
            "foreach" => self.for_each(),
            "return" => {
                self.at += 1;
                if self.skip(";") {
                    return Ok(Statement::Return(None));
                }
                let value = self.expression()?;
                self.expect(";")?;
                Ok(Statement::Return(Some(value)))
            }
            "break" | "continue" => {
                self.at += 1;
                self.expect(";")?;
                Ok(if keyword == "break" {
                    Statement::Break
                } else {
                    Statement::Continue
                })
            }
            "try" => self.try_(),
            "switch" if self.is_mark_at(1, "(") => self.switch(),
            "checked" | "unchecked" if self.is_mark_at(1, "{") => {
                self.at += 1;
                Ok(Statement::Checked(keyword == "checked", self.block()?))
            }
            "lock" if self.is_mark_at(1, "(") => {
                self.at += 1;
                self.parenthesized()?;
                self.inner().map(|body| *body)
            }
            "using" if self.is_mark_at(1, "(") => {
                self.at += 2;
                let first = match self.attempt(Self::resource) {
                    Some(first) => first,
                    None => Statement::Value(self.expression()?),
                };
                self.expect(")")?;
                Ok(Statement::Block(vec![first, *self.inner()?]))
            }
            "using" => {
                self.at += 1;
                self.declaration()
            }
            "yield" if matches!(self.tokens.get(self.at + 1), Some((Token::Name(_), _))) => {
                self.at += 1;
                let value = if self.skip_name("break") {
                    None
                } else if self.skip_name("return") {
                    Some(self.expression()?)
                } else {
                    return Err(self.problem("`return` expected"));
                };
                self.expect(";")?;
                Ok(Statement::Yield(value))
            }
            "throw" if self.is_mark_at(1, ";") => {
                self.at += 2;
                Ok(Statement::Rethrow)
            }
            "goto" => {
                self.at += 1;
                let label = self.name()?;
                self.expect(";")?;
                Ok(Statement::Goto(label))
            }
            "default" => self.plain(is_top),
            _ if !keyword.is_empty() && self.is_mark_at(1, ":") => {
                self.at += 2;
                Ok(Statement::Label(keyword))
            }
            _ => {
                if let Some(class) = self.class()? {
                    return Ok(Statement::Class(class));
                }
                self.plain(is_top)
            }
        }
    }

    pub(super) fn parenthesized(&mut self) -> Read<Expr> {
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        Ok(value)
    }

    fn choice(&mut self) -> Read<Statement> {
        self.at += 1;
        let condition = self.parenthesized()?;
        let then = self.inner()?;
        let otherwise = if self.skip_name("else") {
            Some(self.inner()?)
        } else {
            None
        };
        Ok(Statement::If(condition, then, otherwise))
    }

    /// A declaration, a local function, or a value.
    pub(super) fn plain(&mut self, is_top: bool) -> Read<Statement> {
        if let Some(function) = self.attempt(Self::function) {
            return Ok(function);
        }
        if let Some(unpacked) = self.attempt(Self::unpack) {
            return Ok(unpacked);
        }
        if let Some(declared) = self.attempt(Self::declaration) {
            return Ok(declared);
        }
        let value = self.expression()?;
        if is_top && self.peek().is_none() {
            return Ok(Statement::Return(Some(value)));
        }
        let may_stand = matches!(
            value,
            Expr::Assign(..)
                | Expr::Call { .. }
                | Expr::Chain(_)
                | Expr::Step { .. }
                | Expr::New { .. }
                | Expr::Throw(_)
                | Expr::Await(_)
        );
        if !may_stand {
            return Err(self.problem(
                "only an assignment or a call can be a statement; is a `return` missing?",
            ));
        }
        self.expect(";")?;
        Ok(Statement::Value(value))
    }
}
