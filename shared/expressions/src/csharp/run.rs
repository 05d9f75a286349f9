//! Runs the statements of a C# script.

use std::rc::Rc;

use super::frame::{Closure, Frame};
use super::object::is_exception;
use super::syntax::{Expr, Section, Statement};
use super::value::V;
use crate::Scope;
use crate::budget::{Budget, Reached};

/// Why a statement did not simply end.
pub(super) enum Stop<'p> {
    Return(V<'p>),
    Break,
    Continue,
    Goto(&'p str),
    /// An exception: its type and message.
    Throw(String, String),
    /// A limit was reached.
    Limit,
    /// A `?.` met null: the rest of its chain is not evaluated.
    Null,
}

pub(super) type Done<'p, T = ()> = Result<T, Stop<'p>>;

pub(super) fn thrown<'p, T>(of: &str, message: impl Into<String>) -> Done<'p, T> {
    Err(Stop::Throw(of.to_owned(), message.into()))
}

pub(super) struct Run<'s> {
    pub(super) scope: &'s mut dyn Scope,
    pub(super) budget: &'s Budget,
    pub(super) depth: usize,
    /// The namespaces that the script imports.
    pub(super) usings: &'s [String],
    /// Whole numbers that do not fit are an error.
    pub(super) is_checked: bool,
    /// They wrap even where the compiler would see it.
    pub(super) is_unchecked: bool,
    /// The enumerations that the script declares.
    pub(super) enums: Vec<(String, Vec<(String, i64)>)>,
}

impl<'s> Run<'s> {
    pub(super) fn charge<'p>(&self, operations: usize) -> Done<'p> {
        if self.budget.charge(operations as u64) {
            Ok(())
        } else {
            Err(Stop::Limit)
        }
    }

    /// Counts a value that was made.
    pub(super) fn made<'p>(&self, value: V<'p>) -> Done<'p, V<'p>> {
        if self.budget.allocate(value.weight()) && self.budget.charge(1) {
            Ok(value)
        } else {
            Err(Stop::Limit)
        }
    }

    pub(super) fn deeper<'p, T>(
        &mut self,
        go: impl FnOnce(&mut Self) -> Done<'p, T>,
    ) -> Done<'p, T> {
        self.depth += 1;
        if self.depth > self.budget.limits().depth_max.min(200) {
            self.budget.reach(Reached::Depth);
            return Err(Stop::Limit);
        }
        let done = go(self);
        self.depth -= 1;
        done
    }

    pub(super) fn block<'p>(
        &mut self,
        statements: &'p [Statement],
        frame: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        // Types and functions may be used before they are declared.
        for statement in statements {
            if let Statement::Class(class) = statement {
                self.declare_class(class, frame)?;
            }
            if let Statement::Function(name, parameters, body) = statement {
                let closure = Closure {
                    parameters,
                    body,
                    frame: Rc::clone(frame),
                };
                frame.declare(name, V::Func(Rc::new(closure)));
            }
        }
        let mut at = 0;
        while let Some(statement) = statements.get(at) {
            at += 1;
            match self.statement(statement, frame) {
                Ok(()) => {}
                Err(Stop::Goto(label)) => {
                    let is_label = |s: &Statement| matches!(s, Statement::Label(l) if l == label);
                    match statements.iter().position(is_label) {
                        Some(found) => at = found,
                        None => return Err(Stop::Goto(label)),
                    }
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    fn inner<'p>(&mut self, statement: &'p Statement, frame: &Rc<Frame<'p>>) -> Done<'p> {
        let inner = Frame::inside(Some(Rc::clone(frame)));
        self.deeper(|run| run.statement(statement, &inner))
    }

    fn condition<'p>(&mut self, condition: &'p Expr, frame: &Rc<Frame<'p>>) -> Done<'p, bool> {
        match self.value(condition, frame)? {
            V::Bool(flag) => Ok(flag),
            other => thrown(
                "CompilationErrorException",
                format!("a {} is no condition", other.type_name()),
            ),
        }
    }

    fn statement<'p>(&mut self, statement: &'p Statement, frame: &Rc<Frame<'p>>) -> Done<'p> {
        self.charge(1)?;
        match statement {
            Statement::Local(of, names) => {
                for (name, value) in names {
                    let value = match value {
                        Some(value) => self.value(value, frame)?,
                        None => V::Null,
                    };
                    let value = match of {
                        Some(of) => self.declared_as(value, of)?,
                        None => value,
                    };
                    frame.declare(name, value);
                }
                Ok(())
            }
            Statement::Unpack(names, value) => {
                let value = self.value(value, frame)?;
                self.unpacked(names, &value, frame)
            }
            Statement::Value(value) => self.value(value, frame).map(drop),
            Statement::If(condition, then, otherwise) => {
                if self.condition(condition, frame)? {
                    self.inner(then, frame)
                } else {
                    otherwise
                        .as_ref()
                        .map_or(Ok(()), |statement| self.inner(statement, frame))
                }
            }
            Statement::While(..)
            | Statement::Do(..)
            | Statement::For(..)
            | Statement::ForEach(..) => self.repeat(statement, frame),
            Statement::Return(value) => {
                let value = match value {
                    Some(value) => self.value(value, frame)?,
                    None => V::Null,
                };
                Err(Stop::Return(value))
            }
            Statement::Break => Err(Stop::Break),
            Statement::Continue => Err(Stop::Continue),
            Statement::Try(..) => self.try_(statement, frame),
            Statement::Block(statements) => {
                let inner = Frame::inside(Some(Rc::clone(frame)));
                self.deeper(|run| run.block(statements, &inner))
            }
            Statement::Switch(value, sections) => {
                let value = self.value(value, frame)?;
                self.switch(&value, sections, frame)
            }
            Statement::Function(..) | Statement::Class(_) | Statement::Label(_) => Ok(()),
            Statement::Checked(is_checked, statements) => {
                let before = (self.is_checked, self.is_unchecked);
                (self.is_checked, self.is_unchecked) = (*is_checked, !*is_checked);
                let inner = Frame::inside(Some(Rc::clone(frame)));
                let done = self.deeper(|run| run.block(statements, &inner));
                (self.is_checked, self.is_unchecked) = before;
                done
            }
            Statement::Yield(value) => {
                let value = match value {
                    Some(value) => Some(self.value(value, frame)?),
                    None => None,
                };
                let Some(V::List(list)) = frame.yielded() else {
                    return thrown("CompilationErrorException", "`yield` stands in a function");
                };
                match value {
                    Some(value) => {
                        list.items.borrow_mut().push(value);
                        self.charge(1)
                    }
                    None => Err(Stop::Return(V::Null)),
                }
            }
            Statement::Rethrow => match frame.get("$thrown") {
                Some(V::Tuple(thrown_before)) => {
                    let part = |at: usize| thrown_before.get(at).map(|(_, v)| v.shown());
                    thrown(&part(0).unwrap_or_default(), part(1).unwrap_or_default())
                }
                _ => thrown("CompilationErrorException", "`throw;` stands in a catch"),
            },
            Statement::Goto(label) => Err(Stop::Goto(label)),
        }
    }

    /// Runs a loop's body. `false`: it broke off.
    fn round<'p>(&mut self, body: &'p Statement, frame: &Rc<Frame<'p>>) -> Done<'p, bool> {
        match self.inner(body, frame) {
            Ok(()) | Err(Stop::Continue) => Ok(true),
            Err(Stop::Break) => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn repeat<'p>(&mut self, statement: &'p Statement, outer: &Rc<Frame<'p>>) -> Done<'p> {
        let frame = &Frame::inside(Some(Rc::clone(outer)));
        match statement {
            Statement::While(condition, body) => {
                while self.condition(condition, frame)? && self.round(body, frame)? {}
            }
            Statement::Do(body, condition) => {
                while self.round(body, frame)? && self.condition(condition, frame)? {}
            }
            Statement::For(first, condition, steps, body) => {
                for statement in first {
                    self.statement(statement, frame)?;
                }
                loop {
                    let goes_on = match condition {
                        Some(condition) => self.condition(condition, frame)?,
                        None => true,
                    };
                    if !goes_on || !self.round(body, frame)? {
                        break;
                    }
                    for step in steps {
                        self.value(step, frame)?;
                    }
                }
            }
            Statement::ForEach(names, items, body) => {
                let items = self.value(items, frame)?;
                for item in self.items(&items)? {
                    let inner = Frame::inside(Some(Rc::clone(frame)));
                    match names.as_slice() {
                        [name] => inner.declare(name, item),
                        names => self.unpacked(names, &item, &inner)?,
                    }
                    if !self.round(body, &inner)? {
                        break;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn try_<'p>(&mut self, statement: &'p Statement, frame: &Rc<Frame<'p>>) -> Done<'p> {
        let Statement::Try(body, catches, last) = statement else {
            return Ok(());
        };
        let depth = self.depth;
        let inner = Frame::inside(Some(Rc::clone(frame)));
        let mut done = self.block(body, &inner);
        if let Err(Stop::Throw(of, message)) = &done {
            self.depth = depth;
            let (of, message) = (V::text(of.as_str()), V::text(message.as_str()));
            for catch in catches {
                let fits = catch
                    .of
                    .as_ref()
                    .is_none_or(|t| is_exception(&of.shown(), &t.name));
                // What the compiler refuses never ran.
                if !fits || of.shown() == "CompilationErrorException" {
                    continue;
                }
                let inner = Frame::inside(Some(Rc::clone(frame)));
                let pair = vec![(None, of.clone()), (None, message.clone())];
                inner.declare("$thrown", V::Tuple(Rc::new(pair)));
                if let Some(name) = &catch.name {
                    inner.declare(
                        name,
                        V::anonymous(vec![
                            ("Message", message.clone()),
                            ("Type", of.clone()),
                            ("InnerException", V::Null),
                        ]),
                    );
                }
                let takes = match &catch.guard {
                    Some(guard) => self.condition(guard, &inner)?,
                    None => true,
                };
                if takes {
                    done = self.block(&catch.body, &inner);
                    break;
                }
            }
        }
        if !matches!(done, Err(Stop::Limit)) {
            let inner = Frame::inside(Some(Rc::clone(frame)));
            self.block(last, &inner)?;
        }
        done
    }

    fn switch<'p>(
        &mut self,
        value: &V<'p>,
        sections: &'p [Section],
        outer: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        let frame = Frame::inside(Some(Rc::clone(outer)));
        let mut chosen = None;
        'search: for (labels, body) in sections {
            for (pattern, guard) in labels.iter().flatten() {
                let fits = self.matches(value, pattern, &frame)?
                    && match guard {
                        Some(guard) => self.condition(guard, &frame)?,
                        None => true,
                    };
                if fits {
                    chosen = Some(body);
                    break 'search;
                }
            }
        }
        let default = || {
            sections
                .iter()
                .find(|(labels, _)| labels.iter().any(Option::is_none))
                .map(|(_, body)| body)
        };
        let Some(body) = chosen.or_else(default) else {
            return Ok(());
        };
        match self.block(body, &frame) {
            Err(Stop::Break) => Ok(()),
            other => other,
        }
    }

    /// What can be walked through, item by item.
    pub(super) fn items<'p>(&mut self, value: &V<'p>) -> Done<'p, Vec<V<'p>>> {
        let items = match value {
            V::List(list) => list.items.borrow().clone(),
            V::Text(text) => text.chars().map(V::Char).collect(),
            V::Map(map) => {
                let entries = map.entries.borrow();
                // A group of `GroupBy`.
                if let Some((_, V::List(items))) =
                    entries.iter().find(|(key, _)| key.shown() == "$items")
                {
                    return Ok(items.items.borrow().clone());
                }
                let pair = |(key, value): &(V<'p>, V<'p>)| {
                    V::anonymous(vec![("Key", key.clone()), ("Value", value.clone())])
                };
                entries.iter().map(pair).collect()
            }
            V::Null => {
                return thrown(
                    "NullReferenceException",
                    "Object reference not set to an instance of an object.",
                );
            }
            other => {
                return thrown(
                    "CompilationErrorException",
                    format!("a {} has no items", other.type_name()),
                );
            }
        };
        self.charge(items.len())?;
        Ok(items)
    }
}
