//! All sentences of papers with their outcomes on stored runs, as a table for programs and as lines for people.

use std::collections::BTreeMap;

use anyhow::Result;

use super::papers::Folder;
use super::rows::of_run;
use super::{Judged, Outcome, Part, Verdict, judge};
use crate::case::{Device, distinct};
use crate::engine::protocol::Environment;
use crate::recipe::paper::{Claim, Known, Paper};
use crate::report::table::{Column, NO_UNIT, Table};
use crate::report::verdicts::NamedRun;

/// A sentence of a paper, and what machines say of it.
#[derive(Clone, Debug)]
pub struct Sentence {
    pub paper: String,
    pub claim: Claim,
    /// On the platforms of the paper's own table.
    pub printed: Vec<(String, Verdict)>,
    pub judgements: Vec<Judgement>,
}

/// A claim's verdict on a machine.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub machine: String,
    /// The folders behind it.
    pub runs: Vec<String>,
    pub verdict: Verdict,
    pub stated: Stated,
}

/// Whether the claim was what it is now when the runs began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stated {
    Before,
    /// Runs of older versions do not tell.
    Unknown,
    After,
}

impl Stated {
    pub fn word(self) -> &'static str {
        match self {
            Stated::Before => "before",
            Stated::Unknown => "unknown",
            Stated::After => "after",
        }
    }

    /// What a run knew of the claims of the paper.
    pub fn of(known: Option<&Known>, paper: &Paper, claim: &Claim) -> Stated {
        match known {
            Some(Known::Each(hashes)) if hashes.get(&claim.id) == Some(&paper.hash(claim)) => Stated::Before,
            Some(Known::Each(_)) => Stated::After,
            Some(Known::Together(_)) | None => Stated::Unknown,
        }
    }
}

/// Judges every claim of a paper on every machine that has runs of it. The newest run of a machine that decides something
/// counts; a claim from several recipes takes the newest run of each.
///
/// # Errors
/// A statement that its printed table cannot be asked.
pub fn judge_all(folder: &Folder, runs: &[NamedRun]) -> Result<Vec<Sentence>> {
    let mut sentences = Vec::new();
    let mut newest: Vec<&NamedRun> = runs.iter().collect();
    newest.sort_by(|a, b| b.side.manifest.started.cmp(&a.side.manifest.started));
    let machine = |run: &NamedRun| machine(&run.side.manifest.devices, &run.side.manifest.environment);
    let machines = distinct(newest.iter().map(|run| machine(run)));
    for claim in &folder.paper.claims {
        let mut sentence = Sentence {
            paper: folder.paper.key.clone(),
            claim: claim.clone(),
            printed: folder.printed(claim)?,
            judgements: Vec::new(),
        };
        if claim.none.is_none() && claim.needs.is_none() {
            for name in &machines {
                let own: Vec<&NamedRun> =
                    newest.iter().copied().filter(|run| machine(run) == *name).collect();
                sentence.judgements.extend(on_machine(folder, claim, name, &own)?);
            }
        }
        sentences.push(sentence);
    }
    Ok(sentences)
}

/// The devices of a run, the GPUs before the processor.
pub fn machine(devices: &[Device], environment: &Environment) -> String {
    let names = distinct(gpus(devices)).into_iter().chain(std::iter::once(environment.cpu.as_str()));
    names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// The name of each GPU that can be used.
pub fn gpus(devices: &[Device]) -> impl Iterator<Item = &str> {
    let gpu = |device: &&Device| device.backend == "cuda" && device.is_available() && !device.name.is_empty();
    devices.iter().filter(gpu).map(|device| device.name.as_str())
}

/// The verdict on one machine, from its runs, the newest first; `None` if none of them has an experiment of the claim.
fn on_machine(
    folder: &Folder,
    claim: &Claim,
    machine: &str,
    runs: &[&NamedRun],
) -> Result<Option<Judgement>> {
    let mut wanted = Vec::new();
    for source in &claim.from {
        wanted.extend(folder.slugs(claim, source)?.into_iter().map(|slug| (source.recipe.as_str(), slug)));
    }
    let has = |run: &NamedRun, slug: &str| position(run, &folder.paper.key, slug).is_some();
    // Of several recipes each experiment comes from the newest run that measured it.
    let sets: Vec<Set> = if claim.from.len() > 1 {
        let mut set: Set = Vec::new();
        for (_, slug) in &wanted {
            let measured = |run: &&&NamedRun| has(run, slug) && is_measured(run, &folder.paper.key, slug);
            let Some(run) = runs.iter().find(measured) else { continue };
            match set.iter_mut().find(|(known, _)| known.name == run.name) {
                Some((_, slugs)) => slugs.push(slug),
                None => set.push((run, vec![slug])),
            }
        }
        if set.is_empty() { Vec::new() } else { vec![set] }
    } else {
        let slugs: Vec<&str> = wanted.iter().map(|(_, slug)| *slug).collect();
        let own = runs.iter().copied().filter(|run| slugs.iter().any(|slug| has(run, slug)));
        own.map(|run| vec![(run, slugs.clone())]).collect()
    };
    // The newest run that decides counts; without one, the newest that leaves something open.
    let mut found: Option<Judgement> = None;
    for set in sets {
        let judgement = of_runs(folder, claim, machine, &set);
        let better = |other: &Judgement| judgement.verdict.rank() < other.verdict.rank();
        if found.as_ref().is_none_or(better) {
            found = Some(judgement);
        }
    }
    Ok(found)
}

/// Runs with the slugs of the experiments that are taken from each.
type Set<'s> = Vec<(&'s NamedRun<'s>, Vec<&'s str>)>;

fn of_runs(folder: &Folder, claim: &Claim, machine: &str, set: &Set) -> Judgement {
    let key = &folder.paper.key;
    let mut rows = Vec::new();
    for (at, (run, slugs)) in set.iter().enumerate() {
        let places: Vec<usize> = slugs.iter().filter_map(|slug| position(run, key, slug)).collect();
        let together = claim.from.len() > 1;
        rows.extend(of_run(run.side, at, together, |experiment| places.contains(&experiment)));
    }
    let is_named = |devices: &[String]| folder.paper.is_named(claim, devices);
    let verdict = judge(claim, &rows, is_named).unwrap_or_else(|(_, _, problem)| {
        let part = || Part { outcome: Outcome::NotApplicable(problem.clone()), statements: Vec::new() };
        let shape = (!claim.shape.is_empty()).then(part);
        Verdict { shape, size: (!claim.size.is_empty()).then(part) }
    });
    let stated = |run: &NamedRun| Stated::of(run.side.manifest.plan.claims.get(key), &folder.paper, claim);
    Judgement {
        machine: machine.to_owned(),
        runs: set.iter().map(|(run, _)| run.name.clone()).collect(),
        verdict,
        stated: set.iter().map(|(run, _)| stated(run)).max().unwrap_or(Stated::Unknown),
    }
}

/// The place of the paper's experiment with this slug in a run.
fn position(run: &NamedRun, key: &str, slug: &str) -> Option<usize> {
    let experiments = &run.side.ledger.plan().experiments;
    experiments
        .iter()
        .position(|one| one.slug == slug && one.paper.as_ref().is_none_or(|paper| paper.key == key))
}

fn is_measured(run: &NamedRun, key: &str, slug: &str) -> bool {
    let at = position(run, key, slug);
    run.side
        .ledger
        .records()
        .iter()
        .any(|record| Some(record.case.experiment) == at && record.statistics.is_some())
}

/// A row of the table: a part of a sentence on a machine or a platform; or a sentence that nothing decides.
pub struct Row<'a> {
    sentence: &'a Sentence,
    part: Option<(&'static str, &'a Part)>,
    /// The paper's platform, or the machine with its judgement.
    printed: Option<&'a str>,
    judgement: Option<&'a Judgement>,
}

impl Sentence {
    fn rows(&self) -> Vec<Row<'_>> {
        let blank = || Row { sentence: self, part: None, printed: None, judgement: None };
        let printed = self.printed.iter().flat_map(|(platform, verdict)| {
            verdict.parts().map(move |part| Row { part: Some(part), printed: Some(platform), ..blank() })
        });
        let measured = self.judgements.iter().flat_map(|judgement| {
            let parts = judgement.verdict.parts();
            parts.map(move |part| Row { part: Some(part), judgement: Some(judgement), ..blank() })
        });
        let mut rows: Vec<Row> = printed.chain(measured).collect();
        if self.judgements.is_empty() {
            rows.push(blank());
        }
        rows
    }

    /// Why nothing is judged, if no machine judges the sentence.
    fn reason(&self) -> Option<String> {
        let needs = self.claim.needs.as_ref().map(|needs| format!("needs {needs}"));
        let from = || {
            let sources: Vec<String> = self.claim.from.iter().map(ToString::to_string).collect();
            format!("no run of {}", sources.join(", "))
        };
        self.judgements.is_empty().then(|| self.claim.none.clone().or(needs).unwrap_or_else(from))
    }

    /// The outcomes of both parts on all machines.
    pub fn outcomes(&self) -> impl Iterator<Item = (&'static str, &Outcome)> {
        let parts = self.judgements.iter().flat_map(|judgement| judgement.verdict.parts());
        parts.map(|(name, part)| (name, &part.outcome))
    }
}

/// Every sentence for programs: one row for each part and machine.
pub fn table(sentences: &[Sentence]) -> Table<'_, Row<'_>> {
    let text = |part: fn(&Row) -> Option<String>| part;
    let joined = |words: Vec<String>| (!words.is_empty()).then(|| words.join("; "));
    let of_part = move |row: &Row, of: fn(&Judged) -> Option<String>| {
        joined(row.part?.1.statements.iter().filter_map(of).collect())
    };
    let columns = vec![
        Column::new("paper", NO_UNIT, |row: &Row| row.sentence.paper.clone()),
        Column::new("claim", NO_UNIT, |row: &Row| row.sentence.claim.id.clone()),
        Column::new("at", NO_UNIT, |row: &Row| row.sentence.claim.at.clone()),
        Column::new("says", NO_UNIT, |row: &Row| row.sentence.claim.says.clone()),
        Column::new("source", NO_UNIT, |row: &Row| match (row.printed, row.judgement) {
            (Some(_), _) => "printed",
            (_, Some(_)) => "measured",
            _ => "none",
        }),
        Column::new(
            "machine",
            NO_UNIT,
            text(|row| row.printed.map(str::to_owned).or_else(|| Some(row.judgement?.machine.clone()))),
        ),
        Column::new("part", NO_UNIT, |row: &Row| row.part.map(|(name, _)| name)),
        Column::new("outcome", NO_UNIT, |row: &Row| row.part.map_or("n/a", |(_, part)| part.outcome.word())),
        Column::new(
            "why",
            NO_UNIT,
            text(|row| match row.part {
                Some((_, part)) => part.outcome.why().map(str::to_owned),
                None => row.sentence.reason(),
            }),
        ),
        Column::new("found", NO_UNIT, move |row: &Row| of_part(row, Judged::figure)),
        Column::new("example", NO_UNIT, move |row: &Row| of_part(row, |judged| judged.example.clone())),
        Column::new("statement", NO_UNIT, move |row: &Row| {
            of_part(row, |judged| Some(judged.statement.clone()))
        }),
        Column::new("runs", NO_UNIT, move |row: &Row| joined(row.judgement?.runs.clone())),
        Column::new("stated", NO_UNIT, |row: &Row| row.judgement.map(|judgement| judgement.stated.word())),
        Column::new("erratum", NO_UNIT, |row: &Row| row.sentence.claim.erratum.clone()),
    ];
    Table::new(columns, sentences.iter().flat_map(Sentence::rows))
}

/// Every sentence for people, and a last line that counts.
pub fn lines(sentences: &[Sentence]) -> Vec<String> {
    let mut lines = Vec::new();
    for sentence in sentences {
        let claim = &sentence.claim;
        lines.push(format!("{} {} · {}: {}", sentence.paper, claim.id, claim.at, claim.says));
        let printed = sentence.printed.iter().filter(|(_, verdict)| !verdict.is_not_applicable());
        lines.extend(
            printed.map(|(platform, verdict)| format!("    printed, {platform}: {}", verdict.words())),
        );
        lines.extend(claim.erratum.iter().map(|erratum| format!("    erratum: {erratum}")));
        lines.extend(sentence.judgements.iter().map(|judgement| {
            let runs = judgement.runs.join(", ");
            let changed = match judgement.stated {
                Stated::After => "; the claim was changed after the run",
                Stated::Before | Stated::Unknown => "",
            };
            format!("    {} ({runs}): {}{changed}", judgement.machine, judgement.verdict.words())
        }));
        lines.extend(sentence.reason().map(|why| format!("    n/a: {why}")));
    }
    lines.push(counts(sentences));
    lines
}

/// `122 sentences · shapes: 17 hold, 13 fail … · sizes: …`: of each sentence and machine.
fn counts(sentences: &[Sentence]) -> String {
    let mut words = vec![crate::case::units::number_of(sentences.len(), "sentence")];
    for part in ["shape", "size"] {
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let own = sentences.iter().flat_map(Sentence::outcomes).filter(|(name, _)| *name == part);
        own.for_each(|(_, outcome)| *found.entry(outcome.word()).or_default() += 1);
        let count = |word: &str| found.get(word).copied().unwrap_or_default();
        words.push(format!(
            "{part}s on machines: {} hold, {} fail, {} cannot be told, {} n/a",
            count("holds"),
            count("fails"),
            count("cannot tell"),
            count("n/a")
        ));
    }
    let unclaimed = sentences.iter().filter(|sentence| sentence.claim.none.is_some()).count();
    let without = sentences.iter().filter(|sentence| sentence.judgements.is_empty()).count();
    words.push(format!("{} not measured, {unclaimed} without a claim", without - unclaimed));
    words.join(" · ")
}
