//! Commands: each is one row, with its name and its line of help, and for each of its keys when it is possible, or why
//! not, and what it does. Dispatch, hint bar, help, configuration and documentation read the rows.
//!
//! A row changes the state only. What needs the outside world is returned as an [`Effect`].

use std::borrow::Cow;
use std::path::PathBuf;

use ratatui::crossterm::event::KeyEvent;

use super::focus::Focus;
use super::home::Errand;
use super::key::{Key, Keymap};
use super::runs::Job;
use super::session::{Mode, Session};
use super::state::{Overlay, State};
use super::theme::Theme;
use crate::model::Profile;
use crate::recipe::plan::Plan;
use crate::run::runner::Control;

/// Whether a command is possible now, or why not: in a few words, or none where none are needed.
pub type Allowed = Result<(), Cow<'static, str>>;

/// What a key does.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// Name in the configuration. Stable: configuration files depend on it.
    pub name: &'static str,
    /// The default keys, separated by spaces, as a configuration names them.
    pub keys: &'static str,
    pub allowed: fn(&State) -> Allowed,
    /// What is asked before an action that cannot be taken back, given the key that answers yes.
    pub asks: fn(&State, &str) -> Option<String>,
    /// Carries the action out.
    pub run: fn(&mut State) -> Option<Effect>,
}

/// The same name is the same action, whatever keys a panel gives it.
impl PartialEq for Action {
    fn eq(&self, other: &Action) -> bool {
        self.name == other.name
    }
}

impl Action {
    /// Whether the action is possible now.
    pub fn is_allowed(&self, state: &State) -> bool {
        (self.allowed)(state).is_ok()
    }

    /// The default keys.
    pub fn own_keys(&self) -> Vec<Key> {
        self.keys.split(' ').filter_map(|name| Key::parse(name).ok()).collect()
    }

    fn bound(&self, keymap: &Keymap) -> Vec<Key> {
        keymap.replaced(self.name).map_or_else(|| self.own_keys(), <[Key]>::to_vec)
    }

    /// The key to name in a sentence. If the action has no key, its name: the mouse still reaches it in the
    /// hint bar.
    pub fn key(&self, keymap: &Keymap) -> String {
        self.bound(keymap).first().map_or_else(|| self.name.to_owned(), |key| key.name())
    }
}

/// How the hint bar shows a command that is possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// By its name.
    Usual,
    /// By what it does now.
    As(&'static str),
    /// By what it does now, and before all others: it ends an unusual state, or makes what is missing.
    First(&'static str),
    /// By the first and the last of this many keys.
    Range(usize),
    /// Not at all, though it is possible: it is rarely useful.
    Never,
}

/// A command: one or a few related actions.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    /// A word or two for the hint bar.
    pub name: &'static str,
    /// Number of keys that the hint bar shows; 0 keeps the command out of the bar.
    pub hinted: usize,
    /// One line for the help.
    pub help: &'static str,
    pub hint: fn(&State) -> Hint,
    pub actions: &'static [Action],
}

impl Command {
    /// The same command without a hint, where the row of hints is needed for others.
    const fn aside(self) -> Command {
        Command { hinted: 0, ..self }
    }

    /// Whether this is the first action of the command.
    pub fn is(&self, action: &Action) -> bool {
        self.actions.first() == Some(action)
    }

    /// The name of the key that triggers the command's first action.
    pub fn key(&self, state: &State) -> String {
        self.actions.first().map(|action| action.key(&state.keymap)).unwrap_or_default()
    }

    /// The command's keys with their actions: the first key of each action, then the second key of each, and so
    /// on.
    pub fn bindings(&self, keymap: &Keymap) -> Vec<(Key, Action)> {
        let lists: Vec<(Action, Vec<Key>)> = self.actions.iter().map(|a| (*a, a.bound(keymap))).collect();
        let most = lists.iter().map(|(_, keys)| keys.len()).max().unwrap_or(0);
        let row = |at: usize| lists.iter().filter_map(move |(action, keys)| Some((*keys.get(at)?, *action)));
        (0..most).flat_map(row).collect()
    }
}

/// An action on the world outside the state.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start the recipe at this index.
    Start(usize),
    /// Send a control message to the run.
    Send(Control),
    /// Give the terminal back and suspend.
    Suspend,
    /// Carry out a request of the home screen.
    Home(Errand),
    /// Read or write stored runs; the answer comes with this number.
    Request(u64, Job),
    /// Play the stored run in this folder, `times` times faster than it ran.
    Play { path: PathBuf, plan: Box<Plan>, times: f64 },
    /// Measure the device of this backend.
    Calibrate(String),
    /// Derive and save the profile of the device that was measured.
    KeepProfile,
    /// Take the last calibration back.
    TakeBack,
    /// Ask the terminal to copy a text.
    Copy(String),
    /// Ask the terminal to copy what the samples panel says.
    CopyValues,
    /// Save a profile that the user has changed.
    SaveProfile(Box<Profile>),
}

/// What a row's function returns: nothing, if it changes the state only, or what remains to be done.
trait Outcome {
    fn effect(self) -> Option<Effect>;
}

impl Outcome for () {
    fn effect(self) -> Option<Effect> {
        None
    }
}

impl Outcome for Option<Effect> {
    fn effect(self) -> Option<Effect> {
        self
    }
}

fn carry_out<R: Outcome>(state: &mut State, does: impl FnOnce(&mut State) -> R) -> Option<Effect> {
    does(state).effect()
}

/// A table of commands. Each row is the command's name, the number of keys in the hint bar, the help, and the
/// [`Hint`] where it is not the usual one; then for each action its name, its keys, whether it is possible, what is
/// asked before if anything, and what it does.
macro_rules! rows {
    (@or $default:expr) => { $default };
    (@or $default:expr, $given:expr) => { $given };
    ($($(#[$doc:meta])* $row:ident = ($name:literal, $hinted:literal, $help:literal $(, $hint:expr)?) {
        $($action:literal $keys:literal: $allowed:expr $(, $asks:expr)? => $run:expr),+ $(,)?
    })*) => { $(
        $(#[$doc])*
        pub const $row: $crate::tui::commands::Command = $crate::tui::commands::Command {
            name: $name,
            hinted: $hinted,
            help: $help,
            hint: rows!(@or |_| $crate::tui::commands::Hint::Usual $(, $hint)?),
            actions: &[$($crate::tui::commands::Action {
                name: $action,
                keys: $keys,
                allowed: $allowed,
                asks: rows!(@or |_, _| None $(, $asks)?),
                run: |state| $crate::tui::commands::carry_out(state, $run),
            }),+],
        };
    )* };
}

/// Lists of commands.
macro_rules! lists {
    ($($(#[$doc:meta])* $list:ident: $($row:expr),+;)+) => {
        $($(#[$doc])* pub const $list: &[Command] = &[$($row),+];)+
    };
}

pub mod calibration;
pub mod chart;
pub mod everywhere;
pub mod form;
pub mod leave;
pub mod live;
pub mod pattern;
pub mod recipes;
pub mod run;
pub mod runs;
pub mod typing;
pub mod whatif;

use everywhere::{
    BACK, DEVICES, ENDS, EXPERIMENTS, FOLLOW, HELP, MOVE, PAGES, PANELS, QUIT, QUIT_WATCHING, SUSPEND, TAB,
};
use typing::TextInput;

/// Possible on one condition.
fn only_if(possible: bool, why: impl Into<Cow<'static, str>>) -> Allowed {
    if possible { Ok(()) } else { Err(why.into()) }
}

fn always(_: &State) -> Allowed {
    Ok(())
}

/// Changes the session in view.
fn in_session(state: &mut State, change: impl FnMut(&mut Session)) {
    state.session.iter_mut().for_each(change);
}

/// The panels, a row each: what a move by so many items does in it (extreme values go to the ends), and its commands
/// in the order of the help and of the hint bar.
macro_rules! panels {
    ($($panel:ident, $step:expr => $($row:expr),+;)+) => {
        /// The commands that the panel accepts while it has the focus.
        pub fn of(panel: Focus) -> &'static [Command] {
            match panel { $(Focus::$panel => const { &[$($row),+] },)+ }
        }

        /// Moves in the panel.
        pub fn step_in(state: &mut State, panel: Focus, by: isize) {
            let step: fn(&mut State, isize) = match panel { $(Focus::$panel => $step,)+ };
            step(state, by)
        }
    };
}

panels! {
    Recipes, |state, by| state.recipes.step(by) =>
        recipes::START, recipes::FILTER, MOVE, recipes::EDIT, recipes::QUEUE, runs::BROWSE,
        pattern::SHOW, whatif::OPEN, calibration::CALIBRATE, recipes::SAVE_AS, ENDS, PAGES;
    Editor, |state, by| state.home.editor.step(by) =>
        form::CHANGE, form::RUN, MOVE, form::SAVE_AS, form::UNDO, form::QUEUE, ENDS, PAGES;
    Queue, |state, by| state.home.queue.step(by) =>
        recipes::REMOVE, MOVE, ENDS, PAGES;
    Cases, |state, by| in_session(state, |session| session.step(by)) =>
        MOVE, run::SKIP, run::AGAIN, EXPERIMENTS, PANELS, FOLLOW, run::FOLD, calibration::CALIBRATE,
        runs::EXPORT, runs::COPY.aside(), runs::REPLAY.aside(), pattern::SHOW.aside(), whatif::OPEN, ENDS,
        PAGES;
    Chart, chart::step =>
        MOVE, chart::SIDEWAYS, chart::ZOOM, chart::ALL, chart::SCALES, chart::LINES, chart::OPTIONS,
        chart::CEILING, chart::ROOFLINE, PANELS, EXPERIMENTS, FOLLOW, run::SKIP, run::AGAIN,
        calibration::CALIBRATE, runs::EXPORT.aside(), runs::REPLAY.aside(), runs::COPY.aside(),
        pattern::SHOW.aside(), whatif::OPEN, chart::BASELINE, chart::DIFFERENCES, chart::PAN, chart::BARS,
        chart::DOTS, ENDS, PAGES;
    Samples, |state, by| in_session(state, |session| session.scroll_samples(by)) =>
        MOVE, run::SKIP, run::AGAIN, calibration::CALIBRATE, runs::EXPORT, runs::COPY.aside(),
        pattern::SHOW.aside(), whatif::OPEN, PAGES, ENDS;
    Log, |state, by| in_session(state, |session| session.log.step(by)) =>
        MOVE, PAGES, ENDS;
    Runs, |state, by| state.runs.step(by) =>
        runs::OPEN, runs::SEARCH, MOVE, runs::MARK, runs::COMPARE, runs::LAY, runs::EXPORT, runs::WATCH,
        runs::REPLAY, runs::NOTE, runs::COPY, runs::RELOAD, PAGES, ENDS;
    Details, |state, by| state.runs.scroll_details(by) =>
        runs::OPEN, runs::COPY, runs::EXPORT, runs::WATCH, runs::REPLAY, runs::NOTE, runs::MARK,
        runs::COMPARE, runs::LAY, MOVE, PAGES, ENDS;
    Comparison, |state, by| state.runs.comparison.iter_mut().for_each(|rows| rows.step(by)) =>
        MOVE, runs::COPY, PAGES, ENDS;
    Pattern, |state, by| state.pattern.iter_mut().for_each(|view| view.step(by)) =>
        MOVE, pattern::SIDEWAYS, pattern::CASES, pattern::LENGTH, pattern::SECTORS, pattern::SIDE,
        PAGES, ENDS;
    Live, |state, by| in_session(state, |session| session.step(by)) =>
        live::STONE, MOVE, FOLLOW, ENDS, PAGES;
    WhatIf, |state, by| state.whatif.iter_mut().for_each(|view| view.step(by)) =>
        MOVE, whatif::CHANGE, whatif::PROFILE, whatif::UNDO, whatif::SAVE, whatif::PANELS,
        whatif::EXPERIMENTS, PAGES, ENDS;
}

lists! {
    /// Commands in every panel.
    GLOBAL: run::RESUME, run::CANCEL, run::CANCEL_ALL, run::PAUSE, chart::CURSOR, chart::FULL, run::FREEZE,
        live::SHOW, DEVICES, TAB, BACK, HELP, QUIT, SUSPEND;
    /// The same while a stored run is watched: there is nothing to cancel.
    WATCHING: run::PAUSE_WATCHING, run::END_WATCHING, chart::CURSOR, chart::FULL, run::FREEZE, live::SHOW,
        DEVICES, TAB, BACK, HELP, QUIT_WATCHING, SUSPEND;
    /// The same while a recipe's values are changed: the form uses the letters itself.
    EDITING: TAB, BACK, HELP, QUIT, SUSPEND;
    /// Commands while the help is open.
    IN_HELP: MOVE, ENDS, PAGES, everywhere::CLOSE_HELP, everywhere::WORDS, everywhere::QUIT_OVERLAY, SUSPEND;
    /// Commands while the words are explained.
    IN_WORDS: MOVE, ENDS, PAGES, HELP, everywhere::CLOSE_HELP, everywhere::QUIT_OVERLAY, SUSPEND;
    /// Commands while the export dialog is open.
    DIALOG: MOVE, runs::COPY, runs::CLOSE, everywhere::QUIT_OVERLAY, SUSPEND;
}

/// The labels of the keys, joined by slashes.
pub fn labels(bindings: &[(Key, Action)], theme: Theme) -> String {
    bindings.iter().map(|(key, _)| key.label(theme)).collect::<Vec<_>>().join("/")
}

/// The commands that are available in every panel in this mode.
fn global(mode: Mode) -> &'static [Command] {
    if mode == Mode::Watch { WATCHING } else { GLOBAL }
}

/// The commands that are in force in addition to the panel's own.
fn around(focus: Focus, mode: Mode) -> &'static [Command] {
    if focus == Focus::Editor { EDITING } else { global(mode) }
}

/// The command lists in force, the most specific first.
fn in_force(state: &State) -> [&'static [Command]; 2] {
    if let Some(input) = TextInput::now(state) {
        return [input.commands(), typing::FIELD];
    }
    match state.overlay {
        Some(Overlay::Export { .. }) => [DIALOG, &[]],
        Some(Overlay::Help { .. }) => [IN_HELP, &[]],
        Some(Overlay::Words { .. }) => [IN_WORDS, &[]],
        None => [of(state.focus), around(state.focus, state.mode())],
    }
}

/// The commands in force, each with the keys that trigger it in this state. A key belongs to the most specific
/// command that binds it.
pub fn bound(state: &State) -> Vec<(&'static Command, Vec<(Key, Action)>)> {
    let mut taken: Vec<Key> = Vec::new();
    // The keys of text fields are fixed, because a letter must be typed.
    let fixed = TextInput::now(state).map(|_| Keymap::default());
    let keymap = fixed.as_ref().unwrap_or(&state.keymap);
    let mut own = |command: &'static Command| {
        let mut bindings = command.bindings(keymap);
        bindings.retain(|(key, _)| !taken.contains(key));
        taken.extend(bindings.iter().map(|(key, _)| *key));
        (command, bindings)
    };
    in_force(state).into_iter().flatten().map(&mut own).collect()
}

/// The action that `event` triggers in this state; `None` for an unbound key.
pub fn action(state: &State, event: KeyEvent) -> Option<Action> {
    let mut bindings = bound(state).into_iter().flat_map(|(_, bindings)| bindings);
    bindings.find(|(key, _)| key.matches(event)).map(|(_, action)| action)
}

/// For a key without a meaning in this panel: the panels in which it has one.
pub fn elsewhere(state: &State, key: KeyEvent) -> Option<String> {
    if state.overlay.is_some() {
        return None;
    }
    let own =
        |command: &Command| command.bindings(&state.keymap).into_iter().find(|(own, _)| own.matches(key));
    let named = |focus: &Focus| {
        let found = of(*focus).iter().find_map(|command| Some((command.name, own(command)?.0)));
        found.map(|(name, key)| (key.name(), format!("{} ({name})", focus.title())))
    };
    let panels: Vec<(String, String)> = Focus::ALL.iter().filter_map(named).collect();
    let (key, _) = panels.first()?;
    let panels: Vec<&str> = panels.iter().map(|(_, panel)| panel.as_str()).collect();
    Some(format!("{key} does nothing here; it is a key of {}", panels.join(", ")))
}

/// Command lists that are in force together, the most specific first.
#[derive(Debug)]
pub struct Scope {
    pub title: &'static str,
    pub lists: Vec<&'static [Command]>,
}

/// Every combination of lists that can be in force; within a scope no key may mean two things.
pub fn scopes() -> Vec<Scope> {
    let panel = |f: &Focus, mode| Scope { title: f.title(), lists: vec![of(*f), around(*f, mode)] };
    let running = Focus::ALL.iter().map(|f| panel(f, Mode::Run));
    let watching = Focus::ALL.iter().map(|f| panel(f, Mode::Watch));
    let overlays = [("Help", IN_HELP), ("Words", IN_WORDS), ("Export", DIALOG)];
    let overlays = overlays.map(|(title, list)| Scope { title, lists: vec![list] });
    running.chain(watching).chain(overlays).collect()
}

/// Every command whose keys can be configured, with the title of the first list that contains it.
pub fn listed() -> Vec<(&'static str, &'static Command)> {
    let others = [("While watching", WATCHING), ("Help", IN_HELP), ("Export", DIALOG)];
    let lists = every(Mode::Run).into_iter().chain(others);
    lists.flat_map(|(title, list)| list.iter().map(move |command| (title, command))).collect()
}

/// Every action whose keys can be configured, without duplicates.
pub fn actions() -> Vec<Action> {
    let mut actions = Vec::new();
    for action in scopes().into_iter().flat_map(|s| s.lists).flatten().flat_map(|command| command.actions) {
        if !actions.contains(action) {
            actions.push(*action);
        }
    }
    actions
}

/// Every command list with its heading, for the help.
pub fn every(mode: Mode) -> Vec<(&'static str, &'static [Command])> {
    let panels = Focus::ALL.iter().map(|f| (f.title(), of(*f)));
    std::iter::once(("Everywhere", global(mode))).chain(panels).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::fixture;
    use crate::tui::update::{Input, update};

    rows! {
        GREET = ("greet", 1, "greet the selected recipe", |_| Hint::As("say hello")) {
            "greet" "H alt-h": |state| only_if(state.recipes.selected().is_some(), "nobody is there"),
                |_, key| Some(format!("Really? {key} again."))
                => |state| state.notice = Some("hello".to_owned())
        }
    }

    #[test]
    fn a_row_is_all_that_a_key_needs() {
        let act = |state: &mut State| {
            update(state, Input::Act(GREET.actions[0]), state.now);
            state.notice.clone().unwrap_or_default()
        };
        let mut nobody = State::new(Vec::new(), String::new());
        assert_eq!(act(&mut nobody), "nobody is there");
        let mut state = State::new(fixture::recipes(), String::new());
        assert_eq!([act(&mut state), act(&mut state)], ["Really? H again.", "hello"]);
        state.keymap.bind("greet", vec![]);
        assert_eq!((GREET.key(&state), (GREET.hint)(&state)), ("greet".to_owned(), Hint::As("say hello")));
    }
}
