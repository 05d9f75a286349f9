//! Lists of the server, page by page.

use clap::Args;
use serde_json::{Value, json};

use super::items;
use crate::client::Client;
use crate::failure::Failure;

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

/// The filter of instances that several commands have.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct InstanceFilter {
    /// Only instances of this definition
    #[arg(long, value_name = "ID")]
    pub(crate) definition: Option<String>,
    /// Only instances with this sub-status: Suspended, Finished, Faulted, Cancelled, Executing
    #[arg(long, value_name = "STATUS")]
    pub(crate) status: Vec<String>,
    /// Only instances with this correlation id
    #[arg(long, value_name = "ID")]
    pub(crate) correlation: Option<String>,
    /// Only entries with this text in an id or a name
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
}

impl InstanceFilter {
    /// The filter of `POST /workflow-instances`.
    pub(crate) fn request(&self) -> Value {
        json!({
            "definitionId": self.definition,
            "subStatuses": self.statuses(),
            "correlationId": self.correlation,
            "searchTerm": self.search,
        })
    }

    /// Sub-statuses as Elsa writes them.
    pub(crate) fn statuses(&self) -> Vec<String> {
        self.status.iter().map(|s| capitalised(s)).collect()
    }
}

/// `suspended` as Elsa writes it.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    let rest = chars.map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(rest).collect()
}
