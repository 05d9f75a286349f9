//! What became of a load, in one line.

use std::fmt;

/// What became of the load.
#[derive(Debug)]
pub struct Outcome {
    /// How many starts were acknowledged.
    pub started: usize,
    pub(crate) resumed: usize,
    pub(crate) repeated: usize,
    pub(crate) calls: usize,
    pub(crate) calls_repeated: usize,
    pub(crate) stuck: Vec<String>,
    pub(crate) wrong: Vec<String>,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "acknowledged starts {}, acknowledged resumes {}, requests repeated {}, calls {} (repeated under the same key {}), \
             stuck {}, lost or doubled {}",
            self.started,
            self.resumed,
            self.repeated,
            self.calls,
            self.calls_repeated,
            self.stuck.len(),
            self.wrong.len()
        )
    }
}

impl Outcome {
    /// Fails the test unless all went well; with what the servers wrote.
    #[track_caller]
    pub fn is_clean(&self, log: &str) {
        assert!(self.stuck.is_empty(), "stuck: {:?}\n{log}", self.stuck);
        assert!(self.wrong.is_empty(), "{:#?}\n{log}", self.wrong);
        assert!(!log.contains("panicked"), "{log}");
    }
}
