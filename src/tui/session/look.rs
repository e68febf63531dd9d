//! What of a run is looked at: the selected case, the chart and its panels.

use ratatui::layout::Rect;

use super::Session;
use crate::report::series::{ChartData, Panel, charted};
use crate::run::Record;
use crate::tui::chart::Shown;
use crate::tui::chart::overlay::Overlay;
use crate::tui::theme::Theme;

impl Session {
    /// The chart of the shown experiment, as of the last [`refresh`](Self::refresh).
    pub fn chart(&self) -> &ChartData {
        &self.chart
    }

    /// Makes the chart agree with the ledger: once before a frame, however many
    /// messages have arrived since the last one.
    pub fn refresh(&mut self) {
        if std::mem::take(&mut self.stale) {
            let experiment = self.experiment();
            let (plan, records) = (self.ledger.plan(), self.ledger.records());
            self.chart = charted(plan, experiment, records, Some(self.ledger.references()));
            self.view.follow(experiment, self.ledger.plan());
        }
        if std::mem::take(&mut self.reveal) {
            self.reveal_selected();
        }
    }

    /// The chart with what says how to draw it.
    pub fn shown(&self) -> Shown<'_> {
        let last = self.chart.panels.len().saturating_sub(1);
        Shown { data: &self.chart, experiment: self.experiment(), panel: self.panel.min(last) }
    }

    /// Has the chart's picture at hand.
    pub fn paint(&mut self, theme: Theme, area: Rect) {
        let last = self.chart.panels.len().saturating_sub(1);
        let (experiment, panel) = (self.experiment(), self.panel.min(last));
        self.view.paint(Shown { data: &self.chart, experiment, panel }, theme, area);
    }

    /// Lays another run under this one; returns how many cases it has a value for.
    pub fn set_baseline(&mut self, name: &str, records: &[Record]) -> usize {
        self.refresh();
        let mut overlay = Overlay::new(name, self.ledger.plan(), records);
        overlay.show(self.ledger.plan(), self.experiment());
        let matched = overlay.matched();
        self.view.set_overlay(Some(overlay));
        matched
    }

    /// What suits the terminal stays, and the results can be laid under the new ones.
    pub fn come_after(&mut self, before: &Session) {
        self.view.keep_from(&before.view);
        let measured = before.ledger.records().iter().any(|r| r.statistics.is_some());
        let name = before.folder.file_name().map(|n| n.to_string_lossy().into_owned());
        self.view.before = name.filter(|_| measured).map(|name| (name, before.ledger.records().to_vec()));
    }

    /// Takes it away.
    pub fn clear_baseline(&mut self) {
        self.view.set_overlay(None);
    }

    /// Shows the next or previous of the chart's panels.
    pub fn step_panel(&mut self, by: isize) {
        let last = self.chart.panels.len().saturating_sub(1);
        self.go_to_panel(self.panel.min(last).saturating_add_signed(by).min(last));
    }

    /// Shows the panel that the selected case is on.
    pub fn reveal_selected(&mut self) {
        let holds = |panel: &Panel| panel.cases().any(|case| case == self.selected);
        if let Some(panel) = self.chart.panels.iter().position(holds) {
            self.panel = panel;
        }
    }

    /// Experiment of the selected case: the one whose chart is shown.
    pub fn experiment(&self) -> usize {
        self.ledger.records().get(self.selected).map_or(0, |r| r.case.experiment)
    }

    /// Whether this case is the selected one.
    pub fn is_selected(&self, case: usize) -> bool {
        self.selected == case
    }

    /// Selects a case, and with it the experiment on the chart.
    pub fn select(&mut self, case: usize) {
        let before = self.experiment();
        self.selected = case.min(self.ledger.records().len().saturating_sub(1));
        self.samples_scroll = 0;
        if self.experiment() != before {
            self.panel = 0;
            self.stale = true;
        }
    }

    /// Selects another case by hand, and shows the panel that it is on.
    pub fn step(&mut self, by: isize) {
        self.pick(self.selected.saturating_add_signed(by));
    }

    /// Selects this case by hand, and shows the panel that it is on.
    pub fn pick(&mut self, case: usize) {
        self.choose(case);
        self.reveal = true;
    }

    /// Selects this case by hand: the selection no longer follows the running one.
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

    /// Takes the selection to the running case from now on.
    pub fn follow(&mut self) {
        self.follow = true;
        if let Some(current) = self.current {
            self.select(current.case);
        }
    }

    /// Scrolls the samples panel; drawing it stops at its end.
    pub fn scroll_samples(&mut self, by: isize) {
        self.samples_scroll = self.samples_scroll.saturating_add_signed(by);
    }

    /// Shows what the other one showed, and how.
    pub fn look_as(&mut self, other: Session) {
        if !other.follow {
            self.choose(other.selected);
        }
        if self.experiment() == other.experiment() {
            self.panel = other.panel;
        }
        self.samples_scroll = other.samples_scroll;
        self.view = other.view;
        self.stale = true;
    }
}
