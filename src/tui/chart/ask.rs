//! Requests about the chart, each bound to a key.

/// A request about the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Show or hide the cursor on the selected case.
    Cursor,
    /// Enter or leave full screen.
    Full,
    /// Move along the line, or move the visible part to the left.
    Left,
    Right,
    ZoomIn,
    ZoomOut,
    /// Show the whole chart again.
    ZoomReset,
    PanLeft,
    PanRight,
    PanUp,
    PanDown,
    /// Select the next spacing of an axis.
    ScaleX,
    ScaleY,
    /// Select the next kind of error bars.
    Bars,
    /// Select the next kind of dots.
    Canvas,
    /// Hide or show the line with this number, counted from 1.
    Line(usize),
    /// Lay the previous run under this one, or remove the run that lies there.
    Before,
    /// Show or hide the pane of differences.
    Differences,
}

impl Ask {
    /// Name in the configuration. Stable: configuration files depend on it.
    pub fn name(self) -> &'static str {
        match self {
            Ask::Cursor => "cursor",
            Ask::Full => "full-screen",
            Ask::Left => "left",
            Ask::Right => "right",
            Ask::ZoomIn => "zoom-in",
            Ask::ZoomOut => "zoom-out",
            Ask::ZoomReset => "zoom-reset",
            Ask::PanLeft => "pan-left",
            Ask::PanRight => "pan-right",
            Ask::PanUp => "pan-up",
            Ask::PanDown => "pan-down",
            Ask::ScaleX => "scale-x",
            Ask::ScaleY => "scale-y",
            Ask::Bars => "bars",
            Ask::Canvas => "dots",
            Ask::Line(number) => LINE_NAMES[(number.max(1) - 1) % LINE_NAMES.len()],
            Ask::Before => "run-before",
            Ask::Differences => "differences",
        }
    }
}

/// Names of the keys that hide lines.
const LINE_NAMES: [&str; 9] =
    ["line-1", "line-2", "line-3", "line-4", "line-5", "line-6", "line-7", "line-8", "line-9"];
