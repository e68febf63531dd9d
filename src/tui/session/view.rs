//! The view of a run's charts, and the picture that was drawn of it.

use std::sync::Arc;

use ratatui::layout::Rect;

use crate::recipe::plan::Plan;
use crate::report::series::ChartData;
use crate::tui::chart::overlay::Baseline;
use crate::tui::chart::overlay::{Overlay, Place};
use crate::tui::chart::{Bars, Canvas, Look};
use crate::tui::plot::{Picture, Plot};
use crate::tui::theme::Theme;

/// Cache key: a picture stays valid while its key is unchanged.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    area: Rect,
    theme: Theme,
    panel: usize,
    experiment: usize,
    revision: u64,
}

/// View settings of a run's charts.
#[derive(Clone, Debug)]
pub struct ChartView {
    /// Whether the arrow keys move a cursor from point to point.
    pub cursor: bool,
    /// Whether the chart fills the screen.
    pub full: bool,
    pub bars: Bars,
    pub canvas: Canvas,
    /// Whether a pane shows the differences to the overlay or to a model's prediction.
    pub differences: bool,
    /// Whether experiments are drawn as rooflines.
    pub roofline: bool,
    /// Indexed by experiment.
    looks: Vec<Look>,
    /// Results that the measured points are compared with.
    overlay: Option<Overlay>,
    /// A run that can be laid under the chart.
    pub baseline: Option<Arc<Baseline>>,
    /// Incremented on every change that affects the picture.
    revision: u64,
    picture: Option<(Key, Picture)>,
}

/// A chart's data, and the experiment and panel to show.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub data: &'a ChartData,
    pub experiment: usize,
    pub panel: usize,
}

impl ChartView {
    /// View settings for a run with this number of experiments.
    pub fn new(experiments: usize) -> ChartView {
        ChartView {
            cursor: false,
            full: false,
            bars: Bars::Chart,
            canvas: Canvas::Braille,
            differences: true,
            roofline: false,
            looks: vec![Look::default(); experiments.max(1)],
            overlay: None,
            baseline: None,
            revision: 0,
            picture: None,
        }
    }

    /// Keeps the settings that suit the terminal from one run to the next.
    pub fn keep_from(&mut self, before: &ChartView) {
        (self.bars, self.canvas) = (before.bars, before.canvas);
    }

    pub fn look(&self, experiment: usize) -> &Look {
        &self.looks[experiment.min(self.looks.len() - 1)]
    }

    pub fn look_mut(&mut self, experiment: usize) -> &mut Look {
        self.changed();
        let last = self.looks.len() - 1;
        &mut self.looks[experiment.min(last)]
    }

    /// Results that the measured points are compared with, if there are any.
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref()
    }

    pub fn set_overlay(&mut self, overlay: Option<Overlay>) {
        self.overlay = overlay;
        self.changed();
    }

    /// Switches the overlay to another chart.
    pub fn follow(&mut self, plan: &Plan, place: Place) {
        if let Some(overlay) = &mut self.overlay {
            overlay.show(plan, place);
        }
        self.changed();
    }

    /// Marks the picture as outdated.
    pub fn changed(&mut self) {
        self.revision += 1;
    }

    /// The plot that draws this chart.
    pub fn plot<'a>(&'a self, shown: Shown<'a>, theme: Theme) -> Plot<'a> {
        Plot {
            data: shown.data,
            panel: shown.panel,
            look: self.look(shown.experiment),
            bars: self.bars,
            canvas: if theme.utf8 { self.canvas } else { Canvas::Ascii },
            // A roofline has another x than the runs that are laid under it.
            overlay: self.overlay.as_ref().filter(|_| !shown.data.roofline),
            differences: self.differences && !shown.data.roofline,
            every_panel: self.full,
            read_out: self.cursor,
            theme,
        }
    }

    /// The cached picture for this area, if it is up to date.
    pub fn picture(&self, shown: Shown, theme: Theme, area: Rect) -> Option<&Picture> {
        let key = self.key(shown, theme, area);
        self.picture.as_ref().filter(|(of, _)| *of == key).map(|(_, picture)| picture)
    }

    /// Draws the picture unless it is cached.
    pub fn paint(&mut self, shown: Shown, theme: Theme, area: Rect) {
        if self.picture(shown, theme, area).is_none() {
            let picture = self.plot(shown, theme).picture(area);
            self.picture = Some((self.key(shown, theme, area), picture));
        }
    }

    fn key(&self, shown: Shown, theme: Theme, area: Rect) -> Key {
        let Shown { panel, experiment, .. } = shown;
        Key { area, theme, panel, experiment, revision: self.revision }
    }
}
