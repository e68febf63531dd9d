//! What a client asks of a plan that runs: said at any time, carried out between samples.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::case::Cancel;

/// About one case, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Measure it no further.
    Skip(String),
    /// Measure it again, or further.
    Again(String),
}

/// The orders of one run, between who reads them and who carries them out.
#[derive(Clone, Debug, Default)]
pub struct Orders(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ended: bool,
    paused: bool,
    asked: VecDeque<Order>,
    /// The case that is being measured, if it may be skipped.
    measured: Option<String>,
    /// Of the turn that is being measured.
    turn: Cancel,
}

impl State {
    /// The turn that is being measured is in vain.
    fn in_vain(&self) -> bool {
        let skipped = |order: &Order| matches!(order, Order::Skip(id) if Some(id) == self.measured.as_ref());
        self.ended || self.asked.iter().any(skipped)
    }
}

impl Orders {
    /// Stop at the next boundary of a sample.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Hold at the next boundary of a sample, or go on.
    pub fn pause(&self, on: bool) {
        self.change(|state| state.paused = on);
    }

    /// Something about a case. One that is being measured is left at the next boundary of a
    /// sample.
    pub fn ask(&self, order: Order) {
        self.change(|state| state.asked.push_back(order));
    }

    /// The turn that begins now: what ends it early. `skippable` is its case's id, where
    /// an order to skip it is one to end the turn.
    pub fn begin(&self, skippable: Option<&str>) -> Cancel {
        let turn = Cancel::default();
        self.change(|state| {
            state.measured = skippable.map(str::to_owned);
            state.turn = turn.clone();
        });
        turn
    }

    /// Whether the plan is to end.
    pub fn ended(&self) -> bool {
        self.state().ended
    }

    /// Whether to hold.
    pub fn paused(&self) -> bool {
        self.state().paused
    }

    /// The next order that nobody has carried out.
    pub fn next(&self) -> Option<Order> {
        self.state().asked.pop_front()
    }

    /// Waits while there is nothing to do but to hold; `false` where the turn that is being
    /// measured, or the plan, is to end.
    pub fn waits(&self) -> bool {
        // A turn that was skipped is so also once the order has been carried out: what it holds
        // is not to be held for the whole pause.
        let idle = |state: &mut State| {
            state.paused && state.asked.is_empty() && !state.in_vain() && !state.turn.requested()
        };
        let state = self.0.changed.wait_while(self.state(), idle);
        !state.unwrap_or_else(PoisonError::into_inner).turn.requested()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        change(&mut state);
        if state.in_vain() {
            state.turn.request();
        }
        self.0.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::*;

    fn skip(case: &str) -> Order {
        Order::Skip(case.to_owned())
    }

    #[test]
    fn only_the_case_that_is_measured_is_left() {
        let orders = Orders::default();
        let turn = orders.begin(Some("a"));
        orders.ask(skip("b"));
        orders.ask(Order::Again("a".to_owned()));
        assert!(!turn.requested());
        orders.ask(skip("a"));
        assert!(turn.requested());
        assert_eq!(orders.next(), Some(skip("b")));
        assert!(orders.begin(Some("a")).requested(), "it was asked before the turn began");
        assert!(!orders.begin(None).requested(), "a second look is not skipped");
        orders.end();
        assert!(orders.ended() && orders.begin(None).requested());
    }

    #[test]
    fn a_pause_ends_with_whatever_there_is_to_do() {
        let ends: [fn(&Orders); 3] =
            [|orders| orders.pause(false), Orders::end, |orders| orders.ask(Order::Again("a".to_owned()))];
        for end in ends {
            let orders = Orders::default();
            orders.pause(true);
            let asked = orders.clone();
            let asker = thread::spawn(move || {
                thread::sleep(Duration::from_millis(20));
                end(&asked);
            });
            orders.waits();
            asker.join().expect("no panic");
        }
    }

    #[test]
    fn a_turn_that_was_skipped_does_not_wait_for_the_end_of_a_pause() {
        let orders = Orders::default();
        orders.begin(Some("a"));
        orders.ask(skip("a"));
        orders.pause(true);
        assert_eq!(orders.next(), Some(skip("a")));
        let (said, heard) = mpsc::channel();
        let held = orders.clone();
        thread::spawn(move || said.send(held.waits()));
        assert_eq!(heard.recv_timeout(Duration::from_secs(10)), Ok(false));
    }
}
