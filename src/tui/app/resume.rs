//! Runs that begin with a stored one: it is resumed, or replayed.

use std::time::Duration;

use super::App;
use crate::run::Interrupted;
use crate::tui::runs::Replayable;
use crate::tui::update::Input;

impl App {
    /// Begins with a run that was read for it, unless nothing waits for it any more: something may have been
    /// started since.
    pub(super) fn begin_with(
        &mut self,
        ticket: u64,
        now: Duration,
        begin: impl FnOnce(&mut App) -> Result<Input, String>,
    ) {
        if self.state.runs.awaited(ticket) && !self.state.busy() {
            self.state.notice = None;
            let input = begin(self).unwrap_or_else(Input::NotStarted);
            self.apply(input, now);
        }
    }

    /// Resumes a run in its own folder.
    pub(super) fn go_on(&mut self, run: Interrupted) -> Result<Input, String> {
        self.make_way()?;
        let ledger = Box::new(run.stored.ledger.clone());
        let running = self.runner.resume(run).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::WentOn { ledger, folder })
    }

    /// Runs the plan of a stored run again, in a folder of its own.
    pub(super) fn replay(&mut self, run: Replayable) -> Result<Input, String> {
        self.make_way()?;
        let Replayable { plan, recipe, baseline, remark } = run;
        let running = self.runner.start(plan.clone(), &recipe).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::Replaying { plan: Box::new(plan), folder, baseline, remark })
    }
}
