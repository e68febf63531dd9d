//! Builds [`ChartData`] from a plan and its records.

use std::collections::{BTreeSet, HashMap};

use super::bars::{self, BarKinds};
use super::best::BestOf;
use super::doubt::Doubt;
use super::guide::{Ceilings, Wanted};
use super::note::{self, Note, NoteKind};
use super::predicted::models;
use super::published::{self, PublishedPoint};
use super::roofline::intensity;
use super::{
    Absent, ChartData, Copies, Line, MeasuredValue, ModelKey, Panel, Point, Predicted, Reference, XAxis,
    YAxis,
};
use crate::case::peers::{self, of_backend};
use crate::case::{Case, Value};
use crate::model::Profiles;
use crate::recipe::plan::{Bars, Chart, Experiment, Plan, Quantity, Scale, Statistic, leads, scale_of};
use crate::report::names;
use crate::report::relative::Baseline;
use crate::report::scale::Spacing;
use crate::report::unit::Unit;
use crate::run::Record;
use crate::stats::noise::Flag;

/// The chart of one experiment of a plan; `records` are the plan's, in its order.
///
/// A case that cannot run or failed is never a point: it is in the notes. An unknown experiment gives an
/// empty chart.
pub fn series(plan: &Plan, experiment: usize, records: &[Record]) -> ChartData {
    charted(plan, experiment, records, None)
}

/// [`series`] with the ceilings of the chart, if the run's copies are given.
pub fn charted(plan: &Plan, experiment: usize, records: &[Record], copies: Option<&Copies>) -> ChartData {
    let Some(wanted) = plan.experiments.get(experiment) else {
        return empty();
    };
    let ceilings = wanted.chart.ceiling.map(Wanted::One).zip(copies);
    build(plan, (wanted, experiment), records, ceilings, false)
}

/// The [roofline](super::roofline) of an experiment: its cases by intensity and throughput, under the roofs that its copies
/// and these profiles give.
pub fn roofline(
    plan: &Plan,
    experiment: usize,
    records: &[Record],
    copies: &Copies,
    profiles: &Profiles,
) -> ChartData {
    let Some(wanted) = plan.experiments.get(experiment) else {
        return empty();
    };
    let chart = Chart {
        y: Quantity::Throughput,
        relative_to: None,
        ceiling: None,
        overlay: None,
        ..wanted.chart.clone()
    };
    let wanted = Experiment { chart, ..wanted.clone() };
    build(plan, (&wanted, experiment), records, Some((Wanted::Roofs(profiles), copies)), true)
}

fn build(
    plan: &Plan,
    (wanted, experiment): (&Experiment, usize),
    records: &[Record],
    ceilings: Option<(Wanted, &Copies)>,
    roofline: bool,
) -> ChartData {
    let baseline = Baseline::new(&wanted.chart, experiment, records);
    let own = || records.iter().enumerate().filter(|(_, r)| r.case.experiment == experiment);
    let x = match roofline {
        true => intensities(own().filter_map(|(_, r)| intensity(r))),
        false => x_axis(wanted, own().map(|(_, r)| &r.case)),
    };
    let key = |name| ModelKey { name, ..ModelKey::default() };
    let models = models(&wanted.chart, own().map(|(_, r)| r)).into_iter().map(key).collect();
    let mut y = y_axis(wanted);
    y.spacing = if roofline { Some(Spacing::Log10) } else { y.spacing };
    let mut builder = Builder {
        experiment: wanted,
        baseline,
        ceilings: ceilings
            .map(|(ceilings, copies)| Ceilings::new(ceilings, copies, plan, (y.quantity, y.unit))),
        data: ChartData {
            title: wanted.title.clone(),
            x,
            y,
            lines_per_run: None,
            labels: Vec::new(),
            panels: Vec::new(),
            models,
            published: None,
            best: None,
            notes: Vec::new(),
            bars: BarKinds::All(Bars::Range),
            noise: Vec::new(),
            residual: false,
            roofline,
        },
    };
    builder.choose(own());
    let drawn = || own().filter(|(at, _)| builder.data.drawn(*at) == *at).map(|(_, record)| record);
    let bars = BarKinds::of(wanted.chart.bars, drawn().filter_map(|r| r.statistics.as_ref()));
    let noise = noise(drawn());
    (builder.data.bars, builder.data.noise) = (bars, noise);
    own().for_each(|(at, record)| builder.add(at, record));
    builder.finish()
}

fn empty() -> ChartData {
    let x = XAxis {
        key: String::new(),
        name: String::new(),
        scale: Scale::Linear,
        unit: Unit::Number,
        values: Vec::new(),
        categories: Vec::new(),
    };
    let (quantity, unit) = (Quantity::Bandwidth, Unit::GigabytesPerSecond);
    let y = YAxis { quantity, relative_to: None, unit, best_of: None, named: None, spacing: None };
    let panels = vec![Panel::default()];
    let (labels, notes, models) = (Vec::new(), Vec::new(), Vec::new());
    ChartData {
        title: String::new(),
        x,
        y,
        labels,
        lines_per_run: None,
        panels,
        models,
        published: None,
        best: None,
        notes,
        bars: BarKinds::All(Bars::Range),
        noise: Vec::new(),
        residual: false,
        roofline: false,
    }
}

/// The words of all noise in the rounds of measured cases, without that of a GPU's clocks.
fn noise<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<&'static str> {
    let measured = records.filter(|record| record.statistics.is_some());
    let flags: BTreeSet<Flag> = measured.flat_map(Record::flags).collect();
    flags.into_iter().filter(|flag| *flag != Flag::Throttle).map(Flag::word).collect()
}

/// The axis of intensities, with room around them to see how roofs rise.
fn intensities(found: impl Iterator<Item = f64>) -> XAxis {
    const ROOM: f64 = 2.0;
    let values: Vec<f64> = found.flat_map(|v| [v / ROOM, v, v * ROOM]).collect();
    XAxis {
        key: String::new(),
        name: "elements per byte moved".to_owned(),
        scale: Scale::Log,
        unit: Unit::Number,
        values,
        categories: Vec::new(),
    }
}

/// The swept values in the recipe's order, followed by other values of the cases.
fn x_axis<'a>(experiment: &Experiment, cases: impl Iterator<Item = &'a Case>) -> XAxis {
    let key = &experiment.chart.x;
    let axis = names::axis(experiment, key);
    let mut values: Vec<Value> = axis.map(|a| a.values.clone()).unwrap_or_default();
    for value in cases.filter_map(|c| names::of(experiment, key, c)) {
        if !values.contains(value) {
            values.push(value.clone());
        }
    }
    let numbers: Option<Vec<f64>> = values.iter().map(as_number).collect();
    let bytes = axis.is_some_and(|a| a.bytes);
    let name = names::name(experiment, key).to_owned();
    let base = XAxis {
        key: key.clone(),
        name,
        scale: Scale::Category,
        unit: Unit::Number,
        values: Vec::new(),
        categories: Vec::new(),
    };
    match (axis.map_or(Scale::Linear, |a| a.scale), numbers) {
        (own @ (Scale::Linear | Scale::Log), Some(numbers)) if !numbers.is_empty() => {
            // Plans of older runs called more axes linear.
            let usual = if own == Scale::Log { own } else { scale_of(&values) };
            let scale = experiment.chart.scale.x.unwrap_or(usual);
            let (name, unit) = (names::title(experiment, key), x_unit(bytes, &numbers));
            XAxis { name, scale, unit, values: numbers, ..base }
        }
        _ => XAxis { categories: values.iter().map(|v| names::value(v, bytes)).collect(), ..base },
    }
}

fn x_unit(bytes: bool, values: &[f64]) -> Unit {
    match bytes {
        true => Unit::Bytes,
        false if values.iter().all(|v| v.fract() == 0.0) => Unit::Count,
        false => Unit::Number,
    }
}

fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(v) => Some(*v as f64),
        Value::Float(v) => Some(*v),
        Value::Text(_) | Value::Indices(_) => None,
    }
}

fn y_axis(experiment: &Experiment) -> YAxis {
    let quantity = experiment.chart.y;
    let absolute = match quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => Unit::GigabytesPerSecond,
        Quantity::Time | Quantity::TimeWithTransfer => Unit::Seconds,
        Quantity::Throughput => Unit::ElementsPerSecond,
        Quantity::Flops | Quantity::FlopsWithTransfer => Unit::OperationsPerSecond,
    };
    let baseline = |(key, value): &(String, Value)| match value {
        Value::Text(word) if of_backend(word).is_some() => peers::name(word).to_owned(),
        _ => format!("{} {}", names::name(experiment, key), names::value(value, false)),
    };
    let relative_to = experiment.chart.relative_to.as_ref().map(baseline);
    let unit = match (&relative_to, experiment.chart.ratio) {
        (None, _) => absolute,
        (Some(_), false) => Unit::Percent,
        (Some(_), true) => Unit::Number,
    };
    let of_samples = (experiment.chart.statistic == Statistic::Fastest).then_some("samples");
    let best = experiment.chart.best_of.iter().map(|key| names::name(experiment, key));
    let best: Vec<&str> = best.chain(of_samples).collect();
    let best_of = (!best.is_empty()).then(|| best.join(" and "));
    let spacing = experiment.chart.scale.y.map(|scale| match scale {
        Scale::Log => Spacing::Log10,
        Scale::Linear | Scale::Category => Spacing::Linear,
    });
    YAxis { quantity, relative_to, unit, best_of, named: None, spacing }
}

/// Where a case is on the chart: the panel's title, the label of its line or reference, and its x with that in words.
struct Place {
    panel: String,
    label: String,
    x: Option<(f64, String)>,
}

struct Builder<'a> {
    experiment: &'a Experiment,
    baseline: Option<Baseline<'a>>,
    ceilings: Option<Ceilings<'a>>,
    data: ChartData,
}

impl Builder<'_> {
    fn add(&mut self, at: usize, record: &Record) {
        let case = &record.case;
        if self.baseline.as_ref().is_some_and(|b| b.contains(case)) {
            return self.note_baseline(at, record);
        }
        let Place { panel, label, x } = self.place(record);
        let panel = self.panel(&panel);
        if let Some(ceilings) = &mut self.ceilings {
            ceilings.add(record, &mut self.data.panels[panel]);
        }
        let style = self.style(&label);
        if x.is_some() {
            self.line(panel, &label, style);
        }
        self.predict(panel, style, x.as_ref().map(|(x, _)| *x), at, record);
        let drawn = self.data.drawn(at) == at;
        if let (Some((x, _)), Some(y)) = (&x, self.published(at, record)) {
            self.data.panels[panel].publish(style, PublishedPoint { x: *x, y });
            self.data.published = self.experiment.chart.overlay.as_ref().map(published::source);
        }
        let value = match note::own(record) {
            None if drawn => self.measured(at, record),
            None => None,
            Some(own) => {
                self.note(own, at, record);
                None
            }
        };
        if !drawn {
            return;
        }
        let Some(value) = value else {
            return self.absent(panel, style, x, at);
        };
        match x {
            Some((x, words)) => self.line(panel, &label, style).points.push(Point { x, label: words, value }),
            None => self.data.panels[panel].references.push(Reference { label, style, value }),
        }
    }

    /// Chooses the best case at each place, if the chart is the best of some parameters.
    fn choose<'r>(&mut self, own: impl Iterator<Item = (usize, &'r Record)>) {
        let chart = &self.experiment.chart;
        if chart.best_of.is_empty() {
            return;
        }
        let points = own.filter(|(_, r)| self.baseline.as_ref().is_none_or(|b| !b.contains(&r.case)));
        let mut places: HashMap<String, Vec<(usize, &Record)>> = HashMap::new();
        for (at, record) in points {
            let Place { panel, label, x } = self.place(record);
            places.entry(format!("{panel}\n{label}\n{x:?}")).or_default().push((at, record));
        }
        let models: Vec<&str> = self.data.models.iter().map(|key| key.name).collect();
        let words = |case: &Case| self.settings(&chart.best_of, case).join(", ");
        let mut best = BestOf::default();
        places.values().for_each(|place| best.choose(place, chart, &models, words));
        self.data.best = Some(best);
    }

    /// The panel, the line or reference, and the x of a case.
    fn place(&self, record: &Record) -> Place {
        let (panel, x) = (self.panel_title(&record.case), self.x_of(record));
        let of_line = x.is_some();
        let label = if of_line { self.line_label(&record.case) } else { self.reference_label(&record.case) };
        Place { panel, label, x }
    }

    /// Adds the models' predictions for a case, whatever its status.
    fn predict(&mut self, panel: usize, style: usize, x: Option<f64>, case: usize, record: &Record) {
        for rank in 0..self.data.models.len() {
            let model = self.data.models[rank].name;
            let Some(forecast) = record.forecast(model) else { continue };
            let seconds = forecast.outcome.as_ref().ok().map(|prediction| prediction.seconds);
            let y = seconds.and_then(|seconds| self.predicted(record, model, seconds));
            let best = self.data.best.as_ref();
            let foreseen = best.is_none_or(|best| best.foresees(rank, case));
            let measured = best.is_none_or(|best| best.draws(case));
            self.data.models[rank].take(forecast, record.accuracy(model).filter(|_| measured));
            if let Some(y) = y.filter(|_| foreseen) {
                self.data.panels[panel].predict((rank, model), style, Predicted { x, y, case });
            }
        }
    }

    /// A prediction in the unit of y; a change is relative to the model's own prediction of the baseline.
    fn predicted(&self, record: &Record, model: &str, seconds: f64) -> Option<f64> {
        self.converted(record, seconds, |base| Some(base.prediction(model)?.seconds))
    }

    /// What the paper prints of a case, in the unit of y; a change is relative to what it prints of the baseline.
    fn published(&self, at: usize, record: &Record) -> Option<f64> {
        if self.data.best.as_ref().is_some_and(|best| !best.prints(at)) {
            return None;
        }
        let seconds = |record: &Record| published::seconds(&self.experiment.chart, record);
        self.converted(record, seconds(record)?, seconds)
    }

    /// A time of a case in the unit of y. `of` gives the time of the baseline.
    fn converted(&self, record: &Record, seconds: f64, of: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        let quantity = self.experiment.chart.y;
        let y = record.quantity_at(quantity, seconds)?;
        let y = match &self.baseline {
            None => y,
            Some(baseline) => {
                self.against(y, baseline.best(&record.case, |base| base.quantity_at(quantity, of(base)?))?)
            }
        };
        y.is_finite().then_some(y)
    }

    /// The change of a value against that of its baseline, or the ratio to it.
    fn against(&self, value: f64, base: f64) -> f64 {
        let ratio = value / base;
        if self.experiment.chart.ratio { ratio } else { (ratio - 1.0) * 100.0 }
    }

    /// Adds a mark for a case without a value, unless it may still be measured.
    fn absent(&mut self, panel: usize, style: usize, x: Option<(f64, String)>, case: usize) {
        let noted = self.data.notes.iter().find(|n| n.cases.last() == Some(&case));
        let kind = noted.map(|n| n.kind).filter(|kind| *kind != NoteKind::Pending);
        if let (Some((x, label)), Some(kind)) = (x, kind) {
            self.line(panel, "", style).absent.push(Absent { x, label, case, kind });
        }
    }

    /// Notes the problems of a baseline, which is the zero line rather than a point.
    fn note_baseline(&mut self, at: usize, record: &Record) {
        if let Some(own) = note::own(record) {
            self.note(own, at, record);
        }
    }

    fn note(&mut self, what: (NoteKind, String), at: usize, record: &Record) {
        let chart = &self.experiment.chart;
        let keys = [&chart.panels[..], &chart.lines[..], std::slice::from_ref(&chart.x)].concat();
        let mut words = self.settings(&keys, &record.case);
        words.retain(|w| !w.is_empty() && w != record.case.backend());
        note::add(&mut self.data.notes, what, record, at, words.join(", "));
    }

    /// The values of these keys in a case, in words; missing keys and words that a later one repeats are omitted.
    fn settings(&self, keys: &[String], case: &Case) -> Vec<String> {
        let word =
            |key: &String| Some(names::setting(self.experiment, key, names::of(self.experiment, key, case)?));
        let axes = || keys.iter().filter_map(|key| names::axis(self.experiment, key));
        keys.iter().filter(|key| !leads(case, key, axes())).filter_map(word).collect()
    }

    /// `values = none, tuple = 8 B`: every parameter by name, because `none` alone says nothing.
    fn panel_title(&self, case: &Case) -> String {
        let setting = |key: &String| {
            let axis = names::axis(self.experiment, key);
            let value = names::value(names::of(self.experiment, key, case)?, axis.is_some_and(|a| a.bytes));
            Some(format!("{} = {value}", names::name(self.experiment, key)))
        };
        self.experiment.chart.panels.iter().filter_map(setting).collect::<Vec<_>>().join(", ")
    }

    fn line_label(&self, case: &Case) -> String {
        let words = self.settings(&self.experiment.chart.lines, case);
        match &self.data.y.best_of {
            _ if !words.is_empty() => words.join(", "),
            Some(of) if !self.experiment.chart.best_of.is_empty() => format!("best of {of}"),
            _ => case.backend().to_owned(),
        }
    }

    /// The label of a reference also names its variant, unless the lines do.
    fn reference_label(&self, case: &Case) -> String {
        let label = self.line_label(case);
        let chart = &self.experiment.chart;
        let owners = chart.x.match_indices('.').map(|(at, _)| &chart.x[..at]);
        let told = |key: &&str| !chart.lines.iter().chain(&chart.panels).any(|k| k == key);
        let variants: Vec<&str> = owners.filter(told).filter_map(|k| case.params.text(k)).collect();
        if variants.is_empty() { label } else { format!("{label}, {}", variants.join(", ")) }
    }

    /// The x of a case, and its label. Without values on the axis (nothing is swept) all cases share one
    /// place.
    fn x_of(&self, record: &Record) -> Option<(f64, String)> {
        let (x, case) = (&self.data.x, &record.case);
        if self.data.roofline {
            return Some((intensity(record)?, String::new()));
        }
        let Some(value) = names::of(self.experiment, &x.key, case) else {
            return (x.values.is_empty() && x.categories.is_empty()).then(|| (0.0, String::new()));
        };
        let words = names::value(value, x.unit == Unit::Bytes);
        match x.scale {
            Scale::Category => {
                let axis = names::axis(self.experiment, &x.key);
                let words = names::value(value, axis.is_some_and(|a| a.bytes));
                Some((x.categories.iter().position(|c| *c == words)? as f64, words))
            }
            Scale::Linear | Scale::Log => Some((as_number(value)?, words)),
        }
    }

    fn style(&mut self, label: &str) -> usize {
        let labels = &mut self.data.labels;
        labels.iter().position(|l| l == label).unwrap_or_else(|| {
            labels.push(label.to_owned());
            labels.len() - 1
        })
    }

    fn panel(&mut self, title: &str) -> usize {
        let panels = &mut self.data.panels;
        panels.iter().position(|p| p.title == title).unwrap_or_else(|| {
            panels.push(Panel { title: title.to_owned(), ..Panel::default() });
            panels.len() - 1
        })
    }

    fn line(&mut self, panel: usize, label: &str, style: usize) -> &mut Line {
        let lines = &mut self.data.panels[panel].lines;
        let at = lines.iter().position(|l| l.style == style).unwrap_or_else(|| {
            lines.push(Line { label: label.to_owned(), style, points: Vec::new(), absent: Vec::new() });
            lines.len() - 1
        });
        &mut lines[at]
    }

    fn measured(&mut self, case: usize, record: &Record) -> Option<MeasuredValue> {
        let (quantity, statistic) = (self.experiment.chart.y, self.experiment.chart.statistic);
        let statistics = record.statistics.as_ref()?;
        let at = |seconds| record.quantity_at(quantity, seconds);
        let values = [at(statistics.time(statistic))?, at(statistics.min)?, at(statistics.max)?];
        let [y, one, other] = match &self.baseline {
            None => values,
            Some(baseline) => match baseline.quantity(&record.case) {
                Some(base) => values.map(|v| self.against(v, base)),
                None => {
                    self.note((NoteKind::NoBaseline, String::new()), case, record);
                    return None;
                }
            },
        };
        if ![y, one, other].iter().all(|v| v.is_finite()) {
            return None;
        }
        // The interval is that of the rounds' medians.
        let medians = self.baseline.is_none() && statistic == Statistic::Median;
        let ends = statistics.interval.filter(|_| medians);
        let ends = ends.and_then(|[low, high]| Some((at(low)?, at(high)?)));
        let interval = ends.map(|(a, b)| [a.min(b), a.max(b)]).filter(|i| i.iter().all(|v| v.is_finite()));
        let shown = bars::of_case(self.experiment.chart.bars, statistics);
        let bar = bars::ends(shown, statistics).and_then(|[low, high]| Some([at(low)?, at(high)?]));
        let base = self.baseline.as_ref().and_then(|baseline| baseline.quantity(&record.case));
        let bar = bar.map(|ends| ends.map(|v| base.map_or(v, |base| self.against(v, base))));
        let bar = bar.map(|[a, b]| [a.min(b), a.max(b)]).filter(|bar| bar.iter().all(|v| v.is_finite()));
        let certified = matches!(record.verdict, Some(crate::case::Verdict::Certified { .. }));
        if !certified {
            self.note((NoteKind::Uncertified, String::new()), case, record);
        }
        let (y_min, y_max, doubt) = (one.min(other), one.max(other), Doubt::of(record));
        Some(MeasuredValue { y, y_min, y_max, bar, interval, case, certified, doubt })
    }

    fn finish(mut self) -> ChartData {
        if self.data.panels.is_empty() {
            self.data.panels = empty().panels;
        }
        if self.data.x.scale == Scale::Category && self.data.x.categories.is_empty() {
            self.data.x.categories.push(String::new());
        }
        let lines = self.data.labels.len();
        self.data.panels.iter_mut().flat_map(|p| &mut p.guides).for_each(|guide| guide.style += lines);
        let first = lines + self.ceilings.as_ref().map_or(0, Ceilings::count);
        self.data.models.iter_mut().enumerate().for_each(|(rank, key)| key.style = first + rank);
        for line in self.data.panels.iter_mut().flat_map(|p| &mut p.models) {
            line.style = first + line.rank;
            line.points.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap_or(std::cmp::Ordering::Equal));
        }
        for line in self.data.panels.iter_mut().flat_map(|p| &mut p.published) {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        for line in self.data.panels.iter_mut().flat_map(|p| &mut p.lines) {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            line.absent.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        self.data.notes.sort_by_key(|n: &Note| n.kind as u8);
        self.data
    }
}
