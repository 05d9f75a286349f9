//! Scripts that run right now and calls that wait for their answers, and how to end them: a pause, a cancellation and the
//! end of the process do not wait until a script has used up its time, and a cancellation for no call's answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_expressions::Cut;
use dormouse_store::Tenant;
use futures_channel::oneshot::{Receiver, Sender, channel};

use crate::runtime::Pauses;

/// Whose scripts: the tenant and the instance, which has no id that others know before its first commit.
type Key = (Tenant, Option<String>);

/// The steps of a process that run scripts.
#[derive(Default)]
pub(crate) struct Running {
    steps: Mutex<Steps>,
}

#[derive(Default)]
struct Steps {
    began: u64,
    cuts: BTreeMap<u64, (Key, Cut)>,
    /// Steps that wait for their turn, each with what ends its waiting.
    queued: BTreeMap<u64, (Key, Sender<()>)>,
    /// Bursts that wait for the answer of a call, each with what ends its waiting.
    calling: BTreeMap<u64, (Key, Sender<()>)>,
    /// Instances that are being cancelled, each as often as it is.
    cancelled: Vec<Key>,
    has_ended: bool,
}

/// A step that runs scripts. Dropping it says that it has ended.
pub(crate) struct Step<'a> {
    running: &'a Running,
    number: u64,
    pub(crate) cut: Cut,
}

/// A step that waits for its turn or has it, or a burst that waits for an answer. Dropping it says that it waits no longer.
pub(crate) struct Queued<'a> {
    running: &'a Running,
    number: u64,
    /// Resolves when what it waits for is not wanted any more.
    pub(crate) unwanted: Receiver<()>,
}

/// An instance that is being cancelled. Until it is dropped, none of its steps runs scripts.
pub(crate) struct Cancelling<'a> {
    running: &'a Running,
    key: Key,
}

impl Steps {
    fn number(&mut self) -> u64 {
        self.began += 1;
        self.began
    }

    /// Whether steps of this instance are not wanted.
    fn refuses(&self, key: &Key) -> bool {
        self.has_ended || self.cancelled.contains(key)
    }

    /// Cuts steps off, and ends their waiting.
    fn cut(&mut self, is_meant: impl Fn(&Key) -> bool) {
        for (key, cut) in self.cuts.values() {
            if is_meant(key) {
                cut.cut();
            }
        }
        // A dropped sender resolves what waits.
        self.queued.retain(|_, (key, _)| !is_meant(key));
    }
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step begins, and is cut off after so much time.
    pub(crate) fn begin(&self, key: Key, most: Duration) -> Step<'_> {
        let cut = Cut::after(most);
        let mut steps = self.lock();
        if steps.refuses(&key) {
            cut.cut();
        }
        let number = steps.number();
        steps.cuts.insert(number, (key, cut.clone()));
        Step {
            running: self,
            number,
            cut,
        }
    }

    /// A step waits for its turn.
    pub(crate) fn queue(&self, key: Key) -> Queued<'_> {
        let (sender, unwanted) = channel();
        let mut steps = self.lock();
        let number = steps.number();
        if !steps.refuses(&key) {
            steps.queued.insert(number, (key, sender));
        }
        Queued {
            running: self,
            number,
            unwanted,
        }
    }

    /// A burst waits for the answer of a call.
    pub(crate) fn wait(&self, key: Key) -> Queued<'_> {
        let (sender, unwanted) = channel();
        let mut steps = self.lock();
        let number = steps.number();
        if !steps.cancelled.contains(&key) {
            steps.calling.insert(number, (key, sender));
        }
        Queued {
            running: self,
            number,
            unwanted,
        }
    }

    /// Cuts all steps off.
    pub(crate) fn cut_all(&self) {
        self.lock().cut(|_| true);
    }

    /// Cuts all steps off, and those that begin later.
    pub(crate) fn end(&self) {
        let mut steps = self.lock();
        steps.has_ended = true;
        steps.cut(|_| true);
    }

    /// Cuts off the steps of an instance and its waiting for an answer, and those that begin before what this returns is
    /// dropped.
    pub(crate) fn cancel(&self, tenant: &Tenant, instance_id: &str) -> Cancelling<'_> {
        let key = (tenant.clone(), Some(instance_id.to_owned()));
        let mut steps = self.lock();
        steps.cancelled.push(key.clone());
        steps.cut(|other| *other == key);
        steps.calling.retain(|_, (other, _)| *other != key);
        Cancelling { running: self, key }
    }

    /// Lets the steps of an instance run scripts again: its cancellation is committed, and what it did is being undone.
    pub(crate) fn allow(&self, tenant: &Tenant, instance_id: &str) {
        let is_it = |(of, id): &Key| of == tenant && id.as_deref() == Some(instance_id);
        self.lock().cancelled.retain(|key| !is_it(key));
    }
}

impl Pauses<'_> {
    /// Cuts off scripts, now and from now on, because the process ends. Their instances go on after the restart.
    pub fn end_scripts(self) {
        self.running().end();
    }
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        self.running.lock().cuts.remove(&self.number);
    }
}

impl Drop for Queued<'_> {
    fn drop(&mut self) {
        let mut steps = self.running.lock();
        steps.queued.remove(&self.number);
        steps.calling.remove(&self.number);
    }
}

impl Drop for Cancelling<'_> {
    fn drop(&mut self) {
        let mut steps = self.running.lock();
        let place = steps.cancelled.iter().position(|key| *key == self.key);
        if let Some(place) = place {
            steps.cancelled.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_cut_off_by_its_instance_and_with_all_others() {
        let running = Running::default();
        let tenant = Tenant::default();
        let begin = |id: &str| {
            let key = (tenant.clone(), Some(id.to_owned()));
            running.begin(key, Duration::from_secs(60))
        };
        let (one, other) = (begin("i"), begin("j"));
        let queue = |id: &str| running.queue((tenant.clone(), Some(id.to_owned())));
        let (mut waiting, mut elsewhere) = (queue("i"), queue("j"));
        let cancelling = running.cancel(&tenant, "i");
        assert!(one.cut.was_called() && !other.cut.was_called());
        assert!(waiting.unwanted.try_recv().is_err(), "it waits still");
        assert_eq!(elsewhere.unwanted.try_recv(), Ok(None));
        // Until it is cancelled, nothing of it begins again.
        assert!(begin("i").cut.was_called());
        assert!(queue("i").unwanted.try_recv().is_err());
        running.allow(&tenant, "i");
        assert!(!begin("i").cut.was_called(), "what it did is being undone");
        drop((cancelling, one));
        assert!(!begin("i").cut.was_called());
        assert_eq!(running.lock().cuts.len(), 1);
        let mut calling = running.wait((tenant.clone(), Some("i".to_owned())));
        running.cut_all();
        assert!(other.cut.was_called());
        assert_eq!(
            calling.unwanted.try_recv(),
            Ok(None),
            "a pause lets it wait"
        );
        let _cancelling = running.cancel(&tenant, "i");
        assert!(calling.unwanted.try_recv().is_err());
        running.end();
        assert!(begin("k").cut.was_called());
    }
}
