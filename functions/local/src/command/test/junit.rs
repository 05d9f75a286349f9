//! Results of tests as JUnit XML, as continuous integration reads it.

use std::fmt::Write;

use super::{CaseResult, FileResult};
use crate::xml::escape;

/// The document: a suite for each file, a case for each case.
pub(super) fn xml(results: &[FileResult]) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for result in results {
        suite(&mut out, result);
    }
    out.push_str("</testsuites>\n");
    out
}

fn suite(out: &mut String, result: &FileResult) {
    let file = escape(&result.file);
    let cases = result.cases();
    let failed = cases.iter().filter(|c| !c.has_passed()).count();
    let errors = usize::from(result.ran.is_err());
    let seconds = cases.iter().map(|c| c.ms).sum::<f64>() / 1_000.0;
    let tests = cases.len() + errors;
    let _infallible = writeln!(
        out,
        "  <testsuite name=\"{file}\" tests=\"{tests}\" failures=\"{failed}\" errors=\"{errors}\" time=\"{seconds:.3}\">"
    );
    if let Err(broken) = &result.ran {
        let message = escape(&format!(
            "{}:{}: {}",
            result.file, broken.line, broken.message
        ));
        let _infallible = writeln!(
            out,
            "    <testcase classname=\"{file}\" name=\"the file can be used\">\n      <error message=\"{message}\"/>\n    </testcase>"
        );
    }
    for one in cases {
        case(out, &result.file, one);
    }
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, file: &str, one: &CaseResult) {
    let _infallible = write!(
        out,
        "    <testcase classname=\"{}\" name=\"{}\" file=\"{}\" line=\"{}\" time=\"{:.3}\"",
        escape(file),
        escape(&one.case.name),
        escape(file),
        one.case.line,
        one.ms / 1_000.0
    );
    if one.has_passed() {
        out.push_str("/>\n");
        return;
    }
    out.push_str(">\n");
    for failure in &one.outcome.failures {
        let message = escape(&format!("{file}:{}: {}", failure.line, failure.message));
        let _infallible = writeln!(out, "      <failure message=\"{message}\"/>");
    }
    out.push_str("    </testcase>\n");
}
