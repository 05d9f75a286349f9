//! Spans of a real server, as a collector receives them.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_tests::sink::Sink;
use serde_json::Value;

use crate::process::{Server, folder};

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// An attribute of a span.
fn attribute<'a>(span: &'a Value, key: &str) -> &'a str {
    let mut attributes = span["attributes"].as_array().unwrap().iter();
    let found = attributes.find(|attribute| attribute["key"] == key);
    found.map_or("", |attribute| text(&attribute["value"], "stringValue"))
}

/// All spans that a collector was told of.
fn spans(collector: &Sink) -> Vec<Value> {
    let bodies = collector.bodies("v1/traces");
    let mut spans = Vec::new();
    for body in bodies {
        let body: Value = serde_json::from_slice(&body).unwrap();
        let resource = &body["resourceSpans"][0];
        let service = &resource["resource"]["attributes"][0];
        assert_eq!(service["value"]["stringValue"], "dormouse");
        let told = resource["scopeSpans"][0]["spans"].as_array().unwrap();
        spans.extend(told.iter().cloned());
    }
    spans
}

#[test]
fn each_burst_is_a_span_in_the_trace_of_its_instance_linked_to_its_cause() {
    let data = folder();
    let collector = Sink::start();
    let server = Server::start_with(data.path(), &["--traces", &collector.url()]);
    server.publish("grant-access");
    server.publish("onboarding");
    let args = ["start", "onboarding", "-i", "Person=Ada"];
    let started = server.json(&[&args[..], &["-i", "Systems=[\"crm\",\"wiki\"]"]].concat());
    let parent = text(&started, "workflowInstanceId").to_owned();
    server.wait_for(&parent, "Finished");
    // What waits is sent at the end.
    let (code, _said) = server.stop();
    assert_eq!(code, 0);

    let spans = spans(&collector);
    let mut traces: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for span in &spans {
        let instance = attribute(span, "dormouse.instance");
        traces
            .entry(instance)
            .or_default()
            .insert(text(span, "traceId"));
        assert!(ids.insert(text(span, "spanId")), "twice: {span:#}");
        let times = ["startTimeUnixNano", "endTimeUnixNano"].map(|name| text(span, name));
        assert!(times[0] <= times[1] && times[0].len() == 19, "{span:#}");
    }
    // The parent, and a child for the mail account and for each system.
    assert_eq!(traces.len(), 4, "{traces:?}");
    assert!(traces.values().all(|ids| ids.len() == 1), "{traces:?}");
    for span in &spans {
        let is_first = span.get("parentSpanId").is_none();
        assert!(is_first || ids.contains(text(span, "parentSpanId")));
        let links = span["links"].as_array().unwrap();
        for link in links {
            assert!(ids.contains(text(link, "spanId")), "{span:#}");
            assert_ne!(link["traceId"], span["traceId"]);
        }
        // A child begins because of its parent, and a parent goes on because of a child; but a delay is nobody's doing.
        let is_parent = attribute(span, "dormouse.instance") == parent;
        assert_eq!(!links.is_empty(), is_first != is_parent, "{span:#}");
    }
}
