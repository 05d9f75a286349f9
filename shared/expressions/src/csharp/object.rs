//! Objects of the types that a script declares.

use std::cell::RefCell;
use std::rc::Rc;

use super::frame::{Closure, Frame};
use super::operators;
use super::run::{Done, Run};
use super::syntax::{Class, ClassKind, ClassMember};
use super::value::{MapKind, V};

/// A declared type.
pub(super) struct ClassOf<'p> {
    pub(super) declared: &'p Class,
    /// Where it was declared.
    frame: Rc<Frame<'p>>,
    pub(super) base: Option<Rc<ClassOf<'p>>>,
    pub(super) statics: RefCell<Vec<(String, V<'p>)>>,
}

pub(super) struct Object<'p> {
    pub(super) class: Rc<ClassOf<'p>>,
    pub(super) fields: RefCell<Vec<(String, V<'p>)>>,
}

/// Gets a field by its name.
pub(super) fn field<'p>(fields: &RefCell<Vec<(String, V<'p>)>>, name: &str) -> Option<V<'p>> {
    let fields = fields.borrow();
    fields
        .iter()
        .find(|(known, _)| known == name)
        .map(|(_, value)| value.clone())
}

/// Sets a field that is there.
pub(super) fn set_field<'p>(
    fields: &RefCell<Vec<(String, V<'p>)>>,
    name: &str,
    value: &V<'p>,
) -> bool {
    let mut fields = fields.borrow_mut();
    let found = fields.iter_mut().find(|(known, _)| known == name);
    found.map(|(_, old)| *old = value.clone()).is_some()
}

impl<'p> ClassOf<'p> {
    fn chain(self: &Rc<Self>) -> Vec<Rc<Self>> {
        let mut chain = vec![Rc::clone(self)];
        while let Some(base) = chain.last().and_then(|class| class.base.clone()) {
            chain.push(base);
        }
        chain
    }

    /// Whether it is that type or is made from it.
    pub(super) fn is(self: &Rc<Self>, name: &str) -> bool {
        let names = |class: &Rc<Self>| {
            class.declared.name == name || class.declared.base.as_deref() == Some(name)
        };
        self.chain().iter().any(names)
    }

    pub(super) fn is_exception(&self) -> bool {
        self.declared
            .base
            .as_ref()
            .is_some_and(|base| base.ends_with("Exception"))
    }
}

impl<'p> Object<'p> {
    /// `Name { Member = value }`, as records are written.
    pub(super) fn shown(&self) -> String {
        let declared = self.class.declared;
        if declared.kind != ClassKind::Record {
            return format!("Submission#0+{}", declared.name);
        }
        let fields = self.fields.borrow();
        let fields: Vec<_> = fields
            .iter()
            .map(|(name, value)| format!("{name} = {}", value.shown()))
            .collect();
        format!("{} {{ {} }}", declared.name, fields.join(", "))
    }

    /// Records and structures are equal if their fields are.
    pub(super) fn equals(&self, other: &Self) -> bool {
        let by_value = matches!(
            self.class.declared.kind,
            ClassKind::Record | ClassKind::Struct
        );
        let (mine, others) = (self.fields.borrow(), other.fields.borrow());
        by_value
            && Rc::ptr_eq(&self.class, &other.class)
            && mine
                .iter()
                .zip(others.iter())
                .all(|((_, a), (_, b))| operators::equal(a, b))
    }
}

impl Run<'_> {
    /// Declares a type.
    pub(super) fn declare_class<'p>(
        &mut self,
        class: &'p Class,
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        let base = class.base.as_ref().and_then(|base| frame.get(base));
        let made = Rc::new(ClassOf {
            declared: class,
            frame: Rc::clone(frame),
            base: if let Some(V::Class(base)) = base {
                Some(base)
            } else {
                None
            },
            statics: RefCell::new(Vec::new()),
        });
        frame.declare(&class.name, V::Class(Rc::clone(&made)));
        let inside = self.inside(&made, None);
        let mut next = 0;
        let mut members = Vec::new();
        for member in &class.members {
            let ClassMember::Field {
                name,
                of,
                value,
                is_static: true,
                ..
            } = member
            else {
                continue;
            };
            let value = match value {
                Some(value) => Some(self.value(value, &inside)?),
                None => None,
            };
            if class.kind == ClassKind::Enum {
                if let Some(value) = value {
                    next = match value {
                        V::Enum(member) => member.number,
                        value => operators::as_long(&value),
                    };
                }
                members.push((name.clone(), next));
                made.statics
                    .borrow_mut()
                    .push((name.clone(), V::member(&class.name, name, next)));
                next += 1;
            } else {
                let value = value.unwrap_or_else(|| operators::default_of(of));
                made.statics.borrow_mut().push((name.clone(), value));
            }
        }
        if class.kind == ClassKind::Enum {
            self.enums.push((class.name.clone(), members));
        }
        Ok(())
    }

    pub(super) fn inside<'p>(
        &self,
        class: &Rc<ClassOf<'p>>,
        this: Option<&V<'p>>,
    ) -> Rc<Frame<'p>> {
        let frame = Frame::inside(Some(Rc::clone(&class.frame)));
        frame.declare("$class", V::Class(Rc::clone(class)));
        if let Some(this) = this {
            frame.declare("this", this.clone());
        }
        frame
    }

    /// A method or a property with code; `None`: there is none of that name.
    pub(super) fn class_member<'p>(
        &mut self,
        class: &Rc<ClassOf<'p>>,
        this: Option<&V<'p>>,
        name: &str,
        arguments: usize,
    ) -> Done<'p, Option<V<'p>>> {
        for class in class.chain() {
            let mut methods = class
                .declared
                .members
                .iter()
                .filter_map(|member| match member {
                    ClassMember::Method {
                        name: known,
                        parameters,
                        body,
                        ..
                    } if known == name => Some((parameters, body)),
                    _ => None,
                });
            let all: Vec<_> = methods.by_ref().collect();
            let fits = all
                .iter()
                .find(|(parameters, _)| parameters.len() == arguments);
            if let Some((parameters, body)) = fits.or(all.first()) {
                return Ok(Some(V::Func(Rc::new(Closure {
                    parameters,
                    body,
                    frame: self.inside(&class, this),
                }))));
            }
            for member in &class.declared.members {
                if let ClassMember::Computed {
                    name: known, body, ..
                } = member
                    && known == name
                {
                    let closure = Closure {
                        parameters: &[],
                        body,
                        frame: self.inside(&class, this),
                    };
                    return self.call(&V::Func(Rc::new(closure)), &[]).map(Some);
                }
            }
            if let Some(value) = field(&class.statics, name) {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// The text of a value, by the type's own `ToString` where it has one.
    pub(super) fn text_of<'p>(&mut self, value: &V<'p>) -> Done<'p, String> {
        match value {
            V::Enum(member) => Ok(self.enum_text(member)),
            V::Object(object) => {
                match self.class_member(&object.class, Some(value), "ToString", 0)? {
                    Some(function) => self.call(&function, &[]).map(|text| text.shown()),
                    None => Ok(object.shown()),
                }
            }
            other => Ok(other.shown()),
        }
    }

    /// A value without objects of declared types: they become what is written of them.
    pub(super) fn plain_value<'p>(&mut self, value: V<'p>, depth: usize) -> Done<'p, V<'p>> {
        if depth > 64 {
            return Ok(V::Null);
        }
        match &value {
            V::List(list) if list.items.borrow().iter().any(is_compound) => {
                let items = list.items.borrow().clone();
                let mut made = Vec::with_capacity(items.len());
                for item in items {
                    made.push(self.plain_value(item, depth + 1)?);
                }
                Ok(V::items_of(list.kind, made))
            }
            V::Map(map) if map.entries.borrow().iter().any(|(_, v)| is_compound(v)) => {
                let entries = map.entries.borrow().clone();
                let mut made = Vec::with_capacity(entries.len());
                for (key, entry) in entries {
                    made.push((key, self.plain_value(entry, depth + 1)?));
                }
                Ok(V::map(map.kind, made))
            }
            V::Object(object) => {
                let mut made = Vec::new();
                for class in object.class.chain() {
                    let declared = class.declared;
                    let mut shown: Vec<&str> = Vec::new();
                    if declared.kind == ClassKind::Record {
                        shown.extend(declared.parameters.iter().map(|p| p.name.as_str()));
                    }
                    shown.extend(declared.members.iter().filter_map(|member| match member {
                        ClassMember::Field {
                            name,
                            is_shown: true,
                            ..
                        }
                        | ClassMember::Computed {
                            name,
                            is_shown: true,
                            ..
                        } => Some(name.as_str()),
                        _ => None,
                    }));
                    for name in shown {
                        let entry = match field(&object.fields, name) {
                            Some(entry) => Some(entry),
                            None => self.class_member(&class, Some(&value), name, 0)?,
                        };
                        let entry = self.plain_value(entry.unwrap_or(V::Null), depth + 1)?;
                        made.push((V::text(name), entry));
                    }
                }
                Ok(V::map(MapKind::Anonymous, made))
            }
            _ => Ok(value),
        }
    }
}

fn is_compound(value: &V<'_>) -> bool {
    matches!(value, V::Object(_) | V::List(_) | V::Map(_))
}

/// Whether a `catch` of a type takes an exception.
pub(super) fn is_exception(of: &str, wanted: &str) -> bool {
    let bases: &[&str] = match wanted {
        "Exception" | "SystemException" => return true,
        "ArithmeticException" => &["DivideByZeroException", "OverflowException"],
        "ArgumentException" => &[
            "ArgumentNullException",
            "ArgumentOutOfRangeException",
            "RegexParseException",
        ],
        "InvalidOperationException" => &["ObjectDisposedException"],
        "FormatException" => &["UriFormatException"],
        _ => &[],
    };
    of == wanted || bases.contains(&of)
}
