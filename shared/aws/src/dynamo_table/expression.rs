//! Conditions and changes as DynamoDB expressions. Every name and value is a placeholder: many short names are
//! reserved words of DynamoDB, and no text of a user may become part of an expression.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use dormouse_store::table::{Change, Condition};

use super::item::{PARTITION, SORT, attribute};

/// The placeholders of one request.
#[derive(Debug, Default)]
pub(super) struct Placeholders {
    names: Vec<String>,
    values: Vec<AttributeValue>,
}

impl Placeholders {
    /// The placeholder of an attribute's name; one name has one placeholder.
    pub(super) fn name(&mut self, name: &str) -> String {
        let known = self.names.iter().position(|other| other == name);
        let place = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        format!("#n{place}")
    }

    /// The placeholder of a value.
    pub(super) fn value(&mut self, value: AttributeValue) -> String {
        self.values.push(value);
        format!(":v{}", self.values.len() - 1)
    }

    /// The names for the request; DynamoDB refuses an empty map.
    pub(super) fn take_names(&mut self) -> Option<HashMap<String, String>> {
        let names = std::mem::take(&mut self.names);
        let placed = names
            .into_iter()
            .enumerate()
            .map(|(place, name)| (format!("#n{place}"), name));
        Some(placed.collect()).filter(|names: &HashMap<_, _>| !names.is_empty())
    }

    /// The values for the request; DynamoDB refuses an empty map.
    pub(super) fn take_values(&mut self) -> Option<HashMap<String, AttributeValue>> {
        let values = std::mem::take(&mut self.values);
        let placed = values
            .into_iter()
            .enumerate()
            .map(|(place, value)| (format!(":v{place}"), value));
        Some(placed.collect()).filter(|values: &HashMap<_, _>| !values.is_empty())
    }

    /// The condition expression; `None` if the condition always holds.
    pub(super) fn condition(&mut self, condition: &Condition) -> Option<String> {
        match constant(condition) {
            Some(true) => None,
            // DynamoDB has no word for "never". It must still be asked, for it returns the item.
            Some(false) => {
                let partition = self.name(PARTITION);
                Some(format!(
                    "attribute_exists({partition}) AND attribute_not_exists({partition})"
                ))
            }
            None => Some(self.term(condition)),
        }
    }

    /// The condition expression of an update: the condition, and that no sum leaves the range of `i64`, which
    /// DynamoDB's numbers do not have.
    pub(super) fn guarded(&mut self, condition: &Condition, changes: &[Change]) -> Option<String> {
        let guards = changes.iter().filter_map(|change| {
            let Change::Add(name, by) = change else {
                return None;
            };
            // Of an absent attribute neither comparison holds, so both guards do.
            let (beyond, bound) = match by.signum() {
                1 => ('>', i64::MAX - by),
                -1 => ('<', i64::MIN - by),
                _ => return None,
            };
            let name = self.name(name);
            let bound = self.value(AttributeValue::N(bound.to_string()));
            Some(format!("(NOT {name} {beyond} {bound})"))
        });
        let guards: Vec<String> = guards.collect();
        let terms: Vec<String> = self
            .condition(condition)
            .into_iter()
            .chain(guards)
            .collect();
        Some(terms.join(" AND ")).filter(|expression| !expression.is_empty())
    }

    /// The condition expression where the request must have one.
    pub(super) fn stated(&mut self, condition: &Condition) -> String {
        self.condition(condition)
            .unwrap_or_else(|| self.either_way())
    }

    /// The expression of a condition that is not [`constant`].
    fn term(&mut self, condition: &Condition) -> String {
        match condition {
            // Constants are folded by the callers; an item that exists or not is the same truth.
            Condition::Always => self.either_way(),
            Condition::Exists => format!("attribute_exists({})", self.name(PARTITION)),
            Condition::Absent => format!("attribute_not_exists({})", self.name(PARTITION)),
            Condition::Has(name) => format!("attribute_exists({})", self.name(name)),
            Condition::Lacks(name) => format!("attribute_not_exists({})", self.name(name)),
            Condition::Equals(name, value) if value.is_empty_set() => {
                format!("attribute_not_exists({})", self.name(name))
            }
            Condition::Equals(name, value) => {
                format!("{} = {}", self.name(name), self.value(attribute(value)))
            }
            Condition::Below(name, bound) => {
                format!(
                    "{} < {}",
                    self.name(name),
                    self.value(AttributeValue::N(bound.to_string()))
                )
            }
            Condition::Contains(name, text) => {
                let name = self.name(name);
                // `contains` alone would also find the text inside a longer plain text.
                let set = self.value(AttributeValue::S("SS".to_owned()));
                let text = self.value(AttributeValue::S(text.clone()));
                format!("(attribute_type({name}, {set}) AND contains({name}, {text}))")
            }
            Condition::All(conditions) => self.joined(conditions, " AND ", true),
            Condition::Any(conditions) => self.joined(conditions, " OR ", false),
            Condition::Not(condition) => format!("(NOT {})", self.term(condition)),
        }
    }

    /// The conditions joined, but for those that are always `neutral`.
    fn joined(&mut self, conditions: &[Condition], by: &str, neutral: bool) -> String {
        let mut terms: Vec<String> = conditions
            .iter()
            .filter(|condition| constant(condition) != Some(neutral))
            .map(|condition| self.term(condition))
            .collect();
        match terms.len() {
            // DynamoDB refuses an expression with redundant parentheses.
            1 => terms.remove(0),
            _ => format!("({})", terms.join(by)),
        }
    }

    fn either_way(&mut self) -> String {
        let partition = self.name(PARTITION);
        format!("(attribute_exists({partition}) OR attribute_not_exists({partition}))")
    }

    /// The update expression; `None` if there is nothing to change.
    pub(super) fn changes(&mut self, changes: &[Change]) -> Option<String> {
        let (mut set, mut remove, mut add) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Set(name, value) if value.is_empty_set() => remove.push(self.name(name)),
                Change::Set(name, value) => {
                    set.push(format!(
                        "{} = {}",
                        self.name(name),
                        self.value(attribute(value))
                    ));
                }
                Change::Remove(name) => remove.push(self.name(name)),
                Change::Add(name, by) => {
                    let by = AttributeValue::N(by.to_string());
                    add.push(format!("{} {}", self.name(name), self.value(by)));
                }
            }
        }
        let clauses: Vec<String> = [("SET", set), ("REMOVE", remove), ("ADD", add)]
            .into_iter()
            .filter(|(_, changes)| !changes.is_empty())
            .map(|(verb, changes)| format!("{verb} {}", changes.join(", ")))
            .collect();
        Some(clauses.join(" ")).filter(|expression| !expression.is_empty())
    }

    /// An update expression without effect, where a request must have one.
    pub(super) fn no_changes(&mut self) -> String {
        // The sort key's name doubled is no attribute of anybody.
        format!("REMOVE {}", self.name(&SORT.repeat(2)))
    }
}

/// Whether the condition holds, if that does not depend on the item. DynamoDB has no literal truths.
fn constant(condition: &Condition) -> Option<bool> {
    match condition {
        Condition::Always => Some(true),
        Condition::Exists
        | Condition::Absent
        | Condition::Has(_)
        | Condition::Lacks(_)
        | Condition::Equals(..)
        | Condition::Below(..)
        | Condition::Contains(..) => None,
        Condition::All(conditions) => {
            let mut truths = conditions.iter().map(constant);
            if truths.clone().any(|truth| truth == Some(false)) {
                return Some(false);
            }
            truths.all(|truth| truth == Some(true)).then_some(true)
        }
        Condition::Any(conditions) => {
            let mut truths = conditions.iter().map(constant);
            if truths.clone().any(|truth| truth == Some(true)) {
                return Some(true);
            }
            truths.all(|truth| truth == Some(false)).then_some(false)
        }
        Condition::Not(condition) => constant(condition).map(|truth| !truth),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use dormouse_store::table::Value;

    use super::*;

    fn text(condition: &Condition) -> Option<String> {
        Placeholders::default().condition(condition)
    }

    fn has(name: &str) -> Condition {
        Condition::Has(name.to_owned())
    }

    #[test]
    fn a_condition_that_always_holds_is_not_sent() {
        let always = Condition::All(vec![Condition::Always, Condition::All(vec![])]);
        assert_eq!(text(&always), None);
        assert_eq!(
            text(&Condition::Not(Box::new(Condition::Any(vec![])))),
            None
        );
    }

    #[test]
    fn a_condition_that_never_holds_is_sent_as_one() {
        let never = "attribute_exists(#n0) AND attribute_not_exists(#n0)";
        assert_eq!(text(&Condition::Any(vec![])).as_deref(), Some(never));
        let hopeless = Condition::All(vec![has("a"), Condition::Not(Box::new(Condition::Always))]);
        let mut placeholders = Placeholders::default();
        assert_eq!(placeholders.condition(&hopeless).as_deref(), Some(never));
        let names = placeholders.take_names().unwrap();
        assert_eq!(
            names.len(),
            1,
            "an unused name makes DynamoDB refuse the request: {names:?}"
        );
    }

    #[test]
    fn constants_inside_a_condition_disappear() {
        let condition = Condition::All(vec![
            Condition::Always,
            has("a"),
            Condition::Any(vec![Condition::Any(vec![]), has("b"), has("a")]),
        ]);
        assert_eq!(
            text(&condition).as_deref(),
            Some("(attribute_exists(#n0) AND (attribute_exists(#n1) OR attribute_exists(#n0)))")
        );
    }

    #[test]
    fn parentheses_are_never_redundant() {
        let nested = Condition::All(vec![Condition::Any(vec![
            Condition::Always,
            Condition::All(vec![has("a"), has("b")]),
        ])]);
        assert_eq!(text(&nested), None);
        let nested = Condition::All(vec![Condition::Any(vec![Condition::All(vec![
            has("a"),
            Condition::Contains("b".to_owned(), "c".to_owned()),
        ])])]);
        assert_eq!(
            text(&nested).as_deref(),
            Some("(attribute_exists(#n0) AND (attribute_type(#n1, :v0) AND contains(#n1, :v1)))")
        );
    }

    #[test]
    fn an_empty_set_is_the_same_as_no_attribute() {
        let nothing = Value::Ss(BTreeSet::new());
        let equals = Condition::Equals("a".to_owned(), nothing.clone());
        assert_eq!(text(&equals).as_deref(), Some("attribute_not_exists(#n0)"));
        let changes = [Change::Set("a".to_owned(), nothing)];
        assert_eq!(
            Placeholders::default().changes(&changes).as_deref(),
            Some("REMOVE #n0")
        );
    }

    #[test]
    fn a_sum_is_guarded_against_leaving_its_range() {
        let changes = [
            Change::Add("up".to_owned(), 1),
            Change::Add("down".to_owned(), -1),
            Change::Add("still".to_owned(), 0),
        ];
        let mut placeholders = Placeholders::default();
        assert_eq!(
            placeholders.guarded(&has("a"), &changes).as_deref(),
            Some("attribute_exists(#n2) AND (NOT #n0 > :v0) AND (NOT #n1 < :v1)")
        );
        let values = placeholders.take_values().unwrap();
        assert_eq!(values[":v0"], AttributeValue::N((i64::MAX - 1).to_string()));
        assert_eq!(values[":v1"], AttributeValue::N((i64::MIN + 1).to_string()));
    }

    #[test]
    fn changes_are_grouped_by_their_verb() {
        let changes = [
            Change::Add("fence".to_owned(), 1),
            Change::Set("a".to_owned(), Value::N(1)),
            Change::Remove("b".to_owned()),
            Change::Set("c".to_owned(), Value::S("x".to_owned())),
        ];
        let mut placeholders = Placeholders::default();
        assert_eq!(
            placeholders.changes(&changes).as_deref(),
            Some("SET #n1 = :v1, #n3 = :v2 REMOVE #n2 ADD #n0 :v0")
        );
        assert_eq!(placeholders.take_names().unwrap()["#n0"], "fence");
        assert_eq!(
            placeholders.take_values().unwrap()[":v0"],
            AttributeValue::N("1".to_owned())
        );
    }
}
