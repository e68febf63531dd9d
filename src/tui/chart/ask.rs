//! What a person can ask of the chart, by key.

/// What a person can ask of the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Put the cursor on the selected case, or take it away.
    Cursor,
    /// Give the chart the whole screen, or take it back.
    Full,
    /// Along the line, or the shown part further to the left.
    Left,
    Right,
    ZoomIn,
    ZoomOut,
    /// Show everything again.
    ZoomReset,
    PanLeft,
    PanRight,
    PanUp,
    PanDown,
    /// The next spacing of an axis.
    ScaleX,
    ScaleY,
    /// The next kind of bars.
    Bars,
    /// The next kind of dots.
    Canvas,
    /// Hide or show the line with this number, counted from 1.
    Line(usize),
    /// Lay the run before under this one, or take away what lies there.
    Before,
    /// Show or hide the pane of differences.
    Differences,
}

impl Ask {
    /// Its name in the configuration. It stays, whatever becomes of the rest.
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
