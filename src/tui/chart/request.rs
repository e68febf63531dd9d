//! Requests about the chart, each bound to a key.

/// A request about the chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
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
    /// Draw the next quantity on y.
    Quantity,
    /// Give the roles x, lines and panels to other swept parameters.
    Axes,
    /// Make panels of one more parameter.
    Panels,
    /// Draw the next ceiling.
    Ceiling,
    /// Draw the cases under the machine's roofs, or by their parameters again.
    Roofline,
    /// Hide or show the line with this number, counted from 1.
    Line(usize),
    /// Lay the previous run under this one, or remove the run that lies there.
    Before,
    /// Show or hide the pane of differences.
    Differences,
}

impl Request {
    /// Name in the configuration. Stable: configuration files depend on it.
    pub fn name(self) -> &'static str {
        match self {
            Request::Cursor => "cursor",
            Request::Full => "full-screen",
            Request::Left => "left",
            Request::Right => "right",
            Request::ZoomIn => "zoom-in",
            Request::ZoomOut => "zoom-out",
            Request::ZoomReset => "zoom-reset",
            Request::PanLeft => "pan-left",
            Request::PanRight => "pan-right",
            Request::PanUp => "pan-up",
            Request::PanDown => "pan-down",
            Request::ScaleX => "scale-x",
            Request::ScaleY => "scale-y",
            Request::Bars => "bars",
            Request::Canvas => "dots",
            Request::Quantity => "next-quantity",
            Request::Axes => "turn-axes",
            Request::Panels => "next-panels",
            Request::Ceiling => "next-ceiling",
            Request::Roofline => "roofline",
            Request::Line(number) => LINE_NAMES[(number.max(1) - 1) % LINE_NAMES.len()],
            Request::Before => "run-before",
            Request::Differences => "differences",
        }
    }
}

/// Names of the keys that hide lines.
const LINE_NAMES: [&str; 9] =
    ["line-1", "line-2", "line-3", "line-4", "line-5", "line-6", "line-7", "line-8", "line-9"];
