//! What the functions called on the whole way, beside what their policies allow.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};
use dormouse_tests::cloud::Cloud;
use dormouse_tests::template::{Template, texts};

/// What Lambda itself does under a function's role.
const OF_LAMBDA: [&str; 5] = [
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "sqs:ReceiveMessage",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
];

/// No call of their own: what another call needs.
const IMPLIED: [&str; 2] = ["iam:PassRole", "s3:ListBucket"];

/// Calls that only a crash, a race or a fault brings about, which do not happen on this way.
const RARE: [(&str, &str); 0] = [];

pub(super) fn every_call_is_allowed_and_every_permission_is_used(cloud: &Cloud) -> Result<()> {
    let template = Template::read();
    let calls = cloud.recorder.calls();
    for (function, role) in [
        ("dormouse-api", "ApiRole"),
        ("dormouse-resume", "ResumeRole"),
        ("dormouse-timer", "TimerRole"),
        ("dormouse-invalidation", "InvalidationRole"),
    ] {
        let called: BTreeSet<&str> = calls
            .iter()
            .filter(|(caller, _)| caller == function)
            .map(|(_, action)| action.as_str())
            .collect();
        let statements = template.statements(role).into_iter();
        let allowed: BTreeSet<&str> = statements
            .flat_map(|statement| texts(&statement["Action"]))
            .collect();
        eprintln!("{function}: {called:?}");
        let forbidden: Vec<&&str> = called.difference(&allowed).collect();
        ensure!(
            forbidden.is_empty(),
            "{function} may not, but does: {forbidden:?}"
        );
        let unused: Vec<&&str> = allowed
            .difference(&called)
            .filter(|action| !OF_LAMBDA.contains(action) && !IMPLIED.contains(action))
            .filter(|action| !RARE.contains(&(function, action)))
            .collect();
        ensure!(
            unused.is_empty(),
            "{function} may, but never does: {unused:?}"
        );
    }
    Ok(())
}
