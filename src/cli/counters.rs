//! `scatterlab counters`: prints the profiler's command line for cases. Runs nothing.

mod profilers;
mod traffic;

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};

use super::out;
use super::recipes::Source;
use super::run::overrides as read_overrides;
use crate::case::gpus::Gpus;
use crate::case::{Case, Work};
use crate::engine::executors;
use crate::primitives;
use crate::recipe::plan::{Overrides, Plan, called};
use crate::run::stored::Stored;
use crate::shell::{self, quoted};

#[derive(Debug, Args)]
pub struct CountersArguments {
    /// Cases, as for run --only: labels, identities or their beginnings, as shown by --dry-run, or titles of
    /// experiments
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<String>,
    /// The recipe or the run folder that contains the cases
    #[arg(required = true, value_name = "RECIPE|FOLDER", value_hint = ValueHint::AnyPath)]
    from: OsString,
    /// The recipe's backends, as for run
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, as for run
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// The source of the cases, and the means to run them.
struct Origin {
    /// Recipe file or name of a shipped recipe, for the command line.
    recipe: PathBuf,
    overrides: Overrides,
    plan: Plan,
    stored: Option<Stored>,
}

/// A case to be profiled.
struct Subject<'a> {
    case: &'a Case,
    label: String,
    work: Work,
    /// Seconds of one execution, if the case was measured.
    median: Option<f64>,
    /// The command line that runs one round of this case alone.
    run: String,
}

/// Prints the command lines, with guidance as shell comments.
pub fn run(arguments: &CountersArguments) -> anyhow::Result<ExitCode> {
    let origin = origin(arguments)?;
    let called = |word: &String| {
        called(&origin.plan, word).map_err(|unknown| anyhow!("{}: {unknown}", arguments.from.display()))
    };
    let cases = arguments.cases.iter().map(called).collect::<anyhow::Result<Vec<_>>>()?;
    for (number, case) in cases.into_iter().flatten().enumerate() {
        let subject = subject(&origin, case)?;
        if number > 0 {
            out::line("");
        }
        describe(&subject).iter().for_each(|text| out::lines(text));
    }
    Ok(ExitCode::SUCCESS)
}

fn origin(arguments: &CountersArguments) -> anyhow::Result<Origin> {
    let path = Path::new(&arguments.from);
    if !path.is_dir() {
        let source = Source::find(&arguments.from)?;
        let overrides = read_overrides(&arguments.set, &arguments.backend)?;
        let plan = source.resolve(&overrides)?;
        return Ok(Origin { recipe: PathBuf::from(&arguments.from), overrides, plan, stored: None });
    }
    if !arguments.set.is_empty() || !arguments.backend.is_empty() {
        bail!("--set and --backend are for recipes; {} was run with its own", path.display());
    }
    let stored = Stored::open(path)?;
    let (recipe, plan) = (path.join("recipe.yaml"), stored.manifest.plan.clone());
    let overrides = of_words(&plan.overrides)
        .with_context(|| format!("{}: what the command line changed", path.display()))?;
    Ok(Origin { recipe, overrides, plan, stored: Some(stored) })
}

/// Parses the overrides that a stored plan lists, such as `--set tuples=1Mi` and `--backend cpu`. The selection
/// of cases and the number of rounds are ignored: profiling runs one case once.
fn of_words(words: &[String]) -> anyhow::Result<Overrides> {
    let (mut set, mut backends) = (Vec::new(), Vec::new());
    for word in words {
        match word.split_once(' ') {
            Some(("--set", pair)) => set.push(pair.to_owned()),
            Some(("--backend", list)) => backends.extend(list.split(',').map(str::to_owned)),
            Some(("--only" | "--rounds", _)) => {}
            _ => bail!("`{word}` is not known"),
        }
    }
    read_overrides(&set, &backends)
}

/// Refuses a case that the stored recipe no longer makes when resolved from the run's folder: the printed
/// command line would fail.
fn refuse_unrepeatable(origin: &Origin, stored: &Stored, case: &Case) -> anyhow::Result<()> {
    let source = Source::of_file(&origin.recipe, &stored.recipe);
    let plan = source.resolve(&origin.overrides);
    let recipe = origin.recipe.display();
    let advice = "instead of the folder, give the recipe from which the run was made";
    match plan {
        Ok(plan) if plan.cases.iter().any(|made| made.id == case.id) => Ok(()),
        Ok(_) => bail!("{recipe} no longer contains the case {}; {advice}", case.id),
        Err(error) => bail!("{recipe} cannot be run from its folder ({error:#}); {advice}"),
    }
}

fn subject<'a>(origin: &'a Origin, case: &'a Case) -> anyhow::Result<Subject<'a>> {
    if let Some(peer) = case.peer() {
        bail!(
            "case {}: {} is a peer; profile its program, which runs a case by hand with --csv",
            case.id,
            peer
        );
    }
    let primitive = primitives::find(&case.primitive);
    let primitive =
        primitive.with_context(|| format!("case {}: no primitive {}", case.id, case.primitive))?;
    let work = primitive.work(&case.params).map_err(|refusal| anyhow!("case {}: {refusal}", case.id))?;
    if Gpus::of(&case.params).several() {
        bail!("case {}: counters cover one GPU, but the case uses several", case.id);
    }
    if let Some(stored) = &origin.stored {
        refuse_unrepeatable(origin, stored, case)?;
    }
    let record = origin.stored.as_ref().and_then(|stored| {
        let at = stored.ledger.position(&case.id)?;
        stored.ledger.records()[at].statistics.as_ref()
    });
    Ok(Subject {
        case,
        label: origin.plan.experiments[case.experiment].label(case),
        work,
        median: record.map(|statistics| statistics.median),
        run: command(origin, case)?,
    })
}

impl Subject<'_> {
    /// The run with this many samples, into a folder of its own, because a profiler distorts the times.
    fn command(&self, samples: u64) -> String {
        format!("{} --set measure.samples={samples} --out \"$(mktemp -d)\"", self.run)
    }
}

/// The command line `scatterlab run RECIPE --only CASE …`, with one round.
fn command(origin: &Origin, case: &Case) -> anyhow::Result<String> {
    let program = env::current_exe().context("cannot find out where this program is")?;
    let mut words = vec![shell::path(&program), "run".to_owned(), shell::path(&origin.recipe)];
    words.extend(shell::options(&origin.overrides.words()));
    words.extend(["--only".to_owned(), quoted(&case.id), "--set measure.rounds=1".to_owned()]);
    Ok(words.join(" "))
}

/// Everything about a case, in a form that can be pasted whole into a shell.
fn describe(subject: &Subject) -> Vec<String> {
    let case = subject.case;
    let mut comments = vec![format!("case {}: {}: {}", case.id, case.primitive, subject.label)];
    comments.extend(traffic::lines(&subject.work, subject.median));
    let (tool, install, (commands, advice)) = match case.backend() {
        "cuda" => match executors::launched(case) {
            Ok(launched) => {
                let install = "it is Nsight Compute's command line, a part of the CUDA toolkit";
                ("ncu", install, profilers::ncu(subject, &launched))
            }
            Err(failure) => return commented(vec![failure.to_string()]),
        },
        _ => {
            let install = "it comes with the kernel's tools (linux-perf, linux-tools, perf)";
            ("perf", install, profilers::perf(subject))
        }
    };
    if shell::find(tool).is_none() {
        comments.push(format!("{tool} is not on the PATH here: {install}"));
    }
    [commented(comments), commands, commented(advice)].concat()
}

fn commented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("# {line}")).collect()
}

#[cfg(test)]
mod tests;
