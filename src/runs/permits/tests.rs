//! Permits: the order is that of asking, places are told, and nothing is lost or handed out twice.

use std::time::Duration;

use futures::FutureExt as _;
use proptest::prelude::*;

use super::*;
use crate::runs::Reason;

const MINUTE: Duration = Duration::from_mins(1);

fn permits(limit: usize, queue: usize) -> Permits {
    Permits::new("streams", limit, queue, MINUTE)
}

/// The permit of a place that is at its turn; nothing of one that waits.
fn granted(place: &mut Place) -> Option<Permit> {
    place.granted.try_recv().ok()
}

fn position(place: &Place) -> Option<(usize, usize)> {
    place.ticket().place().map(|place| (place.position, place.length))
}

fn retry_after(refused: Result<Place>) -> Duration {
    match refused {
        Err(Error::Busy { retry_after, .. }) => retry_after,
        other => panic!("it is refused, not {other:?}"),
    }
}

#[test]
fn who_asks_first_is_served_first_and_everybody_sees_where_he_stands() {
    let permits = permits(1, 3);
    let mut first = permits.arrive().unwrap();
    let held = granted(&mut first).unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| permits.arrive().unwrap()).collect();
    let seen: Vec<_> = waiting.iter().map(position).collect();
    assert_eq!(seen, [Some((1, 3)), Some((2, 3)), Some((3, 3))]);
    assert_eq!(position(&first), None);
    assert!(waiting.iter_mut().all(|place| granted(place).is_none()));

    drop(held);
    let mut next = waiting.remove(0);
    let held = granted(&mut next).unwrap();
    assert_eq!(position(&next), None);
    let seen: Vec<_> = waiting.iter().map(position).collect();
    assert_eq!(seen, [Some((1, 2)), Some((2, 2))]);
    drop(held);
    assert!(granted(&mut waiting[0]).is_some(), "and so on");
}

#[test]
fn who_leaves_moves_those_behind_him_up_and_frees_his_place() {
    let permits = permits(1, 3);
    let held = granted(&mut permits.arrive().unwrap()).unwrap();
    let mut waiting: Vec<_> = (0..3).map(|_| permits.arrive().unwrap()).collect();
    assert!(permits.arrive().is_err(), "the queue is full");
    drop(waiting.remove(1));
    let seen: Vec<_> = waiting.iter().map(position).collect();
    assert_eq!(seen, [Some((1, 2)), Some((2, 2))]);
    let last = permits.arrive().unwrap();
    assert_eq!(position(&last), Some((3, 3)));
    drop((waiting, last, held));
    assert_eq!((permits.in_use(), permits.waiting()), (0, 0));
}

#[test]
fn a_newcomer_takes_no_permit_from_whoever_waits() {
    let permits = permits(1, 3);
    let held = granted(&mut permits.arrive().unwrap()).unwrap();
    let mut waiting = permits.arrive().unwrap();
    drop(held);
    let mut newcomer = permits.arrive().unwrap();
    assert!(granted(&mut newcomer).is_none());
    assert!(granted(&mut waiting).is_some());
}

#[test]
fn a_permit_that_was_granted_to_one_who_leaves_goes_to_the_next() {
    let permits = permits(1, 3);
    let held = granted(&mut permits.arrive().unwrap()).unwrap();
    let (leaves, mut stays) = (permits.arrive().unwrap(), permits.arrive().unwrap());
    drop(held);
    assert!(granted(&mut stays).is_none(), "it is the other's turn");
    drop(leaves);
    assert!(granted(&mut stays).is_some());
    assert_eq!((permits.in_use(), permits.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_wait_ends_with_the_longest_wait_since_the_arrival_or_with_the_stop() {
    let permits = permits(1, 5);
    let held = permits.arrive().unwrap().permit(&Stop::new()).await.unwrap();
    let place = permits.arrive().unwrap();
    tokio::time::advance(MINUTE / 2).await;
    let refused = place.permit(&Stop::new()).await.unwrap_err();
    assert_eq!(held.since.elapsed().as_secs(), 60, "not a minute from the waiting on");
    assert!(refused.detail().contains("waited 60 s"), "{}", refused.detail());
    let stop = Stop::new();
    let waits = permits.arrive().unwrap().permit(&stop);
    stop.fire(Reason::ClientLeft);
    assert!(matches!(waits.await, Err(Error::Cancelled)));
    drop(held);
    assert_eq!((permits.in_use(), permits.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn retry_after_follows_how_long_permits_are_held_and_how_many_wait() {
    let permits = permits(2, 2);
    let take = || {
        let stop = Stop::new();
        permits.arrive().unwrap().permit(&stop).now_or_never().unwrap().unwrap()
    };
    // Two that are held for eight seconds each.
    let (first, second) = (take(), take());
    tokio::time::advance(Duration::from_secs(8)).await;
    drop((first, second));

    let held = (take(), take());
    let waiting = (permits.arrive().unwrap(), permits.arrive().unwrap());
    assert_eq!(retry_after(permits.arrive()), Duration::from_secs(12), "3 turns of 8 s by 2");
    drop(waiting.1);
    let again = permits.arrive().unwrap();
    tokio::time::advance(Duration::from_secs(20)).await;
    assert_eq!(retry_after(permits.arrive()), Duration::from_secs(30), "they take longer now");
    tokio::time::advance(Duration::from_mins(10)).await;
    assert_eq!(retry_after(permits.arrive()), MINUTE, "no longer than anybody may wait");
    drop((held, again, waiting.0));
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_a_second_at_least_and_forgets_what_was_long_ago() {
    let permits = permits(1, 0);
    let hold = async |time: Duration| {
        let held = permits.arrive().unwrap().permit(&Stop::new()).await.unwrap();
        tokio::time::advance(time).await;
        drop(held);
    };
    hold(Duration::from_secs(40)).await;
    let held = permits.arrive().unwrap().permit(&Stop::new()).await.unwrap();
    assert_eq!(retry_after(permits.arrive()), Duration::from_secs(40));
    drop(held);
    for _ in 0..40 {
        hold(Duration::from_millis(1)).await;
    }
    let held = permits.arrive().unwrap().permit(&Stop::new()).await.unwrap();
    assert_eq!(retry_after(permits.arrive()), Duration::from_secs(1));
    drop(held);
}

/// What may happen to permits and places, each by its index among those there are.
#[derive(Debug, Clone)]
enum Step {
    Arrive,
    Leave(prop::sample::Index),
    Finish(prop::sample::Index),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => Just(Step::Arrive),
        1 => any::<prop::sample::Index>().prop_map(Step::Leave),
        2 => any::<prop::sample::Index>().prop_map(Step::Finish),
    ]
}

proptest! {
    /// Against a plain list: the permits go to the first of those that wait, in the order of asking.
    #[test]
    fn whatever_happens_the_first_of_those_that_wait_are_served(
        limit in 1_usize..4,
        queue in 0_usize..5,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let permits = permits(limit, queue);
        let (mut held, mut waiting) = (Vec::<Permit>::new(), Vec::<Place>::new());
        for step in steps {
            match step {
                Step::Arrive => if let Ok(place) = permits.arrive() {
                    waiting.push(place);
                } else {
                    prop_assert_eq!((held.len(), waiting.len()), (limit, queue));
                },
                Step::Leave(index) if !waiting.is_empty() => {
                    drop(waiting.remove(index.index(waiting.len())));
                }
                Step::Finish(index) if !held.is_empty() => {
                    drop(held.swap_remove(index.index(held.len())));
                }
                Step::Leave(_) | Step::Finish(_) => {}
            }
            while held.len() < limit && !waiting.is_empty() {
                let permit = granted(&mut waiting.remove(0));
                prop_assert!(permit.is_some(), "the first of those that wait is served");
                held.extend(permit);
            }
            prop_assert!(waiting.len() <= queue);
            for (index, place) in waiting.iter_mut().enumerate() {
                prop_assert!(granted(place).is_none(), "nobody else is");
                prop_assert_eq!(position(place), Some((index + 1, permits.waiting())));
            }
            prop_assert_eq!((permits.in_use(), permits.waiting()), (held.len(), waiting.len()));
        }
    }
}
