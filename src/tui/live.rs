//! Live pictures: what the shown case computes, between its samples, or as a stored run has kept it.

use std::collections::BTreeMap;
use std::sync::Arc;

use ratatui::layout::Rect;

use super::command::{self, Action, Command, char};
use super::panel::{self, Focus};
use super::session::{Phase, Session};
use super::state::{Mode, State};
use super::update::Effect;
use crate::case::Snapshot;
use crate::engine::protocol::Pictures as Wanted;
use crate::inputs::mix::mix64;
use crate::run::runner::Control;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Show the pictures, or go back.
    Show,
    /// Drop a stone at a random place.
    Stone,
    /// Drop a stone in the centre.
    StoneInCentre,
}

impl Request {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Request::Show => "live-picture",
            Request::Stone => "drop-stone",
            Request::StoneInCentre => "drop-stone-in-centre",
        }
    }
}

/// Available wherever a run is on screen.
pub const SHOW: Command = Command {
    bindings: &[(char('I'), Action::Live(Request::Show))],
    hinted: 1,
    name: "image",
    help: "what the selected case computes, as a picture between its samples: a field, or a curve; again: go back",
};

pub const COMMANDS: &[Command] = &[
    Command {
        bindings: &[
            (char('d'), Action::Live(Request::Stone)),
            (char('c'), Action::Live(Request::StoneInCentre)),
        ],
        hinted: 2,
        name: "stone",
        help: "drop a stone at a random place of the field, or in its centre, after the current sample",
    },
    command::MOVE,
    command::FOLLOW,
    command::ENDS,
    command::PAGES,
];

/// The newest picture of a case.
#[derive(Clone, Debug)]
pub struct Shown {
    pub picture: Arc<Snapshot>,
    /// The round in which it was taken, from 0.
    pub round: u32,
    /// The least and the greatest value of all pictures of the case so far, so that colours keep their meaning.
    pub range: Option<[f64; 2]>,
}

/// The newest pictures of a run's cases, by their position in the plan.
#[derive(Clone, Debug, Default)]
pub struct Pictures(BTreeMap<usize, Shown>);

impl Pictures {
    /// Takes the next picture of a case.
    pub fn take(&mut self, case: usize, round: u32, picture: Snapshot) {
        let before = self.0.get(&case).and_then(|shown| shown.range);
        let range = [before, range(&picture)].into_iter().flatten().reduce(joined);
        self.0.insert(case, Shown { picture: Arc::new(picture), round, range });
    }

    pub fn of(&self, case: usize) -> Option<&Shown> {
        self.0.get(&case)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn joined([low, high]: [f64; 2], [lower, higher]: [f64; 2]) -> [f64; 2] {
    [low.min(lower), high.max(higher)]
}

fn range(picture: &Snapshot) -> Option<[f64; 2]> {
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        values.filter(|value| value.is_finite()).map(|value| [value; 2]).reduce(joined)
    };
    match picture {
        Snapshot::Curve { values, .. } => ends(&mut values.iter().copied()),
        Snapshot::Field { values, .. } => ends(&mut values.iter().map(|value| f64::from(*value))),
    }
}

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Request) -> bool {
    match ask {
        Request::Show => {
            state.focus == Focus::Live || state.session.as_ref().is_some_and(Session::has_pictures)
        }
        Request::Stone | Request::StoneInCentre => {
            state.focus == Focus::Live && why_no_stone(state).is_none()
        }
    }
}

/// Why no stone can be dropped, if that is so.
pub fn why_no_stone(state: &State) -> Option<&'static str> {
    let shown = state.session.as_ref()?;
    let field = shown.pictures.of(shown.selected);
    let run = state.run()?;
    Some(match field.map(|shown| &*shown.picture) {
        _ if run.mode != Mode::Run => "a stored run is read-only",
        _ if run.phase != Phase::Running => "nothing is being measured",
        Some(Snapshot::Field { .. }) if run.current.is_some_and(|now| now.case == shown.selected) => {
            return None;
        }
        Some(Snapshot::Field { .. }) => "this case is not being measured now",
        Some(Snapshot::Curve { .. }) => "a curve has no place for a stone",
        None => "there is no picture of this case",
    })
}

/// Carries out a request.
pub fn apply(state: &mut State, ask: Request) -> Option<Effect> {
    if !allows(state, ask) {
        return None;
    }
    match ask {
        Request::Show if state.focus == Focus::Live => {
            state.focus = Focus::Cases;
            None
        }
        Request::Show => {
            state.focus = Focus::Live;
            None
        }
        Request::Stone => {
            let word = mix64(state.now.as_nanos() as u64);
            let share = |bits: u64| (bits & 0xFFFF) as f64 / 65_536.0;
            drop_at(state, [share(word), share(word >> 16)])
        }
        Request::StoneInCentre => drop_at(state, [0.5, 0.5]),
    }
}

/// Drops a stone at this place of the picture, in [0, 1)².
pub fn drop_at(state: &mut State, at: [f64; 2]) -> Option<Effect> {
    if let Some(why) = why_no_stone(state) {
        state.notice = Some(why.to_owned());
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
    changed.then(|| Effect::Send(Control::Show(if looks { Wanted::Live } else { Wanted::Few })))
}

/// A click on the field drops a stone there.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) -> Option<Effect> {
    let shown = state.session.as_ref().and_then(|session| session.pictures.of(session.selected))?;
    let Snapshot::Field { columns, rows, .. } = &*shown.picture else { return None };
    let at = panel::live::place(*columns, *rows, area, at)?;
    drop_at(state, at)
}
