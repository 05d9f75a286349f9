//! A bar for work that takes longer than a second; nothing for anything shorter, and nothing off a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress of a number of things to do.
pub(crate) struct Progress {
    bar: ProgressBar,
    hidden_until: Option<Instant>,
}

impl Progress {
    /// Begins; in JSON mode it never shows.
    pub(crate) fn new(total: usize, is_json: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total as u64), ProgressDrawTarget::hidden());
        // A template that is wrong leaves the usual bar.
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}") {
            bar.set_style(style);
        }
        let hidden_until = (!is_json).then(|| Instant::now() + Duration::from_secs(1));
        Self { bar, hidden_until }
    }

    /// Names what is done next.
    pub(crate) fn next(&mut self, what: &str) {
        if self
            .hidden_until
            .is_some_and(|until| Instant::now() >= until)
        {
            self.hidden_until = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        self.bar.set_message(what.to_owned());
    }

    /// One thing is done.
    pub(crate) fn done(&self) {
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
