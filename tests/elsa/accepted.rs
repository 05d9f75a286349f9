//! The exceptions: where Elsa loses data, hangs, crashes, answers 500 to something valid or lets somebody in.

use std::collections::BTreeMap;

/// One exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// Ids of cases; `*` is any text.
    pub(crate) cases: String,
    /// The facet, or `*` for all.
    pub(crate) facet: String,
    pub(crate) reason: String,
}

impl Accepted {
    /// Whether nothing of a case is compared.
    pub(crate) fn covers_all(&self, case: &str) -> bool {
        self.facet == "*" && is_like(&self.cases, case)
    }

    pub(crate) fn covers(&self, case: &str, facet: &str) -> bool {
        (self.facet == "*" || self.facet == facet) && is_like(&self.cases, case)
    }
}

fn is_like(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            let mut ends = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
            ends.any(|at| is_like(tail, &rest[at..]))
        }),
    }
}

/// Lines of `name = value` under a heading, in the order of the headings. This much of TOML is all that the files need.
fn sections(text: &str) -> Vec<(String, BTreeMap<String, String>)> {
    let mut sections: Vec<(String, BTreeMap<String, String>)> = Vec::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            let name = line.trim_matches(|c| c == '[' || c == ']');
            sections.push((name.to_owned(), BTreeMap::new()));
            continue;
        }
        let (name, value) = line.split_once('=').expect("a line is `name = value`");
        let value = value.trim().trim_matches('"').replace("\\\"", "\"");
        let (_, members) = sections.last_mut().expect("a value stands under a heading");
        members.insert(name.trim().to_owned(), value);
    }
    sections
}

/// Reads `accepted.toml`.
pub(crate) fn accepted() -> Vec<Accepted> {
    let text = std::fs::read_to_string(crate::case::folder().join("accepted.toml"));
    let sections = sections(&text.expect("the file of the exceptions"));
    let part = |members: &BTreeMap<String, String>, name: &str| {
        members
            .get(name)
            .cloned()
            .unwrap_or_else(|| panic!("an exception names no {name}"))
    };
    sections
        .iter()
        .map(|(_, members)| Accepted {
            cases: part(members, "cases"),
            facet: part(members, "facet"),
            reason: part(members, "reason"),
        })
        .collect()
}

/// Reads `scores.toml`: how many cases of each kind must be as Elsa, by mode.
pub(crate) fn floors() -> BTreeMap<String, BTreeMap<String, usize>> {
    let text = std::fs::read_to_string(crate::case::folder().join("scores.toml"));
    let sections = sections(&text.expect("the file of the scores")).into_iter();
    let numbers = |members: BTreeMap<String, String>| {
        let members = members.into_iter();
        members
            .map(|(name, value)| (name, value.parse().expect("a score is a number")))
            .collect()
    };
    sections
        .map(|(mode, members)| (mode, numbers(members)))
        .collect()
}

/// The page of the differences.
pub(crate) fn page(accepted: &[Accepted]) -> String {
    let mut reasons: Vec<&str> = Vec::new();
    for one in accepted {
        if !reasons.contains(&one.reason.as_str()) {
            reasons.push(&one.reason);
        }
    }
    let mut page = String::from(
        "# Differences from Elsa\n\n\
        Dormouse answers as Elsa 3 does, also where Elsa is odd. The exceptions below are on purpose: in these cases Elsa\n\
        loses data, hangs, crashes, answers 500 to something valid, or lets somebody in. Each names the recorded cases that\n\
        show it.\n\n\
        This page is made from `tests/elsa/accepted.toml` by `DORMOUSE_BLESS=1 cargo test -p dormouse --test elsa page`.\n\n\
        | what Elsa does | recorded cases | what is compared |\n|---|---|---|\n",
    );
    for reason in reasons {
        let same: Vec<_> = accepted.iter().filter(|a| a.reason == reason).collect();
        let list = |of: &dyn Fn(&Accepted) -> String| {
            let mut told: Vec<String> = same.iter().map(|a| of(a)).collect();
            told.dedup();
            told.join(", ")
        };
        page.push_str(&format!(
            "| {reason} | {} | {} |\n",
            list(&|a| format!("`{}`", a.cases)),
            list(&|a| if a.facet == "*" {
                "everything".into()
            } else {
                a.facet.clone()
            }),
        ));
    }
    page
}

#[test]
fn a_star_stands_for_any_text() {
    assert!(is_like("flow/*-nested*", "flow/complete/js-nested-waits"));
    assert!(is_like("types/x", "types/x"));
    assert!(!is_like("types/x", "types/xy"));
    assert!(!is_like("flow/*-nested", "flow/complete/js-nested-waits"));
}
