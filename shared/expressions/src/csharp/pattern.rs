//! Reads types and patterns of C#.

use super::expression::{PREDEFINED, RELATIONS};
use super::parser::Parser;
use super::syntax::{Pattern, Problem, Type};
use super::token::Token;

type Read<T> = Result<T, Problem>;

impl Parser {
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
            if parser.is_mark("(") {
                return parser.tuple_type();
            }
            let mut name = parser.name()?;
            let mut is_qualified = false;
            let is_predefined = PREDEFINED.contains(&name.as_str());
            while !is_predefined
                && parser.is_mark(".")
                && matches!(parser.tokens.get(parser.at + 1), Some((Token::Name(_), _)))
            {
                parser.at += 1;
                name = parser.name()?;
                is_qualified = true;
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
                is_nullable: false,
                is_qualified,
            };
            of.is_nullable = parser.skip("?");
            while parser.is_mark("[") && parser.is_mark_at(1, "]") {
                parser.at += 2;
                of.is_array = true;
                parser.skip("?");
            }
            Ok(of)
        })
    }

    /// `(int A, string B)`
    fn tuple_type(&mut self) -> Read<Type> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.skip(")") {
            arguments.push(self.type_()?);
            if matches!(self.peek(), Some(Token::Name(_))) {
                self.at += 1;
            }
            if !self.skip(",") && !self.is_mark(")") {
                return Err(self.problem("`)` expected"));
            }
        }
        if arguments.len() < 2 {
            return Err(self.problem("a type expected"));
        }
        let mut of = Type {
            name: "ValueTuple".into(),
            arguments,
            ..Type::default()
        };
        of.is_nullable = self.skip("?");
        while self.is_mark("[") && self.is_mark_at(1, "]") {
            self.at += 2;
            of.is_array = true;
        }
        Ok(of)
    }

    fn members_pattern(&mut self, of: Option<Type>) -> Read<Pattern> {
        self.expect("{")?;
        let mut members = Vec::new();
        while !self.skip("}") {
            let mut path = vec![self.name()?];
            while self.skip(".") {
                path.push(self.name()?);
            }
            self.expect(":")?;
            members.push((path, self.nested(Self::pattern)?));
            if !self.skip(",") && !self.is_mark("}") {
                return Err(self.problem("`}` expected"));
            }
        }
        let joins = ["and", "or", "when", "is", "as", "switch"];
        let name = match self.peek() {
            Some(Token::Name(name)) if !joins.contains(&name.as_str()) => Some(self.name()?),
            _ => None,
        };
        Ok(Pattern::Members(of, members, name))
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
        if self.skip("(") {
            let mut patterns = Vec::new();
            while !self.skip(")") {
                if matches!(self.peek(), Some(Token::Name(_))) && self.is_mark_at(1, ":") {
                    self.at += 2;
                }
                patterns.push(self.nested(Self::pattern)?);
                if !self.skip(",") && !self.is_mark(")") {
                    return Err(self.problem("`)` expected"));
                }
            }
            if patterns.len() == 1
                && let Some(only) = patterns.pop()
            {
                return Ok(only);
            }
            return Ok(Pattern::Tuple(patterns));
        }
        if self.skip("[") {
            let mut patterns = Vec::new();
            while !self.skip("]") {
                if self.skip("..") {
                    patterns.push(None);
                } else {
                    patterns.push(Some(self.nested(Self::pattern)?));
                }
                if !self.skip(",") && !self.is_mark("]") {
                    return Err(self.problem("`]` expected"));
                }
            }
            return Ok(Pattern::List(patterns));
        }
        if self.is_mark("{") {
            return self.members_pattern(None);
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
        if name.is_none() && self.is_mark("{") {
            return self.members_pattern(Some(of));
        }
        if self.is_mark("(") {
            return Err(self.problem("this pattern is not run here"));
        }
        Ok(Pattern::Type(of, name))
    }
}
