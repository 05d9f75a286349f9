//! Output of workflows (`WriteLine`), passed on to one thread that may wait for its reader.

use std::sync::mpsc::{SyncSender, sync_channel};

use dormouse_runtime::port::{Happened, Observer};

/// Maximum number of unread lines. Beyond it lines are dropped: a terminal must not delay workflows.
const WAITING_MAX: usize = 10_000;

/// A line that a workflow wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// The instance's id.
    pub(crate) instance: String,
    /// The line.
    pub(crate) text: String,
}

/// Passes on what workflows write.
pub(crate) struct Console(SyncSender<Spoken>);

impl Console {
    /// A console that passes everything to `reader`, on a thread of its own, until the console is dropped.
    pub(crate) fn new(mut reader: impl FnMut(&Spoken) + Send + 'static) -> Self {
        let (sender, receiver) = sync_channel(WAITING_MAX);
        std::thread::spawn(move || {
            while let Ok(spoken) = receiver.recv() {
                reader(&spoken);
            }
        });
        Self(sender)
    }
}

impl Observer for Console {
    fn happened(&self, happened: Happened<'_>) {
        for text in happened.lines {
            let _too_much_or_nobody = self.0.try_send(Spoken {
                instance: happened.instance.id.as_str().to_owned(),
                text: text.clone(),
            });
        }
    }
}
