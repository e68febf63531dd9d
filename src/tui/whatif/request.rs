//! Requests while a profile is changed.

use std::path::PathBuf;

use ratatui::crossterm::event::KeyCode;

use super::{Cases, WhatIf};
use crate::model::Profile;
use crate::model::profiles::is_name;
use crate::recipe::plan::Plan;
use crate::run::Ledger;
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::field::Field;
use crate::tui::panel::Focus;
use crate::tui::state::{Mode, State};
use crate::tui::update::Effect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Open the view over the shown run, or over the selected recipe.
    Open,
    /// Change the selected value by a step.
    Less,
    More,
    /// Undo the changes of the selected value, or of all values.
    Undo,
    UndoAll,
    /// Switch to another known profile.
    Previous,
    Next,
    PreviousChart,
    NextChart,
    PreviousExperiment,
    NextExperiment,
    /// Save the changed profile under a name.
    Save,
}

impl Request {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Request::Open => "what-if",
            Request::Less => "value-less",
            Request::More => "value-more",
            Request::Undo => "undo-value",
            Request::UndoAll => "undo-values",
            Request::Previous => "previous-profile",
            Request::Next => "next-profile",
            Request::PreviousChart => "what-if-previous-chart",
            Request::NextChart => "what-if-next-chart",
            Request::PreviousExperiment => "what-if-previous-experiment",
            Request::NextExperiment => "what-if-next-experiment",
            Request::Save => "save-profile",
        }
    }
}

/// Available on a recipe, or on a run.
pub const OPEN: Command = Command {
    bindings: &[(char('m'), Action::WhatIf(Request::Open))],
    hinted: 1,
    name: "what if",
    help: "change a device's profile, value by value, and see what the models would predict then",
};

pub const COMMANDS: &[Command] = &[
    command::MOVE,
    Command {
        bindings: &[
            (key(KeyCode::Left), Action::WhatIf(Request::Less)),
            (key(KeyCode::Right), Action::WhatIf(Request::More)),
            (char('h'), Action::WhatIf(Request::Less)),
            (char('l'), Action::WhatIf(Request::More)),
        ],
        hinted: 2,
        name: "change",
        help: "the selected value down or up: a size by 2, a time or a rate by the fourth root of 2",
    },
    Command {
        bindings: &[
            (char('n'), Action::WhatIf(Request::Next)),
            (char('N'), Action::WhatIf(Request::Previous)),
        ],
        hinted: 1,
        name: "profile",
        help: "the next or the previous profile that is known: what another device would do",
    },
    Command {
        bindings: &[
            (char('u'), Action::WhatIf(Request::Undo)),
            (char('U'), Action::WhatIf(Request::UndoAll)),
        ],
        hinted: 2,
        name: "undo",
        help: "take back what was changed of this value, or of all",
    },
    Command {
        bindings: &[(char('s'), Action::WhatIf(Request::Save))],
        hinted: 1,
        name: "save",
        help: "save the changed profile under a name, by which --profile finds it",
    },
    Command {
        bindings: &[
            (char('['), Action::WhatIf(Request::PreviousChart)),
            (char(']'), Action::WhatIf(Request::NextChart)),
        ],
        hinted: 2,
        name: "chart panel",
        help: "the previous or next of several chart panels",
    },
    Command {
        bindings: &[
            (char('{'), Action::WhatIf(Request::PreviousExperiment)),
            (char('}'), Action::WhatIf(Request::NextExperiment)),
        ],
        hinted: 2,
        name: "experiment",
        help: "the previous or next experiment of the recipe",
    },
    command::PAGES,
    command::ENDS,
];

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Request) -> bool {
    let view = state.whatif.as_ref().filter(|_| state.focus == Focus::WhatIf);
    match ask {
        Request::Open => !state.focus.has_own_screen() && concerned(state),
        Request::Undo => view.is_some_and(|v| v.knobs.get(v.selected).is_some_and(|knob| v.turned(knob))),
        Request::UndoAll => view.is_some_and(WhatIf::is_changed),
        Request::Previous | Request::Next => view.is_some_and(|view| view.choices(&state.profiles).len() > 1),
        Request::PreviousChart | Request::NextChart => view.is_some_and(|view| view.chart().panels.len() > 1),
        Request::PreviousExperiment | Request::NextExperiment => {
            view.is_some_and(|view| view.plan.experiments.len() > 1)
        }
        Request::Save => state.mode == Mode::Run && view.is_some(),
        Request::Less | Request::More => view.is_some_and(|view| !view.knobs.is_empty()),
    }
}

/// Whether there are cases, and a profile that covers any of their backends.
fn concerned(state: &State) -> bool {
    let knows = |backend: &str| state.profiles.iter().any(|profile| profile.knows(backend));
    match of_run(state) {
        true => state.session.as_ref().is_some_and(|session| {
            let own = session.ledger.profiles();
            session.ledger.records().iter().any(|r| own.of(&r.case).is_ok() || knows(r.case.place().0))
        }),
        false => matches!(state.recipes.plan(), Some(Ok(plan)) if
            plan.cases.iter().any(|case| knows(case.place().0))),
    }
}

/// Whether the cases belong to the run rather than to the selected recipe.
fn of_run(state: &State) -> bool {
    state.session.is_some() && state.focus.is_run()
}

pub fn apply(state: &mut State, ask: Request) -> Option<Effect> {
    if ask == Request::Open {
        open(state);
        return None;
    }
    let known = &state.profiles;
    let view = state.whatif.as_mut().filter(|_| state.focus == Focus::WhatIf)?;
    match ask {
        Request::Open => {}
        Request::Less => view.change(-1),
        Request::More => view.change(1),
        Request::Undo => view.undo(),
        Request::UndoAll => view.undo_all(),
        Request::Previous => view.cycle(known, -1),
        Request::Next => view.cycle(known, 1),
        Request::PreviousChart => view.step_panel(-1),
        Request::NextChart => view.step_panel(1),
        Request::PreviousExperiment => view.step_experiment(-1),
        Request::NextExperiment => view.step_experiment(1),
        // While a stored run is watched, text fields are disabled.
        Request::Save if state.mode != Mode::Run => {}
        Request::Save => {
            view.error = None;
            view.field = Some(Field::offer(&format!("{}-what-if", view.base.name)));
        }
    }
    None
}

/// Predicting takes a core, so it waits while something is timed.
fn open(state: &mut State) {
    if !allows(state, Request::Open) {
        return;
    }
    if state.measuring() {
        state.notice = Some("a run is active: profiles are changed when it is over".to_owned());
        return;
    }
    let Some(cases) = cases(state) else { return };
    state.whatif = WhatIf::new(cases, &state.profiles, state.focus);
    match state.whatif {
        Some(_) => state.focus = Focus::WhatIf,
        None => state.notice = Some("no known profile covers these backends".to_owned()),
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
    let ledger = Ledger::new(plan.clone());
    let profiles = ledger.profiles().clone();
    Some(Cases { plan, records: ledger.records().to_vec(), selected: 0, profiles })
}

/// Accepts the typed name, and requests the profile to be saved under it.
pub fn accept(state: &mut State) -> Option<Effect> {
    let view = state.whatif.as_mut()?;
    let name = view.field.as_ref()?.text().trim().to_owned();
    if let Err(why) = is_name(&name) {
        view.error = Some(why);
        return None;
    }
    let source = format!("{}, changed by hand", view.base.name);
    let profile = Profile { name, source, made: None, ..view.changed.clone() };
    Some(Effect::SaveProfile(Box::new(profile)))
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
