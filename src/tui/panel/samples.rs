//! Everything known about the selected case.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::case::{Verdict, units};
use crate::engine::protocol::Stage;
use crate::model::Forecast;
use crate::recipe::plan::Quantity;
use crate::report::accuracy::percent;
use crate::report::{names, quantities};
use crate::run::eta::Left;
use crate::run::{Record, SKIPPED, Status};
use crate::stats::noise::Flag;
use crate::stats::{self, Statistics, Stop};
use crate::tui::session::{Current, Session};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, below, heading};
use crate::tui::words;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let at = session.selected;
    let title = format!("Samples{}{}", theme.separator(), session.name(at));
    let area = heading(&title, state.focus == Focus::Samples, theme, area, buffer);
    let Some(record) = session.ledger.records().get(at) else { return };
    let left = session.case_remaining(state.now);
    let lines = lines(session, record, left, usize::from(area.width), theme);
    widgets::lines(lines.into_iter().skip(session.samples_scroll), area, buffer);
}

/// The last scroll position of the panel in `area`.
pub fn last_scroll(session: &Session, theme: Theme, area: Rect) -> usize {
    let Some(record) = session.ledger.records().get(session.selected) else { return 0 };
    widgets::text::last_scroll(
        &lines(session, record, None, usize::from(area.width), theme),
        below(1, area).height,
    )
}

/// The panel's content for the selected case, as text to copy.
pub fn text(session: &Session) -> Option<String> {
    let record = session.ledger.records().get(session.selected)?;
    let title = format!("{}: {}", session.chart().title, session.name(session.selected));
    let theme = Theme { utf8: true, ..Theme::PLAIN };
    // Wide enough that nothing wraps except very long lists.
    let lines = lines(session, record, None, 1000, theme).into_iter().map(|line| line.to_string());
    let lines = std::iter::once(title).chain(lines).map(|line| units::escaped(line.trim()));
    Some(lines.collect::<Vec<_>>().join("\n"))
}

/// A name and a value.
type Fact = (&'static str, String);

/// `left` is the remaining time of a case that is being measured.
fn lines(
    session: &Session,
    record: &Record,
    left: Option<Left>,
    columns: usize,
    theme: Theme,
) -> Vec<Line<'static>> {
    let mut lines = status(record, columns, theme);
    lines.extend(doubts(record, columns, theme));
    lines.extend(
        session
            .current
            .filter(|c| session.is_selected(c.case))
            .map(|c| doing(session, record, c, left, theme)),
    );
    let statistics = record.statistics.as_ref();
    lines.extend(flow(statistics.map(rates(record)).unwrap_or_default(), columns, theme));
    lines.extend(flow(statistics.map(times).unwrap_or_default(), columns, theme));
    lines.extend(flow(left_off(session, record), columns, theme));
    lines.extend(flow(spread(session, record, theme), columns, theme));
    for forecast in forecasts(session, record) {
        lines.extend(flow(facts(record, forecast), columns, theme));
    }
    let parameters = parameters(session, record).join(theme.separator());
    lines.extend(paragraph(" ", &parameters, columns, theme.dim()));
    lines
}

/// The verdict, or why there is no result.
fn status(record: &Record, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let (text, style) = match (&record.status, &record.verdict) {
        (Status::NotApplicable(reason), _) => (words::absence(reason, record), theme.warning()),
        (Status::Failed(error), _) => (format!("failed: {error}"), theme.bad()),
        (_, Some(Verdict::Certified { checked })) => {
            (format!("certified, {} elements checked", units::fmt_count(*checked)), theme.good())
        }
        (Status::Pending, _) => ("no result yet".to_owned(), theme.dim()),
        _ if record.case.peer().is_some() => ("a peer's result, not certified".to_owned(), theme.warning()),
        _ => ("not certified yet".to_owned(), theme.warning()),
    };
    paragraph(" ", &text, columns, style)
}

/// The doubts about the case's rounds, and the rounds that were measured twice.
fn doubts(record: &Record, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let words = |flags: &[Flag]| flags.iter().map(|flag| flag.word()).collect::<Vec<_>>().join(", ");
    let rounds = |rounds: Vec<u32>| {
        let numbers: Vec<String> = rounds.iter().map(|round| (round + 1).to_string()).collect();
        format!("{} {}", if numbers.len() == 1 { "round" } else { "rounds" }, numbers.join(", "))
    };
    let flagged: Vec<u32> = record.rounds.iter().filter(|r| !r.flags.is_empty()).map(|r| r.round).collect();
    let twice: Vec<u32> = record.set_aside.iter().map(|r| r.round).collect();
    let mut why: Vec<Flag> = record.set_aside.iter().flat_map(|r| r.flags.iter().copied()).collect();
    why.sort_unstable();
    why.dedup();
    let mut lines = Vec::new();
    if !flagged.is_empty() {
        let text = format!("doubtful: {} in {}", words(&record.flags()), rounds(flagged));
        lines.extend(paragraph(" ", &text, columns, theme.warning()));
    }
    if !twice.is_empty() {
        let text = format!("measured twice: {} in {}", words(&why), rounds(twice));
        lines.extend(paragraph(" ", &text, columns, theme.dim()));
    }
    lines
}

/// Why no more rounds follow, if the recipe does not fix their number.
fn ending(stop: Stop) -> Option<&'static str> {
    match stop {
        Stop::Fixed => None,
        Stop::Precise => Some("precise"),
        Stop::Budget => Some("budget is used up"),
        Stop::Time => Some("run is out of time"),
        Stop::Rounds => Some("most rounds"),
    }
}

/// The engine's current activity for the case.
fn doing(
    session: &Session,
    record: &Record,
    current: Current,
    left: Option<Left>,
    theme: Theme,
) -> Line<'static> {
    let stage = match current.stage {
        _ if session.paused().is_some() => "held",
        Stage::Generate => "generating inputs",
        Stage::WarmUp => "warming up",
        Stage::Sample => "timing samples",
        Stage::Certify => "certifying",
    };
    let wanted = session.eta.rounds_of(&session.ledger, record);
    let left = left.map(|left| format!("{}{} left", theme.separator(), words::left(left, theme)));
    let making = session.making.as_deref().filter(|_| current.stage == Stage::Generate);
    let making = making.map(|what| format!(": {what}")).unwrap_or_default();
    let text =
        format!(" round {} of {wanted}: {stage}{making}{}", current.round + 1, left.unwrap_or_default());
    Line::styled(text, theme.focus())
}

fn times(s: &Statistics) -> Vec<Fact> {
    vec![
        ("median", units::fmt_seconds(s.median)),
        ("min", units::fmt_seconds(s.min)),
        ("p5", units::fmt_seconds(s.p5)),
        ("p95", units::fmt_seconds(s.p95)),
        ("max", units::fmt_seconds(s.max)),
    ]
}

fn rates(record: &Record) -> impl Fn(&Statistics) -> Vec<Fact> + '_ {
    |_| {
        let rate = |name, quantity| Some((name, quantities::of(record, quantity)?));
        let rates = [
            rate("effective", Quantity::Bandwidth),
            rate("system", Quantity::SystemBandwidth),
            rate("throughput", Quantity::Throughput),
            rate("operations", Quantity::Flops),
        ];
        rates.into_iter().flatten().collect()
    }
}

/// The individual rounds of a skipped case: the case has no result, and its rounds taken together would look
/// like one.
fn left_off(session: &Session, record: &Record) -> Vec<Fact> {
    if !matches!(&record.status, Status::NotApplicable(reason) if reason == SKIPPED) {
        return Vec::new();
    }
    let quantity = session.ledger.plan().y_of(&record.case);
    let value =
        |seconds| record.quantity_at(quantity, seconds).map(|value| quantities::value(quantity, value));
    let rounds = record.rounds.iter().filter_map(|round| {
        let value = value(stats::median(&round.samples)?)?;
        Some((round.round, value))
    });
    rounds.map(|(round, value)| ("measured", format!("{value} in round {}", round + 1))).collect()
}

fn spread(session: &Session, record: &Record, theme: Theme) -> Vec<Fact> {
    let wanted = session.eta.rounds_of(&session.ledger, record);
    let mut facts = Vec::new();
    if let Some(s) = &record.statistics {
        facts.push(("n", s.samples.to_string()));
        facts.push(("rounds", format!("{}/{wanted}", s.rounds)));
        facts.extend(record.stop.and_then(ending).map(|why| ("stopped", why.to_owned())));
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let half = stats::half_width(&record.medians());
        facts.extend(half.map(|half| ("interval", format!("{}{}", theme.symbol("±", "+-"), percent(half)))));
        facts.extend(s.cv.map(|cv| ("cv", percent(cv))));
        facts.extend(s.spread.map(|spread| ("spread", percent(spread))));
    }
    if let Some(round) = record.rounds.last() {
        facts.push(("batch", round.batch.to_string()));
        facts.push(("memory", units::fmt_bytes(round.memory)));
    }
    facts
}

/// The forecasts of the chart's models for this case, without those that have no profile.
fn forecasts<'a>(session: &'a Session, record: &'a Record) -> impl Iterator<Item = &'a Forecast> {
    let shown = session.chart().models.iter();
    shown.filter_map(|key| record.forecast(key.name))
}

/// `sector 1.02 ms`, the accuracy, the limiting term, and the time of each term alone.
fn facts(record: &Record, forecast: &Forecast) -> Vec<Fact> {
    let prediction = match &forecast.outcome {
        Ok(prediction) => prediction,
        Err(why) => return vec![(forecast.model, format!("n/a: {why}"))],
    };
    let mut facts = vec![(forecast.model, units::fmt_seconds(prediction.seconds))];
    facts.extend(record.accuracy(forecast.model).map(|share| ("accuracy", percent(share))));
    facts.push(("limit", prediction.limit.to_owned()));
    facts.extend(forecast.source().map(|profile| ("profile", profile)));
    let terms = prediction.terms.iter().filter(|(_, seconds)| *seconds > 0.0);
    facts.extend(terms.map(|(name, seconds)| (*name, units::fmt_seconds(*seconds))));
    facts
}

/// Every parameter under the last part of its key, then the values of open parameters, then the primitive's own
/// annotations of the case.
fn parameters(session: &Session, record: &Record) -> Vec<String> {
    let experiment = session.ledger.plan().experiments.get(record.case.experiment);
    let value = |key: &str, v: &crate::case::Value| {
        let bytes = experiment.and_then(|e| names::axis(e, key)).is_some_and(|a| a.bytes);
        names::value(v, bytes)
    };
    let mut all = vec![record.case.primitive.clone()];
    all.extend(record.case.params.0.iter().map(|(key, v)| format!("{} {}", short(key), value(key, v))));
    let resolved = record.rounds.last().map(|r| r.resolved.as_slice()).unwrap_or_default();
    all.extend(resolved.iter().map(|(key, v)| format!("{} = {}", short(key), value(key, v))));
    all.extend(record.annotations.iter().map(|(key, v)| format!("{key} {v}")));
    all.push(format!("seed {}", record.case.seed));
    all
}

/// The last part of a key, as in `method.multipass.passes`.
fn short(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// Facts side by side, as many per line as fit.
fn flow(facts: Vec<Fact>, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines: Vec<Line> = Vec::new();
    for (name, value) in facts {
        let width = words::width(name) + words::width(&value) + 3;
        let full = lines.last().is_none_or(|l| l.width() + width > columns);
        if full {
            lines.push(Line::default());
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(format!(" {name} "), theme.dim()));
            line.push_span(Span::raw(format!("{value} ")));
        }
    }
    lines
}
