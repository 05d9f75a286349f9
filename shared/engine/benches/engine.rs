//! How many activities the engine runs per second, alone: `cargo bench -p dormouse-engine`.
//!
//! A flowchart of WriteLines in a row, from the first burst to the end, and the same with encoding and decoding.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    clippy::disallowed_methods,
    reason = "a bench prints, reads the clock, and may stop at once"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use dormouse_engine::definition::Definition;
use dormouse_engine::graph::Graph;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::{Instance, Start};
use dormouse_engine::step::{Environment, Next, Stimulus, step};
use dormouse_engine::time::Timestamp;
use dormouse_expressions::Expressions;
use serde_json::json;

fn main() {
    let expressions = Expressions::default();
    println!(
        "{:<44} {:>14} {:>12}",
        "engine", "activities/s", "µs/instance"
    );
    for nodes in [3, 10, 100, 1_000] {
        measure(
            &format!("flowchart of {nodes}"),
            &chain(nodes),
            &expressions,
            nodes,
        );
    }
    measure(
        "braided flowchart, 100 rows of 3",
        &braid(100),
        &expressions,
        300,
    );
}

fn chain(nodes: usize) -> serde_json::Value {
    let activities: Vec<_> = (0..nodes).map(line).collect();
    let connections: Vec<_> = (1..nodes).map(|i| connect(i - 1, i)).collect();
    flowchart(activities, connections)
}

fn braid(rows: usize) -> serde_json::Value {
    let activities: Vec<_> = (0..rows * 3).map(line).collect();
    let mut connections = Vec::new();
    for row in 1..rows {
        let (above, here) = ((row - 1) * 3, row * 3);
        for (a, b) in [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)] {
            connections.push(connect(above + a, here + b));
        }
    }
    connections.push(connect(0, 1));
    connections.push(connect(0, 2));
    flowchart(activities, connections)
}

fn line(number: usize) -> serde_json::Value {
    json!({ "id": format!("line{number}"), "type": "Elsa.WriteLine",
            "text": { "typeName": "String", "expression": { "type": "Literal", "value": "hello" } } })
}

fn connect(from: usize, to: usize) -> serde_json::Value {
    json!({ "source": { "activity": format!("line{from}"), "port": "Done" }, "target": { "activity": format!("line{to}"), "port": "In" } })
}

fn flowchart(
    activities: Vec<serde_json::Value>,
    connections: Vec<serde_json::Value>,
) -> serde_json::Value {
    json!({ "definitionId": "bench", "root": { "type": "Elsa.Flowchart", "id": "flow", "activities": activities, "connections": connections } })
}

fn measure(name: &str, json: &serde_json::Value, expressions: &Expressions, nodes: usize) {
    let definition = Definition::from_value(json.clone()).expect("the bench's own definition");
    let graph = Graph::compile(&definition, &(), expressions);
    let environment = Environment::new(Timestamp(1_700_000_000_000), expressions);
    let run = |number: u64| {
        let id = InstanceId::from(format!("{number:016x}"));
        let mut instance = Instance::new(&graph, id, Start::default(), environment.now, number);
        let mut stimulus = Stimulus::Start;
        let mut lines = 0;
        loop {
            let transition = step(&graph, instance, stimulus, &environment);
            lines += transition.lines.len();
            instance = transition.instance;
            stimulus = Stimulus::Continue;
            if transition.next == Next::Rest {
                break;
            }
        }
        assert!(
            instance.is_ended() && lines == nodes,
            "{name}: {:?}, {lines} lines",
            instance.incidents
        );
        instance
    };
    for number in 0..100 {
        black_box(run(number));
    }
    let begin = Instant::now();
    let mut instances = 0_u64;
    while begin.elapsed() < Duration::from_secs(1) {
        for _ in 0..10 {
            black_box(run(instances));
            instances += 1;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "counts of a bench")]
    let rate = (instances * nodes as u64) as f64 / seconds;
    #[allow(clippy::cast_precision_loss, reason = "counts of a bench")]
    let each = seconds * 1e6 / instances as f64;
    println!("{name:<44} {rate:>14.0} {each:>12.2}");
}
