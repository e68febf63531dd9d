//! Reads and writes stored runs. Each request has its own thread, so that the screen never waits for a disk.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread;

use super::Unfinished;
use super::comparison::{Comparison, Exported};
use super::entry::Entry;
use super::opened::{Opened, Replayable};
use super::work;
use crate::recipe::plan::Plan;
use crate::run::Interrupted;
use crate::run::index::Stamp;
use crate::tui::chart::overlay::Baseline;
use crate::tui::pattern::{Pattern, Question};
use crate::tui::waker::Waker;

/// A request to read or write.
#[derive(Clone, Debug, PartialEq)]
pub enum Job {
    /// Find all runs; runs with an unchanged stamp are not read again.
    List {
        known: Vec<(PathBuf, Stamp)>,
    },
    Open(PathBuf),
    Watch(PathBuf),
    /// Read a run in order to resume it.
    Reopen(Unfinished),
    /// Read a run in order to replay it.
    Replay(PathBuf),
    /// Judge the run in the folder `replayed` against the stored run that it repeats.
    Judge {
        stored: PathBuf,
        replayed: PathBuf,
    },
    Compare {
        baseline: PathBuf,
        other: PathBuf,
    },
    /// Read a run's results for the chart.
    Lay(PathBuf),
    Export(PathBuf),
    Note {
        path: PathBuf,
        text: String,
    },
    /// Find the lines that a case touches, or the shape of its matrix.
    Touch(Box<Question>),
}

/// The answer to a [`Job`].
#[derive(Debug)]
pub enum Answer {
    /// One entry of a list; more may follow.
    Found(Box<Entry>),
    /// The list is complete: the runs with these paths exist, and `more` runs are not listed.
    Listed {
        paths: HashSet<PathBuf>,
        more: usize,
    },
    Opened(Box<Opened>),
    /// A run that can be played, `times` times faster than it ran.
    Playable {
        path: PathBuf,
        plan: Box<Plan>,
        times: f64,
    },
    /// A run that can be resumed.
    Reopened(Box<Interrupted>),
    /// A run that can be replayed.
    Replayable(Box<Replayable>),
    /// How a replay was judged.
    Judged(Box<Comparison>),
    Laid(Arc<Baseline>),
    Compared(Box<Comparison>),
    Exported(Box<Exported>),
    Noted {
        path: PathBuf,
        note: Option<String>,
    },
    Pattern(Box<Pattern>),
    /// The request failed, for this reason.
    Refused(String),
}

/// Accepts requests, and returns answers with the requests' numbers.
#[derive(Debug)]
pub struct IoWorker {
    root: PathBuf,
    sender: Sender<(u64, Answer)>,
    answers: Receiver<(u64, Answer)>,
    /// Stops the thread that reads the list.
    list: Weak<AtomicBool>,
    /// The stop flags of all reading jobs.
    stops: Vec<Weak<AtomicBool>>,
    /// Whether `ask` runs the job synchronously, for tests.
    #[cfg(test)]
    pub at_once: bool,
}

impl IoWorker {
    /// A worker for the runs below `root`.
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

    /// Starts a job; its answers wake the loop.
    ///
    /// # Errors
    /// If no thread can be started.
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

    /// Creates the stop flag of a job. A new list stops an older one, which is useless now. A note is a single
    /// line, written at once, and is never stopped.
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

    /// The next answer, if one has arrived.
    pub fn next(&self) -> Option<(u64, Answer)> {
        self.answers.try_recv().ok()
    }

    /// Stops all reading, because something is about to be timed.
    pub fn stop(&self) {
        self.stops.iter().for_each(raise);
    }
}

/// Sets a stop flag, unless the job has already ended.
fn raise(stop: &Weak<AtomicBool>) {
    if let Some(stop) = stop.upgrade() {
        stop.store(true, Ordering::Relaxed);
    }
}

/// Performs a job. If a malformed folder triggers a bug in this program, the answer is still sent.
fn perform(
    root: &std::path::Path,
    job: Job,
    wanted: &dyn Fn() -> bool,
    mut tell: impl FnMut(Answer) -> bool,
) {
    if catch_unwind(AssertUnwindSafe(|| work::perform(root, job, wanted, &mut tell))).is_err() {
        tell(Answer::Refused("failed because of a bug in scatterlab".to_owned()));
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
