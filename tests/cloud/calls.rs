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

/// Calls that do not happen on this way: who may make them, and what brings them about.
const RARE: [(&str, &str, &str); 12] = [
    ("dormouse-api", "dynamodb:ConditionCheckItem", MANY_WRITES),
    (
        "dormouse-resume",
        "dynamodb:ConditionCheckItem",
        MANY_WRITES,
    ),
    ("dormouse-timer", "dynamodb:ConditionCheckItem", MANY_WRITES),
    (
        "dormouse-resume",
        "sqs:ChangeMessageVisibility",
        "a message that fails, or whose instance somebody else works on, comes again after a pause",
    ),
    (
        "dormouse-resume",
        "sns:Publish",
        "consumers that follow a definition are published by message",
    ),
    (
        "dormouse-timer",
        "sqs:ChangeMessageVisibility",
        "a timer that cannot be fired comes again",
    ),
    (
        "dormouse-invalidation",
        "dynamodb:Query",
        "a workflow that another one uses, and that was not there when that was published, is looked for by its name",
    ),
    ("dormouse-timer", "sqs:GetQueueUrl", ORPHANS),
    ("dormouse-timer", "sqs:ListQueueTags", ORPHANS),
    ("dormouse-timer", "sqs:DeleteQueue", ORPHANS),
    ("dormouse-timer", "sns:ListSubscriptionsByTopic", ORPHANS),
    ("dormouse-timer", "sns:Unsubscribe", ORPHANS),
];

/// `tests/contract.rs` and `shared/store/tests` show these.
const MANY_WRITES: &str = "a commit or a publish of more than a hundred writes";

/// `tests/aws/node_queues.rs` shows these.
const ORPHANS: &str = "every ten minutes the queues of containers that are gone are removed";

pub(super) fn every_call_is_allowed_and_every_permission_is_used(cloud: &Cloud) -> Result<()> {
    let template = Template::read();
    let calls = cloud.recorder.calls();
    let mut wrong = Vec::new();
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
        for action in called.difference(&allowed) {
            wrong.push(format!("{function} calls {action}, which is not allowed"));
        }
        let is_rare = |action: &str| {
            let mut rare = RARE.iter();
            rare.any(|(whose, call, _why)| *whose == function && *call == action)
        };
        let unused = allowed.difference(&called);
        for action in unused.filter(|a| !OF_LAMBDA.contains(a) && !IMPLIED.contains(a)) {
            if !is_rare(action) {
                wrong.push(format!(
                    "{function} is allowed {action}, and never calls it"
                ));
            }
        }
    }
    ensure!(wrong.is_empty(), "{}\n{calls:#?}", wrong.join("\n"));
    Ok(())
}
