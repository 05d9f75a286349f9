//! Answers over HTTP/2 that are taken in time. There a client may take one answer and leave another one, so a connection that
//! moves says nothing about each of them: every answer has its own time.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::Instant;

/// Time for the client to begin taking an answer, and the least speed afterwards.
const GRACE: Duration = Duration::from_secs(30);
const BYTES_PER_MS_MIN: u64 = 1;

/// Bytes that are sent at once. The rest stays in the answer, where it can be measured.
const CHUNK_BYTES: usize = 16 << 10;

/// The answers of a connection that are being sent.
#[derive(Debug, Clone, Default)]
pub(super) struct Answers(Arc<Mutex<Under>>);

#[derive(Debug, Default)]
struct Under {
    next: u64,
    /// When each must have moved on.
    until: BTreeMap<u64, Instant>,
}

impl Answers {
    /// A body whose sending is watched.
    pub(super) fn watch(&self, body: Body) -> Body {
        let mut under = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        under.next += 1;
        let number = under.next;
        let began = Instant::now();
        under.until.insert(number, began + GRACE);
        drop(under);
        Body::new(Sent {
            body,
            rest: None,
            sent: 0,
            began,
            number,
            answers: self.clone(),
        })
    }

    /// True if the client has not taken an answer for too long.
    pub(super) fn is_late(&self) -> bool {
        let under = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        under.until.values().any(|until| *until < now)
    }
}

struct Sent {
    body: Body,
    /// Rest of a frame.
    rest: Option<Bytes>,
    sent: u64,
    began: Instant,
    number: u64,
    answers: Answers,
}

impl Sent {
    fn moved(&mut self, bytes: usize) {
        self.sent += bytes as u64;
        let until = self.began + GRACE + Duration::from_millis(self.sent / BYTES_PER_MS_MIN);
        let under = self.answers.0.lock();
        let mut under = under.unwrap_or_else(PoisonError::into_inner);
        under.until.insert(self.number, until);
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        let under = self.answers.0.lock();
        let mut under = under.unwrap_or_else(PoisonError::into_inner);
        under.until.remove(&self.number);
    }
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let me = &mut *self;
        let mut data = match me.rest.take() {
            Some(rest) => rest,
            None => match ready!(Pin::new(&mut me.body).poll_frame(cx)) {
                None => return Poll::Ready(None),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => data,
                    Err(other) => return Poll::Ready(Some(Ok(other))),
                },
            },
        };
        if data.len() > CHUNK_BYTES {
            me.rest = Some(data.split_off(CHUNK_BYTES));
        }
        me.moved(data.len());
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.as_ref().map_or(0, Bytes::len) as u64;
        let body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use std::future::poll_fn;

    use http_body::Body as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_answer_has_its_own_time_and_what_is_taken_gives_it_more() {
        let answers = Answers::default();
        let mut slow = answers.watch(Body::from(vec![7; 40 << 10]));
        assert_eq!(slow.size_hint().exact(), Some(40 << 10));
        let mut taken = 0;
        for _ in 0..3 {
            tokio::time::sleep(Duration::from_secs(20)).await;
            assert!(!answers.is_late());
            let frame = poll_fn(|cx| Pin::new(&mut slow).poll_frame(cx)).await;
            taken += frame.unwrap().unwrap().into_data().unwrap().len();
        }
        assert_eq!(taken, 40 << 10);
        let left = answers.watch(Body::from("never taken"));
        drop(slow);
        tokio::time::sleep(Duration::from_secs(29)).await;
        assert!(!answers.is_late());
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(answers.is_late());
        drop(left);
        assert!(!answers.is_late());
    }
}
