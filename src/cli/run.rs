//! `scatterlab run`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;

use super::recipes::Source;
use super::{CASES_FAILED, RunArguments, dry_run, headless};
use crate::engine::client::EngineCommand;
use crate::plan::{Overrides, Plan};
use crate::run::EngineRunner;

/// Resolves all recipes before the first of them runs, then runs one after the other.
pub fn run(arguments: &RunArguments, engine: EngineCommand) -> anyhow::Result<ExitCode> {
    let overrides = overrides(arguments)?;
    let plans = arguments
        .recipes
        .iter()
        .map(|name| {
            let source = Source::find(name)?;
            let plan = source.resolve(&overrides)?;
            Ok((source, plan))
        })
        .collect::<anyhow::Result<Vec<(Source, Plan)>>>()?;
    if arguments.dry_run {
        dry_run::print(&plans, &engine)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut incomplete = false;
    for (source, plan) in plans {
        let out = folder(arguments, &source);
        let runner = EngineRunner { engine: engine.clone(), out, root: PathBuf::from("reports") };
        let summary = headless::run(&runner, plan, &source.text)?;
        incomplete |= summary.failed + summary.unfinished > 0;
    }
    Ok(if incomplete { ExitCode::from(CASES_FAILED) } else { ExitCode::SUCCESS })
}

fn overrides(arguments: &RunArguments) -> anyhow::Result<Overrides> {
    let mut set = Vec::new();
    for pair in &arguments.set {
        match pair.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                set.push((key.trim().to_owned(), value.trim().to_owned()));
            }
            _ => bail!("--set {pair}: expected KEY=VALUE, such as --set tuples=16Mi"),
        }
    }
    Ok(Overrides { set, backends: arguments.backend.clone() })
}

/// With several recipes each has its own folder below `--out`.
fn folder(arguments: &RunArguments, source: &Source) -> Option<PathBuf> {
    let out = arguments.out.as_ref()?;
    Some(if arguments.recipes.len() > 1 { out.join(source.stem()) } else { out.clone() })
}
