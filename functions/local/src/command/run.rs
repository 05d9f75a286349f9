//! `dormouse run`

mod narrator;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::Wait;
use dormouse_http::workflow_state;
use dormouse_runtime::query::InstanceDetail;
use dormouse_runtime::{
    DefinitionHandle, PublishOutcome, Retention, Runtime, SaveOutcome, StartOutcome, StartRequest,
    Tenant,
};
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::{Value, json};
use tracing::level_filters::LevelFilter;

use super::{activity, items, tell_burst, tell_end};
use crate::definition_file::{self, DefinitionFile};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::handlers::HandlerArgs;
use crate::input::{self, InputArgs, warn_or_refuse};
use crate::reach::ReachArgs;
use crate::screen::Screen;
use crate::server::{Host, HostConfig, Place, Stop, THREAD_STACK_BYTES, stop_signal};
use crate::wait;
use narrator::Narrator;

/// Definition to run.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Definition to run, followed by the definitions that it uses
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    /// Correlation id of the instance
    #[arg(long, value_name = "ID")]
    correlation: Option<String>,
    /// Start at this trigger activity, as if it had fired
    #[arg(long, value_name = "ACTIVITY")]
    trigger: Option<String>,
    /// Data folder [default: a temporary folder that is removed afterwards]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Stop when the instance waits, even if it waits only for a timer
    #[arg(long)]
    no_wait: bool,
    /// Treat warnings as errors: undeclared inputs and validation messages
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    handlers: HandlerArgs,
    /// Publish this activity type before; may be given again for more
    #[arg(long, value_name = "FILE")]
    activity: Vec<PathBuf>,
}

/// Publishes the files, starts the first, and reports its progress until it ends or waits for input.
pub(crate) fn run(args: RunArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(LevelFilter::WARN, LogFormat::Text);
    let files = definition_file::read_all(&args.files)?;
    let input = args.input.read()?;
    if let Some(first) = files.first() {
        input::check(screen, &input, &first.definition.inputs, args.strict)?;
    }
    let temporary = temporary_folder().map_err(Failure::system)?;
    let data = args.data.clone();
    let data = data.unwrap_or_else(|| temporary.path().to_owned());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(THREAD_STACK_BYTES)
        .build()
        .map_err(Failure::system)?;
    runtime.block_on(async {
        let narrator = Arc::new(Narrator::new(Screen::new(screen.is_json())));
        let host = open(&args, data, &narrator).await?;
        let mut request = StartRequest::new(DefinitionHandle::published(""));
        request.input = input;
        request.correlation_id = args.correlation.clone();
        request.trigger_activity_id = args.trigger.clone();
        let ran = match host.nodes().first() {
            Some(node) => {
                go(
                    node.clone(),
                    (&host, screen),
                    files,
                    request,
                    &args,
                    &narrator,
                )
                .await
            }
            None => Err(Failure::new(Exit::Failed, "system", "there is no node")),
        };
        host.close().await;
        Ok(conclude(&args, ran?, &narrator, screen))
    })
}

/// A folder that only its owner may read, like every data folder.
fn temporary_folder() -> std::io::Result<tempfile::TempDir> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(std::fs::Permissions::from_mode(0o700));
    }
    builder.tempdir()
}

async fn open(args: &RunArgs, data: PathBuf, narrator: &Arc<Narrator>) -> Result<Host, Failure> {
    let secrets_key = Some(data.join("secrets.key"));
    Host::open(HostConfig {
        place: Place::Folder {
            data,
            bytes_max: None,
            is_shared: false,
        },
        nodes: 1,
        passes_tokens: false,
        retention: Retention::default(),
        webhook: None,
        signing_secret: None,
        commands: args.handlers.commands(),
        functions: args.handlers.functions().await?,
        secrets_key,
        reach: args.reach.read(),
        observer: Some(Arc::clone(narrator) as _),
        traces: None,
    })
    .await
}

async fn go(
    node: Runtime,
    (host, screen): (&Host, &Screen),
    files: Vec<DefinitionFile>,
    mut request: StartRequest,
    args: &RunArgs,
    narrator: &Narrator,
) -> Result<InstanceDetail, Failure> {
    let tenant = Tenant::default();
    let stop = stop_signal().map_err(Failure::system)?;
    activity::publish_to(&node, &tenant, &args.activity).await?;
    let first = publish(&node, &tenant, files, (args.strict, screen)).await?;
    request.definition = DefinitionHandle::published(first);
    let started = node.instances().start(&tenant, request).await;
    let id = match started.map_err(|e| Failure::runtime(&e))? {
        StartOutcome::Started(report) => report.instance.id,
        StartOutcome::NotAllowed { holder } => {
            let message = format!("its activation strategy allows no start while {holder} runs");
            return Err(Failure::new(Exit::Conflict, "startRefused", message));
        }
        StartOutcome::AlreadyStarted(_)
        | StartOutcome::Deleted { .. }
        | StartOutcome::NotFound
        | StartOutcome::Stale => {
            let message = "it was published and cannot be started";
            return Err(Failure::new(Exit::Failed, "notStarted", message));
        }
    };
    follow(&node, host, &id, args.no_wait, narrator, stop).await
}

/// Publishes the files; those that need others are tried again after them. Gives the first one's id.
pub(super) async fn publish(
    node: &Runtime,
    tenant: &Tenant,
    files: Vec<DefinitionFile>,
    (is_strict, screen): (bool, &Screen),
) -> Result<String, Failure> {
    let mut left = Vec::new();
    let mut first = None;
    for file in files {
        let name = file.shown();
        let saved = node.definitions().save(tenant, file.definition).await;
        match saved.map_err(|e| Failure::runtime(&e))? {
            SaveOutcome::Saved { definition, .. } => {
                first.get_or_insert_with(|| definition.definition_id.clone());
                left.push((name, definition.definition_id));
            }
            SaveOutcome::ReadOnly | SaveOutcome::Stale(_) => {
                let message = format!("{name}: it is read-only in this folder");
                return Err(Failure::new(Exit::BadInput, "definitionReadOnly", message));
            }
        }
    }
    loop {
        let before = left.len();
        let mut refused = Vec::new();
        let mut reasons = Vec::new();
        for (name, id) in left {
            let published = node.definitions().publish(tenant, &id).await;
            match published.map_err(|e| Failure::runtime(&e))? {
                PublishOutcome::Published(publication) => {
                    for note in &publication.problems {
                        let message = format!("{name}: {}: {}", note.path, note.message);
                        warn_or_refuse(screen, is_strict, &message)?;
                    }
                }
                PublishOutcome::Invalid(problems) => {
                    let errors = problems.iter().filter(|p| p.is_error);
                    reasons.extend(errors.map(|p| format!("{name}: {}: {}", p.path, p.message)));
                    refused.push((name, id));
                }
                PublishOutcome::ReadOnly | PublishOutcome::NotFound => {
                    reasons.push(format!("{name}: it cannot be published"));
                    refused.push((name, id));
                }
            }
        }
        if refused.is_empty() {
            return Ok(first.unwrap_or_default());
        }
        if refused.len() == before {
            return Err(
                Failure::new(Exit::BadInput, "invalidDefinition", reasons.join("\n  "))
                    .help("`dormouse validate` lists everything that is wrong with definitions"),
            );
        }
        left = refused;
    }
}

/// Waits until the instance has ended, or nothing will happen to it by itself.
async fn follow(
    node: &Runtime,
    host: &Host,
    id: &InstanceId,
    no_wait: bool,
    narrator: &Narrator,
    stop: Stop,
) -> Result<InstanceDetail, Failure> {
    loop {
        // Asked for before anything is read, so that nothing is missed in between.
        let changed = narrator.changed();
        let is_idle = host.background().count() == 0;
        let detail = load(node, id).await?;
        let is_over = detail.instance.is_ended() || *stop.borrow();
        if is_over || is_idle && (no_wait || !goes_on(node, &detail).await?) {
            return Ok(detail);
        }
        tokio::select! {
            () = changed => {}
            // Work may end without a commit.
            () = tokio::time::sleep(Duration::from_millis(50)) => {}
        }
    }
}

async fn load(node: &Runtime, id: &InstanceId) -> Result<InstanceDetail, Failure> {
    let found = node.query().instance(&Tenant::default(), id.as_str()).await;
    found
        .map_err(|e| Failure::runtime(&e))?
        .ok_or_else(|| Failure::new(Exit::NotFound, "noSuchInstance", "the instance is gone"))
}

/// True if the instance, or one that it started, waits for a timer or an answer.
async fn goes_on(node: &Runtime, root: &InstanceDetail) -> Result<bool, Failure> {
    let waits = |detail: &InstanceDetail| {
        detail.instance.bookmarks.iter().any(|b| match b.wait {
            Wait::Timer { .. } | Wait::Call(_) => true,
            Wait::Stimulus { .. } | Wait::Direct => false,
        })
    };
    if waits(root) {
        return Ok(true);
    }
    let mut children = root.instance.child_ids();
    while let Some(child) = children.pop() {
        let found = node
            .query()
            .instance(&Tenant::default(), child.as_str())
            .await;
        let Some(detail) = found.map_err(|e| Failure::runtime(&e))? else {
            continue;
        };
        if !detail.instance.is_ended() {
            if waits(&detail) {
                return Ok(true);
            }
            children.extend(detail.instance.child_ids());
        }
    }
    Ok(false)
}

fn conclude(args: &RunArgs, detail: InstanceDetail, narrator: &Narrator, screen: &Screen) -> Exit {
    let state = workflow_state(&detail.instance, &detail.graph);
    let of = |name: &str| state.get(name).cloned().unwrap_or(Value::Null);
    let lines = screen.is_json().then(|| narrator.lines());
    let answer = json!({
        "workflowInstanceId": of("id"),
        "definitionId": of("definitionId"),
        "status": of("status"),
        "subStatus": of("subStatus"),
        "output": of("output"),
        "incidents": of("incidents"),
        "bookmarks": of("bookmarks"),
        "lines": lines,
    });
    let Some(data) = &args.data else {
        // No command reaches what lies in a folder that is about to be removed.
        let exit = tell_end(screen, &answer);
        if !detail.instance.is_ended() {
            wait::tell_only(screen, items(&answer, "bookmarks"));
            screen.line("It ran in a temporary folder, which is removed now. To keep it waiting, use `dormouse serve`, or --data DIR here.");
        }
        return exit;
    };
    let exit = tell_burst(screen, &answer);
    if !detail.instance.is_ended() {
        screen.line(format!(
            "To go on: dormouse serve --data {}",
            data.display()
        ));
    }
    exit
}
