//! `StringBuilder`.

use std::cell::RefCell;
use std::rc::Rc;

use super::members::count;
use super::run::{Done, Run, thrown};
use super::text_method::{plain, text_method};
use super::value::V;

impl Run<'_> {
    pub(super) fn builder_method<'p>(
        &mut self,
        builder: &Rc<RefCell<String>>,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let first = plain(arguments.first());
        let after = |start: usize| arguments.get(start..).unwrap_or_default();
        let appended = match name {
            "Append" => match arguments {
                [V::Char(c), V::Int(times)] => {
                    let times = usize::try_from(*times).unwrap_or(0).min(1 << 20);
                    c.to_string().repeat(times)
                }
                _ => first,
            },
            "AppendLine" => first + "\n",
            "AppendFormat" => self.string_call("Format", arguments)?.shown(),
            "AppendJoin" => self.string_call("Join", arguments)?.shown(),
            "Clear" => {
                builder.borrow_mut().clear();
                String::new()
            }
            "Insert" | "Remove" | "Replace" => {
                let text = builder.borrow().clone();
                match text_method(&text, name, arguments)? {
                    Some(changed) => *builder.borrow_mut() = changed.shown(),
                    None => return thrown("ArgumentException", "The arguments do not fit."),
                }
                String::new()
            }
            "ToString" if arguments.is_empty() => {
                return self.made(V::text(builder.borrow().as_str()));
            }
            "ToString" => {
                let text = builder.borrow().clone();
                let part = text_method(&text, "Substring", after(0))?;
                return self.made(part.unwrap_or(V::Null));
            }
            _ => {
                return thrown(
                    "CompilationErrorException",
                    format!("'StringBuilder' does not contain a definition for '{name}'"),
                );
            }
        };
        self.charge(appended.len() / 16 + 1)?;
        if !self.budget.allocate(appended.len()) {
            return Err(super::run::Stop::Limit);
        }
        builder.borrow_mut().push_str(&appended);
        Ok(V::Builder(Rc::clone(builder)))
    }
}

pub(super) fn builder_member<'p>(builder: &RefCell<String>, name: &str) -> Option<V<'p>> {
    let length = builder.borrow().encode_utf16().count();
    match name {
        "Length" => Some(count(length)),
        "Capacity" => Some(count(length.max(16))),
        _ => None,
    }
}
