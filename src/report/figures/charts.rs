//! Figures that are charts of shipped recipes. The key `paper` of a recipe says which figure or table it measures; the
//! figure is drawn as reports and screens draw the chart, so that nothing of it stands here.

use std::borrow::Cow;
use std::collections::HashSet;

use anyhow::{Context, Result, bail};

use super::mark::csv;
use super::{Draw, Drawn, Figure};
use crate::engine::environment::fact_names::PREFETCHERS;
use crate::recipe::plan::{Chart, Experiment, Overrides, Paper, Plan, Scale, content_hash, resolve};
use crate::recipe::{parse, shipped};
use crate::report::cell::Cell;
use crate::report::files::caption;
use crate::report::origin::Origin;
use crate::report::overlay::{marked, side_by_side};
use crate::report::series::{ChartData, MeasuredValue, PublishedPoint, charted};
use crate::report::svg::{Caption, render_all};
use crate::report::verdicts::NamedRun;
use crate::run::Record;

/// The figures and tables that shipped recipes measure.
pub(super) fn figures() -> Vec<Figure> {
    let mut found: Vec<Figure> = Vec::new();
    for recipe in shipped::shipped() {
        let Ok(parsed) = parse(recipe.path, recipe.text) else { continue };
        for name in parsed.drafts.iter().filter_map(|draft| name(draft.paper.as_ref()?)) {
            let path = recipe.path.trim_end_matches(".yaml");
            match found.iter_mut().find(|figure| figure.name == name) {
                Some(figure) if figure.recipes.contains(&path) => {}
                Some(figure) => figure.recipes.to_mut().push(path),
                None => found.push(Figure {
                    name: Cow::Owned(name),
                    about: Cow::Owned(parsed.title().to_owned()),
                    recipes: Cow::Owned(vec![path]),
                    extension: "svg",
                    pictures: false,
                    draw: Draw::Charts,
                }),
            }
        }
    }
    found
}

/// `lavin2020/fig03`, `ashkiani2017/table05`; `None` of a figure or a table without a number.
fn name(paper: &Paper) -> Option<String> {
    let numbered = |word: &str, number: &Option<String>| {
        Some(format!("{}/{word}{:02}", paper.key, number.as_ref()?.parse::<u32>().ok()?))
    };
    numbered("fig", &paper.figure).or_else(|| numbered("table", &paper.table))
}

/// An experiment of the figure with what runs have of it.
struct Part<'a> {
    /// The title of the figure's recipe.
    title: String,
    experiment: Experiment,
    /// The records of each run that has any.
    found: Vec<(&'a NamedRun<'a>, Vec<&'a Record>)>,
}

/// A chart of the figure, and the records that it is drawn from.
struct Plotted {
    data: ChartData,
    caption: Caption,
    /// The name of the run and the case of each record.
    cases: Vec<[String; 2]>,
}

/// The charts of the figure's recipes, from whatever runs have their cases.
pub(super) fn draw(figure: &Figure, runs: &[NamedRun]) -> Result<Drawn> {
    let mut parts: Vec<Part> = Vec::new();
    let mut drawn = HashSet::new();
    for path in figure.recipes.iter() {
        let recipe = shipped::find(path).with_context(|| format!("{path} is not shipped"))?;
        let plan = resolve(&parse(recipe.path, recipe.text)?, &Overrides::default())?;
        let own = |experiment: &Experiment| {
            experiment.paper.as_ref().and_then(name).as_deref() == Some(&*figure.name)
        };
        for (at, experiment) in plan.experiments.iter().enumerate().filter(|(_, one)| own(one)) {
            let part = Part::of((experiment, at), &plan, runs);
            let Chart { y, relative_to, ratio, .. } = &part.experiment.chart;
            let shows = format!("{y:?} {relative_to:?} {ratio}");
            let cases = part.found.iter().flat_map(|(run, records)| {
                let case = |record: &&Record| content_hash(&record.case.id).to_owned();
                records.iter().map(move |record| (run.name.clone(), case(record)))
            });
            let before = drawn.len();
            drawn.extend(cases.map(|(run, case)| (run, case, shows.clone())));
            // Two recipes of one figure may share their cases, and say the same of them.
            if drawn.len() > before {
                parts.push(part);
            }
        }
    }
    let charts: Vec<Plotted> = parts.iter().map(Part::plot).collect();
    if charts.iter().all(|chart| chart.data.measured().next().is_none()) {
        let why: Vec<String> =
            charts.iter().flat_map(|chart| &chart.data.notes).map(ToString::to_string).take(3).collect();
        let why =
            if why.is_empty() { "none of its cases is in these runs".to_owned() } else { why.join("; ") };
        bail!("there is no result ({why})");
    }
    let table = table(&figure.name, &charts)?;
    let charts: Vec<(ChartData, Caption)> =
        charts.into_iter().map(|chart| (chart.data, chart.caption)).collect();
    Ok(Drawn { document: render_all(&charts)?, table, text: None })
}

impl<'a> Part<'a> {
    fn of((wanted, at): (&Experiment, usize), plan: &Plan, runs: &'a [NamedRun<'a>]) -> Part<'a> {
        let cases = plan.cases.iter().filter(|case| case.experiment == at);
        let ids: HashSet<&str> = cases.map(|case| content_hash(&case.id)).collect();
        let mut experiment = None;
        let mut found = Vec::new();
        for run in runs {
            let (like, records) = records_of(run, wanted, &ids);
            if !records.is_empty() {
                experiment.get_or_insert(like);
                found.push((run, records));
            }
        }
        Part { title: plan.title.clone(), experiment: experiment.unwrap_or_else(|| wanted.clone()), found }
    }

    fn plot(&self) -> Plotted {
        let cases = self.found.iter().flat_map(|(run, records)| {
            records.iter().map(|record| [run.name.clone(), record.case.id.clone()])
        });
        let cases = cases.collect();
        let (data, caption) = match self.found.as_slice() {
            [(run, records)] => self.alone(run, records),
            _ => self.together(),
        };
        Plotted { data, caption, cases }
    }

    /// The chart of a single run, as its report draws it.
    fn alone(&self, run: &NamedRun, records: &[&Record]) -> (ChartData, Caption) {
        let records: Vec<Record> = records.iter().map(|record| first(record)).collect();
        let (title, experiments) = (self.title.clone(), vec![self.experiment.clone()]);
        let cases = records.iter().map(|record| record.case.clone()).collect();
        let plan = Plan { title, experiments, cases, ..run.side.ledger.plan().clone() };
        let (origin, copies) =
            (Origin { plan: &plan, ..Origin::from(run.side.manifest) }, run.side.ledger.references());
        (charted(&plan, 0, &records, Some(copies)), caption(&origin, 0, &records, copies))
    }

    /// The chart of several runs: a line for each.
    fn together(&self) -> (ChartData, Caption) {
        let runs: Vec<&NamedRun> = self.found.iter().map(|(run, _)| *run).collect();
        let records = self.found.iter().enumerate();
        let records =
            records.flat_map(|(at, (_, records))| records.iter().map(move |record| marked(record, at)));
        let overlay = side_by_side(&self.experiment, records.collect(), &runs);
        let mut caption = overlay.caption;
        let states: Vec<_> = runs.iter().map(|run| prefetchers(run)).collect();
        let apart = states.iter().any(|state| *state != states[0]);
        for (line, state) in caption.runs.iter_mut().zip(&states).filter(|_| apart) {
            *line += &format!(" · {PREFETCHERS} {}", state.unwrap_or("unknown"));
        }
        (overlay.data, caption)
    }
}

/// The processor's prefetchers as the engine read them, which somebody may have switched between two runs; `None` where it
/// could not.
fn prefetchers<'a>(run: &NamedRun<'a>) -> Option<&'a str> {
    let facts = &run.side.manifest.environment.facts;
    let state = facts.iter().find(|(name, _)| name == PREFETCHERS).map(|(_, value)| value.as_str());
    state.filter(|state| !state.starts_with("n/a"))
}

/// The record as one of the first experiment's.
fn first(record: &Record) -> Record {
    let mut record = record.clone();
    record.case.experiment = 0;
    record
}

/// The experiment as a run has it, and its records: those of the run's own experiment of the figure, whatever sizes the
/// command line chose, or else the wanted cases, whichever recipe measured them.
fn records_of<'a>(
    run: &NamedRun<'a>,
    wanted: &Experiment,
    ids: &HashSet<&str>,
) -> (Experiment, Vec<&'a Record>) {
    let (plan, records) = (run.side.ledger.plan(), run.side.ledger.records());
    let number = |one: &Experiment| one.paper.as_ref().and_then(name);
    let same = |one: &Experiment| one.slug == wanted.slug && number(one) == number(wanted);
    if let Some(at) = plan.experiments.iter().position(same) {
        let own = records.iter().filter(|record| record.case.experiment == at).collect();
        let own_chart = &plan.experiments[at].chart;
        // A run may be older than what its recipe draws, of the points and beside them.
        let Chart { overlay, statistic, .. } = wanted.chart.clone();
        let chart = Chart { overlay, statistic, ..own_chart.clone() };
        return (Experiment { chart, ..plan.experiments[at].clone() }, own);
    }
    let mut seen = HashSet::new();
    let own = records.iter().enumerate().filter(|(_, record)| ids.contains(content_hash(&record.case.id)));
    let mut own: Vec<(usize, &Record)> = own.collect();
    // Of a case that several experiments of the run have, the first one with a result.
    own.sort_by_key(|(at, record)| (record.statistics.is_none(), *at));
    own.retain(|(_, record)| seen.insert(content_hash(&record.case.id)));
    own.sort_by_key(|(at, _)| *at);
    (wanted.clone(), own.into_iter().map(|(_, record)| record).collect())
}

const COLUMNS: [&str; 14] = [
    "figure", "chart", "panel", "line", "x", "y", "y_min", "y_max", "quantity", "status", "reason", "doubt",
    "run", "case",
];

/// Exactly the drawn and the missing values, as CSV.
fn table(figure: &str, charts: &[Plotted]) -> Result<String> {
    csv(COLUMNS, charts.iter().flat_map(|chart| chart.rows(figure)))
}

impl Plotted {
    fn rows(&self, figure: &str) -> Vec<Vec<Option<Cell>>> {
        let mut rows = Vec::new();
        for panel in &self.data.panels {
            let head = [figure, &*self.data.title, &*panel.title];
            for line in &panel.lines {
                let label = &self.data.labels[line.style];
                let points = line.points.iter().map(|p| (self.x(p.x), Some(&p.value), p.value.case));
                let absent = line.absent.iter().map(|a| (self.x(a.x), None, a.case));
                rows.extend(
                    points.chain(absent).map(|(x, value, case)| self.row(head, label, x, value, case)),
                );
            }
            let references = panel.references.iter();
            rows.extend(references.map(|r| self.row(head, &r.label, None, Some(&r.value), r.value.case)));
            for line in &panel.published {
                let label = &self.data.labels[line.of];
                rows.extend(line.points.iter().map(|point| self.printed(head, label, point)));
            }
        }
        rows
    }

    /// A place on the x axis: a number, or the name at it.
    fn x(&self, x: f64) -> Option<Cell> {
        match self.data.x.scale {
            Scale::Category => text(self.data.x.categories.get(x as usize)?),
            Scale::Linear | Scale::Log => Cell::number(x),
        }
    }

    fn printed(&self, head: [&str; 3], line: &str, point: &PublishedPoint) -> Vec<Option<Cell>> {
        let head = head.into_iter().chain([line]).map(text).chain([self.x(point.x), Cell::number(point.y)]);
        let source = self.data.published.as_deref().unwrap_or_default();
        let tail = ["", "", &*self.data.y.title(), "published", source, "", "", ""].map(text);
        head.chain(tail).collect()
    }

    fn row(
        &self,
        head: [&str; 3],
        line: &str,
        x: Option<Cell>,
        value: Option<&MeasuredValue>,
        case: usize,
    ) -> Vec<Option<Cell>> {
        let note = self.data.note_of(case);
        let (run, id) = self.cases.get(case).map_or(("", ""), |[run, id]| (run, id));
        let (status, reason) = note.map_or(("measured", ""), |note| (note.kind.word(), &note.reason));
        let doubt = value.map(|value| value.doubt.words()).unwrap_or_default();
        let numbers = [value.map(|v| v.y), value.map(|v| v.y_min), value.map(|v| v.y_max)];
        let tail = [&*self.data.y.title(), status, reason, &doubt, run, id].map(text);
        let head = head.into_iter().chain([line]).map(text).chain([x]);
        head.chain(numbers.map(|y| y.and_then(Cell::number))).chain(tail).collect()
    }
}

/// A word, or the empty cell.
fn text(word: &str) -> Option<Cell> {
    (!word.is_empty()).then(|| Cell::text(word))
}
