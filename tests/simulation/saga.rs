//! A random saga: steps that complete, an error, and their undos in reverse order, each once.

use dormouse_tests::Activity;
use dormouse_tests::primitives::{delay, line, run_js, sequence, task, throw, try_catch};
use serde_json::{Value, json};

use super::generator::Maker;

impl Maker {
    /// Ends a workflow: what comes before has ended.
    pub(super) fn saga(&mut self) -> Activity {
        let mut order = Vec::new();
        let made = self.within(|maker| {
            let count = 1 + maker.below(3);
            let mut undone = Vec::new();
            let mut steps = Vec::new();
            for _ in 0..count {
                let undo = maker.done("undo");
                let step = maker.done("step");
                order.push(id(&step));
                undone.push(id(&undo));
                let undo = undo.custom("retry", json!({ "maxAttempts": 2 }));
                steps.push(step.custom("compensate", undo.json()));
            }
            steps.push(maker.failing());
            order.extend(undone.into_iter().rev());
            let [caught, last] = ["caught", "finally"].map(|name| maker.leaf(name, 1, line));
            order.extend([id(&caught), id(&last)]);
            let body = sequence(steps).custom("compensateOn", json!(["fault"]));
            try_catch(body, caught).port("finally", last)
        });
        let pairs = order.windows(2).filter_map(|pair| match pair {
            [first, second] => Some((first.clone(), second.clone())),
            _ => None,
        });
        self.expect.order.extend(pairs);
        made
    }

    /// Something that completes, at once or after a wait.
    fn done(&mut self, name: &str) -> Activity {
        match self.below(3) {
            0 => self.leaf(name, 1, line),
            1 => self.leaf(name, 1, task),
            _ => self.leaf(name, 1, |_| delay("00:00:00.200")),
        }
    }

    /// An error at once, after attempts, or because the time is over.
    fn failing(&mut self) -> Activity {
        match self.below(3) {
            0 => throw("Saga.Failed").id("failing"),
            1 => {
                let retry = json!({ "maxAttempts": 3, "intervalMs": 300 });
                run_js("throw new Error('as meant')")
                    .id("failing")
                    .custom("retry", retry)
            }
            _ => delay("01:00:00").id("failing").custom("timeout", 400),
        }
    }
}

fn id(activity: &Activity) -> String {
    let json: Value = activity.clone().json();
    json["id"].as_str().unwrap_or_default().to_owned()
}
