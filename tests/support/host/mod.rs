//! The in-memory shell of `dormouse-sandbox`, stricter: each step is held to the laws in `laws`, and each effect is
//! delivered twice, as a real shell might.

mod laws;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use dormouse_engine::definition::Definition;
use dormouse_engine::id::InstanceId;
use dormouse_engine::instance::Instance;
use dormouse_engine::step::Stimulus;
use serde_json::{Map, Value};

pub use dormouse_sandbox::{BEGIN, Kept, Library, Recipient, Task};
pub use laws::lawful_step;

/// The shell.
#[derive(Debug)]
pub struct Host(dormouse_sandbox::Host);

impl Default for Host {
    fn default() -> Self {
        let mut host = dormouse_sandbox::Host::default();
        host.step_with = lawful_step;
        host.deliver_with = laws::deliver_twice;
        Self(host)
    }
}

impl Deref for Host {
    type Target = dormouse_sandbox::Host;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Host {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Host {
    /// Adds a version of a definition. One without ids is given some.
    pub fn add(&mut self, json: &Value) -> Arc<Definition> {
        self.add_text(json.to_string().as_bytes())
    }

    /// Adds a version of a definition from JSON text.
    pub fn add_text(&mut self, text: &[u8]) -> Arc<Definition> {
        let definition = Definition::from_json(text).expect("a definition");
        self.0.library.add(definition)
    }

    /// The state of the instance with an id.
    #[must_use]
    pub fn instance(&self, id: &InstanceId) -> Instance {
        let kept = self.0.kept(id).expect("an instance of that id");
        kept.instance.clone()
    }

    /// Resumes whatever bookmarks an instance has until it has none, as Elsa's own tests do.
    pub fn resume_all(&mut self, id: &InstanceId, input: &Map<String, Value>) {
        for _ in 0..1_000 {
            let Some(bookmark) = self.0.bookmarks(id).into_iter().next() else {
                return;
            };
            self.0.now = self.0.now.max(bookmark.due().unwrap_or(self.0.now));
            self.0.step(
                id,
                Stimulus::Resume {
                    bookmark: bookmark.id,
                    input: input.clone(),
                },
            );
        }
        panic!("{id} still waits after 1000 resumes");
    }
}
