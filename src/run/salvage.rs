//! Salvage of a damaged event log: a new folder with every line that can be read, and a list of the others.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::folder::{Folder, Urgency};
use super::layout::{LogState, MANIFEST, RECIPE};
use super::note;
pub use super::rebuild::{Found, find, write_samples};
use super::stored::StoredLines;
use crate::case::units::shown;
use crate::engine::protocol::{Event, Level};
use crate::inputs::indices;

/// A line that is left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Its number, counted from 1.
    pub line: u64,
    pub reason: String,
}

/// The lines of an event log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// Number of lines that can be read.
    pub kept: u64,
    /// The lines that cannot be kept, or the first thousand of them.
    pub dropped: Vec<Dropped>,
    /// How many further lines cannot be kept.
    pub more: u64,
}

impl Survey {
    /// Number of lines that cannot be kept.
    pub fn lost(&self) -> u64 {
        self.dropped.len() as u64 + self.more
    }

    fn drop_line(&mut self, line: u64, reason: String) {
        match self.dropped.len() < LISTED {
            true => self.dropped.push(Dropped { line, reason }),
            false => self.more += 1,
        }
    }
}

/// Most dropped lines that are listed with their reasons.
const LISTED: usize = 1000;

/// Most dropped lines that the new folder names.
const NAMED: usize = 20;

/// Reads the event log of a run and finds the lines that cannot be kept.
///
/// # Errors
/// When the log cannot be opened.
pub fn survey(run: &Path) -> anyhow::Result<Survey> {
    sort(run, |_, _| Ok(()))
}

/// Writes a new folder with the lines that can be kept, byte for byte, a message that says which are missing, and the
/// manifest that was found. The run itself stays as it is.
///
/// # Errors
/// When the run cannot be opened, or the new folder exists already or cannot be written.
pub fn salvage(run: &Path, to: &Path, found: &Found) -> anyhow::Result<Survey> {
    if to.exists() {
        bail!("{} already exists; give --out another folder", to.display());
    }
    let folder = Folder::create(to)?;
    // The same name is free for another attempt.
    fill(folder, run, to, found).inspect_err(|_| _ = fs::remove_dir_all(to))
}

fn fill(mut folder: Folder, run: &Path, to: &Path, found: &Found) -> anyhow::Result<Survey> {
    let survey = sort(run, |line, log| folder.copy_line(line, log.chain))?;
    copy(run, to, found)?;
    if let Found::Rebuilt { manifest, .. } = found {
        folder.write_manifest(manifest)?;
    }
    let event = Event::Log { level: Level::Warn, text: told(run, &survey, found) };
    folder.append(&event, Urgency::Durable)?;
    Ok(survey)
}

/// Calls `keep` with every line that can be kept.
fn sort(run: &Path, mut keep: impl FnMut(&[u8], &LogState) -> anyhow::Result<()>) -> anyhow::Result<Survey> {
    let (mut lines, mut survey) = (StoredLines::open(run)?, Survey::default());
    loop {
        let finding = match lines.next() {
            Ok(Some(finding)) => finding,
            Ok(None) => {
                if !lines.text().is_empty() {
                    let reason = "the last line is torn: it has no line end".to_owned();
                    survey.drop_line(lines.number() + 1, reason);
                }
                return Ok(survey);
            }
            Err(error) => {
                let reason = format!("nothing can be read from here on: {error:#}");
                survey.drop_line(lines.number() + 1, reason);
                return Ok(survey);
            }
        };
        let reason = match lines.parse() {
            Err(error) => format!("not an event that this version knows: {error}"),
            Ok(_) if finding.is_distrusted() => finding.reproach().unwrap_or_default().to_owned(),
            Ok(_) => {
                survey.kept += 1;
                keep(lines.text(), &lines.state)?;
                continue;
            }
        };
        survey.drop_line(lines.number(), reason);
    }
}

/// Copies what a run's folder holds besides its events and what is derived from them.
fn copy(run: &Path, to: &Path, found: &Found) -> anyhow::Result<()> {
    let mut files: Vec<PathBuf> = [MANIFEST, RECIPE, note::FILE].map(PathBuf::from).to_vec();
    // A manifest without its end, or none, is written anew or not at all.
    files.retain(|file| file != Path::new(MANIFEST) || matches!(found, Found::Whole(_)));
    let arrays = run.join(indices::FOLDER);
    if arrays.is_dir() {
        fs::create_dir_all(to.join(indices::FOLDER))
            .with_context(|| format!("cannot write {}", to.display()))?;
        let entries = fs::read_dir(&arrays).with_context(|| format!("cannot read {}", arrays.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", arrays.display()))?;
            files.push(Path::new(indices::FOLDER).join(entry.file_name()));
        }
    }
    for file in files {
        let (from, to) = (run.join(&file), to.join(&file));
        // Old folders lack a recipe, most have no note; what is no file has no place in a run.
        if from.is_file() {
            fs::copy(&from, &to)
                .with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
        }
    }
    Ok(())
}

fn told(run: &Path, survey: &Survey, found: &Found) -> String {
    let lines: Vec<String> =
        survey.dropped.iter().take(NAMED).map(|dropped| dropped.line.to_string()).collect();
    let more = match survey.lost().saturating_sub(NAMED as u64) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let run = shown(&run.display().to_string());
    let manifest = match found {
        Found::Whole(_) => "",
        Found::Rebuilt { .. } => "; the manifest was rebuilt from the recipe and the events",
        Found::Lost { .. } => "; the manifest is lost",
    };
    let dropped = match lines.as_slice() {
        [] => "every line of its event log is kept".to_owned(),
        lines => format!("dropped of its event log are the lines {}{more}", lines.join(", ")),
    };
    format!("salvaged from {run}: {dropped}{manifest}")
}

#[cfg(test)]
mod tests {
    use super::super::layout::EVENTS;
    use super::super::stored::Stored;
    use super::super::tests::{attempt, plan, write};
    use super::*;
    use crate::run::Status;

    #[test]
    fn every_readable_line_is_kept_and_the_others_are_named() {
        let root = tempfile::tempdir().expect("temporary folder");
        let (run, out) = (root.path().join("run"), root.path().join("out"));
        let plan = plan("rounds: 1, ci: none");
        let events: Vec<Event> = (0..4).map(|case| attempt(&plan, case, 0, 0, 1e-3, false)).collect();
        write(&run, &plan, &events);
        fs::create_dir(run.join(indices::FOLDER)).expect("a folder");
        fs::write(run.join(indices::FOLDER).join("a.npy"), "array").expect("written");
        assert_eq!(survey(&run).expect("a run"), Survey { kept: 4, ..Survey::default() });
        let text = fs::read_to_string(run.join(EVENTS)).expect("events");
        let lines: Vec<&str> = text.lines().collect();
        let changed = lines[2].replacen("0.001", "0.002", 1);
        let damaged = format!("{}\n{}\n\0\0\0\n{changed}\n{}\n{{\"ev", lines[0], lines[1], lines[3]);
        fs::write(run.join(EVENTS), &damaged).expect("written");
        let found = find(&run).expect("a manifest");
        let survey = salvage(&run, &out, &found).expect("salvaged");
        let dropped: Vec<(u64, &str)> = survey.dropped.iter().map(|d| (d.line, &d.reason[..12])).collect();
        assert_eq!(dropped, [(3, "not an event"), (4, "the line was"), (6, "the last lin")]);
        assert_eq!(fs::read_to_string(run.join(EVENTS)).expect("events"), damaged, "untouched");
        let stored = Stored::open(&out).expect("a run");
        let done = |case: usize| stored.ledger.records()[case].status == Status::Done;
        assert_eq!([0, 1, 2, 3].map(done), [true, true, false, true]);
        let kept = fs::read_to_string(out.join(EVENTS)).expect("events");
        assert!(kept.starts_with(&format!("{}\n{}\n{}\n", lines[0], lines[1], lines[3])), "{kept}");
        assert!(kept.lines().last().is_some_and(|line| line.contains("the lines 3, 4, 6")), "{kept}");
        // The chain still says that lines are missing, once.
        assert_eq!((stored.log.integrity.broken, stored.log.integrity.lines), (1, 4));
        assert_eq!(fs::read(out.join(indices::FOLDER).join("a.npy")).expect("copied"), b"array");
        let error = salvage(&run, &out, &found).expect_err("taken").to_string();
        assert!(error.contains("already exists; give --out another folder"), "{error}");
    }
}
