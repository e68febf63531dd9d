//! Commands while a profile is changed.

use std::path::PathBuf;

use super::{Allowed, Effect, only_if};
use crate::model::profiles::is_name;
use crate::model::{Profile, Profiles};
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::tui::focus::Focus;
use crate::tui::home::facts::Known;
use crate::tui::session::Mode;
use crate::tui::state::State;
use crate::tui::whatif::{Cases, WhatIf};

rows! {
    /// Available on a recipe, or on a run.
    OPEN = ("what if", 1,
        "change the values of a device's profile and see what the models would then predict") {
        "what-if" "m": |state| {
            only_if(!state.focus.is_apart() && concerned(state), NO_PROFILE)?;
            only_if(!state.measuring(), WAITS)
        } => open
    }
    CHANGE = ("change", 2,
        "lower or raise the selected value: a size by a factor of 2, a time or rate by the fourth root of 2") {
        "value-less" "Left h": |state| changes(state, |view| !view.knobs.is_empty(), READ_ONLY)
            => |state| change(state, |view| view.change(-1)),
        "value-more" "Right l": |state| changes(state, |view| !view.knobs.is_empty(), READ_ONLY)
            => |state| change(state, |view| view.change(1))
    }
    PROFILE = ("profile", 1, "go to the next or previous known profile, to see what another device would do") {
        "next-profile" "n": other_profile => |state| cycle(state, 1),
        "previous-profile" "N": other_profile => |state| cycle(state, -1)
    }
    UNDO = ("undo", 2, "undo the change to this value, or all changes") {
        "undo-value" "u": |state| {
            changes(state, |v| v.knobs.get(v.selected).is_some_and(|knob| v.turned(knob)), "nothing is changed")
        } => |state| change(state, WhatIf::undo),
        "undo-values" "U": |state| changes(state, WhatIf::is_changed, "nothing is changed")
            => |state| change(state, WhatIf::undo_all)
    }
    SAVE = ("save", 1, "save the changed profile under a name for --profile") {
        // While a stored run is watched, text fields are disabled.
        "save-profile" "s": |state| changes(state, |_| state.mode == Mode::Run, READ_ONLY)
            => |state| change(state, WhatIf::ask_name)
    }
    PANELS = ("chart panel", 2, "go to the previous or next chart panel") {
        "what-if-previous-chart" "[": several_charts => |state| change(state, |view| view.step_panel(-1)),
        "what-if-next-chart" "]": several_charts => |state| change(state, |view| view.step_panel(1))
    }
    EXPERIMENTS = ("experiment", 2, "go to the previous or next experiment of the recipe") {
        "what-if-previous-experiment" "{": several_experiments
            => |state| change(state, |view| view.step_experiment(-1)),
        "what-if-next-experiment" "}": several_experiments
            => |state| change(state, |view| view.step_experiment(1))
    }
}

const READ_ONLY: &str = "a stored run is read-only";
/// Predicting takes a core, so it waits while something is timed.
const WAITS: &str = "a run is active: profiles can be changed when it is over";
const NO_PROFILE: &str = "no known profile covers these backends";

/// Whether the view is open and fulfils the condition.
fn changes(state: &State, may: impl FnOnce(&WhatIf) -> bool, why: &'static str) -> Allowed {
    only_if(state.focus == Focus::WhatIf && state.whatif.as_ref().is_some_and(may), why)
}

fn other_profile(state: &State) -> Allowed {
    changes(state, |view| view.choices(&state.profiles).len() > 1, "no other profile is known")
}

fn several_charts(state: &State) -> Allowed {
    changes(state, |view| view.chart().panels.len() > 1, "the chart has only one panel")
}

fn several_experiments(state: &State) -> Allowed {
    changes(state, WhatIf::has_experiments, "the recipe has only one experiment")
}

fn change(state: &mut State, change: impl FnMut(&mut WhatIf)) {
    state.whatif.iter_mut().for_each(change);
}

fn cycle(state: &mut State, by: isize) {
    state.whatif.iter_mut().for_each(|view| view.cycle(&state.profiles, by));
}

/// Whether there are cases, and a profile that covers any of their backends.
fn concerned(state: &State) -> bool {
    let knows = |backend: &str| state.profiles.iter().any(|profile| profile.knows(backend));
    match of_run(state) {
        true => state.session.as_ref().is_some_and(|session| {
            let own = session.ledger.profiles();
            session.ledger.places().any(|place| own.at(place).is_some() || knows(place.0))
        }),
        false => matches!(state.recipes.plan(), Some(Ok(plan)) if
            plan.cases.iter().any(|case| knows(case.place().0))),
    }
}

/// The profiles of the selected recipe's chart: those of its last run if that is shown, or else those that predict the
/// devices here.
fn of_recipe(state: &State) -> Profiles {
    let last = match state.recipes.selected().map(|recipe| state.home.facts.last(recipe)) {
        Some(Known::Is(Some(last))) => last.profiles.clone(),
        _ => Profiles::default(),
    };
    if last.all().next().is_some() {
        return last;
    }
    let mut here = Profiles::default();
    here.add(&state.calibration.standing.predicting);
    here
}

/// Whether the cases belong to the run rather than to the selected recipe.
fn of_run(state: &State) -> bool {
    state.session.is_some() && state.focus.is_run()
}

fn open(state: &mut State) {
    let Some(cases) = cases(state) else { return };
    state.whatif = WhatIf::new(cases, &state.profiles, state.focus);
    match state.whatif {
        Some(_) => state.focus = Focus::WhatIf,
        None => state.notice = Some(NO_PROFILE.to_owned()),
    }
}

fn cases(state: &State) -> Option<Cases> {
    if of_run(state) {
        let session = state.session.as_ref()?;
        let (plan, records) = (session.ledger.plan().clone(), session.ledger.records().to_vec());
        let profiles = session.ledger.profiles().clone();
        return Some(Cases { plan, records, selected: session.selected, profiles });
    }
    let plan = Plan::clone(state.recipes.plan()?.as_ref().ok()?);
    let records = Ledger::new(plan.clone()).records().to_vec();
    Some(Cases { plan, records, selected: 0, profiles: of_recipe(state) })
}

/// Accepts the typed name, and requests the profile to be saved under it.
pub fn accept(state: &mut State) -> Option<Effect> {
    let view = state.whatif.as_mut()?;
    let name = view.field.as_ref()?.text().trim().to_owned();
    if let Err(why) = is_name(&name) {
        view.error = Some(why);
        return None;
    }
    Some(Effect::SaveProfile(Box::new(view.named(name))))
}

/// Processes the outcome of saving; a saved profile is a known one from now on.
pub fn saved(state: &mut State, profile: Profile, outcome: Result<PathBuf, String>) {
    let Some(view) = &mut state.whatif else { return };
    match outcome {
        Ok(path) => {
            state.notice = Some(format!("saved as {}: {}", profile.name, path.display()));
            (view.field, view.error) = (None, None);
            state.profiles.retain(|known| known.name != profile.name);
            state.profiles.push(profile);
        }
        Err(why) => view.error = Some(why),
    }
}
