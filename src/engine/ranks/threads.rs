//! Ranks that are threads of one process, for tests.

use std::panic;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::{Patience, Ranks};

#[derive(Default)]
struct State {
    texts: Vec<Option<String>>,
    /// Result of the previous collective, for ranks that have not returned from it yet.
    gathered: Vec<String>,
    meetings: usize,
    aborted: Option<String>,
}

#[derive(Default)]
struct Room {
    state: Mutex<State>,
    changed: Condvar,
}

struct Threads<'a> {
    rank: usize,
    size: usize,
    room: &'a Room,
}

impl Threads<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.room.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ranks for Threads<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn host(&self) -> usize {
        0
    }

    fn barrier(&self) {
        self.gather("", None);
    }

    fn gather(&self, text: &str, patience: Option<Patience>) -> Vec<String> {
        let mut state = self.state();
        let meeting = state.meetings;
        state.texts.resize(self.size, None);
        state.texts[self.rank] = Some(text.to_owned());
        if state.texts.iter().all(Option::is_some) {
            state.gathered = std::mem::take(&mut state.texts).into_iter().flatten().collect();
            state.meetings += 1;
            self.room.changed.notify_all();
        }
        let apart = |state: &mut State| state.meetings == meeting && state.aborted.is_none();
        let lasts = patience.map_or(Duration::MAX, |patience| patience.lasts);
        let waited = self.room.changed.wait_timeout_while(state, lasts, apart);
        let (state, over) = waited.unwrap_or_else(PoisonError::into_inner);
        if let Some(patience) = patience.filter(|_| over.timed_out()) {
            drop(state);
            self.abort(patience.why);
        }
        assert!(state.meetings > meeting, "ended by an abort");
        state.gathered.clone()
    }

    fn abort(&self, why: &str) -> ! {
        self.state().aborted.get_or_insert(format!("rank {}: {why}", self.rank));
        self.room.changed.notify_all();
        panic!("aborted: {why}");
    }
}

/// Runs `work` on this many ranks and returns their results.
pub fn run<R: Send>(size: usize, work: impl Fn(&dyn Ranks) -> R + Sync) -> Vec<R> {
    try_run(size, work).expect("nobody aborts")
}

/// Like [`run`], but returns the reason if a rank aborts.
pub fn try_run<R: Send>(size: usize, work: impl Fn(&dyn Ranks) -> R + Sync) -> Result<Vec<R>, String> {
    let (room, work) = (Room::default(), &work);
    let outcomes: Vec<thread::Result<R>> = thread::scope(|scope| {
        let start = |rank| {
            scope.spawn({
                let room = &room;
                move || work(&Threads { rank, size, room })
            })
        };
        let threads: Vec<_> = (0..size).map(start).collect();
        threads.into_iter().map(thread::ScopedJoinHandle::join).collect()
    });
    match room.state.into_inner().unwrap_or_else(PoisonError::into_inner).aborted {
        Some(why) => Err(why),
        None => Ok(outcomes.into_iter().map(|o| o.unwrap_or_else(|p| panic::resume_unwind(p))).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_does_not_wait_for_ever_aborts() {
        let ended = try_run(2, |ranks| match ranks.rank() {
            0 => drop(ranks.gather("", Some(Patience { lasts: Duration::from_millis(20), why: "alone" }))),
            _ => thread::sleep(Duration::from_millis(200)),
        });
        assert_eq!(ended, Err("rank 0: alone".to_owned()));
    }

    #[test]
    fn an_abort_ends_those_who_wait() {
        let ended = try_run(3, |ranks| match ranks.rank() {
            1 => ranks.abort("no memory"),
            _ => ranks.barrier(),
        });
        assert_eq!(ended, Err("rank 1: no memory".to_owned()));
    }
}
