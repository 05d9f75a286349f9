//! One thread's interpreter: made once, frozen, and used by all evaluations of the thread.
//!
//! A new context costs a millisecond, so scripts share one. Everything in it is frozen after the prelude, no
//! code can be made from text in it, and global names a script creates are swept away behind it: nothing is
//! left for the next script. A script that wants to change a builtin gets a context of its own.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use rquickjs::object::Filter;
use rquickjs::{
    Atom, Context, Ctx, Function, Object, Persistent, Result, Runtime, Value as JsValue,
};

use super::current::Current;
use super::failure::{explain, syntax_error};
use super::heap::Heap;
use super::host::accessor_function;
use super::plan::{Form, Judge, Plan};
use super::prelude::{Intrinsics, Prepared, compiling_bytes, options, prepare, preparing_bytes};
use crate::budget::Reached;
use crate::{EvaluationError, Library, Limits};

/// Bounds of the compiled functions a thread keeps.
const FUNCTIONS_MAX: usize = 512;
const FUNCTION_SOURCE_BYTES_MAX: usize = 64 << 10;

/// The part of the heap that may be in use, and garbage of earlier evaluations, when one begins.
const HEAP_PART_AT_START: usize = 4;

/// The least stack with which the interpreter can still report that it has none.
const STACK_BYTES_MIN: usize = 64 << 10;

/// One thread's interpreter. The order of the fields is that in which they must be dropped.
pub(super) struct Realm {
    functions: HashMap<Arc<str>, Persistent<Function<'static>>>,
    functions_source_bytes: usize,
    eval: Persistent<JsValue<'static>>,
    shared: Context,
    pub(super) runtime: Runtime,
    pub(super) current: Rc<Current>,
    libraries: Arc<[Library]>,
    /// The global names every script has.
    globals: BTreeSet<String>,
    globals_count: usize,
    /// Where the stack was when the runtime was made: it measures from there.
    stack_base: usize,
}

impl Realm {
    /// Makes an interpreter with these libraries.
    pub(super) fn new(
        limits: &Limits,
        libraries: &Arc<[Library]>,
    ) -> std::result::Result<Self, EvaluationError> {
        let current = Rc::new(Current::new(limits.clone()));
        let stack_base = stack_position();
        let heap = Heap::new(Rc::clone(&current));
        let made = Runtime::new_with_alloc(heap).and_then(|runtime| {
            let shared = Context::custom::<Intrinsics>(&runtime)?;
            Ok((runtime, shared))
        });
        let Ok((runtime, shared)) = made else {
            return Err(current.budget.error(Reached::Memory));
        };
        runtime.set_gc_threshold(usize::MAX);
        runtime.set_memory_limit(limits.memory_bytes_max + preparing_bytes(libraries));
        runtime.set_max_stack_size(limits.stack_bytes_max);
        let budget = Rc::clone(&current);
        runtime.set_interrupt_handler(Some(Box::new(move || budget.budget.step())));
        current.begin();
        let prepared = shared.with(|ctx| {
            let prepared = prepare(&ctx, &current, libraries, true).and_then(|prepared| {
                let endless: Function =
                    ctx.eval_with_options("(() => { for (;;); })", options())?;
                current.keep_endless(Some(Persistent::save(&ctx, endless)));
                Ok(prepared)
            });
            prepared.map_err(|error| explain(&ctx, error, &current.budget))
        });
        // A stop of the process may come while an interpreter is made.
        let prepared = prepared.inspect_err(|_| current.release());
        let Prepared {
            eval,
            globals,
            globals_count,
        } = prepared?;
        Ok(Self {
            functions: HashMap::new(),
            functions_source_bytes: 0,
            eval,
            shared,
            runtime,
            current,
            libraries: Arc::clone(libraries),
            globals,
            globals_count,
            stack_base,
        })
    }

    /// Gives the heap its limit, and room for compiling a text of that length beside it.
    ///
    /// The compiler does not survive running out of memory, so it must not.
    pub(super) fn make_room(&self, text_length: Option<usize>) {
        let limit = self.current.budget.limits().memory_bytes_max;
        let room = text_length.map_or(0, compiling_bytes);
        self.runtime.set_memory_limit(limit + room);
    }

    /// Collects garbage if there is much of it.
    ///
    /// Only here, between evaluations: within one, a collection may begin where memory has just run out and an
    /// object is half made, which QuickJS does not survive. (Making an object is when it looks.)
    pub(super) fn collect_garbage(&self) {
        let limit = self.current.budget.limits().memory_bytes_max;
        self.runtime.set_gc_threshold(limit / HEAP_PART_AT_START);
        self.shared.with(|ctx| drop(Object::new(ctx)));
        self.runtime.set_gc_threshold(usize::MAX);
    }

    /// Lets scripts use as much stack as the limit says from where the caller is now; false: this runtime
    /// cannot, because it was made much deeper in the stack.
    pub(super) fn fit_stack(&self) -> bool {
        let used = self.stack_base.saturating_sub(stack_position());
        let above = stack_position().saturating_sub(self.stack_base);
        let limit = self.current.budget.limits().stack_bytes_max;
        let size = (limit + used).saturating_sub(above);
        self.runtime
            .set_max_stack_size(size.clamp(STACK_BYTES_MIN, 15 << 20));
        size >= STACK_BYTES_MIN
    }

    /// Whether scripts must be suspected of global names whatever their text: a library may make some.
    pub(super) fn has_libraries(&self) -> bool {
        !self.libraries.is_empty()
    }

    /// Runs `use_it` in the shared context.
    pub(super) fn with_shared<R>(&self, use_it: impl FnOnce(&Ctx<'_>) -> R) -> R {
        self.shared.with(|ctx| use_it(&ctx))
    }

    /// Runs `use_it` in a new context that nothing else uses, with everything but the freezing.
    pub(super) fn with_private<R>(
        &self,
        plan: &Plan,
        use_it: impl FnOnce(&Ctx<'_>) -> Result<R>,
    ) -> Result<R> {
        let limit = self.current.budget.limits().memory_bytes_max;
        let room = preparing_bytes(&self.libraries) + compiling_bytes(plan.source.len());
        self.runtime.set_memory_limit(limit + room);
        let context = Context::custom::<Intrinsics>(&self.runtime)?;
        context.with(|ctx| {
            let prepared = prepare(&ctx, &self.current, &self.libraries, false);
            let result = prepared.and_then(|_| use_it(&ctx));
            self.current.end();
            self.current.drop_prototypes(Some(&ctx));
            result
        })
    }

    /// The compiled function of a plan, made once per thread.
    pub(super) fn function(&mut self, plan: &Plan) -> Result<Persistent<Function<'static>>> {
        if let Some(known) = self.functions.get(&plan.source) {
            return Ok(known.clone());
        }
        let bytes = self.functions_source_bytes + plan.source.len();
        if self.functions.len() >= FUNCTIONS_MAX || bytes > FUNCTION_SOURCE_BYTES_MAX {
            // Rare enough that starting over is cheaper than keeping an order for all.
            self.functions.clear();
            self.functions_source_bytes = 0;
        }
        self.make_room(Some(plan.source.len()));
        let function = self.shared.with(|ctx| {
            let eval = self.eval.clone().restore(&ctx)?;
            let function = function(&ctx, plan, &self.current, eval)?;
            Ok::<_, rquickjs::Error>(Persistent::save(&ctx, function))
        });
        self.make_room(None);
        let function = function?;
        self.functions
            .insert(Arc::clone(&plan.source), function.clone());
        self.functions_source_bytes += plan.source.len();
        Ok(function)
    }

    /// Removes global names that a script left; false: something is left that cannot be removed.
    pub(super) fn sweep(&self, ctx: &Ctx<'_>) -> bool {
        let globals = ctx.globals();
        let keys = || globals.own_keys::<Atom>(Filter::new().string().symbol());
        let added = keys().len().saturating_sub(self.globals_count);
        if added > 0 {
            // New names are the last of all texts, unless a script did more than assign them.
            let names = globals
                .own_keys::<Atom>(Filter::new().string())
                .rev()
                .take(added);
            for name in names.flatten().collect::<Vec<_>>() {
                if globals.remove(name).is_err() {
                    return false;
                }
            }
        }
        // A script that got hold of the global object could have closed it, or changed what it inherits.
        let probe = "the sweep's probe";
        let is_open = globals.set(probe, true).is_ok() && globals.remove(probe).is_ok();
        let object: Result<Object> = globals.get("Object");
        let inherits = object.and_then(|object| object.get::<_, Object>("prototype"));
        is_open
            && inherits.ok() == globals.get_prototype()
            && keys().len() == self.globals_count
            && !ctx.has_exception()
    }
}

impl Drop for Realm {
    fn drop(&mut self) {
        self.current.release();
    }
}

impl Judge for Realm {
    fn parses(&self, text: &str) -> std::result::Result<(), EvaluationError> {
        self.current.begin();
        self.make_room(Some(text.len()));
        self.shared.with(|ctx| {
            let parsed: Result<JsValue> = ctx.eval_with_options(text, options());
            match parsed {
                Ok(_) => Ok(()),
                Err(error) => {
                    let lines = u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX);
                    Err(syntax_error(&ctx, error, &self.current.budget, lines))
                }
            }
        })
    }

    fn is_global(&self, name: &str) -> bool {
        self.globals.contains(name)
    }
}

/// Compiles a plan in `ctx`, with its accessors in place.
pub(super) fn function<'js>(
    ctx: &Ctx<'js>,
    plan: &Plan,
    current: &Rc<Current>,
    eval: JsValue<'js>,
) -> Result<Function<'js>> {
    let accessors = Object::new(ctx.clone())?;
    for accessor in &plan.accessors {
        accessors.set(accessor.name(), accessor_function(ctx, current, accessor)?)?;
    }
    // A script can reach its accessors, and what one evaluation does to them the next must not see.
    if let Ok(freeze) = ctx
        .globals()
        .get::<_, Object>("Object")?
        .get::<_, Function>("freeze")
    {
        for accessor in accessors.values::<JsValue>() {
            freeze.call::<_, JsValue>((accessor?,))?;
        }
    }
    let factory: Function = ctx.eval_with_options(plan.wrapped(), options())?;
    match plan.form {
        Form::Body { .. } => factory.call((accessors,)),
        Form::Eval => factory.call((accessors, eval)),
    }
}

/// Where the stack is now, near enough.
fn stack_position() -> usize {
    let marker = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&marker)).addr()
}
