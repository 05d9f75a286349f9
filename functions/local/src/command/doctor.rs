//! `dormouse doctor`

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use dormouse_egress::{Egress, EgressConfig, Reach};
use dormouse_embedded::{FileBlobs, SystemClock, TableScheduler, TokioBackground};
use dormouse_expressions::{Expressions, Limits};
use dormouse_runtime::port::Ports;
use dormouse_runtime::{ExaminationReport, Examined, Found, Runtime, RuntimeConfig};
use dormouse_store::Store;
use dormouse_store::config::StoreConfig;
use dormouse_store::examine::Kind;
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::json;
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::server::open_table;
use crate::text_table::TextTable;

/// What to examine.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// The data folder; no server may be running over it
    #[arg(
        long,
        value_name = "DIR",
        env = "DORMOUSE_DATA",
        default_value = "dormouse-data"
    )]
    data: PathBuf,
    /// Mend what is wrong, as far as that is possible
    #[arg(long)]
    fix: bool,
}

/// Examines a data folder. The exit code says whether anything is wrong that was not mended.
pub(crate) async fn doctor(args: &DoctorArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(LevelFilter::ERROR, LogFormat::Text);
    if !args.data.is_dir() {
        let message = format!("there is no data folder at {}", args.data.display());
        return Err(Failure::new(Exit::BadInput, "noFolder", message)
            .help("name it with --data DIR or DORMOUSE_DATA"));
    }
    let table = Arc::new(open_table(&args.data, None)?);
    let blobs = Arc::new(FileBlobs::new(&args.data));
    let store = Store::new(Arc::clone(&table) as _, StoreConfig::embedded());
    let store = store.with_blobs(Arc::clone(&blobs) as _);
    let background = TokioBackground::new(Handle::current());
    let runtime = quiet_runtime(store, &background);
    let examined = Examined {
        table: &*table,
        blobs: Some(&*blobs),
        has_timers: true,
        repairs: args.fix,
    };
    let report = runtime.examine(examined).await;
    background.idle().await;
    Ok(tell(
        &report.map_err(|e| Failure::runtime(&e))?,
        args.fix,
        screen,
    ))
}

/// A runtime that serves nobody: no timer fires and nothing is swept unless that is asked for.
pub(super) fn quiet_runtime(store: Store, background: &TokioBackground) -> Runtime {
    let ports = Ports {
        clock: Arc::new(SystemClock),
        background: Arc::new(background.clone()),
        scheduler: Arc::new(TableScheduler::new(store.clone())),
        http_caller: Arc::new(Egress::new(EgressConfig::new(Reach::Public))),
        queue: None,
        bus: None,
        broadcast: None,
        observer: None,
        metrics: None,
    };
    let expressions = Arc::new(Expressions::new(Limits::default()));
    Runtime::new(store, ports, expressions, RuntimeConfig::server("doctor"))
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
    screen.line(match (report.found.len(), left, fixes) {
        (0, ..) => "Nothing is wrong.".to_owned(),
        (all, 0, _) => format!("{all} found, all of them mended."),
        (all, left, true) => format!("{all} found, {left} could not be mended."),
        (all, _, false) => format!("{all} found. `dormouse doctor --fix` mends what it can."),
    });
    if left == 0 { Exit::Ok } else { Exit::Failed }
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
        Kind::ClaimWithoutHolder => ("claimWithoutHolder", "a claim that nobody has any more"),
        Kind::OldOutbox => ("oldOutbox", "effects that are not delivered"),
        Kind::Interrupted => ("interrupted", "an instance that was cut off"),
        Kind::TimerMissing => ("timerMissing", "a wait for a time without a timer"),
        Kind::BlobWithoutOwner => ("blobWithoutOwner", "a large state that nobody names"),
        Kind::Damaged => ("damaged", "an item that cannot be read"),
    }
}
