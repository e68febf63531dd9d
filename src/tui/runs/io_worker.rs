//! Where the runs are read and written: each request has a thread of its own, so that the
//! screen never waits for a disk.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;

use super::entry::Entry;
use super::opened::Opened;
use super::sheet::{Exported, Sheet};
use super::work;
use crate::recipe::plan::Plan;
use crate::run::Interrupted;
use crate::run::index::Stamp;
use crate::tui::chart::baseline::Baseline;
use crate::tui::pattern::{Question, Touches};
use crate::tui::resume::Unfinished;
use crate::tui::wake::Waker;

/// Something to read or write.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// Find all runs; those whose stamps have not changed are not read again.
    List {
        known: Vec<(PathBuf, Stamp)>,
    },
    Open(PathBuf),
    Watch(PathBuf),
    /// Read a run, to go on with it.
    Reopen(Unfinished),
    Compare {
        baseline: PathBuf,
        other: PathBuf,
    },
    /// Its results, for the chart.
    Lay(PathBuf),
    Export(PathBuf),
    Note {
        path: PathBuf,
        text: String,
    },
    /// Work out which lines a case touches.
    Touch(Box<Question>),
}

/// What became of it.
#[derive(Debug)]
pub enum Answer {
    /// One of several of a list.
    Found(Box<Entry>),
    /// The list is whole: these are there, and so many more that are not listed.
    Listed {
        paths: HashSet<PathBuf>,
        more: usize,
    },
    Opened(Box<Opened>),
    /// A run that can be played, so many times faster than it ran.
    Playable {
        path: PathBuf,
        plan: Box<Plan>,
        times: f64,
    },
    /// A run that can go on.
    Reopened(Box<Interrupted>),
    Laid(Arc<Baseline>),
    Compared(Box<Sheet>),
    Exported(Box<Exported>),
    Noted {
        path: PathBuf,
        note: Option<String>,
    },
    Touched(Box<Touches>),
    /// It did not work: why.
    Refused(String),
}

/// Takes requests in and answers them, with their numbers.
#[derive(Debug)]
pub struct IoWorker {
    root: PathBuf,
    sender: Sender<(u64, Answer)>,
    answers: Receiver<(u64, Answer)>,
    /// Ends the list that is being read.
    list: Weak<AtomicBool>,
    /// Ends what is being read, each a job.
    stops: Vec<Weak<AtomicBool>>,
    /// Whether the caller waits for each answer, as tests do.
    #[cfg(test)]
    pub at_once: bool,
}

impl IoWorker {
    /// For the runs below `root`.
    pub fn new(root: PathBuf) -> IoWorker {
        let (sender, answers) = channel();
        IoWorker {
            root,
            sender,
            answers,
            list: Weak::new(),
            stops: Vec::new(),
            #[cfg(test)]
            at_once: false,
        }
    }

    /// Begins with a job; its answers wake the loop.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn ask(&mut self, ticket: u64, job: Job, waker: Option<Waker>) -> io::Result<()> {
        let stop = self.stop_of(&job);
        let (root, sender) = (self.root.clone(), self.sender.clone());
        let told = Arc::clone(&stop);
        let wanted = move || !told.load(Ordering::Relaxed);
        let tell = move |answer| {
            let heard = !stop.load(Ordering::Relaxed) && sender.send((ticket, answer)).is_ok();
            waker.iter().for_each(Waker::wake);
            heard
        };
        #[cfg(test)]
        if self.at_once {
            perform(&root, job, &wanted, tell);
            return Ok(());
        }
        let work = move || perform(&root, job, &wanted, tell);
        thread::Builder::new().name("runs".into()).spawn(work).map(drop)
    }

    /// What ends this job. A note is a line that is written at once, and an older list is
    /// worth nothing.
    fn stop_of(&mut self, job: &Job) -> Arc<AtomicBool> {
        let stop: Arc<AtomicBool> = Arc::default();
        if matches!(job, Job::List { .. }) {
            raise(&self.list);
            self.list = Arc::downgrade(&stop);
        }
        self.stops.retain(|stop| stop.strong_count() > 0);
        if !matches!(job, Job::Note { .. }) {
            self.stops.push(Arc::downgrade(&stop));
        }
        stop
    }

    /// The next answer that has come.
    pub fn next(&self) -> Option<(u64, Answer)> {
        self.answers.try_recv().ok()
    }

    /// Nothing is read any more: something is going to be timed.
    pub fn stop(&self) {
        self.stops.iter().for_each(raise);
    }
}

/// What has ended already needs no word.
fn raise(stop: &Weak<AtomicBool>) {
    if let Some(stop) = stop.upgrade() {
        stop.store(true, Ordering::Relaxed);
    }
}

/// A mistake of ours that a strange folder brings to light must not leave anybody waiting.
fn perform(
    root: &std::path::Path,
    job: Job,
    wanted: &dyn Fn() -> bool,
    mut tell: impl FnMut(Answer) -> bool,
) {
    if catch_unwind(AssertUnwindSafe(|| work::perform(root, job, wanted, &mut tell))).is_err() {
        tell(Answer::Refused("this does not work, because of a mistake in scatterlab".to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_reads_is_stopped_and_an_older_list_by_a_newer_one() {
        let mut io_worker = IoWorker::new(PathBuf::new());
        let list = || Job::List { known: Vec::new() };
        let note = Job::Note { path: PathBuf::new(), text: String::new() };
        let jobs = [list(), Job::Open(PathBuf::new()), list(), Job::Export(PathBuf::new()), note];
        let stops = jobs.map(|job| io_worker.stop_of(&job));
        let raised = || stops.each_ref().map(|stop| stop.load(Ordering::Relaxed));
        assert_eq!(raised(), [true, false, false, false, false]);
        io_worker.stop();
        assert_eq!(raised(), [true, true, true, true, false], "a note is written at once");
    }

    #[test]
    fn what_nobody_waits_for_is_not_read() {
        let run = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/schema-1");
        let mut answers = Vec::new();
        for wanted in [true, false] {
            perform(&run, Job::Open(run.clone()), &|| wanted, |answer| {
                answers.push(matches!(answer, Answer::Opened(_)));
                true
            });
        }
        assert_eq!(answers, [true, false]);
    }
}
