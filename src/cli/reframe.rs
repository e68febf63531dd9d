//! `scatterlab reframe`: writes tests for ReFrame that run recipes and compare each case with a stored run.
//!
//! A file has a class for each recipe, which is a table of its cases. What the classes share is in `shared.py`.

mod names;

use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf, absolute};
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::{Args, ValueHint};

use self::names::{class_names, variables};
use super::against::Baselines;
use super::compare::margin;
use super::out;
use super::recipes::{Source, shipped_name};
use super::run::overrides;
use crate::case::peers::ALLOW;
use crate::case::units::number_of;
use crate::recipe::plan::{Overrides, Plan, Quantity};
use crate::report::replace::replace;
use crate::report::svg::device_name;
use crate::run::Record;
use crate::run::stored::Stored;
use crate::shell;

#[derive(Debug, Args)]
pub struct ReframeArguments {
    /// Recipe files, or names of shipped recipes; the tests run them from where they are
    #[arg(required = true, value_name = "RECIPE")]
    recipes: Vec<OsString>,
    /// Compare with this run, or with the newest complete run of each recipe in or up to four folders below this
    /// folder; without it, the tests report figures and compare none
    #[arg(long, value_name = "RUN|FOLDER", value_hint = ValueHint::DirPath)]
    against: Option<PathBuf>,
    /// How much worse than its reference a figure may be, unless the reference's interval is wider
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = margin, requires = "against")]
    tolerance: f64,
    /// Run on these backends instead of the recipes': scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipes, in their own syntax: --set tuples=1Mi
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// File to write; without it, the tests go to standard output
    #[arg(long, value_name = "FILE.py", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
}

/// The part that all classes share.
const SHARED: &str = include_str!("reframe/shared.py");

/// Writes the tests, and measures nothing. With `programs`, the tests execute those that a paper's folder names.
pub fn run(arguments: &ReframeArguments, programs: bool) -> anyhow::Result<ExitCode> {
    let changes = overrides(&arguments.set, &arguments.backend)?;
    let baselines = arguments.against.as_deref().map(|root| Baselines::below(root, &[])).transpose()?;
    let tests = arguments.recipes.iter().map(|name| Test::new(name, &changes, baselines.as_ref()));
    let tests = tests.collect::<anyhow::Result<Vec<Test>>>()?;
    let mut text = SHARED.to_owned();
    for (test, name) in tests.iter().zip(class_names(tests.iter().map(|test| test.name.as_str()))) {
        text += &test.class(&name, arguments.tolerance, programs)?;
    }
    let Some(path) = &arguments.out else {
        out::text(&text);
        return Ok(ExitCode::SUCCESS);
    };
    let name = path.file_name().and_then(|name| name.to_str()).filter(|_| !path.is_dir());
    let name = name.with_context(|| format!("--out {}: not the name of a file", path.display()))?;
    let path =
        replace(path.parent().unwrap_or(Path::new("")), name, |out| Ok(out.write_all(text.as_bytes())?))?;
    out::line(&format!("written: {}; to run it: reframe -c {} -r", path.display(), shell::path(&path)));
    Ok(ExitCode::SUCCESS)
}

/// A recipe that a test runs.
struct Test {
    /// The recipe's name for people.
    name: String,
    /// The recipe as the program takes it in any folder.
    recipe: String,
    plan: Plan,
    /// The run with the references.
    reference: Option<Stored>,
}

impl Test {
    fn new(name: &OsString, changes: &Overrides, baselines: Option<&Baselines>) -> anyhow::Result<Test> {
        let source = Source::find(name)?;
        let plan = source.resolve(changes)?;
        let shipped = || shipped_name(&source.name()).to_owned();
        let (name, recipe) = match source.shipped {
            true => (shipped(), shipped()),
            false => (source.stem(), located(&source.path)?),
        };
        // Arrays of a recipe in a file are beside it, those of a shipped one where the test runs.
        let astray = plan.indices.iter().find(|file| source.shipped && Path::new(&file.path).is_relative());
        if let Some(file) = astray {
            bail!("{name}: {}: the tests run elsewhere; give the file's absolute path", file.path);
        }
        let reference = baselines.map(|baselines| baselines.of(&plan, None)).transpose()?;
        let test = Test { name, recipe, plan, reference };
        let Some(run) = &test.reference else { return Ok(test) };
        let applicable = || test.plan.cases.iter().filter(|case| case.not_applicable.is_none());
        let lacking = applicable().filter(|case| test.record(&case.id).is_none()).count();
        match applicable().count() {
            all if lacking == all => bail!(
                "nothing to refer to: {} has no certified result of a case of {}; it was run {}, the tests {}",
                run.path.display(),
                test.name,
                with(&run.manifest.plan),
                with(&test.plan)
            ),
            _ if lacking == 0 => {}
            all => out::complain(
                "scatterlab",
                &format!(
                    "warning: {}: {} has no reference for {lacking} of {}",
                    test.name,
                    run.path.display(),
                    number_of(all, "case")
                ),
            ),
        }
        Ok(test)
    }

    /// The record of a case that the reference has measured, with a result that stands.
    fn record(&self, case: &str) -> Option<&Record> {
        let ledger = &self.reference.as_ref()?.ledger;
        let record = ledger.records().get(ledger.position(case)?)?;
        (record.stands() && record.statistics.is_some()).then_some(record)
    }

    /// The class of this name.
    fn class(&self, name: &str, tolerance: f64, programs: bool) -> anyhow::Result<String> {
        let mut text = format!("\n\n@rfm.simple_test\nclass {name}(RecipeTest):\n");
        let mut field = |name: &str, value: &str| writeln!(text, "    {name} = {value}");
        field("descr", &literal(&self.plan.title)?)?;
        field("recipe", &literal(&self.recipe)?)?;
        field("recipe_hash", &literal(&self.plan.short_hash())?)?;
        let mut options = shell::words(&self.plan.overrides);
        options.extend(programs.then(|| format!("--{ALLOW}")));
        field("options", &list(&options)?)?;
        if let Some(run) = &self.reference {
            let origin = format!("{}, measured {}", run.path.display(), run.manifest.started);
            field("reference_run", &literal(&origin)?)?;
            field("devices", &list(&self.devices())?)?;
        }
        let head = match self.reference {
            Some(_) => "variable, column, reference, lower and upper tolerance",
            None => "variable, column",
        };
        field("cases", &format!("{{  # identity: {head}"))?;
        let least = worse_by(true, None, tolerance);
        let (mut wide, mut widest) = (0, least);
        for (case, variable) in self.plan.cases.iter().zip(variables(&self.plan)) {
            let figure = Figure::of(self.plan.y_of(case));
            let reference = self.record(&case.id).and_then(|record| figure.reference(record, tolerance));
            let reference = reference.map(|(words, worse)| {
                wide += usize::from(worse > least);
                widest = widest.max(worse);
                format!(", {words}")
            });
            let (column, reference) = (figure.column, reference.unwrap_or_default());
            writeln!(text, "        {}: (\"{variable}\", \"{column}\"{reference}),", literal(&case.id)?)?;
        }
        if wide > 0 {
            out::complain(
                "scatterlab",
                &format!(
                    "warning: {}: {wide} of its references are less precise than the tolerance, and figures may be worse by up to \
                     {:.0} %; measure the reference on a quieter machine, or more rounds",
                    self.name,
                    100.0 * widest
                ),
            );
        }
        Ok(text + "    }\n")
    }

    /// The devices of the cases with a reference.
    fn devices(&self) -> Vec<String> {
        let Some(run) = &self.reference else { return Vec::new() };
        let records = self.plan.cases.iter().filter_map(|case| self.record(&case.id));
        let name = |record: &Record| {
            device_name(record.case.place(), &run.manifest.environment, &run.manifest.devices).to_owned()
        };
        let mut names: Vec<String> = records.map(name).collect();
        names.sort();
        names.dedup();
        names
    }
}

/// The absolute path of a recipe's file.
fn located(path: &Path) -> anyhow::Result<String> {
    let path = absolute(path)?;
    let text = path.to_str().with_context(|| format!("{}: the path is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

/// `with --set tuples=1Mi`, `without changes`.
fn with(plan: &Plan) -> String {
    if plan.overrides.is_empty() {
        "without changes".to_owned()
    } else {
        format!("with {}", plan.overrides.join(" "))
    }
}

/// A string of Python: its escapes include those of JSON.
fn literal(text: &str) -> serde_json::Result<String> {
    serde_json::to_string(text)
}

fn list(words: &[String]) -> serde_json::Result<String> {
    let words = words.iter().map(|word| literal(word)).collect::<serde_json::Result<Vec<_>>>()?;
    Ok(format!("[{}]", words.join(", ")))
}

/// A column of `results.csv`.
struct Figure {
    column: &'static str,
    quantity: Quantity,
    /// The unit of the column, in units of the quantity.
    unit: f64,
}

impl Figure {
    /// The column of what a chart has on its y axis, without the times of transfers.
    fn of(y: Quantity) -> Figure {
        let (column, quantity, unit) = match y {
            Quantity::Bandwidth => ("effective_gb_s", y, 1.0),
            Quantity::SystemBandwidth => ("system_gb_s", y, 1.0),
            Quantity::Throughput => ("throughput_elem_s", y, 1.0),
            Quantity::Flops | Quantity::FlopsWithTransfer => ("gflops", Quantity::Flops, 1e9),
            Quantity::Time | Quantity::TimeWithTransfer => ("median_s", Quantity::Time, 1.0),
        };
        Figure { column, quantity, unit }
    }

    /// `12.3, -0.1, None`: the value of a record, and the shares by which it may be lower and higher. Only the
    /// worse side is bounded, by the second value.
    fn reference(&self, record: &Record, tolerance: f64) -> Option<(String, f64)> {
        let statistics = record.statistics.as_ref()?;
        let value = number(record.quantity(self.quantity)? / self.unit);
        let slowest = statistics.interval.map(|[_, high]| high / statistics.median);
        let worse = worse_by(self.quantity.is_time(), slowest, tolerance);
        let words = if self.quantity.is_time() {
            format!("{value}, None, {worse}")
        } else {
            format!("{value}, -{worse}, None")
        };
        Some((words, worse))
    }
}

/// The share by which a time may be longer, or a rate lower, if its interval reaches to so many times the median time:
/// the tolerance at least, rounded up to a thousandth.
fn worse_by(is_time: bool, slowest: Option<f64>, tolerance: f64) -> f64 {
    let slowest = slowest.filter(|slowest| slowest.is_finite()).unwrap_or(1.0).max(1.0);
    let own = if is_time { slowest - 1.0 } else { 1.0 - 1.0 / slowest };
    (tolerance.max(own) * 1000.0 - 1e-6).ceil() / 1000.0
}

/// Five significant digits.
fn number(value: f64) -> String {
    let digits = format!("{value:.4e}");
    let rounded = digits.parse::<f64>().unwrap_or(value);
    if (1e-3..1e7).contains(&rounded.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_is_what_is_asked_for_or_what_the_interval_needs() {
        assert_eq!(worse_by(true, Some(1.02), 0.1), 0.1);
        assert_eq!(worse_by(true, Some(1.25), 0.1), 0.25);
        assert_eq!(worse_by(false, Some(1.25), 0.1), 0.2);
        assert_eq!(worse_by(true, Some(1.10014), 0.1), 0.101, "rounded up");
        assert_eq!(worse_by(false, Some(1e9), 0.1), 1.0, "no rate is below 0");
        for slowest in [None, Some(0.9), Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!((worse_by(true, slowest, 0.07), worse_by(false, slowest, 0.07)), (0.07, 0.07));
        }
    }

    #[test]
    fn numbers_have_five_digits() {
        let of = [12.345678, 0.0123456, 4.56789e-5, 123456789.0, 1.0, 250000.0].map(number);
        assert_eq!(of, ["12.346", "0.012346", "4.5679e-5", "1.2346e8", "1", "250000"]);
    }

    #[test]
    fn strings_of_python_hold_any_text() {
        let text = literal("a \"b\" \\ c\n\u{7}é").expect("a literal");
        assert_eq!(text, r#""a \"b\" \\ c\n\u0007é""#);
        assert_eq!(list(&["--set".to_owned(), "a=b".to_owned()]).expect("a list"), r#"["--set", "a=b"]"#);
    }
}
