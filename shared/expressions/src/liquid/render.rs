//! Renders a template over a scope.
//!
//! Only the values a template names are asked of the scope, when they are first needed. What is missing is
//! nil, which renders as nothing.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;

use serde_json::Value;

use super::element::element;
use super::expression::{Call, Expression, Path, Pipeline};
use super::filter::{Input, failure};
use super::items::{Items, progress};
use super::node::{For, Node, Offset};
use super::template::Template;
use super::value::{Amount, equal, is_truthy, member, to_text, weight};
use super::work::Work;
use super::{comparison, global};
use crate::budget::Budget;
use crate::{EvaluationError, Scope};

/// What visiting a node counts, in operations.
const NODE_OPERATIONS: usize = 10;

/// Why the nodes of a block were left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
}

impl Template {
    /// Renders the template.
    pub(crate) fn render(
        &self,
        scope: &mut dyn Scope,
        budget: Budget,
    ) -> Result<String, EvaluationError> {
        let work = Work::new(budget, scope.now_ms());
        let mut renderer = Renderer {
            scope,
            work,
            globals: RefCell::default(),
            locals: Vec::new(),
            counters: BTreeMap::new(),
            cycles: BTreeMap::new(),
            offsets: BTreeMap::new(),
            captures: 0,
            output: String::new(),
        };
        renderer.block(&self.nodes)?;
        Ok(renderer.output)
    }
}

struct Renderer<'s> {
    scope: &'s dyn Scope,
    work: Work,
    /// What was asked of the scope already.
    globals: RefCell<BTreeMap<String, std::rc::Rc<Value>>>,
    /// Assigned names and loop variables; the last of a name counts.
    locals: Vec<(String, Value)>,
    counters: BTreeMap<String, i64>,
    cycles: BTreeMap<String, usize>,
    /// Where the loop of that text ended, for `offset: continue`.
    offsets: BTreeMap<String, usize>,
    /// How many `capture` blocks are open: what they write is no output yet.
    captures: usize,
    output: String,
}

impl Renderer<'_> {
    fn block(&mut self, nodes: &[Node]) -> Result<Flow, EvaluationError> {
        for node in nodes {
            self.work.charge(NODE_OPERATIONS)?;
            let flow = self.node(node)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn node(&mut self, node: &Node) -> Result<Flow, EvaluationError> {
        match node {
            Node::Text(text) => self.write(text)?,
            Node::Output(pipeline) => {
                let text = match (&pipeline.base, pipeline.filters.as_slice()) {
                    // Fluid prints what stands on the left of a comparison.
                    (Expression::Compare(_, left, _), []) => {
                        to_text(&*self.expression(left)?).into_owned()
                    }
                    _ => to_text(&*self.pipeline(pipeline)?).into_owned(),
                };
                self.write(&text)?;
            }
            Node::Assign { name, value } => {
                let value = self.pipeline(value)?.into_owned();
                self.work.allocate(weight(&value))?;
                self.assign(name, value);
            }
            Node::Capture { name, body } => return self.capture(name, body),
            Node::If {
                branches,
                otherwise,
            } => {
                for (test, body) in branches {
                    if is_truthy(&*self.expression(test)?) {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            Node::Case {
                subject,
                whens,
                otherwise,
            } => {
                return self.case(subject, whens, otherwise);
            }
            Node::For(repeat) => return self.repeat(repeat),
            Node::Missing { tag } => {
                return Err(failure(format!("'{tag}': there are no other templates")));
            }
            Node::Break => return Ok(Flow::Break),
            Node::Continue => return Ok(Flow::Continue),
            Node::Cycle { group, values, key } => self.cycle(group.as_ref(), values, key)?,
            Node::Count { name, by } => {
                let counter = self.counters.entry(name.clone()).or_insert(0);
                let before = *counter;
                *counter = before.saturating_add(*by);
                let shown = if *by < 0 { *counter } else { before };
                self.write(&shown.to_string())?;
            }
        }
        Ok(Flow::Next)
    }

    fn capture(&mut self, name: &str, body: &[Node]) -> Result<Flow, EvaluationError> {
        let outside = std::mem::take(&mut self.output);
        self.captures += 1;
        let flow = self.block(body);
        self.captures -= 1;
        let captured = std::mem::replace(&mut self.output, outside);
        self.assign(name, Value::String(captured));
        flow
    }

    fn case(
        &mut self,
        subject: &Expression,
        whens: &[(Vec<Expression>, Vec<Node>)],
        otherwise: &[Node],
    ) -> Result<Flow, EvaluationError> {
        let subject = self.expression(subject)?.into_owned();
        let mut matched = false;
        for (values, body) in whens {
            let mut applies = false;
            for value in values {
                applies |= equal(&subject, &*self.expression(value)?);
            }
            if applies {
                matched = true;
                let flow = self.block(body)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
        }
        if matched {
            Ok(Flow::Next)
        } else {
            self.block(otherwise)
        }
    }

    fn repeat(&mut self, repeat: &For) -> Result<Flow, EvaluationError> {
        let items = self.items(&repeat.source)?;
        let whole = |value: Cow<'_, Value>| usize::try_from(Amount::or_zero(&value).truncated());
        let offset = match &repeat.offset {
            None => 0,
            Some(Offset::Continue) => self.offsets.get(&repeat.key).copied().unwrap_or(0),
            Some(Offset::At(offset)) => whole(self.expression(offset)?).unwrap_or(0),
        };
        let limit = match &repeat.limit {
            None => usize::MAX,
            Some(limit) => whole(self.expression(limit)?).unwrap_or(0),
        };
        let start = offset.min(items.len());
        let count = (items.len() - start).min(limit);
        self.offsets.insert(repeat.key.clone(), start + count);
        if count == 0 {
            return self.block(&repeat.otherwise);
        }
        let depth = self.locals.len();
        for turn in 0..count {
            self.work.charge(NODE_OPERATIONS)?;
            let index = start
                + if repeat.is_reversed {
                    count - 1 - turn
                } else {
                    turn
                };
            // Names assigned inside a loop live on after it, so only the loop's own are taken back.
            self.locals
                .insert(depth, (repeat.variable.clone(), items.get(index)));
            self.locals
                .insert(depth, ("forloop".to_owned(), progress(turn, count)));
            let flow = self.block(&repeat.body);
            self.locals.drain(depth..depth + 2);
            if flow? == Flow::Break {
                break;
            }
        }
        Ok(Flow::Next)
    }

    fn items(&self, source: &Expression) -> Result<Items, EvaluationError> {
        if let Expression::Range(first, last) = source {
            let first = Amount::or_zero(&*self.expression(first)?).truncated();
            let last = Amount::or_zero(&*self.expression(last)?).truncated();
            return Ok(Items::Range(first, last));
        }
        let value = self.expression(source)?;
        self.work.allocate(if matches!(value, Cow::Borrowed(_)) {
            weight(&value)
        } else {
            0
        })?;
        let is_element = element(&value).is_some();
        Ok(Items::List(match value.into_owned() {
            Value::Array(items) => items,
            Value::Object(entries) if !is_element => {
                let pair = |(key, entry)| Value::Array(vec![Value::String(key), entry]);
                entries.into_iter().map(pair).collect()
            }
            Value::Null => Vec::new(),
            Value::String(text) if text.is_empty() => Vec::new(),
            single @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                vec![single]
            }
        }))
    }

    fn cycle(
        &mut self,
        group: Option<&Expression>,
        values: &[Expression],
        key: &str,
    ) -> Result<(), EvaluationError> {
        let key = match group {
            Some(group) => format!("group {}", to_text(&*self.expression(group)?)),
            None => key.to_owned(),
        };
        let turn = self.cycles.entry(key).or_insert(0);
        let index = *turn % values.len().max(1);
        *turn += 1;
        if let Some(value) = values.get(index) {
            let text = to_text(&*self.expression(value)?).into_owned();
            self.write(&text)?;
        }
        Ok(())
    }

    fn write(&mut self, text: &str) -> Result<(), EvaluationError> {
        if self.captures > 0 {
            self.work.allocate(text.len())?;
        } else {
            self.work.emit(text.len())?;
        }
        self.output.push_str(text);
        Ok(())
    }

    fn assign(&mut self, name: &str, value: Value) {
        match self
            .locals
            .iter_mut()
            .rev()
            .find(|(local, _)| local == name)
        {
            Some((_, local)) => *local = value,
            None => self.locals.push((name.to_owned(), value)),
        }
    }

    fn pipeline<'a>(&'a self, pipeline: &'a Pipeline) -> Result<Cow<'a, Value>, EvaluationError> {
        let mut value = self.expression(&pipeline.base)?;
        for call in &pipeline.filters {
            value = Cow::Owned(self.call(call, &value)?);
        }
        Ok(value)
    }

    fn call(&self, call: &Call, value: &Value) -> Result<Value, EvaluationError> {
        self.work.charge(NODE_OPERATIONS)?;
        let evaluated = call
            .arguments
            .iter()
            .map(|argument| self.expression(argument));
        let arguments = evaluated.collect::<Result<Vec<_>, _>>()?;
        let mut named = Vec::new();
        for (name, argument) in &call.named {
            named.push((name.as_str(), self.expression(argument)?));
        }
        (call.filter)(&Input {
            value,
            arguments: &arguments,
            named: &named,
            work: &self.work,
        })
    }

    fn expression<'a>(
        &'a self,
        expression: &'a Expression,
    ) -> Result<Cow<'a, Value>, EvaluationError> {
        let flag = |flag: bool| Cow::Owned(Value::Bool(flag));
        Ok(match expression {
            Expression::Literal(value) => Cow::Borrowed(value),
            Expression::Empty | Expression::Blank => Cow::Owned(Value::String(String::new())),
            Expression::Path(path) => self.path(path)?,
            Expression::Range(first, last) => {
                let first = Amount::or_zero(&*self.expression(first)?).truncated();
                let last = Amount::or_zero(&*self.expression(last)?).truncated();
                let range = Items::Range(first, last);
                self.work
                    .allocate(range.len().saturating_mul(size_of::<Value>()))?;
                Cow::Owned((0..range.len()).map(|index| range.get(index)).collect())
            }
            Expression::Compare(comparison, left, right) => {
                flag(comparison::holds(*comparison, left, right, &|side| {
                    let value = self.expression(side)?;
                    self.work.charge(comparison::weight(&value))?;
                    Ok(value)
                })?)
            }
            Expression::And(left, right) => {
                flag(is_truthy(&*self.expression(left)?) && is_truthy(&*self.expression(right)?))
            }
            Expression::Or(left, right) => {
                flag(is_truthy(&*self.expression(left)?) || is_truthy(&*self.expression(right)?))
            }
            Expression::Not(inner) => flag(!is_truthy(&*self.expression(inner)?)),
        })
    }

    fn path<'a>(&'a self, path: &'a Path) -> Result<Cow<'a, Value>, EvaluationError> {
        let mut members = Vec::with_capacity(path.members.len());
        for member in &path.members {
            members.push(self.expression(member)?);
        }
        let local = self
            .locals
            .iter()
            .rev()
            .find(|(name, _)| *name == path.root);
        if let Some((_, local)) = local {
            return Ok(walk(Cow::Borrowed(local), &members));
        }
        if let Some(counter) = self.counters.get(&path.root) {
            return Ok(Cow::Owned(Value::from(*counter)));
        }
        let (key, members) = global::key(&path.root, &members);
        let known = self.globals.borrow().get(&key).cloned();
        let value = match known {
            Some(value) => value,
            None => {
                let found = global::find(self.scope, &path.root, &key).unwrap_or(Value::Null);
                self.work.charge(weight(&found) / 16)?;
                let value = std::rc::Rc::new(found);
                self.globals.borrow_mut().insert(key, value.clone());
                value
            }
        };
        let found = walk(Cow::Borrowed(&*value), members).into_owned();
        self.work.charge(weight(&found) / 16)?;
        Ok(Cow::Owned(found))
    }
}

fn walk<'a>(value: Cow<'a, Value>, members: &[Cow<'_, Value>]) -> Cow<'a, Value> {
    members.iter().fold(value, |value, key| match value {
        Cow::Borrowed(value) => member(value, key),
        Cow::Owned(value) => Cow::Owned(member(&value, key).into_owned()),
    })
}
