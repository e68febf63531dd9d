//! A client's orders for a running plan: given at any time, carried out between samples.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::protocol::Pictures;
use crate::case::Cancel;

/// An order about one case, by its id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// Stop measuring the case.
    Skip(String),
    /// Measure the case again, or further.
    Again(String),
}

/// Most disturbances that wait for the end of a sample.
const MOST_DISTURBANCES: usize = 16;

/// The orders of one run, shared by the thread that reads them and the one that carries them out.
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
    /// The case being measured, if it may be skipped.
    measured: Option<String>,
    /// The pictures that the client wants.
    pictures: Pictures,
    /// Where the computation is to be disturbed.
    disturbances: VecDeque<(f64, f64)>,
    /// Cancels the turn being measured.
    turn: Cancel,
}

impl State {
    /// Whether the result of the current turn is no longer wanted.
    fn in_vain(&self) -> bool {
        let skipped = |order: &Order| matches!(order, Order::Skip(id) if Some(id) == self.measured.as_ref());
        self.ended || self.asked.iter().any(skipped)
    }
}

impl Orders {
    /// Stops at the next sample boundary.
    pub fn end(&self) {
        self.change(|state| state.ended = true);
    }

    /// Pauses at the next sample boundary, or continues.
    pub fn pause(&self, on: bool) {
        self.change(|state| state.paused = on);
    }

    /// Gives an order about a case. If it skips the case being measured, the turn ends at the next sample
    /// boundary.
    pub fn ask(&self, order: Order) {
        self.change(|state| state.asked.push_back(order));
    }

    /// Starts a turn and returns what cancels it early. `skippable` is the id of its case if an order to skip
    /// that case should end the turn.
    pub fn begin(&self, skippable: Option<&str>) -> Cancel {
        let turn = Cancel::default();
        self.change(|state| {
            state.measured = skippable.map(str::to_owned);
            state.turn = turn.clone();
            state.disturbances.clear();
        });
        turn
    }

    /// Sends these pictures from now on.
    pub fn show(&self, pictures: Pictures) {
        self.change(|state| state.pictures = pictures);
    }

    /// The pictures that the client wants.
    pub fn pictures(&self) -> Pictures {
        self.state().pictures
    }

    /// Disturbs the case that is being sampled at this place in [0, 1)², between its samples. What is outside, or more
    /// than can be carried out soon, is dropped.
    pub fn disturb(&self, at: (f64, f64)) {
        let inside = |share: f64| (0.0..1.0).contains(&share);
        self.change(|state| {
            if inside(at.0) && inside(at.1) && state.disturbances.len() < MOST_DISTURBANCES {
                state.disturbances.push_back(at);
            }
        });
    }

    /// The next disturbance not yet carried out.
    pub fn disturbance(&self) -> Option<(f64, f64)> {
        self.state().disturbances.pop_front()
    }

    /// Whether the plan should end.
    pub fn ended(&self) -> bool {
        self.state().ended
    }

    /// Whether the run is paused.
    pub fn paused(&self) -> bool {
        self.state().paused
    }

    /// The next order not yet carried out.
    pub fn next(&self) -> Option<Order> {
        self.state().asked.pop_front()
    }

    /// Blocks while paused with nothing else to do. Returns `false` if the current turn or the plan should end.
    pub fn waits(&self) -> bool {
        // A skipped turn stays cancelled after the order was carried out: its memory must not stay allocated
        // for the whole pause.
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
