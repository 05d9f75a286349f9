//! LINQ's methods over lists, texts and maps. They work at once, not when their result is walked through.

use std::cmp::Ordering;

use super::members::{count, no_member};
use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::value::{MapKind, V};

impl Run<'_> {
    pub(super) fn query<'p>(
        &mut self,
        of: &V<'p>,
        name: &str,
        types: &[Type],
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let items = self.items(of)?;
        let first = arguments.first();
        match name {
            "Where" | "Any" | "All" | "Count" | "LongCount" | "First" | "FirstOrDefault"
            | "Last" | "LastOrDefault" | "Single" | "SingleOrDefault" | "Find" | "FindAll"
            | "Exists" | "TakeWhile" | "SkipWhile" | "FindIndex" | "RemoveAll" => {
                self.filtered(items, name, first)
            }
            "Select" | "SelectMany" | "ForEach" | "ConvertAll" => self.mapped(items, name, first),
            "Sum" | "Average" | "Min" | "Max" | "MinBy" | "MaxBy" => {
                self.summed(items, name, first)
            }
            "OrderBy" | "OrderByDescending" | "ThenBy" | "ThenByDescending" | "Order"
            | "OrderDescending" => self.sorted(items, name, first),
            "GroupBy" | "ToDictionary" | "DistinctBy" | "ToLookup" => {
                self.keyed(items, name, arguments)
            }
            "Aggregate" => self.aggregated(items, arguments),
            "Zip" => {
                let others = match first {
                    Some(other) => self.items(other)?,
                    None => Vec::new(),
                };
                let mut made = Vec::new();
                for (a, b) in items.into_iter().zip(others) {
                    made.push(match arguments.get(1) {
                        Some(function) => self.call(function, &[a, b])?,
                        None => V::Tuple(std::rc::Rc::new(vec![
                            (Some("First".into()), a),
                            (Some("Second".into()), b),
                        ])),
                    });
                }
                Ok(V::array(made))
            }
            _ => self
                .rearranged(items, name, types, arguments)
                .unwrap_or_else(|| no_member(of, name)),
        }
    }

    fn holds<'p>(&mut self, test: Option<&V<'p>>, item: &V<'p>) -> Done<'p, bool> {
        match test {
            Some(test) => Ok(matches!(
                self.call(test, std::slice::from_ref(item))?,
                V::Bool(true)
            )),
            None => Ok(true),
        }
    }

    fn filtered<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        test: Option<&V<'p>>,
    ) -> Done<'p, V<'p>> {
        let total = items.len();
        let mut kept = Vec::new();
        let mut skips = true;
        let mut default = items.first().map_or(V::Null, zero_like);
        let mut place = None;
        for (at, item) in items.into_iter().enumerate() {
            let holds = self.holds(test, &item)?;
            match name {
                "Any" | "Exists" if holds => return Ok(V::Bool(true)),
                "All" if !holds => return Ok(V::Bool(false)),
                "TakeWhile" if !holds => break,
                "SkipWhile" => {
                    skips = skips && holds;
                    if !skips {
                        kept.push(item);
                    }
                }
                _ if holds => {
                    place = place.or(Some(at));
                    kept.push(item);
                }
                _ => {}
            }
        }
        if test.is_none() && total == 0 {
            default = V::Null;
        }
        let none = || {
            thrown(
                "InvalidOperationException",
                "Sequence contains no matching element",
            )
        };
        match name {
            "Any" | "Exists" => Ok(V::Bool(false)),
            "All" => Ok(V::Bool(true)),
            "Count" => Ok(count(kept.len())),
            "LongCount" => Ok(V::Long(i64::try_from(kept.len()).unwrap_or(i64::MAX))),
            "FindIndex" => Ok(place.map_or(V::Int(-1), count)),
            "First" => kept.into_iter().next().map_or_else(none, Ok),
            "Last" => kept.pop().map_or_else(none, Ok),
            "FirstOrDefault" | "Find" => Ok(kept.into_iter().next().unwrap_or(default)),
            "LastOrDefault" => Ok(kept.pop().unwrap_or(default)),
            "Single" | "SingleOrDefault" if kept.len() > 1 => thrown(
                "InvalidOperationException",
                "Sequence contains more than one matching element",
            ),
            "Single" => kept.pop().map_or_else(none, Ok),
            "SingleOrDefault" => Ok(kept.pop().unwrap_or(default)),
            _ => self.made(V::array(kept)),
        }
    }

    fn mapped<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        function: Option<&V<'p>>,
    ) -> Done<'p, V<'p>> {
        let Some(function) = function else {
            return thrown(
                "CompilationErrorException",
                format!("{name} needs a function"),
            );
        };
        let takes_place = matches!(function, V::Func(closure) if closure.parameters.len() == 2);
        let mut made = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let result = if takes_place {
                self.call(function, &[item, count(at)])?
            } else {
                self.call(function, &[item])?
            };
            if name == "SelectMany" {
                made.extend(self.items(&result)?);
            } else {
                made.push(result);
            }
        }
        self.made(V::array(made))
    }

    fn keys_of<'p>(
        &mut self,
        items: Vec<V<'p>>,
        function: Option<&V<'p>>,
    ) -> Done<'p, Vec<(V<'p>, V<'p>)>> {
        let mut keyed = Vec::with_capacity(items.len());
        for item in items {
            let key = match function {
                Some(function) => self.call(function, std::slice::from_ref(&item))?,
                None => item.clone(),
            };
            keyed.push((key, item));
        }
        Ok(keyed)
    }

    fn summed<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        function: Option<&V<'p>>,
    ) -> Done<'p, V<'p>> {
        let keyed = self.keys_of(items, function)?;
        let length = keyed.len();
        if matches!(name, "Sum" | "Average") {
            let mut total = V::Int(0);
            for (key, _) in keyed.into_iter().filter(|(key, _)| !matches!(key, V::Null)) {
                total = operators::binary("+", &total, &key)?;
            }
            if name == "Sum" {
                return Ok(total);
            }
            if length == 0 {
                return thrown("InvalidOperationException", "Sequence contains no elements");
            }
            let total = match total {
                V::Int(_) | V::Long(_) => operators::as_double(&total).map_or(V::Null, V::Double),
                other => other,
            };
            return operators::binary("/", &total, &count(length));
        }
        let wanted = if name.starts_with("Min") {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        let mut best: Option<(V<'p>, V<'p>)> = None;
        for (key, item) in keyed {
            if best
                .as_ref()
                .is_none_or(|(known, _)| operators::compare(&key, known) == wanted)
            {
                best = Some((key, item));
            }
        }
        match best {
            Some((_, item)) if name.ends_with("By") => Ok(item),
            Some((key, _)) => Ok(key),
            None => thrown("InvalidOperationException", "Sequence contains no elements"),
        }
    }

    fn sorted<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        function: Option<&V<'p>>,
    ) -> Done<'p, V<'p>> {
        self.charge(items.len().saturating_mul(8))?;
        let mut keyed = self.keys_of(items, function)?;
        let descends = name.ends_with("Descending");
        keyed.sort_by(|(a, _), (b, _)| {
            if descends {
                operators::compare(b, a)
            } else {
                operators::compare(a, b)
            }
        });
        Ok(V::array(keyed.into_iter().map(|(_, item)| item).collect()))
    }

    fn keyed<'p>(&mut self, items: Vec<V<'p>>, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let keyed = self.keys_of(items, arguments.first())?;
        let mut groups: Vec<(V<'p>, Vec<V<'p>>)> = Vec::new();
        for (key, item) in keyed {
            let item = match arguments.get(1) {
                Some(function) => self.call(function, &[item])?,
                None => item,
            };
            self.charge(groups.len() / 8 + 1)?;
            match groups
                .iter_mut()
                .find(|(known, _)| operators::equal(known, &key))
            {
                Some(_) if name == "ToDictionary" => {
                    return thrown(
                        "ArgumentException",
                        "An item with the same key has already been added.",
                    );
                }
                Some((_, group)) => group.push(item),
                None => groups.push((key, vec![item])),
            }
        }
        let first = |group: Vec<V<'p>>| group.into_iter().next().unwrap_or(V::Null);
        Ok(match name {
            "ToDictionary" => V::map(
                MapKind::Dictionary,
                groups
                    .into_iter()
                    .map(|(key, group)| (key, first(group)))
                    .collect(),
            ),
            "DistinctBy" => V::array(groups.into_iter().map(|(_, group)| first(group)).collect()),
            _ => {
                let group = |(key, group): (V<'p>, Vec<V<'p>>)| {
                    V::anonymous(vec![("Key", key), ("$items", V::array(group))])
                };
                V::array(groups.into_iter().map(group).collect())
            }
        })
    }

    fn aggregated<'p>(&mut self, items: Vec<V<'p>>, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let mut items = items.into_iter();
        let (mut total, function) = match arguments {
            [function] => (items.next(), function),
            [seed, function, ..] => (Some(seed.clone()), function),
            [] => return thrown("CompilationErrorException", "Aggregate needs a function"),
        };
        for item in items {
            let so_far = total.take().unwrap_or(V::Null);
            total = Some(self.call(function, &[so_far, item])?);
        }
        match total {
            Some(total) => Ok(total),
            None => thrown("InvalidOperationException", "Sequence contains no elements"),
        }
    }
}

/// The default of a value's type.
fn zero_like<'p>(value: &V<'p>) -> V<'p> {
    match value {
        V::Int(_) => V::Int(0),
        V::Long(_) => V::Long(0),
        V::Double(_) => V::Double(0.0),
        V::Bool(_) => V::Bool(false),
        _ => V::Null,
    }
}
