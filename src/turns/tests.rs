//! Tests of turns, over few that everybody wants.

use std::sync::mpsc;
use std::thread;

use super::*;

#[test]
fn a_turn_passes_on_when_it_is_given_up_and_while_its_holder_is_away() {
    let turns = Arc::new(Turns::new(1));
    let mut first = Turn::among(&turns);
    first.row();
    let (said, heard) = mpsc::channel();
    let waiting = thread::spawn({
        let turns = Arc::clone(&turns);
        move || {
            let mut second = Turn::among(&turns);
            second.row();
            said.send(()).unwrap();
            // Until the first has asked for its turn again.
            while turns.waiting.load(Ordering::Relaxed) == 0 {
                thread::yield_now();
            }
        }
    });
    // The first does nothing for long, and has lost its turn.
    heard.recv().unwrap();
    assert!(!first.me.has.load(Ordering::Relaxed));
    assert!(turns.none_left.load(Ordering::Relaxed), "the second has it");
    first.row();
    waiting.join().unwrap();
    assert!(first.me.has.load(Ordering::Relaxed));
    drop(first);
    assert!(!turns.none_left.load(Ordering::Relaxed));
    assert!(turns.lock().out.is_empty() && turns.lock().waiting.is_empty());
}

#[test]
fn who_is_called_and_comes_too_late_is_called_again() {
    let turns = Arc::new(Turns::new(1));
    let mut first = Turn::among(&turns);
    first.row();
    thread::scope(|scope| {
        let second = scope.spawn(|| Turn::among(&turns).row());
        while turns.waiting.load(Ordering::Relaxed) == 0 {
            thread::yield_now();
        }
        // Called, and passed over before it could wake.
        let mut state = turns.lock();
        let late = state.waiting.pop_front().unwrap();
        turns.waiting.fetch_sub(1, Ordering::Relaxed);
        late.called.notify_one();
        drop(state);
        first.give_up();
        second.join().unwrap();
    });
    assert!(turns.lock().out.is_empty() && turns.lock().waiting.is_empty());
}

#[test]
fn many_get_their_turns_and_never_more_at_once_than_there_are() {
    let turns = Arc::new(Turns::new(2));
    let (at_once, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut turn = Turn::among(&turns);
                for _ in 0..200 {
                    turn.row();
                    let now = at_once.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(now, Ordering::SeqCst);
                    at_once.fetch_sub(1, Ordering::SeqCst);
                    turn.give_up();
                }
            });
        }
    });
    assert!(most.load(Ordering::SeqCst) <= 2, "{most:?}");
    assert!(turns.lock().out.is_empty() && turns.lock().waiting.is_empty());
}
