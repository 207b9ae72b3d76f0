//! Combinators with a fixed order, for code that awaits several operations at once.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Awaits two futures and returns both results; the first is polled first.
pub async fn join<A: Future, B: Future>(first: A, second: B) -> (A::Output, B::Output) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut other) = (None, None);
    poll_fn(move |cx| {
        if one.is_none()
            && let Poll::Ready(value) = first.as_mut().poll(cx)
        {
            one = Some(value);
        }
        if other.is_none()
            && let Poll::Ready(value) = second.as_mut().poll(cx)
        {
            other = Some(value);
        }
        match (one.take(), other.take()) {
            (Some(first), Some(second)) => Poll::Ready((first, second)),
            (first, second) => {
                (one, other) = (first, second);
                Poll::Pending
            }
        }
    })
    .await
}

/// Awaits the sooner of two futures and drops the other; the first is polled first, so it wins a
/// tie.
pub async fn race<T>(first: impl Future<Output = T>, second: impl Future<Output = T>) -> T {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(move |cx| match first.as_mut().poll(cx) {
        Poll::Ready(value) => Poll::Ready(value),
        Poll::Pending => second.as_mut().poll(cx),
    })
    .await
}
