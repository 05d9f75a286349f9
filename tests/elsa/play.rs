//! Plays one case against a server, as the player of the recordings does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Map, Value, json};

use crate::case::expanded;
use crate::client::{Client, Reply};
use crate::look::seen;
use crate::normal::{Run, known};
use crate::told::{BOUNDARY, found, upload};

/// Where the API is.
const API: &str = "/elsa/api";

/// A server that cases are played against.
#[derive(Debug, Clone)]
pub(crate) struct Stage {
    pub(crate) port: u16,
    pub(crate) credential: String,
    pub(crate) password: String,
    pub(crate) echo: u16,
}

/// One case under way.
pub(crate) struct Play<'s> {
    stage: &'s Stage,
    client: &'s mut Client,
    run: Run,
    ids: Vec<String>,
    before: BTreeSet<String>,
    saved: BTreeMap<String, Value>,
}

/// Plays a case and gives what was seen, in the form of the recordings.
pub(crate) fn play(stage: &Stage, client: &mut Client, case: &Value, name: String) -> Value {
    let mut run = Run {
        name,
        base: format!("http://127.0.0.1:{}", stage.port),
        echo: format!("http://127.0.0.1:{}", stage.echo),
        credential: stage.credential.clone(),
        known: BTreeSet::new(),
    };
    let (definitions, steps) = expanded(case);
    let named = json!([definitions, steps]).to_string();
    let named = named
        .replace("$WORD", &run.word())
        .replace("$CASE", &run.name)
        .replace("$BASE", &run.base)
        .replace("$ECHO", &run.echo);
    let named: Value = serde_json::from_str(&named).expect("a case is JSON");
    let (definitions, steps) = (&named[0], &named[1]);
    run.known = known(&definitions.to_string());
    let each = |list: &Value| list.as_array().cloned().unwrap_or_default();
    let mut ids: Vec<String> = Vec::new();
    for definition in each(definitions) {
        let id = definition["definitionId"].as_str().unwrap_or("undefined");
        if !ids.iter().any(|known| known == id) {
            ids.push(id.to_owned());
        }
    }
    let mut play = Play {
        stage,
        client,
        run,
        ids,
        before: BTreeSet::new(),
        saved: BTreeMap::new(),
    };
    if case["alone"].as_bool().unwrap_or(false) {
        let left = play.instances();
        play.before = left.iter().map(|i| text(&i["id"])).collect();
    }
    let publish: Vec<Value> = each(definitions).iter().map(|d| play.publish(d)).collect();
    let steps: Vec<Value> = each(steps).iter().map(|s| play.step(s)).collect();
    let instances: Vec<Value> = play.instances().iter().map(|i| play.instance(i)).collect();
    if !case["keep"].as_bool().unwrap_or(false) {
        for id in play.ids.clone() {
            play.api(
                "DELETE",
                &format!("/workflow-definitions/{}", encoded(&id)),
                None,
            );
        }
    }
    let seen = json!({ "publish": publish, "steps": steps, "instances": instances });
    play.run.normal(&seen)
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn encoded(text: &str) -> String {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&b);
    let bytes = text.bytes();
    bytes
        .map(|b| {
            if is_plain(b) {
                char::from(b).to_string()
            } else {
                format!("%{b:02X}")
            }
        })
        .collect()
}

pub(crate) fn has(step: &Value, name: &str) -> bool {
    !matches!(
        step.get(name),
        None | Some(Value::Null | Value::Bool(false))
    )
}

impl Play<'_> {
    fn call(&mut self, method: &str, path: &str, body: Option<&Value>, more: &Value) -> Reply {
        let bytes = body.map(|body| match body {
            Value::String(text) => text.clone().into_bytes(),
            other => other.to_string().into_bytes(),
        });
        self.send(method, path, bytes.as_deref(), more)
    }

    fn send(&mut self, method: &str, path: &str, body: Option<&[u8]>, more: &Value) -> Reply {
        let mut headers = vec![("accept".to_owned(), Some("application/json".to_owned()))];
        for (name, value) in more.as_object().into_iter().flatten() {
            headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            headers.push((name.clone(), value.as_str().map(str::to_owned)));
        }
        let is_given = |headers: &[(String, Option<String>)], name: &str| {
            headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name))
        };
        if path.starts_with(API) && !is_given(&headers, "authorization") {
            let credential = self.stage.credential.clone();
            headers.push(("authorization".into(), Some(credential)));
        }
        if body.is_some() && !is_given(&headers, "content-type") {
            headers.push(("content-type".into(), Some("application/json".into())));
        }
        let headers = headers.into_iter();
        let headers: Vec<_> = headers.filter_map(|(n, v)| Some((n, v?))).collect();
        self.client.send(method, path, &headers, body)
    }

    pub(crate) fn api(&mut self, method: &str, path: &str, body: Option<&Value>) -> Reply {
        self.call(method, &format!("{API}{path}"), body, &Value::Null)
    }

    fn publish(&mut self, definition: &Value) -> Value {
        let mut reply = self.api("POST", "/workflow-definitions/import", Some(definition));
        if reply.is_success() {
            let id = encoded(definition["definitionId"].as_str().unwrap_or("undefined"));
            let path = format!("/workflow-definitions/{id}/publish");
            reply = self.api("POST", &path, Some(&json!({})));
        }
        json!({ "status": reply.status })
    }

    fn instances(&mut self) -> Vec<Value> {
        let mut all = Vec::new();
        for id in self.ids.clone() {
            let path = format!(
                "/workflow-instances?definitionId={}&pageSize=50",
                encoded(&id)
            );
            let items = self.api("GET", &path, None).json();
            let items = items["items"].as_array().cloned().unwrap_or_default();
            let items = items.into_iter();
            all.extend(items.filter(|i| !self.before.contains(&text(&i["id"]))));
        }
        all.sort_by_key(|i| (text(&i["createdAt"]), text(&i["id"])));
        all
    }

    /// Waits until nothing changes any more.
    fn settle(&mut self) {
        let (mut last, mut same) = (String::new(), 0);
        for round in 0..25 {
            if same >= 2 {
                return;
            }
            std::thread::sleep(Duration::from_millis(if round == 0 { 60 } else { 200 }));
            let now: Vec<_> = self
                .instances()
                .iter()
                .map(|i| json!([i["id"], i["status"], i["subStatus"], i["updatedAt"]]))
                .collect();
            let now = Value::Array(now).to_string();
            same = if now == last { same + 1 } else { 0 };
            if round == 0 && now != "[]" && !now.contains("Running") {
                same = 1;
            }
            last = now;
        }
    }

    /// Puts in what was saved, and the ids of instances.
    fn filled(&mut self, value: &Value) -> Value {
        let is_text = value.is_string();
        let mut filled = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        for number in 0..10 {
            let name = format!("$INSTANCE{number}");
            if filled.contains(&name) {
                let id = self.instances().get(number).map(|i| text(&i["id"]));
                filled = filled.replace(&name, id.as_deref().unwrap_or("none"));
            }
        }
        for (name, value) in &self.saved {
            let plain = match value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let escaped = Value::from(plain.as_str()).to_string();
            let inner = if is_text {
                plain
            } else {
                escaped[1..escaped.len() - 1].to_owned()
            };
            filled = filled.replace(&format!("$SAVED_{name}"), &inner);
        }
        filled = filled
            .replace("$AUTH", &self.stage.credential)
            .replace("$PASSWORD", &self.stage.password);
        if is_text {
            return Value::String(filled);
        }
        serde_json::from_str(&filled).unwrap_or_default()
    }

    fn filled_text(&mut self, value: &Value) -> String {
        text(&self.filled(value))
    }

    fn step(&mut self, step: &Value) -> Value {
        let reply = self.act(step);
        if let Some(ms) = step["then"].as_u64() {
            std::thread::sleep(Duration::from_millis(ms));
        }
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let answer = reply.as_ref().map(Result::as_ref);
            let answer = answer
                .and_then(Result::ok)
                .map(Reply::json)
                .unwrap_or_default();
            let value = found(&answer, path.as_str().unwrap_or_default());
            let value = if value.is_null() {
                "none".into()
            } else {
                value
            };
            self.saved.insert(name.clone(), value);
        }
        if !self.ids.is_empty() || !has(step, "api") {
            self.settle();
        }
        let seen = match reply {
            None => Value::Null,
            Some(Err(why)) => json!({ "status": why }),
            Some(Ok(reply)) => seen(step, &reply),
        };
        let instances: Vec<_> = self
            .instances()
            .iter()
            .map(|i| {
                let part = |name: &str| text(&i[name]);
                format!(
                    "{} {}/{}",
                    part("definitionId"),
                    part("status"),
                    part("subStatus")
                )
            })
            .collect();
        json!({ "answer": seen, "instances": instances })
    }

    /// Does what a step says. `None`: it only waited; an error: why it could not be done.
    fn act(&mut self, step: &Value) -> Option<Result<Reply, &'static str>> {
        if let Some(ms) = step["wait"].as_u64() {
            std::thread::sleep(Duration::from_millis(ms));
            return None;
        }
        for (name, verb) in [("start", "execute"), ("dispatch", "dispatch")] {
            if has(step, name) {
                let mut usual = Map::new();
                for member in ["input", "correlationId"] {
                    if has(step, member) {
                        usual.insert(member.into(), step[member].clone());
                    }
                }
                let body = step.get("body").filter(|b| !b.is_null());
                let body = body.cloned().unwrap_or(Value::Object(usual));
                let body = self.filled(&body);
                let path = format!(
                    "/workflow-definitions/{}/{verb}",
                    encoded(&text(&step[name]))
                );
                return Some(Ok(self.api("POST", &path, Some(&body))));
            }
        }
        if has(step, "event") {
            let body = step.get("body").filter(|b| !b.is_null()).cloned();
            let body = self.filled(&body.unwrap_or_else(|| json!({})));
            let path = format!("/events/{}/trigger", encoded(&text(&step["event"])));
            return Some(Ok(self.api("POST", &path, Some(&body))));
        }
        if has(step, "task") {
            return Some(self.complete(step).ok_or("no such task"));
        }
        let headers = if has(step, "headers") {
            self.filled(&step["headers"])
        } else {
            Value::Null
        };
        let body = step.get("body").map(|body| self.filled(body));
        if let Some(method) = step["http"].as_str() {
            let path = format!("/workflows/{}", self.filled_text(&step["path"]));
            if let Some(bytes) = step["bytes"].as_str() {
                let bytes = base64::engine::general_purpose::STANDARD.decode(bytes);
                let bytes = bytes.expect("bytes of a case are base64");
                return Some(Ok(self.send(method, &path, Some(&bytes), &headers)));
            }
            return Some(Ok(self.call(method, &path, body.as_ref(), &headers)));
        }
        if let Some(method) = step["api"].as_str() {
            let path = format!("{API}{}", self.filled_text(&step["path"]));
            if has(step, "files") {
                let form = upload(&self.filled(&step["files"]));
                let mut headers = headers.as_object().cloned().unwrap_or_default();
                let kind = format!("multipart/form-data; boundary={BOUNDARY}");
                headers.insert("content-type".into(), kind.into());
                return Some(Ok(self.send(method, &path, Some(&form), &headers.into())));
            }
            let body = body.filter(|b| !b.is_null());
            return Some(Ok(self.call(method, &path, body.as_ref(), &headers)));
        }
        let method = step["url"].as_str()?;
        let url = self.filled_text(&step["path"]);
        let path = url.strip_prefix(&self.run.base).unwrap_or(&url).to_owned();
        let mut given = headers.as_object().cloned().unwrap_or_default();
        given.entry("authorization").or_insert(Value::Null);
        Some(Ok(self.call(method, &path, body.as_ref(), &given.into())))
    }

    fn complete(&mut self, step: &Value) -> Option<Reply> {
        let mut task = None;
        for instance in self.instances() {
            let state = self.state(&text(&instance["id"]));
            for bookmark in state["bookmarks"].as_array().into_iter().flatten() {
                let payload = &bookmark["payload"];
                let part = |camel: &str, pascal: &str| {
                    let found = payload.get(camel).or_else(|| payload.get(pascal));
                    found.and_then(Value::as_str).map(str::to_owned)
                };
                if part("taskName", "TaskName") == Some(text(&step["task"])) {
                    task = task.or_else(|| part("taskId", "TaskId"));
                }
            }
        }
        let body = step.get("body").filter(|b| !b.is_null()).cloned();
        let body = body.unwrap_or_else(|| json!({ "result": step["result"] }));
        let path = format!("/tasks/{}/complete", encoded(&task?));
        Some(self.api("POST", &path, Some(&body)))
    }
}
