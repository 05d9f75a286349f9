//! A connection that is closed when its client makes it wait too long: for the head of a request, for the next request, or for
//! taking an answer. How long a body may take is the routes' business.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

use super::admission::Phase;

/// Time for the head of a request to arrive.
const HEAD: Duration = Duration::from_secs(10);

/// Time without a request. Longer than load balancers keep connections, which is a minute.
const IDLE: Duration = Duration::from_secs(75);

/// Time without any of an answer being taken.
const TAKEN: Duration = Duration::from_secs(30);

/// First bytes of an HTTP/2 connection.
const PREFACE: &[u8] = b"PRI";

/// A connection with its timeouts.
///
/// HTTP/2 sends more than requests: windows, pings, settings. So there a byte is no head that begins, and all that is waited for
/// is the next request.
pub(super) struct Watched<T> {
    io: T,
    phase: Phase,
    is_http2: bool,
    has_begun: bool,
    /// When it is closed unless the client sends something. `None` while a request is worked on.
    read_until: Option<Pin<Box<Sleep>>>,
    /// Part of a head has arrived, or it is the connection's first.
    in_head: bool,
    write_until: Option<Pin<Box<Sleep>>>,
}

impl<T> Watched<T> {
    pub(super) fn new(io: T, phase: Phase) -> Self {
        Self {
            io,
            phase,
            is_http2: false,
            has_begun: false,
            read_until: Some(Box::pin(sleep_until(Instant::now() + HEAD))),
            in_head: true,
            write_until: None,
        }
    }

    /// True if the client has been silent for too long.
    fn is_late(&mut self, cx: &mut Context<'_>) -> bool {
        let idle = || Box::pin(sleep_until(Instant::now() + IDLE));
        let until = self.read_until.get_or_insert_with(idle);
        until.as_mut().poll(cx).is_ready()
    }
}

fn timed_out() -> io::Error {
    io::ErrorKind::TimedOut.into()
}

impl<T: AsyncRead + Unpin> AsyncRead for Watched<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let me = &mut *self;
        let before = buffer.filled().len();
        let read = Pin::new(&mut me.io).poll_read(cx, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        if !me.has_begun && !new.is_empty() {
            me.has_begun = true;
            me.is_http2 = new.starts_with(PREFACE);
        }
        if me.phase.is_working() {
            me.read_until = None;
            me.in_head = false;
            return read;
        }
        if me.is_late(cx) {
            return Poll::Ready(Err(timed_out()));
        }
        let result = ready!(read);
        if buffer.filled().len() > before && !me.in_head && !me.is_http2 {
            me.in_head = true;
            me.read_until = Some(Box::pin(sleep_until(Instant::now() + HEAD)));
        }
        Poll::Ready(result)
    }
}

impl<T: AsyncWrite + Unpin> Watched<T> {
    fn watch_write<R>(
        &mut self,
        cx: &mut Context<'_>,
        written: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        if written.is_ready() {
            self.write_until = None;
            return written;
        }
        let begin = || Box::pin(sleep_until(Instant::now() + TAKEN));
        let until = self.write_until.get_or_insert_with(begin);
        match until.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(timed_out())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Watched<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buffer);
        self.watch_write(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.io).poll_flush(cx);
        self.watch_write(cx, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.io).poll_shutdown(cx);
        self.watch_write(cx, shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, buffers);
        self.watch_write(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail")]
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn drips(pause: Duration) -> (Duration, io::ErrorKind) {
        let (client, server) = tokio::io::duplex(64);
        let mut watched = Watched::new(server, Phase::default());
        let mut client = client;
        let dripping = tokio::spawn(async move {
            while client.write_all(b"X").await.is_ok() {
                tokio::time::sleep(pause).await;
            }
        });
        let began = Instant::now();
        let mut buffer = [0; 1];
        let error = loop {
            if let Err(error) = watched.read_exact(&mut buffer).await {
                break error;
            }
        };
        dripping.abort();
        (began.elapsed(), error.kind())
    }

    #[tokio::test(start_paused = true)]
    async fn a_head_that_drips_is_cut_off_however_often_a_byte_comes() {
        let (after, kind) = drips(Duration::from_millis(500)).await;
        assert_eq!(kind, io::ErrorKind::TimedOut);
        assert!((10..11).contains(&after.as_secs()), "{after:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn after_a_request_the_connection_may_idle_and_then_the_head_has_its_time() {
        let (mut client, server) = tokio::io::duplex(64);
        let phase = Phase::default();
        let mut watched = Watched::new(server, phase.clone());
        let mut buffer = [0; 1];
        client.write_all(b"a").await.unwrap();
        watched.read_exact(&mut buffer).await.unwrap();
        let work = phase.work();
        // As long as it is worked on nothing is waited for.
        let quiet = tokio::time::timeout(Duration::from_secs(1_000), watched.read(&mut buffer));
        assert!(quiet.await.is_err());
        drop(work);
        let idle = tokio::time::timeout(Duration::from_secs(60), watched.read(&mut buffer));
        assert!(idle.await.is_err());
        client.write_all(b"b").await.unwrap();
        watched.read_exact(&mut buffer).await.unwrap();
        let began = Instant::now();
        let late = watched.read(&mut buffer).await.unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn pings_of_http2_keep_no_connection_open_and_close_none() {
        let (mut client, server) = tokio::io::duplex(64);
        let phase = Phase::default();
        let mut watched = Watched::new(server, phase.clone());
        let mut buffer = [0; 3];
        client.write_all(b"PRI").await.unwrap();
        watched.read_exact(&mut buffer).await.unwrap();
        let work = phase.work();
        let quiet = tokio::time::timeout(Duration::from_secs(1_000), watched.read(&mut buffer));
        assert!(quiet.await.is_err());
        drop(work);
        let pinging = tokio::spawn(async move {
            while client.write_all(b"ping").await.is_ok() {
                tokio::time::sleep(Duration::from_secs(5)).await;
            }
        });
        let began = Instant::now();
        let error = loop {
            if let Err(error) = watched.read_exact(&mut buffer).await {
                break error;
            }
        };
        pinging.abort();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 75);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_nothing_of_its_answer_is_cut_off() {
        let (_client, server) = tokio::io::duplex(64);
        let mut watched = Watched::new(server, Phase::default());
        let began = Instant::now();
        let error = watched.write_all(&[0; 1_000]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), 30);
    }
}
