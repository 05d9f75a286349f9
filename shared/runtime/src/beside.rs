//! Work on many items beside each other, a bounded number at a time. The work on an item begins when there is room for
//! it, so memory does not depend on how many items there are.

use futures_util::StreamExt as _;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;

/// Works on each item, on at most `most` at once, and answers what came of them in order of completion.
pub(crate) fn beside<'a, I, T, W>(items: I, most: usize, mut work: W) -> BoxFuture<'a, Vec<T>>
where
    I: IntoIterator,
    I::IntoIter: Send + 'a,
    W: FnMut(I::Item) -> BoxFuture<'a, T> + Send + 'a,
    T: Send + 'a,
{
    let mut items = items.into_iter();
    Box::pin(async move {
        let mut under_way = FuturesUnordered::new();
        let mut done = Vec::new();
        loop {
            while under_way.len() < most.max(1)
                && let Some(item) = items.next()
            {
                under_way.push(work(item));
            }
            match under_way.next().await {
                Some(one) => done.push(one),
                None => return done,
            }
        }
    })
}
