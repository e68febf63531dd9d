//! The view of a run: the selected case, the chart and its panels.

use std::sync::Arc;

use ratatui::layout::Rect;

use super::{Claimed, Session, Shown};
use crate::model::DeviceProfile;
use crate::recipe::plan::Chart;
use crate::report::claims::Outcome;
use crate::report::series::{ChartData, Panel, charted, roofline};
use crate::report::{Origin, claims};
use crate::run::{Record, Status};
use crate::tui::chart::numbers;
use crate::tui::chart::overlay::Baseline;
use crate::tui::chart::overlay::{Machine, Overlay, Place};
use crate::tui::theme::Theme;

impl Session {
    /// The chart of the shown experiment, as of the last [`refresh`](Self::refresh).
    pub fn chart(&self) -> &ChartData {
        &self.chart
    }

    /// Updates the chart from the ledger. Called once before a frame, however many messages have arrived.
    pub fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            let experiment = self.experiment();
            let (plan, records) = (self.ledger.plan(), self.ledger.records());
            let copies = self.ledger.references();
            self.chart = match self.view.roofline {
                true => roofline(plan, experiment, records, copies, self.ledger.profiles()),
                false => charted(plan, experiment, records, Some(copies)),
            };
            // The machine's description takes a look at each case.
            if self.view.overlay().is_some() {
                let place = self.place();
                self.view.follow(self.ledger.plan(), place);
            } else {
                self.view.changed();
            }
            // While a run goes on, the others are judged once they are shown.
            let all = if self.active() {
                experiment..experiment + 1
            } else {
                0..self.ledger.plan().experiments.len()
            };
            all.for_each(|experiment| self.judge(experiment));
        }
        if std::mem::take(&mut self.reveal) {
            self.reveal_selected();
        }
    }

    /// Judges the claims of papers that are about an experiment; while the run goes on, once another case of it is done.
    fn judge(&mut self, experiment: usize) {
        let (plan, records) = (self.ledger.plan(), self.ledger.records());
        let done = |record: &&Record| record.case.experiment == experiment && record.status == Status::Done;
        let done = records.iter().filter(done).count();
        if self.active() && self.judged.get(experiment) == Some(&done) {
            return;
        }
        let judged = match &self.environment {
            Some(environment) if done > 0 => {
                let devices = &self.machine.devices;
                let origin = Origin { plan, version: "", date: "", environment, devices };
                claims::of_experiment(&origin, records, self.ledger.references(), experiment)
            }
            _ => Vec::new(),
        };
        let claimed = judged.into_iter().filter_map(|(claim, verdict)| {
            let decided = |outcome: &&Outcome| !matches!(outcome, Outcome::NotApplicable(_));
            let outcomes = || verdict.parts().map(|(_, part)| &part.outcome);
            Some(Claimed {
                outcome: outcomes().find(decided).or_else(|| outcomes().next())?.clone(),
                outcomes: verdict.outcomes(),
                says: format!("{}: {}", claim.at, claim.says),
            })
        });
        let (claimed, experiments) = (claimed.collect(), plan.experiments.len());
        self.claims.resize_with(experiments.max(self.claims.len()), Vec::new);
        self.judged.resize(self.claims.len(), 0);
        (self.claims[experiment], self.judged[experiment]) = (claimed, done);
    }

    /// Makes the chart from the ledger again.
    pub fn remake(&mut self) {
        self.stale = true;
        self.refresh();
    }

    /// The chart of the shown experiment as its recipe has it.
    pub fn recipe_chart(&self) -> &Chart {
        &self.recipe_charts[self.experiment()]
    }

    /// Draws the shown experiment in another way from now on.
    pub fn draw(&mut self, chart: Chart) {
        let experiment = self.experiment();
        self.ledger.draw(experiment, chart);
        self.panel = 0;
        (self.stale, self.reveal) = (true, true);
        self.refresh();
    }

    /// The chart's data, with the experiment and the panel to show.
    pub fn shown(&self) -> Shown<'_> {
        let last = self.chart.panels.len().saturating_sub(1);
        Shown { data: &self.chart, experiment: self.experiment(), panel: self.panel.min(last) }
    }

    /// Makes sure that the chart's picture is cached.
    pub fn paint(&mut self, theme: Theme, area: Rect) {
        let last = self.chart.panels.len().saturating_sub(1);
        let (experiment, panel) = (self.experiment(), self.panel.min(last));
        self.view.paint(Shown { data: &self.chart, experiment, panel }, theme, area);
    }

    /// Lays another run under this one; returns the number of its values on the chart.
    ///
    /// # Errors
    /// Why it cannot be laid; what lay there is taken away.
    pub fn lay(&mut self, baseline: &Baseline) -> Result<usize, String> {
        self.refresh();
        let overlay = Overlay::new(baseline, self.ledger.plan(), self.place());
        let laid = match overlay.refusal() {
            Some(why) => Err(format!("{} cannot be overlaid: {why}", overlay.name)),
            None => Ok(overlay.matched()),
        };
        self.view.set_overlay(laid.is_ok().then_some(overlay));
        laid
    }

    /// The chart under which another run lies.
    fn place(&self) -> Place {
        let experiment = self.experiment();
        let chart = self.ledger.plan().experiments.get(experiment).map(|one| one.chart.clone());
        let cases = &self.ledger.plan().cases;
        let machine = self.environment.as_ref().map(|found| Machine::of(cases, found, &self.machine.devices));
        Place { experiment, chart, styles: numbers::end(&self.chart), machine }
    }

    /// Keeps the settings that suit the terminal, and chooses the results that can be laid under the new ones:
    /// those of the previous run if it has the same recipe, edited or not, else the newest stored ones of this recipe, else
    /// those of the previous run whatever its recipe.
    pub fn come_after(&mut self, before: Option<&Session>, stored: Option<Arc<Baseline>>) {
        before.iter().for_each(|before| self.view.keep_from(&before.view));
        let recipe = before.and_then(|before| before.recipe).filter(|recipe| Some(*recipe) == self.recipe);
        let before = before.map(|before| {
            let baseline = Baseline::new(&before.folder, &before.ledger);
            Arc::new(match &before.environment {
                Some(environment) => baseline.on(environment, &before.machine.devices),
                None => baseline,
            })
        });
        let before = before.filter(|before| before.is_measured());
        let hash = &self.ledger.plan().recipe_hash;
        let same = |of: &&Arc<Baseline>| recipe.is_some() || of.plan.recipe_hash == *hash;
        self.view.baseline = before.as_ref().filter(same).cloned().or(stored).or(before);
    }

    /// Predicts from profiles that were chosen after the run.
    pub fn learn(&mut self, profiles: &[DeviceProfile]) {
        self.ledger.learn(profiles);
        self.stale = true;
    }

    /// Removes the run that lies under this one.
    pub fn clear_baseline(&mut self) {
        self.view.set_overlay(None);
    }

    /// Shows the next or previous panel of the chart.
    pub fn step_panel(&mut self, by: isize) {
        let last = self.chart.panels.len().saturating_sub(1);
        self.go_to_panel(self.panel.min(last).saturating_add_signed(by).min(last));
    }

    /// Shows the panel that contains the selected case.
    pub fn reveal_selected(&mut self) {
        let holds = |panel: &Panel| panel.cases().any(|case| case == self.marked());
        if let Some(panel) = self.chart.panels.iter().position(holds) {
            self.panel = panel;
        }
    }

    /// Experiment of the selected case, whose chart is shown.
    pub fn experiment(&self) -> usize {
        self.ledger.records().get(self.selected).map_or(0, |r| r.case.experiment)
    }

    /// The selected case, or the better one that the chart draws in its place.
    pub fn marked(&self) -> usize {
        self.chart.drawn(self.selected)
    }

    /// Whether this case is the selected one.
    pub fn is_selected(&self, case: usize) -> bool {
        self.selected == case
    }

    /// Selects a case, and with it the experiment whose chart is shown.
    pub fn select(&mut self, case: usize) {
        let before = self.experiment();
        self.selected = case.min(self.ledger.records().len().saturating_sub(1));
        self.samples_scroll = 0;
        if self.experiment() != before {
            self.panel = 0;
            self.stale = true;
        }
    }

    /// Selects this case by hand, and shows its panel.
    pub fn pick(&mut self, case: usize) {
        self.choose(case);
        self.reveal = true;
    }

    /// Selects this case by hand: the selection no longer follows the running case.
    pub fn choose(&mut self, case: usize) {
        self.follow = false;
        self.select(case);
    }

    /// Selects the first case of the next or previous experiment.
    pub fn step_experiment(&mut self, by: isize) {
        let Some(wanted) = self.experiment().checked_add_signed(by) else { return };
        let first = self.ledger.records().iter().position(|r| r.case.experiment == wanted);
        if let Some(case) = first {
            self.follow = false;
            self.select(case);
        }
    }

    /// Moves the selection to the running case from now on.
    pub fn follow(&mut self) {
        self.follow = true;
        if let Some(current) = self.current {
            self.select(current.case);
        }
    }

    /// Scrolls the samples panel; the position is limited before it is drawn.
    pub fn scroll_samples(&mut self, by: isize) {
        self.samples_scroll = self.samples_scroll.saturating_add_signed(by);
    }

    /// Takes over the view of another session of the same run.
    pub fn look_as(&mut self, other: Session) {
        if !other.follow {
            self.choose(other.selected);
        }
        if self.experiment() == other.experiment() {
            self.panel = other.panel;
        }
        self.samples_scroll = other.samples_scroll;
        self.view = other.view;
        self.unfolded = other.unfolded;
        self.stale = true;
    }
}
