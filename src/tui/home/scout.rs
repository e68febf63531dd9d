//! Finds things out in threads of its own, so that the screen never waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use super::News;
use super::facts::LastRun;
use crate::plan::Plan;
use crate::run::estimate::Paces;
use crate::tui::wake::Waker;

/// How fast the backends copy; `None` once the flag says that nobody wants to know.
pub type FindPaces = dyn Fn(&AtomicBool) -> Result<Option<Paces>, String> + Send + Sync;
/// The newest stored run of a plan's recipe.
pub type FindLast = dyn Fn(&Plan) -> Option<LastRun> + Send + Sync;

/// Where things are found out.
#[derive(Clone)]
pub struct Lookups {
    pub paces: Arc<FindPaces>,
    pub last: Arc<FindLast>,
}

/// Sends others out and takes in what they find.
pub struct Scout {
    lookups: Lookups,
    sender: Sender<News>,
    news: Receiver<News>,
    waker: Option<Waker>,
    /// The engine that is asked for its paces, and the word that ends it.
    probe: Option<(JoinHandle<()>, Arc<AtomicBool>)>,
}

impl Scout {
    pub fn new(lookups: Lookups) -> Scout {
        let (sender, news) = channel();
        Scout { lookups, sender, news, waker: None, probe: None }
    }

    /// From now on what is found ends the event loop's sleep.
    pub fn wake_by(&mut self, waker: Waker) {
        self.waker = Some(waker);
    }

    /// The next thing that was found.
    pub fn next(&self) -> Option<News> {
        self.news.try_recv().ok()
    }

    pub fn find_paces(&mut self) {
        let (find, stop) = (self.lookups.paces.clone(), Arc::new(AtomicBool::new(false)));
        let told = stop.clone();
        let job = move || News::Paces(find(&told).transpose());
        self.probe = self.send("paces", job).map(|thread| (thread, stop));
    }

    pub fn find_last(&mut self, recipe: usize, plan: &Plan) {
        let (find, plan) = (self.lookups.last.clone(), plan.clone());
        self.send("last run", move || News::Last(recipe, find(&plan).map(Arc::new)));
    }

    /// Ends what would disturb a measurement, and waits until it has ended.
    pub fn hush(&mut self) {
        if let Some((thread, stop)) = self.probe.take() {
            stop.store(true, Ordering::Relaxed);
            // One that panicked has ended, too.
            let _ = thread.join();
        }
    }

    /// Where no thread can be started the answer never comes, and the preview says so.
    fn send(&self, name: &str, job: impl FnOnce() -> News + Send + 'static) -> Option<JoinHandle<()>> {
        let (sender, waker) = (self.sender.clone(), self.waker.clone());
        let work = move || {
            // Nobody listens after the end.
            let _ = sender.send(job());
            waker.inspect(Waker::wake);
        };
        thread::Builder::new().name(name.into()).spawn(work).ok()
    }
}

impl Drop for Scout {
    fn drop(&mut self) {
        self.hush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture;

    #[test]
    fn a_probe_is_ended_before_a_run_begins() {
        let wait = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            Ok(None)
        };
        let mut scout = Scout::new(Lookups { paces: Arc::new(wait), last: Arc::new(|_| None) });
        scout.find_paces();
        assert!(scout.next().is_none(), "it does not end by itself");
        scout.hush();
        assert!(matches!(scout.next(), Some(News::Paces(None))), "it has ended, and said so");
    }

    #[test]
    fn what_is_found_comes_back_with_its_recipe() {
        let paces = |_: &AtomicBool| Err("no engine".to_owned());
        let mut scout = Scout::new(Lookups { paces: Arc::new(paces), last: Arc::new(|_| None) });
        scout.find_last(3, &fixture::passes());
        let news = scout.news.recv();
        assert!(matches!(news, Ok(News::Last(3, None))), "{news:?}");
        scout.find_paces();
        let news = scout.news.recv();
        assert!(matches!(news, Ok(News::Paces(Some(Err(_))))), "{news:?}");
    }
}
