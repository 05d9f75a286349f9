//! `dormouse publish`

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use dormouse_engine::definition::Definition;
use serde_json::{Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::definition_file::{self, DefinitionFile};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::screen::Screen;

/// Definitions to publish.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// Definition files, or folders of them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Save drafts without publishing them
    #[arg(long)]
    draft: bool,
    /// Publish only definitions without validation messages, such as an unknown activity type. The others remain drafts
    #[arg(long)]
    strict: bool,
}

/// A file that was not published, and why.
struct Refused {
    file: DefinitionFile,
    failure: Failure,
}

/// Publishes definitions. Nothing is sent if one of the files cannot be read.
///
/// A definition that uses another one as an activity needs that one published before: what is refused is tried
/// again as long as anything else got through.
pub(crate) async fn publish(
    args: &PublishArgs,
    client: &Client,
    screen: &Screen,
) -> Result<Exit, Failure> {
    let mut left = definition_file::read_all(&args.files)?;
    let mut progress = Progress::new(left.len(), screen.is_json());
    let mut answers = Vec::new();
    let refused = loop {
        let count = left.len();
        let mut refused = Vec::new();
        for file in left {
            progress.next(&file.shown());
            match send(&file, args, client).await {
                Ok(answer) => {
                    progress.done();
                    answers.push((file, answer));
                }
                Err(failure) if failure.exit == Exit::Unreachable => return Err(failure),
                Err(failure) => refused.push(Refused { file, failure }),
            }
        }
        if refused.is_empty() || refused.len() == count {
            break refused;
        }
        left = refused.into_iter().map(|r| r.file).collect();
    };
    drop(progress);
    for (file, answer) in &answers {
        tell(screen, file, answer);
    }
    screen.value(&json!({
        "published": answers.into_iter().map(|(_, answer)| answer).collect::<Vec<_>>(),
        "refused": refused.iter().map(|r| json!({
            "file": r.file.shown(), "code": r.failure.code, "message": r.failure.message,
            "problems": r.failure.problems,
        })).collect::<Vec<_>>(),
    }));
    conclude(refused)
}

async fn send(
    file: &DefinitionFile,
    args: &PublishArgs,
    client: &Client,
) -> Result<Value, Failure> {
    let definition = &file.definition;
    if args.strict && !args.draft {
        let draft = save(client, definition, false).await?;
        let notes = items(&draft, "validationErrors").iter();
        let notes: Vec<String> = notes
            .map(|note| format!("{}: {}", text(note, "path"), text(note, "message")))
            .collect();
        if !notes.is_empty() {
            let message = format!("saved as a draft and not published: {}", notes.join("; "));
            return Err(Failure::new(Exit::BadInput, "hasNotes", message));
        }
    }
    save(client, definition, !args.draft).await
}

/// Saves a definition, and publishes it too.
///
/// A definition with a version id keeps it where the server does not know the definition yet. Only an import does that,
/// so it comes before the save.
pub(super) async fn save(
    client: &Client,
    definition: &Definition,
    publish: bool,
) -> Result<Value, Failure> {
    let model = Value::Object(definition.raw().clone());
    let id = definition.definition_id.as_deref().unwrap_or_default();
    if definition
        .version_id
        .as_deref()
        .is_some_and(|v| !v.is_empty())
        && !id.is_empty()
    {
        let known = client
            .get(&format!("/workflow-definitions/{}", segment(id)))
            .await;
        match known {
            Ok(_) => {}
            Err(failure) if failure.exit == Exit::NotFound => {
                client.post("/workflow-definitions/import", &model).await?;
            }
            Err(failure) => return Err(failure),
        }
    }
    let body = json!({ "model": model, "publish": publish });
    client.post("/workflow-definitions", &body).await
}

fn tell(screen: &Screen, file: &DefinitionFile, answer: &Value) {
    let model = answer.get("workflowDefinition").unwrap_or(&Value::Null);
    let version = model.get("version").map(ToString::to_string);
    let is_published = model.get("isPublished").is_some_and(|v| v == true);
    screen.line(format!(
        "{} {} version {} ({})",
        if is_published { "Published" } else { "Saved" },
        screen.bold(text(model, "definitionId")),
        version.unwrap_or_default(),
        file.shown(),
    ));
    for problem in items(answer, "validationErrors") {
        let (path, message) = (text(problem, "path"), text(problem, "message"));
        screen.warn(format!("{}: {path}: {message}", file.shown()));
    }
}

/// All failures as one: each file with what is wrong with it.
fn conclude(refused: Vec<Refused>) -> Result<Exit, Failure> {
    let mut refused = refused.into_iter();
    let Some(first) = refused.next() else {
        return Ok(Exit::Ok);
    };
    let mut message = format!("{}: {}", first.file.shown(), first.failure.message);
    errors(&first.failure, &mut message);
    for more in refused {
        let (file, why) = (more.file.shown(), &more.failure.message);
        let _infallible = write!(message, "\n  {file}: {why}");
        errors(&more.failure, &mut message);
    }
    Err(Failure {
        message,
        ..first.failure
    })
}

/// Adds the errors among the problems of a refused definition, one line each.
pub(super) fn errors(failure: &Failure, message: &mut String) {
    let is_error = |p: &&Value| p.get("isError").is_some_and(|v| v == true);
    for problem in failure.problems.iter().filter(is_error) {
        let (path, what) = (text(problem, "path"), text(problem, "message"));
        let _infallible = write!(message, "\n    {path}: {what}");
    }
}
