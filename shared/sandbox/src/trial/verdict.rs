//! Compares a case with its expectations.

use dormouse_engine::call::HttpResponse;
use dormouse_engine::definition::declaration::Storage;
use dormouse_engine::graph::ROOT;
use dormouse_engine::journal::Event;
use serde_json::Value;

use super::{Failure, Run, is_named, places, shown, waiting};
use crate::check::{Answered, Check, Wanted};
use crate::host::Kept;
use crate::mock::{has_at_least, is_equal};

impl Run<'_> {
    /// Compares with all expectations, so that every unmet one is told at once.
    pub(super) fn verify(&self, checks: &[Check]) -> Result<(), Vec<Failure>> {
        let failures: Vec<Failure> = checks
            .iter()
            .filter_map(|check| {
                let unmet = self.check(&check.wanted).err()?;
                Some(Failure::new(check.line, unmet))
            })
            .collect();
        match failures.is_empty() {
            true => Ok(()),
            false => Err(failures),
        }
    }

    fn check(&self, wanted: &Wanted) -> Result<(), String> {
        match wanted {
            Wanted::Status(wanted) => self.status(wanted),
            Wanted::Output(name, wanted) => {
                let output = &self.kept()?.instance.output;
                let mut output = output.iter();
                let found = output.find(|(n, _)| n.eq_ignore_ascii_case(name));
                value(&format!("output `{name}`"), wanted, found.map(|f| f.1))
            }
            Wanted::Variable(name, wanted) => self.variable(name, wanted),
            Wanted::Ran(activity) => match self.happened(activity, Event::Completed)? {
                true => Ok(()),
                false => Err(format!("`{activity}` did not run to its end")),
            },
            Wanted::NotRan(activity) => match self.happened(activity, Event::Started)? {
                true => Err(format!("`{activity}` ran")),
                false => Ok(()),
            },
            Wanted::Waiting(wanted) => self.waits(wanted),
            Wanted::Incidents(wanted) => {
                let incidents = &self.kept()?.instance.incidents;
                let messages = incidents.iter().map(|i| format!("“{}”", i.message));
                let messages = messages.collect::<Vec<_>>().join(", ");
                count("incidents", *wanted, incidents.len(), &messages)
            }
            Wanted::Incident(text) => {
                let mut incidents = self.kept()?.instance.incidents.iter();
                match incidents.any(|i| i.message.contains(text)) {
                    true => Ok(()),
                    false => Err(format!("no incident says “{text}”")),
                }
            }
            Wanted::Lines(wanted) => {
                let (wanted, found) = (texts(wanted), texts(&self.host.lines));
                value("lines", &wanted, Some(&found))
            }
            Wanted::Event(name) => match self.host.events.contains(name) {
                true => Ok(()),
                false => Err(format!(
                    "the event `{name}` was not published; published: {}",
                    texts(&self.host.events)
                )),
            },
            Wanted::Tasks(wanted) => {
                let mut wanted = wanted.clone();
                let mut open: Vec<String> = self.open_tasks().into_iter().map(|t| t.1).collect();
                wanted.sort();
                open.sort();
                value("open tasks", &texts(&wanted), Some(&texts(&open)))
            }
            Wanted::Instances(wanted) => {
                let of = |k: &&Kept| k.instance.definition_id == self.definition_id;
                let found = self.host.instances.iter().filter(of).count();
                count("instances", *wanted, found, "")
            }
            Wanted::Requests(wanted) => {
                let requests = self.host.requests.iter();
                let list = requests.map(|r| format!("{} {}", r.method, r.url));
                let list = list.collect::<Vec<_>>().join(", ");
                count("requests", *wanted, self.host.requests.len(), &list)
            }
            Wanted::Response(wanted) => self.check_response(wanted),
        }
    }

    fn check_response(&self, wanted: &Answered) -> Result<(), String> {
        match wanted {
            Answered::Status(wanted) => {
                let found = Value::from(self.response()?.status);
                value("response status", &Value::from(*wanted), Some(&found))
            }
            Answered::Body(wanted) => self.response_body(wanted),
            Answered::Header(name, wanted) => {
                let mut headers = self.response()?.headers.iter();
                let found = headers.find(|(n, _)| n.eq_ignore_ascii_case(name));
                let found = found.map(|(_, value)| Value::from(value.as_str()));
                let what = format!("response header `{name}`");
                value(&what, &Value::from(wanted.as_str()), found.as_ref())
            }
        }
    }

    fn status(&self, wanted: &str) -> Result<(), String> {
        let kept = self.kept()?;
        let found = kept.instance.sub_status.as_str();
        if found == wanted || wanted == "Running" && !kept.instance.is_ended() {
            return Ok(());
        }
        let incident = kept.instance.incidents.last();
        let why = match incident {
            Some(incident) => format!("“{}”", incident.message),
            None if kept.instance.is_ended() => "it has ended".to_owned(),
            None => places(kept),
        };
        Err(format!("expected status {wanted}, found {found}; {why}"))
    }

    fn variable(&self, name: &str, wanted: &Value) -> Result<(), String> {
        let kept = self.kept()?;
        let root = kept.graph.node(ROOT);
        let mut declared = root.variables.iter().enumerate();
        let (place, variable) = declared
            .find(|(_, v)| v.name.eq_ignore_ascii_case(name) || v.id == name)
            .ok_or_else(|| format!("the workflow declares no variable `{name}`"))?;
        let place = u32::try_from(place).unwrap_or(u32::MAX);
        let mut contexts = kept.instance.contexts.values();
        let found = match contexts.find(|c| c.node == ROOT) {
            Some(context) => context.variables.get(&place),
            None => kept.instance.variable(place),
        };
        let compared = value(&format!("variable `{name}`"), wanted, found);
        compared.map_err(|unmet| match (found, variable.storage) {
            (None, Storage::Memory) => {
                format!("{unmet}; it has no storage driver, so its value is gone while it waits")
            }
            (Some(_), _) | (None, _) => unmet,
        })
    }

    /// Whether an event is in the journal of an activity, of any instance.
    fn happened(&self, activity: &str, event: Event) -> Result<bool, String> {
        self.known(activity)?;
        let mut instances = self.host.instances.iter();
        Ok(instances.any(|kept| {
            let mut journal = kept.journal.iter().filter(|e| e.event == event);
            journal.any(|e| is_named(kept.graph.node(e.node), activity))
        }))
    }

    /// Refuses activities that no definition has: an expectation about them could not fail.
    fn known(&self, activity: &str) -> Result<(), String> {
        let library = &self.host.library;
        for definition in library.versions() {
            let id = definition.definition_id.as_deref().unwrap_or_default();
            let graph = library.graph(id, &self.host.expressions);
            let is_there = |n: &dormouse_engine::graph::Node| is_named(n, activity);
            if graph.is_some_and(|g| g.nodes.iter().any(is_there)) {
                return Ok(());
            }
        }
        Err(format!("no activity has the id or name `{activity}`"))
    }

    fn waits(&self, wanted: &[String]) -> Result<(), String> {
        for activity in wanted {
            self.known(activity)?;
        }
        let kept = self.kept()?;
        let open = waiting(kept);
        let missing = wanted
            .iter()
            .find(|w| !open.iter().any(|(node, _)| is_named(node, w)));
        if let Some(missing) = missing {
            return Err(format!("`{missing}` does not wait; {}", places(kept)));
        }
        let is_wanted = |node| wanted.iter().any(|w| is_named(node, w));
        match open.iter().find(|(node, _)| !is_wanted(node)) {
            Some((node, _)) => Err(format!("`{}` waits too", shown(node))),
            None => Ok(()),
        }
    }

    fn response(&self) -> Result<&HttpResponse, String> {
        let kept = self.answered.as_ref().and_then(|id| self.host.kept(id));
        let response = kept.and_then(|k| k.response.as_ref());
        response.ok_or_else(|| "no HTTP request was answered".to_owned())
    }

    /// Compares an object with at least the wanted properties, anything else with all of it.
    fn response_body(&self, wanted: &Value) -> Result<(), String> {
        let body = &self.response()?.body;
        let text = String::from_utf8_lossy(body);
        let found = match wanted {
            Value::String(_) => Value::from(text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                serde_json::from_slice(body).unwrap_or_else(|_| Value::from(text))
            }
        };
        match has_at_least(&found, wanted) {
            true => Ok(()),
            false => Err(format!("expected response body {wanted}, found {found}")),
        }
    }
}

fn texts(list: &[String]) -> Value {
    list.iter().map(String::as_str).collect()
}

fn value(what: &str, wanted: &Value, found: Option<&Value>) -> Result<(), String> {
    match found {
        Some(found) if is_equal(found, wanted) => Ok(()),
        Some(found) => Err(format!("expected {what} {wanted}, found {found}")),
        None if wanted.is_null() => Ok(()),
        None => Err(format!("expected {what} {wanted}, found nothing")),
    }
}

fn count(what: &str, wanted: u64, found: usize, list: &str) -> Result<(), String> {
    if wanted == found as u64 {
        return Ok(());
    }
    let list = match list {
        "" => String::new(),
        list => format!(": {list}"),
    };
    Err(format!("expected {wanted} {what}, found {found}{list}"))
}
