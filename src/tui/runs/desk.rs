//! Where the runs are read and written: each request has a thread of its own, so that the
//! screen never waits for a disk.

use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use super::entry::Entry;
use super::opened::Opened;
use super::sheet::{Exported, Sheet};
use super::work;
use crate::plan::Plan;
use crate::run::shelf::Stamp;
use crate::tui::pattern::{Question, Touches};
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
    Compare {
        baseline: PathBuf,
        other: PathBuf,
    },
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
pub struct Desk {
    root: PathBuf,
    sender: Sender<(u64, Answer)>,
    answers: Receiver<(u64, Answer)>,
    /// Ends the lists that are being read.
    stop: Arc<AtomicBool>,
    /// Whether the caller waits for each answer, as tests do.
    #[cfg(test)]
    pub at_once: bool,
}

impl Desk {
    /// For the runs below `root`.
    pub fn new(root: PathBuf) -> Desk {
        let (sender, answers) = channel();
        let stop = Arc::default();
        Desk {
            root,
            sender,
            answers,
            stop,
            #[cfg(test)]
            at_once: false,
        }
    }

    /// Begins with a job; its answers wake the loop.
    ///
    /// # Errors
    /// When there is no thread to be had.
    pub fn ask(&mut self, ticket: u64, job: Job, waker: Option<Waker>) -> io::Result<()> {
        let stop: Arc<AtomicBool> = Arc::default();
        if matches!(job, Job::List { .. }) {
            self.stop = Arc::clone(&stop);
        }
        let (root, sender) = (self.root.clone(), self.sender.clone());
        let tell = move |answer| {
            let heard = !stop.load(Ordering::Relaxed) && sender.send((ticket, answer)).is_ok();
            waker.iter().for_each(Waker::wake);
            heard
        };
        #[cfg(test)]
        if self.at_once {
            perform(&root, job, tell);
            return Ok(());
        }
        thread::Builder::new().name("runs".into()).spawn(move || perform(&root, job, tell)).map(drop)
    }

    /// The next answer that has come.
    pub fn next(&self) -> Option<(u64, Answer)> {
        self.answers.try_recv().ok()
    }

    /// Nothing is read any more: something is going to be timed.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// A mistake of ours that a strange folder brings to light must not leave anybody waiting.
fn perform(root: &std::path::Path, job: Job, mut tell: impl FnMut(Answer) -> bool) {
    if catch_unwind(AssertUnwindSafe(|| work::perform(root, job, &mut tell))).is_err() {
        tell(Answer::Refused("this does not work, because of a mistake in scatterlab".to_owned()));
    }
}
