//! LINQ's methods over lists, texts and maps. They work at once, not when their result is walked through.

use std::cmp::Ordering;

use super::members::{count, no_member};
use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::value::{List, ListKind, MapKind, SortKeys, V};

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
            | "Exists" | "TakeWhile" | "SkipWhile" | "FindIndex" | "FindLast" | "FindLastIndex"
            | "TrueForAll" => self.filtered(items, name, first),
            "Select" | "SelectMany" | "ForEach" | "ConvertAll" => {
                self.mapped(items, name, arguments)
            }
            "Sum" | "Average" | "Min" | "Max" | "MinBy" | "MaxBy" => {
                self.summed(items, name, first)
            }
            "OrderBy" | "OrderByDescending" | "Order" | "OrderDescending" => {
                self.sorted(items, None, name, arguments)
            }
            "ThenBy" | "ThenByDescending" => {
                let V::List(list) = of else {
                    return no_member(of, name);
                };
                self.sorted(items, list.keys.as_ref(), name, arguments)
            }
            "GroupBy" | "ToDictionary" | "DistinctBy" | "ToLookup" | "CountBy" => {
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
                Ok(V::lazy(made))
            }
            "Join" | "GroupJoin" | "ExceptBy" | "IntersectBy" | "UnionBy" => {
                self.paired(items, name, arguments)
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
        let mut last = None;
        for (at, item) in items.into_iter().enumerate() {
            let holds = match test {
                Some(V::Func(closure)) if closure.parameters.len() == 2 => {
                    let found = self.call(test.unwrap_or(&V::Null), &[item.clone(), count(at)])?;
                    matches!(found, V::Bool(true))
                }
                // `FirstOrDefault(fallback)`
                Some(fallback) if !matches!(fallback, V::Func(_)) => {
                    default = fallback.clone();
                    true
                }
                test => self.holds(test, &item)?,
            };
            match name {
                "Any" | "Exists" if holds => return Ok(V::Bool(true)),
                "All" | "TrueForAll" if !holds => return Ok(V::Bool(false)),
                "TakeWhile" if !holds => break,
                "SkipWhile" => {
                    skips = skips && holds;
                    if !skips {
                        kept.push(item);
                    }
                }
                _ if holds => {
                    place = place.or(Some(at));
                    last = Some(at);
                    kept.push(item);
                }
                _ => {}
            }
        }
        if total == 0
            && let Some(fallback) = test.filter(|t| !matches!(t, V::Func(_)))
        {
            default = fallback.clone();
        }
        let none = || {
            thrown(
                "InvalidOperationException",
                "Sequence contains no matching element",
            )
        };
        match name {
            "Any" | "Exists" => Ok(V::Bool(false)),
            "All" | "TrueForAll" => Ok(V::Bool(true)),
            "Count" => Ok(count(kept.len())),
            "LongCount" => Ok(V::Long(i64::try_from(kept.len()).unwrap_or(i64::MAX))),
            "FindIndex" => Ok(place.map_or(V::Int(-1), count)),
            "FindLastIndex" => Ok(last.map_or(V::Int(-1), count)),
            "First" => kept.into_iter().next().map_or_else(none, Ok),
            "Last" => kept.pop().map_or_else(none, Ok),
            "FirstOrDefault" | "Find" => Ok(kept.into_iter().next().unwrap_or(default)),
            "LastOrDefault" | "FindLast" => Ok(kept.pop().unwrap_or(default)),
            "Single" | "SingleOrDefault" if kept.len() > 1 => thrown(
                "InvalidOperationException",
                "Sequence contains more than one matching element",
            ),
            "Single" => kept.pop().map_or_else(none, Ok),
            "SingleOrDefault" => Ok(kept.pop().unwrap_or(default)),
            "FindAll" => self.made(V::list(kept)),
            _ => self.made(V::lazy(kept)),
        }
    }

    fn mapped<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let Some(function) = arguments.first() else {
            return thrown(
                "CompilationErrorException",
                format!("{name} needs a function"),
            );
        };
        let takes_place = matches!(function, V::Func(closure) if closure.parameters.len() == 2);
        let mut made = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let outer = item.clone();
            let result = if takes_place {
                self.call(function, &[item, count(at)])?
            } else {
                self.call(function, &[item])?
            };
            if name == "SelectMany" {
                for inner in self.items(&result)? {
                    made.push(match arguments.get(1) {
                        Some(join) => self.call(join, &[outer.clone(), inner])?,
                        None => inner,
                    });
                }
            } else {
                made.push(result);
            }
        }
        self.made(match name {
            "ConvertAll" => V::list(made),
            "ForEach" => V::Null,
            _ => V::lazy(made),
        })
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
            let mut total = keyed.first().map_or(V::Int(0), |(key, _)| zero_like(key));
            if matches!(total, V::Null) {
                total = V::Int(0);
            }
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

    /// Sorts by a key; `earlier`: by these keys first.
    fn sorted<'p>(
        &mut self,
        items: Vec<V<'p>>,
        earlier: Option<&SortKeys<'p>>,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        self.charge(items.len().saturating_mul(8))?;
        let function = arguments.iter().find(|a| matches!(a, V::Func(_)));
        let comparer = arguments.iter().find(|a| matches!(a, V::Enum(_)));
        let mut rows: Vec<(Vec<V<'p>>, V<'p>)> = Vec::with_capacity(items.len());
        for (at, (key, item)) in self.keys_of(items, function)?.into_iter().enumerate() {
            let mut keys = earlier
                .and_then(|e| e.keys.get(at).cloned())
                .unwrap_or_default();
            keys.push(operators::collated(key, comparer));
            rows.push((keys, item));
        }
        let mut descends = earlier.map(|e| e.descends.clone()).unwrap_or_default();
        descends.push(name.ends_with("Descending"));
        rows.sort_by(|(a, _), (b, _)| {
            let mut pairs = a.iter().zip(b).zip(&descends);
            let order = pairs.find_map(|((a, b), descends)| {
                let order = operators::compare(a, b);
                let order = if *descends { order.reverse() } else { order };
                (order != Ordering::Equal).then_some(order)
            });
            order.unwrap_or(Ordering::Equal)
        });
        let (keys, items) = rows.into_iter().unzip();
        self.made(V::List(std::rc::Rc::new(List {
            kind: ListKind::Lazy,
            items: std::cell::RefCell::new(items),
            keys: Some(SortKeys { keys, descends }),
        })))
    }

    fn keyed<'p>(&mut self, items: Vec<V<'p>>, name: &str, arguments: &[V<'p>]) -> Done<'p, V<'p>> {
        let (mut element, mut result) = (arguments.get(1), None);
        if name == "GroupBy" {
            let two = |f: &&V<'p>| matches!(f, V::Func(closure) if closure.parameters.len() == 2);
            result = arguments.iter().skip(1).find(two);
            element = element.filter(|f| matches!(f, V::Func(_)) && !two(f));
        }
        let comparer = arguments.iter().find(|a| matches!(a, V::Enum(_)));
        element = element.filter(|f| matches!(f, V::Func(_)));
        let keyed = self.keys_of(items, arguments.first().filter(|f| matches!(f, V::Func(_))))?;
        let mut groups: Vec<(V<'p>, Vec<V<'p>>)> = Vec::new();
        for (key, item) in keyed {
            let item = match element {
                Some(function) => self.call(function, &[item])?,
                None => item,
            };
            self.charge(groups.len() / 8 + 1)?;
            match groups
                .iter_mut()
                .find(|(known, _)| operators::equal_under(known, &key, comparer))
            {
                Some(_) if name == "ToDictionary" => {
                    let message = "An item with the same key has already been added.";
                    return thrown("ArgumentException", message);
                }
                Some((_, group)) => group.push(item),
                None => groups.push((key, vec![item])),
            }
        }
        if name == "ToDictionary" && groups.iter().any(|(key, _)| matches!(key, V::Null)) {
            return thrown("ArgumentNullException", "Value cannot be null.");
        }
        let first = |group: Vec<V<'p>>| group.into_iter().next().unwrap_or(V::Null);
        Ok(match name {
            "ToDictionary" => {
                let entries = groups.into_iter().map(|(key, group)| (key, first(group)));
                V::map(MapKind::Dictionary, entries.collect())
            }
            "CountBy" => {
                let pair = |(key, group): (V<'p>, Vec<V<'p>>)| {
                    V::anonymous(vec![("Key", key), ("Value", count(group.len()))])
                };
                V::lazy(groups.into_iter().map(pair).collect())
            }
            "DistinctBy" => V::lazy(groups.into_iter().map(|(_, group)| first(group)).collect()),
            _ => {
                let mut made = Vec::with_capacity(groups.len());
                for (key, items) in groups {
                    made.push(match result {
                        Some(result) => self.call(result, &[key, V::lazy(items)])?,
                        None => V::anonymous(vec![("Key", key), ("$items", V::array(items))]),
                    });
                }
                V::lazy(made)
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
            Some(total) => match arguments.get(2) {
                Some(result) => self.call(result, &[total]),
                None => Ok(total),
            },
            None => thrown("InvalidOperationException", "Sequence contains no elements"),
        }
    }
}

/// The default of a value's type.
pub(super) fn zero_like<'p>(value: &V<'p>) -> V<'p> {
    match value {
        V::Int(_) => V::Int(0),
        V::Long(_) => V::Long(0),
        V::Double(_) => V::Double(0.0),
        V::Bool(_) => V::Bool(false),
        V::Single(_) => V::Single(0.0),
        V::Decimal(_) => V::Decimal(super::decimal::Decimal::whole(0)),
        V::Char(_) => V::Char('\0'),
        V::Span(_) => V::Span(0),
        _ => V::Null,
    }
}
