//! Requests to stop: Ctrl-C, or SIGTERM from the supervisor of the process.

use tokio::sync::watch;

/// Turns true when the process is to stop. Clones see the same.
pub(crate) type Stop = watch::Receiver<bool>;

/// Listens for the signals from now on. The first one asks the process to stop; a second one ends it at once.
pub(crate) fn stop_signal() -> std::io::Result<Stop> {
    let (sender, receiver) = watch::channel(false);
    let mut signals = Signals::listen()?;
    tokio::spawn(async move {
        signals.next().await;
        let _nobody_listens = sender.send(true);
        signals.next().await;
        // 128 + SIGINT, as shells report it. What was acknowledged is durable already.
        std::process::exit(130);
    });
    Ok(receiver)
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        let _cannot_listen = tokio::signal::ctrl_c().await;
    }
}
