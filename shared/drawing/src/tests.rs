//! Pictures of definitions.

use serde_json::json;

use super::*;

fn at(x: f64, y: f64) -> Value {
    json!({ "designer": { "position": { "x": x, "y": y } } })
}

fn picture(root: &Value) -> Picture {
    Picture::of(root, &BTreeMap::new())
}

#[test]
fn every_activity_in_a_container_is_drawn_with_its_label() {
    let root = json!({ "type": "Elsa.Sequence", "id": "s", "activities": [
        { "type": "Elsa.Fork", "id": "fork", "branches": [
            { "type": "Elsa.WriteLine", "id": "left" }, { "type": "Elsa.WriteLine", "id": "right" } ] },
        { "type": "Elsa.Switch", "id": "switch", "cases": [
            { "label": "big", "activity": { "type": "Elsa.WriteLine", "id": "big-one" } } ],
            "default": { "type": "Elsa.WriteLine", "id": "other" } },
    ] });
    let picture = picture(&root);
    let name = |index: usize| picture.nodes[index].id.as_str();
    let arrows: Vec<_> = picture
        .arrows
        .iter()
        .map(|a| (name(a.from), name(a.to), a.label.as_str()))
        .collect();
    for arrow in [
        ("fork", "left", "branches"),
        ("fork", "right", "branches"),
        ("switch", "big-one", "big"),
        ("switch", "other", "default"),
        ("fork", "switch", ""),
    ] {
        assert!(arrows.contains(&arrow), "{arrow:?} is not among {arrows:?}");
    }
    assert_eq!(arrows.len(), 5);
}

#[test]
fn the_designers_places_hold_and_what_is_inside_is_drawn_below() {
    let root = json!({ "type": "Elsa.Flowchart", "id": "f", "activities": [
        { "type": "Elsa.WriteLine", "id": "a", "metadata": at(100.0, -40.0) },
        { "type": "Elsa.ForEach", "id": "b", "metadata": at(400.0, 60.0), "body": { "type": "Elsa.Sequence", "id": "s",
            "activities": [{ "type": "Elsa.WriteLine", "id": "c", "metadata": at(0.0, 0.0) }] } },
    ], "connections": [] });
    let layout = Layout::of(&picture(&root));
    assert_eq!(layout.places[0], (20.0, 20.0));
    assert_eq!(layout.places[1], (320.0, 120.0));
    assert!(
        layout.places[2..]
            .iter()
            .all(|place| place.1 > 120.0 + HEIGHT),
        "{layout:?}"
    );
    assert!(
        layout
            .places
            .iter()
            .all(|(x, y)| x + WIDTH <= layout.size.0 && y + HEIGHT <= layout.size.1)
    );
}

#[test]
fn without_places_boxes_stand_in_columns_and_none_covers_another() {
    let root = json!({ "type": "Elsa.Flowchart", "id": "f", "activities": [
        { "type": "A", "id": "a" }, { "type": "A", "id": "b" }, { "type": "A", "id": "c" }, { "type": "A", "id": "d" },
    ], "connections": [
        { "source": { "activity": "a" }, "target": { "activity": "b" } },
        { "source": { "activity": "a" }, "target": { "activity": "c" } },
        { "source": { "activity": "c" }, "target": { "activity": "d" } },
        { "source": { "activity": "d" }, "target": { "activity": "a" } },
    ] });
    let places = Layout::of(&picture(&root)).places;
    assert!(places[0].0 < places[1].0 && places[1].0 == places[2].0 && places[2].0 < places[3].0);
    for (index, one) in places.iter().enumerate() {
        for other in &places[index + 1..] {
            assert!((one.0 - other.0).abs() >= WIDTH || (one.1 - other.1).abs() >= HEIGHT);
        }
    }
}

#[test]
fn a_definition_without_activities_is_an_empty_picture() {
    let layout = Layout::of(&picture(
        &json!({ "type": "Elsa.Sequence", "id": "s", "activities": [] }),
    ));
    assert!(layout.places.is_empty());
    assert!(layout.size.0.is_finite() && layout.size.1.is_finite());
}
