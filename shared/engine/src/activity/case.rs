//! A case of a `Switch`: a label, a condition, and in the one that is no part of a flowchart an activity.

use crate::definition::data_type::DataType;
use crate::definition::fields::Fields;
use crate::graph::{Builder, Expression, NodeIndex};
use crate::step::{Cx, Fault};

/// A case.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) label: String,
    condition: Option<Expression>,
    pub(super) activity: Option<NodeIndex>,
}

/// Reads the `cases` of a switch.
pub(super) fn read(builder: &mut Builder<'_>, fields: Fields<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for (place, json) in fields.list("cases").into_iter().enumerate() {
        let case = Fields::of(json);
        if !case.is_present() {
            continue;
        }
        let depth = builder.enter(&format!("cases[{place}]"));
        cases.push(Case {
            label: case.text("label").unwrap_or_default(),
            condition: condition(builder, case),
            activity: builder.child(case, "activity"),
        });
        builder.leave(depth);
    }
    cases
}

/// Reads a condition: `{type, value}`, or wrapped like an input, or a plain truth value.
pub(super) fn condition(builder: &mut Builder<'_>, fields: Fields<'_>) -> Option<Expression> {
    let condition = fields.object("condition");
    if condition.is_present() && condition.get("expression").is_none() {
        let depth = builder.enter("condition");
        let found = builder.expression(condition, &DataType::Boolean);
        builder.leave(depth);
        return found;
    }
    builder.input(fields, "condition", &DataType::Boolean)
}

/// The cases that hold. Every condition is evaluated, in order, even when only the first match counts: what a
/// condition does besides is seen by the ones after it, as in Elsa.
pub(super) fn matching<'c>(cx: &mut Cx<'_, '_>, cases: &'c [Case]) -> Result<Vec<&'c Case>, Fault> {
    let mut found = Vec::new();
    for case in cases {
        if cx.condition(case.condition.as_ref())? {
            found.push(case);
        }
    }
    if takes_first(cx)? {
        found.truncate(1);
    }
    Ok(found)
}

/// Whether only the first match counts. Numbers are Elsa's enum values.
fn takes_first(cx: &mut Cx<'_, '_>) -> Result<bool, Fault> {
    let mode = cx.text("mode")?.unwrap_or_default();
    Ok(!(mode.eq_ignore_ascii_case("MatchAny") || mode == "1"))
}
