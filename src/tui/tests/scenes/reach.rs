//! Checks that the scenes show every state of the screen.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{SCENES, THEMES};
use crate::tui::commands::typing::TextInput;
use crate::tui::panel::Focus;
use crate::tui::runs::Purpose;
use crate::tui::session::{Mode, Phase, Session};
use crate::tui::state::{Leaving, Overlay, State};
use crate::tui::theme::Theme;
use crate::tui::whatif::WhatIf;

/// Defines a word for each variant, and a list of all words. A new variant does not compile until it has a
/// word, and a word fails the test until a scene shows it.
macro_rules! words {
    ($all:ident, $of:ident($type:ty) { $($pattern:pat => $word:literal,)+ }) => {
        const $all: &[&str] = &[$($word),+];

        fn $of(value: $type) -> &'static str {
            match value { $($pattern => $word,)+ }
        }
    };
}

words!(FOCUSES, focus(Focus) {
    Focus::Recipes => "focus: recipes",
    Focus::Editor => "focus: editor",
    Focus::Queue => "focus: queue",
    Focus::Cases => "focus: cases",
    Focus::Chart => "focus: chart",
    Focus::Samples => "focus: samples",
    Focus::Log => "focus: log",
    Focus::Runs => "focus: runs",
    Focus::Details => "focus: details",
    Focus::Comparison => "focus: comparison",
    Focus::Pattern => "focus: pattern",
    Focus::Live => "focus: live",
    Focus::WhatIf => "focus: what if",
});

words!(OVERLAYS, overlay(Option<Overlay>) {
    None => "no overlay",
    Some(Overlay::Help { .. }) => "help",
    Some(Overlay::Words { .. }) => "words",
    Some(Overlay::Export { .. }) => "export",
});

words!(LEAVING, leaving(Leaving) {
    Leaving::No => "staying",
    Leaving::Asked => "asked whether to leave",
    Leaving::Waiting { .. } => "waiting to leave",
    // Nothing is drawn in this state, so no scene can show it.
    Leaving::Now => "leaving",
});

words!(PHASES, phase(Option<&Phase>) {
    None => "no run",
    Some(Phase::Running) => "running",
    Some(Phase::Cancelling) => "cancelling",
    Some(Phase::Dead { .. }) => "dead",
    Some(Phase::Over { cancelled: false }) => "over",
    Some(Phase::Over { cancelled: true }) => "cancelled",
    Some(Phase::Broken(_)) => "broken",
});

words!(MODES, mode(Mode) {
    Mode::Run => "of an engine",
    Mode::Watch => "watched",
    Mode::Stored => "stored",
});

words!(FIELDS, field(Option<TextInput>) {
    None => "nothing typed",
    Some(TextInput::Filter) => "typing a filter",
    Some(TextInput::Value) => "typing a value",
    Some(TextInput::FileName) => "typing a file's name",
    Some(TextInput::OfRuns) => "typing about runs",
    Some(TextInput::ProfileName) => "typing a profile's name",
});

words!(PURPOSES, purpose(&Purpose) {
    Purpose::Search { .. } => "searching",
    Purpose::Note(_) => "noting",
});

type Extra = (&'static str, fn(&State) -> bool);

/// Optional features of a state that change the screen.
const EXTRAS: &[Extra] = &[
    ("notice", |state| state.notice.is_some()),
    ("remote engine", |state| state.remote.is_some()),
    ("queue beside a run", |state| state.session.is_some() && !state.home.queue.is_empty()),
    ("devices", |state| state.devices_panel.wanted == Some(true)),
    ("pausing", |state| of_session(state, Session::pausing)),
    ("paused", |state| of_session(state, |s| s.paused().is_some())),
    ("frozen", |state| of_session(state, |s| s.frozen.is_some())),
    ("held behind a frozen screen", |state| state.live.as_ref().is_some_and(|live| live.paused().is_some())),
    ("cursor", |state| of_session(state, |s| s.view.cursor)),
    ("full screen", |state| of_session(state, |s| s.view.full)),
    ("a prediction", |state| of_session(state, Session::predicts)),
    ("a changed profile", |state| state.whatif.as_ref().is_some_and(WhatIf::is_changed)),
    ("a run under the run", |state| of_session(state, |s| s.view.overlay().is_some())),
];

fn of_session(state: &State, holds: impl Fn(&Session) -> bool) -> bool {
    state.session.as_ref().is_some_and(holds)
}

/// The words that describe a state.
fn seen(state: &State) -> Vec<&'static str> {
    let session = state.session.as_ref();
    let mut words = vec![
        focus(state.focus),
        overlay(state.overlay),
        leaving(state.leaving),
        phase(session.map(|session| &session.phase)),
        mode(session.map_or(state.mode, |session| session.mode)),
        field(TextInput::now(state)),
    ];
    words.extend(state.runs.typing.as_ref().map(|typing| purpose(&typing.purpose)));
    words.extend(EXTRAS.iter().filter(|(_, there)| there(state)).map(|(word, _)| *word));
    words
}

#[test]
fn every_state_has_a_scene() {
    let shown: BTreeSet<&str> =
        SCENES.iter().flat_map(|(_, make)| seen(&make(Theme::PLAIN).app.state)).collect();
    let variants = [FOCUSES, OVERLAYS, LEAVING, PHASES, MODES, FIELDS, PURPOSES].concat();
    let wanted = variants.into_iter().chain(EXTRAS.iter().map(|(word, _)| *word));
    let missing: Vec<&str> =
        wanted.filter(|word| *word != leaving(Leaving::Now) && !shown.contains(word)).collect();
    assert!(missing.is_empty(), "no scene shows: {missing:?}");
}

/// A removed scene leaves no snapshot behind.
#[test]
fn every_snapshot_has_a_scene() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tui/tests/snapshots");
    let names = SCENES.iter().flat_map(|(scene, _)| THEMES.map(|(theme, _)| format!("{scene}-{theme}.snap")));
    let wanted: BTreeSet<String> = names.collect();
    let files = fs::read_dir(folder).expect("the snapshots").map(|file| file.expect("a file").file_name());
    let names = files.map(|name| name.to_string_lossy().into_owned());
    // A snapshot that differs leaves another beside it; its own test says so.
    let there: BTreeSet<String> = names.filter(|name| !name.ends_with(".snap.new")).collect();
    let strays: Vec<_> = there.symmetric_difference(&wanted).collect();
    assert!(strays.is_empty(), "without a scene, or missing: {strays:?}");
}
