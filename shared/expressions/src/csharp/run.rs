//! Runs the statements of a C# script.

use std::cell::RefCell;
use std::rc::Rc;

use super::syntax::{Body, Expr, Pattern, Statement};
use super::value::V;
use crate::Scope;
use crate::budget::{Budget, Reached};

/// Why a statement did not simply end.
pub(super) enum Stop<'p> {
    Return(V<'p>),
    Break,
    Continue,
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

/// The names that a block declares, within those around it.
pub(super) struct Frame<'p> {
    names: RefCell<Vec<(String, V<'p>)>>,
    outer: Option<Rc<Frame<'p>>>,
}

impl<'p> Frame<'p> {
    pub(super) fn inside(outer: Option<Rc<Self>>) -> Rc<Self> {
        Rc::new(Self {
            names: RefCell::new(Vec::new()),
            outer,
        })
    }

    pub(super) fn declare(&self, name: &str, value: V<'p>) {
        let mut names = self.names.borrow_mut();
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => names.push((name.to_owned(), value)),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<V<'p>> {
        let found = self
            .names
            .borrow()
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, v)| v.clone());
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
        self.outer
            .as_ref()
            .is_some_and(|outer| outer.set(name, value))
    }
}

/// A function of the script, with the names it sees.
pub(super) struct Closure<'p> {
    pub(super) parameters: &'p [String],
    pub(super) body: &'p Body,
    pub(super) frame: Rc<Frame<'p>>,
}

pub(super) struct Run<'s> {
    pub(super) scope: &'s mut dyn Scope,
    pub(super) budget: &'s Budget,
    pub(super) depth: usize,
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
        // Functions may be called before they are declared.
        for statement in statements {
            if let Statement::Function(name, parameters, body) = statement {
                let closure = Closure {
                    parameters,
                    body,
                    frame: Rc::clone(frame),
                };
                frame.declare(name, V::Func(Rc::new(closure)));
            }
        }
        for statement in statements {
            self.statement(statement, frame)?;
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
                        Some(of) => self.declared_as(value, of),
                        None => value,
                    };
                    frame.declare(name, value);
                }
                Ok(())
            }
            Statement::Unpack(names, value) => {
                let V::Tuple(items) = self.value(value, frame)? else {
                    return thrown(
                        "CompilationErrorException",
                        "only a tuple can be taken apart",
                    );
                };
                for (name, (_, item)) in names.iter().zip(items.iter()) {
                    frame.declare(name, item.clone());
                }
                Ok(())
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
            Statement::Function(..) => Ok(()),
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
            Statement::ForEach(name, items, body) => {
                let items = self.value(items, frame)?;
                for item in self.items(&items)? {
                    let inner = Frame::inside(Some(Rc::clone(frame)));
                    inner.declare(name, item);
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
            let takes = |known: &&super::syntax::Catch| {
                known.of.as_ref().is_none_or(|t| {
                    t.name == *of || matches!(t.name.as_str(), "Exception" | "SystemException")
                })
            };
            if let Some(catch) = catches.iter().find(takes) {
                let inner = Frame::inside(Some(Rc::clone(frame)));
                if let Some(name) = &catch.name {
                    let message = V::text(message.as_str());
                    inner.declare(
                        name,
                        V::anonymous(vec![("Message", message), ("Type", V::text(of.as_str()))]),
                    );
                }
                done = self.block(&catch.body, &inner);
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
        sections: &'p [(Vec<Option<Pattern>>, Vec<Statement>)],
        outer: &Rc<Frame<'p>>,
    ) -> Done<'p> {
        let frame = Frame::inside(Some(Rc::clone(outer)));
        let mut chosen = None;
        'search: for (labels, body) in sections {
            for pattern in labels.iter().flatten() {
                if self.matches(value, pattern, &frame)? {
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

    /// Calls a function of the script.
    pub(super) fn call<'p>(&mut self, function: &V<'p>, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let V::Func(closure) = function else {
            return thrown(
                "CompilationErrorException",
                format!("a {} cannot be called", function.type_name()),
            );
        };
        self.charge(1)?;
        let frame = Frame::inside(Some(Rc::clone(&closure.frame)));
        for (name, value) in closure.parameters.iter().zip(arguments) {
            frame.declare(name, value.clone());
        }
        let body = closure.body;
        self.deeper(|run| match body {
            Body::Value(value) => run.value(value, &frame),
            Body::Block(statements) => match run.block(statements, &frame) {
                Ok(()) => Ok(V::Null),
                Err(Stop::Return(value)) => Ok(value),
                Err(other) => Err(other),
            },
        })
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
