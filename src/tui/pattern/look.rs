//! Requests about the pattern of a case: the lines that it touches, or its sparse matrix.

use ratatui::crossterm::event::KeyCode;

use super::PatternView;
use super::question::{Pattern, Question};
use crate::case::units::escaped;
use crate::inputs::locality::LINE_SIZES;
use crate::primitives::{self, Primitive};
use crate::recipe::plan::Plan;
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::panel::Focus;
use crate::tui::runs::{self, Job};
use crate::tui::state::State;
use crate::tui::update::Effect;
use crate::tui::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Show the pattern of the selected case.
    Show,
    Left,
    Right,
    /// Show the previous or next case.
    Previous,
    Next,
    /// Switch to another line size.
    Length,
    /// Switch between whole lines and their sectors.
    Sectors,
    /// Switch to the other side of a case that gathers and scatters.
    Side,
}

impl Look {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Look::Show => "pattern",
            Look::Left => "pattern-left",
            Look::Right => "pattern-right",
            Look::Previous => "previous-pattern",
            Look::Next => "next-pattern",
            Look::Length => "line-length",
            Look::Sectors => "sectors",
            Look::Side => "other-side",
        }
    }
}

/// Available on a recipe, or on a case of a run.
pub const SHOW: Command = Command {
    bindings: &[(char('p'), Action::Pattern(Look::Show))],
    hinted: 1,
    name: "pattern",
    help: "the cache lines and sectors that the first iterations touch, or where a sparse matrix has entries",
};

/// [`SHOW`] without a hint, because a run needs the row of hints.
pub const SHOW_ASIDE: Command = Command { hinted: 0, ..SHOW };

pub const COMMANDS: &[Command] = &[
    command::MOVE,
    Command {
        bindings: &[
            (char('h'), Action::Pattern(Look::Left)),
            (char('l'), Action::Pattern(Look::Right)),
            (key(KeyCode::Left), Action::Pattern(Look::Left)),
            (key(KeyCode::Right), Action::Pattern(Look::Right)),
        ],
        hinted: 2,
        name: "left/right",
        help: "to lower or higher lines",
    },
    Command {
        bindings: &[(char('['), Action::Pattern(Look::Previous)), (char(']'), Action::Pattern(Look::Next))],
        hinted: 2,
        name: "case",
        help: "the previous or next case with indices or a sparse matrix",
    },
    Command {
        bindings: &[(char('b'), Action::Pattern(Look::Length))],
        hinted: 1,
        name: "64/128 B",
        help: "lines of 128 bytes, as on GPUs, or of 64, as on processors",
    },
    Command {
        bindings: &[(char('s'), Action::Pattern(Look::Sectors))],
        hinted: 1,
        name: "sectors",
        help: "lines by their sectors of 32 bytes, or whole",
    },
    Command {
        bindings: &[(char('t'), Action::Pattern(Look::Side))],
        hinted: 1,
        name: "other side",
        help: "the gathering or the scattering side of a case that does both",
    },
    command::PAGES,
    command::ENDS,
];

/// Whether the request is possible now.
pub fn allows(state: &State, look: Look) -> bool {
    let view = state.pattern.as_ref().filter(|_| state.focus == Focus::Pattern);
    match look {
        Look::Show => selected(state).is_some(),
        Look::Previous => view.is_some_and(|view| neighbour(state, view.pattern.at, false).is_some()),
        Look::Next => view.is_some_and(|view| neighbour(state, view.pattern.at, true).is_some()),
        Look::Side => view.is_some_and(|view| view.pattern.sides().len() > 1),
        _ => view.is_some_and(PatternView::scrolls),
    }
}

pub fn apply(state: &mut State, look: Look) -> Option<Effect> {
    let view = state.pattern.as_mut().filter(|_| state.focus == Focus::Pattern);
    match (look, view) {
        (Look::Show, _) => return ask(state, selected(state)?),
        (Look::Previous, Some(view)) => {
            let at = view.pattern.at;
            return ask(state, neighbour(state, at, false)?);
        }
        (Look::Next, Some(view)) => {
            let at = view.pattern.at;
            return ask(state, neighbour(state, at, true)?);
        }
        (Look::Left, Some(view)) => view.shift(-1),
        (Look::Right, Some(view)) => view.shift(1),
        (Look::Sectors, Some(view)) => view.whole = !view.whole,
        (Look::Length, Some(view)) => {
            (view.line, view.column) = ((view.line + 1) % LINE_SIZES.len(), 0);
        }
        (Look::Side, Some(view)) => {
            (view.side, view.row, view.column) = ((view.side + 1) % view.pattern.sides().len().max(1), 0, 0);
        }
        _ => {}
    }
    None
}

/// Whether the cases belong to the run rather than to a recipe.
fn of_run(state: &State) -> bool {
    let focus = match (state.focus, &state.pattern) {
        (Focus::Pattern, Some(view)) => view.back,
        (focus, _) => focus,
    };
    state.session.is_some() && focus.is_run()
}

/// The plan whose cases are shown.
fn plan(state: &State) -> Option<&Plan> {
    match of_run(state) {
        true => Some(state.session.as_ref()?.ledger.plan()),
        false => state.recipes.plan()?.as_deref().ok(),
    }
}

/// Whether there is anything to show of a case.
fn has_pattern(plan: &Plan, at: usize) -> bool {
    let primitive = plan.cases.get(at).and_then(|case| primitives::find(&case.primitive));
    primitive.is_some_and(|primitive| primitive.has_walks() || primitive.has_matrix())
}

/// The selected case of the run, or the recipe's first case with a pattern.
fn selected(state: &State) -> Option<usize> {
    let plan = plan(state)?;
    let mut all = 0..plan.cases.len();
    match (state.focus, of_run(state)) {
        (Focus::Pattern, _) => None,
        (_, true) => state.session.as_ref().map(|s| s.selected).filter(|at| has_pattern(plan, *at)),
        (_, false) => all.find(|at| has_pattern(plan, *at)),
    }
}

fn neighbour(state: &State, at: usize, forward: bool) -> Option<usize> {
    let plan = plan(state)?;
    let wanted = |at: &usize| has_pattern(plan, *at);
    if forward { (at + 1..plan.cases.len()).find(wanted) } else { (0..at).rev().find(wanted) }
}

/// Generating indices or a matrix takes a core, so it waits while something is timed.
fn ask(state: &mut State, at: usize) -> Option<Effect> {
    if state.measuring() {
        state.notice = Some("a run is active: patterns are made when it is over".to_owned());
        return None;
    }
    let plan = plan(state)?;
    let case = plan.cases.get(at)?.clone();
    let experiment = plan.experiments.get(case.experiment);
    let name = experiment.map_or_else(|| case.primitive.clone(), |e| words::swept_values(e, &case));
    let named = name == case.primitive;
    let name = escaped(&if named { name } else { format!("{} {name}", case.primitive) });
    // Large matrices take a second or two.
    let slow = primitives::find(&case.primitive).is_some_and(Primitive::has_matrix);
    let question = Question { at, name, case, files: plan.indices.clone() };
    state.notice = slow.then(|| "looking at the matrix …".to_owned());
    Some(Effect::Request(state.runs.ticket_for(runs::Awaited::Touching), Job::Touch(Box::new(question))))
}

/// Shows the result, with the settings of the previous view.
pub fn show(state: &mut State, pattern: Pattern) {
    let before = state.pattern.as_ref();
    // A GPU's lines have 128 bytes, a processor's 64; from case to case the view stays as it is.
    let stays = before.filter(|_| state.focus == Focus::Pattern).map(|view| view.line);
    let gpu =
        plan(state).and_then(|plan| plan.cases.get(pattern.at)).is_some_and(|case| case.place().0 == "cuda");
    let line = stays.unwrap_or(usize::from(gpu));
    let whole = before.is_some_and(|view| view.whole);
    let back = before.map(|view| view.back).filter(|_| state.focus == Focus::Pattern);
    let back = back.unwrap_or(state.focus);
    state.notice = None;
    state.pattern = Some(PatternView { pattern, side: 0, line, whole, row: 0, column: 0, back });
    state.focus = Focus::Pattern;
}
