//! `dormouse serve`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use dormouse_console::Pages;
use dormouse_egress::Network;
use dormouse_embedded::{Pool, PoolLimits};
use dormouse_engine::sensitive::redact_also;
use dormouse_http::{App, HttpConfig, router};
use dormouse_runtime::Runtime;
use dormouse_runtime::identity::FirstUse;
use dormouse_runtime::port::Compute;
use dormouse_telemetry::{LogFormat, Registry, begin_log};
use serde_json::json;
use tracing::level_filters::LevelFilter;

use super::place::PlaceArgs;
use super::traces::TracesArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::handlers::HandlerArgs;
use crate::reach::ReachArgs;
use crate::retention::RetentionArgs;
use crate::screen::Screen;
use crate::server::{
    AuthenticationArgs, ConnectionArgs, Console, Host, HostConfig, Listeners, Proxies, Serving,
    Spoken, Stop, StudioArgs, THREAD_STACK_BYTES, TlsArgs, address, bound_heap, pages,
    prepare_credentials, stop_signal, trim_heap,
};
use crate::webhook::WebhookArgs;

/// Time that a drain waits for accepted requests, in seconds.
const REQUESTS_S: u64 = 30;

/// Execution mode of flowcharts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Flowcharts {
    /// An activity runs when all active inbound branches have arrived. This is Elsa's default
    Counter,
    /// Tokens follow connections. The merge mode of an activity decides when it runs
    Token,
}

/// Options of the server.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    place: PlaceArgs,
    /// Port of the first node. Further nodes use the next ports. 0 selects a free port
    #[arg(long, short, default_value_t = 7070)]
    port: u16,
    /// Address to listen on. 0.0.0.0 accepts connections from other machines
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    #[command(flatten)]
    authentication: AuthenticationArgs,
    /// Public base URL of the server, used in resume links
    #[arg(long, value_name = "URL", env = "DORMOUSE_PUBLIC_URL")]
    public_url: Option<String>,
    /// Number of trusted proxies in front of the server that append to X-Forwarded-For. Rate limits apply to the client
    /// address that they report. With 0, rate limits apply to the address of the connection
    #[arg(
        long,
        value_name = "NUMBER",
        env = "DORMOUSE_PROXIES",
        default_value_t = 0
    )]
    behind_proxies: usize,
    /// Network of the trusted proxies, such as 10.0.0.0/8. X-Forwarded-* headers from other addresses are ignored. Repeatable
    #[arg(
        long,
        value_name = "NETWORK",
        env = "DORMOUSE_PROXY_NETWORKS",
        value_delimiter = ',',
        requires = "behind_proxies"
    )]
    proxy_network: Vec<Network>,
    /// Reject requests that did not arrive over HTTPS, either at this server (--tls-cert) or at a proxy (--behind-proxies) that
    /// sets X-Forwarded-Proto
    #[arg(long, env = "DORMOUSE_REQUIRE_HTTPS")]
    require_https: bool,
    #[command(flatten)]
    tls: TlsArgs,
    #[command(flatten)]
    connections: ConnectionArgs,
    /// Header to redact in journals, executions and exports. Authorization, Cookie, Set-Cookie and Proxy-Authorization are always
    /// redacted. Repeatable
    #[arg(
        long,
        value_name = "HEADER",
        env = "DORMOUSE_REDACT",
        value_delimiter = ','
    )]
    redact: Vec<String>,
    /// File with the keys that seal the values of secrets. Back it up apart from the data: without it, values are lost. Servers
    /// over one table need the same file [default: secrets.key in the data folder; none over DynamoDB]
    #[arg(long, value_name = "FILE", env = "DORMOUSE_SECRETS_KEY")]
    secrets_key: Option<PathBuf>,
    /// Accept Elsa's resume address (/bookmarks/resume?t=), also on GET. A mail scanner that follows such a link resumes the instance
    #[arg(long)]
    elsa_resume_links: bool,
    /// Default execution mode of flowcharts. A start (`Flowchart:ExecutionMode`) or a definition can override it
    #[arg(
        long,
        value_name = "MODE",
        default_value = "counter",
        env = "DORMOUSE_FLOWCHARTS"
    )]
    flowcharts: Flowcharts,
    /// Number of nodes in this process, each with its own port and cache
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=64))]
    nodes: u16,
    #[command(flatten)]
    reach: ReachArgs,
    #[command(flatten)]
    retention: RetentionArgs,
    #[command(flatten)]
    webhook: WebhookArgs,
    #[command(flatten)]
    handlers: HandlerArgs,
    #[command(flatten)]
    studio: StudioArgs,
    /// Suppress the output of WriteLine activities
    #[arg(long, short)]
    quiet: bool,
    /// Log level on standard error: off, error, warn, info, debug or trace
    #[arg(
        long,
        value_name = "LEVEL",
        env = "DORMOUSE_LOG",
        default_value = "warn"
    )]
    log: LevelFilter,
    /// Log format: text or json
    #[arg(
        long,
        value_name = "FORMAT",
        env = "DORMOUSE_LOG_FORMAT",
        default_value = "text"
    )]
    log_format: LogFormat,
    #[command(flatten)]
    traces: TracesArgs,
}

/// Time that scripts may continue after the server was asked to stop.
const SCRIPTS_END: Duration = Duration::from_secs(1);

/// Serves until it is asked to stop.
pub(crate) fn serve(args: ServeArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(args.log, args.log_format);
    bound_heap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(THREAD_STACK_BYTES)
        .build()
        .map_err(Failure::system)?;
    runtime.block_on(run(args, screen))
}

impl ServeArgs {
    /// The file of keys for secrets: as given, else beside a table that only this machine has.
    fn secrets_key(&self) -> Option<PathBuf> {
        let own = || self.place.data().join("secrets.key");
        let given = self.secrets_key.clone();
        given.or_else(|| self.place.is_own().then(own))
    }
}

/// Writes the lines of workflows to the screen.
fn console(screen: &Screen) -> Console {
    let is_json = screen.is_json();
    Console::new(move |spoken| speak(is_json, spoken))
}

async fn run(args: ServeArgs, screen: &Screen) -> Result<Exit, Failure> {
    let stop = stop_signal().map_err(Failure::system)?;
    tokio::spawn(trim_heap(stop.clone()));
    redact_also(args.redact.iter().cloned());
    let serving = Serving {
        limits: args.connections.read(args.behind_proxies > 0),
        tls: args.tls.read()?,
        proxies: Proxies::new(&args.proxy_network),
    };
    let is_encrypted = serving.tls.is_some();
    demand_https(&args, is_encrypted)?;
    let listeners = Listeners::bind(address(&args.host)?, args.port, args.nodes).await?;
    let authentication = args.authentication.read(listeners.are_local())?;
    let console = console(screen);
    let host = Host::open(HostConfig {
        place: args.place.place()?,
        nodes: args.nodes,
        reach: args.reach.read(),
        passes_tokens: args.flowcharts == Flowcharts::Token,
        retention: args.retention.read(),
        webhook: args.webhook.read()?,
        signing_secret: args.webhook.signing_secret()?,
        commands: args.handlers.commands(),
        functions: args.handlers.functions().await?,
        secrets_key: args.secrets_key(),
        observer: (!args.quiet).then(|| Arc::new(console) as _),
        traces: args.traces.collector(),
    })
    .await?;
    // The first credentials of a shared table must not appear in the log of one server.
    let is_own = args.place.is_own() || listeners.are_local();
    let first = match host.nodes().first().filter(|_| is_own) {
        Some(node) => prepare_credentials(node, &authentication, args.place.data()).await?,
        None => None,
    };
    let config = HttpConfig {
        is_local: listeners.are_local(),
        proxies: args.behind_proxies,
        has_elsa_links: args.elsa_resume_links,
        requires_https: args.require_https,
        ..HttpConfig::default()
    };
    let requests = pool("requests", PoolLimits::of_machine())?;
    // One at a time: each takes a processor and 19 MB.
    let passwords = pool("passwords", PASSWORD_LIMITS)?;
    let app = |(node, registry): (&Runtime, &Arc<Registry>)| {
        let registry = Arc::clone(registry);
        let app = App::new(node.clone(), config)
            .with_metrics(Arc::new(move || registry.prometheus()))
            .with_authentication(authentication.clone())
            .with_compute(Arc::clone(&requests), Arc::clone(&passwords));
        match &args.public_url {
            Some(url) => app.with_public_url(url),
            None => app,
        }
    };
    let nodes = host.nodes().iter().zip(host.registries());
    let apps: Vec<App> = nodes.map(app).collect();
    allow_event_links(&args, &host, &listeners, scheme(is_encrypted)).await?;
    let hello = Hello {
        first,
        is_open: authentication.is_open(),
        needs_key: !is_own && !authentication.is_open(),
        is_encrypted,
    };
    welcome(&args, &listeners, &hello, screen);

    let pages = pages(&args.studio, &listeners.addresses());
    serve_until_asked(apps, pages, (listeners, serving), stop, screen).await;
    host.close().await;
    screen.line("Stopped.");
    Ok(Exit::Ok)
}

/// Bounds on passwords that are checked. Clients that have signed in before are a tenant of their own, and find room.
const PASSWORD_LIMITS: PoolLimits = PoolLimits {
    threads: 1,
    queued_max: 200,
    queued_of_tenant_max: 100,
    queued_of_share_max: 10,
};

fn pool(name: &str, limits: PoolLimits) -> Result<Arc<dyn Compute>, Failure> {
    Ok(Arc::new(
        Pool::start(name, limits).map_err(Failure::system)?,
    ))
}

/// Serves until it is asked to stop, and answers what was accepted before.
async fn serve_until_asked(
    apps: Vec<App>,
    pages: Pages,
    (listeners, how): (Listeners, Serving),
    stop: Stop,
    screen: &Screen,
) {
    let routes = apps.iter().cloned().map(router);
    let routers = routes.map(|routes| pages.clone().around(routes)).collect();
    let mut asked = stop.clone();
    let serving = tokio::spawn(listeners.serve(routers, how, stop));
    let _sender_gone = asked.wait_for(|stop| *stop).await;
    apps.iter().for_each(App::drain);
    screen.line("Stopping: finishing what is under way. Ctrl-C again ends at once.");
    // Scripts end after a moment, whatever they do. Their bursts are repeated after the next start.
    let nodes: Vec<Runtime> = apps.iter().map(|app| app.runtime().clone()).collect();
    tokio::spawn(async move {
        tokio::time::sleep(SCRIPTS_END).await;
        nodes.iter().for_each(|node| node.pauses().end_scripts());
    });
    let rest = tokio::time::timeout(Duration::from_secs(REQUESTS_S), serving);
    if rest.await.is_err() {
        tracing::warn!("some requests were not answered in time");
    }
}

/// Scripts can make links to events where it is known what a link begins with.
async fn allow_event_links(
    args: &ServeArgs,
    host: &Host,
    listeners: &Listeners,
    scheme: &str,
) -> Result<(), Failure> {
    let first = listeners.addresses().first().copied();
    let own = first.filter(|_| listeners.are_local());
    let own = own.map(|address| format!("{scheme}://{address}"));
    if let Some(url) = args.public_url.clone().or(own) {
        for node in host.nodes() {
            let allowed = node
                .links()
                .allow_event_links(&url, args.elsa_resume_links)
                .await;
            allowed.map_err(|e| Failure::runtime(&e))?;
        }
    }
    Ok(())
}

/// Access control, as the first lines of the server describe it.
struct Hello {
    first: Option<FirstUse>,
    is_open: bool,
    needs_key: bool,
    is_encrypted: bool,
}

fn scheme(is_encrypted: bool) -> &'static str {
    match is_encrypted {
        true => "https",
        false => "http",
    }
}

/// Refuses a demand that no request could meet.
fn demand_https(args: &ServeArgs, is_encrypted: bool) -> Result<(), Failure> {
    if !args.require_https || is_encrypted || args.behind_proxies > 0 {
        return Ok(());
    }
    let message = "--require-https: no request comes by HTTPS, for the server has no certificate, and no proxy stands before it";
    Err(Failure::new(Exit::BadInput, "noHttps", message)
        .help("add --tls-cert and --tls-key, or --behind-proxies"))
}

/// Three lines that get a newcomer going; one value for a program.
fn welcome(args: &ServeArgs, listeners: &Listeners, hello: &Hello, screen: &Screen) {
    let urls: Vec<String> = listeners
        .addresses()
        .iter()
        .map(|address| format!("{}://{address}", scheme(hello.is_encrypted)))
        .collect();
    let (kind, place) = args.place.shown();
    let first = hello.first.as_ref();
    let user = first.map(|first| json!({ "name": first.user, "password": first.password }));
    screen.value(&json!({ "urls": urls, kind: place, "firstUser": user }));
    let first = urls.first().map(String::as_str).unwrap_or_default();
    let url = match args.port {
        7070 if !hello.is_encrypted => String::new(),
        _ => format!(" --url {first}"),
    };
    screen.line(format!(
        "Dormouse listens on {} and stores its data in {}{place}",
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
    if let Some(FirstUse { user, password }) = &hello.first {
        screen.line(format!(
            "  sign in as:         {user}, password {password} (shown this once)"
        ));
    }
    if hello.needs_key {
        screen.line("  the first API key:  dormouse key, with the same options for the table");
    }
    if hello.is_open && !listeners.are_local() {
        screen.line("  warning: access control is off; every client that reaches this address has all permissions");
    }
    if !listeners.are_local() && !hello.is_encrypted {
        screen.line("  warning: other machines can reach this address without encryption; use --tls-cert, or a proxy with TLS");
    }
}

fn speak(is_json: bool, spoken: &Spoken) {
    let screen = Screen::new(is_json);
    let Spoken { instance, text } = spoken;
    screen.value(&json!({ "workflowInstanceId": instance, "line": text }));
    let short: String = instance.chars().take(8).collect();
    screen.line(format!("{} {text}", screen.dim(&format!("[{short}]"))));
}
