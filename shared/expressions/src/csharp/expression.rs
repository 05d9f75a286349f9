//! Reads expressions of C#: operators, calls, members and lambdas.

use super::parser::Parser;
use super::syntax::{Arm, Body, Expr, Parameter, Problem, Type};
use super::token::Token;

type Read<T> = Result<T, Problem>;

/// Operators between two values, the ones that bind least first.
const LEVELS: [&[&str]; 9] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", "+", "-"],
    &["*", "/", "%"],
];
/// The level at which `is` and `as` stand.
pub(super) const RELATIONS: usize = 6;

const ASSIGNMENTS: [&str; 13] = [
    "=", "+=", "-=", "*=", "/=", "%=", "??=", "|=", "&=", "^=", "<<=", ">>=", ">>>=",
];

pub(super) const PREDEFINED: [&str; 16] = [
    "int", "long", "double", "decimal", "string", "bool", "object", "char", "float", "short",
    "byte", "dynamic", "uint", "ulong", "sbyte", "ushort",
];

pub(super) fn boxed(left: Expr) -> Box<Expr> {
    Box::new(left)
}

impl Parser {
    pub(super) fn expression(&mut self) -> Read<Expr> {
        self.nested(Self::assignment)
    }

    fn assignment(&mut self) -> Read<Expr> {
        if let Some(lambda) = self.attempt(Self::lambda) {
            return Ok(lambda);
        }
        if self.begins_query()
            && let Some(query) = self.attempt(Self::query)
        {
            return Ok(query);
        }
        let left = self.choice_expression()?;
        for operator in ASSIGNMENTS {
            if self.skip(operator) {
                let right = self.expression()?;
                return Ok(Expr::Assign(operator, boxed(left), boxed(right)));
            }
        }
        Ok(left)
    }

    fn lambda(&mut self) -> Read<Expr> {
        let mut parameters = Vec::new();
        self.skip_name("static");
        if self.is_name("async") && !self.is_mark_at(1, "=>") {
            self.at += 1;
        }
        let is_delegate =
            self.is_name("delegate") && (self.is_mark_at(1, "(") || self.is_mark_at(1, "{"));
        self.at += usize::from(is_delegate);
        if self.skip("(") {
            while !self.skip(")") {
                let first = self.type_()?;
                let mut parameter = Parameter::default();
                if matches!(self.peek(), Some(Token::Name(_))) {
                    parameter.name = self.name()?;
                    parameter.of = first;
                } else {
                    parameter.name = first.name;
                }
                if self.skip("=") {
                    parameter.default = Some(self.expression()?);
                }
                parameters.push(parameter);
                if !self.skip(",") && !self.is_mark(")") {
                    return Err(self.problem("`)` expected"));
                }
            }
        } else if !is_delegate {
            parameters.push(Parameter {
                name: self.name()?,
                ..Parameter::default()
            });
        }
        if is_delegate {
            return Ok(Expr::Lambda(
                parameters,
                Box::new(Body::Block(self.block()?)),
            ));
        }
        self.expect("=>")?;
        let body = if self.is_mark("{") {
            Body::Block(self.block()?)
        } else {
            Body::Value(self.expression()?)
        };
        Ok(Expr::Lambda(parameters, Box::new(body)))
    }

    fn choice_expression(&mut self) -> Read<Expr> {
        if self.skip_name("throw") {
            return Ok(Expr::Throw(boxed(self.expression()?)));
        }
        let condition = self.coalesce()?;
        if !self.skip("?") {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(":")?;
        let otherwise = self.expression()?;
        Ok(Expr::Choice(
            boxed(condition),
            boxed(then),
            boxed(otherwise),
        ))
    }

    fn coalesce(&mut self) -> Read<Expr> {
        let left = self.level(0)?;
        if !self.skip("??") {
            return Ok(left);
        }
        let right = if self.is_name("throw") {
            self.choice_expression()?
        } else {
            self.nested(Self::coalesce)?
        };
        Ok(Expr::Binary("??", boxed(left), boxed(right)))
    }

    pub(super) fn level(&mut self, level: usize) -> Read<Expr> {
        let Some(operators) = LEVELS.get(level) else {
            return self.switched();
        };
        let mut left = self.level(level + 1)?;
        loop {
            if level == RELATIONS && self.skip_name("is") {
                left = Expr::Is(boxed(left), Box::new(self.pattern()?));
                continue;
            }
            if level == RELATIONS && self.skip_name("as") {
                left = Expr::As(boxed(left), self.type_()?);
                continue;
            }
            let shifts = level == RELATIONS + 1 && self.is_mark(">") && self.is_mark_at(1, ">");
            if shifts && self.is_mark_at(2, ">") {
                self.at += 3;
                left = Expr::Binary(">>>", boxed(left), boxed(self.level(level + 1)?));
                continue;
            }
            if shifts {
                self.at += 2;
                left = Expr::Binary(">>", boxed(left), boxed(self.level(level + 1)?));
                continue;
            }
            if level == RELATIONS && self.is_mark(">") && self.is_mark_at(1, ">") {
                return Ok(left);
            }
            let Some(operator) = operators.iter().find(|o| self.is_mark(o)) else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.level(level + 1)?;
            left = Expr::Binary(operator, boxed(left), boxed(right));
        }
    }

    fn switched(&mut self) -> Read<Expr> {
        let mut value = self.range()?;
        loop {
            if self.is_name("with") && self.is_mark_at(1, "{") {
                self.at += 2;
                let mut members = Vec::new();
                while !self.skip("}") {
                    let name = self.name()?;
                    self.expect("=")?;
                    members.push((name, self.expression()?));
                    if !self.skip(",") && !self.is_mark("}") {
                        return Err(self.problem("`}` expected"));
                    }
                }
                value = Expr::With(boxed(value), members);
                continue;
            }
            if self.is_name("switch") && self.is_mark_at(1, "{") {
                self.at += 2;
                let mut arms = Vec::new();
                while !self.skip("}") {
                    let pattern = self.pattern()?;
                    let guard = if self.skip_name("when") {
                        Some(self.coalesce()?)
                    } else {
                        None
                    };
                    self.expect("=>")?;
                    arms.push(Arm {
                        pattern,
                        guard,
                        value: self.expression()?,
                    });
                    self.skip(",");
                }
                value = Expr::Switch(boxed(value), arms);
            } else {
                return Ok(value);
            }
        }
    }

    fn range(&mut self) -> Read<Expr> {
        if self.skip("..") {
            let ends = self.is_mark("]") || self.is_mark(",") || self.is_mark(")");
            let end = if ends {
                None
            } else {
                Some(boxed(self.unary()?))
            };
            return Ok(Expr::Range(None, end));
        }
        let start = self.unary()?;
        if !self.skip("..") {
            return Ok(start);
        }
        let end = if self.is_mark("]") {
            None
        } else {
            Some(boxed(self.unary()?))
        };
        Ok(Expr::Range(Some(boxed(start)), end))
    }

    pub(super) fn unary(&mut self) -> Read<Expr> {
        for (mark, by) in [("++", 1), ("--", -1)] {
            if self.skip(mark) {
                let of = boxed(self.nested(Self::unary)?);
                return Ok(Expr::Step {
                    of,
                    by,
                    is_prefix: true,
                });
            }
        }
        if self.is_name("await") && !self.is_mark_at(1, ".") && !self.is_mark_at(1, "=") {
            self.at += 1;
            return Ok(Expr::Await(boxed(self.nested(Self::unary)?)));
        }
        for operator in ["-", "+", "!", "~"] {
            if self.skip(operator) {
                return Ok(Expr::Unary(operator, boxed(self.nested(Self::unary)?)));
            }
        }
        if self.skip("^") {
            return Ok(Expr::FromEnd(boxed(self.nested(Self::unary)?)));
        }
        if self.is_mark("(")
            && let Some(cast) = self.attempt(|parser| parser.nested(Self::cast))
        {
            return Ok(cast);
        }
        self.postfix()
    }

    fn cast(&mut self) -> Read<Expr> {
        self.expect("(")?;
        let of = self.type_()?;
        self.expect(")")?;
        let is_predefined =
            PREDEFINED.contains(&of.name.as_str()) || !of.arguments.is_empty() || of.is_array;
        let follows = match self.peek() {
            Some(Token::Mark("(" | "!" | "~")) => true,
            Some(Token::Mark("-" | "+")) => is_predefined,
            Some(Token::Mark(_)) | None => false,
            Some(Token::Name(name)) => !matches!(name.as_str(), "is" | "as" | "switch"),
            Some(_) => true,
        };
        if !follows {
            return Err(self.problem("a value expected"));
        }
        Ok(Expr::Cast(of, boxed(self.unary()?)))
    }

    fn postfix(&mut self) -> Read<Expr> {
        let mut is_chain = false;
        let mut value = self.primary()?;
        loop {
            is_chain |= self.is_mark("?.") || self.is_mark("?[");
            if self.skip(".") || self.is_mark("?.") {
                let or_null = self.skip("?.");
                let name = self.name()?;
                value = Expr::Member {
                    of: boxed(value),
                    name,
                    or_null,
                };
                if self.is_mark("<")
                    && let Some((types, arguments)) = self.attempt(Self::generic_call)
                {
                    value = Expr::Call {
                        of: boxed(value),
                        types,
                        arguments,
                    };
                }
            } else if self.is_mark("(") {
                let arguments = self.arguments()?;
                value = Expr::Call {
                    of: boxed(value),
                    types: Vec::new(),
                    arguments,
                };
            } else if self.is_mark("[") || self.is_mark("?[") {
                let or_null = self.is_mark("?[");
                self.at += 1;
                let at = boxed(self.expression()?);
                self.expect("]")?;
                value = Expr::Index {
                    of: boxed(value),
                    at,
                    or_null,
                };
            } else if self.is_mark("++") || self.is_mark("--") {
                let by = if self.is_mark("++") { 1 } else { -1 };
                self.at += 1;
                value = Expr::Step {
                    of: boxed(value),
                    by,
                    is_prefix: false,
                };
            } else if !self.skip("!") {
                return Ok(if is_chain {
                    Expr::Chain(boxed(value))
                } else {
                    value
                });
            } else if self.is_mark("=") {
                // `a != b` is one mark; a lone `!` says that a value is not null.
                return Err(self.problem("a value expected"));
            }
        }
    }

    pub(super) fn generic_call(&mut self) -> Read<(Vec<Type>, Vec<Expr>)> {
        let types = self.type_arguments()?;
        Ok((types, self.arguments()?))
    }

    pub(super) fn arguments(&mut self) -> Read<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.skip(")") {
            if self.skip_name("out") {
                if self.skip_name("_") {
                    arguments.push(Expr::Out("_".into()));
                } else if self.attempt(Self::declared).is_none() {
                    let name = self.name()?;
                    arguments.push(Expr::Out(name));
                } else if let Some((Token::Name(name), _)) = self.tokens.get(self.at - 1) {
                    arguments.push(Expr::Out(name.clone()));
                }
            } else {
                if matches!(self.peek(), Some(Token::Name(_)))
                    && self.is_mark_at(1, ":")
                    && !self.is_mark_at(1, "::")
                {
                    let name = self.name()?;
                    self.at += 1;
                    let value = boxed(self.expression()?);
                    arguments.push(Expr::Named(name, value));
                } else if self.is_name("ref") {
                    self.at += 1;
                    arguments.push(Expr::Ref(self.name()?));
                } else {
                    arguments.push(self.expression()?);
                }
            }
            if !self.skip(",") && !self.is_mark(")") {
                return Err(self.problem("`)` expected"));
            }
        }
        Ok(arguments)
    }

    fn declared(&mut self) -> Read<()> {
        self.type_()?;
        self.name().map(drop)
    }
}
