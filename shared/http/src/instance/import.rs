//! Importing instances: what an export wrote comes back under its id.
//!
//! An export is for people and programs to read, and has a part of its own, `Dormouse`, that is for coming back: the
//! state as it is stored. Digests of all parts are in it, so that what was changed on the way is refused and not
//! silently left out. Elsa's own exports have no such part, and what Elsa keeps of a waiting activity is not what an
//! activity here continues with; so they are refused, ended instances too.

use std::collections::{BTreeMap, BTreeSet};

use axum::Json as Answer;
use axum::body::Bytes;
use axum::http::{HeaderMap, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dormouse_engine::http::multipart;
use dormouse_runtime::{ImportOutcome, InstanceFile, json_digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::app::App;
use crate::body::{Body, parse};
use crate::memory::Ledger;
use crate::refusal::{Operating, Refusal};
use crate::scoped::Scoped;
use crate::unzip;

/// The most instances of one request.
const IMPORTED_MAX: usize = 100;

/// How much larger than a request all that its archives hold may be.
const UNPACKED_TIMES_MAX: usize = 8;

/// The name of the part that is for coming back.
const PART: &str = "Dormouse";

/// Its format.
const FORMAT: u32 = 1;

/// The part of a file that is for coming back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
struct Part {
    format: u32,
    definition_digest: String,
    commit: u64,
    pinned: String,
    state: String,
    journal: Vec<String>,
    /// The digest of every part of the file, of this one without them.
    #[serde(default)]
    digests: BTreeMap<String, String>,
}

/// What a file says of the instance, as people read it. Earlier builds wrote it in Pascal case.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    #[serde(alias = "Id")]
    id: String,
    #[serde(alias = "DefinitionId")]
    definition_id: String,
    #[serde(alias = "DefinitionVersion")]
    definition_version: u32,
}

/// The file with the part that is for coming back.
pub(super) fn with_part(mut file: Map<String, Value>, instance: &InstanceFile) -> Value {
    let text = |bytes: &Bytes| STANDARD.encode(bytes);
    let mut part = Part {
        format: FORMAT,
        definition_digest: instance.definition_digest.clone(),
        commit: instance.commit,
        pinned: text(&instance.pinned),
        state: text(&instance.state),
        journal: instance.journal.iter().map(text).collect(),
        digests: BTreeMap::new(),
    };
    part.digests = digests(&file, &json!(part));
    file.insert(PART.to_owned(), json!(part));
    file.into()
}

fn digests(file: &Map<String, Value>, part: &Value) -> BTreeMap<String, String> {
    let others = file.iter().filter(|(name, _)| *name != PART);
    let all = others.map(|(name, value)| (name.clone(), value));
    all.chain([(PART.to_owned(), part)])
        .map(|(name, value)| (name, json_digest(value)))
        .collect()
}

/// Reads one file. The error says what is wrong, and where.
fn read(bytes: &[u8]) -> Result<InstanceFile, String> {
    let file: Map<String, Value> =
        parse(bytes).map_err(|refusal| refusal.facts().detail.clone())?;
    let Some(part) = file.get(PART) else {
        return Err(format!(
            "it has no part `{PART}`: Elsa wrote it, or no program that exports instances to come back"
        ));
    };
    if part.get("Format").and_then(Value::as_u64) != Some(FORMAT.into()) {
        return Err(format!(
            "`{PART}.Format` is not {FORMAT}: another version of Dormouse wrote it"
        ));
    }
    let mut part: Part =
        serde_json::from_value(part.clone()).map_err(|error| format!("`{PART}`: {error}"))?;
    let told = std::mem::take(&mut part.digests);
    let found = digests(&file, &json!(part));
    let names: BTreeSet<&String> = told.keys().chain(found.keys()).collect();
    let changed = names
        .into_iter()
        .find(|name| told.get(*name) != found.get(*name));
    if let Some(name) = changed {
        return Err(format!(
            "`{name}` is not as it was exported; change the instance after it is imported"
        ));
    }
    let state = file.get("WorkflowState").cloned().unwrap_or_default();
    let state: State =
        serde_json::from_value(state).map_err(|error| format!("`WorkflowState`: {error}"))?;
    let bytes = |name: &str, text: &String| {
        let bytes = STANDARD.decode(text);
        bytes
            .map(Bytes::from)
            .map_err(|error| format!("`{PART}.{name}`: {error}"))
    };
    Ok(InstanceFile {
        instance_id: state.id,
        definition_id: state.definition_id,
        definition_version: state.definition_version,
        definition_digest: part.definition_digest,
        commit: part.commit,
        pinned: bytes("Pinned", &part.pinned)?,
        state: bytes("State", &part.state)?,
        journal: part
            .journal
            .iter()
            .map(|block| bytes("Journal", block))
            .collect::<Result<_, _>>()?,
    })
}

/// The files of a request, by their names: a JSON body, an archive, or a form with both.
fn files(app: &App, headers: &HeaderMap, body: &Bytes) -> Result<Vec<(String, Vec<u8>)>, Refusal> {
    let kind = headers.get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let sent = match kind.starts_with("multipart/") {
        true => {
            let files = multipart(kind, body).files.into_iter();
            files.map(|file| (file.name, file.bytes)).collect()
        }
        false => vec![("body".to_owned(), body.to_vec())],
    };
    let limit = app
        .config()
        .body_bytes_max
        .saturating_mul(UNPACKED_TIMES_MAX);
    let mut found = Vec::new();
    for (name, bytes) in sent {
        if !bytes.starts_with(b"PK\x03\x04") {
            found.push((name, bytes));
            continue;
        }
        let Some(texts) = unzip::json_files(&bytes, limit) else {
            return Err(Operating::NotAnArchive { name }.into());
        };
        found.extend(
            (1..)
                .zip(texts)
                .map(|(n, text)| (format!("{name}, {n}"), text)),
        );
    }
    if found.len() > IMPORTED_MAX {
        let told = format!("{} of them; the limit is {IMPORTED_MAX}", found.len());
        return Err(Refusal::bad_parameter("files", &told));
    }
    Ok(found)
}

/// `POST /workflow-instances/import`, and under Elsa's name `/bulk-actions/import/workflow-instances`. All files are read,
/// and all is looked at that stands against them, before the first instance is brought back.
pub(super) async fn import(
    Scoped(app): Scoped,
    headers: HeaderMap,
    ledger: Ledger,
    Body(body): Body,
) -> Result<Answer<Value>, Refusal> {
    let mut instances = Vec::new();
    let mut ids = BTreeSet::new();
    for (name, bytes) in files(&app, &headers, &body)? {
        ledger.take_json(&bytes, app.config().parsed_bytes_max)?;
        let not_an_export = |reason| Operating::NotAnExport {
            name: name.clone(),
            reason,
        };
        let instance = read(&bytes).map_err(not_an_export)?;
        if !ids.insert(instance.instance_id.clone()) {
            let reason = format!("`{}` is in another file, too", instance.instance_id);
            return Err(not_an_export(reason).into());
        }
        instances.push((name, instance));
    }
    for (name, instance) in &instances {
        let against = app
            .runtime()
            .instances()
            .check_import(app.tenant(), instance)
            .await?;
        if let Some(refusal) = against.and_then(|outcome| refused(name, instance, outcome)) {
            return Err(refusal);
        }
    }
    for (name, instance) in &instances {
        let outcome = app
            .runtime()
            .instances()
            .import(app.tenant(), instance)
            .await?;
        if let Some(refusal) = refused(name, instance, outcome) {
            return Err(refusal);
        }
    }
    Ok(Answer(
        json!({ "imported": ids.len(), "workflowInstanceIds": ids }),
    ))
}

/// What the caller hears of what stands against an import.
fn refused(name: &str, instance: &InstanceFile, outcome: ImportOutcome) -> Option<Refusal> {
    let id = instance.instance_id.clone();
    Some(match outcome {
        ImportOutcome::Imported(_) => return None,
        ImportOutcome::Exists => Operating::InstanceExists { id }.into(),
        ImportOutcome::Busy => Operating::IdBusy { id }.into(),
        ImportOutcome::NotAllowed { holder } => Refusal::StartRefused {
            id: instance.definition_id.clone(),
            holder,
        },
        ImportOutcome::VersionMissing {
            definition_id,
            version,
        } => Operating::VersionNotHere {
            instance_id: id,
            definition_id,
            version,
        }
        .into(),
        ImportOutcome::VersionDiffers => Operating::VersionDiffers {
            instance_id: id,
            definition_id: instance.definition_id.clone(),
            version: instance.definition_version,
        }
        .into(),
        ImportOutcome::Unreadable { part, reason } => Operating::NotAnExport {
            name: name.to_owned(),
            reason: format!("`{PART}.{part}`: {reason}"),
        }
        .into(),
    })
}
