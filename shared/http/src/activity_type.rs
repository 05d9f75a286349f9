//! Activity types that are data.

use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json as Answer, Router};
use dormouse_runtime::{TypeDeleted, TypePublished, TypeView};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::Json;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;

/// The routes, relative to the API's prefix.
pub(crate) fn routes() -> Router<App> {
    Router::new().route("/activity-types", get(list)).route(
        "/activity-types/{type}",
        get(read).put(publish).delete(remove),
    )
}

/// `GET /activity-types`
async fn list(Scoped(app): Scoped) -> Result<Answer<Value>, Refusal> {
    let found = app
        .runtime()
        .definitions()
        .types()
        .list(app.tenant())
        .await?;
    let items: Vec<Value> = found.into_iter().map(model).collect();
    let count = items.len();
    Ok(Answer(json!({ "items": items, "count": count })))
}

/// `GET /activity-types/{type}`, in the version that the query names or in the latest one.
async fn read(
    Scoped(app): Scoped,
    Path(name): Path<String>,
    query: Query,
) -> Result<Answer<Value>, Refusal> {
    let version = query.read::<u32>("version")?;
    let types = app.runtime().definitions().types();
    match types.get(app.tenant(), &name, version).await? {
        Some(view) => Ok(Answer(model(view))),
        None => {
            let is_there =
                version.is_some() && types.get(app.tenant(), &name, None).await?.is_some();
            let version = version.filter(|_| is_there);
            Err(Operating::NoSuchOwnType { name, version }.into())
        }
    }
}

/// `PUT /activity-types/{type}`: 201 for a new version, 200 where the latest one is the same.
async fn publish(
    Scoped(app): Scoped,
    Path(name): Path<String>,
    Json(mut json): Json<Map<String, Value>>,
) -> Result<(StatusCode, Answer<Value>), Refusal> {
    // What was read may be sent back.
    for told in ["version", "publishedAt"] {
        json.remove(told);
    }
    let given = json.entry("type").or_insert_with(|| json!(name));
    if given.as_str() != Some(name.as_str()) {
        let reason = format!("the path names the type `{name}`, and the body another one");
        return Err(Refusal::WrongShape { reason });
    }
    let json = Value::Object(json);
    let published = app
        .runtime()
        .definitions()
        .types()
        .publish(app.tenant(), &json);
    match published.await? {
        TypePublished::Done { view, is_new } => {
            let status = match is_new {
                true => StatusCode::CREATED,
                false => StatusCode::OK,
            };
            Ok((status, Answer(model(view))))
        }
        TypePublished::Invalid(flaws) => Err(Operating::InvalidActivityType(flaws).into()),
        TypePublished::NameTaken { definition_id } => Err(Operating::ActivityTypeTaken {
            name,
            definition_id,
        }
        .into()),
        TypePublished::TooMany { what, limit } => Err(Operating::TooMany { what, limit }.into()),
    }
}

/// `DELETE /activity-types/{type}`
async fn remove(Scoped(app): Scoped, Path(name): Path<String>) -> Result<StatusCode, Refusal> {
    match app
        .runtime()
        .definitions()
        .types()
        .delete(app.tenant(), &name)
        .await?
    {
        TypeDeleted::Done => Ok(StatusCode::NO_CONTENT),
        TypeDeleted::NotFound => Err(Operating::NoSuchOwnType {
            name,
            version: None,
        }
        .into()),
    }
}

fn model(view: TypeView) -> Value {
    let mut json = view.json;
    if let Value::Object(members) = &mut json {
        members.insert("version".into(), view.version.into());
        members.insert("publishedAt".into(), view.published_at.to_string().into());
    }
    json
}
