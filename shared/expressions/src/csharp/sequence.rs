//! LINQ's methods that take no function.

use super::operators;
use super::run::{Done, Run, thrown};
use super::syntax::Type;
use super::value::V;

impl Run<'_> {
    /// Methods without a function; `None`: there is none of that name.
    pub(super) fn rearranged<'p>(
        &mut self,
        mut items: Vec<V<'p>>,
        name: &str,
        types: &[Type],
        arguments: &[V<'p>],
    ) -> Option<Done<'p, V<'p>>> {
        let first = arguments.first();
        let number = match first {
            Some(V::Int(number)) => usize::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        let others =
            |run: &mut Self| first.map_or_else(|| Ok(Vec::new()), |other| run.items(other));
        let zero = items.first().map_or(V::Null, super::linq::zero_like);
        Some(match name {
            "ToList" => self.made(V::list(items)),
            "ToArray" => self.made(V::array(items)),
            "AsEnumerable" | "AsQueryable" | "ToAsyncEnumerable" => self.made(V::lazy(items)),
            "Cast" => {
                let cast = |item: &V<'p>| match types.first() {
                    Some(of) => operators::cast(item.clone(), of),
                    None => Ok(item.clone()),
                };
                match items.iter().map(cast).collect::<Done<'p, Vec<_>>>() {
                    Ok(items) => self.made(V::lazy(items)),
                    Err(stop) => Err(stop),
                }
            }
            "OfType" => {
                if let Some(of) = types.first() {
                    items.retain(|item| operators::is_type(item, of));
                }
                self.made(V::lazy(items))
            }
            "Take" if matches!(first, Some(V::Tuple(_))) => {
                let all = V::array(items);
                self.index(&all, first.unwrap_or(&V::Null))
            }
            "Take" => self.made(V::lazy(items.into_iter().take(number).collect())),
            "TakeLast" => {
                let from = items.len().saturating_sub(number);
                self.made(V::lazy(items.split_off(from)))
            }
            "SkipLast" => {
                items.truncate(items.len().saturating_sub(number));
                self.made(V::lazy(items))
            }
            "Index" => {
                let pair = |(at, item)| {
                    V::Tuple(std::rc::Rc::new(vec![
                        (Some("Index".into()), super::members::count(at)),
                        (Some("Item".into()), item),
                    ]))
                };
                self.made(V::lazy(items.into_iter().enumerate().map(pair).collect()))
            }
            "Skip" => self.made(V::lazy(items.into_iter().skip(number).collect())),
            "Reverse" => {
                items.reverse();
                self.made(V::lazy(items))
            }
            "Distinct" => self.distinct(items, &[], first),
            "ToHashSet" => self.set_of(items, false),
            "Contains" => {
                let comparer = arguments.get(1);
                Ok(V::Bool(items.iter().any(|item| {
                    operators::equal_under(item, first.unwrap_or(&V::Null), comparer)
                })))
            }
            "ElementAt" if matches!(first, Some(V::Tuple(_))) => {
                let all = V::array(items);
                self.index(&all, first.unwrap_or(&V::Null))
            }
            "ElementAt" | "ElementAtOrDefault" => match items.into_iter().nth(number) {
                Some(item) => Ok(item),
                None if name.ends_with("Default") => Ok(zero),
                None => thrown("ArgumentOutOfRangeException", "Index was out of range."),
            },
            "Append" | "Prepend" => {
                let item = first.cloned().unwrap_or(V::Null);
                let at = if name == "Append" { items.len() } else { 0 };
                items.insert(at, item);
                self.made(V::lazy(items))
            }
            "Concat" | "Union" | "Except" | "Intersect" | "SequenceEqual" => match others(self) {
                Ok(others) => self.joined(items, others, name),
                Err(stop) => Err(stop),
            },
            "Chunk" => {
                let chunks = items
                    .chunks(number.max(1))
                    .map(|chunk| V::array(chunk.to_vec()));
                Ok(V::lazy(chunks.collect()))
            }
            "DefaultIfEmpty" => {
                if items.is_empty() {
                    items.push(first.cloned().unwrap_or(V::Null));
                }
                self.made(V::lazy(items))
            }
            "CopyTo" | "TrimExcess" => Ok(V::Null),
            _ => return None,
        })
    }

    pub(super) fn distinct<'p>(
        &mut self,
        items: Vec<V<'p>>,
        without: &[V<'p>],
        comparer: Option<&V<'p>>,
    ) -> Done<'p, V<'p>> {
        let mut kept: Vec<V<'p>> = Vec::new();
        for item in items {
            self.charge((kept.len() + without.len()) / 8 + 1)?;
            if !kept
                .iter()
                .chain(without)
                .any(|known| operators::equal_under(known, &item, comparer))
            {
                kept.push(item);
            }
        }
        self.made(V::lazy(kept))
    }

    pub(super) fn joined<'p>(
        &mut self,
        mut items: Vec<V<'p>>,
        others: Vec<V<'p>>,
        name: &str,
    ) -> Done<'p, V<'p>> {
        self.charge(items.len().saturating_mul(others.len()) / 8)?;
        match name {
            "SequenceEqual" => {
                let same = items.len() == others.len()
                    && items
                        .iter()
                        .zip(&others)
                        .all(|(a, b)| operators::equal(a, b));
                Ok(V::Bool(same))
            }
            "Except" => self.distinct(items, &others, None),
            "Intersect" => {
                items.retain(|item| others.iter().any(|other| operators::equal(other, item)));
                self.distinct(items, &[], None)
            }
            _ => {
                items.extend(others);
                if name == "Union" {
                    self.distinct(items, &[], None)
                } else {
                    self.made(V::lazy(items))
                }
            }
        }
    }
}
