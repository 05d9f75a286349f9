//! `dormouse cost`

mod names;
mod tell;

use std::path::PathBuf;

use clap::Args;
use dormouse_cost::{Account, Bill, CostError, EVERY_OTHER, Prices, Start, run};
use dormouse_engine::id::splitmix;
use dormouse_runtime::{DefinitionHandle, StartRequest};
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::json;
use tracing::level_filters::LevelFilter;

use names::Names;
use tell::{Priced, tell};

use super::run::publish;
use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, InputArgs};
use crate::screen::Screen;

/// Definition to price, and its load.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// Definition to price, followed by the definitions that it uses
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Definition that the priced one starts or uses. Repeatable
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    /// Payload of an event or result of a task, by its name. Others have no payload. Repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    answer: Vec<String>,
    /// Start at this trigger activity, as if it had fired
    #[arg(long, value_name = "ACTIVITY")]
    trigger: Option<String>,
    /// Number of runs to price
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
    /// Bytes of random text to add to the input, and to each event and task without --answer
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=262_144))]
    input_bytes: u64,
    /// Number of instances that wait at the same time. Adds the monthly price of their storage
    #[arg(long, value_name = "N")]
    waiting: Option<u64>,
    /// Also list the reads and writes of each phase of a run, by kind of item
    #[arg(long)]
    items: bool,
}

/// Name of the filler in inputs and payloads.
const FILLER: &str = "Filler";

/// Runs the workflow in an account in memory, and tells what it would cost on AWS.
pub(crate) async fn cost(args: &CostArgs, screen: &Screen) -> Result<Exit, Failure> {
    begin_log(LevelFilter::ERROR, LogFormat::Text);
    let prices = Prices::of_this_build().map_err(|e| {
        Failure::new(
            Exit::Failed,
            "prices",
            format!("the prices are damaged: {e}"),
        )
    })?;
    let mut paths = args.files.clone();
    paths.extend(args.with.iter().cloned());
    let files = definition_file::read_all(&paths)?;
    let names = Names::of(&files);
    let mut answers = input::pairs("--answer", &args.answer)?;
    let given: Vec<String> = answers.keys().cloned().collect();
    let mut input = args.input.read()?;
    if args.input_bytes > 0 {
        let text = filler(args.input_bytes);
        let filler = json!({ FILLER: text });
        input.insert(FILLER.to_owned(), text.into());
        answers.entry(EVERY_OTHER).or_insert(filler);
    }
    let account = Account::new();
    let first = publish(account.runtime(), account.tenant(), files, (false, screen)).await?;
    account.settle().await.map_err(|e| Failure::runtime(&e))?;
    let start = match &args.trigger {
        None if account.recurs(&first) => Start::Occurrence {
            definition_id: first,
        },
        trigger => Start::Request(Box::new(StartRequest {
            input,
            trigger_activity_id: trigger.clone(),
            ..StartRequest::new(DefinitionHandle::published(first))
        })),
    };
    // The first run fills the caches, as the first one in a Lambda environment does.
    let cold = Box::pin(run(&account, start.clone(), &answers)).await;
    let cold = cold.map_err(failed)?;
    names.check(&given, &cold.asked)?;
    let ran = Box::pin(run(&account, start.clone(), &answers)).await;
    let ran = ran.map_err(failed)?;
    let bill = Bill::of(&ran.tally, &prices);
    let priced = Priced {
        prices: &prices,
        ran: &ran,
        bill: &bill,
        missing: names.missing(),
        is_occurrence: matches!(start, Start::Occurrence { .. }),
    };
    tell(args, screen, &priced);
    Ok(Exit::Ok)
}

/// Text that does not compress much: letters and digits in an order that is always the same.
fn filler(bytes: u64) -> String {
    const DIGITS: u64 = 36;
    let digit = |n: u64| char::from_digit((splitmix(n) % DIGITS) as u32, DIGITS as u32);
    (0..bytes).filter_map(digit).collect()
}

fn failed(error: CostError) -> Failure {
    match &error {
        CostError::Runtime(error) => Failure::runtime(error),
        CostError::NotStarted(_) => Failure::new(Exit::Conflict, "notStarted", error.to_string())
            .help("its activation strategy may allow one instance only, and one waits already"),
        CostError::Endless => Failure::new(Exit::Failed, "endless", error.to_string())
            .help("a timer without an end? price the part that ends"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filler_has_its_size_and_is_always_the_same() {
        assert_eq!(filler(1_000).len(), 1_000);
        assert_eq!(filler(50), filler(50));
    }
}
