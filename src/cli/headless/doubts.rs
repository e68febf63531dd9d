//! Warnings about doubtful rounds: of each kind of noise the first one of a case is worth a
//! line, and the others a count. On a restless machine every round has one or two.

use std::collections::BTreeSet;

use crate::engine::protocol::RoundResult;
use crate::run::folder::EVENTS;
use crate::stats::noise::{Flag, preamble};

/// What has been said about the doubtful rounds of a run.
#[derive(Debug, Default)]
pub struct Doubts {
    told: BTreeSet<(usize, Flag)>,
    /// How the warning about the latest round begins, where it would tell nothing new.
    known: Option<String>,
    held_back: usize,
    kinds: BTreeSet<Flag>,
}

impl Doubts {
    /// A round of the case at this position of the plan has arrived; `label` is the case's in
    /// its experiment. The engine's warning about it comes later.
    pub fn round(&mut self, at: usize, label: &str, result: &RoundResult) {
        let fresh = result.flags.iter().filter(|flag| self.told.insert((at, **flag))).count();
        self.known = (fresh == 0 && !result.flags.is_empty()).then(|| preamble(label, result.round));
        if self.known.is_some() {
            self.kinds.extend(&result.flags);
        }
    }

    /// Whether to print a warning; one that tells nothing new is counted.
    pub fn is_news(&mut self, warning: &str) -> bool {
        let known = self.known.as_ref().is_some_and(|start| warning.starts_with(start));
        self.held_back += usize::from(known);
        !known
    }

    /// What was not printed, in a line; `None` for nothing.
    pub fn summary(&self) -> Option<String> {
        let kinds: Vec<&str> = self.kinds.iter().map(|flag| flag.word()).collect();
        let (count, kinds) = (self.held_back, kinds.join(", "));
        let are = if count == 1 { "warning" } else { "warnings" };
        (count > 0).then(|| format!("{count} more {are} of noise ({kinds}) not shown: see {EVENTS}"))
    }
}
