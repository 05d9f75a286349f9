//! Reading the audit log.

use axum::Json as Answer;
use dormouse_engine::time::Timestamp;
use serde_json::{Value, json};

use crate::query::Query;
use crate::refusal::Refusal;
use crate::scoped::Scoped;

/// `GET /audit?month=2026-11&pageSize=100&cursor=…`: a month's records, newest first.
pub(super) async fn list(Scoped(app): Scoped, query: Query) -> Result<Answer<Value>, Refusal> {
    let month = query.text("month");
    if let Some(bad) = month.filter(|month| !is_month(month)) {
        return Err(Refusal::bad_parameter("month", bad));
    }
    let limit = query.read::<u32>("pagesize")?.unwrap_or(100);
    let cursor = query.text("cursor").map(str::to_owned);
    let page = app
        .runtime()
        .operations()
        .audit_records(app.tenant(), month, limit, cursor);
    let page = page.await?;
    let items = page.records.iter().map(|record| {
        json!({
            "id": record.id,
            "at": Timestamp(record.at_ms).to_string(),
            "who": record.who,
            "kind": Some(&record.kind).filter(|kind| !kind.is_empty()),
            "action": record.action,
            "subject": record.subject,
            "status": record.status,
            "address": record.address,
        })
    });
    let items: Vec<Value> = items.collect();
    Ok(Answer(json!({ "items": items, "cursor": page.cursor })))
}

/// `2026-11`
fn is_month(text: &str) -> bool {
    let digits = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    text.split_once('-')
        .is_some_and(|(year, month)| digits(year, 4) && digits(month, 2))
}
