//! The stored runs: a list of what is known about each, and what can be done with one.
//!
//! Reading them is the work of threads ([`io_worker`]); the state holds summaries only, and one
//! run at most that was opened, as the session of the run screen.

mod apply;
pub mod ask;
pub mod chart;
pub mod entry;
pub mod io_worker;
mod opened;
pub mod sheet;
#[cfg(test)]
pub mod tests;
mod work;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use apply::{allows, apply, discard, keep, list, playing, stopped, take, typed};
pub use ask::Ask;
pub use entry::Entry;
pub use io_worker::{Answer, IoWorker, Job};
pub use sheet::{Exported, Sheet};

use super::chart::baseline::Baseline;
use super::field::Field;
use crate::run::index::Stamp;

/// What a text is typed for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What the list is searched for; what it was searched for before.
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

/// How far the list is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    #[default]
    Never,
    /// A thread reads.
    Reading,
    /// Whole, but for so many older runs than are listed.
    Done { more: usize },
}

/// The list, and what is going on beside it.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    /// Whether there is a folder to look for runs in.
    pub there: bool,
    /// Newest first.
    entries: Vec<Entry>,
    /// Read and not yet among them, by their folders.
    arrived: HashMap<PathBuf, Entry>,
    /// Positions in the list of those that are shown.
    shown: Vec<usize>,
    /// Of those that are shown.
    selected: usize,
    /// What is searched for.
    search: String,
    pub listing: Listing,
    /// The run that others are compared with.
    pub baseline: Option<PathBuf>,
    /// The run that lies under charts, by a person's choice.
    pub laid: Option<Arc<Baseline>>,
    pub typing: Option<Typing>,
    /// The request whose answer is waited for.
    waiting: Option<u64>,
    /// The last request for a run that is to go on.
    reopening: Option<u64>,
    /// Requests so far.
    asked: u64,
    pub sheet: Option<Sheet>,
    pub exported: Option<Exported>,
    /// First line of the details.
    pub details_scroll: usize,
}

impl Runs {
    /// The entries that are shown, in their order.
    pub fn shown(&self) -> impl ExactSizeIterator<Item = &Entry> {
        self.shown.iter().map(|at| &self.entries[*at])
    }

    /// How many there are, shown or not.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    pub fn selected(&self) -> Option<&Entry> {
        self.entries.get(*self.shown.get(self.selected)?)
    }

    /// Position of the selected one among those that are shown.
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

    pub fn search(&self) -> &str {
        &self.search
    }

    /// Shows what has all these words, in any order and case.
    pub fn set_search(&mut self, text: &str) {
        text.clone_into(&mut self.search);
        self.filter();
    }

    /// Keeps the selected run selected, where it is still shown.
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

    /// What need not be read again while its stamp stays.
    fn known(&self) -> Vec<(PathBuf, Stamp)> {
        self.entries.iter().map(|entry| (entry.path.clone(), entry.stamp)).collect()
    }

    /// Takes an entry in, in the place of an older one of the same folder; it is listed by
    /// [`settle`](Self::settle), once for all that come together.
    fn insert(&mut self, entry: Entry) {
        self.arrived.insert(entry.path.clone(), entry);
    }

    /// Lists what has arrived.
    pub fn settle(&mut self) {
        if self.arrived.is_empty() {
            return;
        }
        let before = self.selected().map(|selected| selected.path.clone());
        let arrived = std::mem::take(&mut self.arrived);
        self.entries.retain(|known| !arrived.contains_key(&known.path));
        self.entries.extend(arrived.into_values());
        self.entries.sort_by(Entry::order);
        // Who has not moved looks at the newest.
        let before = before.filter(|_| self.selected > 0 || self.listing != Listing::Reading);
        self.filter();
        match before {
            Some(path) => self.reselect(Some(&path)),
            None => self.select(0),
        }
    }

    /// Forgets what is no longer there.
    fn keep(&mut self, paths: &HashSet<PathBuf>) {
        self.entries.retain(|entry| paths.contains(&entry.path));
        self.baseline = self.baseline.take().filter(|path| paths.contains(path));
        self.filter();
    }

    fn set_note(&mut self, path: &Path, note: Option<String>) {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.path == path) {
            entry.note = note;
            entry.stamp = Stamp::default();
        }
        self.filter();
    }

    /// The number of a request whose answer will be waited for.
    pub fn ticket(&mut self) -> u64 {
        self.asked += 1;
        self.waiting = Some(self.asked);
        self.asked
    }

    /// The same, of a run that is to go on.
    pub fn reopening_ticket(&mut self) -> u64 {
        let ticket = self.ticket();
        self.reopening = Some(ticket);
        ticket
    }

    /// Whether a run is being read that is to go on.
    pub fn reopens(&self) -> bool {
        self.waiting.is_some() && self.waiting == self.reopening
    }

    /// No answer is waited for any more.
    pub fn give_up(&mut self) {
        self.waiting = None;
    }

    /// Whether this answer is waited for; it is then no longer.
    pub fn awaited(&mut self, ticket: u64) -> bool {
        self.waiting == Some(ticket) && self.waiting.take().is_some()
    }
}
