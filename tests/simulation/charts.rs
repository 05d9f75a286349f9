//! Random flowcharts: branches that meet, and outcomes that say which way it goes.

use dormouse_tests::flow::flow;
use dormouse_tests::primitives::{case, decision, flow_switch, join, task};
use dormouse_tests::{Activity, activity, js, object};
use serde_json::{Value, json};

use super::generator::Maker;

impl Maker {
    /// A flowchart of two branches that meet.
    pub(super) fn diamond(&mut self, times: u32) -> Activity {
        self.within(|maker| {
            let [first, last] = [maker.line(times), maker.line(times)];
            let [left, right] = [maker.pause(times), maker.leaf("task", times, task)];
            let id = |activity: &Activity| {
                let json: Value = activity.clone().json();
                json["id"].as_str().unwrap_or_default().to_owned()
            };
            let (a, b, c, d) = (id(&first), id(&left), id(&right), id(&last));
            flow(
                &format!("{a} > {b} > {d}; {a} > {c} > {d}"),
                [first, left, right, last],
            )
        })
    }

    /// A flowchart whose outcomes say which way it goes.
    pub(super) fn chart(&mut self, times: u32) -> Activity {
        self.within(|maker| {
            let [not, so, last] = [maker.line(0), maker.line(times), maker.line(times)];
            let id = |activity: &Activity| {
                let json: Value = activity.clone().json();
                json["id"].as_str().unwrap_or_default().to_owned()
            };
            let (n, s, l) = (id(&not), id(&so), id(&last));
            match maker.below(4) {
                0 => {
                    let first = maker.leaf("decision", times, |_| decision(js("2 > 1")));
                    let f = id(&first);
                    let edges = format!("{f}:True > {s} > {l}; {f}:False > {n}");
                    flow(&edges, [first, so, last, not])
                }
                1 => {
                    let cases = vec![
                        case("so", js("2 > 1"), None),
                        case("not", js("1 > 2"), None),
                    ];
                    let first = maker.leaf("switch", times, |_| flow_switch("MatchFirst", cases));
                    let f = id(&first);
                    let edges = format!("{f}:so > {s} > {l}; {f}:not > {n}");
                    flow(&edges, [first, so, last, not])
                }
                2 => {
                    maker.expect.calls += times;
                    let first = maker.leaf("ask", times, |_| {
                        activity("Elsa.FlowSendHttpRequest")
                            .input("url", "https://shop.example/orders")
                            .input("method", "POST")
                            .input("expectedStatusCodes", object(json!([200, 404])))
                    });
                    let f = id(&first);
                    let edges = format!("{f}:200 > {s} > {l}; {f}:404 > {n}");
                    flow(&edges, [first, so, last, not])
                }
                _ => {
                    let names = object(json!(["so", "too"]));
                    let first = maker.leaf("fork", times, |_| {
                        activity("Elsa.FlowFork").input("branches", names)
                    });
                    let too = maker.pause(times);
                    let meet = maker.leaf("join", times, |_| join("WaitAll"));
                    let (f, t, m) = (id(&first), id(&too), id(&meet));
                    let edges = format!("{f}:so > {s} > {m}; {f}:too > {t} > {m}; {m} > {l}");
                    flow(&edges, [first, so, too, meet, last])
                }
            }
        })
    }
}
