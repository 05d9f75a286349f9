//! The names that scripts declare, and functions with the names they see.

use std::cell::RefCell;
use std::rc::Rc;

use super::object::{field, set_field};
use super::syntax::{Body, Parameter};
use super::value::V;

/// The names that a block declares, within those around it.
pub(super) struct Frame<'p> {
    names: RefCell<Vec<(String, V<'p>)>>,
    outer: Option<Rc<Frame<'p>>>,
    /// It is that of a function's call.
    is_call: bool,
}

impl<'p> Frame<'p> {
    pub(super) fn inside(outer: Option<Rc<Self>>) -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::new(Vec::new()),
            outer,
            is_call: false,
        })
    }

    pub(super) fn of_call(outer: Rc<Self>) -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::new(Vec::new()),
            outer: Some(outer),
            is_call: true,
        })
    }

    /// The list of what the function that runs has yielded.
    pub(super) fn yielded(&self) -> Option<V<'p>> {
        if self.is_call {
            let known = self.own("$yield");
            return known.or_else(|| {
                self.declare("$yield", V::lazy(Vec::new()));
                self.own("$yield")
            });
        }
        self.outer.as_ref()?.yielded()
    }

    pub(super) fn own(&self, name: &str) -> Option<V<'p>> {
        let names = self.names.borrow();
        names
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.clone())
    }

    pub(super) fn declare(&self, name: &str, value: V<'p>) {
        let mut names = self.names.borrow_mut();
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => names.push((name.to_owned(), value)),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<V<'p>> {
        let found = self.own(name).or_else(|| {
            // What a method sees of its object and of its type.
            let of_object = match self.own("this") {
                Some(V::Object(object)) => field(&object.fields, name),
                _ => None,
            };
            of_object.or_else(|| match self.own("$class") {
                Some(V::Class(class)) => field(&class.statics, name),
                _ => None,
            })
        });
        found.or_else(|| self.outer.as_ref()?.get(name))
    }

    /// `false`: there is no such name.
    pub(super) fn set(&self, name: &str, value: V<'p>) -> bool {
        if let Some((_, old)) = self
            .names
            .borrow_mut()
            .iter_mut()
            .find(|(known, _)| known == name)
        {
            *old = value;
            return true;
        }
        let is_field = match self.own("this") {
            Some(V::Object(object)) => set_field(&object.fields, name, &value),
            _ => false,
        };
        let is_field = is_field
            || match self.own("$class") {
                Some(V::Class(class)) => set_field(&class.statics, name, &value),
                _ => false,
            };
        if is_field {
            return true;
        }
        self.outer
            .as_ref()
            .is_some_and(|outer| outer.set(name, value))
    }
}

/// A function of the script, with the names it sees.
pub(super) struct Closure<'p> {
    pub(super) parameters: &'p [Parameter],
    pub(super) body: &'p Body,
    pub(super) frame: Rc<Frame<'p>>,
}
