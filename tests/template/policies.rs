//! The policies: each function has a role of its own, and a star stands only where a name is not known before.

use dormouse_tests::template::{Template, each, texts};
use serde_json::json;

const ROLES: [&str; 4] = ["ApiRole", "ResumeRole", "TimerRole", "InvalidationRole"];

#[test]
fn each_function_has_a_role_of_its_own() {
    let template = Template::read();
    let mut roles: Vec<&str> = Vec::new();
    for function in template.of_type("AWS::Serverless::Function").values() {
        let role = function["Role"]["Fn::GetAtt"].as_str().expect("a role");
        roles.push(role.strip_suffix(".Arn").expect("a role"));
    }
    roles.sort_unstable();
    let mut all = ROLES;
    all.sort_unstable();
    assert_eq!(roles, all);
}

#[test]
fn no_action_has_a_star_and_no_resource_where_it_has_a_name() {
    let template = Template::read();
    for role in ROLES
        .into_iter()
        .chain(["ScheduleRole", "SweepRole", "NodePolicy"])
    {
        for statement in template.statements(role) {
            for action in texts(&statement["Action"]) {
                assert!(!action.contains('*'), "{role}: {action}");
            }
            for resource in each(&statement["Resource"]) {
                let Some(pattern) = resource["Fn::Sub"].as_str() else {
                    assert!(!resource.to_string().contains('*'), "{role}: {resource}");
                    continue;
                };
                let may = [
                    // Objects, schedules, a container's own queue and subscriptions have names only once they are there.
                    "${Bucket.Arn}/*",
                    "schedule/${ScheduleGroup}/*",
                    "${AWS::StackName}-node-*",
                    "${Topic}:*",
                ];
                let has_star = pattern.contains('*');
                assert!(
                    !has_star || may.iter().any(|end| pattern.ends_with(end)),
                    "{role}: {pattern}"
                );
            }
        }
    }
}

#[test]
fn a_role_is_handed_on_to_the_scheduler_alone() {
    let template = Template::read();
    let only = json!({ "StringEquals": { "iam:PassedToService": "scheduler.amazonaws.com" } });
    let mut passes = 0;
    for role in ROLES.into_iter().chain(["NodePolicy"]) {
        for statement in template.statements(role) {
            if texts(&statement["Action"]).contains(&"iam:PassRole") {
                assert_eq!(statement["Condition"], only, "{role}");
                assert_eq!(
                    statement["Resource"],
                    json!({ "Fn::GetAtt": "ScheduleRole.Arn" })
                );
                passes += 1;
            }
        }
    }
    assert!(passes >= 4, "{passes}");
}
