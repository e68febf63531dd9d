//! View settings of a run's charts: scales, zoom, hidden lines, cursor, and the overlay behind them. Pure;
//! [`plot`](super::plot) draws the chart.

mod apply;
pub mod baseline;
pub mod cursor;
mod options;
pub mod overlay;
mod readout;
mod request;
pub mod scales;

use std::collections::BTreeSet;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::plot::{Picture, Plot};
use super::theme::Theme;
use crate::report::scale::Spacing;
use crate::report::series::{BarKinds, ChartData, MeasuredValue};
use baseline::Baseline;
use overlay::Overlay;

pub use readout::readout;
pub use request::Request;
pub use scales::Scales;

/// Error bars around a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    Nothing,
    /// Those of the chart: percentiles, or the range of few samples.
    Chart,
    /// From the smallest to the largest sample.
    Extremes,
    /// The 95 % interval of the rounds' medians.
    Interval,
}

impl Bars {
    /// Label of the bars above the chart.
    pub fn word(self, of_chart: BarKinds) -> &'static str {
        match self {
            Bars::Nothing => "no bars",
            Bars::Chart => of_chart.short_words(),
            Bars::Extremes => "min-max bars",
            Bars::Interval => "95 % bars",
        }
    }

    fn next(self) -> Bars {
        match self {
            Bars::Chart => Bars::Interval,
            Bars::Interval => Bars::Extremes,
            Bars::Extremes => Bars::Nothing,
            Bars::Nothing => Bars::Chart,
        }
    }

    /// The ends of a value's bar.
    pub fn ends(self, value: &MeasuredValue) -> Option<[f64; 2]> {
        match self {
            Bars::Nothing => None,
            Bars::Chart => value.bar,
            Bars::Extremes => Some([value.y_min, value.y_max]),
            Bars::Interval => value.interval,
        }
    }
}

/// Characters that lines are drawn with; fonts differ in the characters they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canvas {
    /// Eight dots per cell.
    Braille,
    /// Two blocks per cell.
    HalfBlock,
    /// One full stop per cell; always used on a terminal without Unicode.
    Ascii,
}

impl Canvas {
    fn next(self) -> Canvas {
        match self {
            Canvas::Braille => Canvas::HalfBlock,
            Canvas::HalfBlock => Canvas::Ascii,
            Canvas::Ascii => Canvas::Braille,
        }
    }
}

/// View settings of one experiment's chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Spacing of an axis, if the user chose one.
    pub x: Option<Spacing>,
    pub y: Option<Spacing>,
    /// The visible part of an axis, in the units of [`AxisScale::ends`](crate::report::scale::AxisScale::ends);
    /// `None` for the whole axis.
    pub x_part: Option<(f64, f64)>,
    pub y_part: Option<(f64, f64)>,
    /// Styles of the hidden lines.
    pub hidden: BTreeSet<usize>,
}

impl Look {
    /// The default view.
    pub fn plain() -> &'static Look {
        static PLAIN: Look = Look { x: None, y: None, x_part: None, y_part: None, hidden: BTreeSet::new() };
        &PLAIN
    }

    pub fn shows(&self, style: usize) -> bool {
        !self.hidden.contains(&style)
    }
}

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

    fn look_mut(&mut self, experiment: usize) -> &mut Look {
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

    /// Switches the overlay to this experiment.
    pub fn follow(&mut self, experiment: usize, plan: &crate::recipe::plan::Plan) {
        if let Some(overlay) = &mut self.overlay {
            overlay.show(plan, experiment);
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

#[cfg(test)]
mod tests;
