//! Commands about live pictures: what the shown case computes, between its samples, or as a stored run has kept it.

use super::{Allowed, Effect, Hint, only_if};
use crate::case::Snapshot;
use crate::engine::protocol::Pictures;
use crate::inputs::mix::mix64;
use crate::run::runner::Control;
use crate::tui::focus::Focus;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::State;

rows! {
    /// Available wherever a run is on screen.
    SHOW = ("image", 1,
        "show what the selected case computes, as a picture between its samples (a field or a curve), or go back", |state| {
            // Most primitives have no pictures.
            let none = state.session.as_ref().is_none_or(|session| session.pictures.is_empty());
            if none || state.focus == Focus::Live { Hint::Never } else { Hint::Usual }
        }) {
        "live-picture" "I": |state| {
            let shows = state.focus == Focus::Live || state.session.as_ref().is_some_and(Session::has_pictures);
            only_if(shows, "there is no run, or nothing of it can be shown")
        } => |state| {
            state.focus = if state.focus == Focus::Live { Focus::Cases } else { Focus::Live }
        }
    }
    STONE = ("stone", 2,
        "drop a stone at a random place in the field, or in its centre, after the current sample") {
        "drop-stone" "d": may_drop => |state| {
            let word = mix64(state.now.as_nanos() as u64);
            let share = |bits: u64| (bits & 0xFFFF) as f64 / 65_536.0;
            drop_at(state, [share(word), share(word >> 16)])
        },
        "drop-stone-in-centre" "c": may_drop => |state| drop_at(state, [0.5, 0.5])
    }
}

/// Whether a stone can be dropped, or why not.
fn may_drop(state: &State) -> Allowed {
    let (Some(shown), Some(run)) = (&state.session, state.run()) else { return Err("".into()) };
    let field = shown.pictures.of(shown.selected);
    let why = match field.map(|shown| &*shown.picture) {
        _ if run.mode != Mode::Run => "a stored run is read-only",
        _ if run.phase != Phase::Running => "nothing is being measured",
        Some(Snapshot::Field { .. }) if run.current.is_some_and(|now| now.case == shown.selected) => {
            return Ok(());
        }
        Some(Snapshot::Field { .. }) => "this case is not being measured now",
        Some(Snapshot::Curve { .. }) => "a stone cannot be dropped on a curve",
        None => "there is no picture of this case",
    };
    Err(why.into())
}

/// Drops a stone at this place of the picture, in [0, 1)², or tells why it cannot.
pub fn drop_at(state: &mut State, at: [f64; 2]) -> Option<Effect> {
    if let Err(why) = may_drop(state) {
        state.notice = Some(why.into_owned());
        return None;
    }
    state.notice = Some(format!("a stone falls at ({:.2}, {:.2})", at[0], at[1]));
    Some(Effect::Send(Control::Disturb(at)))
}

/// Tells the engine when somebody begins or ends to look on.
pub fn wanted(state: &mut State) -> Option<Effect> {
    let looks = state.focus == Focus::Live;
    let run = state.run_mut().filter(|run| run.mode == Mode::Run && run.active())?;
    let changed = std::mem::replace(&mut run.looked_at, looks) != looks;
    changed.then(|| Effect::Send(Control::Show(if looks { Pictures::Live } else { Pictures::Few })))
}
