//! The scope of the evaluation that runs on this thread, for the functions scripts call.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rquickjs::{Ctx, Error, Exception, Function, Object, Persistent, Result, Value as JsValue};
use scoped_tls_hkt::{ReborrowMut, scoped_thread_local};

use super::heap::Alarm;
use super::lent::Lent;
use crate::budget::Budget;
use crate::{Kind, Limits, Scope};

struct Borrowed<'a>(&'a mut dyn Scope);

impl<'short> ReborrowMut<'short> for Borrowed<'_> {
    type Result = Borrowed<'short>;

    fn reborrow_mut(&'short mut self) -> Borrowed<'short> {
        Borrowed(&mut *self.0)
    }
}

/// What a call into the scope counts, in operations of the interpreter.
const HOST_CALL_OPERATIONS: u64 = 20;

scoped_thread_local!(static mut SCOPE: for<'a> Borrowed<'a>);

/// Lends `scope` to the functions that scripts call, while `run` runs.
pub(super) fn lend<R>(scope: &mut dyn Scope, run: impl FnOnce() -> R) -> R {
    SCOPE.set(Borrowed(scope), run)
}

/// What one thread's interpreter and its host functions know of the running evaluation.
pub(super) struct Current {
    pub(super) budget: Budget,
    /// What the interpreter's heap asks.
    pub(super) alarm: Alarm,
    /// Objects already copied in, so that every read of a variable gives the same object.
    memo: RefCell<BTreeMap<String, Persistent<JsValue<'static>>>>,
    /// A function that never ends.
    endless: RefCell<Option<Persistent<Function<'static>>>>,
    /// Variables set by a call, with what they were given.
    assigned: RefCell<BTreeMap<String, Persistent<JsValue<'static>>>>,
    /// The `variables` of the script that runs.
    variables: RefCell<Option<Persistent<Object<'static>>>>,
    /// Values of variables that the script may change in place.
    pub(super) lent: RefCell<Vec<Lent>>,
    /// Whether values of variables are lent, because the script may change them.
    pub(super) lends: Cell<bool>,
    /// What objects of .NET inherit, by context and kind.
    prototypes: RefCell<Vec<(usize, Kind, Persistent<Object<'static>>)>>,
    /// Whether a function was met where JSON has none.
    pub(super) met_function: Cell<bool>,
    /// Whether something was met that a serialiser of .NET does not write.
    pub(super) met_unwritable: Cell<bool>,
}

impl Current {
    pub(super) fn new(limits: Limits) -> Self {
        Self {
            budget: Budget::new(limits),
            alarm: Alarm::default(),
            memo: RefCell::default(),
            assigned: RefCell::default(),
            variables: RefCell::default(),
            lent: RefCell::default(),
            lends: Cell::default(),
            prototypes: RefCell::default(),
            met_function: Cell::default(),
            met_unwritable: Cell::default(),
            endless: RefCell::default(),
        }
    }

    /// Starts the next evaluation.
    pub(super) fn begin(&self) {
        self.budget.begin();
        self.end();
        self.lends.set(false);
        self.met_function.set(false);
    }

    /// Keeps the `variables` of the script, which follow what calls set.
    pub(super) fn keep_variables<'js>(&self, ctx: &Ctx<'js>, object: &Object<'js>) {
        *self.variables.borrow_mut() = Some(Persistent::save(ctx, object.clone()));
    }

    /// Keeps what objects of .NET inherit in a context.
    pub(super) fn keep_prototype<'js>(&self, ctx: &Ctx<'js>, kind: Kind, object: Object<'js>) {
        let kept = Persistent::save(ctx, object);
        self.prototypes
            .borrow_mut()
            .push((address(ctx), kind, kept));
    }

    /// What objects of .NET inherit in a context.
    pub(super) fn prototype<'js>(&self, ctx: &Ctx<'js>, kind: Kind) -> Result<Option<Object<'js>>> {
        let prototypes = self.prototypes.borrow();
        let found = prototypes
            .iter()
            .find(|(of, is, _)| *of == address(ctx) && *is == kind);
        found
            .map(|(_, _, kept)| kept.clone().restore(ctx))
            .transpose()
    }

    /// Forgets what objects of .NET inherit: in a context that ends, or everywhere.
    pub(super) fn drop_prototypes(&self, ended: Option<&Ctx<'_>>) {
        let ended = ended.map(address);
        let mut prototypes = self.prototypes.borrow_mut();
        prototypes.retain(|(of, ..)| ended.is_some_and(|ended| *of != ended));
    }

    /// Uses the scope that is lent, which counts as work. Outside of an evaluation (a library that loads) there
    /// is none.
    pub(super) fn scope<R>(
        &self,
        ctx: &Ctx<'_>,
        use_it: impl FnOnce(&mut dyn Scope) -> R,
    ) -> Result<R> {
        if !SCOPE.is_set() {
            return Err(Exception::throw_message(
                ctx,
                "there is no running workflow here",
            ));
        }
        if !self.budget.charge(HOST_CALL_OPERATIONS) {
            return Err(self.stop(ctx));
        }
        Ok(SCOPE.with(|borrowed| use_it(borrowed.0)))
    }

    /// Stops a script that has reached a limit outside of the interpreter, with an error no script can catch: only
    /// the interpreter can throw that, when it is told to stop while it runs.
    pub(super) fn stop(&self, ctx: &Ctx<'_>) -> Error {
        let endless = self
            .endless
            .borrow()
            .clone()
            .map(|endless| endless.restore(ctx));
        match endless {
            Some(Ok(endless)) => match endless.call::<_, ()>(()) {
                Ok(()) => Exception::throw_internal(ctx, "stopped"),
                Err(error) => error,
            },
            Some(Err(_)) | None => Exception::throw_internal(ctx, "stopped"),
        }
    }

    /// Keeps a function that never ends, for [`Self::stop`].
    pub(super) fn keep_endless(&self, function: Option<Persistent<Function<'static>>>) {
        *self.endless.borrow_mut() = function;
    }

    /// Forgets what belongs to the evaluation that ended.
    pub(super) fn end(&self) {
        self.memo.borrow_mut().clear();
        self.assigned.borrow_mut().clear();
        self.lent.borrow_mut().clear();
        *self.variables.borrow_mut() = None;
    }

    /// Lets go of all that was made in the runtime, which must be the last to go.
    pub(super) fn release(&self) {
        self.end();
        self.keep_endless(None);
        self.drop_prototypes(None);
    }

    /// The object remembered under `key`.
    pub(super) fn recall<'js>(&self, ctx: &Ctx<'js>, key: &str) -> Result<Option<JsValue<'js>>> {
        let remembered = self.memo.borrow().get(key).cloned();
        remembered.map(|value| value.restore(ctx)).transpose()
    }

    /// Remembers an object; plain values need no identity.
    pub(super) fn remember<'js>(&self, ctx: &Ctx<'js>, key: &str, value: &JsValue<'js>) {
        if value.is_object() {
            let kept = Persistent::save(ctx, value.clone());
            self.memo.borrow_mut().insert(key.to_owned(), kept);
        }
    }

    /// Keeps what a script set, whatever it is, for the reads that follow.
    pub(super) fn insist<'js>(&self, ctx: &Ctx<'js>, key: String, value: &JsValue<'js>) {
        let kept = Persistent::save(ctx, value.clone());
        self.memo.borrow_mut().insert(key, kept);
    }

    /// Notes that a variable was set by a call: what was read of it before is old, and `variables` has the new value.
    pub(super) fn assign<'js>(&self, ctx: &Ctx<'js>, variable: &str, value: &JsValue<'js>) {
        let kept = Persistent::save(ctx, value.clone());
        self.assigned.borrow_mut().insert(variable.to_owned(), kept);
        // In a composite an input is the variable of its name.
        self.memo
            .borrow_mut()
            .retain(|key, _| !key.starts_with("getInput "));
    }

    /// The `variables` of the script that runs.
    pub(super) fn variables<'js>(&self, ctx: &Ctx<'js>) -> Result<Option<Object<'js>>> {
        let variables = self.variables.borrow().clone();
        variables
            .map(|variables| variables.restore(ctx))
            .transpose()
    }

    /// What a call has set the variable to in this evaluation.
    pub(super) fn assigned<'js>(
        &self,
        ctx: &Ctx<'js>,
        variable: &str,
    ) -> Result<Option<JsValue<'js>>> {
        let given = self.assigned.borrow().get(variable).cloned();
        given.map(|value| value.restore(ctx)).transpose()
    }
}

fn address(ctx: &Ctx<'_>) -> usize {
    ctx.as_raw().as_ptr().addr()
}
