//! A step in progress: the state being changed, and what has come out of it so far.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fault::is_faulting;
use super::guard::is_guard;
use super::wait::BACKGROUND;
use super::{Cx, Environment, Fault, Next, Then, Transition};
use crate::activity::own;
use crate::call::{Answer, Call, HttpResponse};
use crate::definition::secret_name::secret_name;
use crate::effect::Effect;
use crate::graph::{Graph, NodeIndex, ROOT};
use crate::id::{BookmarkId, ContextId};
use crate::instance::{Bookmark, Context, Instance, Memory, SubStatus, Wait, Work};
use crate::journal::{Entry, Event};

/// A step in progress.
pub struct Run<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) environment: &'a Environment<'a>,
    /// The state, as far as it has got.
    pub instance: Instance,
    /// What the resumed activity and scripts see as input in this burst.
    pub(crate) input: Map<String, Value>,
    pub(crate) effects: Vec<Effect>,
    pub(crate) calls: Vec<Call>,
    pub(crate) journal: Vec<Entry>,
    pub(crate) lines: Vec<String>,
    pub(crate) response: Option<HttpResponse>,
    pub(super) added: Vec<BookmarkId>,
    pub(super) removed: Vec<Bookmark>,
    /// Bookmarks that the running activity wakes, once it has ended, and with what.
    pub(super) overheard: Vec<(BookmarkId, Map<String, Value>)>,
    /// Executions that have made bookmarks and not yet been told as suspended.
    pub(super) new_waits: Vec<ContextId>,
    pub(crate) activities: u64,
    pub(crate) must_commit: bool,
    pub(crate) is_finishing: bool,
    pub(crate) is_faulting: bool,
    /// Executions are cancelled without a line each: the instance as a whole is.
    pub(super) is_quiet: bool,
    /// What had completed in executions that are cancelled is undone by one around them.
    pub(super) is_taking: bool,
    /// Word came that nobody needs to read about.
    hears_in_passing: bool,
    /// Values of inputs that activities asked for after their first line was written.
    pub(super) late_inputs: Vec<(ContextId, String, Value)>,
    /// Where in the journal the turn of the activity at work began.
    pub(super) turn_began: usize,
    /// How many bookmarks each activity has, once that was asked for.
    pub(super) waiting: Option<BTreeMap<NodeIndex, usize>>,
    /// The execution at work.
    pub(super) turn: Option<(ContextId, NodeIndex)>,
    /// Who scheduled it, once it has ended.
    pub(super) turn_owner: Option<ContextId>,
    /// Outcomes that `Complete` gave for the workflow it ended.
    pub(super) composite_outcomes: Option<super::Outcomes>,
    /// Stands in for the memory of an execution that has ended meanwhile.
    pub(crate) scratch: Memory,
}

impl<'a> Run<'a> {
    /// What stands for a secret in this instance. `None`: its name is none, or the host has no secrets.
    pub(crate) fn secret(&self, name: &str) -> Option<String> {
        let name = secret_name(name)?;
        let references = self.environment.secrets?;
        Some(references.reference(&self.instance.id, &name))
    }

    pub(crate) fn new(
        graph: &'a Graph,
        instance: Instance,
        environment: &'a Environment<'a>,
    ) -> Self {
        let is_faulting = is_faulting(graph, &instance);
        Self {
            graph,
            environment,
            instance,
            input: Map::new(),
            effects: Vec::new(),
            calls: Vec::new(),
            journal: Vec::new(),
            lines: Vec::new(),
            response: None,
            added: Vec::new(),
            removed: Vec::new(),
            new_waits: Vec::new(),
            activities: 0,
            must_commit: false,
            is_finishing: false,
            is_faulting,
            is_quiet: false,
            is_taking: false,
            hears_in_passing: false,
            overheard: Vec::new(),
            late_inputs: Vec::new(),
            turn_began: 0,
            waiting: None,
            turn: None,
            turn_owner: None,
            composite_outcomes: None,
            scratch: Memory::None,
        }
    }

    pub(crate) fn unchanged(self) -> Transition {
        Transition {
            instance: self.instance,
            is_changed: false,
            bookmarks_added: Vec::new(),
            bookmarks_removed: Vec::new(),
            effects: Vec::new(),
            journal: Vec::new(),
            lines: Vec::new(),
            response: None,
            activities: 0,
            next: Next::Rest,
        }
    }

    /// Schedules the workflow itself. Starting twice changes nothing.
    pub(crate) fn begin(&mut self) -> bool {
        if self.instance.sub_status != SubStatus::Pending {
            return false;
        }
        self.instance.sub_status = SubStatus::Executing;
        self.must_commit = self.graph.commit_strategy.workflow_executing;
        self.instance.queue.push_back(Work {
            node: ROOT,
            owner: None,
            tag: 0,
            locals: Vec::new(),
            existing: None,
        });
        true
    }

    /// Resumes a bookmark. `false`: it is gone.
    pub(crate) fn resume(&mut self, id: &BookmarkId, input: Map<String, Value>) -> bool {
        let Some(bookmark) = self.instance.bookmark(id).cloned() else {
            return false;
        };
        self.hears_in_passing = own::is_in_passing(&bookmark, &input);
        self.input = input;
        self.wake(bookmark, |activity, cx, bookmark| {
            activity.resumed(cx, bookmark)
        });
        self.hears_in_passing = false;
        true
    }

    /// Takes the answer of a call. `false`: its bookmark is gone.
    pub(crate) fn answered(&mut self, id: &BookmarkId, answer: Answer) -> bool {
        let Some(bookmark) = self.instance.bookmark(id).cloned() else {
            return false;
        };
        self.wake(bookmark, |activity, cx, bookmark| {
            activity.answered(cx, bookmark, answer)
        });
        true
    }

    fn wake(
        &mut self,
        bookmark: Bookmark,
        go_on: impl FnOnce(
            &dyn crate::activity::Activity,
            &mut Cx<'_, 'a>,
            &Bookmark,
        ) -> Result<Then, Fault>,
    ) {
        // Burn before the activity runs: if it waits again under the same name, the new bookmark must survive.
        if bookmark.auto_burn {
            self.burn(&bookmark.id);
        }
        self.instance.sub_status = SubStatus::Executing;
        let Some(node) = self
            .instance
            .contexts
            .get(&bookmark.context)
            .map(|c| c.node)
        else {
            return;
        };
        self.begin_turn();
        self.turn = Some((bookmark.context, node));
        if self.wake_guard(&bookmark, node) {
            self.activities += 1;
            return;
        }
        // An answer within the burst is no wait that readers of the journal know of.
        let is_answer = matches!(bookmark.wait, Wait::Call(_));
        let is_told = !is_answer || self.is_in_background(bookmark.context);
        if is_told && !self.hears_in_passing {
            self.log(Event::Resumed, bookmark.context, node, Value::Null);
        }
        self.new_waits.push(bookmark.context);
        self.activities += 1;
        let then = if bookmark.name == BACKGROUND {
            self.run_activity(bookmark.context, node, None)
        } else {
            let activity = self.graph.node(node).activity.as_ref();
            go_on(
                activity,
                &mut Cx::new(self, bookmark.context, node),
                &bookmark,
            )
        };
        self.settle(bookmark.context, node, then);
    }

    /// Runs what is queued until nothing is left, a call is due, or it is time to commit.
    pub(crate) fn drain(&mut self) {
        let limits = self.environment.limits;
        self.hear_own();
        while !self.is_finishing && !self.must_commit && self.calls.is_empty() {
            if self.activities >= u64::from(limits.step_activities_max) {
                self.must_commit = true;
                break;
            }
            let Some(work) = self.instance.queue.pop_front() else {
                break;
            };
            let node = work.node;
            let alive = self.instance.contexts.len() + self.instance.queue.len();
            let count = self.environment.activities_before + self.activities;
            if alive > limits.contexts_max || count > limits.burst_activities_max {
                let (name, value) = if alive > limits.contexts_max {
                    ("contexts_max", limits.contexts_max as u64)
                } else {
                    ("burst_activities_max", limits.burst_activities_max)
                };
                self.stop_by_limit(node, name, value);
                break;
            }
            self.execute(work);
            self.hear_own();
        }
    }

    fn execute(&mut self, work: Work) {
        self.begin_turn();
        let node = self.graph.node(work.node);
        let strategy = self.graph.commit_strategy;
        // A commit before an activity happens with the activity still queued; the step that follows finds
        // `must_commit` unset and `activities` at 0, which is how it knows that this one has had its commit.
        if node.commit.before.unwrap_or(strategy.activity_executing) && self.activities > 0 {
            self.instance.queue.push_front(work);
            self.must_commit = true;
            return;
        }
        self.activities += 1;
        let index = work.node;
        let owner = work.owner;
        let context = match work.existing {
            Some(existing) => existing,
            None => self.enter(work),
        };
        self.turn = Some((context, index));
        // An activity that only makes a call is put off by the call itself.
        let is_put_off = node.activity.makes_calls() || node.activity.is_missing();
        let then = if self.is_in_background(context) && !is_put_off {
            Cx::new(self, context, index).move_to_background()
        } else {
            self.run_activity(context, index, owner)
        };
        self.settle(context, index, then);
        if node.commit.after.unwrap_or(strategy.activity_executed)
            && !self.instance.queue.is_empty()
        {
            self.must_commit = true;
        }
    }

    /// Evaluates the inputs and runs the activity.
    pub(crate) fn run_activity(
        &mut self,
        context: ContextId,
        index: NodeIndex,
        owner: Option<ContextId>,
    ) -> Result<Then, Fault> {
        let mut cx = Cx::new(self, context, index);
        cx.begin_attempt();
        let evaluated = cx.evaluate_inputs();
        let data = cx.journal_inputs();
        cx.run.journal_started(context, index, owner, data);
        evaluated?;
        cx.keep_inputs()?;
        let activity = cx.run.graph.node(index).activity.as_ref();
        let then = activity.execute(&mut cx);
        if matches!(then, Ok(Then::Wait)) && cx.run.instance.contexts.contains_key(&context) {
            cx.bound_attempt();
        }
        then
    }

    pub(crate) fn enter(&mut self, work: Work) -> ContextId {
        let id = ContextId(self.instance.serial());
        let mut context = Context::begun(work.node, work.owner, self.environment.now);
        context.tag = work.tag;
        context.locals = work.locals;
        self.instance.contexts.insert(id, context);
        id
    }

    /// Applies what an activity said it does next.
    pub(crate) fn settle(
        &mut self,
        context: ContextId,
        node: NodeIndex,
        then: Result<Then, Fault>,
    ) {
        match then {
            Ok(Then::Complete(outcomes)) => self.complete(context, outcomes),
            Ok(Then::Wait) if self.hears_in_passing => {}
            Ok(Then::Wait) if self.new_waits.contains(&context) && self.waits(context) => {
                // What it has given so far, in case that nothing is told of its end.
                let given = self.instance.contexts.get(&context);
                let data = given.map_or(Value::Null, |given| self.outputs_data(given));
                self.log(Event::Suspended, context, node, data);
            }
            Ok(Then::Wait) => {}
            Err(fault) => self.fault(context, node, fault),
        }
        self.new_waits.retain(|c| *c != context);
    }

    /// Whether an execution waits beyond this burst: it has a bookmark, and no call of it is to be answered first.
    fn waits(&self, context: ContextId) -> bool {
        let own = self
            .instance
            .bookmarks
            .iter()
            .filter(|b| b.context == context);
        let mut waits = false;
        for bookmark in own.filter(|b| !is_guard(b)) {
            if matches!(bookmark.wait, Wait::Call(_)) && !self.is_in_background(context) {
                return false;
            }
            waits = true;
        }
        waits
    }

    /// Writes a journal line, without the credentials in it.
    pub(crate) fn log(
        &mut self,
        event: Event,
        context: ContextId,
        node: NodeIndex,
        mut data: Value,
    ) {
        crate::sensitive::redact(&mut data);
        let sequence = self.instance.sequence;
        self.instance.sequence += 1;
        self.journal.push(Entry {
            sequence,
            at: self.environment.now,
            event,
            context,
            node,
            owner: None,
            data,
        });
    }

    /// Whether an execution is a background job.
    pub(crate) fn is_in_background(&self, context: ContextId) -> bool {
        self.instance
            .contexts
            .get(&context)
            .is_some_and(|c| self.graph.node(c.node).run_asynchronously)
    }
}
