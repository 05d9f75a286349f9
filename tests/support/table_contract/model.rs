//! The promise that sums up the others: random calls get the answers that the table in memory gives.

#![expect(missing_docs, reason = "the name of a promise is its sentence")]

use std::sync::Arc;

use anyhow::{Result, ensure};
use dormouse_store::MemoryTable;
use dormouse_store::table::{
    Attributes, Change, Condition, Durability, Item, Key, Query, Value, Write, Written,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

use super::scope::Scope;

/// How many sequences of calls are tried.
const CASES: u32 = 48;

/// One call, about a small world of keys and names so that calls meet.
#[derive(Debug, Clone)]
enum Call {
    Get(Place),
    Update(Place, Vec<Change>, Condition, bool),
    Write(Vec<PlacedWrite>),
    Query {
        from: String,
        until: String,
        descending: bool,
        limit: u32,
    },
}

/// The sort key within the case's partition.
type Place = String;

#[derive(Debug, Clone)]
enum PlacedWrite {
    Put(Place, Attributes, Condition),
    Update(Place, Vec<Change>, Condition),
    Delete(Place, Condition),
    Check(Place, Condition),
}

impl PlacedWrite {
    fn at(&self, key: impl Fn(&str) -> Key) -> Write {
        match self.clone() {
            Self::Put(place, attributes, condition) => Write::Put(
                Item {
                    key: key(&place),
                    attributes,
                },
                condition,
            ),
            Self::Update(place, changes, condition) => {
                Write::Update(key(&place), changes, condition)
            }
            Self::Delete(place, condition) => Write::Delete(key(&place), condition),
            Self::Check(place, condition) => Write::Check(key(&place), condition),
        }
    }
}

fn place() -> impl Strategy<Value = Place> {
    prop::sample::select(vec!["a", "a#1", "b", "é", "🐭"]).prop_map(str::to_owned)
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["v", "w", "x"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        prop::sample::select(vec!["", "a", "b", "žluť"]).prop_map(|text| Value::S(text.to_owned())),
        (-3..3_i64).prop_map(Value::N),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| Value::B(bytes.into())),
        prop::collection::btree_set("[ab]", 0..3).prop_map(Value::Ss),
    ]
}

fn condition() -> impl Strategy<Value = Condition> {
    let leaf = prop_oneof![
        4 => Just(Condition::Always),
        2 => Just(Condition::Exists),
        1 => Just(Condition::Absent),
        1 => name().prop_map(Condition::Has),
        1 => name().prop_map(Condition::Lacks),
        2 => (name(), value()).prop_map(|(name, value)| Condition::Equals(name, value)),
        1 => (name(), -3..3_i64).prop_map(|(name, bound)| Condition::Below(name, bound)),
        1 => (name(), "[ab]").prop_map(|(name, text)| Condition::Contains(name, text)),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Condition::All),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Condition::Any),
            inner.prop_map(|condition| Condition::Not(Box::new(condition))),
        ]
    })
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let change = prop_oneof![
        3 => (name(), value()).prop_map(|(name, value)| Change::Set(name, value)),
        1 => name().prop_map(Change::Remove),
        2 => (name(), -3..3_i64).prop_map(|(name, amount)| Change::Add(name, amount)),
    ];
    prop::collection::vec(change, 0..3).prop_map(|mut changes| {
        // The port leaves open whether a bare removal creates an item, so something is always set.
        changes.push(Change::Set("touched".to_owned(), Value::N(1)));
        changes
    })
}

fn write() -> impl Strategy<Value = PlacedWrite> {
    let attributes = prop::collection::btree_map(name(), value(), 0..3);
    prop_oneof![
        3 => (place(), attributes, condition()).prop_map(|(p, a, c)| PlacedWrite::Put(p, a, c)),
        3 => (place(), changes(), condition()).prop_map(|(p, a, c)| PlacedWrite::Update(p, a, c)),
        1 => (place(), condition()).prop_map(|(p, c)| PlacedWrite::Delete(p, c)),
        1 => (place(), condition()).prop_map(|(p, c)| PlacedWrite::Check(p, c)),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let bound = || prop_oneof![Just(String::new()), place()];
    prop_oneof![
        2 => place().prop_map(Call::Get),
        5 => (place(), changes(), condition(), any::<bool>())
            .prop_map(|(place, changes, condition, ordered)| {
                Call::Update(place, changes, condition, ordered)
            }),
        5 => prop::collection::vec(write(), 1..4).prop_map(Call::Write),
        2 => (bound(), bound(), any::<bool>(), 1..4_u32).prop_map(
            |(from, until, descending, limit)| Call::Query { from, until, descending, limit }
        ),
    ]
}

pub async fn random_calls_agree_with_the_table_in_memory(at: Scope) -> Result<()> {
    let runtime = tokio::runtime::Handle::current();
    tokio::task::block_in_place(|| {
        let number = std::cell::Cell::new(0);
        let config = Config {
            cases: CASES,
            failure_persistence: None,
            ..Config::default()
        };
        let result = TestRunner::new(config).run(&prop::collection::vec(call(), 1..40), |calls| {
            number.set(number.get() + 1);
            let real = at.part(&number.get().to_string());
            runtime
                .block_on(agree(&real, &calls))
                .map_err(|error| TestCaseError::fail(format!("{error:#}")))
        });
        result.map_err(|error| anyhow::anyhow!("{error}"))
    })
}

/// Makes the calls of both tables; every answer must be the same.
async fn agree(real: &Scope, calls: &[Call]) -> Result<()> {
    // Both speak of the same keys, so that answers can be compared as they are.
    let model = Scope::new(Arc::new(MemoryTable::new()), real.name());
    for call in calls {
        match call {
            Call::Get(place) => {
                let key = real.key("p", place);
                let (is, should) = (real.get(&key).await?, model.get(&key).await?);
                ensure!(is == should, "{call:?}: {is:?} instead of {should:?}");
            }
            Call::Update(place, changes, condition, ordered) => {
                let durability = if *ordered {
                    Durability::Ordered
                } else {
                    Durability::Durable
                };
                let key = real.key("p", place);
                let update = |at: &Scope| {
                    let (table, key) = (Arc::clone(&at.table), key.clone());
                    async move { table.update(&key, changes, condition, durability).await }
                };
                let (is, should) = (told(update(real).await), told(update(&model).await));
                ensure!(is == should, "{call:?}: {is:?} instead of {should:?}");
            }
            Call::Write(writes) => {
                let writes: Vec<Write> = writes
                    .iter()
                    .map(|write| write.at(|place| real.key("p", place)))
                    .collect();
                let is = told(real.table.write(&writes).await);
                let should = told(model.table.write(&writes).await);
                ensure!(
                    same_refusals(&is, &should),
                    "{call:?}: {is:?} instead of {should:?}"
                );
            }
            Call::Query {
                from,
                until,
                descending,
                limit,
            } => {
                let query = Query {
                    from: from.clone(),
                    until: until.clone(),
                    descending: *descending,
                    limit: *limit,
                    ..Query::prefix(real.partition("p"), "")
                };
                let (is, should) = (real.all(&query).await?, model.all(&query).await?);
                ensure!(is == should, "{call:?}: {is:?} instead of {should:?}");
            }
        }
    }
    let (is, should) = (real.all_of("p").await?, model.all_of("p").await?);
    ensure!(is == should, "at the end: {is:?} instead of {should:?}");
    Ok(())
}

/// An answer with its error by kind, for the words of errors differ.
fn told<T>(answer: Result<T, dormouse_store::table::TableError>) -> Result<T, &'static str> {
    use dormouse_store::table::TableError;
    answer.map_err(|error| match error {
        TableError::Busy => "busy",
        TableError::Unknown(_) => "unknown",
        TableError::TooLarge { .. } => "too large",
        TableError::Full(_) => "full",
        TableError::BadCursor => "bad cursor",
        TableError::Invalid(_) => "invalid",
        TableError::InUse(_) => "in use",
        TableError::Unusable(..) => "unusable",
    })
}

/// Equal, but a table may leave some of several refusals unnamed.
fn same_refusals(
    is: &Result<Written, &'static str>,
    should: &Result<Written, &'static str>,
) -> bool {
    match (is, should) {
        (Ok(Written::Refused(is)), Ok(Written::Refused(should))) => {
            is.len() == should.len()
                && is.iter().any(Option::is_some)
                && is
                    .iter()
                    .zip(should)
                    .all(|(is, should)| is.is_none() || is == should)
        }
        (is, should) => is == should,
    }
}
