//! The text under the chart about the case under the cursor.

use super::{Session, Shown};
use crate::case::{Verdict, units};
use crate::recipe::plan::Quantity;
use crate::report::series::{ChartData, MeasuredValue, ModelKey, NoteKind};
use crate::report::{names, quantities};
use crate::run::{Record, Status};
use crate::stats;
use crate::tui::chart::overlay::{Overlay, per_cent};
use crate::tui::theme::Theme;
use crate::tui::words;

/// Facts about the case under the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOut {
    /// `passes 16`, `cpu`, `212 GB/s`, or why there is no value; always shown.
    pub first: Vec<String>,
    /// `[205–219]`, `n 30` …, the most important first; shown as far as there is room.
    pub more: Vec<String>,
}

/// The facts about the selected case, or about the better one that is drawn in its place, as text.
pub fn readout(session: &Session) -> ReadOut {
    let shown = session.shown();
    let case = session.marked();
    let Some(record) = session.ledger.records().get(case) else { return ReadOut::default() };
    let mut first = place(session, record, shown);
    let measured = shown.data.measured().find(|m| m.case == case);
    let Some(measured) = measured else {
        first.push(reason(record, shown.data, case));
        return ReadOut { first, more: Vec::new() };
    };
    first.push(number(shown.data, measured.y));
    let mut more = vec![range(shown.data, &measured)];
    more.extend(session.view.overlay().and_then(|o| against(shown.data, o, &measured)));
    more.extend(models(shown.data, &measured));
    more.extend(spread(record));
    more.push(verdict(record).to_owned());
    more.extend(low_end(shown.data, record));
    ReadOut { first, more }
}

/// Identifies the case by its x, its line and its panel.
fn place(session: &Session, record: &Record, shown: Shown) -> Vec<String> {
    let data = shown.data;
    let plan = session.ledger.plan();
    let Some(experiment) = plan.experiments.get(record.case.experiment) else { return Vec::new() };
    let x = names::of(experiment, &data.x.key, &record.case);
    let bytes = names::is_size(experiment, &data.x.key);
    let x = x.map(|v| format!("{} {}", data.x.name, names::value(v, bytes)));
    let case = session.marked();
    let line = label(data, case).filter(|_| data.labels.len() > 1);
    let panel = data.panels.iter().find(|p| p.cases().any(|of| of == case));
    let panel = panel.filter(|_| data.panels.len() > 1).map(|p| p.title.clone());
    let chosen = data.chosen(case).map(|words| format!("best: {words}"));
    x.into_iter().chain(line).chain(panel).chain(chosen).filter(|word| !word.is_empty()).collect()
}

/// The label of the line or the reference that contains a case.
fn label(data: &ChartData, case: usize) -> Option<String> {
    for panel in &data.panels {
        let on = |l: &&crate::report::series::Line| {
            l.points.iter().any(|p| p.value.case == case) || l.absent.iter().any(|a| a.case == case)
        };
        let line = panel.lines.iter().find(on).map(|l| l.style);
        let style = line.or_else(|| panel.references.iter().find(|r| r.value.case == case).map(|r| r.style));
        if let Some(style) = style {
            return data.labels.get(style).cloned();
        }
    }
    None
}

/// Why there is no value.
fn reason(record: &Record, data: &ChartData, case: usize) -> String {
    match (&record.status, data.note_of(case)) {
        (Status::NotApplicable(reason), _) => format!("n/a: {reason}"),
        (Status::Failed(reason), _) => format!("failed: {reason}"),
        (_, Some(note)) if note.kind == NoteKind::NoBaseline => "no baseline to compare with".to_owned(),
        _ => "no result yet".to_owned(),
    }
}

/// `[205–219]`: the smallest and the largest value.
fn range(data: &ChartData, m: &MeasuredValue) -> String {
    let (low, high) = match data.y.relative_to {
        Some(_) => (data.y.unit.format(m.y_min), data.y.unit.format(m.y_max)),
        None => (short(data, m.y_min), short(data, m.y_max)),
    };
    format!("[{low}–{high}]")
}

/// A value of y with its unit.
pub fn number(data: &ChartData, value: f64) -> String {
    if data.y.relative_to.is_some() {
        return data.y.unit.format(value);
    }
    quantities::value(data.y.quantity, value)
}

/// A value of y without its unit, if the context makes the unit clear.
fn short(data: &ChartData, value: f64) -> String {
    match data.y.quantity {
        Quantity::Bandwidth | Quantity::SystemBandwidth => units::three_digits(value),
        _ => number(data, value),
    }
}

/// `baseline 230 (−7.8 %)`.
fn against(data: &ChartData, overlay: &Overlay, m: &MeasuredValue) -> Option<String> {
    let base = overlay.value(data, m.case)?;
    let difference = signed(per_cent(data, m.y, base)?);
    Some(format!("{} {} ({difference})", overlay.name, short(data, base)))
}

/// `sector 230 (−7.8 %)` for each model.
fn models(data: &ChartData, m: &MeasuredValue) -> Vec<String> {
    let words = |(rank, key): (usize, &ModelKey)| {
        let predicted = data.prediction(rank, m.case)?;
        let difference = signed(per_cent(data, m.y, predicted)?);
        Some(format!("{} {} ({difference})", key.name, short(data, predicted)))
    };
    data.models.iter().enumerate().filter_map(words).collect()
}

fn signed(per_cent: f64) -> String {
    units::fmt_change(per_cent / 100.0)
}

/// `95 % ±1.2 %`, `n 30`.
fn spread(record: &Record) -> Vec<String> {
    let half = stats::half_width(&record.medians()).filter(|h| *h >= 0.0);
    let half = half.map(|half| format!("95 % ±{:.1} %", half * 100.0));
    let count = record.statistics.as_ref().map(|s| format!("n {}", s.samples));
    half.into_iter().chain(count).collect()
}

fn verdict(record: &Record) -> &'static str {
    match record.verdict {
        Some(Verdict::Certified { .. }) => "certified",
        _ if record.case.peer().is_some() => "not certified",
        _ => "not certified yet",
    }
}

/// The low end of the y quantity: its fifth percentile. For a rate this is the 95th percentile of the time.
fn low_end(data: &ChartData, record: &Record) -> Option<String> {
    let statistics = record.statistics.as_ref()?;
    let seconds = if data.y.quantity.is_time() { statistics.p5 } else { statistics.p95 };
    let relative = data.y.relative_to.is_some();
    let value = record.quantity_at(data.y.quantity, seconds).filter(|_| !relative)?;
    Some(format!("p5 {}", short(data, value)))
}

impl ReadOut {
    /// Joins the parts on one line, dropping later parts that do not fit. A part in brackets attaches to the
    /// part before it.
    pub fn in_line(&self, columns: usize, theme: Theme) -> String {
        let mut line = self.first.join(theme.separator());
        for part in &self.more {
            let separator = if part.starts_with('[') { " " } else { theme.separator() };
            let part = part.replace('±', theme.symbol("±", "+-"));
            let next = format!("{line}{separator}{part}");
            if words::width(&next) <= columns {
                line = next;
            }
        }
        line
    }
}
