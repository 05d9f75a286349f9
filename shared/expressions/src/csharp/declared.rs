//! Reads the types that a script declares: classes, records, structures, enumerations and interfaces.

use super::parser::Parser;
use super::syntax::{Body, Class, ClassKind, ClassMember, Expr, Parameter, Problem, Type};
use super::token::Token;

type Read<T> = Result<T, Problem>;

const MODIFIERS: [&str; 15] = [
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "readonly",
    "sealed",
    "abstract",
    "virtual",
    "override",
    "partial",
    "required",
    "const",
    "new",
    "async",
];

/// The words in front of a member.
#[derive(Default)]
struct Modifiers {
    is_public: bool,
    is_static: bool,
}

impl Parser {
    fn modifiers(&mut self) -> Modifiers {
        let mut found = Modifiers::default();
        while let Some(Token::Name(name)) = self.peek() {
            // `new(` and a field that is called `required` are no modifiers.
            if !MODIFIERS.contains(&name.as_str()) || self.is_mark_at(1, "(") {
                break;
            }
            found.is_public |= name == "public";
            found.is_static |= matches!(name.as_str(), "static" | "const");
            self.at += 1;
        }
        found
    }

    /// A type's declaration; `None`: there is none here.
    pub(super) fn class(&mut self) -> Read<Option<Class>> {
        let start = self.at;
        self.modifiers();
        let kind = match self.peek() {
            Some(Token::Name(name)) => match name.as_str() {
                "class" => ClassKind::Class,
                "struct" => ClassKind::Struct,
                "record" => ClassKind::Record,
                "enum" => ClassKind::Enum,
                "interface" => ClassKind::Interface,
                _ => {
                    self.at = start;
                    return Ok(None);
                }
            },
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        if !matches!(self.tokens.get(self.at + 1), Some((Token::Name(_), _))) {
            self.at = start;
            return Ok(None);
        }
        self.at += 1;
        if kind == ClassKind::Record && !self.skip_name("struct") {
            self.skip_name("class");
        }
        let name = self.name()?;
        if self.is_mark("<") {
            self.type_arguments()?;
        }
        let mut class = Class {
            name,
            kind,
            parameters: if self.is_mark("(") {
                self.parameters()?
            } else {
                Vec::new()
            },
            base: None,
            base_arguments: Vec::new(),
            members: Vec::new(),
        };
        if self.skip(":") {
            loop {
                let base = self.type_()?;
                let arguments = if self.is_mark("(") {
                    self.arguments()?
                } else {
                    Vec::new()
                };
                if class.base.is_none() {
                    (class.base, class.base_arguments) = (Some(base.name), arguments);
                }
                if !self.skip(",") {
                    break;
                }
            }
        }
        if self.skip(";") {
            return Ok(Some(class));
        }
        self.expect("{")?;
        while !self.skip("}") {
            if kind == ClassKind::Enum {
                let name = self.name()?;
                let value = if self.skip("=") {
                    Some(self.expression()?)
                } else {
                    None
                };
                class.members.push(ClassMember::Field {
                    name,
                    of: Type::default(),
                    value,
                    is_static: true,
                    is_shown: false,
                });
                if !self.skip(",") && !self.is_mark("}") {
                    return Err(self.problem("`}` expected"));
                }
            } else {
                self.nested(|parser| parser.member_of_class(&mut class))?;
            }
        }
        self.skip(";");
        Ok(Some(class))
    }

    /// Parameters with their defaults.
    pub(super) fn parameters(&mut self) -> Read<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters = Vec::new();
        while !self.skip(")") {
            let is_list = self.skip_name("params");
            for word in ["this", "in", "ref", "out"] {
                self.skip_name(word);
            }
            let of = self.type_()?;
            let name = self.name()?;
            let default = if self.skip("=") {
                Some(self.expression()?)
            } else {
                None
            };
            parameters.push(Parameter {
                name,
                of,
                default,
                is_list,
            });
            if !self.skip(",") && !self.is_mark(")") {
                return Err(self.problem("`)` expected"));
            }
        }
        Ok(parameters)
    }

    fn member_of_class(&mut self, class: &mut Class) -> Read<()> {
        let Modifiers {
            is_public,
            is_static,
        } = self.modifiers();
        let is_shown = (is_public || class.kind == ClassKind::Interface) && !is_static;
        if self.is_name(&class.name) && self.is_mark_at(1, "(") {
            self.at += 1;
            let parameters = self.parameters()?;
            let mut first = (String::new(), Vec::new());
            if self.skip(":") {
                first = (self.name()?, self.arguments()?);
            }
            let body = self.body()?;
            class.members.push(ClassMember::Constructor {
                parameters,
                first,
                body,
            });
            return Ok(());
        }
        let of = self.type_()?;
        let name = self.name()?;
        if self.is_mark("(") || self.is_mark("<") {
            if self.is_mark("<") {
                self.type_arguments()?;
            }
            let parameters = self.parameters()?;
            let body = if self.skip(";") {
                Body::Block(Vec::new())
            } else {
                self.body()?
            };
            class.members.push(ClassMember::Method {
                name,
                parameters,
                body,
            });
            return Ok(());
        }
        if self.skip("=>") {
            let value = self.expression()?;
            self.expect(";")?;
            class.members.push(ClassMember::Computed {
                name,
                body: Body::Value(value),
                is_shown,
            });
            return Ok(());
        }
        if self.skip("{") {
            return self.property(class, name, of, is_static, is_shown);
        }
        let value = if self.skip("=") {
            Some(self.expression()?)
        } else {
            None
        };
        self.expect(";")?;
        class.members.push(ClassMember::Field {
            name,
            of,
            value,
            is_static,
            is_shown: false,
        });
        Ok(())
    }

    fn property(
        &mut self,
        class: &mut Class,
        name: String,
        of: Type,
        is_static: bool,
        is_shown: bool,
    ) -> Read<()> {
        let mut computed = None;
        while !self.skip("}") {
            self.modifiers();
            let accessor = self.name()?;
            if self.skip(";") {
                continue;
            }
            let body = self.body()?;
            if accessor == "get" {
                computed = Some(body);
            }
        }
        if let Some(body) = computed {
            class.members.push(ClassMember::Computed {
                name,
                body,
                is_shown,
            });
            return Ok(());
        }
        let value: Option<Expr> = if self.skip("=") {
            let value = self.expression()?;
            self.expect(";")?;
            Some(value)
        } else {
            None
        };
        class.members.push(ClassMember::Field {
            name,
            of,
            value,
            is_static,
            is_shown,
        });
        Ok(())
    }

    /// `=> value;` or a block.
    pub(super) fn body(&mut self) -> Read<Body> {
        if self.skip("=>") {
            let value = self.expression()?;
            self.expect(";")?;
            Ok(Body::Value(value))
        } else {
            Ok(Body::Block(self.block()?))
        }
    }
}
