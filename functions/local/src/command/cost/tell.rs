//! Output of `dormouse cost`: the bill, its parts by phase and item, and what is not in it.

use dormouse_cost::{Bill, Prices, Ran, storage_usd_per_month};
use serde_json::{Value, json};

use super::CostArgs;
use crate::screen::Screen;
use crate::text_table::TextTable;

/// Result of pricing.
pub(super) struct Priced<'a> {
    pub(super) prices: &'a Prices,
    pub(super) ran: &'a Ran,
    pub(super) bill: &'a Bill,
    /// Definitions that are started or used, and were not given.
    pub(super) missing: Vec<String>,
    /// True if a recurring trigger started the run.
    pub(super) is_occurrence: bool,
}

/// Tells what a run costs.
pub(super) fn tell(args: &CostArgs, screen: &Screen, priced: &Priced<'_>) {
    screen.value(&answer(args, priced));
    tell_bill(args, screen, priced);
    if args.items {
        tell_items(screen, priced.ran);
    }
    tell_notes(args, screen, priced);
}

fn of_runs(args: &CostArgs, usd_per_million: f64) -> f64 {
    usd_per_million * args.runs as f64 / 1e6
}

fn answer(args: &CostArgs, priced: &Priced<'_>) -> Value {
    let Priced {
        prices, ran, bill, ..
    } = priced;
    let phases = ran.phases.iter().map(|phase| {
        let items = phase.items.iter().map(|((item, call), units)| {
            json!({
                "item": item, "call": call, "count": units.count, "writeUnits": units.write,
                "indexWriteUnits": units.index_write, "readUnits": units.read_halves as f64 / 2.0,
            })
        });
        json!({
            "phase": phase.name, "usdPerMillionRuns": Bill::of(&phase.tally, prices).usd_per_million_runs,
            "items": items.collect::<Vec<_>>(),
        })
    });
    let storage = args.waiting.map(|count| {
        let usd = storage_usd_per_month(count, ran.waiting_bytes, prices);
        json!({ "instances": count, "bytesEach": ran.waiting_bytes, "usdPerMonth": usd })
    });
    json!({
        "runs": args.runs,
        "usd": of_runs(args, bill.usd_per_million_runs),
        "stepFunctionsUsd": of_runs(args, bill.step_functions_usd_per_million_runs),
        "lines": bill.lines,
        "phases": phases.collect::<Vec<_>>(),
        "waiting": storage,
        "keptBytes": ran.kept_bytes,
        "tableCalls": ran.tally.table.calls(),
        "lambdaMs": ran.tally.lambda_ms(&prices.assumed),
        "activities": ran.tally.activities,
        "startedBy": if priced.is_occurrence { "occurrence" } else { "request" },
        "subStatus": ran.sub_status,
        "incidents": ran.incidents,
        "unanswered": ran.unanswered,
        "missingDefinitions": priced.missing,
        "prices": { "date": prices.date, "region": prices.region },
    })
}

fn tell_bill(args: &CostArgs, screen: &Screen, priced: &Priced<'_>) {
    let Priced {
        prices, ran, bill, ..
    } = priced;
    let runs = args.runs;
    screen.line(format!(
        "{} for {runs} runs on AWS, {}, prices of {}:",
        screen.bold(&usd(of_runs(args, bill.usd_per_million_runs))),
        prices.region,
        prices.date
    ));
    let mut table = TextTable::new(&["PART", "A RUN", "", "US$"]);
    for line in &bill.lines {
        table.row([
            line.part.to_owned(),
            quantity(line.per_run),
            line.unit.to_owned(),
            usd(of_runs(args, line.usd_per_million_runs)),
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
        usd(of_runs(args, bill.step_functions_usd_per_million_runs)),
        ran.tally.activities
    ));
}

fn tell_items(screen: &Screen, ran: &Ran) {
    let columns = ["PHASE", "CALL", "ITEM", "COUNT", "WRITE", "INDEX", "READ"];
    let mut table = TextTable::new(&columns);
    for phase in &ran.phases {
        for ((item, call), units) in &phase.items {
            table.row([
                phase.name.clone(),
                (*call).to_owned(),
                item.clone(),
                units.count.to_string(),
                units.write.to_string(),
                units.index_write.to_string(),
                quantity(units.read_halves as f64 / 2.0),
            ]);
        }
    }
    screen.table(&table);
}

fn tell_notes(args: &CostArgs, screen: &Screen, priced: &Priced<'_>) {
    let Priced { prices, ran, .. } = priced;
    if priced.is_occurrence {
        screen.line("A run is an occurrence of its recurring trigger, the schedule of the next one included.");
    }
    if let Some(count) = args.waiting {
        let month = storage_usd_per_month(count, ran.waiting_bytes, prices);
        screen.line(format!(
            "{count} waiting instances take {} bytes each in the table: {} a month.",
            ran.waiting_bytes,
            usd(month)
        ));
    }
    if ran.tally.outgoing_requests > 0 {
        screen.line(format!(
            "Its {} outgoing requests were not made: each counts as {:.0} ms and answered 200.",
            ran.tally.outgoing_requests, prices.assumed.ms_per_outgoing_request
        ));
    }
    for what in &ran.unanswered {
        screen.line(format!(
            "It still waits for {what}; what comes after that is not counted."
        ));
    }
    for id in &priced.missing {
        screen.line(format!(
            "It starts or uses `{id}`, which was not given and is not counted. Add it: --with FILE"
        ));
    }
    screen.line(format!("It ended as {}.", screen.status(&ran.sub_status)));
    for incident in &ran.incidents {
        screen.line(format!("  {incident}"));
    }
    let kept = format!(
        "Not counted: storage of ended instances ({} bytes each), data transfer, and what AWS gives free each month.",
        ran.kept_bytes
    );
    screen.line(screen.dim(&kept));
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
