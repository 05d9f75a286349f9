//! Reads what a script declares: names, parts of tuples, and functions.

use super::parser::Parser;
use super::syntax::{Expr, Item, Parameter, Problem, Statement, Type};
use super::token::Token;

type Read<T> = Result<T, Problem>;

impl Parser {
    pub(super) fn declaration(&mut self) -> Read<Statement> {
        let declared = self.resource()?;
        self.expect(";")?;
        Ok(declared)
    }

    /// A declaration without its semicolon.
    pub(super) fn resource(&mut self) -> Read<Statement> {
        self.skip_name("const");
        if self.is_name("await") {
            return Err(self.problem("a type expected"));
        }
        let of = self.type_()?;
        let of = if of.is("var") { None } else { Some(of) };
        let mut names = Vec::new();
        loop {
            let name = self.name()?;
            let value = if self.skip("=") {
                Some(self.initial(of.as_ref())?)
            } else {
                None
            };
            names.push((name, value));
            if !self.skip(",") {
                break;
            }
        }
        Ok(Statement::Local(of, names))
    }

    /// The value that a name of that type begins with: `new(…)` and `{ … }` are of the type.
    pub(super) fn initial(&mut self, of: Option<&Type>) -> Read<Expr> {
        let is_array = of.is_some_and(|of| of.is_array);
        if is_array && self.skip("{") {
            let of = of.cloned().map(|of| Type {
                is_array: false,
                ..of
            });
            let items = self.items("}")?;
            return Ok(Expr::NewArray {
                of,
                length: None,
                items,
            });
        }
        let mut value = self.expression()?;
        if let Some(of) = of {
            retarget(&mut value, of);
        }
        Ok(value)
    }

    /// `(a, b)`, with types or without.
    pub(super) fn parenthesized_names(&mut self) -> Read<Vec<String>> {
        self.expect("(")?;
        let mut names = Vec::new();
        while !self.skip(")") {
            let first = self.type_()?;
            let is_typed = matches!(self.peek(), Some(Token::Name(_)));
            names.push(if is_typed { self.name()? } else { first.name });
            if !self.skip(",") && !self.is_mark(")") {
                return Err(self.problem("`)` expected"));
            }
        }
        Ok(names)
    }

    pub(super) fn unpack(&mut self) -> Read<Statement> {
        self.skip_name("var");
        let names = self.parenthesized_names()?;
        self.expect("=")?;
        let value = self.expression()?;
        self.expect(";")?;
        Ok(Statement::Unpack(names, value))
    }

    pub(super) fn function(&mut self) -> Read<Statement> {
        while ["static", "async", "public", "private"]
            .iter()
            .any(|word| self.skip_name(word))
        {}
        if self.is_name("await") || self.is_name("return") {
            return Err(self.problem("a type expected"));
        }
        let _returned: Type = self.type_()?;
        let name = self.name()?;
        if self.is_mark("<") {
            self.type_arguments()?;
        }
        let parameters: Vec<Parameter> = self.parameters()?;
        if !self.is_mark("=>") && !self.is_mark("{") {
            return Err(self.problem("`{` expected"));
        }
        let body = self.body()?;
        Ok(Statement::Function(name, parameters, body))
    }
}

/// Gives `new(…)` the type that its place has.
fn retarget(value: &mut Expr, of: &Type) {
    let Expr::New {
        of: made, items, ..
    } = value
    else {
        return;
    };
    if made.name.is_empty() {
        *made = of.clone();
    }
    let of = made.clone();
    for item in items {
        match (item, of.arguments.as_slice()) {
            (Item::Entry(_, value), [_, inner]) | (Item::Value(value), [inner]) => {
                retarget(value, inner)
            }
            _ => {}
        }
    }
}
