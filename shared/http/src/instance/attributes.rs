//! Filters by search attributes, as bodies and queries give them.

use std::collections::BTreeMap;

use dormouse_engine::definition::search_attribute::{ATTRIBUTES_MAX, NAME_MAX, search_text};
use serde_json::{Map, Value};

use crate::refusal::Refusal;

/// The member of bodies.
const MEMBER: &str = "searchAttributes";

/// The filter of a member `{"Customer": "ACME"}`.
pub(crate) fn of_member(
    wanted: Option<Map<String, Value>>,
) -> Result<BTreeMap<String, String>, Refusal> {
    let wanted = wanted.unwrap_or_default();
    if wanted.len() > ATTRIBUTES_MAX {
        let told = format!("{} of them; the limit is {ATTRIBUTES_MAX}", wanted.len());
        return Err(Refusal::bad_parameter(MEMBER, &told));
    }
    let texts = wanted.into_iter().map(|(name, value)| {
        if name.is_empty() || name.len() > NAME_MAX {
            return Err(Refusal::bad_parameter(MEMBER, &name));
        }
        let no_text = || Refusal::bad_parameter(MEMBER, &format!("{name}: {value}"));
        let text = search_text(&value).ok_or_else(no_text)?;
        Ok((name, text))
    });
    texts.collect()
}

/// The member of parameters `searchAttribute=Customer=ACME`, one for each attribute.
pub(crate) fn of_parameters(pairs: &[String]) -> Result<Map<String, Value>, Refusal> {
    let mut wanted = Map::new();
    for pair in pairs {
        let (name, value) = pair
            .split_once('=')
            .ok_or_else(|| Refusal::bad_parameter("searchAttribute", pair))?;
        wanted.insert(name.to_owned(), value.into());
    }
    Ok(wanted)
}
