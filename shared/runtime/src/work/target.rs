//! What a request wakes of an instance: the instance itself, one bookmark, or every bookmark that waits for a stimulus.

use dormouse_engine::instance::{Bookmark, Instance, SubStatus};
use dormouse_engine::step::Stimulus;
use dormouse_store::instance::lease::Loaded;
use dormouse_store::instance::stamp::Stamp;
use serde_json::{Map, Value};

/// What is woken.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// The instance.
    Instance(Stimulus),
    /// One open bookmark.
    Bookmark {
        id: String,
        /// The commit that opened it, where the sender knows. Another attempt's bookmark of the same id is another one.
        stamp: Option<Stamp>,
        stimulus: Stimulus,
    },
    /// Every open bookmark that waits for the stimulus.
    Matching(Box<Matching>),
}

/// Bookmarks that wait for a stimulus.
#[derive(Debug, Clone)]
pub(crate) struct Matching {
    pub(crate) hash: String,
    pub(crate) bookmark_id: Option<String>,
    pub(crate) correlation_id: Option<String>,
    pub(crate) activity_instance_id: Option<String>,
    /// What they receive.
    pub(crate) input: Map<String, Value>,
    /// The bookmarks by which the instance was found, and the commits that opened them, where the sender knows. Once all
    /// of them are gone it is not one that the stimulus found, whatever it has opened since.
    pub(crate) found: Vec<(String, Option<Stamp>)>,
    /// Only the first of them: a queued stimulus counts once.
    pub(crate) is_first_only: bool,
}

impl Target {
    /// The commits that would open what is woken, where they are known. Several attempts may have prepared the same
    /// bookmark, and any of them may be the one that happens.
    pub(crate) fn stamps(&self) -> impl Iterator<Item = &Stamp> {
        let (one, found) = match self {
            Self::Instance(_) => (None, &[][..]),
            Self::Bookmark { stamp, .. } => (stamp.as_ref(), &[][..]),
            Self::Matching(matching) => (None, &matching.found[..]),
        };
        one.into_iter()
            .chain(found.iter().filter_map(|(_, stamp)| stamp.as_ref()))
    }
}

/// The stimuli that wake a target, as the instance stands in memory. Bookmarks that were opened since it was loaded are
/// known to nobody outside yet.
pub(crate) fn targeted(target: &Target, instance: &Instance, loaded: &Loaded) -> Vec<Stimulus> {
    match target {
        Target::Instance(Stimulus::Continue) if !is_cut_off(instance) => Vec::new(),
        Target::Instance(stimulus) => vec![stimulus.clone()],
        Target::Bookmark {
            id,
            stamp,
            stimulus,
        } => {
            let is_open = is_open(id, stamp, instance, loaded);
            is_open.then(|| stimulus.clone()).into_iter().collect()
        }
        Target::Matching(matching) if !matching.finds(instance, loaded) => Vec::new(),
        Target::Matching(matching) => {
            let open = instance.bookmarks.iter();
            let fitting = open.filter(|bookmark| matching.fits(bookmark, instance, loaded));
            let most = if matching.is_first_only {
                1
            } else {
                usize::MAX
            };
            let resume = |bookmark: &Bookmark| Stimulus::Resume {
                bookmark: bookmark.id.clone(),
                input: matching.input.clone(),
            };
            fitting.take(most).map(resume).collect()
        }
    }
}

impl Matching {
    /// Whether one of the bookmarks by which the instance was found is open still.
    fn finds(&self, instance: &Instance, loaded: &Loaded) -> bool {
        let is_open = |(id, stamp): &(String, Option<Stamp>)| is_open(id, stamp, instance, loaded);
        self.found.is_empty() || self.found.iter().any(is_open)
    }

    fn fits(&self, bookmark: &Bookmark, instance: &Instance, loaded: &Loaded) -> bool {
        let id = bookmark.id.as_str();
        let Some(place) = loaded.bookmark(id).and_then(|open| open.place.as_ref()) else {
            return false;
        };
        let is = |wanted: &Option<String>, found: Option<&str>| {
            wanted.is_none() || wanted.as_deref() == found
        };
        bookmark.hash() == Some(self.hash.as_str())
            && place.hash == self.hash
            && is(&self.bookmark_id, Some(id))
            && is(&self.correlation_id, place.correlation_id.as_deref())
            && (self.activity_instance_id.is_none()
                || self.activity_instance_id == Some(instance.context_text(bookmark.context)))
    }
}

/// Whether a bookmark is open, and by the attempt that is meant.
fn is_open(id: &str, stamp: &Option<Stamp>, instance: &Instance, loaded: &Loaded) -> bool {
    let opened = loaded.bookmark(id);
    opened.is_some_and(|open| stamp.is_none_or(|stamp| stamp.attempt == open.attempt))
        && instance.bookmark(&id.into()).is_some()
}

/// Whether a burst of the instance was cut off, so that there is something to continue.
pub(crate) fn is_cut_off(instance: &Instance) -> bool {
    match instance.sub_status {
        SubStatus::Executing | SubStatus::Interrupted | SubStatus::Pending => true,
        SubStatus::Suspended | SubStatus::Finished | SubStatus::Faulted | SubStatus::Cancelled => {
            false
        }
    }
}
