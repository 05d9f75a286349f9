//! Every row of the two documents, counted from their text: shown by a test, or left out for a reason.

mod cases;
mod cases_outside;
mod expectations;

use std::panic::catch_unwind;

use dormouse_tests::corpus;
use dormouse_tests::rows::{DocumentRow, Proof, Row, read};

/// A row that a test shows: its number under its heading, how it begins, the test.
macro_rules! shown {
    ($section:expr, $number:literal, $begins:literal, $module:ident :: $test:ident) => {
        dormouse_tests::rows::Row {
            section: $section,
            number: $number,
            begins: $begins,
            proof: dormouse_tests::rows::Proof::Test(
                concat!(stringify!($module), "::", stringify!($test)),
                crate::conformance::$module::$test,
            ),
        }
    };
}

/// A row that is not shown here: its number under its heading, how it begins, the reason.
macro_rules! left_out {
    ($section:expr, $number:literal, $begins:literal, $reason:expr) => {
        dormouse_tests::rows::Row {
            section: $section,
            number: $number,
            begins: $begins,
            proof: dormouse_tests::rows::Proof::LeftOut($reason),
        }
    };
}

use {left_out, shown};

/// The documents and what is known of their rows.
const DOCUMENTS: [(&str, &[&[Row]]); 2] = [
    (
        "elsa-workflows/expectations.md",
        &[expectations::COMPONENT, expectations::INTEGRATION],
    ),
    (
        "reference/elsa-cases.md",
        &[
            cases::FLOWCHARTS,
            cases::CONTAINERS,
            cases::WAITING,
            cases_outside::CHILDREN,
            cases_outside::HTTP,
        ],
    ),
];

/// Runs the test of each row and tells the outcome, one line a row. Fails if a row has neither test nor reason.
#[test]
fn every_row_is_shown_or_left_out_for_a_reason() {
    let (mut passed, mut total) = (0, 0);
    let mut unknown = Vec::new();
    let mut failed = Vec::new();
    for (path, known) in DOCUMENTS {
        let Some(document) = corpus::document(path) else {
            return;
        };
        let known: Vec<&Row> = known.iter().copied().flatten().collect();
        let rows = read(&document);
        assert_eq!(
            rows.len(),
            known.len(),
            "{path} and the table have the same number of rows"
        );
        for row in rows {
            total += 1;
            match known.iter().find(|k| k.is_about(&row)).map(|k| k.proof) {
                None => unknown.push(row),
                Some(Proof::LeftOut(reason)) => println!("left out: {} — {reason}", name(&row)),
                Some(Proof::Test(_, test)) if catch_unwind(test).is_ok() => passed += 1,
                Some(Proof::Test(test, _)) => failed.push(format!("{} — {test}", name(&row))),
            }
        }
    }
    println!("rows passed {passed} of {total}");
    assert!(
        unknown.is_empty(),
        "neither tested nor left out for a reason: {unknown:#?}"
    );
    assert!(failed.is_empty(), "failed: {failed:#?}");
}

fn name(row: &DocumentRow) -> String {
    let section = row.section.rsplit("__").next().unwrap_or_default();
    format!("{section} {}: {}", row.number, row.text)
}
