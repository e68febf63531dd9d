//! `scatterlab run --resume`.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use super::headless::{self, Summary};
use super::interrupt::Interrupt;
use super::recipes::with_warnings;
use super::{out, report};
use crate::report::{file_names, write_of_run};
use crate::run::client::EngineCommand;
use crate::run::stored::Stored;
use crate::run::{self, Interrupted, events};

/// Continues an interrupted run. A complete run only has its tables and charts rewritten if any is missing or
/// outdated.
///
/// `strict` refuses a machine on which rounds on file would be set aside.
pub fn run(
    folder: &Path,
    engine: &EngineCommand,
    strict: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Summary> {
    let stored = with_warnings(Stored::open(folder)?);
    if !stored.ledger.is_complete() {
        let mut run = Interrupted::open(folder)?;
        run.strict = strict;
        let ledger = run.stored.ledger.clone();
        return headless::watch(&run::resume(engine, run, Some(write_of_run))?, ledger, interrupt);
    }
    let summary = Summary::of(&stored.ledger, folder);
    out::line(&format!("the run is complete: {} → {}", summary.words(), folder.display()));
    if is_stale(&stored) {
        out::line(&report::render(&stored)?);
    }
    Ok(summary)
}

/// Whether a table or a chart is missing or older than the events.
fn is_stale(run: &Stored) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let events = changed(&events::file(&run.path));
    file_names(&run.manifest.plan).iter().any(|name| changed(&run.path.join(name)) < events)
}
