//! The policies: each function has a role of its own, and a star stands only where a name is not known before.

use dormouse_tests::template::{Template, each, texts};
use serde_json::{Value, json};

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
fn only_resume_invokes_functions_and_only_those_that_are_named() {
    let template = Template::read();
    let policy = template.properties("HandlerPolicy");
    assert_eq!(policy["Roles"], json!([{ "Ref": "ResumeRole" }]));
    let statements = template.statements("HandlerPolicy");
    let [only] = statements.as_slice() else {
        panic!("{statements:?}");
    };
    assert_eq!(only["Action"], "lambda:InvokeFunction");
    let named = json!({ "Fn::Split": [",", { "Ref": "LambdaFunctions" }] });
    assert_eq!(only["Resource"], named);
    let is_there = &template.section("Resources")["HandlerPolicy"]["Condition"];
    assert_eq!(is_there, "InvokesFunctions");
    let invokes = |s: &&Value| texts(&s["Action"]).contains(&"lambda:InvokeFunction");
    for role in ROLES.into_iter().chain(["NodePolicy"]) {
        assert!(!template.statements(role).iter().any(invokes), "{role}");
    }
}

#[test]
fn queues_and_the_topic_take_nothing_that_is_not_encrypted() {
    let template = Template::read();
    let refused = json!({ "Bool": { "aws:SecureTransport": "false" } });
    let mut covered = Vec::new();
    for kind in ["AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy"] {
        for (name, policy) in template.of_type(kind) {
            let statements = template.statements(name);
            let is_refused = |s: &&Value| s["Effect"] == "Deny" && s["Condition"] == refused;
            assert!(statements.iter().any(is_refused), "{name}");
            let of = policy.get("Queues").unwrap_or(&policy["Topics"]);
            covered.extend(each(of).iter().filter_map(|of| of["Ref"].as_str()));
        }
    }
    for kind in ["AWS::SQS::Queue", "AWS::SNS::Topic"] {
        for name in template.of_type(kind).keys() {
            // Alarms go to people, by mail.
            assert!(covered.contains(name) || *name == "AlarmTopic", "{name}");
        }
    }
}

#[test]
fn the_invalidation_reads_definitions_and_no_secrets() {
    let template = Template::read();
    let statements = template.statements("InvalidationRole");
    let reads = |s: &&&Value| texts(&s["Action"]).contains(&"dynamodb:GetItem");
    let read = statements.iter().find(reads).expect("it reads");
    let keys = &read["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
    for key in texts(keys) {
        let read = ["*/DEF#*", "*/TYPE#*", "*/VID#*", "~/PAUSE"];
        assert!(read.contains(&key), "{key}");
    }
    assert_eq!(read["Condition"]["Null"]["dynamodb:LeadingKeys"], "false");
}

#[test]
fn a_role_for_schedules_is_taken_on_by_schedules_of_this_deployment_alone() {
    let template = Template::read();
    for role in ["ScheduleRole", "SweepRole"] {
        let trust = &template.properties(role)["AssumeRolePolicyDocument"]["Statement"];
        for statement in each(trust) {
            assert!(
                statement["Condition"]["ArnEquals"]["aws:SourceArn"].is_object(),
                "{role}"
            );
        }
    }
}

#[test]
fn the_console_has_the_same_policy_wherever_it_lies() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let read = |path: &str| std::fs::read_to_string(format!("{root}/{path}")).expect(path);
    let (own, cloud) = (read("shared/console/src/lib.rs"), read("infra/console.ts"));
    let line = own
        .lines()
        .find(|l| l.starts_with("const OWN_SECURITY"))
        .expect("a policy");
    let policy = line.split('"').nth(1).expect("a text");
    let (_, part) = cloud.split_once("const OWN_SECURITY").expect("a policy");
    let (part, _) = part.split_once(']').expect("a list");
    let told: Vec<&str> = part.split('"').skip(1).step_by(2).collect();
    assert_eq!(told.join("; "), policy);
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
