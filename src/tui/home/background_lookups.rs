//! Requests of the home screen that need the outside world, and the background threads that look things up,
//! so that the screen never waits.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::facts::{Known, Last, LastRun};
use super::save::NotSaved;
use crate::recipe::plan::Plan;
use crate::run::client::Hello;
use crate::run::estimate::{Estimate, Paces};
use crate::tui::recipes::RecipeEntry;
use crate::tui::waker::Waker;

/// Measures how fast the backends copy; `None` if the flag stopped the measurement.
pub type FindPaces = dyn Fn(&AtomicBool) -> Result<Option<Paces>, String> + Send + Sync;
/// Finds the newest stored run of a plan's recipe; may stop early once the flag is set.
pub type FindLast = dyn Fn(&Plan, &AtomicBool) -> Option<LastRun> + Send + Sync;

/// Waits for an engine's hello; `None` if the flag stopped the wait.
pub type FindEngine = dyn Fn(&AtomicBool) -> Option<Greeting> + Send + Sync;

/// What the first engine says about itself.
#[derive(Clone, Debug, Default)]
pub struct Greeting {
    /// The backends' devices in one line, or why no engine answers.
    pub devices: String,
    pub hello: Option<Hello>,
    /// Round-trip time to a remote engine.
    pub latency: Option<Duration>,
}

/// The functions that look things up.
#[derive(Clone)]
pub struct Lookups {
    pub engine: Arc<FindEngine>,
    pub paces: Arc<FindPaces>,
    pub last: Arc<FindLast>,
}

/// A request for a recipe's last run.
struct Question {
    number: u64,
    recipe: usize,
    plan: Plan,
    stop: Arc<AtomicBool>,
}

impl Question {
    fn answer(&self, find: &FindLast) -> BackgroundResult {
        let stopped = || self.stop.load(Ordering::Relaxed);
        if stopped() {
            return BackgroundResult::Last(self.recipe, Known::Unknown);
        }
        // A malformed folder that triggers a bug in this program counts as no run.
        let found = catch_unwind(AssertUnwindSafe(|| find(&self.plan, &self.stop))).unwrap_or_default();
        let found = if stopped() { Known::Unknown } else { Known::Is(found.map(Arc::new)) };
        BackgroundResult::Last(self.recipe, found)
    }
}

/// Starts lookups in the background and receives their results.
pub struct BackgroundLookups {
    lookups: Lookups,
    sender: Sender<(u64, BackgroundResult)>,
    results: Receiver<(u64, BackgroundResult)>,
    waker: Option<Waker>,
    /// Sends to the thread that looks for last runs; `None` until the first question.
    questions: Option<Sender<Question>>,
    /// Number of questions so far, which is the number of the newest one.
    asked: u64,
    /// The number of the newest question for each recipe's last run.
    awaited: BTreeMap<usize, u64>,
    /// Stops the newest question; all older ones have been stopped already.
    stop: Arc<AtomicBool>,
    /// The threads that speak with an engine, for its devices or the paces, and the flags that stop them.
    probes: Vec<(JoinHandle<()>, Arc<AtomicBool>)>,
}

impl BackgroundLookups {
    pub fn new(lookups: Lookups) -> BackgroundLookups {
        let (sender, results) = channel();
        BackgroundLookups {
            lookups,
            sender,
            results,
            waker: None,
            questions: None,
            asked: 0,
            awaited: BTreeMap::new(),
            stop: Arc::default(),
            probes: Vec::new(),
        }
    }

    /// From now on, results end the event loop's sleep.
    pub fn wake_by(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// The next result, skipping answers to superseded questions.
    pub fn next(&self) -> Option<BackgroundResult> {
        self.results.try_iter().find(|found| self.is_awaited(found)).map(|(_, result)| result)
    }

    fn is_awaited(&self, (number, result): &(u64, BackgroundResult)) -> bool {
        !matches!(result, BackgroundResult::Last(recipe, _) if self.awaited.get(recipe) != Some(number))
    }

    pub fn find_paces(&mut self) {
        let find = self.lookups.paces.clone();
        self.probe("paces", move |stop| BackgroundResult::Paces(find(stop).transpose()));
    }

    /// Asks an engine for its devices.
    pub fn find_engine(&mut self) {
        let find = self.lookups.engine.clone();
        self.probe("hello", move |stop| BackgroundResult::Greeted(find(stop)));
    }

    fn probe(&mut self, name: &str, job: impl FnOnce(&AtomicBool) -> BackgroundResult + Send + 'static) {
        let stop = Arc::new(AtomicBool::new(false));
        let told = stop.clone();
        self.probes.retain(|(thread, _)| !thread.is_finished());
        self.probes.extend(self.send(name, move || job(&told)).map(|thread| (thread, stop)));
    }

    /// Asks for a recipe's last run, and stops the search for any other one.
    pub fn find_last(&mut self, recipe: usize, plan: &Plan) {
        self.stop.store(true, Ordering::Relaxed);
        self.stop = Arc::default();
        self.asked += 1;
        self.awaited.insert(recipe, self.asked);
        let (number, stop) = (self.asked, Arc::clone(&self.stop));
        let question = Question { number, recipe, plan: plan.clone(), stop };
        if self.questions.is_none() {
            self.questions = self.librarian();
        }
        // If the thread could not be started, the answer never comes, and the preview stays without a last run.
        if let Some(questions) = &self.questions {
            let _ = questions.send(question);
        }
    }

    /// Starts the thread that answers questions for last runs. One after another, because they share the disk.
    fn librarian(&self) -> Option<Sender<Question>> {
        let (questions, asked) = channel::<Question>();
        let (find, sender, waker) = (self.lookups.last.clone(), self.sender.clone(), self.waker.clone());
        let work = move || {
            for question in asked {
                // After the end of the program nothing receives the answer.
                let _ = sender.send((question.number, question.answer(&*find)));
                waker.iter().for_each(Waker::wake);
            }
        };
        thread::Builder::new().name("last run".into()).spawn(work).ok().map(|_| questions)
    }

    /// Stops everything that would disturb a measurement, and waits until the probes have ended.
    pub fn hush(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.probes.iter().for_each(|(_, stop)| stop.store(true, Ordering::Relaxed));
        for (thread, _) in self.probes.drain(..) {
            // A probe that panicked has ended, too.
            let _ = thread.join();
        }
    }

    /// Runs a job in a thread. If the thread cannot be started, the answer never comes, and the preview goes on
    /// showing that the backends are being measured.
    fn send(
        &self,
        name: &str,
        job: impl FnOnce() -> BackgroundResult + Send + 'static,
    ) -> Option<JoinHandle<()>> {
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        let work = move || {
            // After the end of the program nothing receives the result.
            let _ = sender.send((0, job()));
            waker.inspect(Waker::wake);
        };
        thread::Builder::new().name(name.into()).spawn(work).ok()
    }
}

impl Drop for BackgroundLookups {
    fn drop(&mut self) {
        self.hush();
    }
}

/// A request that needs the outside world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errand {
    /// Take the first run out of the queue.
    Next,
    /// Start the run that was taken out of the queue.
    Begin,
    /// Resolve the recipe at this index.
    Resolve(usize),
    /// Add up the cost of the recipe at this index.
    Estimate(usize),
    /// Save the recipe under the given name.
    Save,
    /// Ask an engine for its devices.
    Greet,
    /// Measure how fast the backends copy.
    Paces,
    /// Find the newest run of the recipe at this index.
    Last(usize),
}

/// The result of an [`Errand`].
#[derive(Debug)]
pub enum BackgroundResult {
    /// The first run of the queue is about to start.
    Next,
    /// The lookup was requested.
    Asked(Errand),
    /// What the engine says about itself; `None` if the wait was stopped.
    Greeted(Option<Greeting>),
    /// The backends' copy bandwidths; `None` if the measurement was stopped.
    Paces(Option<Result<Paces, String>>),
    /// The newest run of the recipe at this index; unknown if the search was stopped.
    Last(usize, Known<Last>),
    /// The plan of the recipe at this index.
    Resolved(usize, Result<Arc<Plan>, String>),
    /// The cost of the recipe at this index.
    Estimated(usize, Estimate),
    /// The recipe was saved, or why not.
    Saved(Result<RecipeEntry, NotSaved>),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture;

    /// Lookups that find nothing.
    fn nothing() -> Lookups {
        Lookups { engine: Arc::new(|_| None), paces: Arc::new(|_| Ok(None)), last: Arc::new(|_, _| None) }
    }

    #[test]
    fn the_wait_for_an_engine_is_ended_before_a_run_begins() {
        let wait = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            None
        };
        let mut background = BackgroundLookups::new(Lookups { engine: Arc::new(wait), ..nothing() });
        background.find_engine();
        assert!(background.next().is_none(), "no engine answers");
        background.hush();
        assert!(matches!(background.next(), Some(BackgroundResult::Greeted(None))), "to be asked again");
    }

    #[test]
    fn a_probe_is_ended_before_a_run_begins() {
        let wait = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Ok(None)
        };
        let mut background = BackgroundLookups::new(Lookups { paces: Arc::new(wait), ..nothing() });
        background.find_paces();
        assert!(background.next().is_none(), "it does not end by itself");
        background.hush();
        assert!(
            matches!(background.next(), Some(BackgroundResult::Paces(None))),
            "it has ended, and said so"
        );
    }

    #[test]
    fn what_is_found_comes_back_with_its_recipe() {
        let paces = |_: &AtomicBool| Err("no engine".to_owned());
        let mut background = BackgroundLookups::new(Lookups { paces: Arc::new(paces), ..nothing() });
        background.find_last(3, &fixture::passes());
        let result = background.results.recv();
        assert!(matches!(result, Ok((1, BackgroundResult::Last(3, Known::Is(None))))), "{result:?}");
        background.find_paces();
        let result = background.results.recv();
        assert!(matches!(result, Ok((_, BackgroundResult::Paces(Some(Err(_)))))), "{result:?}");
    }

    #[test]
    fn only_the_newest_question_is_answered_and_only_once() {
        // The search for the first plan continues until it is stopped.
        let last = |plan: &Plan, stop: &AtomicBool| {
            while plan.cases.is_empty() && !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            None
        };
        let mut background = BackgroundLookups::new(Lookups { last: Arc::new(last), ..nothing() });
        let endless = Plan { cases: Vec::new(), ..fixture::passes() };
        background.find_last(0, &endless);
        background.find_last(1, &endless);
        background.find_last(0, &fixture::passes());
        let found: Vec<(u64, BackgroundResult)> =
            (0..3).filter_map(|_| background.results.recv().ok()).collect();
        let awaited: Vec<bool> = found.iter().map(|found| background.is_awaited(found)).collect();
        assert_eq!(awaited, [false, true, true], "{found:?}");
        assert!(matches!(found[1], (2, BackgroundResult::Last(1, Known::Unknown))), "to be asked again");
        assert!(matches!(found[2], (3, BackgroundResult::Last(0, Known::Is(None)))), "{found:?}");
        background.find_last(1, &endless);
        background.hush();
        let result = background.results.recv();
        assert!(matches!(result, Ok((4, BackgroundResult::Last(1, Known::Unknown)))), "{result:?}");
    }
}
