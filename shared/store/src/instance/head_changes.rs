//! The changes that lead from one head item to the next.

use crate::table::{Attributes, Change};

/// Every attribute that [`Stored::attributes`](crate::instance::head::Stored::attributes) may set: what a newer build added beside them stays.
pub(crate) const OURS: [&str; 17] = [
    "su", "bo", "cn", "fe", "lo", "lu", "le", "en", "g1p", "g1s", "g2p", "g2s", "g3p", "g3s", "pl",
    "ttl", "ex",
];

/// The changes that lead from one set of attributes to another.
pub(crate) fn changes(from: &Attributes, to: &Attributes) -> Vec<Change> {
    let set = to
        .iter()
        .filter(|(name, value)| from.get(*name) != Some(value))
        .map(|(name, value)| Change::Set(name.clone(), value.clone()));
    let removed = OURS
        .iter()
        .filter(|name| from.contains_key(**name) && !to.contains_key(**name));
    set.chain(removed.map(|name| Change::Remove((*name).to_owned())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Value;

    #[test]
    fn changes_name_only_what_differs_and_leave_strangers_alone() {
        let text = |t: &str| Value::S(t.to_owned());
        let from = Attributes::from([
            ("su".into(), text("a")),
            ("lo".into(), text("x")),
            ("cn".into(), text("1")),
            ("later".into(), text("y")),
        ]);
        let to = Attributes::from([
            ("su".into(), text("b")),
            ("cn".into(), text("1")),
            ("jr".into(), text("j")),
        ]);
        let expected = [
            Change::Set("jr".into(), text("j")),
            Change::Set("su".into(), text("b")),
            Change::Remove("lo".into()),
        ];
        assert_eq!(changes(&from, &to), expected);
        assert!(changes(&to, &to).is_empty());
    }
}
