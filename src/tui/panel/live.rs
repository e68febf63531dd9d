//! The live picture of a case: a field as a map of heights in half blocks, braille dots or characters, a curve as an area
//! over its axes.

mod field;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::Focus;
use crate::case::Snapshot;
use crate::case::units::escaped;
use crate::tui::plot::curve;
use crate::tui::session::{Session, ShownPicture as Shown};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, below, heading};
use crate::tui::words;

/// The place in a field, in [0, 1)², of a cell of the panel in `area`; `None` beside the picture.
pub fn place(columns: u32, rows: u32, area: Rect, at: (u16, u16)) -> Option<[f64; 2]> {
    let room = below(2, area);
    field::place(columns, rows, room, at)
}

const NONE: &str = "No picture of this case so far. Pictures are taken between samples, for primitives that have any, \
                    and one per case is kept.";

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let title = title(session, theme);
    let area = heading(&title, state.focus == Focus::Live, theme, area, buffer);
    let Some(shown) = session.pictures.of(session.selected) else {
        return widgets::lines(paragraph(" ", NONE, area.width.into(), theme.dim()), area, buffer);
    };
    above(session, shown, theme, Rect { height: area.height.min(1), ..area }, buffer);
    let area = below(1, area);
    match &*shown.picture {
        Snapshot::Curve { x, spacing, values, .. } => {
            curve::draw(&escaped(x), *spacing, values, theme, area, buffer);
        }
        Snapshot::Field { columns, rows, values, .. } => {
            let field = field::Field { columns: *columns, rows: *rows, values, range: shown.range, theme };
            field.draw(area, buffer);
        }
    }
}

fn title(session: &Session, theme: Theme) -> String {
    let live = if session.active() { "Live" } else { "Picture" };
    let case = session.ledger.plan().cases.get(session.selected);
    let primitive = case.map(|case| case.primitive.as_str()).unwrap_or_default();
    let name = session.name(session.selected);
    let name = if name.is_empty() || name == primitive { String::new() } else { format!(" {name}") };
    escaped(&format!("{live}{}{primitive}{name}", theme.separator()))
}

/// What is shown, and of when.
fn above(session: &Session, shown: &Shown, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let (what, when) = match &*shown.picture {
        Snapshot::Curve { y, .. } => (y, String::new()),
        Snapshot::Field { what, when, .. } => (what, when.clone()),
    };
    let round = format!("round {}", shown.round + 1);
    let current = session.current.filter(|now| session.active() && now.case == session.selected);
    let doing = current.map_or("not measured now", |now| now.stage.doing());
    let doing = if session.active() { doing } else { "" };
    let columns = usize::from(area.width).saturating_sub(2);
    let (what, when) = (escaped(what), escaped(&when));
    let parts: Vec<&str> =
        [when.as_str(), &round, doing].into_iter().filter(|part| !part.is_empty()).collect();
    // As much of it as leaves room for the name.
    let rights = (0..=parts.len()).rev().map(|count| parts[..count].join(theme.separator()));
    let right = rights.into_iter().find(|right| words::width(&what) + words::width(right) + 2 <= columns);
    let text = words::apart(&what, &right.unwrap_or_default(), columns, theme);
    widgets::lines([Line::styled(format!(" {text}"), theme.dim())], area, buffer);
}
