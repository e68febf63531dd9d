//! How a person looks at the charts of a run: scales, zoom, hidden lines, cursor,
//! what is drawn behind. Pure; [`plot`](super::plot) draws it.

mod apply;
mod ask;
pub mod baseline;
pub mod cursor;
pub mod overlay;
mod readout;
pub mod scales;

use std::collections::BTreeSet;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::plot::{Picture, Plot};
use super::theme::Theme;
use crate::report::scale::Spacing;
use crate::report::series::ChartData;
use baseline::Baseline;
use overlay::Overlay;

pub use ask::Ask;
pub use readout::readout;
pub use scales::Scales;

/// What stands around a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bars {
    Nothing,
    /// From the smallest to the largest sample.
    Extremes,
    /// The 95 % interval of the rounds' medians.
    Interval,
}

impl Bars {
    /// Its name over the chart.
    pub fn word(self) -> &'static str {
        match self {
            Bars::Nothing => "no bars",
            Bars::Extremes => "min-max bars",
            Bars::Interval => "95 % bars",
        }
    }

    fn next(self) -> Bars {
        match self {
            Bars::Extremes => Bars::Interval,
            Bars::Interval => Bars::Nothing,
            Bars::Nothing => Bars::Extremes,
        }
    }
}

/// What lines are made of; fonts differ in what they have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Canvas {
    /// Eight dots a cell.
    Braille,
    /// Two blocks a cell.
    HalfBlock,
    /// One full stop a cell; always so on a terminal without Unicode.
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

/// How the chart of one experiment is looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Spacing of an axis where a person chose it.
    pub x: Option<Spacing>,
    pub y: Option<Spacing>,
    /// The part of an axis that is shown, in the terms of
    /// [`AxisScale::ends`](crate::report::scale::AxisScale::ends); `None` for all of it.
    pub x_part: Option<(f64, f64)>,
    pub y_part: Option<(f64, f64)>,
    /// Styles of the lines that are not drawn.
    pub hidden: BTreeSet<usize>,
}

impl Look {
    /// As the chart is without anybody's wishes.
    pub fn plain() -> &'static Look {
        static PLAIN: Look = Look { x: None, y: None, x_part: None, y_part: None, hidden: BTreeSet::new() };
        &PLAIN
    }

    pub fn shows(&self, style: usize) -> bool {
        !self.hidden.contains(&style)
    }
}

/// What a picture was made for; while it is the same, the picture is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Key {
    area: Rect,
    theme: Theme,
    panel: usize,
    experiment: usize,
    revision: u64,
}

/// How the charts of a run are looked at.
#[derive(Clone, Debug)]
pub struct ChartView {
    /// Whether the arrows move from point to point.
    pub cursor: bool,
    /// Whether the chart has the screen for itself.
    pub full: bool,
    pub bars: Bars,
    pub canvas: Canvas,
    /// Whether the differences to what lies behind, or to what a model predicts, have a pane.
    pub differences: bool,
    /// By experiment.
    looks: Vec<Look>,
    /// What the measured points are compared with.
    overlay: Option<Overlay>,
    /// What can be laid under the chart.
    pub baseline: Option<Arc<Baseline>>,
    /// Counts what changes the picture.
    revision: u64,
    picture: Option<(Key, Picture)>,
}

/// A chart with what says how to draw it.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    pub data: &'a ChartData,
    pub experiment: usize,
    pub panel: usize,
}

impl ChartView {
    /// For a run with so many experiments.
    pub fn new(experiments: usize) -> ChartView {
        ChartView {
            cursor: false,
            full: false,
            bars: Bars::Extremes,
            canvas: Canvas::Braille,
            differences: true,
            looks: vec![Look::default(); experiments.max(1)],
            overlay: None,
            baseline: None,
            revision: 0,
            picture: None,
        }
    }

    /// What suits the terminal stays from one run to the next.
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

    /// What the measured points are compared with, where there is such a thing.
    pub fn overlay(&self) -> Option<&Overlay> {
        self.overlay.as_ref()
    }

    pub fn set_overlay(&mut self, overlay: Option<Overlay>) {
        self.overlay = overlay;
        self.changed();
    }

    /// Lets the overlay be of this experiment.
    pub fn follow(&mut self, experiment: usize, plan: &crate::recipe::plan::Plan) {
        if let Some(overlay) = &mut self.overlay {
            overlay.show(plan, experiment);
        }
        self.changed();
    }

    /// The picture must be drawn anew.
    pub fn changed(&mut self) {
        self.revision += 1;
    }

    /// What draws this chart.
    pub fn plot<'a>(&'a self, shown: Shown<'a>, theme: Theme) -> Plot<'a> {
        Plot {
            data: shown.data,
            panel: shown.panel,
            look: self.look(shown.experiment),
            bars: self.bars,
            canvas: if theme.utf8 { self.canvas } else { Canvas::Ascii },
            overlay: self.overlay.as_ref(),
            differences: self.differences,
            every_panel: self.full,
            read_out: self.cursor,
            theme,
        }
    }

    /// The picture for this area, if it is at hand.
    pub fn picture(&self, shown: Shown, theme: Theme, area: Rect) -> Option<&Picture> {
        let key = self.key(shown, theme, area);
        self.picture.as_ref().filter(|(of, _)| *of == key).map(|(_, picture)| picture)
    }

    /// Makes the picture, unless it is at hand.
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
