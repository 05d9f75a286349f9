//! A definition as a picture: its activities with their places, and their connections.

use std::collections::BTreeMap;

use axum::Json;
use dormouse_drawing::{HEIGHT, Layout, Picture, WIDTH};
use serde_json::{Value, json};

use crate::path::Path;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /workflow-definitions/graph/{id}`, by the id of a version. Not in Elsa, whose designer lays graphs out itself.
pub(super) async fn graph(
    Scoped(app): Scoped,
    Path(id): Path<String>,
) -> Result<Json<Value>, Refusal> {
    let view = super::read::version(&app, id).await?;
    let model = super::model::definition(&app, &view).await?;
    let root = model.get("root").unwrap_or(&Value::Null);
    Ok(Json(drawn(root)))
}

fn drawn(root: &Value) -> Value {
    let picture = Picture::of(root, &BTreeMap::new());
    let layout = Layout::of(&picture);
    let nodes = picture.nodes.iter().zip(&layout.places);
    let nodes = nodes.map(|(node, (x, y))| {
        let (id, name, kind) = (&node.id, &node.name, &node.kind);
        json!({ "id": id, "name": name, "type": kind, "x": x, "y": y })
    });
    json!({
        "nodes": nodes.collect::<Vec<_>>(),
        "arrows": picture.arrows,
        "nodeWidth": WIDTH,
        "nodeHeight": HEIGHT,
        "width": layout.size.0,
        "height": layout.size.1,
    })
}
