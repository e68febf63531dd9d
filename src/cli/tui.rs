//! Starts the terminal user interface.

use std::borrow::Cow;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::bail;

use super::recipes::{Source, as_recipe, shipped_name};
use super::{out, profile};
use crate::case::{Availability, Device, backends};
use crate::engine::client::{Client, EngineCommand};
use crate::inputs::indices::LocalFiles;
use crate::primitives;
use crate::recipe::plan::{Overrides, Plan};
use crate::recipe::shipped::shipped;
use crate::report::series::charted;
use crate::report::write_of_run;
use crate::run::stored::Stored;
use crate::run::{EngineRunner, estimate, newest};
use crate::spatter::suite::looks_like_a_suite;
use crate::tui::config::Config;
use crate::tui::{self, LastRun, Lookups, OWN, Options, RecipeEntry, Remote, Wanted};

/// Opens the user interface, or explains the alternative if there is no terminal.
pub fn run(engine: EngineCommand, config: Config) -> anyhow::Result<ExitCode> {
    if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
        bail!(
            "the user interface needs a terminal; without one, run a recipe: \
             scatterlab run quickstart (scatterlab --help lists the commands)"
        );
    }
    // Only recipes of this folder refer to files; shipped recipes name none.
    let files = LocalFiles::of(Path::new("."));
    let (devices, latency) = devices(&engine);
    let root = PathBuf::from("reports");
    let left = tui::run(Options {
        recipes: shipped_entries().into_iter().chain(local_entries(Path::new("."))).collect(),
        devices,
        remote: engine.name().map(|name| Remote { name, latency }),
        config,
        mode: tui::Mode::Run,
        lookups: Some(lookups(engine.clone(), root.clone())),
        root: Some(root.clone()),
        profiles: profile::known(),
        save_profile: profile::keep,
        runner: Box::new(EngineRunner {
            engine,
            out: None,
            root,
            profiles: Vec::new(),
            reports: Some(write_of_run),
        }),
        resolve: Arc::new(move |entry: &RecipeEntry, overrides: &Overrides, wanted: Wanted| {
            let source = Source { name: entry.path.clone(), text: entry.text.clone() };
            source.resolve_until(overrides, &files, wanted).map_err(|error| format!("{error:#}"))
        }),
    })?;
    left.iter().for_each(|text| out::line(text));
    Ok(ExitCode::SUCCESS)
}

/// The preview's sources beyond the plan: every backend's pace, from a separate engine, and the newest run
/// below `root`.
fn lookups(engine: EngineCommand, root: PathBuf) -> Lookups {
    let backends: Vec<String> = backends::names().map(str::to_owned).collect();
    let paces = move |stop: &AtomicBool| {
        estimate::paces(&engine, &backends, 0, &mut || stop.load(Ordering::Relaxed))
            .map_err(|error| format!("{error:#}"))
    };
    let last = move |plan: &Plan, stop: &AtomicBool| {
        let wanted = || !stop.load(Ordering::Relaxed);
        newest::of_recipe(&root, &plan.recipe_hash, &plan.overrides, &wanted).map(last_run)
    };
    Lookups { paces: Arc::new(paces), last: Arc::new(last) }
}

fn last_run(stored: Stored) -> LastRun {
    let records = stored.ledger.records();
    let done = records.iter().filter(|record| record.statistics.is_some()).count();
    LastRun {
        folder: stored.path.clone(),
        started: stored.manifest.started.clone(),
        overrides: stored.manifest.plan.overrides.clone(),
        done: (done, records.len()),
        chart: charted(stored.ledger.plan(), 0, records, Some(stored.ledger.references())),
        baseline: Arc::new(tui::Baseline::new(&stored.path, &stored.ledger)),
    }
}

/// A text such as `scalar AMD EPYC · cpu AMD EPYC · cuda n/a: no CUDA driver`, or why no engine answers; for a
/// remote engine, also its latency.
fn devices(engine: &EngineCommand) -> (String, Option<Duration>) {
    let (mut client, hello) = match Client::spawn(engine) {
        Ok(engine) => engine,
        Err(error) => return (format!("no engine: {error:#}"), None),
    };
    let latency = if *engine == EngineCommand::Own { None } else { client.round_trip() };
    let word = |device: &Device| match &device.availability {
        Availability::Available => format!("{} {}", device.backend, device.name),
        Availability::Unavailable { reason } => format!("{} n/a: {reason}", device.backend),
    };
    (hello.devices.iter().map(word).collect::<Vec<_>>().join(" · "), latency)
}

/// The shipped recipes, grouped by folder.
fn shipped_entries() -> Vec<RecipeEntry> {
    shipped()
        .iter()
        .map(|recipe| {
            let name = shipped_name(recipe.path);
            RecipeEntry {
                group: name.split_once('/').map_or("", |(group, _)| group).to_owned(),
                title: name.rsplit('/').next().unwrap_or(name).to_owned(),
                path: name.to_owned(),
                text: recipe.text.to_owned(),
            }
        })
        .collect()
}

/// Recipes in a user's folder, listed by file name under `this folder`. A recipe with a mistake is included:
/// its preview shows the error.
fn local_entries(folder: &Path) -> Vec<RecipeEntry> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
    let mut entries: Vec<RecipeEntry> = files.filter_map(|path| local_entry(&path)).collect();
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    entries
}

fn local_entry(path: &Path) -> Option<RecipeEntry> {
    let is_one: fn(&str) -> bool = match path.extension()?.to_str()? {
        "yaml" | "yml" => looks_like_a_recipe,
        "json" => looks_like_a_suite,
        _ => return None,
    };
    let text = fs::read_to_string(path).ok().filter(|text| is_one(text))?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    // A suite with a mistake is kept as it is, and resolving it reports the error.
    let text = as_recipe(&name, &text).map(Cow::into_owned).unwrap_or(text);
    Some(RecipeEntry {
        group: OWN.to_owned(),
        title: path.file_stem()?.to_string_lossy().into_owned(),
        path: name,
        text,
    })
}

/// Whether a YAML file is a recipe, since folders may hold other YAML files too: a recipe has a primitive or
/// `experiments` at its top level.
fn looks_like_a_recipe(text: &str) -> bool {
    let names = primitives::registry().iter().map(|p| p.name()).chain(["experiments"]);
    let keys: Vec<String> = names.map(|name| format!("{name}:")).collect();
    text.lines().any(|line| keys.iter().any(|key| line.starts_with(key)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_of_the_folder_are_listed_and_other_yaml_is_not() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("file");
        write("mine.yaml", "scatter: {tuples: 1Ki}\n");
        write("broken.yml", "title: x\ngather: [\n");
        write("compose.yaml", "services:\n  scatter: {}\n");
        write("notes.txt", "scatter: {}\n");
        write("suite.json", "[{\"pattern\": \"UNIFORM:8:1\"}]");
        write("wrong.json", "[{\"patern\": 8}]");
        write("package.json", "{\"name\": \"x\"}");
        let names: Vec<String> = local_entries(folder.path()).into_iter().map(|e| e.path).collect();
        assert_eq!(names, ["broken.yml", "mine.yaml", "suite.json", "wrong.json"]);
        let text = |name: &str| local_entry(&folder.path().join(name)).expect("an entry").text;
        assert!(text("suite.json").contains("uniform: {length: 8, stride: 1}"), "{}", text("suite.json"));
        let source = Source { name: "wrong.json".to_owned(), text: text("wrong.json") };
        let error = source.resolve(&Overrides::default()).expect_err("a mistake").to_string();
        assert!(error.starts_with("wrong.json:1:3: unknown key `patern`"), "{error}");
    }
}
