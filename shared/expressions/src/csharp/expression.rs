//! Reads expressions, types and patterns of C#.

use super::parser::Parser;
use super::syntax::{Arm, Body, Expr, Item, Literal, Part, Pattern, Problem, Type};
use super::token::{Hole, Token};

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
const RELATIONS: usize = 6;

const ASSIGNMENTS: [&str; 10] = ["=", "+=", "-=", "*=", "/=", "%=", "??=", "|=", "&=", "^="];

const PREDEFINED: [&str; 16] = [
    "int", "long", "double", "decimal", "string", "bool", "object", "char", "float", "short",
    "byte", "dynamic", "uint", "ulong", "sbyte", "ushort",
];

fn boxed(left: Expr) -> Box<Expr> {
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
        if self.skip("(") {
            while !self.skip(")") {
                let first = self.type_()?;
                let name = if matches!(self.peek(), Some(Token::Name(_))) {
                    self.name()?
                } else {
                    first.name
                };
                parameters.push(name);
                self.skip(",");
            }
        } else {
            parameters.push(self.name()?);
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

    fn level(&mut self, level: usize) -> Read<Expr> {
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

    fn unary(&mut self) -> Read<Expr> {
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
        let mut value = self.primary()?;
        loop {
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
                return Ok(value);
            } else if self.is_mark("=") {
                // `a != b` is one mark; a lone `!` says that a value is not null.
                return Err(self.problem("a value expected"));
            }
        }
    }

    fn generic_call(&mut self) -> Read<(Vec<Type>, Vec<Expr>)> {
        let types = self.type_arguments()?;
        Ok((types, self.arguments()?))
    }

    pub(super) fn arguments(&mut self) -> Read<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.skip(")") {
            if self.skip_name("out") {
                if self.attempt(Self::declared).is_none() {
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
                    self.at += 2;
                }
                arguments.push(self.expression()?);
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

    fn primary(&mut self) -> Read<Expr> {
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

    fn items(&mut self, close: &str) -> Read<Vec<Expr>> {
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
            "await" | "from" | "delegate" | "stackalloc" | "checked" | "unchecked" | "async" => {
                if !self.is_mark_at(1, ".") {
                    return Err(self.problem(format!("`{name}` is not run here")));
                }
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
            return Ok(Expr::New {
                of: Type::default(),
                arguments,
                items: Vec::new(),
            });
        }
        let mut of = self.type_()?;
        if self.skip("[") {
            let length = Some(boxed(self.expression()?));
            self.expect("]")?;
            return Ok(Expr::NewArray {
                of: Some(of),
                length,
                items: Vec::new(),
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
                self.expect(",")?;
                items.push(Item::Entry(key, self.expression()?));
                self.expect("}")?;
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

    pub(super) fn type_arguments(&mut self) -> Read<Vec<Type>> {
        self.expect("<")?;
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.type_()?);
            if !self.skip(",") {
                break;
            }
        }
        self.expect(">")?;
        Ok(arguments)
    }

    /// A type: its namespace is left out, and so is whether it may be null.
    pub(super) fn type_(&mut self) -> Read<Type> {
        self.nested(|parser| {
            let mut name = parser.name()?;
            let is_predefined = PREDEFINED.contains(&name.as_str());
            while !is_predefined
                && parser.is_mark(".")
                && matches!(parser.tokens.get(parser.at + 1), Some((Token::Name(_), _)))
            {
                parser.at += 1;
                name = parser.name()?;
            }
            let arguments = if parser.is_mark("<") {
                parser.type_arguments()?
            } else {
                Vec::new()
            };
            let mut of = Type {
                name,
                arguments,
                is_array: false,
            };
            parser.skip("?");
            while parser.is_mark("[") && parser.is_mark_at(1, "]") {
                parser.at += 2;
                of.is_array = true;
                parser.skip("?");
            }
            Ok(of)
        })
    }

    pub(super) fn pattern(&mut self) -> Read<Pattern> {
        let mut left = self.and_pattern()?;
        while self.skip_name("or") {
            left = Pattern::Or(Box::new(left), Box::new(self.and_pattern()?));
        }
        Ok(left)
    }

    fn and_pattern(&mut self) -> Read<Pattern> {
        let mut left = self.one_pattern()?;
        while self.skip_name("and") {
            left = Pattern::And(Box::new(left), Box::new(self.one_pattern()?));
        }
        Ok(left)
    }

    fn one_pattern(&mut self) -> Read<Pattern> {
        if self.skip_name("not") {
            return self
                .nested(Self::one_pattern)
                .map(|inner| Pattern::Not(Box::new(inner)));
        }
        if self.skip_name("_") {
            return Ok(Pattern::Any(None));
        }
        if self.skip_name("var") {
            return Ok(Pattern::Any(Some(self.name()?)));
        }
        for operator in ["<=", ">=", "<", ">"] {
            if self.skip(operator) {
                return Ok(Pattern::Relation(operator, self.level(RELATIONS + 1)?));
            }
        }
        if let Some(typed) = self.attempt(Self::typed_pattern) {
            return Ok(typed);
        }
        Ok(Pattern::Constant(self.level(RELATIONS + 1)?))
    }

    fn typed_pattern(&mut self) -> Read<Pattern> {
        if self.is_name("null") || self.is_name("true") || self.is_name("false") {
            return Err(self.problem("a type expected"));
        }
        let of = self.type_()?;
        let joins = ["and", "or", "when", "is", "as", "switch"];
        let name = match self.peek() {
            Some(Token::Name(name)) if !joins.contains(&name.as_str()) => Some(self.name()?),
            _ => None,
        };
        // `x is Colour.Red` names a constant; only what looks like a type is one.
        if self.is_mark("(") || self.is_mark("{") {
            return Err(self.problem("this pattern is not run here"));
        }
        Ok(Pattern::Type(of, name))
    }
}
