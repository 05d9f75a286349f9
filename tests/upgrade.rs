//! What an older build left is read and carried on by this one; what a newer one added does no harm; what this build
//! cannot know it names.
//!
//! `golden/stored/1.json` is a world with every kind of item, as the first format has it. Golden worlds stay for
//! ever. When a stored format changes, a test here says so, and `DORMOUSE_BLESS=1` adds the next one beside them.
#![allow(
    clippy::wildcard_enum_match_arm,
    clippy::type_complexity,
    clippy::too_many_lines,
    clippy::large_futures,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails with a sentence"
)]
#![allow(
    dead_code,
    reason = "the still world is made for the exhaustive tier, which uses all of it"
)]

#[path = "upgrade/carry.rs"]
mod carry;
#[path = "upgrade/golden_world.rs"]
mod golden_world;
#[path = "exhaustive/law.rs"]
mod law;
#[path = "exhaustive/node.rs"]
mod node;
#[path = "exhaustive/plant.rs"]
mod plant;
#[path = "exhaustive/play.rs"]
mod play;
#[path = "upgrade/populate.rs"]
mod populate;
#[path = "upgrade/shape.rs"]
mod shape;
#[path = "upgrade/touch.rs"]
mod touch;
#[path = "exhaustive/world.rs"]
mod world;

use bytes::Bytes;
use dormouse_store::table::{Item, Value};
use serde_json::{Value as Json, json};

/// The newest golden world.
fn newest() -> Vec<Item> {
    golden_world::all()
        .pop()
        .expect("there is a golden world")
        .1
}

#[test]
fn the_stored_format_is_that_of_the_newest_golden_world() {
    let now = populate::world();
    let (number, golden) = golden_world::all().pop().unwrap_or_default();
    let (before, after) = (shape::shape(&golden), shape::shape(&now));
    if before == after {
        return;
    }
    if std::env::var_os("DORMOUSE_BLESS").is_some() {
        golden_world::add(number + 1, &now);
        return;
    }
    for (kind, fields) in &after {
        let old = before.get(kind).cloned().unwrap_or_default();
        let new: Vec<_> = fields.difference(&old).collect();
        let gone: Vec<_> = old.difference(fields).collect();
        if !new.is_empty() || !gone.is_empty() {
            eprintln!("{kind}: new {new:?}, gone {gone:?}");
        }
    }
    panic!(
        "what is stored is not what golden/stored/{number}.json has. Old data must stay readable: keep that file, see that the \
         other tests here pass, and add the new format beside it with DORMOUSE_BLESS=1"
    );
}

#[test]
fn the_golden_world_has_every_kind_of_item() {
    let kinds: Vec<String> = shape::shape(&newest()).into_keys().collect();
    let expected = [
        "CHAIN …",
        "DEAD …",
        "DEF HEAD",
        "DEF ROWS",
        "DEF USES",
        "DEF V",
        "OUTBOX …",
        "QUEUE …",
        "ROUTES …",
        "SECRETS …",
        "STIM B",
        "STIM T",
        "TAKEN …",
        "TIMER …",
        "TYPE D",
        "UNIQ HEAD",
        "VID HEAD",
        "WF HEAD",
        "WF L",
        "WF SEEN",
        "WF STATE",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn every_golden_world_is_carried_to_its_end() {
    for (number, items) in golden_world::all() {
        eprintln!("golden world {number}: {} items", items.len());
        carry::carry(&items);
    }
}

/// A body with a field that this build does not know.
fn with_more(bytes: &Bytes) -> Bytes {
    for skip in [1, 2] {
        let (Some(format), Some(rest)) = (bytes.get(..skip), bytes.get(skip..)) else {
            continue;
        };
        let Ok(Json::Object(mut all)) = rmp_serde::from_slice::<Json>(rest) else {
            continue;
        };
        all.insert("zz".into(), json!("of a newer build"));
        let mut more = format.to_vec();
        more.extend(rmp_serde::to_vec_named(&all).unwrap());
        return more.into();
    }
    bytes.clone()
}

#[test]
fn what_a_newer_build_adds_does_no_harm() {
    let mut items = newest();
    let mut changed = 0;
    for item in &mut items {
        item.attributes
            .insert("zz".into(), Value::S("of a newer build".into()));
        for value in item.attributes.values_mut() {
            if let Value::B(bytes) = value {
                let more = with_more(bytes);
                changed += usize::from(more != *bytes);
                *bytes = more;
            }
        }
    }
    assert!(changed > 30, "{changed} bodies were changed");
    carry::carry(&items);
}

#[test]
fn a_format_of_a_newer_build_is_named_and_left_alone() {
    let items = newest();
    assert_eq!(touch::touch(&items), Vec::<String>::new());
    let mut named = 0;
    for (at, item) in items.iter().enumerate() {
        for (name, value) in &item.attributes {
            let Value::B(bytes) = value else { continue };
            // JSON has no format number.
            if serde_json::from_slice::<Json>(bytes).is_ok() {
                continue;
            }
            let mut newer = bytes.to_vec();
            newer[0] = 77;
            let mut items = items.clone();
            items[at]
                .attributes
                .insert(name.clone(), Value::B(newer.into()));
            let said = touch::touch(&items);
            let is_named = said.iter().any(|text| text.contains("format 77"));
            assert!(
                is_named || said.is_empty(),
                "{:?} {name}: {said:?}",
                item.key
            );
            named += usize::from(is_named);
        }
    }
    assert!(named > 30, "{named} bodies were asked for");
}
