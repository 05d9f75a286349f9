//! Lists of the server, page by page.

use clap::Args;
use dormouse_engine::instance::SubStatus;
use serde_json::{Map, Value, json};

use super::{items, text};
use crate::client::{Client, segment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::screen::Screen;

/// The part of a list to show.
#[derive(Debug, Clone, Args)]
pub(crate) struct PageArgs {
    /// Maximum number of entries
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) limit: u16,
    /// Page to show, from 0
    #[arg(long, default_value_t = 0, conflicts_with = "all")]
    pub(crate) page: u32,
    /// Show every entry, page by page
    #[arg(long)]
    pub(crate) all: bool,
}

/// Entries per request when everything is asked for.
const PAGE: u16 = 1_000;

impl PageArgs {
    fn size(&self) -> u16 {
        if self.all { PAGE } else { self.limit }
    }

    /// The same for a list whose pages lead from one to the next.
    pub(crate) fn by_cursor(&self) -> CursorArgs {
        CursorArgs {
            limit: self.limit,
            all: self.all,
        }
    }

    /// Lists with a filter in the body of a request. The answer is that of the first page, with the entries of all.
    pub(crate) async fn by_body(
        &self,
        client: &Client,
        path: &str,
        filter: &Value,
    ) -> Result<Value, Failure> {
        let mut request = filter.clone();
        let mut answer = Value::Null;
        let mut page = self.page;
        loop {
            if let Some(request) = request.as_object_mut() {
                request.insert("page".into(), page.into());
                request.insert("pageSize".into(), self.size().into());
            }
            let next = client.post(path, &request).await?;
            if !self.goes_on(&mut answer, next) {
                return Ok(answer);
            }
            page += 1;
        }
    }

    /// Lists with a filter in the query, `path` ending in it.
    pub(crate) async fn by_query(&self, client: &Client, path: &str) -> Result<Value, Failure> {
        let mut answer = Value::Null;
        let mut page = self.page;
        loop {
            let paged = format!("{path}&page={page}&pageSize={}", self.size());
            let next = client.get(&paged).await?;
            if !self.goes_on(&mut answer, next) {
                return Ok(answer);
            }
            page += 1;
        }
    }

    /// Adds a page to an answer. `false`: it was the last one.
    fn goes_on(&self, answer: &mut Value, page: Value) -> bool {
        let found = items(&page, "items").len();
        match answer.get_mut("items").and_then(Value::as_array_mut) {
            None => *answer = page,
            Some(all) => all.extend(items(&page, "items").iter().cloned()),
        }
        self.all && found == usize::from(PAGE)
    }

    /// A note that there is more than was shown.
    pub(crate) fn more(&self, answer: &Value) -> Option<String> {
        let shown = items(answer, "items").len() as u64;
        let total = answer.get("totalCount").and_then(Value::as_u64)?;
        let before = u64::from(self.page) * u64::from(self.limit);
        let is_more = !self.all && before + shown < total;
        let at_least = match answer.get("isTotalExact") {
            Some(Value::Bool(false)) => "at least ",
            _ => "",
        };
        is_more.then(|| {
            let next = self.page + 1;
            format!("{shown} of {at_least}{total}; the next: --page {next}, everything: --all")
        })
    }
}

/// The part of a list to show whose pages lead from one to the next.
#[derive(Debug, Clone, Args)]
pub(crate) struct CursorArgs {
    /// Maximum number of entries
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Show every entry, page by page
    #[arg(long)]
    all: bool,
}

impl CursorArgs {
    /// All entries.
    pub(crate) fn everything() -> Self {
        Self {
            limit: PAGE,
            all: true,
        }
    }

    /// Lists with a filter in the query, `path` ending in it. The answer is that of the last page, with the entries of all;
    /// its `cursor` is set if there are more.
    pub(crate) async fn read(&self, client: &Client, path: &str) -> Result<Value, Failure> {
        let mut found: Vec<Value> = Vec::new();
        let mut cursor = String::new();
        loop {
            let wanted = usize::from(if self.all { PAGE } else { self.limit });
            let missing = wanted.saturating_sub(if self.all { 0 } else { found.len() });
            let after = match cursor.as_str() {
                "" => String::new(),
                cursor => format!("&cursor={}", segment(cursor)),
            };
            let mut page = client
                .get(&format!("{path}pageSize={missing}{after}"))
                .await?;
            found.extend(items(&page, "items").iter().cloned());
            text(&page, "cursor").clone_into(&mut cursor);
            let is_enough = !self.all && found.len() >= wanted;
            if cursor.is_empty() || is_enough {
                if let Some(page) = page.as_object_mut() {
                    page.insert("items".into(), found.into());
                }
                return Ok(page);
            }
        }
    }

    /// Says that there are more entries, if there are.
    pub(crate) fn tell_more(&self, screen: &Screen, answer: &Value) {
        if !text(answer, "cursor").is_empty() {
            let note = "there are more; --limit NUMBER shows more of them, --all every one";
            screen.line(screen.dim(note));
        }
    }
}

/// The filter of instances that several commands have.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct InstanceFilter {
    /// Only instances of this definition
    #[arg(long, value_name = "ID")]
    pub(crate) definition: Option<String>,
    /// Only instances with this sub-status: Suspended, Finished, Faulted, Cancelled, Executing
    #[arg(long, value_name = "STATUS", value_parser = sub_status)]
    pub(crate) status: Vec<String>,
    /// Only instances with this correlation id
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    /// Only instances with this value of a search attribute
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) attribute: Vec<String>,
    /// Only entries with this text in an id or a name
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
}

impl InstanceFilter {
    /// The filter of `POST /workflow-instances`.
    pub(crate) fn request(&self) -> Result<Value, Failure> {
        Ok(json!({
            "definitionId": self.definition,
            "subStatuses": self.statuses(),
            "correlationId": self.correlation,
            "searchAttributes": self.attributes()?,
            "searchTerm": self.search,
        }))
    }

    /// Says if anything is filtered.
    pub(crate) fn is_set(&self) -> bool {
        self.definition.is_some()
            || !self.status.is_empty()
            || self.correlation.is_some()
            || !self.attribute.is_empty()
            || self.search.is_some()
    }

    /// Search attributes by name; values are text.
    pub(crate) fn attributes(&self) -> Result<Map<String, Value>, Failure> {
        let pairs = self.attribute.iter().map(|pair| {
            let wrong = || {
                let message = format!("`--attribute {pair}` should be NAME=VALUE");
                Failure::new(Exit::BadInput, "badInput", message)
            };
            let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
            Ok((name.to_owned(), value.into()))
        });
        pairs.collect()
    }

    /// Sub-statuses as Elsa writes them.
    pub(crate) fn statuses(&self) -> Vec<String> {
        self.status.clone()
    }
}

/// A sub-status as Elsa writes it, in whatever case it is given.
fn sub_status(given: &str) -> Result<String, String> {
    let name = capitalised(given);
    let mut names = SubStatus::ALL.iter().map(|status| status.as_str());
    if names.any(|known| known == name) {
        return Ok(name);
    }
    let names = SubStatus::ALL.map(SubStatus::as_str).join(", ");
    Err(format!("the sub-statuses are {names}"))
}

/// `suspended` as Elsa writes it.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
