//! Following a link. Who has it may answer it; nobody is asked who he is.
//!
//! Unknown, expired, foreign and burnt links look the same. The token is in no log and in no record.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use dormouse_identity::Secret;
use dormouse_identity::secret::sha256_hex;
use dormouse_runtime::{AuditRecord, Link, LinkAnswered, LinkForm, RuntimeError, Tenant};
use serde_json::{Map, Value};

use super::page;
use crate::app::App;
use crate::body::{Body, parse};
use crate::client_address::ClientAddress;
use crate::path::Path;
use crate::query::Query;
use crate::refusal::Refusal;

/// How many characters of a link's digest its records name.
const DIGEST_CHARS: usize = 12;

/// What a link's token is.
enum Token {
    /// The secret of a link to a bookmark.
    Bookmark(Secret),
    /// The signed text of a link that a script made.
    Event(String),
}

impl Token {
    fn digest(&self) -> String {
        match self {
            Self::Bookmark(secret) => secret.digest(),
            Self::Event(text) => sha256_hex(text.as_bytes()),
        }
    }

    async fn answer(
        &self,
        app: &App,
        outcome: Option<&str>,
        values: &Map<String, Value>,
    ) -> Result<LinkAnswered, RuntimeError> {
        match self {
            Self::Bookmark(secret) => app.runtime().links().answer(secret, outcome, values).await,
            Self::Event(text) => app.runtime().links().follow_event_link(text).await,
        }
    }
}

/// `GET /links/{secret}`, and `HEAD`: the page that asks. Nothing changes: mail scanners follow links too.
pub(super) async fn look(
    State(app): State<App>,
    client: ClientAddress,
    Path(text): Path<String>,
) -> Response {
    match find(&app, &client, &text).await {
        Ok((_, link)) => page::ask(&link, None),
        Err(refusal) => page::refused(refusal),
    }
}

/// `POST /links/{secret}`: the answer. The second one shows what was recorded with the first.
pub(super) async fn answer(
    State(app): State<App>,
    client: ClientAddress,
    Path(text): Path<String>,
    Body(body): Body,
) -> Response {
    let (token, link) = match find(&app, &client, &text).await {
        Ok(found) => found,
        // Whoever is held up writes no records either: they would cost as much as what he is kept from.
        Err(refusal @ Refusal::TooManyAttempts) => return page::refused(refusal),
        Err(refusal) => {
            record(&app, &client, None, &refusal.facts().status).await;
            return page::refused(refusal);
        }
    };
    let (outcome, values) = page::read(&link, &Query::parse(&String::from_utf8_lossy(&body)));
    let answered = token.answer(&app, outcome.as_deref(), &values).await;
    let response = match answered {
        Ok(LinkAnswered::Recorded(link)) => page::recorded(&link),
        Ok(LinkAnswered::Bad(bad)) => page::ask(&link, Some(&bad)),
        Ok(LinkAnswered::NotFound) => page::refused(Refusal::NoSuchLink),
        Err(error) => page::refused(error.into()),
    };
    record(&app, &client, Some((&token, &link)), &response.status()).await;
    response
}

/// Finds a link for somebody who has not asked for too many that do not exist.
async fn find(app: &App, client: &ClientAddress, text: &str) -> Result<(Token, Link), Refusal> {
    if !app.links_limit().allows(client) {
        return Err(Refusal::TooManyAttempts);
    }
    let found = match Secret::parse(text) {
        Some(secret) => {
            let link = app.runtime().links().link(&secret).await?;
            link.map(|link| (Token::Bookmark(secret), link))
        }
        None => {
            let link = app.runtime().links().event_link(text).await?;
            link.map(|link| (Token::Event(text.to_owned()), link))
        }
    };
    if let Some(found) = found {
        return Ok(found);
    }
    app.links_limit().charge(client);
    tracing::info!(address = %client, "a resume link that leads nowhere");
    Err(Refusal::NoSuchLink)
}

/// Records an attempt. It is too late to refuse for want of a record.
async fn record(
    app: &App,
    client: &ClientAddress,
    link: Option<(&Token, &Link)>,
    status: &StatusCode,
) {
    let tenant = link.and_then(|(_, link)| link.tenant().ok());
    let subject = link.map_or_else(String::new, |(token, link)| {
        let digest: String = token.digest().chars().take(DIGEST_CHARS).collect();
        let instance = &link.instance_id;
        match link.bookmark_id.as_str() {
            "" => format!("link {digest} with an event for {instance}"),
            bookmark => format!("link {digest} to the bookmark {bookmark} of {instance}"),
        }
    });
    let record = AuditRecord {
        who: "link".into(),
        kind: "link".into(),
        action: "resume".into(),
        subject,
        status: status.as_u16(),
        address: client.text(),
        ..AuditRecord::default()
    };
    let tenant: Tenant = tenant.unwrap_or_default();
    if let Err(error) = app.runtime().operations().audit(&tenant, record).await {
        tracing::error!(cause = %error, "an attempt at a resume link was not recorded");
    }
}

/// Elsa's `/bookmarks/resume?t=` and `/events/trigger?t=`, where the configuration allows them: they ask nobody and
/// do it.
pub(crate) async fn elsa(
    app: &App,
    method: &Method,
    client: &ClientAddress,
    query: &Query,
    body: &Bytes,
) -> Result<Response, Refusal> {
    let Some(text) = query.text("t") else {
        return Err(Refusal::invalid("t", "Query parameter was not found!"));
    };
    // A HEAD asks what a GET would answer; it must not do it.
    if !app.config().has_elsa_links || method == Method::HEAD {
        return Err(Refusal::InvalidToken);
    }
    let (token, link) = match find(app, client, text).await {
        Ok(found) => found,
        Err(refusal) => {
            if !matches!(refusal, Refusal::TooManyAttempts) {
                record(app, client, None, &refusal.facts().status).await;
            }
            return Err(elsas(refusal));
        }
    };
    let input: Map<String, Value> = match query.text("in") {
        Some(text) => parse(text.as_bytes())?,
        None => {
            let body: Map<String, Value> = parse(body)?;
            let input = body.get("input").and_then(Value::as_object);
            input.cloned().unwrap_or_default()
        }
    };
    let outcome = query.text("outcome");
    // Elsa takes whatever comes; here only what the link asks for.
    let form = LinkForm::of(&link);
    let is_asked = |name: &String| form.inputs.iter().any(|field| &field.name == name);
    let values = input
        .into_iter()
        .filter(|(name, _)| is_asked(name))
        .collect();
    let answered = token.answer(app, outcome, &values).await;
    let result = match answered {
        Ok(LinkAnswered::Recorded(_)) => Ok(StatusCode::OK.into_response()),
        Ok(LinkAnswered::Bad(bad)) => Err(Refusal::WrongShape {
            reason: bad.to_string(),
        }),
        Ok(LinkAnswered::NotFound) => Err(Refusal::InvalidToken),
        Err(error) => Err(error.into()),
    };
    let status = match &result {
        Ok(response) => response.status(),
        Err(refusal) => refusal.facts().status,
    };
    record(app, client, Some((&token, &link)), &status).await;
    result
}

/// Elsa answers 400 where we answer 404.
fn elsas(refusal: Refusal) -> Refusal {
    if matches!(refusal, Refusal::NoSuchLink) {
        return Refusal::InvalidToken;
    }
    refusal
}
