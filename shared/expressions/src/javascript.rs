//! JavaScript: scripts are planned from their text once, compiled once per thread, and run in an interpreter
//! that all scripts of a thread share and none can change.

mod accessor;
mod bytes;
mod chance;
mod current;
mod evaluation;
mod failure;
mod from_js;
mod hazard;
mod heap;
mod host;
mod into_js;
mod lent;
mod path;
mod plan;
mod prelude;
mod realm;
mod scanner;
mod tail;

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::Value;

pub(crate) use plan::Plan;
use realm::Realm;

use crate::{EvaluationError, Kind, Library, Limits, Scope};

thread_local! {
    /// The interpreters of this thread, by the evaluator they belong to; the last used is the last.
    static REALMS: RefCell<Vec<(u64, Realm)>> = const { RefCell::new(Vec::new()) };
}

/// How many evaluators a thread keeps an interpreter for.
const REALMS_MAX: usize = 4;

/// JavaScript for one evaluator: what its interpreters are made from.
#[derive(Debug, Clone)]
pub(crate) struct JavaScript {
    pub(crate) id: u64,
    pub(crate) limits: Limits,
    pub(crate) libraries: Arc<[Library]>,
}

impl JavaScript {
    /// Checks the syntax of a script and plans it.
    pub(crate) fn compile(&self, source: &str) -> Result<Plan, EvaluationError> {
        // A first line that names an interpreter is a comment.
        let commented = source.strip_prefix("#!").map(|rest| format!("//{rest}"));
        let source = commented.as_deref().unwrap_or(source);
        self.with_realm(|realm| {
            let plan = Plan::new(source, realm);
            (plan, realm.current.budget.exceeded().is_none())
        })
    }

    /// Runs a planned script.
    pub(crate) fn evaluate(
        &self,
        plan: &Plan,
        scope: &mut dyn Scope,
    ) -> Result<(Value, Kind), EvaluationError> {
        let path = plan.path.as_ref();
        if let Some(found) = path.and_then(|path| path.read(scope, &self.limits)) {
            return Ok(found);
        }
        self.with_realm(|realm| {
            let outcome = evaluation::run(realm, plan, scope);
            (outcome.value, outcome.is_clean)
        })
    }

    /// Lends this thread's interpreter; it is kept only if `use_it` says it is as it was. An evaluation within
    /// an evaluation finds none and makes another.
    fn with_realm<R>(
        &self,
        use_it: impl FnOnce(&mut Realm) -> (Result<R, EvaluationError>, bool),
    ) -> Result<R, EvaluationError> {
        let known = REALMS.with_borrow_mut(|realms| {
            let index = realms.iter().rposition(|(id, _)| *id == self.id)?;
            Some(realms.remove(index).1)
        });
        let known = known.filter(Realm::fit_stack);
        let mut realm = match known {
            Some(realm) => realm,
            None => Realm::new(&self.limits, &self.libraries)?,
        };
        let (result, is_clean) = use_it(&mut realm);
        if is_clean {
            let evicted = REALMS.with_borrow_mut(|realms| {
                realms.push((self.id, realm));
                (realms.len() > REALMS_MAX).then(|| realms.remove(0))
            });
            drop(evicted);
        }
        result
    }
}
