//! Random workflows of which it is known what they do: blocks within blocks, each counted as it is made.

use dormouse_engine::id::splitmix;
use dormouse_tests::primitives::{
    break_, bulk, case, complete, delay, dispatch, event, execute, fault, finish, for_, for_each,
    fork, if_, line, parallel, parallel_for_each, publish, run_js, sequence, set, set_output,
    switch, task, while_,
};
use dormouse_tests::{Activity, activity, js, object, workflow};
use serde_json::{Value, json};

use super::recipe::{Ending, Expect, Recipe};

/// The workflows of a large world.
#[must_use]
pub(crate) fn large(number: u64) -> Vec<Recipe> {
    let mut random = splitmix(number ^ 0x5eed);
    let mut draw = || {
        random = splitmix(random);
        random
    };
    let mut recipes = vec![child("c0", draw()), child("c1", draw())];
    recipes.extend((0..6).map(|n| main(&format!("m{n}"), draw())));
    recipes
}

/// A workflow that others start: it asks for nothing that its parent would have to give.
fn child(id: &str, seed: u64) -> Recipe {
    let mut maker = Maker::new(seed, true);
    let blocks = (0..=maker.below(2))
        .map(|_| maker.block(1, 1))
        .collect::<Vec<_>>();
    maker.recipe(id, sequence(blocks))
}

fn main(id: &str, seed: u64) -> Recipe {
    let mut maker = Maker::new(seed, false);
    maker.expect.text_bytes = match maker.below(8) {
        0 => 5_000,
        1 => 30_000,
        2 | 3 => 400_000,
        _ => 0,
    };
    let mut blocks: Vec<Activity> = (0..1 + maker.below(4)).map(|_| maker.block(0, 1)).collect();
    match maker.below(8) {
        0 => {
            blocks.push(fault("as meant").id("fault"));
            maker.expect.ending = Ending::Faulted;
        }
        1 => blocks.extend([finish().id("finish"), maker.line(0)]),
        2 => blocks.extend([complete(&["Done"]).id("complete"), maker.line(0)]),
        3 => blocks.push(maker.saga()),
        _ => blocks.push(maker.line(1)),
    }
    maker.recipe(id, sequence(blocks))
}

pub(super) struct Maker {
    random: u64,
    next_id: u32,
    next_event: u32,
    is_child: bool,
    pub(super) expect: Expect,
    /// The leaf that was made last, if nothing stands between it and the next one.
    last: Option<String>,
}

impl Maker {
    fn new(seed: u64, is_child: bool) -> Self {
        Self {
            random: splitmix(seed),
            next_id: 0,
            next_event: 0,
            is_child,
            expect: Expect::default(),
            last: None,
        }
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.random = splitmix(self.random);
        self.random % bound
    }

    fn recipe(mut self, id: &str, root: Activity) -> Recipe {
        let strategy = ["", "", "ActivityExecuted", "ActivityExecuting"];
        let strategy = strategy[usize::try_from(self.below(4)).unwrap_or(0)];
        let mut definition = workflow(id, root)
            .variable("V", "Object", json!(null))
            .kept_input("Text", "Object")
            .output("Out", "Object")
            .option("commitStrategyName", strategy);
        for input in self.expect.events.keys() {
            definition = definition.kept_input(input, "Object");
        }
        Recipe {
            id: id.to_owned(),
            json: definition.json().clone(),
            expect: self.expect,
        }
    }

    /// An activity that completes `times` times.
    pub(super) fn leaf(
        &mut self,
        name: &str,
        times: u32,
        make: impl FnOnce(&str) -> Activity,
    ) -> Activity {
        self.next_id += 1;
        let id = format!("{name}{}", self.next_id);
        self.expect.runs.insert(id.clone(), times);
        if times == 1
            && let Some(before) = self.last.replace(id.clone())
        {
            self.expect.order.push((before, id.clone()));
        }
        make(&id).id(&id)
    }

    pub(super) fn line(&mut self, times: u32) -> Activity {
        self.leaf("line", times, line)
    }

    /// A block that runs `times` times, `depth` deep.
    fn block(&mut self, depth: u32, times: u32) -> Activity {
        let is_deep = depth >= 3 || times > 6;
        match self.below(if is_deep { 10 } else { 20 }) {
            0 | 1 => self.line(times),
            2 => self.at_once(times),
            3 | 4 => self.pause(times),
            5 | 6 => self.leaf("task", times, task),
            7 if !self.is_child => self.event(times),
            8 => self.call(times),
            9 if !self.is_child => self.child(times),
            7 | 9 => self.line(times),
            10 => self.loop_of(depth, times),
            11 => self.within(|maker| {
                let body = maker.block(depth + 1, 2 * times);
                parallel_for_each(object(json!(["a", "b"])), body)
            }),
            12 => self.within(|maker| {
                let branches = maker.blocks(depth, times);
                parallel(branches)
            }),
            13 => self.within(|maker| {
                let branches = maker.blocks(depth, times);
                fork("WaitAll", branches)
            }),
            14 => self.choice(depth, times),
            15 if !self.is_child => self.own_event(times),
            16 => self.many(times),
            17 => self.diamond(times),
            18 => self.chart(times),
            _ => {
                let blocks: Vec<Activity> = (0..2).map(|_| self.block(depth + 1, times)).collect();
                sequence(blocks)
            }
        }
    }

    /// Something that is done in no time.
    fn at_once(&mut self, times: u32) -> Activity {
        match self.below(6) {
            0 => self.leaf("set", times, |_| set("V", js("1 + 1"))),
            1 => self.leaf("name", times, |id| {
                activity("Elsa.SetName").input("value", id)
            }),
            2 => self.leaf("correlate", times, |_| {
                activity("Elsa.Correlate").input("correlationId", "order-1")
            }),
            3 => self.leaf("output", times, |_| set_output("Out", js("[1, 2]"))),
            4 => self.leaf("script", times, |_| run_js("setVariable('V', 3)")),
            _ => self.leaf("moment", times, |_| {
                let long_ago = "2001-01-01T00:00:00+00:00";
                activity("Elsa.StartAt").input("dateTime", long_ago)
            }),
        }
    }

    /// One way is gone, the other one is not.
    fn choice(&mut self, depth: u32, times: u32) -> Activity {
        if self.below(2) == 0 {
            return if_(true, self.block(depth + 1, times));
        }
        self.within(|maker| {
            let (not, so) = (maker.line(0), maker.block(depth + 1, times));
            let cases = vec![
                case("not", js("1 > 2"), Some(not)),
                case("so", js("2 > 1"), Some(so)),
            ];
            switch("MatchFirst", cases)
        })
    }

    /// Nothing in here is before or after anything else.
    pub(super) fn within(&mut self, make: impl FnOnce(&mut Self) -> Activity) -> Activity {
        let before = std::mem::take(&mut self.expect.order);
        self.last = None;
        let made = make(self);
        self.expect.order = before;
        self.last = None;
        made
    }

    fn blocks(&mut self, depth: u32, times: u32) -> Vec<Activity> {
        (0..2 + self.below(2))
            .map(|_| self.block(depth + 1, times))
            .collect()
    }

    fn loop_of(&mut self, depth: u32, times: u32) -> Activity {
        self.within(|maker| {
            let kind = maker.below(4);
            if kind == 3 {
                let body = maker.block(depth + 1, times);
                return for_(1, 9, sequence([body, break_()]));
            }
            let body = maker.block(depth + 1, 2 * times);
            match kind {
                0 => for_(1, 2, body),
                1 => for_each(object(json!([1, 2])), body),
                _ => maker.counted(body),
            }
        })
    }

    /// Twice, by a variable of its own.
    fn counted(&mut self, body: Activity) -> Activity {
        self.next_id += 1;
        let name = format!("N{}", self.next_id);
        let more = set(&name, js(&format!("getVariable('{name}') + 1")));
        let fewer_than_two = js(&format!("getVariable('{name}') < 2"));
        let loop_ = while_(fewer_than_two, sequence([body, more]));
        sequence([loop_]).variable(&name, "Int32", 0)
    }

    pub(super) fn pause(&mut self, times: u32) -> Activity {
        let ms = match self.below(8) {
            0 => 0,
            1 => 1_200_000,
            _ => i64::try_from(self.below(5_000)).unwrap_or(0),
        };
        let (seconds, rest) = (ms / 1_000, ms % 1_000);
        let span = format!("00:{:02}:{:02}.{rest:03}", seconds / 60, seconds % 60);
        let kind = self.below(4);
        let pause = self.leaf("delay", times, |_| match kind {
            0 if ms > 0 => activity("Elsa.Timer").input("interval", span.as_str()),
            _ => delay(&span),
        });
        if times == 1 {
            let id = format!("delay{}", self.next_id);
            self.expect.delays.insert(id, ms);
        }
        pause
    }

    /// Waits for an event that a person sends.
    fn event(&mut self, times: u32) -> Activity {
        self.next_event += 1;
        let input = format!("E{}", self.next_event);
        self.expect.events.insert(input.clone(), times);
        let name = js(&format!("getInput('{input}')"));
        self.leaf("event", times, |_| {
            activity("Elsa.Event").input("eventName", name)
        })
    }

    /// Waits for an event that the workflow itself sends.
    fn own_event(&mut self, times: u32) -> Activity {
        self.within(|maker| {
            let name = format!("own{}", maker.next_id);
            let local = |activity: Activity| activity.input("isLocalEvent", true);
            let waits = maker.leaf("wait", times, |_| event(&name));
            let tells = maker.leaf("tell", times, |_| local(publish(&name, json!({}))));
            parallel([waits, tells])
        })
    }

    fn call(&mut self, times: u32) -> Activity {
        self.expect.calls += times;
        let is_flaky = self.below(3) == 0;
        let url = if is_flaky {
            "https://shop.example/flaky"
        } else {
            "https://shop.example/orders"
        };
        let is_background = self.below(4) == 0;
        let kind = match self.below(8) {
            0 if !is_flaky && !is_background => "Elsa.DownloadHttpFile",
            _ => "Elsa.SendHttpRequest",
        };
        self.leaf("call", times, |_| {
            // A call that may not be made twice has a key, by which calls are counted.
            let call = activity(kind).input("url", url).input("method", "POST");
            let call = if is_flaky {
                call.custom("resilienceStrategy", retrying())
            } else {
                call
            };
            if is_background {
                call.background()
            } else {
                call
            }
        })
    }

    fn child(&mut self, times: u32) -> Activity {
        let id = ["c0", "c1"][usize::try_from(self.below(2)).unwrap_or(0)];
        let kind = self.below(5);
        let count = if kind == 4 { 3 * times } else { times };
        *self.expect.children.entry(id.to_owned()).or_default() += count;
        self.leaf("child", times, |_| match kind {
            0 => dispatch(id, false),
            1 | 2 => dispatch(id, true),
            3 => execute(id, true),
            _ => bulk(id, json!([1, 2, 3]), true),
        })
    }

    /// So many bookmarks at once that a commit of few writes is split.
    fn many(&mut self, times: u32) -> Activity {
        self.within(|maker| {
            let tasks: Vec<Activity> = (0..12).map(|_| maker.leaf("task", times, task)).collect();
            parallel(tasks)
        })
    }
}

fn retrying() -> Value {
    json!({ "mode": "Expression", "expression": { "type": "Object",
        "value": "{\"maxRetryAttempts\": 3, \"delay\": \"00:00:01\", \"backoffType\": \"Constant\", \"useJitter\": false}" } })
}
