//! `scatterlab run`, also with `--dry-run` and `--resume`.

use std::collections::{BTreeSet, HashSet};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::{Context, bail};
use clap::Args;

use super::export::{Export, ExportArguments};
use super::format::{Format, OF_TABLES, Output, one_of};
use super::headless::{self, Summary};
use super::interrupt::Interrupt;
use super::profile::ProfileArguments;
use super::recipes::{Source, with_warnings};
use super::{CASES_FAILED, copies, out, report, results};
use crate::case::peers::of_backend;
use crate::case::{Case, units};
use crate::primitives::sssp;
use crate::recipe::plan::{Overrides, Plan};
use crate::recipe::published;
use crate::report::{file_names, write_of_run};
use crate::run::advice::{Commands, assess};
use crate::run::client::EngineCommand;
use crate::run::estimate::{self, Cost, Estimate, Paces};
use crate::run::repeat::{from_here, line, of_stored, with_more, without};
use crate::run::runner::Runner;
use crate::run::stored::Stored;
use crate::run::{self, EngineRunner, Interrupted, Ledger, events};

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Recipe files, or names of shipped recipes such as quickstart or he2007/fig09-passes
    #[arg(required_unless_present = "resume", value_name = "RECIPE")]
    recipes: Vec<OsString>,
    /// Resume an interrupted run in its folder; rounds on file are kept unless processors, device, driver or
    /// program have changed
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["recipes", "backend", "set", "only", "out", "dry_run", "profile"])]
    resume: Option<PathBuf>,
    /// With --resume: refuse if rounds on file would be set aside and measured again
    #[arg(long, requires = "resume")]
    strict: bool,
    /// Run on these backends instead of the recipe's: scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, in the recipe's own syntax: --set tuples=1Mi..16Mi x2
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Run only these cases: labels, identities or their beginnings, as shown by --dry-run, or titles of experiments
    #[arg(long, value_delimiter = ',', value_name = "CASE")]
    only: Vec<String>,
    /// End each run after this time, such as 2m or 90s: once every case has its rounds, the cases with the widest
    /// intervals get further rounds first. The same as --set measure.max-time=TIME
    #[arg(long, value_name = "TIME")]
    max_time: Option<String>,
    /// Folder for the results; with several recipes, a subfolder for each
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the cases with their memory and estimated time, and measure nothing
    #[arg(long)]
    dry_run: bool,
    /// Write the results to standard output and progress to standard error; csv takes a single
    /// run, because each has its own columns
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES), conflicts_with = "dry_run")]
    format: Option<Format>,
    /// Print only what fails and, in the end, how far to trust the results
    #[arg(short, long, conflicts_with = "dry_run")]
    quiet: bool,
    #[command(flatten)]
    export: ExportArguments,
    #[command(flatten)]
    profile: ProfileArguments,
}

/// Resumes a run, or runs recipes.
pub fn run(arguments: &RunArguments, engine: EngineCommand) -> anyhow::Result<ExitCode> {
    let Some(folder) = &arguments.resume else { return run_recipes(arguments, engine) };
    if arguments.max_time.is_some() {
        bail!(
            "--resume takes no --max-time: the run continues with the recipe in its folder, whose measure.max-time \
             counts from now on; to end it sooner, press ctrl-c"
        );
    }
    if let Some(status) = copies::refused("run") {
        return Ok(status);
    }
    let mut outputs = Outputs::open(arguments, 1)?;
    let summary = resume(folder, &engine, arguments, &Interrupt::listen()?)?;
    let success = closed(&summary, &engine, None, &mut outputs)?;
    outputs.end()?;
    Ok(if success { ExitCode::SUCCESS } else { ExitCode::from(CASES_FAILED) })
}

/// Resolves all recipes before the first one runs, then runs them in order.
fn run_recipes(arguments: &RunArguments, engine: EngineCommand) -> anyhow::Result<ExitCode> {
    let mut outputs = Outputs::open(arguments, arguments.recipes.len())?;
    let mut set = arguments.set.clone();
    set.extend(arguments.max_time.iter().map(|time| format!("measure.max-time={time}")));
    let overrides = Overrides { only: arguments.only.clone(), ..overrides(&set, &arguments.backend)? };
    let plans = arguments
        .recipes
        .iter()
        .map(|name| {
            let source = Source::find(name)?;
            let plan = source.resolve(&overrides)?;
            Ok((source, plan))
        })
        .collect::<anyhow::Result<Vec<(Source, Plan)>>>()?;
    let profiles = arguments.profile.profiles()?;
    if arguments.dry_run {
        dry_run(&plans, &engine)?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(status) = copies::refused("run") {
        return Ok(status);
    }
    let stems: Vec<String> = plans.iter().map(|(source, _)| source.stem()).collect();
    let folders = folders(arguments.out.as_deref(), &stems);
    let interrupt = Interrupt::listen()?;
    let mut incomplete = false;
    for (at, ((source, plan), out)) in plans.into_iter().zip(folders).enumerate() {
        if interrupt.requested() {
            out::line(&format!("{}: not started", source.name()));
            incomplete = true;
            continue;
        }
        if !arguments.quiet {
            remarks(&plan).iter().for_each(|remark| out::line(remark));
        }
        let (root, profiles) = (PathBuf::from("reports"), profiles.clone());
        let runner =
            EngineRunner { engine: engine.clone(), out, root, profiles, reports: Some(write_of_run) };
        let running = runner.start(plan.clone(), &source.text)?;
        let summary = headless::watch(&running, Ledger::new(plan), &interrupt, arguments.quiet)?;
        incomplete |= !closed(&summary, &engine, Some(typed(&arguments.recipes, at)), &mut outputs)?;
    }
    outputs.end()?;
    Ok(if incomplete { ExitCode::from(CASES_FAILED) } else { ExitCode::SUCCESS })
}

/// Destinations of the results of the runs.
struct Outputs<'a> {
    output: Output,
    export: Export<'a>,
    quiet: bool,
}

impl Outputs<'_> {
    fn open(arguments: &RunArguments, runs: usize) -> anyhow::Result<Outputs<'_>> {
        let (output, export) = (Output::open(arguments.format, runs)?, arguments.export.open()?);
        Ok(Outputs { output, export, quiet: arguments.quiet })
    }

    fn is_asked_for(&self) -> bool {
        self.output.is_asked_for() || self.export.is_asked_for()
    }

    fn results(&mut self, run: &Stored) -> anyhow::Result<()> {
        self.export.add(run);
        if self.output.is_asked_for() {
            return self.output.results(run);
        }
        if !self.quiet {
            results::print(&run.ledger);
        }
        Ok(())
    }

    fn end(self) -> anyhow::Result<()> {
        self.output.end()?;
        self.export.end()
    }
}

/// The command line that measures recipe number `at` of these again: the one that was typed, without the other recipes and
/// the files that it wrote.
fn typed(recipes: &[OsString], at: usize) -> Vec<OsString> {
    let words: Vec<OsString> = env::args_os().skip(1).collect();
    let words = ["--out", "--export-markdown"].iter().fold(words, |words, option| without(&words, option));
    let other = |word: &OsString| recipes.contains(word) && *word != recipes[at];
    std::iter::once("scatterlab".into()).chain(words.into_iter().filter(|word| !other(word))).collect()
}

/// Prints the results of a run and its assessment; `again` is the command that was typed to measure it, unless the run
/// was resumed. Returns whether it was a success.
fn closed(
    summary: &Summary,
    engine: &EngineCommand,
    again: Option<Vec<OsString>>,
    outputs: &mut Outputs,
) -> anyhow::Result<bool> {
    // The folder of a run that was cancelled before an engine answered is gone, and there is nothing to show.
    let stored = match Stored::open(&summary.folder) {
        Err(error) if outputs.is_asked_for() => return Err(error),
        stored => stored.ok(),
    };
    if let Some(stored) = stored {
        outputs.results(&stored)?;
        let option = if again.is_some() { String::new() } else { engine.option() };
        let again = again.unwrap_or_else(|| from_here(&stored.path, &of_stored(&stored.manifest)));
        let commands = Commands {
            resume: engine.command_line("run --resume", &summary.folder),
            again: &|more| line(&with_more(&again, more)) + &option,
            report: EngineCommand::Own.command_line("report", &summary.folder),
            doctor: format!("scatterlab doctor{}", engine.option()),
        };
        let lines = assess(&stored.ledger, &commands);
        lines.iter().flatten().for_each(|line| out::line(line));
    }
    Ok(summary.is_success())
}

/// The overrides given by `--set` and `--backend`.
pub fn overrides(pairs: &[String], backends: &[String]) -> anyhow::Result<Overrides> {
    let mut set = Vec::new();
    for pair in pairs {
        match pair.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                set.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            _ => bail!("--set {pair}: expected KEY=VALUE, such as --set tuples=16Mi"),
        }
    }
    Ok(Overrides { set, backends: backends.to_vec(), ..Overrides::default() })
}

/// One folder per recipe: `out` itself for a single recipe, otherwise a folder for each below it. A repeated
/// name gets a number.
pub fn folders(out: Option<&Path>, stems: &[String]) -> Vec<Option<PathBuf>> {
    let Some(out) = out else { return vec![None; stems.len()] };
    if stems.len() == 1 {
        return vec![Some(out.to_owned())];
    }
    let mut taken = HashSet::new();
    stems.iter().map(|stem| Some(out.join(numbered(&mut taken, stem, '-')))).collect()
}

/// The name, or if it is taken, the name with the first number from 2 on that is free; it is taken from now on.
pub fn numbered(taken: &mut HashSet<String>, name: &str, before_number: char) -> String {
    let others = (2..).map(|n| format!("{name}{before_number}{n}"));
    let mut names = std::iter::once(name.to_owned()).chain(others);
    names.find(|name| taken.insert(name.clone())).unwrap_or_default()
}

/// Continues an interrupted run. A complete run only has its tables and charts rewritten if any is missing or
/// outdated.
///
/// `--strict` refuses a machine on which rounds on file would be set aside.
fn resume(
    folder: &Path,
    engine: &EngineCommand,
    arguments: &RunArguments,
    interrupt: &Interrupt,
) -> anyhow::Result<Summary> {
    let stored = with_warnings(Stored::open(folder)?);
    if !stored.ledger.is_complete() {
        let mut run = Interrupted::open(folder)?;
        run.strict = arguments.strict;
        let ledger = run.stored.ledger.clone();
        let running = run::resume(engine, run, Some(write_of_run))?;
        return headless::watch(&running, ledger, interrupt, arguments.quiet);
    }
    let summary = Summary::of(&stored.ledger, folder);
    out::line(&format!("the run is complete: {} → {}", summary.words(), folder.display()));
    if is_stale(&stored) {
        out::line(&report::render(&stored)?);
    }
    Ok(summary)
}

/// True if a table or a chart is missing or older than the events.
fn is_stale(run: &Stored) -> bool {
    let changed = |path: &Path| -> Option<SystemTime> { fs::metadata(path).ok()?.modified().ok() };
    let events = changed(&events::file(&run.path));
    file_names(&run.manifest.plan).iter().any(|name| changed(&run.path.join(name)) < events)
}

/// Prints every plan's cases. The time estimate rests on a quick copy measured on each backend.
fn dry_run(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<()> {
    let paces = paces(plans, engine)?;
    for (source, plan) in plans {
        let cases = plan.case_count();
        out::line(&format!("{} ({}): {cases}", plan.title, source.name()));
        remarks(plan).iter().for_each(|remark| out::line(remark));
        for (number, experiment) in plan.experiments.iter().enumerate() {
            if plan.experiments.len() > 1 {
                out::line(&experiment.title);
            }
            let own = plan.cases.iter().filter(|case| case.experiment == number);
            own.for_each(|case| out::line(&format!("  {}", describe(plan, case, &paces))));
        }
        let estimate = Estimate::of(plan, &paces, &|| true);
        out::line(&match estimate.absent.first() {
            Some((reason, _)) if estimate.runnable == 0 => format!("nothing to measure here: {reason}"),
            _ => format!("estimated time: {}", estimate::span(estimate.seconds, estimate.most)),
        });
    }
    for (backend, pace) in paces.iter().filter(|(backend, _)| of_backend(backend).is_none()) {
        match pace {
            Ok(pace) => out::line(&format!("{backend}: copies {}", units::fmt_rate(pace.copy))),
            Err(reason) => out::line(&format!("{backend}: n/a: {reason}")),
        }
    }
    Ok(())
}

/// Remarks on a plan's files, where those who wrote them may expect another reading.
fn remarks(plan: &Plan) -> Vec<String> {
    let doubled = plan.cases.iter().filter(|case| sssp::doubles_arcs(&case.params));
    let files: BTreeSet<&str> = doubled.filter_map(|case| case.params.text("graph.file.path")).collect();
    let remark = |file: &str| {
        format!(
            "{file}: each arc that it lists is one in both directions (directions: both); accepted: both, given"
        )
    };
    files.into_iter().map(remark).chain(printed(plan)).collect()
}

/// Rows of the tables that charts draw which are of no case, and would silently be missing.
fn printed(plan: &Plan) -> Vec<String> {
    let mut remarks = Vec::new();
    for (number, experiment) in plan.experiments.iter().enumerate() {
        let Some(overlay) = &experiment.chart.overlay else { continue };
        let Some(table) = published::drawn(overlay) else { continue };
        let own = plan.cases.iter().filter(|case| case.experiment == number);
        let rows = || table.rows.iter().filter(|row| row.platform == overlay.platform);
        let strange = rows().filter_map(|row| Some((row.line, row.strange(own.clone())?)));
        let strange: Vec<(u64, String)> = strange.collect();
        if let Some((line, why)) = strange.first() {
            let (all, file) = (rows().count(), &overlay.file);
            let drawn = all - strange.len();
            remarks.push(format!(
                "{file}: {drawn} of {all} rows of {} are drawn; line {line}: {why}",
                overlay.platform
            ));
        }
    }
    remarks
}

fn paces(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<Paces> {
    let mut backends: Vec<String> =
        plans.iter().flat_map(|(_, p)| &p.cases).map(|c| c.place().0.to_owned()).collect();
    backends.sort();
    backends.dedup();
    let gpu = plans.iter().flat_map(|(_, p)| &p.cases).find(|case| case.place().0 == "cuda");
    estimate::paces(engine, &backends, gpu.map_or(0, Case::device), &mut || false)?
        .context("the engine's start was cancelled")
}

fn describe(plan: &Plan, case: &Case, paces: &Paces) -> String {
    let head = format!("{}  {}", case.id, plan.experiments[case.experiment].label(case));
    if let Some(first) = plan.repeats.get(&case.id) {
        return format!("{head}  measured as {first}");
    }
    match Cost::of(plan, case, paces) {
        Cost::Absent(reason) => format!("{head}  n/a: {reason}"),
        Cost::Unknown => head,
        Cost::Known { seconds, memory, .. } => {
            format!("{head}  {}  ~{}", units::fmt_bytes(memory), units::fmt_seconds(seconds))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_of_one_name_do_not_share_a_folder() {
        let stems = ["a", "b", "a"].map(str::to_owned);
        let names = |out: Option<&str>, stems: &[String]| {
            folders(out.map(Path::new), stems)
                .into_iter()
                .map(|f| f.map(|f| f.display().to_string()))
                .collect::<Vec<_>>()
        };
        let expected = ["out/a", "out/b", "out/a-2"].map(|f| Some(f.to_owned()));
        assert_eq!(names(Some("out"), &stems), expected);
        assert_eq!(names(Some("out"), &stems[..1]), [Some("out".to_owned())]);
        assert_eq!(names(None, &stems), [None, None, None]);
    }
}
