//! The live chart of the shown experiment.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::Focus;
use crate::tui::calibration;
use crate::tui::chart::{Request, readout};
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::pattern;
use crate::tui::plot::Selection;
use crate::tui::runs::request;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::whatif;
use crate::tui::widgets::{self, below, heading};
use crate::tui::words;

/// One notch of the wheel zooms to this share of the visible part.
const NOTCH: f64 = 0.8;

pub const COMMANDS: &[Command] = &[
    command::MOVE,
    SIDEWAYS,
    ZOOM,
    Command {
        bindings: &[(char('0'), Action::Chart(Request::ZoomReset))],
        hinted: 1,
        name: "all",
        help: "show the whole chart again",
    },
    SCALES,
    LINES,
    OPTIONS,
    CEILING,
    Command {
        bindings: &[(char('V'), Action::Chart(Request::Roofline))],
        hinted: 0,
        name: "roofline",
        help: "the cases by the bytes that they move, under the rates of memory, caches and random accesses",
    },
    command::PANELS,
    command::EXPERIMENTS,
    command::FOLLOW,
    command::SKIP,
    command::AGAIN,
    calibration::CALIBRATE,
    request::EXPORT_ASIDE,
    request::REPLAY_ASIDE,
    request::COPY_ASIDE,
    pattern::SHOW_ASIDE,
    whatif::OPEN,
    Command {
        bindings: &[(char('o'), Action::Chart(Request::Before))],
        hinted: 1,
        name: "baseline",
        help: "lay the baseline under this run, or take it away: the run before, or the recipe's newest stored one",
    },
    Command {
        bindings: &[(char('d'), Action::Chart(Request::Differences))],
        hinted: 1,
        name: "differences",
        help: "show or hide how far the points are from the run under them, or from the model",
    },
    PAN,
    Command {
        bindings: &[(char('i'), Action::Chart(Request::Bars))],
        hinted: 1,
        name: "bars",
        help: "bars around points: those of the recipe (p5 to p95), 95 % interval, smallest to largest sample, none",
    },
    Command {
        bindings: &[(char('b'), Action::Chart(Request::Canvas))],
        hinted: 0,
        name: "dots",
        help: "draw lines in braille dots, half blocks or full stops, whichever the font has",
    },
    command::ENDS,
    command::PAGES,
];

const SIDEWAYS: Command = Command {
    bindings: &[
        (char('h'), Action::Chart(Request::Left)),
        (char('l'), Action::Chart(Request::Right)),
        (key(KeyCode::Left), Action::Chart(Request::Left)),
        (key(KeyCode::Right), Action::Chart(Request::Right)),
    ],
    hinted: 0,
    name: "along",
    help: "the cursor along its line; without one, the shown part to the left or right",
};

const ZOOM: Command = Command {
    bindings: &[
        (char('+'), Action::Chart(Request::ZoomIn)),
        (char('-'), Action::Chart(Request::ZoomOut)),
        (char('='), Action::Chart(Request::ZoomIn)),
    ],
    hinted: 2,
    name: "zoom",
    help: "zoom in or out around the cursor; a heavy axis shows which part is seen",
};

const SCALES: Command = Command {
    bindings: &[(char('a'), Action::Chart(Request::ScaleY)), (char('A'), Action::Chart(Request::ScaleX))],
    hinted: 2,
    name: "scale",
    help: "scale of the y axis, or of the x axis: linear, log2, log10",
};

const OPTIONS: Command = Command {
    bindings: &[
        (char('u'), Action::Chart(Request::Quantity)),
        (char('t'), Action::Chart(Request::Axes)),
        (char('T'), Action::Chart(Request::Panels)),
    ],
    hinted: 2,
    name: "chart of",
    help: "another quantity on y; other parameters as x and lines; panels of one more parameter. The line that keeps the chart in the recipe is shown",
};

const CEILING: Command = Command {
    bindings: &[(char('U'), Action::Chart(Request::Ceiling))],
    hinted: 1,
    name: "ceiling",
    help: "the ceiling over the points: none, a copy's rate, the speed of light",
};

const PAN: Command = Command {
    bindings: &[
        (char('H'), Action::Chart(Request::PanLeft)),
        (char('J'), Action::Chart(Request::PanDown)),
        (char('K'), Action::Chart(Request::PanUp)),
        (char('L'), Action::Chart(Request::PanRight)),
    ],
    hinted: 0,
    name: "pan",
    help: "the shown part of a zoomed chart to the left, down, up or right",
};

const LINES: Command = Command {
    bindings: &[
        (char('1'), Action::Chart(Request::Line(1))),
        (char('2'), Action::Chart(Request::Line(2))),
        (char('3'), Action::Chart(Request::Line(3))),
        (char('4'), Action::Chart(Request::Line(4))),
        (char('5'), Action::Chart(Request::Line(5))),
        (char('6'), Action::Chart(Request::Line(6))),
        (char('7'), Action::Chart(Request::Line(7))),
        (char('8'), Action::Chart(Request::Line(8))),
        (char('9'), Action::Chart(Request::Line(9))),
    ],
    hinted: 2,
    name: "hide",
    help: "hide or show the line with this number in the legend",
};

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let offer = calibration::offer(state);
    let inner = heading(&title(session, theme), state.focus == Focus::Chart, theme, area, buffer);
    if let Some(offer) = &offer {
        let text = words::fit(&format!(" no model: {offer}"), usize::from(area.width), theme);
        widgets::lines([Line::styled(text, theme.warning())], inner, buffer);
    }
    let area = plot_area(offer.is_some(), area);
    let read = session.view.cursor.then(|| read_out(session, theme, usize::from(area.width)));
    let selection = Selection { case: session.selected, cursor: read.as_deref() };
    let shown = session.shown();
    let plot = session.view.plot(shown, theme);
    match session.view.picture(shown, theme, area) {
        Some(picture) => plot.show(picture, selection, buffer),
        None => plot.show(&plot.picture(area), selection, buffer),
    }
}

/// Draws the part that does not depend on the selection, unless it is cached.
pub fn paint(session: &mut Session, offers: bool, theme: Theme, area: Rect) {
    session.paint(theme, plot_area(offers, area));
}

/// The area of the plot, below the heading and the row that says why there is no model.
fn plot_area(offers: bool, area: Rect) -> Rect {
    below(1 + u16::from(offers), area)
}

/// `cursor: passes 16 · 212 GB/s [205–219] …`, as much as fits.
fn read_out(session: &Session, theme: Theme, columns: usize) -> String {
    const NAME: &str = "cursor: ";
    let line = readout(session).in_line(columns.saturating_sub(NAME.len()), theme);
    format!("{NAME}{line}")
}

/// Puts the cursor on the point nearest to a cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let area = plot_area(calibration::offer(state).is_some(), area);
    let Some(session) = &mut state.session else { return };
    session.refresh();
    // Point positions do not depend on colours and symbols.
    let plot = session.view.plot(session.shown(), Theme::PLAIN);
    if let Some((panel, case)) = plot.nearest(area, at) {
        session.point_at(panel, case);
    }
}

/// Zooms around a cell of the screen; turning the wheel upwards zooms in.
pub fn wheel(state: &mut State, area: Rect, at: (u16, u16), by: isize) {
    let area = plot_area(calibration::offer(state).is_some(), area);
    let Some(session) = &mut state.session else { return };
    session.refresh();
    let plot = session.view.plot(session.shown(), Theme::PLAIN);
    let factor = if by < 0 { NOTCH } else { 1.0 / NOTCH };
    if let Some(place) = plot.share(area, at) {
        session.zoom_at(place, factor);
    }
}

/// The experiment's title, and its number among several experiments and panels.
fn title(session: &Session, theme: Theme) -> String {
    let chart = session.chart();
    let mut parts = vec![chart.title.clone()];
    parts.extend(chart.roofline.then(|| "roofline".to_owned()));
    let experiments = session.ledger.plan().experiments.len();
    if experiments > 1 {
        parts.push(format!("experiment {}/{experiments}", session.experiment() + 1));
    }
    let panels = chart.panels.len();
    let at = session.panel.min(panels.saturating_sub(1));
    if let Some(panel) = chart.panels.get(at).filter(|_| panels > 1) {
        parts.push(format!("panel {}/{panels}: {}", at + 1, panel.title));
    }
    if session.view.full {
        parts.push("Esc leaves full screen".to_owned());
    }
    parts.join(theme.separator())
}
