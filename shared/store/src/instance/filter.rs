//! Which instances a list is for, and which part of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::instance::head::Summary;
use crate::item::error::StoreError;
use crate::item::key_text::{part, time};

/// Which instances. Every field that is set must match; an empty list matches all. Stored with alteration plans, so
/// its names are stable for ever.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct InstanceFilter {
    /// Of one of these definitions.
    pub definition_ids: Vec<String>,
    /// Of this version.
    pub version: Option<u32>,
    /// With this correlation id.
    pub correlation_id: Option<String>,
    /// With these values of search attributes, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, String>,
    /// With one of these statuses.
    pub statuses: Vec<String>,
    /// With one of these sub-statuses.
    pub sub_statuses: Vec<String>,
    /// With exactly this name.
    pub name: Option<String>,
    /// With this text in id, definition id, name or correlation id, whatever the case.
    pub search: Option<String>,
    /// With this instance as the one that started it.
    pub parent_id: Option<String>,
    /// With (true) or without (false) incidents.
    pub has_incidents: Option<bool>,
    /// Of the system (true) or not (false).
    pub is_system: Option<bool>,
    /// Created at or after this time, in ms since 1970.
    pub created_from_ms: Option<i64>,
    /// Created before this time, in ms since 1970.
    pub created_until_ms: Option<i64>,
    /// Changed last at or after this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_from_ms: Option<i64>,
    /// Changed last before this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_until_ms: Option<i64>,
    /// Ended at or after this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_from_ms: Option<i64>,
    /// Ended before this time, in ms since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished_until_ms: Option<i64>,
}

/// Which part of a list.
#[derive(Debug, Clone)]
pub struct Paging {
    /// Oldest first; else newest first. By the time of creation.
    pub ascending: bool,
    /// Skip so many matches.
    pub skip: usize,
    /// At most so many matches, 1 to 1,000.
    pub limit: usize,
    /// Where an earlier page ended. It stays right while instances come and go.
    pub cursor: Option<String>,
}

/// One instance of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedInstance {
    /// Its id.
    pub instance_id: String,
    /// What is known of it.
    pub summary: Summary,
}

impl ListedInstance {
    /// The cursor of a page that begins after it.
    ///
    /// # Errors
    ///
    /// [`StoreError::BadId`]
    pub fn cursor(&self, ascending: bool) -> Result<String, StoreError> {
        let id = part("an instance id", &self.instance_id)?;
        let sort = format!("{}#{id}", time(self.summary.created_ms));
        Ok(after(ascending, &sort))
    }
}

/// The cursor of a page that begins after a sort key.
fn after(ascending: bool, sort: &str) -> String {
    format!("{}{sort}", if ascending { '+' } else { '-' })
}

/// A range of creation times, as sort keys of the indexes.
pub(crate) struct Range {
    pub(crate) ascending: bool,
    pub(crate) from: String,
    pub(crate) until: String,
}

impl Range {
    /// Where to go on after an item.
    pub(crate) fn cursor(&self, sort: &str) -> String {
        after(self.ascending, sort)
    }
}

impl InstanceFilter {
    pub(crate) fn range(&self, paging: &Paging) -> Result<Range, StoreError> {
        let mut from = self.created_from_ms.map(time).unwrap_or_default();
        let mut until = self.created_until_ms.map(time).unwrap_or_default();
        let ascending = paging.ascending;
        if let Some(cursor) = &paging.cursor {
            let sort = cursor.strip_prefix(if ascending { '+' } else { '-' });
            let is_sort = |sort: &&str| {
                sort.split_once('#')
                    .is_some_and(|(time, _)| time.len() >= 13)
            };
            let sort = sort.filter(is_sort).ok_or(StoreError::BadCursor)?;
            if ascending {
                // The least text after it.
                from = from.max(format!("{sort}\u{1}"));
            } else if until.is_empty() || sort < until.as_str() {
                sort.clone_into(&mut until);
            }
        }
        Ok(Range {
            ascending,
            from,
            until,
        })
    }

    /// Whether it asks for what only a summary tells, sub-statuses aside.
    pub(crate) fn asks_summary(&self) -> bool {
        self.version.is_some()
            || !self.statuses.is_empty()
            || self.name.is_some()
            || self.search.is_some()
            || self.parent_id.is_some()
            || self.has_incidents.is_some()
            || self.is_system.is_some()
            || self.updated_from_ms.is_some()
            || self.updated_until_ms.is_some()
            || self.finished_from_ms.is_some()
            || self.finished_until_ms.is_some()
            || (self.correlation_id.is_some() && !self.definition_ids.is_empty())
            || (self.correlation_id.is_some() && !self.attributes.is_empty())
            || self.attributes.len() > 1
    }

    /// Whether an instance is one of those meant.
    #[must_use]
    pub fn matches(&self, listed: &ListedInstance) -> bool {
        let ListedInstance {
            instance_id,
            summary: s,
        } = listed;
        let one_of = |list: &[String], text: &String| list.is_empty() || list.contains(text);
        let same =
            |wanted: &Option<String>, text: &Option<String>| wanted.is_none() || wanted == text;
        let texts = [
            Some(instance_id),
            Some(&s.definition_id),
            s.name.as_ref(),
            s.correlation_id.as_ref(),
        ];
        let has = |part: &String| {
            let part = part.to_lowercase();
            texts
                .into_iter()
                .flatten()
                .any(|text| text.to_lowercase().contains(&part))
        };
        one_of(&self.definition_ids, &s.definition_id)
            && one_of(&self.statuses, &s.status)
            && one_of(&self.sub_statuses, &s.sub_status)
            && same(&self.correlation_id, &s.correlation_id)
            && self
                .attributes
                .iter()
                .all(|(name, value)| s.attributes.get(name) == Some(value))
            && same(&self.name, &s.name)
            && same(&self.parent_id, &s.parent_id)
            && self
                .version
                .is_none_or(|version| version == s.definition_version)
            && self
                .has_incidents
                .is_none_or(|has| has == (s.incident_count > 0))
            && self
                .is_system
                .is_none_or(|is_system| is_system == s.is_system)
            && is_within(
                Some(s.created_ms),
                self.created_from_ms,
                self.created_until_ms,
            )
            && is_within(
                Some(s.updated_ms),
                self.updated_from_ms,
                self.updated_until_ms,
            )
            && is_within(s.finished_ms, self.finished_from_ms, self.finished_until_ms)
            && self.search.as_ref().is_none_or(has)
    }
}

/// Whether a time is at or after `from` and before `until`. What has not happened is within no bounds.
fn is_within(at: Option<i64>, from: Option<i64>, until: Option<i64>) -> bool {
    from.is_none_or(|from| at.is_some_and(|at| at >= from))
        && until.is_none_or(|until| at.is_some_and(|at| at < until))
}
