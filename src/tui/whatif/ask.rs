//! Requests while a profile is changed.

use std::path::PathBuf;

use ratatui::crossterm::event::KeyCode;

use super::{Cases, WhatIf};
use crate::model::Profile;
use crate::model::profiles::is_name;
use crate::run::Ledger;
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::field::Field;
use crate::tui::panel::Focus;
use crate::tui::state::{Mode, State};
use crate::tui::update::Effect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
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

impl Ask {
    /// Name in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Ask::Open => "what-if",
            Ask::Less => "value-less",
            Ask::More => "value-more",
            Ask::Undo => "undo-value",
            Ask::UndoAll => "undo-values",
            Ask::Previous => "previous-profile",
            Ask::Next => "next-profile",
            Ask::PreviousChart => "what-if-previous-chart",
            Ask::NextChart => "what-if-next-chart",
            Ask::PreviousExperiment => "what-if-previous-experiment",
            Ask::NextExperiment => "what-if-next-experiment",
            Ask::Save => "save-profile",
        }
    }
}

/// Available on a recipe, or on a run.
pub const OPEN: Command = Command {
    bindings: &[(char('m'), Action::WhatIf(Ask::Open))],
    hinted: 1,
    name: "what if",
    help: "change a device's profile, value by value, and see what the models would predict then",
};

pub const COMMANDS: &[Command] = &[
    command::MOVE,
    Command {
        bindings: &[
            (key(KeyCode::Left), Action::WhatIf(Ask::Less)),
            (key(KeyCode::Right), Action::WhatIf(Ask::More)),
            (char('h'), Action::WhatIf(Ask::Less)),
            (char('l'), Action::WhatIf(Ask::More)),
        ],
        hinted: 2,
        name: "change",
        help: "the selected value down or up: a size by 2, a time or a rate by the fourth root of 2",
    },
    Command {
        bindings: &[(char('n'), Action::WhatIf(Ask::Next)), (char('N'), Action::WhatIf(Ask::Previous))],
        hinted: 1,
        name: "profile",
        help: "the next or the previous profile that is known: what another device would do",
    },
    Command {
        bindings: &[(char('u'), Action::WhatIf(Ask::Undo)), (char('U'), Action::WhatIf(Ask::UndoAll))],
        hinted: 2,
        name: "undo",
        help: "take back what was changed of this value, or of all",
    },
    Command {
        bindings: &[(char('s'), Action::WhatIf(Ask::Save))],
        hinted: 1,
        name: "save",
        help: "save the changed profile under a name, by which --profile finds it",
    },
    Command {
        bindings: &[
            (char('['), Action::WhatIf(Ask::PreviousChart)),
            (char(']'), Action::WhatIf(Ask::NextChart)),
        ],
        hinted: 2,
        name: "chart panel",
        help: "the previous or next of several chart panels",
    },
    Command {
        bindings: &[
            (char('{'), Action::WhatIf(Ask::PreviousExperiment)),
            (char('}'), Action::WhatIf(Ask::NextExperiment)),
        ],
        hinted: 2,
        name: "experiment",
        help: "the previous or next experiment of the recipe",
    },
    command::PAGES,
    command::ENDS,
];

/// Whether the request is possible now.
pub fn allows(state: &State, ask: Ask) -> bool {
    let view = state.whatif.as_ref().filter(|_| state.focus == Focus::WhatIf);
    match ask {
        Ask::Open => !state.focus.is_aside() && concerned(state),
        Ask::Undo => view.is_some_and(|v| v.knobs.get(v.selected).is_some_and(|knob| v.turned(knob))),
        Ask::UndoAll => view.is_some_and(WhatIf::is_changed),
        Ask::Previous | Ask::Next => view.is_some_and(|view| view.choices(&state.profiles).len() > 1),
        Ask::PreviousChart | Ask::NextChart => view.is_some_and(|view| view.chart().panels.len() > 1),
        Ask::PreviousExperiment | Ask::NextExperiment => {
            view.is_some_and(|view| view.plan.experiments.len() > 1)
        }
        Ask::Save => state.mode == Mode::Run && view.is_some(),
        Ask::Less | Ask::More => view.is_some_and(|view| !view.knobs.is_empty()),
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

pub fn apply(state: &mut State, ask: Ask) -> Option<Effect> {
    if ask == Ask::Open {
        open(state);
        return None;
    }
    let known = &state.profiles;
    let view = state.whatif.as_mut().filter(|_| state.focus == Focus::WhatIf)?;
    match ask {
        Ask::Open => {}
        Ask::Less => view.change(-1),
        Ask::More => view.change(1),
        Ask::Undo => view.undo(),
        Ask::UndoAll => view.undo_all(),
        Ask::Previous => view.cycle(known, -1),
        Ask::Next => view.cycle(known, 1),
        Ask::PreviousChart => view.step_panel(-1),
        Ask::NextChart => view.step_panel(1),
        Ask::PreviousExperiment => view.step_experiment(-1),
        Ask::NextExperiment => view.step_experiment(1),
        // While a stored run is watched, text fields are disabled.
        Ask::Save if state.mode != Mode::Run => {}
        Ask::Save => {
            view.error = None;
            view.field = Some(Field::offer(&format!("{}-what-if", view.base.name)));
        }
    }
    None
}

/// Predicting takes a core, so it waits while something is timed.
fn open(state: &mut State) {
    if !allows(state, Ask::Open) {
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
    let plan = state.recipes.plan()?.as_ref().ok()?.clone();
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
