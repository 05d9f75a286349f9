//! Time and workers in a case.

use dormouse_engine::activity::own::Word;
use dormouse_engine::activity::run_task::parse_task_id;
use dormouse_engine::instance::Start;
use dormouse_engine::step::Stimulus;
use dormouse_engine::time::Timestamp;
use serde_json::{Map, json};

use super::{DELIVERIES_MAX, Run};
use crate::mock::{Report, has_at_least};

impl Run<'_> {
    /// Moves the clock; timers, workers and recurring triggers act at their own time.
    pub(super) fn advance(&mut self, ms: i64) -> Result<(), String> {
        let until = self.host.now.plus_ms(ms);
        for _ in 0..DELIVERIES_MAX {
            self.settle();
            let timer = self.host.next_due();
            let worker = self.at_work.iter().map(|w| w.0).min();
            let trigger = self.recurring.iter().map(|r| r.0).min();
            let next = [timer, worker, trigger].into_iter().flatten().min();
            let Some(due) = next.filter(|due| *due <= until) else {
                self.host.now = until;
                return Ok(());
            };
            self.host.now = self.host.now.max(due);
            if timer == Some(due) {
                self.host.fire_next();
            } else if worker == Some(due) {
                self.finish_due();
            } else {
                self.fire_triggers(due);
            }
        }
        Err(format!(
            "more than {DELIVERIES_MAX} timers were due in this time: is it a loop?"
        ))
    }

    /// Gives new tasks to their workers, and takes what is done.
    pub(super) fn settle(&mut self) {
        for _ in 0..DELIVERIES_MAX {
            let new = self.host.tasks.get(self.tasks_seen..).unwrap_or_default();
            for task in new {
                let fits = |w: &&mut crate::mock::TaskMock| {
                    let when = w.when.as_ref();
                    w.name == task.name
                        && w.times != Some(0)
                        && when.is_none_or(|when| has_at_least(&task.payload, when))
                };
                if let Some(worker) = self.workers.iter_mut().find(fits) {
                    worker.times = worker.times.map(|times| times.saturating_sub(1));
                    let due = self.host.now.plus_ms(worker.after_ms);
                    let report = worker.report.clone();
                    self.at_work.push((due, task.id.clone(), report));
                }
            }
            self.tasks_seen = self.host.tasks.len();
            if !self.finish_due() {
                return;
            }
        }
    }

    /// Completes the tasks that are done by now. `false`: there are none.
    fn finish_due(&mut self) -> bool {
        let now = self.host.now;
        let (done, left) = std::mem::take(&mut self.at_work)
            .into_iter()
            .partition(|w| w.0 <= now);
        self.at_work = left;
        let done: Vec<(Timestamp, String, Report)> = done;
        for (_, task_id, report) in &done {
            // One that was cancelled meanwhile is nobody's any more.
            self.finish(task_id, report);
        }
        !done.is_empty()
    }

    fn finish(&mut self, task_id: &str, report: &Report) -> bool {
        let Some((instance, bookmark)) = parse_task_id(task_id) else {
            return false;
        };
        let input = match report {
            Report::Done(result) => Map::from_iter([("Result".to_owned(), result.clone())]),
            Report::Failed(error) => {
                let answer = json!({ "error": error });
                Word::Answered { answer }.input()
            }
        };
        self.host
            .step(&instance, Stimulus::Resume { bookmark, input })
    }

    /// Reports on the oldest open task of a name.
    pub(super) fn complete(&mut self, name: &str, report: &Report) -> Result<(), String> {
        let open = self.open_tasks();
        let found = open.iter().find(|(_, open)| open == name);
        let Some((task_id, _)) = found.cloned() else {
            let names: Vec<String> = open.into_iter().map(|(_, name)| name).collect();
            let rest = match names.as_slice() {
                [] => "no task is open".to_owned(),
                names => format!("open are {}", names.join(", ")),
            };
            return Err(format!("there is no open task `{name}`; {rest}"));
        };
        self.at_work.retain(|w| w.1 != task_id);
        self.finish(&task_id, report);
        Ok(())
    }

    /// Ids and names of the tasks whose bookmarks are open, oldest first.
    pub(super) fn open_tasks(&self) -> Vec<(String, String)> {
        let is_open = |id: &str| {
            let parsed = parse_task_id(id);
            let kept = parsed.and_then(|(instance, bookmark)| {
                let kept = self.host.kept(&instance)?;
                kept.instance.bookmark(&bookmark)
            });
            kept.is_some()
        };
        let tasks = self.host.tasks.iter().filter(|t| is_open(&t.id));
        tasks.map(|t| (t.id.clone(), t.name.clone())).collect()
    }

    /// Starts an instance for each recurring trigger that is due.
    fn fire_triggers(&mut self, due: Timestamp) {
        let mut left = Vec::new();
        for (at, definition_id, activity_id, recurrence) in std::mem::take(&mut self.recurring) {
            if at > due {
                left.push((at, definition_id, activity_id, recurrence));
                continue;
            }
            let start = Start {
                trigger_activity_id: Some(activity_id.clone()),
                ..Start::default()
            };
            self.host.start(&definition_id, start);
            let next = recurrence.next(at);
            left.extend(next.map(|at| (at, definition_id, activity_id, recurrence)));
        }
        self.recurring = left;
    }
}
