//! Going on with a run on disk.

use super::App;
use crate::run::Interrupted;
use crate::tui::home::scout::Scout;
use crate::tui::resume::Unfinished;
use crate::tui::runs::Desk;
use crate::tui::update::Input;

impl App {
    /// Goes on with a run in its own folder, which may have changed since it was looked at.
    pub(super) fn go_on(&mut self, run: &Unfinished) -> Result<Input, String> {
        if self.running.is_some() {
            return Err("the run before it still writes its files".to_owned());
        }
        self.scout.iter_mut().for_each(Scout::hush);
        self.desk.iter().for_each(Desk::stop);
        let mut interrupted = Interrupted::open(&run.folder).map_err(|error| format!("{error:#}"))?;
        run.case.into_iter().for_each(|case| interrupted.repeat(case));
        let ledger = interrupted.stored.ledger.clone();
        if ledger.is_complete() {
            return Err("the run is complete by now: nothing is left to measure".to_owned());
        }
        let running = self.runner.resume(interrupted).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::WentOn { ledger: Box::new(ledger), folder })
    }
}
