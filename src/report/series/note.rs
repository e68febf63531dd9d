//! Notes on cases that a chart cannot show as points.

use std::fmt;

use crate::run::{Record, Status};

/// Why a case is not a point, or not a certified one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The case cannot run here.
    NotApplicable,
    /// The case failed, or its result was wrong.
    Failed,
    /// The case's baseline has no valid result.
    NoBaseline,
    /// The case is measured, but has no certificate yet.
    Uncertified,
    /// The case is not measured yet.
    Pending,
}

impl NoteKind {
    pub fn word(self) -> &'static str {
        match self {
            NoteKind::NotApplicable => "n/a",
            NoteKind::Failed => "failed",
            NoteKind::NoBaseline => "no baseline",
            NoteKind::Uncertified => "not certified",
            NoteKind::Pending => "not measured",
        }
    }
}

/// Cases that share a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub kind: NoteKind,
    /// The backend of the cases.
    pub backend: String,
    /// The reason given by the engine; empty if the kind is sufficient.
    pub reason: String,
    /// Positions in the records.
    pub cases: Vec<usize>,
    /// The label of the case, if there is only one.
    pub of: String,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hollow = if self.kind == NoteKind::Uncertified { " (hollow)" } else { "" };
        write!(f, "{}{hollow}: {}", self.kind.word(), self.backend)?;
        if !self.reason.is_empty() {
            write!(f, ": {}", self.reason)?;
        }
        match self.cases.len() {
            1 if !self.of.is_empty() => write!(f, " ({})", self.of),
            1 => f.write_str(" (1 case)"),
            n => write!(f, " ({n} cases)"),
        }
    }
}

/// The kind and the reason of a record that is not a certified point, regardless of its baseline.
pub fn own(record: &Record) -> Option<(NoteKind, String)> {
    match &record.status {
        Status::NotApplicable(reason) => Some((NoteKind::NotApplicable, reason.clone())),
        Status::Failed(reason) => Some((NoteKind::Failed, reason.clone())),
        Status::Pending => Some((NoteKind::Pending, String::new())),
        Status::Partial | Status::Done => None,
    }
}

/// Adds a case to the note of its kind, backend and reason.
pub fn add(
    notes: &mut Vec<Note>,
    (kind, reason): (NoteKind, String),
    record: &Record,
    at: usize,
    of: String,
) {
    let backend = record.case.backend();
    let same = |n: &&mut Note| n.kind == kind && n.backend == backend && n.reason == reason;
    match notes.iter_mut().find(same) {
        Some(note) => note.cases.push(at),
        None => notes.push(Note { kind, backend: backend.to_owned(), reason, cases: vec![at], of }),
    }
}
