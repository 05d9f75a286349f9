//! What a test expects of one stimulus. What is not said is expected not to happen.

use dormouse_engine::call::HttpResponse;
use dormouse_engine::instance::SubStatus;
use serde_json::{Map, Value};

use crate::Seen;

/// What a test expects.
#[derive(Debug, Clone)]
pub struct Expected(Seen);

fn expect(sub_status: SubStatus) -> Expected {
    Expected(Seen {
        sub_status,
        lines: Vec::new(),
        incidents: Vec::new(),
        waits: Vec::new(),
        effects: Vec::new(),
        output: Map::new(),
        response: None,
        journal: String::new(),
    })
}

/// It has ended as meant.
#[must_use]
pub fn finished() -> Expected {
    expect(SubStatus::Finished)
}

/// It waits, and these activities are where.
#[must_use]
pub fn suspended(waits: &[&str]) -> Expected {
    let mut expected = expect(SubStatus::Suspended);
    expected.0.waits = texts(waits);
    expected
}

/// It has ended by failures with these messages.
#[must_use]
pub fn faulted(incidents: &[&str]) -> Expected {
    expect(SubStatus::Faulted).incidents(incidents)
}

/// It was cancelled.
#[must_use]
pub fn cancelled() -> Expected {
    expect(SubStatus::Cancelled)
}

fn texts(of: &[&str]) -> Vec<String> {
    of.iter().map(|t| (*t).to_owned()).collect()
}

impl Expected {
    /// Having written these lines.
    #[must_use]
    pub fn lines(mut self, lines: &[&str]) -> Self {
        self.0.lines = texts(lines);
        self
    }

    /// With incidents of these messages.
    #[must_use]
    pub fn incidents(mut self, messages: &[&str]) -> Self {
        self.0.incidents = texts(messages);
        self
    }

    /// Having asked for this.
    #[must_use]
    pub fn effects(mut self, effects: &[&str]) -> Self {
        self.0.effects = texts(effects);
        self
    }

    /// With an output.
    #[must_use]
    pub fn output(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.0.output.insert(name.to_owned(), value.into());
        self
    }

    /// Having answered the HTTP request with text.
    #[must_use]
    pub fn response(mut self, status: u16, content_type: &str, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), content_type.to_owned())];
        self.0.response = Some(HttpResponse {
            status,
            headers,
            body: body.as_bytes().to_vec(),
        });
        self
    }

    /// Having done exactly this, see [`crate::seen::journal_text`].
    #[must_use]
    pub fn journal(mut self, text: &str) -> Self {
        self.0.journal = text.split_whitespace().collect::<Vec<_>>().join(" ");
        self
    }

    pub(crate) fn into_seen(self) -> Seen {
        self.0
    }
}
