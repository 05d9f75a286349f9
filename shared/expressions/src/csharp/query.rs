//! Query expressions: `from x in items where x > 1 select x * 2`.

use std::cmp::Ordering;
use std::rc::Rc;

use super::expression::boxed;
use super::frame::Frame;
use super::operators;
use super::parser::Parser;
use super::run::{Done, Run};
use super::syntax::{Clause, Expr, Problem};
use super::token::Token;
use super::value::V;

type Read<T> = Result<T, Problem>;

impl Parser {
    /// Whether a query begins here: `from` is a name elsewhere.
    pub(super) fn begins_query(&self) -> bool {
        let is_name =
            |at: usize| matches!(self.tokens.get(self.at + at), Some((Token::Name(_), _)));
        self.is_name("from") && is_name(1) && is_name(2)
    }

    pub(super) fn query(&mut self) -> Read<Expr> {
        let mut clauses = Vec::new();
        loop {
            if self.skip_name("from") {
                let (name, items) = self.range_variable()?;
                clauses.push(Clause::From(name, items));
            } else if self.skip_name("where") {
                clauses.push(Clause::Where(self.expression()?));
            } else if self.skip_name("let") {
                let name = self.name()?;
                self.expect("=")?;
                clauses.push(Clause::Let(name, self.expression()?));
            } else if self.skip_name("orderby") {
                let mut keys = Vec::new();
                loop {
                    let key = self.expression()?;
                    let descends = self.skip_name("descending");
                    self.skip_name("ascending");
                    keys.push((key, descends));
                    if !self.skip(",") {
                        break;
                    }
                }
                clauses.push(Clause::OrderBy(keys));
            } else if self.skip_name("join") {
                let (name, items) = self.range_variable()?;
                self.word("on")?;
                let left = self.expression()?;
                self.word("equals")?;
                let right = self.expression()?;
                let into = if self.skip_name("into") {
                    Some(self.name()?)
                } else {
                    None
                };
                clauses.push(Clause::Join {
                    name,
                    items,
                    left,
                    right,
                    into,
                });
            } else if self.skip_name("select") || self.is_name("group") {
                let value = if self.skip_name("group") {
                    let value = self.expression()?;
                    self.word("by")?;
                    (value, Some(self.expression()?))
                } else {
                    (self.expression()?, None)
                };
                let into = if self.skip_name("into") {
                    Some(self.name()?)
                } else {
                    None
                };
                let ends = into.is_none();
                clauses.push(Clause::Select(value.0, value.1, into));
                if ends {
                    return Ok(Expr::Query(clauses));
                }
            } else {
                return Err(self.problem("a query ends with `select` or `group`"));
            }
        }
    }

    fn word(&mut self, word: &str) -> Read<()> {
        if self.skip_name(word) {
            return Ok(());
        }
        Err(self.problem(format!("`{word}` expected")))
    }

    fn range_variable(&mut self) -> Read<(String, Expr)> {
        let typed = self.attempt(|parser| {
            parser.type_()?;
            let name = parser.name()?;
            parser.word("in").map(|()| name)
        });
        let name = match typed {
            Some(name) => name,
            None => {
                let name = self.name()?;
                self.word("in")?;
                name
            }
        };
        Ok((name, *boxed(self.expression()?)))
    }
}

impl Run<'_> {
    pub(super) fn run_query<'p>(
        &mut self,
        clauses: &'p [Clause],
        outer: &Rc<Frame<'p>>,
    ) -> Done<'p, V<'p>> {
        let mut rows = vec![Rc::clone(outer)];
        let with = |row: &Rc<Frame<'p>>, name: &str, value: V<'p>| {
            let inner = Frame::inside(Some(Rc::clone(row)));
            inner.declare(name, value);
            inner
        };
        for clause in clauses {
            let mut next = Vec::new();
            match clause {
                Clause::From(name, items) => {
                    for row in &rows {
                        let items = self.value(items, row)?;
                        for item in self.items(&items)? {
                            next.push(with(row, name, item));
                        }
                    }
                }
                Clause::Where(condition) => {
                    for row in rows {
                        if matches!(self.value(condition, &row)?, V::Bool(true)) {
                            next.push(row);
                        }
                    }
                }
                Clause::Let(name, value) => {
                    for row in &rows {
                        let value = self.value(value, row)?;
                        next.push(with(row, name, value));
                    }
                }
                Clause::OrderBy(keys) => next = self.ordered(rows, keys)?,
                Clause::Join {
                    name,
                    items,
                    left,
                    right,
                    into,
                } => {
                    for row in &rows {
                        let key = self.value(left, row)?;
                        let items = self.value(items, row)?;
                        let mut fits = Vec::new();
                        for item in self.items(&items)? {
                            let inner = with(row, name, item.clone());
                            if operators::equal(&self.value(right, &inner)?, &key) {
                                fits.push((item, inner));
                            }
                        }
                        match into {
                            Some(into) => {
                                let items = fits.into_iter().map(|(item, _)| item).collect();
                                next.push(with(row, into, V::lazy(items)));
                            }
                            None => next.extend(fits.into_iter().map(|(_, inner)| inner)),
                        }
                    }
                }
                Clause::Select(value, key, into) => {
                    let made = self.selected(&rows, value, key.as_ref())?;
                    let Some(into) = into else {
                        return self.made(V::lazy(made));
                    };
                    next = made
                        .into_iter()
                        .map(|value| with(outer, into, value))
                        .collect();
                }
            }
            self.charge(next.len() + 1)?;
            rows = next;
        }
        Ok(V::Null)
    }

    fn selected<'p>(
        &mut self,
        rows: &[Rc<Frame<'p>>],
        value: &'p Expr,
        key: Option<&'p Expr>,
    ) -> Done<'p, Vec<V<'p>>> {
        let mut groups: Vec<(V<'p>, Vec<V<'p>>)> = Vec::new();
        let mut made = Vec::new();
        for row in rows {
            let value = self.value(value, row)?;
            let Some(key) = key else {
                made.push(value);
                continue;
            };
            let key = self.value(key, row)?;
            match groups
                .iter_mut()
                .find(|(known, _)| operators::equal(known, &key))
            {
                Some((_, group)) => group.push(value),
                None => groups.push((key, vec![value])),
            }
        }
        let group = |(key, items)| V::anonymous(vec![("Key", key), ("$items", V::array(items))]);
        made.extend(groups.into_iter().map(group));
        Ok(made)
    }

    fn ordered<'p>(
        &mut self,
        rows: Vec<Rc<Frame<'p>>>,
        keys: &'p [(Expr, bool)],
    ) -> Done<'p, Vec<Rc<Frame<'p>>>> {
        let mut keyed = Vec::with_capacity(rows.len());
        for row in rows {
            let mut found = Vec::with_capacity(keys.len());
            for (key, _) in keys {
                found.push(self.value(key, &row)?);
            }
            keyed.push((found, row));
        }
        keyed.sort_by(|(a, _), (b, _)| {
            let mut orders = a.iter().zip(b).zip(keys).map(|((a, b), (_, descends))| {
                let order = operators::compare(a, b);
                if *descends { order.reverse() } else { order }
            });
            orders
                .find(|order| *order != Ordering::Equal)
                .unwrap_or(Ordering::Equal)
        });
        Ok(keyed.into_iter().map(|(_, row)| row).collect())
    }
}
