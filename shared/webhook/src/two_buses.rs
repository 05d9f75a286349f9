//! Two buses as one: whoever listens at either hears everything.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use dormouse_runtime::port::{Bus, LifecycleEvent, PortError, TaskRequest};

/// How many ids are remembered that one of the buses has and the other has not.
const REMEMBERED_MAX: usize = 1_000;

/// Two buses as one.
///
/// One that is down keeps nothing from the other one. An event is taken when both have it; until then it comes again
/// under its id. Which of them has it already is remembered here, so that it does not hear it again with each attempt
/// at the other: within this process, and for so many. After that it hears it twice, as whoever listens at a bus must
/// expect.
pub struct TwoBuses {
    first: Arc<dyn Bus>,
    second: Arc<dyn Bus>,
    half_told: Mutex<VecDeque<(String, Half)>>,
}

/// The bus that has an event already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

impl TwoBuses {
    /// Both, in the order in which they are told.
    #[must_use]
    pub fn new(first: Arc<dyn Bus>, second: Arc<dyn Bus>) -> Self {
        Self {
            first,
            second,
            half_told: Mutex::default(),
        }
    }

    /// Both where there are two, or the one that there is.
    #[must_use]
    pub fn of(first: Option<Arc<dyn Bus>>, second: Option<Arc<dyn Bus>>) -> Option<Arc<dyn Bus>> {
        match (first, second) {
            (Some(first), Some(second)) => Some(Arc::new(Self::new(first, second))),
            (first, second) => first.or(second),
        }
    }

    /// Which of them has the event of this id already, if one of them has.
    fn told(&self, id: &str) -> Option<Half> {
        let ids = self.half_told.lock();
        let ids = ids.unwrap_or_else(PoisonError::into_inner);
        let known = ids.iter().find(|(known, _)| known == id);
        known.map(|(_, half)| *half)
    }

    /// Remembers what became of the two halves, and answers what became of the whole.
    fn settle(
        &self,
        id: &str,
        first: Result<(), PortError>,
        second: Result<(), PortError>,
    ) -> Result<(), PortError> {
        let (told, whole) = match (first, second) {
            (Ok(()), Ok(())) => (None, Ok(())),
            (Ok(()), Err(error)) => (Some(Half::First), Err(error)),
            (Err(error), Ok(())) => (Some(Half::Second), Err(error)),
            (Err(error), Err(_)) => (None, Err(error)),
        };
        let ids = self.half_told.lock();
        let mut ids = ids.unwrap_or_else(PoisonError::into_inner);
        ids.retain(|(known, _)| known != id);
        if let Some(half) = told {
            ids.push_back((id.to_owned(), half));
            if ids.len() > REMEMBERED_MAX {
                ids.pop_front();
            }
        }
        whole
    }
}

#[async_trait]
impl Bus for TwoBuses {
    async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
        let told = self.told(&request.id);
        let first = match told == Some(Half::First) {
            true => Ok(()),
            false => self.first.request_task(request).await,
        };
        let second = match told == Some(Half::Second) {
            true => Ok(()),
            false => self.second.request_task(request).await,
        };
        self.settle(&request.id, first, second)
    }

    fn hears_lifecycle(&self) -> bool {
        self.first.hears_lifecycle() || self.second.hears_lifecycle()
    }

    async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
        let told = self.told(&event.id);
        let first = match told == Some(Half::First) || !self.first.hears_lifecycle() {
            true => Ok(()),
            false => self.first.tell(event).await,
        };
        let second = match told == Some(Half::Second) || !self.second.hears_lifecycle() {
            true => Ok(()),
            false => self.second.tell(event).await,
        };
        self.settle(&event.id, first, second)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use dormouse_engine::time::Timestamp;
    use dormouse_runtime::port::LifecycleKind;
    use serde_json::Value;

    use super::*;

    /// A bus that keeps what it is told, or takes nothing.
    #[derive(Default)]
    struct Kept {
        ids: Mutex<Vec<String>>,
        is_down: AtomicBool,
        hears_lifecycle: bool,
    }

    impl Kept {
        fn take(&self, id: &str) -> Result<(), PortError> {
            if self.is_down.load(Ordering::Relaxed) {
                return Err("it is down".into());
            }
            self.ids.lock().unwrap().push(id.to_owned());
            Ok(())
        }

        fn ids(&self) -> Vec<String> {
            self.ids.lock().unwrap().clone()
        }
    }

    #[async_trait]
    impl Bus for Kept {
        async fn request_task(&self, request: &TaskRequest) -> Result<(), PortError> {
            self.take(&request.id)
        }

        fn hears_lifecycle(&self) -> bool {
            self.hears_lifecycle
        }

        async fn tell(&self, event: &LifecycleEvent) -> Result<(), PortError> {
            self.take(&event.id)
        }
    }

    fn request(id: &str) -> TaskRequest {
        TaskRequest {
            id: id.to_owned(),
            tenant_id: String::new(),
            workflow_instance_id: String::new(),
            workflow_definition_id: String::new(),
            workflow_name: None,
            correlation_id: None,
            task_id: String::new(),
            task_name: String::new(),
            task_payload: Value::Null,
        }
    }

    fn event(id: &str) -> LifecycleEvent {
        LifecycleEvent {
            id: id.to_owned(),
            kind: LifecycleKind::InstanceStarted,
            at: Timestamp(0),
            tenant_id: String::new(),
            workflow_instance_id: String::new(),
            workflow_definition_id: String::new(),
            workflow_definition_version: 1,
            name: None,
            correlation_id: None,
            incident_count: 0,
        }
    }

    fn two(first: Kept, second: Kept) -> (Arc<Kept>, Arc<Kept>, TwoBuses) {
        let (first, second) = (Arc::new(first), Arc::new(second));
        let both = TwoBuses::new(Arc::clone(&first) as _, Arc::clone(&second) as _);
        (first, second, both)
    }

    #[tokio::test]
    async fn what_one_does_not_take_comes_again_to_that_one_alone() {
        for is_first_down in [true, false] {
            let (first, second, both) = two(Kept::default(), Kept::default());
            let (down, up) = match is_first_down {
                true => (&first, &second),
                false => (&second, &first),
            };
            down.is_down.store(true, Ordering::Relaxed);
            for _ in 0..3 {
                both.request_task(&request("a")).await.unwrap_err();
            }
            assert_eq!((up.ids().len(), down.ids().len()), (1, 0));
            down.is_down.store(false, Ordering::Relaxed);
            both.request_task(&request("a")).await.unwrap();
            both.request_task(&request("b")).await.unwrap();
            assert_eq!(up.ids(), ["a", "b"]);
            assert_eq!(down.ids(), ["a", "b"]);
            assert!(both.half_told.lock().unwrap().is_empty());
        }
    }

    #[tokio::test]
    async fn what_neither_takes_comes_again_to_both() {
        let (first, second, both) = two(Kept::default(), Kept::default());
        for bus in [&first, &second] {
            bus.is_down.store(true, Ordering::Relaxed);
        }
        both.request_task(&request("a")).await.unwrap_err();
        for bus in [&first, &second] {
            bus.is_down.store(false, Ordering::Relaxed);
        }
        both.request_task(&request("a")).await.unwrap();
        assert_eq!((first.ids().len(), second.ids().len()), (1, 1));
    }

    #[tokio::test]
    async fn each_hears_of_lives_only_if_it_wants_to() {
        let curious = || Kept {
            hears_lifecycle: true,
            ..Kept::default()
        };
        for (first, second, heard) in [
            (Kept::default(), Kept::default(), (0, 0)),
            (curious(), Kept::default(), (1, 0)),
            (Kept::default(), curious(), (0, 1)),
            (curious(), curious(), (1, 1)),
        ] {
            let (first, second, both) = two(first, second);
            assert_eq!(both.hears_lifecycle(), heard != (0, 0));
            both.tell(&event("a")).await.unwrap();
            assert_eq!((first.ids().len(), second.ids().len()), heard);
        }
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let (_, second, both) = two(Kept::default(), Kept::default());
        second.is_down.store(true, Ordering::Relaxed);
        for n in 0..REMEMBERED_MAX + 10 {
            let refused = both.request_task(&request(&n.to_string())).await;
            refused.unwrap_err();
        }
        assert_eq!(both.half_told.lock().unwrap().len(), REMEMBERED_MAX);
    }
}
