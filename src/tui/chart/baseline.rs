//! Another run that can be laid under a chart.

use std::path::{Path, PathBuf};

use crate::case::units::escaped;
use crate::recipe::plan::Plan;
use crate::run::{Ledger, Record};

/// The results of another run, without its samples: runs are long.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub folder: PathBuf,
    pub plan: Plan,
    pub records: Vec<Record>,
}

impl Baseline {
    pub fn new(folder: &Path, ledger: &Ledger) -> Baseline {
        let bare = |record: &Record| Record {
            rounds: Vec::new(),
            set_aside: Vec::new(),
            superseded: Vec::new(),
            ..record.clone()
        };
        let records = ledger.records().iter().map(bare).collect();
        Baseline { folder: folder.to_owned(), plan: ledger.plan().clone(), records }
    }

    /// The name of the run's folder, without control characters.
    pub fn name(&self) -> String {
        escaped(&self.folder.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Whether the run has any results to lay under a chart.
    pub fn is_measured(&self) -> bool {
        self.records.iter().any(|record| record.statistics.is_some())
    }
}
