//! The folder of a paper: what it claims, the plans of its recipes, and its printed tables.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::rows::{QUANTITIES, Row, of_records, of_table};
use super::{Judged, Outcome, Part, Verdict, judge, values};
use crate::case::published::Table;
use crate::engine::protocol::Environment;
use crate::files;
use crate::recipe::paper::{self, Claim, Expression, Paper, Source, Subject};
use crate::recipe::plan::{Overrides, Plan, resolve_with};
use crate::recipe::{Nearest, parse, published, shipped};
use crate::report::csv;
use crate::report::origin::Origin;
use crate::run::{Ledger, index_files};
use crate::stats::interval::CONFIDENCE;

/// A paper's folder, whose claims fit its recipes and its printed tables.
#[derive(Debug)]
pub struct Folder {
    pub paper: Paper,
    /// By their names without `.yaml`.
    plans: BTreeMap<String, Plan>,
    tables: BTreeMap<String, Table>,
}

/// Columns that a table has only once a case has a value in them.
const LATER: [&str; 12] = [
    "gflops",
    "transfer_in_s",
    "transfer_out_s",
    "transfer_in_bytes",
    "transfer_out_bytes",
    "speed_of_light_s",
    "speed_of_light_share",
    "ranking_s",
    "ranking_share",
    "best",
    "regret",
    "repeats",
];

impl Folder {
    /// A shipped paper.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub fn shipped(paper: &'static Paper) -> Result<Folder> {
        let prefix = format!("{}/", paper.key);
        let mut plans = BTreeMap::new();
        for recipe in shipped::shipped() {
            let Some(name) = recipe.path.strip_prefix(&prefix) else { continue };
            let plan = resolved(Path::new(recipe.path), recipe.text)?;
            plans.insert(name.trim_end_matches(".yaml").to_owned(), plan);
        }
        let mut tables = BTreeMap::new();
        for table in published::tables() {
            let name = table.path.strip_prefix(&prefix).and_then(|path| path.strip_prefix("published/"));
            tables.extend(name.map(|name| (name.trim_end_matches(".csv").to_owned(), table.clone())));
        }
        Folder { paper: paper.clone(), plans, tables }.checked()
    }

    /// A folder with a `paper.yaml`.
    ///
    /// # Errors
    /// A file that cannot be read; the first mistake in one, with its line; a claim that no recipe's case and no row of its
    /// table matches; a claim that does not hold on its own table and has no `erratum`.
    pub fn open(folder: &Path) -> Result<Folder> {
        let file = folder.join(paper::FILE);
        if !files::is_there(&file) {
            bail!("{} has no {}; docs/papers.md describes a paper's folder", folder.display(), paper::FILE);
        }
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let key = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let paper = paper::parse(&key, &file.to_string_lossy(), &files::text(&file, &files::RECIPE)?)?;
        let mut plans = BTreeMap::new();
        for path in listed(folder, "yaml")?.into_iter().filter(|path| !path.ends_with(paper::FILE)) {
            let text = files::text(&path, &files::RECIPE)?;
            plans.insert(stem(&path), resolved(&path, &text)?);
        }
        let mut tables = BTreeMap::new();
        for path in listed(&folder.join("published"), "csv").unwrap_or_default() {
            let text = files::text(&path, &files::TABLE)?;
            let table = Table::read(&path.to_string_lossy(), &text).map_err(anyhow::Error::msg)?;
            tables.insert(stem(&path), table);
        }
        Folder { paper, plans, tables }.checked()
    }

    fn checked(self) -> Result<Folder> {
        for claim in self.paper.claims.iter().filter(|claim| claim.none.is_none()) {
            if claim.needs.is_none() {
                self.fits_recipes(claim)?;
            }
            self.fits_tables(claim)?;
        }
        Ok(self)
    }

    /// The slugs of the experiments that a source means.
    pub fn slugs(&self, claim: &Claim, source: &Source) -> Result<Vec<&str>> {
        let wrong = |problem: String| Err(self.paper.error_of_source(claim, source, problem).into());
        let Some(plan) = self.plans.get(&source.recipe) else {
            let names: Vec<&str> = self.plans.keys().map(String::as_str).collect();
            let nearest = Nearest::among(&source.recipe, names.iter().copied());
            return wrong(format!("no recipe `{}`{nearest}; accepted: {}", source.recipe, names.join(", ")));
        };
        let slugs: Vec<&str> = plan.experiments.iter().map(|one| one.slug.as_str()).collect();
        match &source.experiment {
            Some(slug) if !slugs.contains(&slug.as_str()) => {
                wrong(format!("{} has no experiment `{slug}`; accepted: {}", source.recipe, slugs.join(", ")))
            }
            Some(slug) => Ok(slugs.into_iter().filter(|found| found == slug).collect()),
            None => Ok(slugs),
        }
    }

    /// Refuses statements that no case of the claim's recipes matches.
    fn fits_recipes(&self, claim: &Claim) -> Result<()> {
        let environment = Environment::default();
        let mut ledgers = Vec::new();
        for source in &claim.from {
            let slugs = self.slugs(claim, source)?;
            if let Some(plan) = self.plans.get(&source.recipe) {
                ledgers.push((Ledger::new(plan.clone()), slugs));
            }
        }
        let mut rows = Vec::new();
        for (at, (ledger, slugs)) in ledgers.iter().enumerate() {
            let plan = ledger.plan();
            let origin = Origin { plan, version: "", date: "", environment: &environment, devices: &[] };
            let is_wanted = |experiment: usize| {
                plan.experiments.get(experiment).is_some_and(|one| slugs.contains(&one.slug.as_str()))
            };
            let run = (at, claim.from.len() > 1);
            rows.extend(of_records(&origin, ledger.records(), ledger.references(), run, is_wanted));
        }
        let columns =
            claim.except.iter().flat_map(|except| &except.0).map(|condition| condition.column.as_str());
        for column in columns {
            if !rows.iter().any(|row| row.knows(column)) {
                return Err(self
                    .paper
                    .error_of(claim, "except", format!("unknown column `{column}`"))
                    .into());
            }
        }
        for (part, one) in claim.statements() {
            let at = |problem| self.paper.error_at(claim, part, one, problem);
            fitting(&one.what.expression, &rows).map_err(at)?;
        }
        Ok(())
    }

    /// What the claim comes to on each platform of its own printed tables.
    pub fn printed(&self, claim: &Claim) -> Result<Vec<(String, Verdict)>> {
        let mut tables = Vec::new();
        for name in &claim.printed {
            let name = name.trim_start_matches("published/").trim_end_matches(".csv");
            let table = self.tables.get(name).ok_or_else(|| {
                let names: Vec<&str> = self.tables.keys().map(String::as_str).collect();
                let problem = format!(
                    "no table published/{name}.csv; accepted: {}, or {{none: WHY}}",
                    names.join(", ")
                );
                self.paper.error_of(claim, "printed", problem)
            })?;
            tables.push(table);
        }
        let names = tables.iter().flat_map(|table| table.platforms()).map(str::to_owned);
        let platforms: Vec<String> = crate::case::distinct(names);
        let whole = claim.statements().any(|(_, one)| is_correlation(&one.what.expression));
        let mut found = Vec::new();
        let all: Vec<Row> = tables.iter().flat_map(|table| of_table(table, &platforms)).collect();
        let on = |own: &[Row], is_named: bool| {
            judge(claim, own, |_| is_named).map_err(|(part, at, problem)| {
                let placed = if part == "shape" { &claim.shape[at] } else { &claim.size[at] };
                self.paper.error_at(claim, part, placed, problem)
            })
        };
        if whole && !all.is_empty() {
            return Ok(vec![("all platforms".to_owned(), on(&all, true)?)]);
        }
        for (at, platform) in platforms.iter().enumerate() {
            let own: Vec<Row> = all.iter().filter(|row| row.source == at).cloned().collect();
            let is_named = claim.platform.as_ref().is_none_or(|named| named == platform);
            let mut verdict = on(&own, is_named)?;
            verdict.size = verdict.size.filter(|_| is_named);
            found.push((platform.clone(), verdict));
        }
        Ok(found)
    }

    /// Refuses a claim that its own table contradicts without an erratum, or that no row matches.
    fn fits_tables(&self, claim: &Claim) -> Result<()> {
        let printed = self.printed(claim)?;
        if claim.printed.is_empty() {
            return Ok(());
        }
        let parts: Vec<(&str, &Part)> = printed
            .iter()
            .flat_map(|(platform, verdict)| verdict.parts().map(move |(_, part)| (platform.as_str(), part)))
            .collect();
        let fails = parts.iter().find(|(_, part)| part.outcome == Outcome::Fails);
        match (fails, &claim.erratum) {
            (Some((platform, part)), None) => {
                let figure = part.statements.iter().find(|judged| judged.outcome == Outcome::Fails);
                let figure = figure.and_then(Judged::figure).unwrap_or_default();
                let problem = format!(
                    "it fails on its own table ({platform}: {figure}); say why with the key `erratum`"
                );
                Err(self.paper.error_of(claim, "printed", problem).into())
            }
            (None, Some(_)) if parts.iter().all(|(_, part)| part.outcome == Outcome::Holds) => Err(self
                .paper
                .error_of(claim, "erratum", "the claim holds on its own table".to_owned())
                .into()),
            _ if parts.iter().all(|(_, part)| matches!(part.outcome, Outcome::NotApplicable(_))) => Err(self
                .paper
                .error_of(claim, "printed", "no row of the table matches the claim".to_owned())
                .into()),
            _ => Ok(()),
        }
    }
}

/// Correlations are over all platforms, and over columns that a printed table alone may have.
fn is_correlation(expression: &Expression) -> bool {
    matches!(expression.subject, Subject::Correlation { .. })
}

/// Whether rows have the columns of an expression, and cases that it selects.
fn fitting(expression: &Expression, rows: &[Row]) -> Result<(), String> {
    let mut columns: Vec<&str> = rows.iter().flat_map(Row::names).collect();
    columns.sort_unstable();
    columns.dedup();
    for condition in expression.conditions() {
        if !rows.iter().any(|row| row.knows(&condition.column)) {
            let nearest = Nearest::among(&condition.column, columns.iter().copied());
            return Err(format!(
                "unknown column `{}`{nearest}; accepted: {}",
                condition.column,
                columns.join(", ")
            ));
        }
    }
    for name in expression.subject.quantities() {
        let known = QUANTITIES.contains(&name)
            || csv::is_fixed(name)
            || LATER.contains(&name)
            || name.starts_with("resolved.")
            || name.contains('.')
            || rows.iter().any(|row| row.knows(name));
        if !known && !is_correlation(expression) {
            let accepted = QUANTITIES.join(", ");
            return Err(format!(
                "unknown quantity `{name}`; accepted: {accepted}, or a column of results.csv"
            ));
        }
    }
    let found = values(expression, None, rows, CONFIDENCE)?;
    let nothing = found.all.is_empty() && found.not_applicable.is_none();
    if nothing && !is_correlation(expression) {
        return Err("no case of the recipe matches, or none has a pair".to_owned());
    }
    Ok(())
}

fn resolved(path: &Path, text: &str) -> Result<Plan> {
    let recipe = parse(&path.to_string_lossy(), text)?;
    Ok(resolve_with(&recipe, &Overrides::default(), &*index_files::of_recipe(path))?)
}

fn listed(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", folder.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        paths.extend(path.extension().is_some_and(|found| found == extension).then_some(path));
    }
    paths.sort();
    Ok(paths)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
