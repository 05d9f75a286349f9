//! The pages that people see who follow a link: plain HTML of our own. No script, no foreign origin, nothing kept by
//! browsers, and no address handed on.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use dormouse_engine::time::Timestamp;
use dormouse_identity::secret::sha256_base64;
use dormouse_runtime::{BadAnswer, FieldKind, Link, LinkField, LinkForm, LinkState, RuntimeError};
use serde_json::{Map, Value};

use crate::query::Query;
use crate::refusal::Refusal;

const STYLE: &str = include_str!("page.css");

/// Only the style above, and forms to ourselves.
static POLICY: LazyLock<Option<HeaderValue>> = LazyLock::new(|| {
    let style = sha256_base64(STYLE.as_bytes());
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{style}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    );
    HeaderValue::from_str(&policy).ok()
});

/// The page that asks, or what was recorded already.
pub(super) fn ask(link: &Link, bad: Option<&BadAnswer>) -> Response {
    if link.state == LinkState::Done {
        return recorded(link);
    }
    let mut main = String::new();
    let title = link.title.as_deref().unwrap_or("Please confirm");
    push(&mut main, "h1", title);
    if let Some(text) = &link.text {
        push(&mut main, "p", text);
    }
    if let Some(bad) = bad {
        let _ = write!(
            main,
            r#"<p class="bad" role="alert">{}</p>"#,
            escaped(&bad.to_string())
        );
    }
    main.push_str(r#"<form method="post">"#);
    let form = LinkForm::of(link);
    if link.answer.is_some() {
        // It was cut off: what was answered is carried out, whatever would be entered now.
        push(
            &mut main,
            "p",
            "An answer was given and is not carried out yet.",
        );
        main.push_str(r#"<p class="do"><button>Carry it out</button></p>"#);
    } else {
        for (place, field) in form.inputs.iter().enumerate() {
            entry(&mut main, place, field);
        }
        main.push_str(r#"<p class="do">"#);
        for (place, outcome) in form.outcomes.iter().enumerate() {
            let outcome = escaped(outcome);
            let _ = write!(
                main,
                r#"<button name="outcome" value="{place}">{outcome}</button>"#
            );
        }
        if form.outcomes.is_empty() {
            main.push_str("<button>Confirm</button>");
        }
        main.push_str("</p>");
    }
    main.push_str("</form>");
    let until = Timestamp(link.expires_ms).to_string();
    let _ = write!(
        main,
        r#"<p class="note">Nothing happens until you press a button. Open until {}.</p>"#,
        escaped(&until)
    );
    let status = match bad {
        Some(_) => StatusCode::BAD_REQUEST,
        None => StatusCode::OK,
    };
    page(status, title, &main)
}

/// What was recorded.
pub(super) fn recorded(link: &Link) -> Response {
    let mut main = String::new();
    push(&mut main, "h1", "Recorded");
    if let Some(title) = &link.title {
        push(&mut main, "p", title);
    }
    if let Some(answer) = &link.answer {
        let at = escaped(&Timestamp(answer.at_ms).to_string());
        let what = match &answer.outcome {
            Some(outcome) => format!("<strong>{}</strong>", escaped(outcome)),
            None => "Confirmed".to_owned(),
        };
        let _ = write!(main, "<p>{what}, at {at}.</p>");
    }
    main.push_str(r#"<p class="note">You can close this page.</p>"#);
    page(StatusCode::OK, "Recorded", &main)
}

/// Why there is nothing to answer.
pub(super) fn refused(refusal: Refusal) -> Response {
    let (status, mut detail) = (refusal.facts().status, refusal.facts().detail);
    if matches!(refusal, Refusal::Runtime(RuntimeError::Paused { .. })) {
        // Whoever has a link cannot end it.
        "Nothing was recorded: workflows are paused here for a while. Come back later, and answer then."
            .clone_into(&mut detail);
    }
    // The log gets what it must know.
    let told = refusal.into_response();
    let mut main = String::new();
    push(&mut main, "h1", "This does not work");
    push(&mut main, "p", &detail);
    let mut response = page(status, "This does not work", &main);
    if let Some(after) = told.headers().get(header::RETRY_AFTER) {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, after.clone());
    }
    response
}

/// What was chosen and entered, out of the form's fields.
pub(super) fn read(link: &Link, fields: &Query) -> (Option<String>, Map<String, Value>) {
    let form = LinkForm::of(link);
    let chosen = fields.text("outcome").and_then(|n| n.parse::<usize>().ok());
    let outcome = chosen.and_then(|n| form.outcomes.get(n)).cloned();
    let values = form.inputs.iter().enumerate().filter_map(|(place, field)| {
        let value = fields.text(&format!("in{place}"))?;
        Some((field.name.clone(), value.into()))
    });
    (outcome, values.collect())
}

fn entry(main: &mut String, place: usize, field: &LinkField) {
    let label = escaped(field.label.as_deref().unwrap_or(&field.name));
    let required = if field.is_required { " required" } else { "" };
    let control = match field.kind {
        FieldKind::Text => {
            format!(r#"<input type="text" name="in{place}" maxlength="4000"{required}>"#)
        }
        FieldKind::LongText => {
            format!(r#"<textarea name="in{place}" rows="5" maxlength="4000"{required}></textarea>"#)
        }
        FieldKind::Number => {
            format!(r#"<input type="number" step="any" name="in{place}"{required}>"#)
        }
        FieldKind::Boolean => format!(r#"<input type="checkbox" name="in{place}"{required}>"#),
    };
    let _ = write!(main, "<label><span>{label}</span>{control}</label>");
}

fn push(main: &mut String, tag: &str, text: &str) {
    let _ = write!(main, "<{tag}>{}</{tag}>", escaped(text));
}

/// Text in which nothing is markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

fn page(status: StatusCode, title: &str, main: &str) -> Response {
    let title = escaped(title);
    let html = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"robots\" content=\"noindex\"><title>{title}</title><style>{STYLE}</style></head>\
         <body><main>{main}</main></body></html>"
    );
    let mut response = (status, Html(html)).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (HeaderName::from_static("x-robots-tag"), "noindex"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if let Some(policy) = POLICY.clone() {
        headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(
            escaped(r#"<b a="1" c='2'>&"#),
            "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;"
        );
    }
}
