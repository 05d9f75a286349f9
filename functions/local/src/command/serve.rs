//! `dormouse serve`

mod place;

use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dormouse_egress::Reach;
use dormouse_http::{App, HttpConfig, router};
use dormouse_runtime::Runtime;
use dormouse_telemetry::{LogFormat, Registry, begin_log};
use serde_json::json;
use tracing::level_filters::LevelFilter;

use self::place::PlaceArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::retention::RetentionArgs;
use crate::screen::Screen;
use crate::server::{Console, Host, HostConfig, Listeners, Spoken, address, stop_signal};

/// How long a drain waits for requests that were accepted before, in seconds.
const REQUESTS_S: u64 = 30;

/// How to serve.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// The port of the first node; the others follow. 0 takes any that is free
    #[arg(long, short, default_value_t = 7070)]
    port: u16,
    /// The address to listen at. There is no authentication yet: think before you let others in
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// How many nodes to run in this process, each with its own port and cache
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    nodes: u16,
    /// Let workflows send HTTP requests to this machine and its network, and not only to public addresses
    #[arg(long)]
    allow_private_egress: bool,
    #[command(flatten)]
    retention: RetentionArgs,
    /// Do not write what workflows write with WriteLine
    #[arg(long, short)]
    quiet: bool,
    /// What to log on the error stream: off, error, warn, info, debug or trace
    #[arg(
        long,
        value_name = "LEVEL",
        env = "DORMOUSE_LOG",
        default_value = "warn"
    )]
    log: LevelFilter,
    /// What a line of the log looks like: text, or json for programs
    #[arg(
        long,
        value_name = "FORMAT",
        env = "DORMOUSE_LOG_FORMAT",
        default_value = "text"
    )]
    log_format: LogFormat,
}

/// Serves until it is asked to stop.
pub(crate) fn serve(args: ServeArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(args.log, args.log_format);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(system)?;
    runtime.block_on(run(args, screen))
}

fn system(error: std::io::Error) -> Failure {
    Failure::new(Exit::Failed, "system", format!("cannot begin: {error}"))
}

async fn run(args: ServeArgs, screen: &Screen) -> Result<Exit, Failure> {
    let stop = stop_signal().map_err(system)?;
    let listeners = Listeners::bind(address(&args.host)?, args.port, args.nodes).await?;
    let is_json = screen.is_json();
    let console = Console::new(move |spoken| speak(is_json, spoken));
    let host = Host::open(HostConfig {
        place: args.place.place()?,
        nodes: args.nodes,
        reach: if args.allow_private_egress {
            Reach::Anywhere
        } else {
            Reach::Public
        },
        retention: args.retention.read(),
        observer: (!args.quiet).then(|| Arc::new(console) as _),
    })
    .await?;
    let config = HttpConfig {
        is_local: listeners.are_local(),
        ..HttpConfig::default()
    };
    let nodes = host.nodes().iter().zip(host.registries());
    let app = |(node, registry): (&Runtime, &Arc<Registry>)| {
        let registry = Arc::clone(registry);
        App::new(node.clone(), config).with_metrics(Arc::new(move || registry.prometheus()))
    };
    let apps: Vec<App> = nodes.map(app).collect();
    welcome(&args, &listeners, screen);

    let routers = apps.iter().cloned().map(router).collect();
    let mut asked = stop.clone();
    let serving = tokio::spawn(listeners.serve(routers, stop));
    let _sender_gone = asked.wait_for(|stop| *stop).await;
    apps.iter().for_each(App::drain);
    screen.line("Stopping: finishing what is under way. Ctrl-C again ends at once.");
    let rest = tokio::time::timeout(Duration::from_secs(REQUESTS_S), serving);
    if rest.await.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
    drop(apps);
    host.close().await;
    screen.line("Stopped.");
    Ok(Exit::Ok)
}

/// Three lines that get a newcomer going; one value for a program.
fn welcome(args: &ServeArgs, listeners: &Listeners, screen: &Screen) {
    let urls: Vec<String> = listeners
        .addresses()
        .iter()
        .map(|address| format!("http://{address}"))
        .collect();
    let (kind, place) = args.place.shown();
    screen.value(&json!({ "urls": urls, kind: place }));
    let first = urls.first().map(String::as_str).unwrap_or_default();
    let url = match args.port {
        7070 => String::new(),
        _ => format!(" --url {first}"),
    };
    screen.line(format!(
        "Dormouse listens at {} and keeps everything in {}{place}",
        urls.join(", "),
        if kind == "table" {
            "the DynamoDB table "
        } else {
            ""
        },
    ));
    screen.line(format!(
        "  publish a workflow: dormouse publish functions/local/examples{url}"
    ));
    screen.line(format!(
        "  start it:           dormouse start hello -i Name=Ada{url}"
    ));
    if !listeners.are_local() {
        screen.line("  careful: whoever reaches this address may do everything; there is no authentication yet");
    }
}

fn speak(is_json: bool, spoken: &Spoken) {
    let screen = Screen::new(is_json);
    let Spoken { instance, text } = spoken;
    screen.value(&json!({ "workflowInstanceId": instance, "line": text }));
    let short: String = instance.chars().take(8).collect();
    screen.line(format!("{} {text}", screen.dim(&format!("[{short}]"))));
}
