//! `dormouse cost`

use std::path::PathBuf;

use clap::Args;
use dormouse_cost::{Account, Bill, CostError, Prices, Ran, run};
use dormouse_runtime::{DefinitionHandle, StartRequest};
use dormouse_telemetry::{LogFormat, begin_log};
use serde_json::json;
use tracing::level_filters::LevelFilter;

use super::run::publish;
use crate::definition_file;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{self, InputArgs};
use crate::screen::Screen;
use crate::text_table::TextTable;

/// What to price.
#[derive(Debug, Args)]
pub(crate) struct CostArgs {
    /// The definition to price, and after it the ones that it needs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    input: InputArgs,
    /// What an event brings or a task results in, by its name: `NAME=JSON`. Others bring nothing
    #[arg(long, value_name = "NAME=VALUE")]
    answer: Vec<String>,
    /// Start at this trigger activity, as if it had fired
    #[arg(long, value_name = "ACTIVITY")]
    trigger: Option<String>,
    /// How many runs to price
    #[arg(long, default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..))]
    runs: u64,
}

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
    let files = definition_file::read_all(&args.files)?;
    let answers = input::pairs("--answer", &args.answer)?;
    let account = Account::new();
    let first = publish(account.runtime(), account.tenant(), files).await?;
    account.settle().await.map_err(|e| Failure::runtime(&e))?;
    let request = StartRequest {
        input: args.input.read()?,
        trigger_activity_id: args.trigger.clone(),
        ..StartRequest::new(DefinitionHandle::published(first))
    };
    // The first run fills the caches, as the first one in a Lambda environment does.
    let cold = Box::pin(run(&account, request.clone(), &answers)).await;
    cold.map_err(failed)?;
    let ran = Box::pin(run(&account, request, &answers))
        .await
        .map_err(failed)?;
    let bill = Bill::of(&ran.tally, &prices);
    tell(args, screen, &prices, &ran, &bill);
    Ok(Exit::Ok)
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

fn tell(args: &CostArgs, screen: &Screen, prices: &Prices, ran: &Ran, bill: &Bill) {
    let of_runs = |usd_per_million: f64| usd_per_million * args.runs as f64 / 1e6;
    screen.value(&json!({
        "runs": args.runs,
        "usd": of_runs(bill.usd_per_million_runs),
        "stepFunctionsUsd": of_runs(bill.step_functions_usd_per_million_runs),
        "lines": bill.lines,
        "tableCalls": ran.tally.table.calls(),
        "lambdaMs": ran.tally.lambda_ms(&prices.assumed),
        "activities": ran.tally.activities,
        "subStatus": ran.sub_status,
        "unanswered": ran.unanswered,
        "prices": { "date": prices.date, "region": prices.region },
    }));
    let runs = args.runs;
    screen.line(format!(
        "{} for {runs} runs on AWS, {}, prices of {}:",
        screen.bold(&usd(of_runs(bill.usd_per_million_runs))),
        prices.region,
        prices.date
    ));
    let mut table = TextTable::new(&["PART", "A RUN", "", "US$"]);
    for line in &bill.lines {
        table.row([
            line.part.to_owned(),
            quantity(line.per_run),
            line.unit.to_owned(),
            usd(of_runs(line.usd_per_million_runs)),
        ]);
    }
    screen.table(&table);
    let (calls, assumed) = (ran.tally.table.calls(), &prices.assumed);
    screen.line(format!(
        "A run makes {calls} calls to the table and takes {:.0} ms of functions with {:.0} MB, as far as can be assumed.",
        ran.tally.lambda_ms(assumed),
        assumed.lambda_memory_mb
    ));
    screen.line(format!(
        "Step Functions Standard: {} for {} state transitions a run, without the functions that it calls.",
        usd(of_runs(bill.step_functions_usd_per_million_runs)),
        ran.tally.activities
    ));
    if ran.tally.outgoing_requests > 0 {
        screen.line(format!(
            "Its {} outgoing requests were not made: each counts as {:.0} ms and answered 200.",
            ran.tally.outgoing_requests, assumed.ms_per_outgoing_request
        ));
    }
    for what in &ran.unanswered {
        screen.line(format!(
            "It still waits for {what}; what comes after that is not counted."
        ));
    }
    screen.line(format!("It ended as {}.", screen.status(&ran.sub_status)));
    screen.line(
        screen
            .dim("Not counted: storage, logs, data transfer, and what AWS gives free each month."),
    );
}

fn usd(amount: f64) -> String {
    format!("US$ {amount:.2}")
}

fn quantity(number: f64) -> String {
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(quantity(3.0), "3");
        assert_eq!(quantity(0.0125), "0.0125");
        assert_eq!(usd(12.345), "US$ 12.35");
    }
}
