//! Commands about the view of the chart; nothing else changes.

use std::borrow::Cow;

use super::{Allowed, Hint, in_session, only_if};
use crate::tui::chart::{Look, PAN_STEP, ZOOM_STEP, numbers};
use crate::tui::focus::Focus;
use crate::tui::session::{ChartView, Session};
use crate::tui::state::State;

rows! {
    CURSOR = ("cursor", 1,
        "show or hide the chart's cursor; the arrow keys move it along and between lines") {
        "cursor" "v": is_there => |state| toggle(state, |view| view.cursor, Session::toggle_cursor)
    }
    FULL = ("full", 1,
        "give the chart the whole screen, with all its panels if they fit; Esc goes back",
        |state| {
            let full = state.focus == Focus::Chart && view(state).is_some_and(|view| view.full);
            if full { Hint::First("leave full") } else { Hint::Usual }
        }) {
        "full-screen" "z": is_there => |state| toggle(state, |view| view.full, Session::toggle_full)
    }
    SIDEWAYS = ("along", 0, "move the cursor along its line; without a cursor, move the shown part left or right") {
        "left" "h Left": may_go_sideways => |state| change(state, |session| session.sideways(-1)),
        "right" "l Right": may_go_sideways => |state| change(state, |session| session.sideways(1))
    }
    ZOOM = ("zoom", 2, "zoom in or out around the cursor; the heavy part of an axis is the part in view") {
        "zoom-in" "+ =": is_there => |state| change(state, |session| session.zoom(ZOOM_STEP)),
        "zoom-out" "-": zoomed => |state| change(state, |session| session.zoom(1.0 / ZOOM_STEP))
    }
    ALL = ("all", 1, "show the whole chart again") {
        "zoom-reset" "0": zoomed => |state| change(state, Session::show_all)
    }
    SCALES = ("scale", 2, "change the scale of the y axis, or of the x axis: linear, log2, log10") {
        "scale-y" "a": is_there => |state| ask(state, Session::next_scale_of_y),
        "scale-x" "A": is_there => |state| ask(state, Session::next_scale_of_x)
    }
    LINES = ("hide", 2, "hide or show the line with this number in the legend",
        |state| Hint::Range(state.session.as_ref().map_or(0, |session| numbers::in_legend(session.chart()).len().min(9)))) {
        "line-1" "1": |state| has_line(state, 1) => |state| change(state, |session| session.toggle_line(1)),
        "line-2" "2": |state| has_line(state, 2) => |state| change(state, |session| session.toggle_line(2)),
        "line-3" "3": |state| has_line(state, 3) => |state| change(state, |session| session.toggle_line(3)),
        "line-4" "4": |state| has_line(state, 4) => |state| change(state, |session| session.toggle_line(4)),
        "line-5" "5": |state| has_line(state, 5) => |state| change(state, |session| session.toggle_line(5)),
        "line-6" "6": |state| has_line(state, 6) => |state| change(state, |session| session.toggle_line(6)),
        "line-7" "7": |state| has_line(state, 7) => |state| change(state, |session| session.toggle_line(7)),
        "line-8" "8": |state| has_line(state, 8) => |state| change(state, |session| session.toggle_line(8)),
        "line-9" "9": |state| has_line(state, 9) => |state| change(state, |session| session.toggle_line(9))
    }
    OPTIONS = ("chart of", 2,
        "change the quantity on y, the parameters of x and lines, or the parameters of panels; shows the line that \
         keeps this chart in the recipe") {
        "next-quantity" "u": is_there => |state| ask(state, Session::next_quantity),
        "turn-axes" "t": is_there => |state| ask(state, Session::turn_axes),
        "next-panels" "T": is_there => |state| ask(state, Session::next_panels)
    }
    CEILING = ("ceiling", 1, "change the ceiling above the points: none, a copy's rate, the speed of light") {
        "next-ceiling" "U": is_there => |state| ask(state, Session::next_ceiling)
    }
    ROOFLINE = ("roofline", 0,
        "show the cases by the bytes that they move, below the rates of memory, caches and random accesses") {
        "roofline" "V": is_there => |state| change(state, Session::toggle_roofline)
    }
    BASELINE = ("baseline", 1,
        "show or hide a baseline behind this run: the previous run, or the recipe's newest stored one",
        |state| match view(state).and_then(ChartView::overlay) {
            Some(_) => Hint::As("hide baseline"),
            None => Hint::Usual,
        }) {
        "run-before" "o": |state| {
            let view = &there(state)?.view;
            let lays = view.overlay().is_some() || view.baseline.is_some();
            only_if(lays, "there is no other run of this recipe to show behind it")
        } => |state| ask(state, Session::toggle_baseline)
    }
    DIFFERENCES = ("differences", 1,
        "show or hide the differences from the baseline, or from the model",
        |state| match view(state) {
            Some(view) if view.differences => Hint::As("hide differences"),
            _ => Hint::Usual,
        }) {
        "differences" "d": |state| {
            let compares = there(state)?.view.overlay().is_some() || there(state)?.predicts();
            only_if(compares, "nothing to compare with: no other run is shown behind this one, and no model predicts \
                               it")
        } => |state| change(state, |session| session.view.differences = !session.view.differences)
    }
    PAN = ("pan", 0, "move the shown part of a zoomed chart left, down, up or right") {
        "pan-left" "H": zoomed => |state| change(state, |session| session.pan(-PAN_STEP, 0.0)),
        "pan-down" "J": zoomed => |state| change(state, |session| session.pan(0.0, -PAN_STEP)),
        "pan-up" "K": zoomed => |state| change(state, |session| session.pan(0.0, PAN_STEP)),
        "pan-right" "L": zoomed => |state| change(state, |session| session.pan(PAN_STEP, 0.0))
    }
    BARS = ("bars", 1,
        "change the bars around points: the recipe's (p5 to p95), 95 % interval, smallest to largest sample, none") {
        "bars" "i": is_there => |state| ask(state, Session::next_bars)
    }
    DOTS = ("dots", 0, "draw lines in braille dots, half blocks or full stops, depending on what the font has") {
        "dots" "b": is_there => |state| change(state, |session| session.view.canvas = session.view.canvas.next())
    }
}

fn view(state: &State) -> Option<&ChartView> {
    state.session.as_ref().map(|session| &session.view)
}

/// The run whose chart is on screen.
fn there(state: &State) -> Result<&Session, Cow<'static, str>> {
    let session = state.session.as_ref().ok_or("there is no chart here")?;
    if state.focus.is_apart() { Err(WHOLE.into()) } else { Ok(session) }
}

fn is_there(state: &State) -> Allowed {
    there(state).map(drop)
}

const WHOLE: &str = "the whole chart is shown";

fn has_line(state: &State, number: usize) -> Allowed {
    let session = there(state)?;
    let own = session.view.overlay().map_or(0, |overlay| overlay.own_lines().count());
    only_if(number <= numbers::numbered(session.chart()).len() + own, format!("there is no line {number}"))
}

fn zoomed(state: &State) -> Allowed {
    let session = there(state)?;
    let Look { x_part, y_part, .. } = session.view.look(session.experiment());
    only_if(x_part.is_some() || y_part.is_some(), WHOLE)
}

fn may_go_sideways(state: &State) -> Allowed {
    if there(state)?.view.cursor { Ok(()) } else { zoomed(state) }
}

/// Changes the view, and tells what is to be said about it.
fn ask(state: &mut State, change: impl FnOnce(&mut Session) -> Option<String>) {
    state.focus = Focus::Chart;
    if let Some(session) = &mut state.session {
        state.notice = change(session);
        session.view.changed();
    }
}

fn change(state: &mut State, change: impl FnOnce(&mut Session)) {
    ask(state, |session| {
        change(session);
        None
    });
}

/// Switches a setting. From another panel, one that is on already is only focused, not switched off.
fn toggle(state: &mut State, on: fn(&ChartView) -> bool, switch: fn(&mut Session)) {
    let only_focused = state.focus != Focus::Chart && view(state).is_some_and(on);
    change(state, |session| {
        if !only_focused {
            switch(session);
        }
    });
}

/// Removes the cursor or leaves full screen, if the chart has the focus and either is active.
pub fn leave(state: &mut State) -> bool {
    let own = view(state).filter(|_| state.focus == Focus::Chart);
    let Some(view) = own.filter(|view| view.cursor || view.full) else { return false };
    change(state, if view.cursor { Session::toggle_cursor } else { Session::toggle_full });
    true
}

/// Moves the cursor if there is one, by one from line to line and by more along its line; else the selection.
pub fn step(state: &mut State, by: isize) {
    in_session(state, |session| match (session.view.cursor, by) {
        (true, -1 | 1) => session.move_cursor(by, 0),
        (true, _) => session.move_cursor(0, by),
        (false, _) => session.step(by),
    });
}
