//! Reads the smallest expressions of C#: literals, names, and what is made with `new`.

use super::expression::{PREDEFINED, boxed};
use super::parser::Parser;
use super::syntax::{Expr, Item, Literal, Part, Problem, Type};
use super::token::{Hole, Token};

type Read<T> = Result<T, Problem>;

impl Parser {
    pub(super) fn primary(&mut self) -> Read<Expr> {
        let token = self
            .peek()
            .cloned()
            .ok_or_else(|| self.problem("a value expected"))?;
        match token {
            Token::Name(name) => self.named(&name),
            Token::Mark("(") => self.parenthesized_value(),
            Token::Mark("[") => {
                self.at += 1;
                self.items("]").map(Expr::List)
            }
            Token::Mark(mark) => Err(self.problem(format!("a value expected, not `{mark}`"))),
            literal => {
                self.at += 1;
                self.literal(literal)
            }
        }
    }

    fn literal(&mut self, token: Token) -> Read<Expr> {
        Ok(Expr::Literal(match token {
            Token::Int(number) => Literal::Int(i32::try_from(number).unwrap_or(i32::MAX)),
            Token::Long(number) => Literal::Long(number),
            Token::Single(number) => Literal::Single(number),
            Token::Double(number) => Literal::Double(number),
            Token::Decimal(digits) => Literal::Decimal(digits),
            Token::Text(text) => Literal::Text(text),
            Token::Char(character) => Literal::Char(character),
            Token::Holes(holes) => {
                let parts = holes.into_iter().map(|hole| self.part(hole));
                return parts.collect::<Read<_>>().map(Expr::Text);
            }
            Token::Name(_) | Token::Mark(_) => Literal::Null,
        }))
    }

    fn part(&self, hole: Hole) -> Read<Part> {
        match hole {
            Hole::Text(text) => Ok(Part::Text(text)),
            Hole::Value {
                tokens,
                width,
                format,
            } => {
                let mut inner = Parser {
                    tokens,
                    at: 0,
                    depth: self.depth + 1,
                };
                let value = inner.expression()?;
                if inner.peek().is_some() {
                    return Err(inner.problem("`}` expected"));
                }
                Ok(Part::Value {
                    value,
                    width,
                    format,
                })
            }
        }
    }

    pub(super) fn items(&mut self, close: &str) -> Read<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.skip(close) {
            if self.skip("..") {
                items.push(Expr::Spread(boxed(self.unary()?)));
            } else {
                items.push(self.expression()?);
            }
            if !self.skip(",") && !self.is_mark(close) {
                return Err(self.problem(format!("`{close}` expected")));
            }
        }
        Ok(items)
    }

    fn parenthesized_value(&mut self) -> Read<Expr> {
        self.expect("(")?;
        let mut items = Vec::new();
        loop {
            let named = matches!(self.peek(), Some(Token::Name(_))) && self.is_mark_at(1, ":");
            let name = if named { Some(self.name()?) } else { None };
            if named {
                self.at += 1;
            }
            items.push((name, self.expression()?));
            if !self.skip(",") {
                break;
            }
        }
        self.expect(")")?;
        if items.len() == 1
            && let Some((None, value)) = items.pop()
        {
            return Ok(value);
        }
        Ok(Expr::Tuple(items))
    }

    fn named(&mut self, name: &str) -> Read<Expr> {
        match name {
            "true" | "false" => {
                self.at += 1;
                return Ok(Expr::Literal(Literal::Bool(name == "true")));
            }
            "null" => {
                self.at += 1;
                return Ok(Expr::Literal(Literal::Null));
            }
            "new" => return self.new_(),
            "typeof" | "default" | "nameof" if self.is_mark_at(1, "(") => {
                self.at += 2;
                let of = self.type_()?;
                self.expect(")")?;
                return Ok(match name {
                    "typeof" => Expr::TypeOf(of),
                    "default" => Expr::Default(Some(of)),
                    _ => Expr::Literal(Literal::Text(of.name)),
                });
            }
            "default" => {
                self.at += 1;
                return Ok(Expr::Default(None));
            }
            "checked" | "unchecked" if self.is_mark_at(1, "(") => {
                self.at += 2;
                let value = self.expression()?;
                self.expect(")")?;
                return Ok(Expr::Checked(name == "checked", boxed(value)));
            }
            "stackalloc" | "unsafe" | "fixed" | "__makeref" if !self.is_mark_at(1, ".") => {
                return Err(self.problem(format!("`{name}` is not run here")));
            }
            "if" | "for" | "while" | "return" | "else" | "switch" | "class" | "in" | "out"
            | "ref" | "is" | "as" => {
                return Err(self.problem(format!("a value expected, not `{name}`")));
            }
            _ => {}
        }
        if PREDEFINED.contains(&name) {
            return self.type_().map(Expr::Type);
        }
        // A type with arguments in front of a static member.
        if self.is_mark_at(1, "<")
            && let Some(of) = self.attempt(|parser| {
                let of = parser.type_()?;
                if parser.is_mark(".") {
                    Ok(of)
                } else {
                    Err(parser.problem("`.` expected"))
                }
            })
        {
            return Ok(Expr::Type(of));
        }
        self.at += 1;
        if self.is_mark("<")
            && let Some((types, arguments)) = self.attempt(Self::generic_call)
        {
            let of = boxed(Expr::Name(name.to_owned()));
            return Ok(Expr::Call {
                of,
                types,
                arguments,
            });
        }
        Ok(Expr::Name(name.to_owned()))
    }

    fn new_(&mut self) -> Read<Expr> {
        self.at += 1;
        if self.is_mark("{") {
            return self.anonymous();
        }
        if self.skip("[") {
            self.expect("]")?;
            self.expect("{")?;
            let items = self.items("}")?;
            return Ok(Expr::NewArray {
                of: None,
                length: None,
                items,
            });
        }
        if self.is_mark("(") {
            let arguments = self.arguments()?;
            let items = if self.skip("{") {
                self.initializer()?
            } else {
                Vec::new()
            };
            return Ok(Expr::New {
                of: Type::default(),
                arguments,
                items,
            });
        }
        let mut of = self.type_()?;
        if self.skip("[") {
            let length = Some(boxed(self.expression()?));
            self.expect("]")?;
            while self.skip("[") {
                self.expect("]")?;
                of.is_array = true;
            }
            let (length, items) = if self.skip("{") {
                (None, self.items("}")?)
            } else {
                (length, Vec::new())
            };
            return Ok(Expr::NewArray {
                of: Some(of),
                length,
                items,
            });
        }
        if of.is_array {
            self.expect("{")?;
            of.is_array = false;
            let items = self.items("}")?;
            return Ok(Expr::NewArray {
                of: Some(of),
                length: None,
                items,
            });
        }
        let arguments = if self.is_mark("(") {
            self.arguments()?
        } else {
            Vec::new()
        };
        let items = if self.skip("{") {
            self.initializer()?
        } else {
            Vec::new()
        };
        Ok(Expr::New {
            of,
            arguments,
            items,
        })
    }

    fn anonymous(&mut self) -> Read<Expr> {
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.skip("}") {
            let named = matches!(self.peek(), Some(Token::Name(_))) && self.is_mark_at(1, "=");
            if named {
                let name = self.name()?;
                self.at += 1;
                members.push((name, self.expression()?));
            } else {
                let value = self.expression()?;
                let name = match &value {
                    Expr::Member { name, .. } | Expr::Name(name) => name.clone(),
                    _ => return Err(self.problem("a member of an anonymous object needs a name")),
                };
                members.push((name, value));
            }
            self.skip(",");
        }
        Ok(Expr::Anonymous(members))
    }

    fn initializer(&mut self) -> Read<Vec<Item>> {
        let mut items = Vec::new();
        while !self.skip("}") {
            if self.skip("[") {
                let key = self.expression()?;
                self.expect("]")?;
                self.expect("=")?;
                items.push(Item::Entry(key, self.expression()?));
            } else if self.skip("{") {
                let key = self.expression()?;
                if self.skip("}") {
                    items.push(Item::Value(key));
                } else {
                    self.expect(",")?;
                    items.push(Item::Entry(key, self.expression()?));
                    self.expect("}")?;
                }
            } else if matches!(self.peek(), Some(Token::Name(_))) && self.is_mark_at(1, "=") {
                let name = self.name()?;
                self.at += 1;
                items.push(Item::Member(name, self.expression()?));
            } else {
                items.push(Item::Value(self.expression()?));
            }
            if !self.skip(",") && !self.is_mark("}") {
                return Err(self.problem("`}` expected"));
            }
        }
        Ok(items)
    }
}
