//! Results of tests, for people and programs.

use dormouse_sandbox::Coverage;
use serde_json::{Value, json};

use super::{CaseResult, FileResult};
use crate::moment;
use crate::screen::Screen;

/// Writes the results of a file for people.
pub(super) fn tell_file(screen: &Screen, result: &FileResult, has_details: bool) {
    screen.line(screen.bold(&result.file));
    let ran = match &result.ran {
        Ok(ran) => ran,
        Err(broken) => {
            let at = format!("{}:{}", result.file, broken.line);
            let fail = screen.status("Faulted").replace("Faulted", "ERROR");
            screen.line(format!("  {fail}  {at}: {}", broken.message));
            return;
        }
    };
    for one in &ran.cases {
        let passed = screen.status("Finished").replace("Finished", "ok   ");
        let failed = screen.status("Faulted").replace("Faulted", "FAIL ");
        let verdict = if one.has_passed() { passed } else { failed };
        let spent = match one.outcome.virtual_ms {
            0 => format!("{:.1} ms", one.ms),
            virtual_ms => format!("{} in {:.1} ms", moment::length(virtual_ms), one.ms),
        };
        let spent = screen.dim(&format!("({spent})"));
        screen.line(format!("  {verdict}  {}  {spent}", one.case.name));
        for failure in &one.outcome.failures {
            let at = format!("{}:{}", result.file, failure.line);
            screen.line(format!("         {at}: {}", failure.message));
        }
    }
    tell_coverage(screen, &ran.coverage, has_details);
}

fn tell_coverage(screen: &Screen, coverage: &Coverage, has_details: bool) {
    let ran = coverage.activities.iter().filter(|a| a.runs > 0).count();
    let taken = coverage.outcomes.iter().filter(|o| o.runs > 0).count();
    let line = format!(
        "  coverage: {ran} of {} activities, {taken} of {} outcomes",
        coverage.activities.len(),
        coverage.outcomes.len()
    );
    screen.line(screen.dim(&line));
    if !has_details {
        return;
    }
    let name_of = |id: &str| {
        let found = coverage.activities.iter().find(|a| a.id == id);
        let name = found.and_then(|a| a.name.as_deref());
        name.unwrap_or(id).to_owned()
    };
    for activity in coverage.activities.iter().filter(|a| a.runs == 0) {
        screen.line(format!("    never ran: {}", name_of(&activity.id)));
    }
    for outcome in coverage.outcomes.iter().filter(|o| o.runs == 0) {
        let (name, outcome) = (name_of(&outcome.activity), &outcome.outcome);
        screen.line(format!("    never taken: {name} > {outcome}"));
    }
}

/// Writes the sum for people, and everything for programs.
pub(super) fn tell_all(screen: &Screen, results: &[FileResult], ms: f64) {
    let cases: Vec<&CaseResult> = results.iter().flat_map(FileResult::cases).collect();
    let failed = cases.iter().filter(|c| !c.has_passed()).count();
    let broken = results.iter().filter(|r| r.ran.is_err()).count();
    let mut line = match (cases.len(), failed) {
        (1, 0) => "1 case passed".to_owned(),
        (all, 0) => format!("{all} cases passed"),
        (all, failed) => format!("{failed} of {all} cases failed"),
    };
    if broken > 0 {
        line.push_str(&format!(
            ", {broken} of {} files cannot be used",
            results.len()
        ));
    }
    screen.line(format!("{line} ({ms:.0} ms)"));
    screen.value(&json!({
        "isPassed": failed == 0 && broken == 0,
        "cases": cases.len(),
        "failed": failed,
        "ms": ms,
        "files": results.iter().map(file_json).collect::<Vec<_>>(),
    }));
}

fn file_json(result: &FileResult) -> Value {
    match &result.ran {
        Err(broken) => json!({
            "file": result.file,
            "error": { "line": broken.line, "message": broken.message },
        }),
        Ok(ran) => json!({
            "file": result.file,
            "workflow": ran.workflow,
            "cases": ran.cases.iter().map(case_json).collect::<Vec<_>>(),
            "coverage": coverage_json(&ran.coverage),
        }),
    }
}

fn case_json(one: &CaseResult) -> Value {
    let failures = one.outcome.failures.iter();
    let failures = failures.map(|f| json!({ "line": f.line, "message": f.message }));
    json!({
        "name": one.case.name,
        "line": one.case.line,
        "isPassed": one.has_passed(),
        "ms": one.ms,
        "virtualMs": one.outcome.virtual_ms,
        "failures": failures.collect::<Vec<_>>(),
    })
}

fn coverage_json(coverage: &Coverage) -> Value {
    let activities = coverage.activities.iter();
    let activities = activities.map(|a| json!({ "id": a.id, "name": a.name, "runs": a.runs }));
    let outcomes = coverage.outcomes.iter();
    let outcomes =
        outcomes.map(|o| json!({ "activity": o.activity, "outcome": o.outcome, "runs": o.runs }));
    json!({
        "definitionId": coverage.definition_id,
        "activities": activities.collect::<Vec<_>>(),
        "outcomes": outcomes.collect::<Vec<_>>(),
    })
}
