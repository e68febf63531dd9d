//! Another run's results as a chart over the axes of this one's. Lines of the two are the same if all parameters that
//! distinguish lines in either run are; others stay lines of the other run. The rest of what differs is listed.

use std::collections::HashSet;

use crate::case::{Cache, Case, Value, distinct};
use crate::recipe::plan::{Axis, Chart, Experiment, Plan, content_hash, is_of_words};
use crate::report::names;
use crate::report::series::{ChartData, series};
use crate::run::{Ledger, Record, Status};

/// Most values of a parameter that are listed.
const LISTED: usize = 3;
/// The key of the backend.
const BACKEND: &str = "backend";

/// One experiment of another run over the axes of a chart.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The other run's values. Styles below `shared` are those of the chart's lines.
    pub chart: ChartData,
    pub shared: usize,
    /// `tuple 8 B → 16 B`: what differs besides x, lines and panels, there and here.
    pub differs: Vec<String>,
}

/// A run that may be laid over a chart.
#[derive(Clone, Copy)]
pub struct Other<'a> {
    pub plan: &'a Plan,
    pub records: &'a [Record],
}

/// The experiment of `other` that shares the most cases with this one, or else its name, among those with the same x.
///
/// # Errors
/// Why none can be laid.
pub fn lay(plan: &Plan, experiment: usize, other: Other) -> Result<Laid, String> {
    let wanted = plan.experiments.get(experiment).ok_or("there is no chart")?;
    let ours: Vec<&Case> = of(plan, experiment).collect();
    let ids: HashSet<&str> = ours.iter().map(|case| content_hash(&case.id)).collect();
    let rank = |at: usize, there: &Experiment| {
        let equal = of(other.plan, at).filter(|case| ids.contains(content_hash(&case.id))).count();
        (equal, there.slug == wanted.slug)
    };
    let mut there: Vec<_> =
        other.plan.experiments.iter().enumerate().map(|(at, e)| (rank(at, e), at, e)).collect();
    there.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut why = None;
    for (_, at, there) in there {
        let pair = Pair { plan, wanted, ours: &ours, there, theirs: results(other.records, at) };
        match pair.laid() {
            Ok(laid) => return Ok(laid),
            Err(reason) => why = why.or(Some(reason)),
        }
    }
    Err(why.unwrap_or_else(|| "it has no experiment".to_owned()))
}

fn of(plan: &Plan, experiment: usize) -> impl Iterator<Item = &Case> {
    plan.cases.iter().filter(move |case| case.experiment == experiment)
}

/// The records of an experiment that have a result.
fn results(records: &[Record], experiment: usize) -> Vec<&Record> {
    let there = |record: &&Record| {
        let over = matches!(record.status, Status::Done | Status::Partial);
        record.case.experiment == experiment && over && record.statistics.is_some()
    };
    records.iter().filter(there).collect()
}

/// An experiment of this run, and one of the other.
struct Pair<'a> {
    plan: &'a Plan,
    wanted: &'a Experiment,
    ours: &'a [&'a Case],
    there: &'a Experiment,
    theirs: Vec<&'a Record>,
}

impl Pair<'_> {
    fn laid(&self) -> Result<Laid, String> {
        self.check_x()?;
        let alone = series_of(self.plan, &self.merged(&[]), &self.pending());
        let (shared, panels) = (alone.labels.len(), alone.panels.len());
        let mut more = self.more_lines();
        // Parameters that also vary here, unassigned, would split this chart's lines.
        if series_of(self.plan, &self.merged(&more), &self.pending()).labels.len() != shared {
            more.clear();
        }
        let mut records = self.pending();
        records.extend(self.theirs.iter().map(|record| self.adopted(record)));
        let mut chart = series_of(self.plan, &self.merged(&more), &records);
        let elsewhere = chart.panels.split_off(panels.min(chart.panels.len()));
        if !self.sweeps_x() {
            chart.panels.iter_mut().for_each(|panel| {
                panel.lines.retain(|line| line.style < shared);
                panel.references.retain(|reference| reference.style < shared);
            });
        }
        if chart.measured().next().is_some() {
            let differs = self.differs(&more);
            return Ok(Laid { chart, shared, differs });
        }
        Err(match elsewhere.first().filter(|_| self.sweeps_x()) {
            Some(panel) => format!("its panel is {}, which this chart does not have", panel.title),
            None if !self.sweeps_x() => self.other_x(),
            None => format!("it has no result in {}", chart.y.short_title()),
        })
    }

    fn sweeps_x(&self) -> bool {
        let x = &self.wanted.chart.x;
        names::axis(self.there, x).is_some()
            || self.there.chart.x == *x
            || names::axis(self.wanted, x).is_none()
    }

    fn other_x(&self) -> String {
        let name = |experiment: &Experiment| names::name(experiment, &experiment.chart.x).to_owned();
        match (name(self.there), name(self.wanted)) {
            (there, here) if there == here => {
                format!("it sweeps {}, but this chart sweeps {}", self.there.chart.x, self.wanted.chart.x)
            }
            (there, here) => format!("it sweeps {there}, but this chart sweeps {here}"),
        }
    }

    /// Both must have values of x, in the same unit.
    fn check_x(&self) -> Result<(), String> {
        if self.theirs.is_empty() {
            return Err("it has no result".to_owned());
        }
        let x = &self.wanted.chart.x;
        let theirs: Vec<&Value> =
            self.theirs.iter().filter_map(|record| names::of(self.there, x, &record.case)).collect();
        let ours: Vec<&Value> = self.ours.iter().filter_map(|case| names::of(self.wanted, x, case)).collect();
        if theirs.is_empty() && !ours.is_empty() {
            return Err(self.other_x());
        }
        let numbers = |values: &[&Value]| values.iter().all(|v| matches!(v, Value::Int(_) | Value::Float(_)));
        let sizes = names::is_size(self.there, x) == names::is_size(self.wanted, x);
        if !sizes || (numbers(&ours) && !numbers(&theirs)) {
            return Err(format!("its {} is in another unit", names::name(self.there, x)));
        }
        Ok(())
    }

    /// The parameters that make lines or panels there but not here.
    fn more_lines(&self) -> Vec<String> {
        let Chart { x, lines, panels, .. } = &self.there.chart;
        let swept = |key: &&String| names::axis(self.there, key).is_some() && !self.charts(key);
        std::iter::once(x).chain(lines).chain(panels).filter(swept).cloned().collect()
    }

    /// Whether this chart assigns the parameter.
    fn charts(&self, key: &str) -> bool {
        let Chart { x, lines, panels, .. } = &self.wanted.chart;
        std::iter::once(x).chain(lines).chain(panels).any(|name| name == key)
    }

    /// This experiment with the values of both on its axes, and further parameters in the names of lines.
    fn merged(&self, more: &[String]) -> Experiment {
        let mut merged = self.wanted.clone();
        for axis in &self.there.axes {
            match merged.axes.iter_mut().find(|own| own.key == axis.key) {
                Some(own) if own.maps.is_empty() == axis.maps.is_empty() => extend(own, axis),
                Some(_) => {}
                None => {
                    let mut first = Axis { values: Vec::new(), ..axis.clone() };
                    // This chart's places come first.
                    let ours = distinct(self.ours.iter().filter_map(|case| axis.value(case)).cloned());
                    let own = |value: &Value| axis.values.iter().position(|v| v == value);
                    first.maps = ours.iter().filter_map(|v| axis.maps.get(own(v)?).cloned()).collect();
                    first.values = ours;
                    extend(&mut first, axis);
                    merged.axes.push(first);
                }
            }
        }
        merged.chart.lines.extend(more.iter().cloned());
        let chart = merged.chart;
        merged.chart = Chart { ceiling: None, models: Some(Vec::new()), overlay: None, ..chart };
        merged
    }

    /// This run's cases without results: they come first, so that their lines and panels keep their places.
    fn pending(&self) -> Vec<Record> {
        let cases = self.ours.iter().map(|case| Case { experiment: 0, ..Case::clone(case) }).collect();
        Ledger::new(Plan { cases, ..self.plan.clone() }).records().to_vec()
    }

    /// The other run's record, as a case of this one's backend if each has only one.
    fn adopted(&self, record: &Record) -> Record {
        let mut case = Case { experiment: 0, ..record.case.clone() };
        if let Some([_, here]) = self.backends() {
            case.params = case.params.with(BACKEND, here);
        }
        Record { case, ..record.clone() }
    }

    /// The backends there and here, if they are one each, and differ.
    fn backends(&self) -> Option<[Value; 2]> {
        let [there, here] = self.both(BACKEND);
        match (&there[..], &here[..]) {
            ([there], [here]) if there != here => Some([there.clone(), here.clone()]),
            _ => None,
        }
    }

    /// The distinct values of a parameter, there and here.
    fn both(&self, key: &str) -> [Vec<Value>; 2] {
        let there = self.theirs.iter().map(|record| &record.case);
        [
            distinct(there.filter_map(|case| case.params.get(key)).cloned()),
            distinct(self.ours.iter().filter_map(|case| case.params.get(key)).cloned()),
        ]
    }

    fn differs(&self, more: &[String]) -> Vec<String> {
        let merged = self.merged(more);
        let theirs = || self.theirs.iter().map(|record| &record.case);
        let keys = theirs().chain(self.ours.iter().copied()).flat_map(|case| case.params.0.keys());
        let mut keys: Vec<&String> = keys.collect();
        keys.sort_unstable();
        keys.dedup();
        let told = |key: &str| self.charts(key) || more.iter().any(|name| name == key) || is_of_words(key);
        let inside =
            |key: &str| merged.axes.iter().any(|axis| axis.maps.iter().any(|map| map.get(key).is_some()));
        let one = |key: &String| {
            let words = |values: &[Value]| {
                let all: Vec<String> =
                    values.iter().map(|v| names::value(v, names::is_size(self.wanted, key))).collect();
                if all.len() > LISTED { format!("{} values", all.len()) } else { all.join(", ") }
            };
            if key == Cache::KEY {
                let cache =
                    |values: &[Value]| if values.is_empty() { "hot".to_owned() } else { words(values) };
                let [there, here] = self.both(key);
                return (there != here).then(|| format!("cache {} → {}", cache(&there), cache(&here)));
            }
            let [there, here] = self.both(key);
            let same = there.is_empty()
                || here.is_empty()
                || (there.len() == here.len() && there.iter().all(|v| here.contains(v)));
            (!same).then(|| format!("{} {} → {}", names::name(&merged, key), words(&there), words(&here)))
        };
        let primitive = (self.there.primitive != self.wanted.primitive)
            .then(|| format!("{} → {}", self.there.primitive, self.wanted.primitive));
        let seeds =
            [distinct(theirs().map(|case| case.seed)), distinct(self.ours.iter().map(|case| case.seed))];
        let seed = match &seeds {
            [there, here] if there != here => Some(format!("seed {} → {}", numbers(there), numbers(here))),
            _ => None,
        };
        let backend = self
            .backends()
            .filter(|_| told(BACKEND))
            .map(|[there, here]| format!("backend {there} → {here}"));
        let fixed = keys.into_iter().filter(|key| !told(key) && !inside(key)).filter_map(one);
        primitive.into_iter().chain(backend).chain(fixed).chain(seed).collect()
    }
}

fn series_of(plan: &Plan, experiment: &Experiment, records: &[Record]) -> ChartData {
    let plan = Plan {
        experiments: vec![experiment.clone()],
        cases: Vec::new(),
        claims: Default::default(),
        indices: Vec::new(),
        ..plan.clone()
    };
    series(&plan, 0, records)
}

/// Adds the values of another axis.
fn extend(own: &mut Axis, other: &Axis) {
    for (at, value) in other.values.iter().enumerate() {
        if !own.values.contains(value) {
            own.values.push(value.clone());
            own.maps.extend(other.maps.get(at).cloned());
        }
    }
}

fn numbers(all: &[u64]) -> String {
    all.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
