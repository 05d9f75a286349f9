//! Scripts that run right now, and how to end them: a pause, a cancellation and the end of the process do not wait until
//! a script has used up its time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_expressions::Cut;
use dormouse_store::Tenant;

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
    has_ended: bool,
}

/// A step that runs scripts. Dropping it says that it has ended.
pub(crate) struct Step<'a> {
    running: &'a Running,
    number: u64,
    pub(crate) cut: Cut,
}

impl Running {
    fn lock(&self) -> MutexGuard<'_, Steps> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A step begins, and is cut off after so much time.
    pub(crate) fn begin(&self, key: Key, most: Duration) -> Step<'_> {
        let cut = Cut::after(most);
        let mut steps = self.lock();
        if steps.has_ended {
            cut.cut();
        }
        steps.began += 1;
        let number = steps.began;
        steps.cuts.insert(number, (key, cut.clone()));
        Step {
            running: self,
            number,
            cut,
        }
    }

    /// Cuts all steps off.
    pub(crate) fn cut_all(&self) {
        self.lock().cuts.values().for_each(|(_, cut)| cut.cut());
    }

    /// Cuts all steps off, and those that begin later.
    pub(crate) fn end(&self) {
        self.lock().has_ended = true;
        self.cut_all();
    }

    /// Cuts off the step of an instance.
    pub(crate) fn cut(&self, tenant: &Tenant, instance_id: &str) {
        for ((of, instance), cut) in self.lock().cuts.values() {
            if of == tenant && instance.as_deref() == Some(instance_id) {
                cut.cut();
            }
        }
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
        running.cut(&tenant, "i");
        assert!(one.cut.was_called() && !other.cut.was_called());
        drop(one);
        assert_eq!(running.lock().cuts.len(), 1);
        running.cut_all();
        assert!(other.cut.was_called());
        running.end();
        assert!(begin("k").cut.was_called());
    }
}
