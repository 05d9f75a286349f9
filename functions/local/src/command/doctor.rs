//! `dormouse doctor`

use std::sync::Arc;

use clap::Args;
use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_embedded::{SystemClock, TableScheduler, TokioBackground};
use dormouse_expressions::{Expressions, Limits};
use dormouse_runtime::port::{Clock, Ports};
use dormouse_runtime::{ExaminationReport, Examined, Found, Runtime, RuntimeConfig};
use dormouse_store::Store;
use dormouse_store::operation::examine::Kind;
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::json;
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;

use super::place::PlaceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::server::{Place, Storage};
use crate::text_table::TextTable;

/// Place to examine. Over a data folder no server may be running; a DynamoDB table may be in use.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Repair the inconsistencies that can be repaired
    #[arg(long)]
    fix: bool,
}

/// Examines a data folder or a table. The exit code is 6 if something is damaged, and else not 0 if a finding was not repaired.
pub(crate) async fn doctor(args: &DoctorArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(LevelFilter::ERROR, LogFormat::Text);
    let place = args.place.place()?;
    if let Place::Folder { data, .. } = &place
        && !data.is_dir()
    {
        let message = format!("there is no data folder at {}", data.display());
        return Err(Failure::new(Exit::BadInput, "noFolder", message)
            .help("name it with --data DIR or DORMOUSE_DATA"));
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let storage = Storage::open(&place, &clock).await?;
    let background = TokioBackground::new(Handle::current());
    let runtime = examiner(&storage, &background);
    let has_schedules = storage.remote.as_ref().is_some_and(|r| r.has_schedules());
    let examined = Examined {
        table: &*storage.scan,
        blobs: storage.blobs.as_deref(),
        has_timers: !has_schedules,
        is_in_use: storage.remote.is_some(),
        repairs: args.fix,
    };
    let report = runtime.operations().examine(examined).await;
    background.idle().await;
    Ok(tell(
        &report.map_err(|e| Failure::runtime(&e))?,
        args.fix,
        screen,
    ))
}

/// A runtime without callers: no timer fires and nothing is swept unless that is asked for.
pub(super) fn quiet_runtime(store: Store, background: &TokioBackground) -> Runtime {
    let ports = quiet_ports(&store, background);
    Runtime::new(store, ports, expressions(), RuntimeConfig::server("doctor"))
}

/// The same over a place, with the parts that it has besides its table, so that repaired effects are delivered.
fn examiner(storage: &Storage, background: &TokioBackground) -> Runtime {
    let store = storage.store.clone();
    let mut ports = quiet_ports(&store, background);
    ports.scheduler = Arc::new(storage.scheduler.clone());
    if let Some(remote) = &storage.remote {
        remote.fill(&mut ports);
    }
    let node = format!("doctor-{:08x}", ports.clock.random() >> 32);
    let config = RuntimeConfig {
        lease_ms: storage.lease_ms,
        ..RuntimeConfig::server(node)
    };
    Runtime::new(store, ports, expressions(), config)
}

fn quiet_ports(store: &Store, background: &TokioBackground) -> Ports {
    Ports {
        clock: Arc::new(SystemClock),
        background: Arc::new(background.clone()),
        scheduler: Arc::new(TableScheduler::new(store.clone())),
        http_caller: Arc::new(Egress::new(EgressConfig::new(Reach::Public))),
        queue: None,
        bus: None,
        broadcast: None,
        compute: None,
        observer: None,
        commands: None,
        functions: None,
        vault: None,
        metrics: None,
    }
}

fn expressions() -> Arc<Expressions> {
    Arc::new(Expressions::new(Limits::default()))
}

fn tell(report: &ExaminationReport, fixes: bool, screen: &Screen) -> Exit {
    let found = |found: &Found| {
        json!({
            "kind": words(found.kind).0,
            "tenant": found.tenant,
            "about": found.about,
            "isRepaired": found.is_repaired,
        })
    };
    let left = report.found.iter().filter(|f| !f.is_repaired).count();
    screen.value(&json!({
        "items": report.items,
        "instances": report.instances,
        "running": report.running,
        "timersSet": report.timers_set,
        "found": report.found.iter().map(found).collect::<Vec<_>>(),
        "left": left,
    }));
    screen.line(format!(
        "{} items, {} instances, {} of them running",
        report.items, report.instances, report.running
    ));
    let mut table = TextTable::plain();
    for found in &report.found {
        let state = match (found.is_repaired, fixes) {
            (true, _) => screen.status("Finished").replace("Finished", "mended"),
            (false, true) => screen.status("Faulted").replace("Faulted", "left"),
            (false, false) => screen.status("Suspended").replace("Suspended", "found"),
        };
        let about = format!("{}: {}", words(found.kind).1, found.about);
        table.row([String::new(), state, about]);
    }
    screen.table(&table);
    if report.timers_set > 0 {
        let set = report.timers_set;
        screen.line(format!(
            "{set} schedules were set again; those that were there stay as they are."
        ));
    }
    screen.line(match (report.found.len(), left, fixes) {
        (0, ..) => "Nothing is wrong.".to_owned(),
        (all, 0, _) => format!("{all} found, all of them mended."),
        (all, left, true) => format!("{all} found, {left} could not be mended."),
        (all, _, false) => format!("{all} found. `dormouse doctor --fix` mends what it can."),
    });
    let is_damaged = |found: &Found| found.kind == Kind::Damaged && !found.is_repaired;
    match left {
        0 => Exit::Ok,
        _ if report.found.iter().any(is_damaged) => {
            screen.line("What is damaged stays as it is, and so do large states, which it may name: restore a backup.");
            Exit::Storage
        }
        _ => Exit::Failed,
    }
}

/// A kind's stable name for programs, and what it means.
fn words(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::BookmarkWithoutInstance => (
            "bookmarkWithoutInstance",
            "a bookmark that is not open any more",
        ),
        Kind::BookmarkWithoutRow => ("bookmarkWithoutRow", "a bookmark that no event finds"),
        Kind::RowsWithoutInstance => ("rowsWithoutInstance", "what is left of an instance"),
        Kind::OldTrigger => ("oldTrigger", "a trigger that is not in force"),
        Kind::AttributeRow => (
            "attributeRow",
            "a search attribute that lists do not show as it is",
        ),
        Kind::ClaimWithoutHolder => ("claimWithoutHolder", "a claim that nobody has any more"),
        Kind::OldOutbox => ("oldOutbox", "effects that are not delivered"),
        Kind::Interrupted => ("interrupted", "an instance that was cut off"),
        Kind::TimerMissing => ("timerMissing", "a wait for a time without a timer"),
        Kind::BlobWithoutOwner => ("blobWithoutOwner", "a large state that nobody names"),
        Kind::Damaged => ("damaged", "an item that cannot be read"),
    }
}
