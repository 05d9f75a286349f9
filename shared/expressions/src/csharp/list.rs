//! Members and methods of lists, sets, queues, stacks and arrays.

use super::members::count;
use super::operators;
use super::run::{Done, Run, thrown};
use super::value::{List, ListKind, V};

fn outside<'p, T>() -> Done<'p, T> {
    thrown("ArgumentOutOfRangeException", "Index was out of range.")
}

fn empty<'p, T>(kind: ListKind) -> Done<'p, T> {
    let name = if kind == ListKind::Queue {
        "Queue"
    } else {
        "Stack"
    };
    thrown("InvalidOperationException", format!("{name} empty."))
}

fn tried<'p>(found: Option<V<'p>>) -> V<'p> {
    let has = V::Bool(found.is_some());
    V::Tuple(std::rc::Rc::new(vec![
        (None, has),
        (None, found.unwrap_or(V::Null)),
    ]))
}

impl Run<'_> {
    pub(super) fn list_member<'p>(&self, list: &List<'p>, name: &str) -> Option<V<'p>> {
        let items = list.items.borrow();
        let is_counted = !list.is_array() && list.kind != ListKind::Lazy;
        match name {
            "Length" | "LongLength" if list.is_array() => Some(count(items.len())),
            "Rank" if list.is_array() => Some(V::Int(1)),
            "Count" if is_counted => Some(count(items.len())),
            "Capacity" if list.kind == ListKind::List => {
                Some(count(items.len().next_power_of_two().max(4)))
            }
            "IsReadOnly" | "IsFixedSize" => Some(V::Bool(list.is_array())),
            "Min" if list.kind == ListKind::Set => items
                .iter()
                .min_by(|a, b| operators::compare(a, b))
                .cloned(),
            "Max" if list.kind == ListKind::Set => items
                .iter()
                .max_by(|a, b| operators::compare(a, b))
                .cloned(),
            _ => None,
        }
    }

    /// A set of these values.
    pub(super) fn set_of<'p>(&mut self, items: Vec<V<'p>>, is_sorted: bool) -> Done<'p, V<'p>> {
        let V::List(list) = self.distinct(items, &[], None)? else {
            return Ok(V::Null);
        };
        let mut items = list.items.borrow().clone();
        if is_sorted {
            items.sort_by(operators::compare);
        }
        self.made(V::items_of(ListKind::Set, items))
    }

    pub(super) fn list_method<'p>(
        &mut self,
        list: &List<'p>,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, Option<V<'p>>> {
        let first = arguments.first().cloned().unwrap_or(V::Null);
        let at = |index: usize| match arguments.get(index) {
            Some(V::Int(at)) => usize::try_from(*at).ok(),
            _ => None,
        };
        if matches!(name, "Add" | "AddRange" | "Insert" | "Enqueue" | "Push") && list.is_array() {
            let message = format!("'Array' does not contain a definition for '{name}'");
            return thrown("CompilationErrorException", message);
        }
        let position = || {
            let items = list.items.borrow();
            items.iter().position(|item| operators::equal(item, &first))
        };
        let found = match (list.kind, name) {
            (ListKind::Set, _) => return self.set_method(list, name, &first),
            (_, "Add" | "AddLast" | "Enqueue") => {
                list.items.borrow_mut().push(first);
                V::Null
            }
            (ListKind::Stack, "Push") | (ListKind::List, "AddFirst") => {
                list.items.borrow_mut().insert(0, first);
                V::Null
            }
            (ListKind::Queue, "Dequeue" | "Peek" | "TryDequeue" | "TryPeek")
            | (ListKind::Stack, "Pop" | "Peek" | "TryPop" | "TryPeek") => {
                let mut items = list.items.borrow_mut();
                let found = items.first().cloned();
                if !name.ends_with("Peek") && !items.is_empty() {
                    items.remove(0);
                }
                match found {
                    found if name.starts_with("Try") => tried(found),
                    Some(found) => found,
                    None => return empty(list.kind),
                }
            }
            (_, "AddRange" | "InsertRange") => {
                let others = arguments.last().cloned().unwrap_or(V::Null);
                let others = self.items(&others)?;
                let mut items = list.items.borrow_mut();
                let place = if name == "AddRange" {
                    Some(items.len())
                } else {
                    at(0)
                };
                let Some(place) = place.filter(|at| *at <= items.len()) else {
                    return outside();
                };
                items.splice(place..place, others);
                V::Null
            }
            (_, "Insert") => {
                let value = arguments.get(1).cloned().unwrap_or(V::Null);
                let mut items = list.items.borrow_mut();
                let Some(at) = at(0).filter(|at| *at <= items.len()) else {
                    return outside();
                };
                items.insert(at, value);
                V::Null
            }
            (ListKind::List, "Remove") => {
                let found = position();
                if let Some(found) = found {
                    list.items.borrow_mut().remove(found);
                }
                V::Bool(found.is_some())
            }
            (ListKind::List, "RemoveAll") => {
                let before = list.items.borrow().clone();
                let mut kept = Vec::new();
                for item in &before {
                    if !matches!(
                        self.call(&first, std::slice::from_ref(item))?,
                        V::Bool(true)
                    ) {
                        kept.push(item.clone());
                    }
                }
                let removed = before.len() - kept.len();
                *list.items.borrow_mut() = kept;
                count(removed)
            }
            (_, "RemoveAt" | "RemoveRange" | "GetRange") => {
                let mut items = list.items.borrow_mut();
                let length = if name == "RemoveAt" { Some(1) } else { at(1) };
                let end = at(0).zip(length).map(|(at, length)| at + length);
                let Some((from, to)) = at(0).zip(end).filter(|(_, to)| *to <= items.len()) else {
                    return outside();
                };
                if name == "GetRange" {
                    V::list(items.get(from..to).unwrap_or_default().to_vec())
                } else {
                    items.drain(from..to);
                    V::Null
                }
            }
            (ListKind::List, "RemoveFirst" | "RemoveLast") => {
                let mut items = list.items.borrow_mut();
                if name == "RemoveFirst" && !items.is_empty() {
                    items.remove(0);
                } else {
                    items.pop();
                }
                V::Null
            }
            (_, "Clear") => {
                list.items.borrow_mut().clear();
                V::Null
            }
            (_, "Sort") => {
                self.sort(list, &first)?;
                V::Null
            }
            (ListKind::List, "Reverse") => {
                list.items.borrow_mut().reverse();
                V::Null
            }
            (_, "IndexOf") => position().map_or(V::Int(-1), count),
            (_, "LastIndexOf") => {
                let items = list.items.borrow();
                let last = items
                    .iter()
                    .rposition(|item| operators::equal(item, &first));
                last.map_or(V::Int(-1), count)
            }
            (_, "Contains") if arguments.len() == 1 => V::Bool(position().is_some()),
            (_, "BinarySearch") => {
                let items = list.items.borrow();
                match items.binary_search_by(|item| operators::compare(item, &first)) {
                    Ok(at) => count(at),
                    Err(at) => V::Int(!i32::try_from(at).unwrap_or(i32::MAX)),
                }
            }
            (_, "GetLength") => count(list.items.borrow().len()),
            (_, "GetUpperBound") => {
                V::Int(i32::try_from(list.items.borrow().len()).unwrap_or(i32::MAX) - 1)
            }
            (_, "GetLowerBound") => V::Int(0),
            (_, "GetValue") => self.index(&V::array(list.items.borrow().clone()), &first)?,
            (_, "Clone" | "AsReadOnly" | "AsSpan") => {
                V::items_of(list.kind, list.items.borrow().clone())
            }
            (_, "EnsureCapacity" | "TrimExcess") => V::Null,
            _ => return Ok(None),
        };
        Ok(Some(found))
    }

    fn sort<'p>(&mut self, list: &List<'p>, comparison: &V<'p>) -> Done<'p> {
        let mut items = list.items.borrow().clone();
        self.charge(items.len().saturating_mul(8))?;
        if !matches!(comparison, V::Func(_)) {
            let comparer = Some(comparison);
            items.sort_by_cached_key(|item| Ordered(operators::collated(item.clone(), comparer)));
            *list.items.borrow_mut() = items;
            return Ok(());
        }
        // A comparison of the script may fail, which sorting cannot.
        let mut sorted: Vec<V<'p>> = Vec::with_capacity(items.len());
        for item in items {
            let (mut low, mut high) = (0, sorted.len());
            while low < high {
                let middle = (low + high) / 2;
                let other = sorted.get(middle).cloned().unwrap_or(V::Null);
                match self.call(comparison, &[item.clone(), other])? {
                    V::Int(order) if order < 0 => high = middle,
                    _ => low = middle + 1,
                }
            }
            sorted.insert(low, item);
        }
        *list.items.borrow_mut() = sorted;
        Ok(())
    }

    fn set_method<'p>(
        &mut self,
        list: &List<'p>,
        name: &str,
        first: &V<'p>,
    ) -> Done<'p, Option<V<'p>>> {
        let has = |items: &[V<'p>], item: &V<'p>| items.iter().any(|i| operators::equal(i, item));
        let mine = list.items.borrow().clone();
        self.charge(mine.len() / 8 + 1)?;
        if name == "Add" || name == "Remove" || name == "Contains" {
            let known = has(&mine, first);
            match name {
                "Add" if !known => list.items.borrow_mut().push(first.clone()),
                "Remove" => list
                    .items
                    .borrow_mut()
                    .retain(|i| !operators::equal(i, first)),
                _ => {}
            }
            return Ok(Some(V::Bool(if name == "Add" { !known } else { known })));
        }
        let wants_other = [
            "UnionWith",
            "ExceptWith",
            "IntersectWith",
            "SymmetricExceptWith",
            "IsSubsetOf",
            "IsSupersetOf",
            "SetEquals",
            "Overlaps",
        ];
        if name == "Clear" {
            list.items.borrow_mut().clear();
            return Ok(Some(V::Null));
        }
        if !wants_other.contains(&name) {
            return Ok(None);
        }
        let other = self.items(first)?;
        self.charge(mine.len().saturating_mul(other.len()) / 8)?;
        let within = |a: &[V<'p>], b: &[V<'p>]| a.iter().all(|item| has(b, item));
        let found = match name {
            "IsSubsetOf" => V::Bool(within(&mine, &other)),
            "IsSupersetOf" => V::Bool(within(&other, &mine)),
            "SetEquals" => V::Bool(within(&mine, &other) && within(&other, &mine)),
            "Overlaps" => V::Bool(mine.iter().any(|item| has(&other, item))),
            _ => {
                let mut made = mine.clone();
                match name {
                    "ExceptWith" | "SymmetricExceptWith" => made.retain(|item| !has(&other, item)),
                    "IntersectWith" => made.retain(|item| has(&other, item)),
                    _ => {}
                }
                if matches!(name, "UnionWith" | "SymmetricExceptWith") {
                    made.extend(other.into_iter().filter(|item| !has(&mine, item)));
                }
                *list.items.borrow_mut() = made;
                V::Null
            }
        };
        Ok(Some(found))
    }
}

/// A value in the order that sorting gives it.
struct Ordered<'p>(V<'p>);

impl PartialEq for Ordered<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered<'_> {}

impl PartialOrd for Ordered<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        operators::compare(&self.0, &other.0)
    }
}
