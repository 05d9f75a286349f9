//! Memory that requests may take: a budget for the whole process, from which each request takes before it reads its body or
//! parses JSON, and to which it gives back when it is answered. Beyond it requests are shed.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::extract::{FromRequestParts, Request};
use axum::http::request::Parts;

use crate::app::App;
use crate::refusal::{Overload, Refusal};

/// Bytes of a body that are not counted, so that small requests are served even while large ones hold the whole budget. The
/// bound on connections bounds them.
const FREE_BYTES: usize = 16 << 10;

/// Among a request's extensions: other requests of its connection are being worked on. Nothing of it is free, for a connection may
/// have many.
#[derive(Debug, Clone, Copy)]
pub struct Beside;

/// Memory that all requests share, in bytes.
#[derive(Debug)]
pub(crate) struct Memory {
    bytes_max: usize,
    taken: AtomicUsize,
}

impl Memory {
    pub(crate) fn new(bytes_max: usize) -> Self {
        Self {
            bytes_max,
            taken: AtomicUsize::new(0),
        }
    }

    fn take(&self, bytes: usize) -> Result<(), Refusal> {
        let add = |taken: usize| {
            let sum = taken.checked_add(bytes)?;
            (sum <= self.bytes_max).then_some(sum)
        };
        let ordering = (Ordering::Relaxed, Ordering::Relaxed);
        let taken = self.taken.fetch_update(ordering.0, ordering.1, add);
        taken.map(|_| ()).map_err(|_| Overload::Memory.into())
    }
}

/// Memory that one request has taken. Dropped with its last clone, it gives back.
#[derive(Debug, Clone)]
pub(crate) struct Ledger(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    memory: Arc<Memory>,
    /// Bytes of the body that are free.
    free: usize,
    /// Bytes of the body so far.
    body: AtomicUsize,
    counted: AtomicUsize,
}

impl Drop for Taken {
    fn drop(&mut self) {
        let counted = self.counted.load(Ordering::Relaxed);
        self.memory.taken.fetch_sub(counted, Ordering::Relaxed);
    }
}

impl Ledger {
    pub(crate) fn new(memory: &Arc<Memory>) -> Self {
        Self::with_free(memory, FREE_BYTES)
    }

    fn with_free(memory: &Arc<Memory>, free: usize) -> Self {
        Self(Arc::new(Taken {
            memory: Arc::clone(memory),
            free,
            body: AtomicUsize::new(0),
            counted: AtomicUsize::new(0),
        }))
    }

    /// The one of a request, or a new one.
    pub(crate) fn of(request: &Request, app: &App) -> Self {
        let own = request.extensions().get::<Self>();
        own.cloned().unwrap_or_else(|| Self::new(app.memory()))
    }

    /// Takes memory, or refuses the request.
    pub(crate) fn take(&self, bytes: usize) -> Result<(), Refusal> {
        self.0.memory.take(bytes)?;
        self.0.counted.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Takes memory for a part of the body; its first [`FREE_BYTES`] are free, unless the request is [`Beside`] others.
    pub(crate) fn take_body(&self, bytes: usize) -> Result<(), Refusal> {
        let before = self.0.body.fetch_add(bytes, Ordering::Relaxed);
        let free = self.0.free.saturating_sub(before);
        self.take(bytes.saturating_sub(free))
    }

    /// Takes memory for what a JSON text becomes when it is parsed.
    ///
    /// # Errors
    ///
    /// [`Overload::TooManyValues`] if it is too much for one request, else as of [`Self::take`].
    pub(crate) fn take_json(&self, text: &[u8], parsed_bytes_max: usize) -> Result<(), Refusal> {
        let bytes = parsed_bytes(text);
        if bytes > parsed_bytes_max {
            return Err(Overload::TooManyValues.into());
        }
        self.take(bytes.saturating_sub(self.0.free))
    }
}

impl FromRequestParts<App> for Ledger {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let own = parts.extensions.get::<Self>();
        Ok(own.cloned().unwrap_or_else(|| Self::new(app.memory())))
    }
}

/// Gives a request its ledger, which its caller holds until it is answered.
pub(crate) fn account(app: &App, request: &mut Request) -> Result<Ledger, Refusal> {
    let ledger = match request.extensions().get::<Beside>() {
        None => Ledger::new(app.memory()),
        Some(Beside) => {
            let ledger = Ledger::with_free(app.memory(), 0);
            ledger.take(head_bytes(request))?;
            ledger
        }
    };
    request.extensions_mut().insert(ledger.clone());
    Ok(ledger)
}

/// Memory of a request's head, about.
fn head_bytes(request: &Request) -> usize {
    const HEADER: usize = 100;
    let headers = request.headers().iter();
    let headers = headers.map(|(name, value)| name.as_str().len() + value.len() + HEADER);
    headers.sum::<usize>() + request.uri().path().len()
}

/// Memory that a JSON text takes once it is parsed, about: an object and its first entries 560 bytes, each further value 100, and
/// the texts. Within texts, which may be JSON that is parsed later, structure counts too.
fn parsed_bytes(text: &[u8]) -> usize {
    const OBJECT: usize = 560;
    const VALUE: usize = 100;
    const NAMED: usize = 150;
    const IN_TEXT: usize = 40;
    let (mut bytes, mut in_text, mut is_escaped) = (text.len(), false, false);
    for byte in text {
        bytes += match byte {
            b'{' => OBJECT,
            b'[' => VALUE,
            b',' if in_text => IN_TEXT,
            b',' => VALUE,
            b':' if !in_text => NAMED,
            b'"' if !is_escaped => {
                in_text = !in_text;
                0
            }
            _ => 0,
        };
        is_escaped = in_text && *byte == b'\\' && !is_escaped;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_takes_comes_back_when_its_last_part_is_gone() {
        let memory = Arc::new(Memory::new(100_000));
        let ledger = Ledger::new(&memory);
        ledger.take(60_000).unwrap();
        let other = Ledger::new(&memory);
        assert!(other.take(60_000).is_err());
        let part = ledger.clone();
        drop(ledger);
        assert!(other.take(60_000).is_err());
        drop(part);
        other.take(60_000).unwrap();
        drop(other);
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn small_bodies_take_nothing() {
        let memory = Arc::new(Memory::new(0));
        let ledger = Ledger::new(&memory);
        ledger.take_body(10_000).unwrap();
        ledger.take_body(6_000).unwrap();
        assert!(ledger.take_body(1_000).is_err());
    }

    #[test]
    fn nothing_is_free_beside_other_requests_of_a_connection() {
        let memory = Arc::new(Memory::new(5_000));
        let ledger = Ledger::with_free(&memory, 0);
        ledger.take_body(4_000).unwrap();
        assert!(ledger.take_body(2_000).is_err());
        Ledger::new(&memory).take_body(2_000).unwrap();
    }

    #[test]
    fn structure_weighs_more_than_text() {
        let bomb = br#"{"":0},"#.repeat(1_000);
        assert!(parsed_bytes(&bomb) > 800_000);
        let text = format!("\"{}\"", "a \\\" b".repeat(1_000));
        assert!(parsed_bytes(text.as_bytes()) < 7_000);
        let hidden = format!("\"{}\"", "{},".repeat(1_000));
        assert!(parsed_bytes(hidden.as_bytes()) > 500_000);
        assert!(parsed_bytes(&b"[],".repeat(1_000)) >= 200_000);
    }
}
