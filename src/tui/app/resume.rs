//! Resuming a run on disk.

use std::time::Duration;

use super::App;
use crate::run::Interrupted;
use crate::tui::home::background_lookups::BackgroundLookups;
use crate::tui::runs::IoWorker;
use crate::tui::update::Input;

impl App {
    /// Takes a run that was read in order to be resumed, unless nothing waits for it any more: something may
    /// have been started since.
    pub(super) fn reopened(&mut self, ticket: u64, run: Interrupted, now: Duration) {
        if self.state.runs.awaited(ticket) && !self.state.busy() {
            self.state.notice = None;
            let input = self.go_on(run).unwrap_or_else(Input::NotStarted);
            self.apply(input, now);
        }
    }

    /// Resumes a run in its own folder.
    fn go_on(&mut self, run: Interrupted) -> Result<Input, String> {
        if self.running.is_some() {
            return Err("the previous run is still writing its files".to_owned());
        }
        self.background.iter_mut().for_each(BackgroundLookups::hush);
        self.io_worker.iter().for_each(IoWorker::stop);
        let ledger = Box::new(run.stored.ledger.clone());
        let running = self.runner.resume(run).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::WentOn { ledger, folder })
    }
}
