//! `scatterlab compare`.

mod slower;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use super::against::{self, Baselines};
use super::format::{self, Format, Formats, one_of};
use super::out;
use super::recipes::open_run;
use crate::case::units;
use crate::report::judge::{self, Comparison};
use crate::report::judged::{self, Heads, judged};
use crate::report::names::letter;
use crate::report::overlay::{self, overlays};
use crate::report::verdicts::{self, NamedRun};
use crate::run::layout::MANIFEST;
use crate::run::stored::Stored;
use crate::shell;

#[derive(Debug, Args)]
pub struct CompareArguments {
    /// A run folder; without --against, the baseline of the others
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    run: PathBuf,
    /// Further run folders; with --against, there need not be any
    #[arg(required_unless_present = "against", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    others: Vec<PathBuf>,
    /// Take as the baseline the newest complete run of the same recipe and machine in or up to four folders below this one
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    against: Option<PathBuf>,
    /// How much longer or shorter a time may be and still count as the same
    #[arg(long, value_name = "SHARE", default_value = "5%", value_parser = margin)]
    margin: f64,
    /// Exit with status 4 if a case is slower than the baseline by more than this, with 3 if a case failed that the
    /// baseline has, with 5 if nothing can be decided or cases of the baseline are missing
    ///
    /// A case is slower if the lower end of its interval is, by the rule that also makes it differ. A case whose
    /// interval only reaches across the limit is undecided; it does not fail the check as long as other cases can be
    /// decided.
    #[arg(long, value_name = "SHARE", value_parser = share)]
    fail_if_slower: Option<f64>,
    /// Draw the runs in the same charts: a folder for the charts and compare.csv, or one FILE.svg
    #[arg(long, value_name = "DIR|FILE.svg")]
    out: Option<PathBuf>,
    /// How to print the result
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,
}

const FORMATS: Formats = &[
    (Format::Text, "A table for people"),
    (Format::Csv, "A row for each pair of cases"),
    (Format::Json, "One object: what differs between the machines, and the rows"),
    (Format::Ndjson, "A row in each line"),
];

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

/// Compares stored runs without measuring anything.
pub fn run(arguments: &CompareArguments) -> anyhow::Result<ExitCode> {
    if let Some(out) = &arguments.out {
        spare_runs(out)?;
    }
    let given: Vec<&PathBuf> = std::iter::once(&arguments.run).chain(&arguments.others).collect();
    let mut stored = given.into_iter().map(|path| open_run(path)).collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(root) = &arguments.against {
        stored.insert(0, baseline_of(&stored, root)?);
    }
    let paths: Vec<PathBuf> = stored.iter().map(|run| run.path.clone()).collect();
    let names = names(&paths);
    let named: Vec<NamedRun> =
        stored.iter().zip(names).map(|(stored, name)| NamedRun::new(name, stored)).collect();
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
    show(arguments, baseline, others, &comparisons, &paths)?;
    if arguments.format == Format::Text {
        drawn.iter().for_each(|path| out::line(&format!("written: {}", path.display())));
    }
    let Some(limit) = arguments.fail_if_slower else { return Ok(ExitCode::SUCCESS) };
    let found = slower::Found::among(limit, baseline, others, &comparisons);
    for (headline, cases) in found.paragraphs() {
        out::line(&headline);
        cases.iter().for_each(|case| out::line(&format!("  {case}")));
    }
    Ok(ExitCode::from(found.status()))
}

/// The baseline of these runs below a folder, all of which must be of one recipe and machine.
fn baseline_of(runs: &[Stored], root: &Path) -> anyhow::Result<Stored> {
    let [first, others @ ..] = runs else { bail!("give a run folder") };
    let machine = against::machine(&first.manifest);
    let about = |run: &Stored| (run.manifest.plan.recipe_hash.clone(), against::machine(&run.manifest));
    if let Some(odd) = others.iter().find(|other| about(other) != about(first)) {
        let told = |run: &Stored| {
            let (recipe, machine) = (against::recipe(&run.manifest.plan), against::machine(&run.manifest));
            format!("{} is of {recipe} on {machine}", run.path.display())
        };
        bail!("--against needs runs that have one baseline: {}; {}", told(first), told(odd));
    }
    let runs: Vec<PathBuf> = runs.iter().map(|run| run.path.clone()).collect();
    Baselines::below(root, &runs)?.of(&first.manifest.plan, Some(&machine))
}

/// Refuses to write where a run keeps its own tables and charts.
fn spare_runs(out: &Path) -> anyhow::Result<()> {
    let folder = if is_chart(out) { out.parent().unwrap_or(Path::new("")) } else { out };
    let overwrites = !is_chart(out) || out.exists();
    if overwrites && folder.join(MANIFEST).exists() {
        bail!(
            "--out {}: that is a run's folder, whose own charts would be overwritten; give another one",
            out.display()
        );
    }
    Ok(())
}

fn is_chart(out: &Path) -> bool {
    out.extension().is_some_and(|extension| extension == "svg")
}

/// The folders' names, each preceded by as many parent folders as make it unique.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
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

/// Prints the result of comparing the runs in these folders, the baseline's first; after it, lines for people go to
/// standard error if it is a program's.
fn show(
    arguments: &CompareArguments,
    baseline: &NamedRun,
    others: &[NamedRun],
    comparisons: &[Comparison],
    paths: &[PathBuf],
) -> anyhow::Result<()> {
    match arguments.format {
        Format::Json => {
            out::divert();
            out::json(&verdicts::json(baseline, others, comparisons, arguments.margin)?);
        }
        Format::Csv | Format::Ndjson => {
            let table = verdicts::table(baseline, others, comparisons, arguments.margin);
            format::print(arguments.format, table)?;
        }
        Format::Text => {
            let runs: Vec<&NamedRun> = std::iter::once(baseline).chain(others).collect();
            judged::key(&runs).iter().for_each(|line| out::line(line));
            for (at, (other, comparison)) in others.iter().zip(comparisons).enumerate() {
                let again = paths.get(at + 1).map(|path| shell::path(path));
                let again = again.unwrap_or_default();
                let heads = Heads { baseline: letter(0), other: letter(at + 1), again };
                let judged = judged(baseline, other, comparison, arguments.margin, &heads);
                judged.lines().iter().for_each(|line| out::line(line));
            }
        }
    }
    Ok(())
}

/// Writes the overlays: a single one into a file, all of them into a folder along with the table.
fn draw(
    out: &Path,
    baseline: &NamedRun,
    others: &[NamedRun],
    comparisons: &[Comparison],
    margin: f64,
) -> anyhow::Result<Vec<PathBuf>> {
    let overlays = overlays(baseline, others, comparisons);
    if is_chart(out) {
        let [one] = overlays.as_slice() else {
            bail!("--out {}: there are {} charts; give a folder", out.display(), overlays.len());
        };
        return Ok(vec![one.write(out)?]);
    }
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let table = verdicts::table(baseline, others, comparisons, margin);
    let mut paths = vec![verdicts::write(out, "compare.csv", table)?];
    paths.extend(overlay::write_all(out, &overlays)?);
    Ok(paths)
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
    fn the_folder_of_a_run_is_not_written_to() {
        let root = tempfile::tempdir().expect("temporary folder");
        let of = |name: &str| root.path().join(name);
        fs::write(of(MANIFEST), "{}").expect("written");
        fs::write(of("gather.svg"), "").expect("written");
        let refused = |path: &Path| spare_runs(path).map_err(|error| error.to_string());
        for path in [root.path().to_owned(), of("gather.svg")] {
            let error = refused(&path).expect_err("refused");
            assert!(error.ends_with(
                "that is a run's folder, whose own charts would be overwritten; give another one"
            ));
        }
        assert_eq!((refused(&of("both.svg")), refused(&of("charts"))), (Ok(()), Ok(())));
    }

    #[test]
    fn shares_have_limits() {
        assert_eq!((share("3%"), share("0%"), margin("5%")), (Ok(0.03), Ok(0.0), Ok(0.05)));
        for text in ["0%", "101%", "5", "-1%", "x%"] {
            assert!(margin(text).is_err(), "{text}");
        }
    }
}
