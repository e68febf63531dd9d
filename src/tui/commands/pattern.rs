//! Commands about the pattern of a case: the lines that it touches, or its sparse matrix.

use super::{Allowed, Effect, only_if};
use crate::case::units::escaped;
use crate::inputs::locality::LINE_SIZES;
use crate::primitives::{self, Primitive};
use crate::recipe::plan::Plan;
use crate::tui::focus::Focus;
use crate::tui::pattern::{Pattern, PatternView, Question};
use crate::tui::runs::{Awaited, Job};
use crate::tui::state::State;
use crate::tui::words;

rows! {
    SHOW = ("pattern", 1,
        "show the cache lines and sectors that the first iterations touch, or the entries of a sparse matrix") {
        "pattern" "p": |state| {
            only_if(selected(state).is_some(), "there are no indices and no sparse matrix to show")?;
            only_if(!state.measuring(), WAITS)
        } => |state| ask(state, selected(state)?)
    }
    SIDEWAYS = ("left/right", 2, "move to lower or higher lines") {
        "pattern-left" "h Left": |state| scrolls(state, WHOLE) => |state| change(state, |view| view.shift(-1)),
        "pattern-right" "l Right": |state| scrolls(state, WHOLE) => |state| change(state, |view| view.shift(1))
    }
    CASES = ("case", 2, "go to the previous or next case with indices or a sparse matrix") {
        "previous-pattern" "[": |state| may_leave(state, false)
            => |state| ask(state, neighbour(state, false)?),
        "next-pattern" "]": |state| may_leave(state, true)
            => |state| ask(state, neighbour(state, true)?)
    }
    LENGTH = ("64/128 B", 1, "show lines of 128 bytes, as on GPUs, or of 64 bytes, as on processors") {
        "line-length" "b": |state| scrolls(state, NO_LINES) => |state| change(state, |view| {
            (view.line, view.column) = ((view.line + 1) % LINE_SIZES.len(), 0);
        })
    }
    SECTORS = ("sectors", 1, "show lines as sectors of 32 bytes, or whole") {
        "sectors" "s": |state| scrolls(state, NO_LINES) => |state| change(state, |view| view.whole = !view.whole)
    }
    SIDE = ("other side", 1, "show the gathering or the scattering side of a case that has both") {
        "other-side" "t": |state| {
            only_if(view(state).is_some_and(|view| view.pattern.sides().len() > 1), "this case has only one side")
        } => |state| change(state, |view| {
            (view.side, view.row, view.column) = ((view.side + 1) % view.pattern.sides().len(), 0, 0);
        })
    }
}

const WHOLE: &str = "the matrix is shown whole";
const NO_LINES: &str = "a matrix is not drawn by lines";
/// Generating indices or a matrix takes a core, so it waits while something is timed.
const WAITS: &str = "a run is active: patterns can be made when it is over";
const LAST: &str = "no other case has indices or a sparse matrix";

fn view(state: &State) -> Option<&PatternView> {
    state.pattern.as_ref().filter(|_| state.focus == Focus::Pattern)
}

fn scrolls(state: &State, why: &'static str) -> Allowed {
    only_if(view(state).is_some_and(PatternView::scrolls), why)
}

fn change(state: &mut State, change: impl FnMut(&mut PatternView)) {
    state.pattern.iter_mut().for_each(change);
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

fn neighbour(state: &State, forward: bool) -> Option<usize> {
    let (plan, at) = (plan(state)?, view(state)?.pattern.at);
    let wanted = |at: &usize| has_pattern(plan, *at);
    if forward { (at + 1..plan.cases.len()).find(wanted) } else { (0..at).rev().find(wanted) }
}

fn may_leave(state: &State, forward: bool) -> Allowed {
    only_if(neighbour(state, forward).is_some(), LAST)?;
    only_if(!state.measuring(), WAITS)
}

fn ask(state: &mut State, at: usize) -> Option<Effect> {
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
    Some(Effect::Request(state.runs.ticket_for(Awaited::Touching), Job::Touch(Box::new(question))))
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
