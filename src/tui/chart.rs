//! What can be set about the view of a chart: scales, zoom, hidden lines, cursor, and the overlay behind them. Pure;
//! [`plot`](super::plot) draws the chart.

pub mod cursor;
mod laid;
pub mod numbers;
pub mod overlay;
pub mod scales;

use std::collections::BTreeSet;

use crate::report::scale::Spacing;
use crate::report::series::{BarKinds, MeasuredValue};

pub use scales::Scales;

/// One zoom step shows half or twice as much.
pub const ZOOM_STEP: f64 = 0.5;
/// One panning step, as a share of the visible part.
pub const PAN_STEP: f64 = 0.25;

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

    pub fn next(self) -> Bars {
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
    pub fn next(self) -> Canvas {
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
