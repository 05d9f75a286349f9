//! Alterations as Elsa spells them.

use dormouse_engine::step::Change;
use serde::Deserialize;
use serde_json::Value;

use crate::activity_execution::EXECUTION_ID_BYTES;
use crate::refusal::{Operating, Refusal};

/// One alteration.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Alteration {
    r#type: String,
    variable_id: Option<String>,
    value: Value,
    activity_id: Option<String>,
    activity_instance_id: Option<String>,
    target_version: Option<u32>,
}

impl Alteration {
    fn change(self) -> Result<Change, Refusal> {
        let kind = self.r#type.to_lowercase();
        let missing = |name: &'static str| Refusal::bad_parameter(name, "");
        match kind.as_str() {
            "modifyvariable" => Ok(Change::SetVariable {
                id: self.variable_id.ok_or_else(|| missing("variableId"))?,
                value: self.value,
            }),
            "cancelactivity" => match (self.activity_instance_id, self.activity_id) {
                (Some(id), _) => Ok(Change::CancelExecution { id: own_id(id) }),
                (None, Some(activity_id)) => Ok(Change::CancelActivity { activity_id }),
                (None, None) => Err(missing("activityId")),
            },
            "scheduleactivity" => match (self.activity_instance_id, self.activity_id) {
                (Some(id), _) => Ok(Change::RunExecution { id: own_id(id) }),
                (None, Some(activity_id)) => Ok(Change::RunActivity { activity_id }),
                (None, None) => Err(missing("activityId")),
            },
            "migrate" => Ok(Change::Migrate {
                version: self
                    .target_version
                    .ok_or_else(|| missing("targetVersion"))?,
            }),
            "cancel" => Ok(Change::Cancel),
            _ => Err(Operating::AlterationNotOffered { name: self.r#type }.into()),
        }
    }
}

/// An alteration's name, and the activity that it is for.
fn aim(alteration: &Value) -> Option<(&'static str, Option<String>)> {
    let read = crate::body::shape::<Alteration>(alteration.clone()).ok()?;
    let name = match read.r#type.to_lowercase().as_str() {
        "cancelactivity" => "CancelActivity",
        "scheduleactivity" => "ScheduleActivity",
        _ => return None,
    };
    Some((name, read.activity_instance_id.or(read.activity_id)))
}

/// The first alteration that names no activity where it has to, and Elsa's words for it.
pub(super) fn aimless(alterations: &[Value]) -> Option<(&'static str, String)> {
    let mut aims = alterations.iter().filter_map(aim);
    let (name, _) = aims.find(|(_, activity)| activity.is_none())?;
    let told = "Either ActivityInstanceId or ActivityId must be specified";
    Some((name, told.to_owned()))
}

/// Elsa's words where the one alteration cannot be made, because there is no such activity.
pub(super) fn not_possible(alterations: &[Value]) -> Option<(&'static str, String)> {
    let [only] = alterations else {
        return None;
    };
    let (name, activity) = aim(only)?;
    let activity = activity.unwrap_or_default();
    let told = match name {
        "CancelActivity" => {
            format!("Activity execution contexts for activity with ID {activity} not found")
        }
        _ => format!("Activity with ID {activity} not found"),
    };
    Some((name, told))
}

/// The id of an execution within its instance, of which lists show it as a part.
fn own_id(id: String) -> String {
    let place = id.len().checked_sub(EXECUTION_ID_BYTES);
    let own = place.and_then(|place| id.get(place..));
    own.map(str::to_owned).unwrap_or(id)
}

/// Reads alterations: at least one, and at most one that changes the version.
pub(super) fn changes(alterations: Vec<Value>) -> Result<Vec<Change>, Refusal> {
    let read = |value| crate::body::shape::<Alteration>(value)?.change();
    let changes: Vec<Change> = alterations
        .into_iter()
        .map(read)
        .collect::<Result<_, _>>()?;
    let migrations = changes
        .iter()
        .filter(|change| matches!(change, Change::Migrate { .. }))
        .count();
    if migrations > 1 {
        return Err(Refusal::bad_parameter("targetVersion", "more than one"));
    }
    if changes.is_empty() {
        return Err(Refusal::bad_parameter("alterations", ""));
    }
    Ok(changes)
}
