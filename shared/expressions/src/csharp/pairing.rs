//! LINQ's methods over two lists that functions of keys bring together.

use super::operators;
use super::run::{Done, Run, thrown};
use super::value::V;

impl Run<'_> {
    pub(super) fn paired<'p>(
        &mut self,
        items: Vec<V<'p>>,
        name: &str,
        arguments: &[V<'p>],
    ) -> Done<'p, V<'p>> {
        let argument = |at: usize| arguments.get(at).cloned().unwrap_or(V::Null);
        let others = self.items(&argument(0))?;
        self.charge(items.len().saturating_mul(others.len()) / 8)?;
        if let "ExceptBy" | "IntersectBy" | "UnionBy" = name {
            return self.by_key(items, others, name, &argument(1));
        }
        if arguments.len() < 4 {
            return thrown(
                "CompilationErrorException",
                format!("{name} needs three functions"),
            );
        }
        let mut keyed = Vec::with_capacity(others.len());
        for other in others {
            keyed.push((
                self.call(&argument(2), std::slice::from_ref(&other))?,
                other,
            ));
        }
        let mut made = Vec::new();
        for item in items {
            let key = self.call(&argument(1), std::slice::from_ref(&item))?;
            let fits = keyed
                .iter()
                .filter(|(known, _)| operators::equal(known, &key))
                .map(|(_, other)| other.clone());
            let fits: Vec<V<'p>> = fits.collect();
            if name == "GroupJoin" {
                made.push(self.call(&argument(3), &[item, V::lazy(fits)])?);
                continue;
            }
            for other in fits {
                made.push(self.call(&argument(3), &[item.clone(), other])?);
            }
        }
        self.made(V::lazy(made))
    }

    fn by_key<'p>(
        &mut self,
        items: Vec<V<'p>>,
        others: Vec<V<'p>>,
        name: &str,
        function: &V<'p>,
    ) -> Done<'p, V<'p>> {
        let mut seen: Vec<V<'p>> = Vec::new();
        let mut made = Vec::new();
        let (walked, keys) = match name {
            "UnionBy" => (
                items.into_iter().chain(others).collect::<Vec<_>>(),
                Vec::new(),
            ),
            _ => (items, others),
        };
        for item in walked {
            let key = self.call(function, std::slice::from_ref(&item))?;
            let among = |known: &[V<'p>]| known.iter().any(|k| operators::equal(k, &key));
            let wanted = match name {
                "ExceptBy" => !among(&keys),
                "IntersectBy" => among(&keys),
                _ => true,
            };
            if wanted && !among(&seen) {
                seen.push(key);
                made.push(item);
            }
        }
        self.made(V::lazy(made))
    }
}
