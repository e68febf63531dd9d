//! Runs on disk and their screens.

mod acts;
mod broken;
mod chart;
mod outside;
mod replay;
pub mod screens;

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use ratatui::crossterm::event::{KeyCode, KeyEvent};

use crate::case::Measure;
use crate::engine::protocol::{Event, RoundResult};
use crate::recipe::plan::Plan;
use crate::run::folder::{Folder, Urgency};
use crate::run::layout::{Manifest, SCHEMA};
use crate::run::runner::Message;
use crate::tui::app::{App, Incoming};
use crate::tui::tests::loops::app;
use crate::tui::tests::{fixture, script};
use crate::tui::theme::Theme;

pub const NOW: Duration = Duration::from_secs(1);

/// The multi-pass recipe with enough rounds to be judged.
pub fn plan() -> Plan {
    let mut plan = fixture::passes();
    plan.recipe_hash = crate::recipe::hash(&fixture::recipes()[1].text);
    plan.experiments[0].measure = Measure::fixed(3, 5);
    plan
}

pub fn manifest(plan: Plan, started: &str) -> Manifest {
    let Event::Hello { version, environment, devices, .. } = script::hello() else { unreachable!("hello") };
    let command_line = ["/opt/scatterlab", "run", "he2007/fig09-passes"].map(str::to_owned).to_vec();
    let (started, revision) = (started.to_owned(), "1234567".to_owned());
    Manifest {
        schema: SCHEMA,
        version,
        revision,
        started,
        command_line,
        environment,
        devices,
        plan,
        redacted: false,
    }
}

/// Writes a run whose times are `factor` times those of the script.
pub fn write(root: &Path, name: &str, started: &str, factor: f64, fails: Option<usize>) -> PathBuf {
    write_plan(plan(), root, name, started, factor, fails)
}

/// Like [`write`], with another plan.
fn write_plan(
    plan: Plan,
    root: &Path,
    name: &str,
    started: &str,
    factor: f64,
    fails: Option<usize>,
) -> PathBuf {
    let path = root.join(name);
    let mut folder = Folder::create(&path).expect("a folder");
    folder.write_recipe(&fixture::recipes()[1].text).expect("written");
    folder.write_manifest(&manifest(plan.clone(), started)).expect("written");
    let events = script::messages(&plan, fails).into_iter().filter_map(|message| match message {
        Message::Event(event) => Some(slowed(event, factor)),
        _ => None,
    });
    let end = Event::Finished { cancelled: false };
    events.chain([end]).for_each(|event| folder.append(&event, Urgency::Written).expect("written"));
    path
}

fn slowed(event: Event, factor: f64) -> Event {
    match event {
        Event::Round { seq, result } => {
            let samples = result.samples.iter().map(|sample| sample * factor).collect();
            Event::Round { seq, result: RoundResult { samples, ..result } }
        }
        other => other,
    }
}

/// Creates a folder with `text` as its manifest and a fixed modification time.
pub fn foreign(root: &Path, name: &str, text: &str) -> PathBuf {
    let path = root.join(name);
    fs::create_dir_all(&path).expect("a folder");
    let manifest = path.join("manifest.json");
    fs::write(&manifest, text).expect("written");
    let file = File::options().write(true).open(&manifest).expect("opened");
    file.set_modified(UNIX_EPOCH + Duration::from_secs(1_795_000_000)).expect("a time");
    path
}

/// Three runs, one of them with a failed case and a note, and a folder that is not a run.
pub fn stored_runs() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    write(root.path(), "20261119-101500-passes", "2026-11-19 10:15:00", 1.0, None);
    write(root.path(), "20261120-223758-passes", "2026-11-20 22:37:58", 1.2, None);
    let third = write(root.path(), "deep/20261121-080000-passes", "2026-11-21 08:00:00", 1.0, Some(4));
    crate::run::note::write(&third, "after the kernel update").expect("written");
    foreign(root.path(), "somebody-else", "{\"name\": \"a web application\"}");
    root
}

/// The app over these runs, with an I/O worker that answers synchronously.
pub fn over(root: &Path, theme: Theme) -> (App, script::Scripted) {
    let runner = script::Scripted::default();
    let mut app = app(&runner, theme);
    app.look_below(root.to_owned());
    app.io_worker.iter_mut().for_each(|io_worker| io_worker.at_once = true);
    app.tick(NOW);
    (app, runner)
}

/// Types a key and processes its effects.
pub fn press(app: &mut App, code: KeyCode) {
    app.take(Incoming::Key(KeyEvent::from(code)), NOW);
    app.receive(NOW);
    app.tick(NOW);
}

pub fn typed(app: &mut App, text: &str) {
    text.chars().for_each(|c| press(app, KeyCode::Char(c)));
}

/// The app with the list of the runs below `root` open.
pub fn listed(root: &Path, theme: Theme) -> App {
    let mut app = over(root, theme).0;
    typed(&mut app, "o");
    app
}

/// The names of the shown entries.
pub fn names(app: &App) -> Vec<String> {
    app.state.runs.shown().map(|entry| entry.name.clone()).collect()
}
