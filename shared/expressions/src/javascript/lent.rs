//! Objects of variables that a script holds: as in Elsa they are the variables' own, so that what a script does to their
//! members stays. Lists are copies in Elsa, and what is done to those is lost.

use rquickjs::{Ctx, Persistent, Result, Value as JsValue};
use serde_json::Value;

use super::current::Current;
use super::from_js::from_js;
use super::plan::Plan;

/// The value of a variable that a script holds, as it was and as it is.
pub(super) struct Lent {
    variable: String,
    before: Value,
    object: Persistent<JsValue<'static>>,
    /// The lists in it, with the way to each.
    lists: Lists,
}

type Lists = Vec<(Vec<String>, Persistent<JsValue<'static>>)>;

/// Notes that a script holds the value of a variable, if it may change its members.
pub(super) fn lend<'js>(
    ctx: &Ctx<'js>,
    current: &Current,
    variable: &str,
    before: &Value,
    object: &JsValue<'js>,
) -> Result<()> {
    let is_lent = |lent: &[Lent]| lent.iter().any(|lent| lent.variable == variable);
    if !current.lends.get() || !before.is_object() || is_lent(&current.lent.borrow()) {
        return Ok(());
    }
    let mut lists = Vec::new();
    collect_lists(ctx, object, &mut Vec::new(), &mut lists)?;
    current.lent.borrow_mut().push(Lent {
        variable: variable.to_owned(),
        before: before.clone(),
        object: Persistent::save(ctx, object.clone()),
        lists,
    });
    Ok(())
}

/// Sets the variables whose objects the script has changed. Those in `variables` and those that a call has set have
/// other values by then.
pub(super) fn take_back(ctx: &Ctx<'_>, current: &Current, plan: &Plan) -> Result<()> {
    let lent = std::mem::take(&mut *current.lent.borrow_mut());
    for lent in lent {
        let is_in_variables = plan.uses_variables && plan.names(&lent.variable);
        if is_in_variables || current.assigned(ctx, &lent.variable)?.is_some() {
            continue;
        }
        let object = lent.object.restore(ctx)?;
        let mut after = from_js(ctx, object.clone(), current)?;
        for (way, list) in lent.lists {
            let list = list.restore(ctx)?;
            if at_way(&object, &way)? == Some(list) {
                put_back(&mut after, &lent.before, &way);
            }
        }
        if after != lent.before {
            current.scope(ctx, |scope| scope.set_variable(&lent.variable, after))?;
        }
    }
    Ok(())
}

/// The lists among the members of an object.
fn collect_lists<'js>(
    ctx: &Ctx<'js>,
    value: &JsValue<'js>,
    way: &mut Vec<String>,
    lists: &mut Lists,
) -> Result<()> {
    if value.is_array() {
        lists.push((way.clone(), Persistent::save(ctx, value.clone())));
        return Ok(());
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for member in object.props::<String, JsValue>() {
        let (name, member) = member?;
        if member.is_object() {
            way.push(name);
            collect_lists(ctx, &member, way, lists)?;
            way.pop();
        }
    }
    Ok(())
}

fn at_way<'js>(object: &JsValue<'js>, way: &[String]) -> Result<Option<JsValue<'js>>> {
    let mut at = object.clone();
    for name in way {
        let Some(object) = at.as_object().cloned() else {
            return Ok(None);
        };
        at = object.get(name.as_str())?;
    }
    Ok(Some(at))
}

/// Puts the list at the end of a way back as it was.
fn put_back(after: &mut Value, before: &Value, way: &[String]) {
    let (mut after, mut before) = (after, before);
    for name in way {
        match (after.get_mut(name), before.get(name)) {
            (Some(inner), Some(was)) => (after, before) = (inner, was),
            _ => return,
        }
    }
    *after = before.clone();
}
