//! Reads statements of C#. Expressions are read in `expression.rs`.

use super::syntax::{Body, Catch, Expr, Pattern, Problem, Statement, Type};
use super::token::{Token, tokens};

/// How deep a script may nest.
const DEPTH_MAX: usize = 96;

pub(super) struct Parser {
    pub(super) tokens: Vec<(Token, u32)>,
    pub(super) at: usize,
    pub(super) depth: usize,
}

type Read<T> = Result<T, Problem>;

/// A whole script: statements, and perhaps a value at the end.
pub(super) fn script(source: &str) -> Read<Vec<Statement>> {
    let mut parser = Parser {
        tokens: tokens(source)?,
        at: 0,
        depth: 0,
    };
    let mut statements = Vec::new();
    while parser.peek().is_some() {
        if parser.is_name("using") && !parser.is_mark_at(1, "(") {
            while !parser.skip(";") && parser.peek().is_some() {
                parser.at += 1;
            }
            continue;
        }
        if let Some(kind) = [
            "class",
            "record",
            "struct",
            "enum",
            "interface",
            "goto",
            "await",
        ]
        .iter()
        .find(|kind| {
            parser.is_name(kind)
                && matches!(parser.tokens.get(parser.at + 1), Some((Token::Name(_), _)))
        }) {
            return Err(parser.problem(format!("`{kind}` is not run here")));
        }
        statements.push(parser.statement(true)?);
    }
    Ok(statements)
}

impl Parser {
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

    fn inner(&mut self) -> Read<Box<Statement>> {
        self.nested(|parser| parser.statement(false)).map(Box::new)
    }

    /// `is_top`: a value without a semicolon may end the script.
    fn statement(&mut self, is_top: bool) -> Read<Statement> {
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
            _ => self.plain(is_top),
        }
    }

    fn parenthesized(&mut self) -> Read<Expr> {
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

    fn for_(&mut self) -> Read<Statement> {
        self.at += 1;
        self.expect("(")?;
        let first = if self.skip(";") {
            Vec::new()
        } else {
            vec![self.plain(false)?]
        };
        let condition = if self.is_mark(";") {
            None
        } else {
            Some(self.expression()?)
        };
        self.expect(";")?;
        let mut steps = Vec::new();
        while !self.skip(")") {
            steps.push(self.expression()?);
            self.skip(",");
        }
        Ok(Statement::For(first, condition, steps, self.inner()?))
    }

    fn for_each(&mut self) -> Read<Statement> {
        self.at += 1;
        self.expect("(")?;
        self.type_()?;
        let name = self.name()?;
        if !self.skip_name("in") {
            return Err(self.problem("`in` expected"));
        }
        let items = self.expression()?;
        self.expect(")")?;
        Ok(Statement::ForEach(name, items, self.inner()?))
    }

    fn try_(&mut self) -> Read<Statement> {
        self.at += 1;
        let body = self.block()?;
        let mut catches = Vec::new();
        while self.skip_name("catch") {
            let (mut of, mut name) = (None, None);
            if self.skip("(") {
                of = Some(self.type_()?);
                if !self.is_mark(")") {
                    name = Some(self.name()?);
                }
                self.expect(")")?;
            }
            catches.push(Catch {
                of,
                name,
                body: self.block()?,
            });
        }
        let last = if self.skip_name("finally") {
            self.block()?
        } else {
            Vec::new()
        };
        Ok(Statement::Try(body, catches, last))
    }

    fn switch(&mut self) -> Read<Statement> {
        self.at += 1;
        let value = self.parenthesized()?;
        self.expect("{")?;
        let mut sections: Vec<(Vec<Option<Pattern>>, Vec<Statement>)> = Vec::new();
        while !self.skip("}") {
            let mut labels = Vec::new();
            loop {
                if self.skip_name("default") {
                    labels.push(None);
                } else if self.skip_name("case") {
                    labels.push(Some(self.pattern()?));
                } else {
                    break;
                }
                self.expect(":")?;
            }
            if labels.is_empty() {
                return Err(self.problem("`case` expected"));
            }
            let mut body = Vec::new();
            while !self.is_mark("}") && !self.is_name("case") && !self.is_name("default") {
                body.push(self.nested(|parser| parser.statement(false))?);
            }
            sections.push((labels, body));
        }
        Ok(Statement::Switch(value, sections))
    }

    /// A declaration, a local function, or a value.
    fn plain(&mut self, is_top: bool) -> Read<Statement> {
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
        );
        if !may_stand {
            return Err(self.problem(
                "only an assignment or a call can be a statement; is a `return` missing?",
            ));
        }
        self.expect(";")?;
        Ok(Statement::Value(value))
    }

    fn declaration(&mut self) -> Read<Statement> {
        self.skip_name("const");
        let of = self.type_()?;
        let of = if of.is("var") { None } else { Some(of) };
        let mut names = Vec::new();
        loop {
            let name = self.name()?;
            let value = if self.skip("=") {
                Some(self.expression()?)
            } else {
                None
            };
            names.push((name, value));
            if !self.skip(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(Statement::Local(of, names))
    }

    fn unpack(&mut self) -> Read<Statement> {
        if !self.skip_name("var") {
            return Err(self.problem("`var` expected"));
        }
        self.expect("(")?;
        let mut names = Vec::new();
        while !self.skip(")") {
            names.push(self.name()?);
            self.skip(",");
        }
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        Ok(Statement::Unpack(names, value))
    }

    fn function(&mut self) -> Read<Statement> {
        self.skip_name("static");
        let _returned: Type = self.type_()?;
        let name = self.name()?;
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.skip(")") {
            self.type_()?;
            parameters.push(self.name()?);
            self.skip(",");
        }
        let body = if self.skip("=>") {
            let value = self.expression()?;
            self.expect(";")?;
            Body::Value(value)
        } else {
            Body::Block(self.block()?)
        };
        Ok(Statement::Function(name, parameters, body))
    }
}
