//! The rows of the list of cases. The cases of an experiment that cannot run share one row, which opens with a key:
//! on a machine without a GPU they would be a third of many lists.

use super::Session;
use crate::run::{Record, SKIPPED, Status};
use crate::tui::widgets::list::moved;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// The names of an experiment's axes, and the unit.
    Experiment(usize),
    Case(usize),
    /// All cases of the experiment that cannot run; it is selected by the first of them.
    Absent {
        first: usize,
    },
    /// A claim of the experiment's paper, and what is measured of it.
    Claim {
        experiment: usize,
        at: usize,
    },
}

/// Fewest cases that are worth a common row.
const FEWEST: usize = 2;

/// Whether the case cannot run here, whatever the user does.
fn is_absent(record: &Record) -> bool {
    matches!(&record.status, Status::NotApplicable(reason) if reason != SKIPPED)
}

impl Session {
    /// The rows, grouped by experiment.
    pub fn rows(&self) -> Vec<Row> {
        let records = self.ledger.records();
        let (mut rows, mut start) = (Vec::new(), 0);
        while start < records.len() {
            let experiment = records[start].case.experiment;
            let same = records[start..].iter().take_while(|record| record.case.experiment == experiment);
            let end = start + same.count();
            let absent = || (start..end).filter(|at| self.is_folded(*at));
            let folded = absent().count() >= FEWEST;
            rows.push(Row::Experiment(experiment));
            rows.extend((start..end).filter(|at| !folded || !self.is_folded(*at)).map(Row::Case));
            rows.extend(absent().next().filter(|_| folded).map(|first| Row::Absent { first }));
            let claims = self.claims.get(experiment).map_or(0, Vec::len);
            rows.extend((0..claims).map(|at| Row::Claim { experiment, at }));
            start = end;
        }
        rows
    }

    fn is_folded(&self, at: usize) -> bool {
        !self.unfolded && self.ledger.records().get(at).is_some_and(is_absent)
    }

    /// The cases that share the row with this one.
    pub fn absent_beside(&self, first: usize) -> impl Iterator<Item = &Record> {
        let records = self.ledger.records();
        let experiment = records.get(first).map(|record| record.case.experiment);
        records.iter().filter(move |record| is_absent(record) && Some(record.case.experiment) == experiment)
    }

    /// Whether cases that cannot run share rows, or could.
    pub fn may_fold(&self) -> bool {
        let counted = |first| self.absent_beside(first).count();
        let mut absent = (0..self.ledger.records().len()).filter(|at| is_absent(&self.ledger.records()[*at]));
        absent.any(|first| counted(first) >= FEWEST)
    }

    /// Lists the cases that cannot run one by one, or in one row again.
    pub fn fold(&mut self) {
        self.unfolded = !self.unfolded;
    }

    /// Position among the rows of the selected case, or of the row that it shares.
    pub fn selected_row(&self, rows: &[Row]) -> usize {
        let own = |row: &Row| *row == Row::Case(self.selected);
        let shared = |row: &Row| match row {
            Row::Absent { first } => {
                let of = |at: usize| self.ledger.records().get(at).map(|record| record.case.experiment);
                of(*first) == of(self.selected)
            }
            _ => false,
        };
        rows.iter().position(own).or_else(|| rows.iter().position(shared)).unwrap_or(0)
    }

    /// Selects another row by hand.
    pub fn step(&mut self, by: isize) {
        let rows = self.rows();
        let at = self.selected_row(&rows);
        let case = |row: &Row| match row {
            Row::Experiment(_) | Row::Claim { .. } => None,
            Row::Case(case) | Row::Absent { first: case } => Some(*case),
        };
        let before = rows[..at].iter().filter_map(case).count();
        let all: Vec<usize> = rows.iter().filter_map(case).collect();
        if let Some(case) = all.get(moved(before, by, all.len())) {
            self.pick(*case);
        }
    }
}
