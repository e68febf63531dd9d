//! The stored runs: a list with a summary of each, and the operations on a run.
//!
//! Threads read the runs ([`io_worker`]); the state holds only summaries, and at most one opened run, as the
//! session of the run screen.

pub mod comparison;
pub mod entry;
pub mod io_worker;
mod opened;
#[cfg(test)]
pub mod tests;
mod work;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use comparison::{Comparison, Exported};
pub use entry::Entry;
pub use io_worker::{Answer, IoWorker, Job};
pub use opened::Replayable;

use super::chart::overlay::Baseline;
use super::field::Field;
use crate::run::index::Stamp;

/// The purpose of a text field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A search of the list; `before` is the previous search.
    Search { before: String },
    /// A note on this run.
    Note(PathBuf),
}

/// A text that is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typing {
    pub purpose: Purpose,
    pub field: Field,
}

/// State of the list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    #[default]
    Never,
    /// A thread is reading the list.
    Reading,
    /// The list is complete, except for `more` older runs.
    Done { more: usize },
}

/// A run that can be resumed in its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    pub folder: PathBuf,
    /// Position of the case that is to be retried or measured further.
    pub case: Option<usize>,
}

/// The use of an answer that is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// To read a run that is to be resumed, or replayed.
    Reopening,
    /// To find the lines that a case touches.
    Touching,
    Other,
}

/// The list of stored runs, and the operations in progress.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Whether there is a folder of stored runs.
    pub there: bool,
    /// Newest first.
    entries: Vec<Entry>,
    /// Entries that were read but are not listed yet, by folder.
    arrived: HashMap<PathBuf, Entry>,
    /// Positions of the shown entries in the list.
    shown: Vec<usize>,
    /// Position of the selected entry among the shown ones.
    selected: usize,
    /// The text of the search.
    search: String,
    pub listing: Listing,
    /// The run that others are compared with.
    pub baseline: Option<PathBuf>,
    /// The run under the charts that the user chose.
    pub laid: Option<Arc<Baseline>>,
    pub typing: Option<Typing>,
    /// The number of the request whose answer is awaited, and the request.
    waiting: Option<(u64, Awaited)>,
    /// Number of requests so far.
    asked: u64,
    pub comparison: Option<Comparison>,
    pub exported: Option<Exported>,
    /// First line of the details.
    pub details_scroll: usize,
}

impl Runs {
    /// The shown entries in their order.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.shown.iter().map(|at| &self.entries[*at])
    }

    /// Number of all entries, shown or not.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    pub fn selected(&self) -> Option<&Entry> {
        self.entries.get(*self.shown.get(self.selected)?)
    }

    /// Position of the selected entry among the shown ones.
    pub fn position(&self) -> usize {
        self.selected
    }

    pub fn select(&mut self, at: usize) {
        let at = at.min(self.shown.len().saturating_sub(1));
        if at != self.selected {
            self.details_scroll = 0;
        }
        self.selected = at;
    }

    /// Moves the selection, stopping at the ends.
    pub fn step(&mut self, by: isize) {
        self.select(self.selected.saturating_add_signed(by));
    }

    pub fn scroll_details(&mut self, by: isize) {
        self.details_scroll = self.details_scroll.saturating_add_signed(by);
    }

    pub fn search(&self) -> &str {
        &self.search
    }

    /// Shows the entries that contain all these words, in any order and case.
    pub fn set_search(&mut self, text: &str) {
        text.clone_into(&mut self.search);
        self.filter();
    }

    /// Applies the search, and keeps the selected run selected if it is still shown.
    fn filter(&mut self) {
        let before = self.selected().map(|entry| entry.path.clone());
        let words: Vec<String> = self.search.split_whitespace().map(str::to_lowercase).collect();
        let found = |(at, entry): (usize, &Entry)| entry.has(&words).then_some(at);
        self.shown = self.entries.iter().enumerate().filter_map(found).collect();
        self.reselect(before.as_deref());
    }

    fn reselect(&mut self, path: Option<&Path>) {
        let at = path.and_then(|path| self.shown().position(|entry| entry.path == path));
        self.select(at.unwrap_or(self.selected));
    }

    /// The entries that need not be read again while their stamps stay the same.
    pub fn known(&self) -> Vec<(PathBuf, Stamp)> {
        self.entries.iter().map(|entry| (entry.path.clone(), entry.stamp)).collect()
    }

    /// Accepts an entry, which replaces an older entry of the same folder. [`settle`](Self::settle) lists all
    /// entries that arrive together at once.
    pub fn insert(&mut self, entry: Entry) {
        self.arrived.insert(entry.path.clone(), entry);
    }

    /// Lists the entries that have arrived.
    pub fn settle(&mut self) {
        if self.arrived.is_empty() {
            return;
        }
        let before = self.selected().map(|selected| selected.path.clone());
        let arrived = std::mem::take(&mut self.arrived);
        self.entries.retain(|known| !arrived.contains_key(&known.path));
        self.entries.extend(arrived.into_values());
        self.entries.sort_by(Entry::order);
        // A user who has not moved the selection sees the newest run.
        let before = before.filter(|_| self.selected > 0 || self.listing != Listing::Reading);
        self.filter();
        match before {
            Some(path) => self.reselect(Some(&path)),
            None => self.select(0),
        }
    }

    /// Drops the entries whose folders no longer exist.
    pub fn keep(&mut self, paths: &HashSet<PathBuf>) {
        self.entries.retain(|entry| paths.contains(&entry.path));
        self.baseline = self.baseline.take().filter(|path| paths.contains(path));
        self.filter();
    }

    pub fn set_note(&mut self, path: &Path, note: Option<String>) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.path == path) {
            entry.note = note;
            entry.stamp = Stamp::default();
        }
        self.filter();
    }

    /// The number of a request whose answer will be awaited.
    pub fn ticket(&mut self) -> u64 {
        self.ticket_for(Awaited::Other)
    }

    /// The same of this request.
    pub fn ticket_for(&mut self, request: Awaited) -> u64 {
        self.asked += 1;
        self.waiting = Some((self.asked, request));
        self.asked
    }

    /// Whether the answer to this request is awaited.
    pub fn awaits(&self, request: Awaited) -> bool {
        self.waiting.is_some_and(|(_, waiting)| waiting == request)
    }

    /// Stops waiting for an answer.
    pub fn give_up(&mut self) {
        self.waiting = None;
    }

    /// Whether this answer is awaited; if so, stops waiting for it.
    pub fn awaited(&mut self, ticket: u64) -> bool {
        self.waiting.is_some_and(|(waiting, _)| waiting == ticket) && self.waiting.take().is_some()
    }
}
