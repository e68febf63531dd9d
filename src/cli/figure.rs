//! `scatterlab figure`: draws a paper's figure from stored runs.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueHint};

use super::compare::names;
use super::out;
use super::recipes::open_run;
use crate::engine::protocol::Event;
use crate::report::figures::{self, FIGURES, Figure};
use crate::report::table::{Column, NO_UNIT, Table};
use crate::report::verdicts::{NamedRun, Pictured};
use crate::run::layout::MANIFEST;
use crate::run::stored::{Stored, each_event};

#[derive(Debug, Args)]
pub struct FigureArguments {
    /// Figure to draw, such as lavin2020/fig03; without one, all figures are listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Run folders with the results that the figure shows
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folders: Vec<PathBuf>,
    /// The file to write, with a .csv of the same name beside it (default: lavin2020-fig03.svg)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
}

/// Draws a figure without measuring anything.
pub fn run(arguments: &FigureArguments) -> anyhow::Result<ExitCode> {
    let Some(name) = &arguments.name else {
        list();
        return Ok(ExitCode::SUCCESS);
    };
    let figure = figures::find(name)?;
    if arguments.folders.is_empty() && !figure.recipes.is_empty() {
        bail!(
            "{}: give folders of runs with the results that it shows; to measure them: scatterlab run {}",
            figure.name,
            figure.recipes.join(" ")
        );
    }
    let file = file(arguments.out.as_deref(), figure)?;
    let stored = arguments.folders.iter().map(|path| open_run(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let runs: Vec<NamedRun> = stored
        .iter()
        .zip(names(&arguments.folders))
        .map(|(stored, name)| {
            let pictures = if figure.pictures { pictures(stored)? } else { Vec::new() };
            Ok(NamedRun { pictures, ..NamedRun::new(name, stored) })
        })
        .collect::<anyhow::Result<_>>()?;
    let drawn = figure.draw(&runs)?;
    drawn.text.iter().for_each(|text| out::lines(text));
    drawn.write(&file)?.iter().for_each(|path| out::line(&format!("written: {}", path.display())));
    Ok(ExitCode::SUCCESS)
}

/// The pictures that a run has recorded of each case until its first round was over: later rounds begin again.
fn pictures(stored: &Stored) -> anyhow::Result<Vec<Pictured>> {
    let (mut all, mut over) = (Vec::new(), HashSet::new());
    each_event(&stored.path, |line| match line.event {
        Event::Snapshot { case, picture, .. } if !over.contains(&case) => {
            all.push(Pictured { case, picture })
        }
        Event::Round { result, .. } => {
            over.insert(result.case);
        }
        _ => {}
    })?;
    Ok(all)
}

fn list() {
    let recipes = |figure: &Figure| match &*figure.recipes {
        [] => "none: it takes no runs".to_owned(),
        recipes => recipes.join(", "),
    };
    let columns = [
        Column::new("figure", NO_UNIT, |figure: &&Figure| figure.name.to_string()),
        Column::new("what it shows", NO_UNIT, |figure: &&Figure| figure.about.to_string()),
        Column::new("recipes", NO_UNIT, |figure: &&Figure| recipes(figure)),
    ];
    Table::new(columns, FIGURES.iter()).lines().iter().for_each(|line| out::line(line));
}

/// The output file, which must not overwrite a run's own files.
fn file(out: Option<&Path>, figure: &Figure) -> anyhow::Result<PathBuf> {
    let Some(out) = out else {
        return Ok(PathBuf::from(format!("{}.{}", figure.name.replace('/', "-"), figure.extension)));
    };
    if out.extension() != Some(OsStr::new(figure.extension)) {
        bail!("--out {}: {} is written as .{}", out.display(), figure.name, figure.extension);
    }
    if out.parent().unwrap_or(Path::new("")).join(MANIFEST).exists() {
        bail!(
            "--out {}: that is a run's folder, which keeps its own tables; give another one",
            out.display()
        );
    }
    Ok(out.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_written_as_what_it_is_and_not_over_a_runs_own_files() {
        let figure = figures::find("lavin2020/fig03").expect("a figure");
        let of = |out: Option<&Path>| file(out, figure).map_err(|error| error.to_string());
        assert_eq!(of(None), Ok(PathBuf::from("lavin2020-fig03.svg")));
        assert_eq!(of(Some(Path::new("x/a.svg"))), Ok(PathBuf::from("x/a.svg")));
        let png = of(Some(Path::new("a.png")));
        assert_eq!(png, Err("--out a.png: lavin2020/fig03 is written as .svg".to_owned()));
        let run = tempfile::tempdir().expect("a folder");
        std::fs::write(run.path().join(MANIFEST), "{}").expect("written");
        assert!(of(Some(&run.path().join("results.svg"))).is_err_and(|e| e.contains("a run's folder")));
    }
}
