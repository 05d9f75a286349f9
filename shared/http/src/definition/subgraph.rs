//! Part of a definition: an activity with all below it, the workflow that it stands for included.

use axum::routing::get;
use axum::{Json, Router};
use dormouse_engine::graph::Place;
use dormouse_runtime::{DefinitionHandle, DefinitionView};
use serde_json::{Value, json};

use super::{canvas, model};
use crate::app::App;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(super) fn routes() -> Router<App> {
    Router::new()
        .route("/workflow-definitions/subgraph/{id}", get(subgraph))
        .route(
            "/workflow-definitions/subgraph/segments/{id}",
            get(segments),
        )
}

/// A version with the places of its activities.
struct Layout {
    root: Value,
    places: Vec<Place>,
}

impl Layout {
    async fn find(app: &App, version_id: String) -> Result<Self, Refusal> {
        let handle = DefinitionHandle::version(&version_id);
        let view: Option<DefinitionView> = app
            .runtime()
            .query()
            .definition(app.tenant(), &handle)
            .await?;
        let view = view.ok_or(Refusal::NoSuchDefinition { id: version_id })?;
        let places = app
            .runtime()
            .graphs()
            .places(app.tenant(), &view.definition)
            .await?;
        let mut model = model::definition(app, &view).await?;
        let root = model.get_mut("root").map(Value::take);
        Ok(Self {
            root: root.unwrap_or_default(),
            places,
        })
    }

    fn place(&self, node_id: &str) -> Result<&Place, Refusal> {
        let found = self.places.iter().find(|place| place.node_id == node_id);
        let id = node_id.to_owned();
        Ok(found.ok_or(Operating::NoSuchActivity { id })?)
    }

    /// The activity that another one stands in, inside the same workflow; else the one that stands for the workflow.
    fn parent(&self, place: &Place) -> Option<&Place> {
        let inside = self.places.iter().filter(|other| other.host == place.host);
        let nearest = inside
            .filter(|other| is_below(&place.node_id, &other.node_id))
            .max_by_key(|other| other.node_id.len());
        let host = place.host.as_ref().map(|(host, _)| host);
        nearest.or_else(|| {
            self.places
                .iter()
                .find(|other| Some(&other.node_id) == host)
        })
    }

    /// The JSON of an activity, with the workflow that it stands for as its `root`.
    async fn activity(&self, app: &App, place: &Place) -> Result<Value, Refusal> {
        let mut root = match &place.host {
            None => self.root.clone(),
            Some((host, _)) => self.workflow_of(app, self.place(host)?).await?,
        };
        let mut activity = canvas::at(&mut root, &place.path)
            .map(Value::take)
            .unwrap_or_default();
        if let (Some(_), Value::Object(map)) = (&place.workflow, &mut activity) {
            let (id, node_id) = self.workflow_id(place);
            let workflow = json!({
                "id": id,
                "nodeId": node_id,
                "type": "Elsa.Workflow",
                "version": 1,
                "root": self.workflow_of(app, place).await?,
            });
            map.insert("root".into(), workflow);
        }
        Ok(activity)
    }

    /// The root activity of the workflow that an activity stands for, ready to be drawn.
    async fn workflow_of(&self, app: &App, place: &Place) -> Result<Value, Refusal> {
        let mut root = place.workflow.clone().unwrap_or_default();
        let is_inside = |other: &&Place| {
            let host = other.host.as_ref();
            host.is_some_and(|(host, _)| *host == place.node_id)
        };
        let inside: Vec<&Place> = self.places.iter().filter(is_inside).collect();
        canvas::complete_root(app, &inside, &mut root).await?;
        Ok(root)
    }

    fn workflow_id(&self, place: &Place) -> (String, String) {
        let mut hosts = self.places.iter().filter_map(|other| other.host.as_ref());
        let found = hosts.find(|(host, _)| *host == place.node_id);
        let node_id = found.map_or_else(String::new, |(_, workflow)| workflow.clone());
        let id = node_id.rsplit(':').next().unwrap_or_default().to_owned();
        (id, node_id)
    }

    async fn node(&self, app: &App, place: &Place) -> Result<Value, Refusal> {
        Ok(json!({
            "nodeId": place.node_id,
            "port": port(place),
            "activity": self.activity(app, place).await?,
        }))
    }
}

/// Whether a node id is one below another.
fn is_below(node_id: &str, above: &str) -> bool {
    node_id
        .strip_prefix(above)
        .is_some_and(|rest| rest.starts_with(':'))
}

/// The property that an activity stands in, as Elsa names ports: `Body`, `Then`, `Activities`, `Root`.
fn port(place: &Place) -> String {
    let last = place.path.rsplit('.').next().unwrap_or_default();
    let name = last.split('[').next().unwrap_or_default();
    let mut chars = name.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// `GET /workflow-definitions/subgraph/{id}`: the activity that `parentNodeId` names; the root without it.
async fn subgraph(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Value>, Refusal> {
    let layout = Layout::find(&app, id).await?;
    let wanted = query.text("parentnodeid");
    let place = match (wanted, layout.places.first()) {
        (Some(node_id), _) => layout.place(node_id)?,
        (None, Some(root)) => root,
        (None, None) => return Ok(Json(Value::Null)),
    };
    Ok(Json(layout.node(&app, place).await?))
}

/// `GET /workflow-definitions/subgraph/segments/{id}`: the way from the root to the activity that `childNodeId` names,
/// by the activities on it that are no canvases. The last of them is the container.
async fn segments(
    Scoped(app): Scoped,
    Path(id): Path<String>,
    query: Query,
) -> Result<Json<Value>, Refusal> {
    let layout = Layout::find(&app, id).await?;
    let child = layout.place(query.text("childnodeid").unwrap_or_default())?;
    let mut segments = Vec::new();
    let (mut container, mut at) = (None, child);
    while let Some(parent) = layout.parent(at) {
        if parent.type_name != "Elsa.Flowchart" {
            container = container.or(Some(parent));
            segments.push(segment(&layout, parent, at)?);
        }
        at = parent;
    }
    segments.reverse();
    let container = container.unwrap_or(at);
    Ok(Json(json!({
        "childNode": layout.node(&app, child).await?,
        "container": layout.node(&app, container).await?,
        "pathSegments": segments,
    })))
}

fn segment(layout: &Layout, owner: &Place, inner: &Place) -> Result<Value, Refusal> {
    let mut root = match &owner.host {
        None => layout.root.clone(),
        Some((host, _)) => layout.place(host)?.workflow.clone().unwrap_or_default(),
    };
    let name = canvas::at(&mut root, &owner.path).and_then(|json| json.get("name").cloned());
    let name = name
        .filter(|name| !name.is_null())
        .unwrap_or_else(|| json!(owner.type_name));
    Ok(json!({
        "activityNodeId": owner.node_id,
        "activityId": owner.id,
        "activityType": owner.type_name,
        "portName": port(inner),
        "activityName": name,
    }))
}
