//! Work of the home screen that may take seconds, such as resolving thousands of cases. It runs in threads, so
//! that the screen answers keys meanwhile.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::save::NotSaved;
use crate::recipe::plan::{Overrides, Plan};
use crate::run::estimate::Estimate;
use crate::tui::recipes::RecipeEntry;
use crate::tui::waker::Waker;

/// Name of the threads that run jobs.
pub const THREAD: &str = "job";

/// Whether somebody still waits for a job's result.
pub type Wanted<'a> = &'a (dyn Fn() -> bool + Sync);

/// Resolves a recipe with its overrides to a plan, or returns the error. Called in threads; ends early, with any
/// error, once nobody waits for the plan.
pub type Resolve = Arc<dyn Fn(&RecipeEntry, &Overrides, Wanted) -> Result<Plan, String> + Send + Sync>;

/// What a job works on. A new job of a kind stops the earlier one, whose result is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Preview,
    Estimate,
    Start,
    Save,
}

/// The result of a job.
#[derive(Debug)]
pub enum Outcome {
    /// The plan of the recipe at this index.
    Resolved(usize, Result<Arc<Plan>, String>),
    /// The cost of the recipe at this index.
    Estimated(usize, Estimate),
    /// The plan to be run now, of the recipe at this index.
    Ready {
        recipe: usize,
        text: String,
        plan: Result<Plan, String>,
    },
    Saved(Result<RecipeEntry, NotSaved>),
}

/// A result, or the panic that ended the job.
type Done = (Kind, u64, thread::Result<Outcome>);

/// Runs jobs and receives their results.
pub struct Jobs {
    sender: Sender<Done>,
    done: Receiver<Done>,
    waker: Option<Waker>,
    /// The number of the newest job of each kind that is not done, and the flag that stops it.
    newest: BTreeMap<Kind, (u64, Arc<AtomicBool>)>,
    asked: u64,
}

impl Jobs {
    pub fn new() -> Jobs {
        let (sender, done) = channel();
        Jobs { sender, done, waker: None, newest: BTreeMap::new(), asked: 0 }
    }

    /// From now on jobs run in threads and their results end the event loop's sleep. Without a waker, jobs run
    /// in place.
    pub fn wake_by(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// Starts a job; in place, if no thread can be started.
    pub fn run(&mut self, kind: Kind, job: impl FnOnce(Wanted) -> Outcome + Send + 'static) {
        self.stop(kind);
        self.asked += 1;
        let (number, stop) = (self.asked, Arc::new(AtomicBool::new(false)));
        self.newest.insert(kind, (number, Arc::clone(&stop)));
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        let work = move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| job(&|| !stop.load(Ordering::Relaxed))));
            // After the end of the program nothing receives the result.
            let _ = sender.send((kind, number, outcome));
            waker.inspect(Waker::wake);
        };
        if self.waker.is_none() {
            return work();
        }
        let (hand_over, handed) = channel();
        let thread = thread::Builder::new().name(THREAD.into());
        match thread.spawn(move || handed.into_iter().for_each(|work: Box<dyn FnOnce() + Send>| work())) {
            // The thread waits for the job, and ends after it.
            Ok(_) => drop(hand_over.send(Box::new(work))),
            Err(_) => work(),
        }
    }

    /// Stops the newest job of this kind and drops its result.
    pub fn stop(&mut self, kind: Kind) {
        if let Some((_, stop)) = self.newest.remove(&kind) {
            stop.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a job of this kind is not done.
    pub fn is_running(&self, kind: Kind) -> bool {
        self.newest.contains_key(&kind)
    }

    /// The next result, skipping those of stopped jobs. Continues the panic of a job that panicked.
    pub fn next(&mut self) -> Option<Outcome> {
        loop {
            let (kind, number, outcome) = self.done.try_recv().ok()?;
            if self.newest.get(&kind).is_some_and(|(newest, _)| *newest == number) {
                self.newest.remove(&kind);
                return Some(outcome.unwrap_or_else(|panic| resume_unwind(panic)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::waker;

    /// A job that ends when nobody waits for it any longer.
    fn endless(wanted: Wanted) -> Outcome {
        while wanted() {
            thread::yield_now();
        }
        Outcome::Resolved(0, Err("stopped".to_owned()))
    }

    #[test]
    fn a_newer_job_of_a_kind_stops_the_older_one() {
        let (waker, _wakes) = waker::pair().expect("a pipe");
        let mut jobs = Jobs::new();
        jobs.wake_by(waker);
        jobs.run(Kind::Preview, endless);
        assert!(jobs.is_running(Kind::Preview) && jobs.next().is_none());
        jobs.run(Kind::Preview, |_| Outcome::Resolved(1, Err("newer".to_owned())));
        let outcome = loop {
            if let Some(outcome) = jobs.next() {
                break outcome;
            }
            thread::yield_now();
        };
        assert!(matches!(outcome, Outcome::Resolved(1, Err(_))), "{outcome:?}");
        assert!(!jobs.is_running(Kind::Preview) && jobs.next().is_none());
    }

    #[test]
    fn a_panic_continues_where_the_result_is_taken() {
        let mut jobs = Jobs::new();
        jobs.run(Kind::Save, |_| panic!("a bug"));
        assert!(catch_unwind(AssertUnwindSafe(|| jobs.next())).is_err());
    }
}
