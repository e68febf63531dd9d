//! `scatterlab compare`.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum, ValueHint};

use super::format::survive;
use super::{CASES_FAILED, DIFFERS, out};
use crate::judge::{self, Comparison};
use crate::report::format::Format as Rows;
use crate::report::judged::{self, Heads, cases, judged};
use crate::report::overlay::{self, letter, overlays};
use crate::report::unit;
use crate::report::verdicts::{self, Named};
use crate::run::stored::Stored;
use crate::units;

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Run folders; the first is the baseline
    #[arg(required = true, num_args = 2.., value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    runs: Vec<PathBuf>,
    /// How much longer or shorter still counts as the same
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = margin)]
    margin: f64,
    /// Exit with status 4 when a case is slower than the baseline by more than this, and with
    /// 3 when one failed that the baseline has
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fail_if_slower: Option<f64>,
    /// Draw the runs over each other: a folder for the charts and compare.csv, or one FILE.svg
    #[arg(long, value_name = "DIR|FILE.svg")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// A row for each pair of cases
    Csv,
    /// One object: what differs between the machines, and the rows
    Json,
    /// A row in each line
    Ndjson,
}

/// A share from 0 % to 100 %.
fn share(text: &str) -> Result<f64, String> {
    let share = units::parse_percent(text).map_err(|error| error.to_string())?;
    if share <= 1.0 { Ok(share) } else { Err("accepted: 0% to 100%".to_owned()) }
}

/// A share above 0 %.
pub fn margin(text: &str) -> Result<f64, String> {
    let share = share(text)?;
    if share > 0.0 { Ok(share) } else { Err("accepted: more than 0%, up to 100%".to_owned()) }
}

/// Compares stored runs and measures nothing.
pub fn run(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    let stored = arguments.runs.iter().map(|path| Stored::open(path)).collect::<anyhow::Result<Vec<_>>>()?;
    let names = names(&arguments.runs);
    let named: Vec<Named> =
        stored.iter().zip(names).map(|(stored, name)| Named { name, side: stored.into() }).collect();
    let Some((baseline, others)) = named.split_first() else { bail!("give two run folders or more") };
    let sides: Vec<_> = others.iter().map(|other| other.side).collect();
    let comparisons = judge::compare(baseline.side, &sides, arguments.margin);
    for (other, comparison) in others.iter().zip(&comparisons) {
        if comparison.judgements.is_empty() {
            bail!("{} and {} have no case in common", baseline.name, other.name);
        }
    }
    let drawn = match &arguments.out {
        Some(out) => draw(out, baseline, others, &comparisons, arguments.margin)?,
        None => Vec::new(),
    };
    show(arguments, &named, &comparisons)?;
    if arguments.format == Format::Text {
        drawn.iter().for_each(|path| out::line(&format!("written: {}", path.display())));
    }
    let Some(limit) = arguments.fail_if_slower else { return Ok(ExitCode::SUCCESS) };
    let failed = failed(baseline, others, &comparisons);
    if !failed.is_empty() {
        say(arguments.format, &format!("{} of the baseline failed:", cases(failed.len())), &failed);
    }
    let slower = slower(limit, baseline, others, &comparisons);
    say(arguments.format, &headline(limit, slower.len()), &slower);
    Ok(match () {
        () if !failed.is_empty() => ExitCode::from(CASES_FAILED),
        () if !slower.is_empty() => ExitCode::from(DIFFERS),
        () => ExitCode::SUCCESS,
    })
}

/// The folders' own names, with as many folders before them as make them unique.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let last = |path: &Path, n: usize| {
        let parts: Vec<_> = path.components().map(|c| c.as_os_str().to_string_lossy()).collect();
        let parts: Vec<_> = parts[parts.len().saturating_sub(n)..].to_vec();
        if parts.is_empty() { path.display().to_string() } else { parts.join("/") }
    };
    let unique = |path: &PathBuf, n: usize| {
        paths.iter().filter(|other| *other != path).all(|other| last(other, n) != last(path, n))
    };
    let longest = paths.iter().map(|path| path.components().count()).max().unwrap_or(1);
    let short = |path: &PathBuf| (1..=longest).find(|n| unique(path, *n)).unwrap_or(longest);
    paths.iter().map(|path| last(path, short(path))).collect()
}

fn show(arguments: &CompareArguments, named: &[Named], comparisons: &[Comparison]) -> anyhow::Result<()> {
    let Some((baseline, others)) = named.split_first() else { return Ok(()) };
    let rows = || verdicts::rows(baseline, others, comparisons, arguments.margin);
    let written = match arguments.format {
        Format::Csv => verdicts::write_rows(io::stdout(), Rows::Csv, &rows()),
        Format::Ndjson => verdicts::write_rows(io::stdout(), Rows::Ndjson, &rows()),
        Format::Json => verdicts::json(io::stdout(), baseline, others, comparisons, arguments.margin),
        Format::Text => {
            judged::key(&named.iter().collect::<Vec<_>>()).iter().for_each(|line| out::line(line));
            for (at, (other, comparison)) in others.iter().zip(comparisons).enumerate() {
                let heads = Heads { baseline: letter(0), other: letter(at + 1) };
                let judged = judged(baseline, other, comparison, arguments.margin, &heads);
                judged.lines().iter().for_each(|line| out::line(line));
            }
            Ok(())
        }
    };
    survive(written)
}

/// Writes the overlays: one into a file, all of them into a folder, with the table.
fn draw(
    out: &Path,
    baseline: &Named,
    others: &[Named],
    comparisons: &[Comparison],
    margin: f64,
) -> anyhow::Result<Vec<PathBuf>> {
    let overlays = overlays(baseline, others, comparisons);
    if out.extension().is_some_and(|extension| extension == "svg") {
        let [one] = overlays.as_slice() else {
            bail!("--out {}: there are {} charts; give a folder", out.display(), overlays.len());
        };
        return Ok(vec![one.write(out)?]);
    }
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut paths =
        vec![verdicts::write(out, "compare.csv", &verdicts::rows(baseline, others, comparisons, margin))?];
    paths.extend(overlay::write_all(out, &overlays)?);
    Ok(paths)
}

/// The cases that failed although the baseline has a result of them, by name.
fn failed(baseline: &Named, others: &[Named], comparisons: &[Comparison]) -> Vec<String> {
    let mut found = Vec::new();
    for (other, comparison) in others.iter().zip(comparisons) {
        for pair in comparison.failed(baseline.side, other.side) {
            found.push(format!("failed in {}: {}", other.name, label(baseline, pair.baseline)));
        }
    }
    found
}

fn label(baseline: &Named, at: usize) -> String {
    let record = baseline.side.record(at);
    record.map(|record| verdicts::label(baseline.side, &record.case)).unwrap_or_default()
}

/// The cases that are slower by more than a limit, by name.
fn slower(limit: f64, baseline: &Named, others: &[Named], comparisons: &[Comparison]) -> Vec<String> {
    let mut found = Vec::new();
    for (other, comparison) in others.iter().zip(comparisons) {
        for judgement in comparison.judgements.iter().filter(|j| j.slower_by(limit)) {
            let label = label(baseline, judgement.pair.baseline);
            let change = judgement.evidence.map(|e| judged::change(e.ratio)).unwrap_or_default();
            found.push(format!("slower in {}: {label}: {change}", other.name));
        }
    }
    found
}

fn headline(limit: f64, slower: usize) -> String {
    let limit = unit::number(limit * 100.0);
    match slower {
        0 => format!("no case is slower by more than {limit} %"),
        1 => format!("1 case is slower by more than {limit} %:"),
        n => format!("{n} cases are slower by more than {limit} %:"),
    }
}

/// Prints a headline and cases below it: on standard output beside the table, on standard
/// error beside a format for programs.
fn say(format: Format, headline: &str, below: &[String]) {
    let below = below.iter().map(|case| format!("  {}", units::escaped(case)));
    for line in std::iter::once(headline.to_owned()).chain(below) {
        match format {
            Format::Text => out::line(&line),
            _ => drop(io::Write::write_all(&mut io::stderr(), format!("{line}\n").as_bytes())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_called_by_as_much_as_it_takes() {
        let of = |paths: &[&str]| names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(of(&["reports/a", "reports/b"]), ["a", "b"]);
        assert_eq!(of(&["x/run", "y/run"]), ["x/run", "y/run"]);
        assert_eq!(of(&["run", "y/run"]), ["run", "y/run"]);
        assert_eq!(of(&["reports/a", "reports/a"]), ["a", "a"]);
    }

    #[test]
    fn shares_have_limits() {
        assert_eq!((share("3%"), share("0%"), margin("5%")), (Ok(0.03), Ok(0.0), Ok(0.05)));
        for text in ["0%", "101%", "5", "-1%", "x%"] {
            assert!(margin(text).is_err(), "{text}");
        }
    }
}
