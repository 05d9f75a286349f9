//! Reads loops, `try` and `switch`.

use super::parser::Parser;
use super::syntax::{Catch, Problem, Section, Statement};

type Read<T> = Result<T, Problem>;

impl Parser {
    pub(super) fn for_(&mut self) -> Read<Statement> {
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

    pub(super) fn for_each(&mut self) -> Read<Statement> {
        self.at += 1;
        self.expect("(")?;
        let names = if self.is_name("var") && self.is_mark_at(1, "(") {
            self.at += 1;
            self.parenthesized_names()?
        } else if self.is_mark("(") {
            self.parenthesized_names()?
        } else {
            self.type_()?;
            vec![self.name()?]
        };
        if !self.skip_name("in") {
            return Err(self.problem("`in` expected"));
        }
        let items = self.expression()?;
        self.expect(")")?;
        Ok(Statement::ForEach(names, items, self.inner()?))
    }

    pub(super) fn try_(&mut self) -> Read<Statement> {
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
            let guard = if self.skip_name("when") {
                Some(self.parenthesized()?)
            } else {
                None
            };
            catches.push(Catch {
                of,
                name,
                guard,
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

    pub(super) fn switch(&mut self) -> Read<Statement> {
        self.at += 1;
        let value = self.parenthesized()?;
        self.expect("{")?;
        let mut sections: Vec<Section> = Vec::new();
        while !self.skip("}") {
            let mut labels = Vec::new();
            loop {
                if self.skip_name("default") {
                    labels.push(None);
                } else if self.skip_name("case") {
                    let pattern = self.pattern()?;
                    let guard = if self.skip_name("when") {
                        Some(self.expression()?)
                    } else {
                        None
                    };
                    labels.push(Some((pattern, guard)));
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
}
