//! A manifest that is lost with its disk or half a copy: what the recipe and the event log say of it.
//!
//! The recipe gives the plan, whose cases have the identities that the results name: an identity is a hash of the
//! parameters, so that a plan in which every result has its case is the plan that was measured. The first hello
//! describes the machine.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, bail};

use super::layout::{Manifest, RECIPE, SCHEMA};
use super::stored::{self, StoredLines};
use super::{index_files, repeat};
use crate::case::units::number_of;
use crate::engine::clock;
use crate::engine::protocol::{Event, RoundResult};
use crate::files;
use crate::recipe::plan::{Overrides, Plan, resolve_with};
use crate::recipe::{self, changes, without_changes};

/// The file with the samples of a run whose plan is lost.
pub const SAMPLES: &str = "salvaged-samples.csv";

/// What is left of a run's manifest.
#[derive(Clone, Debug)]
pub enum Found {
    /// The manifest itself.
    Whole(Box<Manifest>),
    /// The manifest as recipe and events give it, and why there was need.
    Rebuilt { manifest: Box<Manifest>, because: String },
    /// Neither: why there was need, and why the recipe does not help.
    Lost { because: String, why: String },
}

/// Reads a run's manifest, or rebuilds it if it is absent or damaged.
///
/// # Errors
/// When the folder is none, when it holds no events either, or when a newer version wrote the manifest.
pub fn find(run: &Path) -> anyhow::Result<Found> {
    let because = match stored::manifest_on_file(run) {
        Ok(manifest) => return Ok(Found::Whole(Box::new(manifest))),
        Err(error) if !stored::is_lost(run) => return Err(error),
        Err(error) => format!("{error:#}"),
    };
    let told = told(run).with_context(|| because.clone())?;
    Ok(match rebuilt(run, &told) {
        Ok(manifest) => Found::Rebuilt { manifest: Box::new(manifest), because },
        Err(error) => Found::Lost { because, why: format!("{error:#}") },
    })
}

/// What the readable lines of an event log say besides the results.
struct Told {
    hello: Option<Event>,
    /// When the first event was recorded, seconds since the epoch.
    began: Option<f64>,
    /// Identities of the cases that have results.
    cases: BTreeSet<String>,
}

fn told(run: &Path) -> anyhow::Result<Told> {
    let mut told = Told { hello: None, began: None, cases: BTreeSet::new() };
    each_readable(run, |event, at| {
        told.began = told.began.or(at);
        told.cases.extend(event.result_of().map(str::to_owned));
        if matches!(event, Event::Hello { .. }) && told.hello.is_none() {
            told.hello = Some(event);
        }
    })?;
    Ok(told)
}

/// Calls `take` with every event that can be read and trusted, and the time of its recording.
fn each_readable(run: &Path, mut take: impl FnMut(Event, Option<f64>)) -> anyhow::Result<()> {
    let mut lines = StoredLines::open(run)?;
    // What follows a place from where the log cannot be read is listed by the survey.
    while let Ok(Some(finding)) = lines.next() {
        if let Ok(line) = lines.parse()
            && !finding.is_distrusted()
        {
            take(line.event, line.at);
        }
    }
    Ok(())
}

fn rebuilt(run: &Path, told: &Told) -> anyhow::Result<Manifest> {
    let Some(Event::Hello { version, revision, devices, environment, .. }) = &told.hello else {
        bail!("no engine has said hello in the events");
    };
    let plan = plan(run)?;
    let known: BTreeSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    let missing = told.cases.iter().filter(|case| !known.contains(case.as_str())).count();
    if missing > 0 {
        let (all, recipe) = (told.cases.len(), run.join(RECIPE));
        bail!(
            "{}: {missing} of {} with results are not among its cases: it is not the recipe that was measured",
            recipe.display(),
            number_of(all, "case")
        );
    }
    let began = told.began.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or_default();
    Ok(Manifest {
        schema: SCHEMA,
        version: version.clone(),
        revision: revision.clone(),
        started: clock::of(UNIX_EPOCH + began),
        command_line: repeat::of_new(&plan, &[]),
        environment: environment.clone(),
        devices: devices.clone(),
        plan,
        redacted: false,
    })
}

/// The plan of the folder's recipe, with the changes of the command line that its first line lists.
fn plan(run: &Path) -> anyhow::Result<Plan> {
    let file = run.join(RECIPE);
    let text = files::text(&file, &files::RECIPE)?;
    let name = file.display().to_string();
    let recipe = recipe::parse(&name, without_changes(&text))?;
    let overrides = changes(&text).map(Overrides::of_words).unwrap_or_default();
    let mut plan = resolve_with(&recipe, &overrides, &*index_files::of_recipe(&file))?;
    index_files::locate(&mut plan.indices, run);
    Ok(plan)
}

/// Writes every sample of the readable results, by the identity of its case; returns the file and the number of cases.
///
/// # Errors
/// When the log cannot be read or the file cannot be written.
pub fn write_samples(run: &Path, to: &Path) -> anyhow::Result<(PathBuf, usize)> {
    let path = to.join(SAMPLES);
    let cannot = || format!("cannot write {}", path.display());
    let mut rows = vec![["case", "round", "attempt", "sample", "seconds", "batch", "verdict"].join(",")];
    let mut cases = BTreeSet::new();
    each_readable(run, |event, _| {
        if let Event::Round { result, .. } = event {
            rows.extend(rows_of(&result));
            cases.insert(result.case);
        }
    })?;
    fs::write(&path, rows.join("\n") + "\n").with_context(cannot)?;
    Ok((path, cases.len()))
}

fn rows_of(result: &RoundResult) -> Vec<String> {
    // Identities of ours are letters, digits and dashes; what is none of ours must not end its cell.
    let case: String =
        result.case.chars().map(|c| if c == '-' || c.is_alphanumeric() { c } else { '_' }).collect();
    let verdict = match &result.verdict {
        None => "",
        Some(crate::case::Verdict::Certified { .. }) => "certified",
        Some(crate::case::Verdict::Wrong { .. }) => "wrong",
    };
    let (round, attempt, batch) = (result.round, result.attempt, result.batch);
    let row = |(sample, seconds): (usize, &f64)| {
        format!("{case},{round},{attempt},{sample},{seconds:e},{batch},{verdict}")
    };
    result.samples.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::super::layout::{EVENTS, MANIFEST};
    use super::super::stored::Stored;
    use super::super::tests::{attempt, plan as four_cases, write};
    use super::*;
    use crate::case::Value;
    use crate::engine::protocol::Environment;

    const COPY: &str = "title: Test\nstream: {kernel: [copy, add], elements: [1Ki, 2Ki]}\nbackend: scalar\n\
         chart: {x: elements, lines: kernel}\nmeasure: {rounds: 1, ci: none}\n";

    /// A run of four cases with a result each.
    fn stored_run(recipe: &str) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("temporary folder");
        let plan = four_cases("rounds: 1, ci: none");
        let hello = Event::Hello {
            protocol: 4,
            version: "0.1.0".into(),
            revision: "abc".into(),
            devices: Vec::new(),
            environment: Environment { host: "here".into(), ..Environment::default() },
            profiles: Vec::new(),
        };
        let rounds = (0..4).map(|case| attempt(&plan, case, 0, 0, 1e-3, false));
        write(root.path(), &plan, &std::iter::once(hello).chain(rounds).collect::<Vec<_>>());
        fs::write(root.path().join(RECIPE), recipe).expect("written");
        root
    }

    #[test]
    fn recipe_and_events_give_the_plan_that_was_measured() {
        for damage in [None, Some(""), Some("{\"schema\": 4, \"plan\": {\"ti"), Some("\0\0\0\0"), Some("[]")]
        {
            let run = stored_run(COPY);
            let before = Stored::open(run.path()).expect("a run");
            match damage {
                None => fs::remove_file(run.path().join(MANIFEST)),
                Some(text) => fs::write(run.path().join(MANIFEST), text),
            }
            .expect("damaged");
            let Found::Rebuilt { manifest, because } = find(run.path()).expect("events") else {
                panic!("{damage:?}")
            };
            assert!(because.contains(MANIFEST), "{because}");
            let ids = |plan: &Plan| plan.cases.iter().map(|case| case.id.clone()).collect::<Vec<_>>();
            assert_eq!(ids(&manifest.plan), ids(&before.manifest.plan));
            assert_eq!((manifest.environment.host.as_str(), manifest.revision.as_str()), ("here", "abc"));
            assert!(manifest.started.starts_with("20"), "{}", manifest.started);
        }
    }

    #[test]
    fn a_recipe_that_was_not_measured_is_told_from_the_one_that_was() {
        let other = COPY.replace("2Ki", "4Ki");
        for (recipe, why) in [
            (other.as_str(), "2 of 4 cases with results are not among its cases"),
            ("title: Test\nstream: {kernel: nothing}\n", "recipe.yaml:2"),
            ("", "recipe.yaml"),
        ] {
            let run = stored_run(recipe);
            fs::remove_file(run.path().join(MANIFEST)).expect("removed");
            let Found::Lost { why: found, .. } = find(run.path()).expect("events") else {
                panic!("{recipe}")
            };
            assert!(found.contains(why), "{found}");
            let (file, cases) = write_samples(run.path(), run.path()).expect("written");
            let text = fs::read_to_string(file).expect("samples");
            assert_eq!((cases, text.lines().count()), (4, 1 + 4 * 5), "{text}");
            assert!(text.starts_with("case,round,") && text.contains(",0,0,4,1e-3,1,certified"), "{text}");
        }
    }

    #[test]
    fn changes_of_the_command_line_count() {
        let changed = recipe::with_changes(
            &COPY.replace("[1Ki, 2Ki]", "7"),
            &["--backend scalar".to_owned(), "--set elements=[1Ki, 2Ki]".to_owned()],
        );
        let run = stored_run(&changed);
        fs::write(run.path().join(MANIFEST), "").expect("emptied");
        let Found::Rebuilt { manifest, .. } = find(run.path()).expect("events") else { panic!("{changed}") };
        assert_eq!(manifest.plan.overrides, ["--backend scalar", "--set elements=[1Ki, 2Ki]"]);
        assert_eq!(manifest.plan.cases[0].params.get("elements"), Some(&Value::Int(1024)));
    }

    #[test]
    fn a_manifest_of_a_newer_version_or_a_folder_without_events_is_no_damage() {
        let run = stored_run(COPY);
        fs::write(run.path().join(MANIFEST), "{\"schema\": 99}").expect("written");
        assert!(find(run.path()).expect_err("newer").to_string().contains(MANIFEST));
        fs::remove_file(run.path().join(MANIFEST)).expect("removed");
        fs::remove_file(run.path().join(EVENTS)).expect("removed");
        let error = format!("{:#}", find(run.path()).expect_err("nothing"));
        assert!(error.contains("there is no manifest.json"), "{error}");
    }
}
