//! `scatterlab counters`: prints the profiler's command line for cases. Runs nothing.

mod ncu;
mod perf;
mod traffic;

use std::env;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use super::out;
use super::recipes::Source;
use super::run::overrides as read_overrides;
use crate::case::gpus::Gpus;
use crate::case::{Case, Work};
use crate::engine::executors;
use crate::primitives;
use crate::recipe::plan::{Overrides, Plan};
use crate::run::stored::Stored;
use crate::shell::{self, quoted};

#[derive(Debug, Args)]
pub struct CountersArguments {
    /// Cases: identities, or as many of their digits as tell them apart, from
    /// run --dry-run, results.csv or a chart
    #[arg(required = true, value_name = "CASE")]
    cases: Vec<String>,
    /// The recipe that holds them, or the folder of a run
    #[arg(required = true, value_name = "RECIPE|FOLDER", value_hint = ValueHint::AnyPath)]
    from: String,
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
    recipe: String,
    /// `--set` and `--backend` options as a command line has them.
    overrides: Vec<String>,
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
    /// The command-line words that run this case alone.
    run: Vec<String>,
}

/// Prints the command lines, with guidance as shell comments.
pub fn run(arguments: &CountersArguments) -> anyhow::Result<ExitCode> {
    let origin = origin(arguments)?;
    let cases =
        arguments.cases.iter().map(|id| find(&origin.plan, id)).collect::<anyhow::Result<Vec<_>>>()?;
    for (number, case) in cases.into_iter().enumerate() {
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
        return Ok(Origin {
            recipe: arguments.from.clone(),
            overrides: words(&overrides),
            plan,
            stored: None,
        });
    }
    if !arguments.set.is_empty() || !arguments.backend.is_empty() {
        bail!("--set and --backend are for recipes; {} was run with its own", path.display());
    }
    stored(path)
}

/// Opens a run's folder: the plan that was run, and its recipe with the overrides of its command line.
fn stored(path: &Path) -> anyhow::Result<Origin> {
    let stored = Stored::open(path)?;
    let (recipe, plan) = (path.join("recipe.yaml").display().to_string(), stored.manifest.plan.clone());
    let overrides = of_words(&plan.overrides)
        .with_context(|| format!("{}: what the command line changed", path.display()))?;
    Ok(Origin { recipe, overrides: words(&overrides), plan, stored: Some(stored) })
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
    let source = Source { name: origin.recipe.clone(), text: stored.recipe.clone() };
    let plan = source.resolve(&of_words(&origin.plan.overrides)?);
    let recipe = &origin.recipe;
    let advice = "give the recipe that the run was made of instead of the folder";
    match plan {
        Ok(plan) if plan.cases.iter().any(|made| made.id == case.id) => Ok(()),
        Ok(_) => bail!("{recipe} no longer makes the case {}; {advice}", case.id),
        Err(error) => bail!("{recipe} cannot be run from its folder ({error:#}); {advice}"),
    }
}

fn words(overrides: &Overrides) -> Vec<String> {
    let backends = (!overrides.backends.is_empty()).then(|| overrides.backends.join(","));
    let mut words: Vec<String> =
        backends.into_iter().flat_map(|list| ["--backend".to_owned(), list]).collect();
    words
        .extend(overrides.set.iter().flat_map(|(key, value)| ["--set".to_owned(), format!("{key}={value}")]));
    words
}

/// The case with this identity, or the only one whose identity begins with `id`.
fn find<'p>(plan: &'p Plan, id: &str) -> anyhow::Result<&'p Case> {
    if let Some(exact) = plan.cases.iter().find(|case| case.id == id) {
        return Ok(exact);
    }
    let found: Vec<&Case> = plan.cases.iter().filter(|case| case.id.starts_with(id)).collect();
    match found.as_slice() {
        [one] => Ok(one),
        [] => bail!(
            "no case {id} in {}; accepted: identities as `run --dry-run` lists them, or their first digits",
            plan.title
        ),
        many => {
            let ids: Vec<&str> = many.iter().take(8).map(|case| case.id.as_str()).collect();
            let more = if many.len() > ids.len() { " …" } else { "" };
            bail!("{} cases start with {id}: {}{more}", many.len(), ids.join(", "))
        }
    }
}

fn subject<'a>(origin: &'a Origin, case: &'a Case) -> anyhow::Result<Subject<'a>> {
    if let Some(peer) = case.peer() {
        bail!(
            "case {}: {} is a peer; profile its program, which runs a case by hand with --csv",
            case.id,
            peer.name
        );
    }
    let work = primitives::find(&case.primitive).map(|primitive| primitive.work(&case.params));
    let work = match work {
        Some(Ok(work)) => work,
        Some(Err(refusal)) => bail!("case {}: {refusal}", case.id),
        None => bail!("case {}: no primitive {}", case.id, case.primitive),
    };
    if Gpus::of(&case.params).several() {
        bail!("case {}: counters are of one GPU, and the case takes several", case.id);
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
        let samples = ["--set".to_owned(), format!("measure.samples={samples}")];
        let words: Vec<String> = self.run.iter().chain(&samples).map(|word| quoted(word)).collect();
        words.join(" ") + " --out \"$(mktemp -d)\""
    }
}

/// The words `scatterlab run RECIPE --only CASE …`, with one round.
fn command(origin: &Origin, case: &Case) -> anyhow::Result<Vec<String>> {
    let program = env::current_exe().context("cannot tell where this program is")?;
    let mut words = vec![program.display().to_string(), "run".to_owned(), origin.recipe.clone()];
    words.extend(origin.overrides.iter().cloned());
    words.extend(["--only", &case.id, "--set", "measure.rounds=1"].map(str::to_owned));
    Ok(words)
}

/// Everything about a case, in a form that can be pasted whole into a shell.
fn describe(subject: &Subject) -> Vec<String> {
    let case = subject.case;
    let mut comments = vec![format!("case {}: {}: {}", case.id, case.primitive, subject.label)];
    comments.extend(traffic::lines(&subject.work, subject.median));
    let (tool, commands, advice) = match case.backend() {
        "cuda" => match executors::launched(case) {
            Ok(launched) => ("ncu", ncu::commands(subject, &launched), ncu::advice(subject, &launched)),
            Err(failure) => return commented(vec![failure.to_string()]),
        },
        _ => ("perf", perf::commands(subject), perf::advice(subject)),
    };
    if shell::find(tool).is_none() {
        comments.push(format!("{tool} is not on the PATH here: {}", install(tool)));
    }
    let mut lines = commented(comments);
    lines.extend(commands);
    lines.extend(commented(advice));
    lines
}

fn commented(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().map(|line| format!("# {line}")).collect()
}

fn install(tool: &str) -> &'static str {
    match tool {
        "ncu" => "it is Nsight Compute's command line, a part of the CUDA toolkit",
        _ => "it comes with the kernel's tools (linux-perf, linux-tools, perf)",
    }
}

#[cfg(test)]
mod tests;
