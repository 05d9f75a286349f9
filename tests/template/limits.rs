//! What the world may see and how much of it: routes, logs, the bucket.

use std::collections::BTreeSet;

use dormouse_tests::template::Template;
use serde_json::{Value, json};

#[test]
fn every_area_of_the_api_has_a_route_and_the_rest_reaches_the_function_too() {
    let template = Template::read();
    let routes = template.of_type("AWS::ApiGatewayV2::Route");
    let mut keys: Vec<&str> = routes
        .values()
        .filter_map(|route| route["RouteKey"].as_str())
        .collect();
    keys.sort_unstable();
    let areas = [
        "$default",
        "ANY /elsa/api/{proxy+}",
        "ANY /workflows/{proxy+}",
        "GET /health/{proxy+}",
    ];
    assert_eq!(keys, areas);
    for (name, route) in routes {
        assert_eq!(
            route["Target"],
            json!({ "Fn::Sub": "integrations/${ApiIntegration}" }),
            "{name}"
        );
    }
}

#[test]
fn the_access_log_has_no_secrets() {
    let template = Template::read();
    let stage = template.properties("ApiStage");
    let format = stage["AccessLogSettings"]["Format"]
        .as_str()
        .expect("a format");
    // A link that resumes an instance carries its token in the path or in the query.
    for secret in ["path", "query", "authorizer", "header", "Uri"] {
        assert!(
            !format.to_lowercase().contains(&secret.to_lowercase()),
            "{secret}: {format}"
        );
    }
    assert!(format.contains("$context.routeKey"), "{format}");
}

#[test]
fn requests_are_bounded() {
    let template = Template::read();
    let limits = &template.properties("ApiStage")["DefaultRouteSettings"];
    assert_eq!(
        limits["ThrottlingRateLimit"],
        json!({ "Ref": "RequestsPerSecond" })
    );
    assert_eq!(
        limits["ThrottlingBurstLimit"],
        json!({ "Ref": "RequestsBurst" })
    );
}

#[test]
fn every_log_ends_some_day() {
    let template = Template::read();
    let logs = template.of_type("AWS::Logs::LogGroup");
    assert_eq!(logs.len(), 5);
    for (name, log) in logs {
        assert_eq!(
            log["RetentionInDays"],
            json!({ "Ref": "LogRetentionDays" }),
            "{name}"
        );
    }
    for (name, function) in template.of_type("AWS::Serverless::Function") {
        assert!(
            !function["LoggingConfig"]["LogGroup"]["Ref"].is_null(),
            "{name}"
        );
    }
}

#[test]
fn the_bucket_is_for_nobody_else() {
    let template = Template::read();
    let closed = &template.properties("Bucket")["PublicAccessBlockConfiguration"];
    for door in [
        "BlockPublicAcls",
        "BlockPublicPolicy",
        "IgnorePublicAcls",
        "RestrictPublicBuckets",
    ] {
        assert_eq!(closed[door], true, "{door}");
    }
    let policy = template.properties("BucketPolicy").to_string();
    assert!(policy.contains("aws:SecureTransport"), "{policy}");
}

#[test]
fn whoever_deploys_says_who_may_call() {
    let template = Template::read();
    let parameters = template.section("Parameters");
    let without: Vec<&String> = parameters
        .iter()
        .filter(|(_, parameter)| parameter.get("Default").is_none())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(without, ["Authentication"]);
}

#[test]
fn every_measure_is_on_the_dashboard() {
    let template = Template::read();
    let body = template.properties("Dashboard")["DashboardBody"]["Fn::Sub"].as_str();
    let body = body.expect("a body");
    for measure in [
        "InstancesActiveChange",
        "InstancesStarted",
        "InstancesCompleted",
        "InstancesFaulted",
        "BurstMs",
        "LeaseWaitMs",
        "LeaseHeldMs",
        "LeaseContended",
        "LeaseFailed",
        "TimersScheduled",
        "TimersFired",
        "TimersMisfired",
        "TimerLatenessMs",
        "CacheInvalidations",
        "HopsExceeded",
        "DeadLetters",
        "TableThrottled",
        "OutboxDelivered",
    ] {
        let search = format!(r#"MetricName=\"{measure}\""#);
        assert!(body.contains(&search), "{measure}");
    }
}

#[test]
fn the_dashboard_is_json_without_overlaps() {
    let template = Template::read();
    let body = template.properties("Dashboard")["DashboardBody"]["Fn::Sub"].as_str();
    let body: Value = serde_json::from_str(body.expect("a body")).expect("JSON");
    let mut taken = BTreeSet::new();
    for widget in body["widgets"].as_array().expect("widgets") {
        let at = |name: &str| widget[name].as_u64().expect("a number");
        assert!(at("x") + at("width") <= 24, "{widget}");
        for x in at("x")..at("x") + at("width") {
            for y in at("y")..at("y") + at("height") {
                assert!(taken.insert((x, y)), "{widget}");
            }
        }
    }
    assert!(taken.len() > 24 * 30, "{}", taken.len());
}

#[test]
fn every_alarm_can_be_told_and_can_be_left_out() {
    let template = Template::read();
    let alarms = template.of_type("AWS::CloudWatch::Alarm");
    assert_eq!(alarms.len(), 13);
    for (name, alarm) in alarms {
        assert!(
            alarm["AlarmActions"].to_string().contains("AlarmTopic"),
            "{name}"
        );
        assert_eq!(template.resource(name)["Condition"], "HasAlarms", "{name}");
    }
}
