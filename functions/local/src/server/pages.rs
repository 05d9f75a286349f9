//! The console's pages, with what they tell of this server.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use dormouse_console::{Pages, Studio};
use dormouse_cost::Prices;
use serde_json::{Value, json};

/// Folder of Elsa Studio.
#[derive(Debug, Args)]
pub(crate) struct StudioArgs {
    /// Folder of Elsa Studio, as created by `dormouse studio install`. Without it, the console has only its built-in pages
    #[arg(
        long,
        value_name = "FOLDER",
        env = "DORMOUSE_STUDIO",
        default_value = "dormouse-studio"
    )]
    pub(crate) studio: PathBuf,
}

/// The console of a server with these nodes.
pub(crate) fn pages(args: &StudioArgs, addresses: &[SocketAddr]) -> Pages {
    let nodes: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let about = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "nodes": nodes,
        "prices": prices(),
    });
    Pages::new(about, Studio::find(&args.studio))
}

/// Rough cost of a burst on AWS: an invocation that takes a lease, commits and reads once. Each write is one
/// unit for the item and one for the index that lists it.
fn prices() -> Value {
    let Ok(prices) = Prices::of_this_build() else {
        return Value::Null;
    };
    let each = &prices.usd_per_million;
    let assumed = &prices.assumed;
    let ms = assumed.own_ms_per_invocation + 3.0 * assumed.ms_per_table_call;
    let gb_seconds = ms / 1_000.0 * assumed.lambda_memory_mb / 1_024.0;
    let million = each.lambda_requests
        + 1_000_000.0 * gb_seconds * prices.lambda_usd_per_gb_second
        + 4.0 * each.table_write_units
        + each.table_read_units;
    json!({ "date": prices.date, "perMillionBursts": million })
}
