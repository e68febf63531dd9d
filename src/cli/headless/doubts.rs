//! Warnings about doubtful rounds: the first round of a case with each kind of noise gets a line, and later
//! ones are counted. On a restless machine every round has one or two kinds.

use std::collections::BTreeSet;

use crate::engine::protocol::RoundResult;
use crate::run::folder::EVENTS;
use crate::stats::noise::{Flag, preamble};

/// The warnings printed so far about the doubtful rounds of a run.
#[derive(Debug, Default)]
pub struct Doubts {
    told: BTreeSet<(usize, Flag)>,
    /// The beginning of the warning about the latest round, if that warning would say nothing new.
    known: Option<String>,
    held_back: usize,
    kinds: BTreeSet<Flag>,
}

impl Doubts {
    /// Notes that a round has arrived for the case at this position of the plan; `label` is the case's label
    /// within its experiment. The engine's warning about the round comes later.
    pub fn round(&mut self, at: usize, label: &str, result: &RoundResult) {
        let fresh = result.flags.iter().filter(|flag| self.told.insert((at, **flag))).count();
        self.known = (fresh == 0 && !result.flags.is_empty()).then(|| preamble(label, result.round));
        if self.known.is_some() {
            self.kinds.extend(&result.flags);
        }
    }

    /// Whether to print a warning. A warning that says nothing new is counted instead.
    pub fn is_news(&mut self, warning: &str) -> bool {
        let known = self.known.as_ref().is_some_and(|start| warning.starts_with(start));
        self.held_back += usize::from(known);
        !known
    }

    /// A line that summarizes the withheld warnings; `None` if there are none.
    pub fn summary(&self) -> Option<String> {
        let kinds: Vec<&str> = self.kinds.iter().map(|flag| flag.word()).collect();
        let (count, kinds) = (self.held_back, kinds.join(", "));
        let are = if count == 1 { "warning" } else { "warnings" };
        (count > 0).then(|| format!("{count} more {are} of noise ({kinds}) not shown: see {EVENTS}"))
    }
}
