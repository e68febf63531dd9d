//! `scatterlab replay`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use super::interrupt::Interrupt;
use super::recipes::{Source, with_warnings};
use super::run::overrides;
use super::{CANNOT_TELL, CASES_FAILED, DIFFERS, copies, headless, out};
use crate::engine::clock;
use crate::recipe::plan::{Plan, slug};
use crate::report::judge::Comparison;
use crate::report::replay::{self, VERDICTS};
use crate::report::write_of_run;
use crate::run::client::EngineCommand;
use crate::run::folder::fresh_path;
use crate::run::layout::Manifest;
use crate::run::stored::{self, Stored};
use crate::run::{EngineRunner, index, repeat};
use crate::shell;

#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// A run folder, or a recipe, of which the newest stored run is replayed
    #[arg(value_name = "FOLDER|RECIPE", value_hint = ValueHint::AnyPath)]
    target: OsString,
    /// How much longer or shorter a time may be and still count as the same
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = super::compare::margin)]
    margin: f64,
    /// Minimum number of rounds per case
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: Option<u32>,
    /// With a recipe: the value of --backend when the stored run was started
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// With a recipe: the value of --set when the stored run was started
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Folder for the new run
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Folder of stored runs; without --out, the new run goes there, too
    #[arg(long, value_name = "DIR", default_value = ROOT)]
    root: PathBuf,
}

/// The default folder of runs.
const ROOT: &str = "reports";

/// Runs a stored plan again and judges the new results against the stored ones.
pub fn run(arguments: &ReplayArguments, engine: EngineCommand) -> anyhow::Result<ExitCode> {
    if let Some(status) = copies::refused("replay") {
        return Ok(status);
    }
    let stored = find(arguments)?;
    let shortfall = replay::enough(&stored, arguments.margin)?;
    let plan = raised(stored.manifest.plan.clone(), arguments.rounds);
    let stem = slug(&plan.title);
    let folder = arguments.out.clone().unwrap_or_else(|| fresh_path(&arguments.root, &clock::now(), &stem));
    let (path, manifest) = (stored.path.display(), &stored.manifest);
    let about = format!("replays {path}, measured {} on {}", manifest.started, manifest.environment.host);
    out::line(&about);
    shortfall.iter().for_each(|words| out::line(words));
    let (out, root) = (Some(folder.clone()), arguments.root.clone());
    let runner = EngineRunner { engine, out, root, profiles: Vec::new(), reports: Some(write_of_run) };
    let interrupt = Interrupt::listen()?;
    let summary = headless::run(&runner, plan, &stored.recipe, &interrupt)?;
    let verdicts = replay::judge(&stored, &folder, arguments.margin)?;
    verdicts.judged.lines().iter().for_each(|line| out::line(line));
    out::line(&format!("verdicts: {}", verdicts.path.display()));
    Ok(ExitCode::from(status(!summary.is_success(), &verdicts.comparison)))
}

fn status(incomplete: bool, comparison: &Comparison) -> u8 {
    match () {
        () if incomplete => CASES_FAILED,
        () if comparison.count("differ") > 0 => DIFFERS,
        () if comparison.count("cannot tell") > 0 => CANNOT_TELL,
        () => 0,
    }
}

/// The plan with at least this many rounds.
fn raised(mut plan: Plan, rounds: Option<u32>) -> Plan {
    let Some(rounds) = rounds else { return plan };
    for experiment in &mut plan.experiments {
        experiment.measure.rounds = experiment.measure.rounds.max(rounds);
    }
    plan.overrides.push(format!("--rounds {rounds}"));
    plan
}

fn find(arguments: &ReplayArguments) -> anyhow::Result<Stored> {
    let target = Path::new(&arguments.target);
    if target.is_dir() {
        if !arguments.set.is_empty() || !arguments.backend.is_empty() {
            bail!("--set and --backend are for recipes; {} was run with its own", target.display());
        }
        return Stored::open(target).map(with_warnings);
    }
    let source = Source::find(&arguments.target)?;
    let plan = source.resolve(&overrides(&arguments.set, &arguments.backend)?)?;
    let found = index::candidates(&arguments.root, index::DEPTH);
    let mut same: Vec<(String, PathBuf)> = found.into_iter().filter_map(|path| run_of(path, &plan)).collect();
    same.sort();
    // A run that ended before its first result, or cannot be read, cannot serve as the baseline.
    let newest = same.iter().rev().filter_map(|(_, path)| Stored::open(path).ok()).find(Stored::has_results);
    newest.with_context(|| {
        let (name, root) = (source.name(), arguments.root.display());
        format!(
            "no stored run of {name} with results below {root}; this makes one: {}",
            advice(&source, &plan, &arguments.root)
        )
    })
}

/// The start time and path of a folder that holds a run of this plan and is not a replay.
fn run_of(path: PathBuf, plan: &Plan) -> Option<(String, PathBuf)> {
    // A folder that cannot be read is not a match.
    let manifest = stored::manifest(&path).ok()?;
    let is = (&manifest.plan.recipe_hash, &manifest.plan.overrides) == (&plan.recipe_hash, &plan.overrides);
    (is && !is_replay(&manifest, &path)).then_some((manifest.started, path))
}

/// Whether a run is itself a replay, including one that ended before its verdicts. If replays were judged
/// against each other, results could drift away from the original run.
fn is_replay(manifest: &Manifest, path: &Path) -> bool {
    path.join(VERDICTS).exists() || repeat::is_replay(&manifest.command_line)
}

/// The command line that makes a run of this plan in the folder being searched.
fn advice(source: &Source, plan: &Plan, root: &Path) -> String {
    let mut words = vec!["scatterlab".to_owned(), "run".to_owned(), shell::path(&source.path)];
    words.extend(shell::options(&plan.overrides));
    if root != Path::new(ROOT) {
        let out = fresh_path(root, &clock::now(), &slug(&plan.title));
        words.extend(["--out".to_owned(), shell::path(&out)]);
    }
    words.join(" ")
}
