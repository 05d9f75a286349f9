//! What every context starts with: the language, Elsa's functions, the libraries, and then the frost.

use std::collections::BTreeSet;
use std::rc::Rc;

use rquickjs::Value as JsValue;
use rquickjs::context::{EvalOptions, intrinsic};
use rquickjs::object::Filter;
use rquickjs::{Atom, Constructor, Ctx, Function, Object, Persistent, Result};

use super::current::Current;
use super::host::Functions;
use crate::{Kind, Library};

/// All of the language but what looks at the machine: no weak references, no performance clock.
pub(super) type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

type File = (&'static str, &'static str);

const FIRST: [File; 5] = [
    ("date.js", include_str!("prelude/date.js")),
    ("locale.js", include_str!("prelude/locale.js")),
    ("calendar.js", include_str!("prelude/calendar.js")),
    ("guards.js", include_str!("prelude/guards.js")),
    ("functions.js", include_str!("prelude/functions.js")),
];
const TYPES: File = ("types.js", include_str!("prelude/types.js"));
/// Last in the context that scripts share.
const FREEZE: File = ("freeze.js", include_str!("prelude/freeze.js"));
/// Last in a context of a script's own.
const TEXT: File = ("text.js", include_str!("prelude/text.js"));

/// The most memory that compiling takes for each byte of a text; about 170 was measured.
const COMPILING_BYTES_PER_BYTE: usize = 512;

/// A context, ready for scripts.
pub(super) struct Prepared {
    /// The eval of the language, which scripts do not have.
    pub(super) eval: Persistent<JsValue<'static>>,
    /// The names of all globals.
    pub(super) globals: BTreeSet<String>,
    /// How many globals there are, those without a name included.
    pub(super) globals_count: usize,
}

/// The memory that compiling a text of that length may take.
pub(super) fn compiling_bytes(length: usize) -> usize {
    length
        .saturating_mul(COMPILING_BYTES_PER_BYTE)
        .saturating_add(1 << 20)
}

/// The memory that preparing a context may take.
pub(super) fn preparing_bytes(libraries: &[Library]) -> usize {
    let length: usize = libraries.iter().map(|library| library.source.len()).sum();
    compiling_bytes(length).saturating_add(8 << 20)
}

/// Runs the prelude and the libraries in a new context, and freezes it if scripts share it.
pub(super) fn prepare<'js>(
    ctx: &Ctx<'js>,
    current: &Rc<Current>,
    libraries: &[Library],
    is_shared: bool,
) -> Result<Prepared> {
    let globals = ctx.globals();
    for name in [
        "SharedArrayBuffer",
        "performance",
        "queueMicrotask",
        "navigator",
    ] {
        globals.remove(name)?;
    }
    let functions = Functions::new(ctx, current)?;
    let compiling = Rc::clone(current);
    functions.add("loadTypes", move |ctx: Ctx<'js>| {
        compiling.alarm.compile(TYPES.0.len() + TYPES.1.len());
        reserve(&ctx, compiling_bytes(0) * 2)?;
        function(&ctx, TYPES)
    })?;
    let compiling = Rc::clone(current);
    functions.add("reserveForText", move |ctx: Ctx<'js>, length: f64| {
        if !compiling.budget.has_time() {
            return Err(compiling.stop(&ctx));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a length"
        )]
        let length = length as usize;
        compiling.alarm.compile(length);
        reserve(&ctx, compiling_bytes(length))
    })?;
    functions.add("freeze", |value: JsValue<'js>| value)?;
    let atomics: Object = globals.get("Atomics")?;
    for name in ["wait", "waitAsync", "notify", "pause"] {
        atomics.remove(name)?;
    }
    let host = functions.object;
    for file in FIRST {
        function(ctx, file)?.call::<_, ()>((host.clone(),))?;
    }
    for (name, kind) in [
        ("expando", Kind::Plain),
        ("dictionary", Kind::Dictionary),
        ("texts", Kind::Texts),
        ("node", Kind::Node),
    ] {
        current.keep_prototype(ctx, kind, host.get(name)?);
    }
    for library in libraries {
        let mut options = options();
        options.filename = Some(library.name.to_string());
        ctx.eval_with_options::<JsValue, _>(&*library.source, options)?;
    }
    let eval = Persistent::save(ctx, globals.get::<_, JsValue>("eval")?);
    function(ctx, if is_shared { FREEZE } else { TEXT })?.call::<_, ()>((host,))?;
    let keys: Result<Vec<Atom>> = globals.own_keys(Filter::new().string().symbol()).collect();
    let keys = keys?;
    let names: Result<BTreeSet<String>> = keys.iter().map(Atom::to_string).collect();
    Ok(Prepared {
        eval,
        globals: names?,
        globals_count: keys.len(),
    })
}

/// Fails as memory does if there is not that much of it.
fn reserve(ctx: &Ctx<'_>, bytes: usize) -> Result<()> {
    #[allow(clippy::cast_precision_loss, reason = "far below 2^53")]
    let bytes = bytes as f64;
    let buffer: Constructor = ctx.globals().get("ArrayBuffer")?;
    buffer.construct::<_, JsValue>((bytes,)).map(drop)
}

/// The function that a file of the prelude is.
fn function<'js>(ctx: &Ctx<'js>, (name, text): File) -> Result<Function<'js>> {
    let mut options = options();
    options.filename = Some(name.to_owned());
    ctx.eval_with_options(text, options)
}

/// How all text is run: as a sloppy script, as Elsa's engine does.
pub(super) fn options() -> EvalOptions {
    let mut options = EvalOptions::default();
    options.strict = false;
    options.filename = Some("expression".to_owned());
    options
}
