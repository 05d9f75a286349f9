//! Waiting in virtual time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::world::World;

impl World {
    /// Returns at a time, in ms since 1970, or at once if it is over.
    pub(crate) fn sleep_until(&self, at_ms: i64) -> impl Future<Output = ()> + Send + 'static {
        let left_ms = (at_ms - self.now_ms()).max(0);
        self.sleep(left_ms.unsigned_abs())
    }

    /// Returns after so many milliseconds of virtual time.
    pub(crate) fn sleep(&self, ms: u64) -> impl Future<Output = ()> + Send + 'static {
        let due = self.now_ms() + i64::try_from(ms).unwrap_or(i64::MAX / 2);
        Sleep {
            world: self.clone(),
            due,
            key: None,
        }
    }
}

/// Lets others go first, once.
pub(crate) struct Yield(pub(crate) bool);

impl Future for Yield {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

struct Sleep {
    world: World,
    due: i64,
    key: Option<(i64, u64)>,
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let world = self.world.clone();
        let mut inner = world.inner();
        if inner.now_ms >= self.due {
            if let Some(key) = self.key.take() {
                inner.sleepers.remove(&key);
            }
            return Poll::Ready(());
        }
        let key = match self.key {
            Some(key) => key,
            None => {
                inner.next_sleeper += 1;
                (self.due, inner.next_sleeper)
            }
        };
        inner.sleepers.insert(key, cx.waker().clone());
        drop(inner);
        self.key = Some(key);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(key) = self.key {
            self.world.inner().sleepers.remove(&key);
        }
    }
}
