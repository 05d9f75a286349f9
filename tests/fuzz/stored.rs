//! Stored items of every kind, damaged: a node that finds them says so, and goes on.

use dormouse_store::table::{Item, Value};

use super::drive::{drive, shown};
use super::golden_world;
use super::mutant::{Chance, mutant};
use super::touch::touch;

/// One attribute of one item, and what it is instead.
type Damage = (usize, String, Option<Value>);

fn damage(chance: &mut Chance, items: &[Item], bodies: &[Vec<u8>]) -> Damage {
    let at = chance.below(items.len());
    let names: Vec<&String> = items[at].attributes.keys().collect();
    let Some(name) = names.get(chance.below(names.len())) else {
        return (at, "bo".into(), Some(Value::N(0)));
    };
    let value = match &items[at].attributes[*name] {
        _ if chance.one_in(20) => None,
        _ if chance.one_in(20) => Some(Value::N(chance.bits().cast_signed())),
        _ if chance.one_in(20) => Some(Value::S("x".into())),
        Value::B(bytes) => {
            let corpus = if chance.one_in(4) {
                bodies
            } else {
                &[bytes.to_vec()]
            };
            Some(Value::B(mutant(chance, corpus).into()))
        }
        Value::N(number) => Some(Value::N(
            number.wrapping_add((chance.bits() % 5).cast_signed() - 2),
        )),
        Value::S(text) => Some(Value::S(format!("{text}{}", chance.below(9)))),
        Value::Ss(set) => Some(Value::Ss(
            set.iter().map(|text| format!("{text}x")).collect(),
        )),
    };
    (at, (*name).clone(), value)
}

#[test]
fn stored_items() {
    let (_, items) = golden_world::all().pop().expect("there is a golden world");
    let bodies = items.iter().flat_map(|item| item.attributes.values());
    let bodies: Vec<Vec<u8>> = bodies
        .filter_map(|value| match value {
            Value::B(bytes) => Some(bytes.to_vec()),
            Value::S(_) | Value::N(_) | Value::Ss(_) => None,
        })
        .collect();
    let show = |(at, name, value): &Damage| match value {
        Some(Value::B(bytes)) => format!("{:?} {name} = {}", items[*at].key, shown(bytes)),
        other => format!("{:?} {name} = {other:?}", items[*at].key),
    };
    // Each attribute is once not there at all.
    let mut first: Vec<Damage> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        first.extend(item.attributes.keys().map(|name| (at, name.clone(), None)));
    }
    drive(
        "stored",
        first,
        |chance| damage(chance, &items, &bodies),
        show,
        |(at, name, value)| {
            let mut items = items.clone();
            match value {
                Some(value) => drop(items[*at].attributes.insert(name.clone(), value.clone())),
                None => drop(items[*at].attributes.remove(name)),
            }
            touch(&items);
        },
    );
}
