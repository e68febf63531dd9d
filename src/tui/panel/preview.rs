//! A summary of the selected recipe's plan, or the mistake in the recipe.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use crate::case::units;
use crate::recipe::plan::{Axis, Experiment, Paper, Plan, Quantity, Scale, Statistic};
use crate::report::names;
use crate::run::estimate::span;
use crate::tui::commands::calibration;
use crate::tui::home::facts::{Known, LastRun};
use crate::tui::plot::Selection;
use crate::tui::session::{ChartView, Shown};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, heading, text};
use crate::tui::words;

/// Minimum and maximum height of the chart of the last run.
const LEAST_THUMBNAIL: u16 = 8;
const MOST_THUMBNAIL: u16 = 16;
/// Columns for the names of facts.
const NAMES: usize = 10;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(entry) = state.recipes.entry() else {
        let area = heading("Recipe", false, theme, area, buffer);
        return widgets::lines([Line::raw(" There is no recipe here.")], area, buffer);
    };
    let area = heading(&entry.path, false, theme, area, buffer);
    let area = thumbnail(state, theme, area, buffer);
    let columns = usize::from(area.width);
    let title = match state.recipes.plan() {
        Some(Ok(plan)) => &plan.title,
        _ => &entry.title,
    };
    let title = words::fit(title, columns.saturating_sub(1), theme);
    let mut lines = vec![Line::styled(format!(" {title}"), theme.title())];
    match state.recipes.plan() {
        Some(Ok(plan)) => {
            lines.extend(
                estimate(state, theme).iter().flat_map(|text| fact("estimate", text, columns, theme)),
            );
            lines.extend(
                calibration::offer(state).iter().flat_map(|text| fact("model", text, columns, theme)),
            );
            lines.extend(changes(plan).iter().flat_map(|text| fact("changed", text, columns, theme)));
            lines.extend(meaning(plan, columns, theme));
        }
        Some(Err(error)) => {
            lines.push(Line::default());
            lines.extend(text::paragraph(" ! ", error, columns, theme.bad()));
        }
        None => lines.extend(fact("cases", "being resolved", columns, theme)),
    }
    lines.push(Line::default());
    lines.extend(text::source(entry.text.lines(), columns, theme));
    widgets::lines(lines, area, buffer);
}

/// `about 1 min 20 s, largest case 2.1 GiB`, or why there is no estimate; `None` if lookups are not available.
pub fn estimate(state: &State, theme: Theme) -> Option<String> {
    let facts = &state.home.facts;
    if !facts.found_out {
        return None;
    }
    let estimate = match (&facts.paces, facts.estimate(state.recipes.selected()?)) {
        (_, Known::Is(estimate)) => estimate,
        (Known::Is(Err(reason)), _) => return Some(format!("none: {reason}")),
        (Known::Is(Ok(_)), Known::Asked) => {
            return Some(format!("adding up the cases{}", theme.symbol("…", " ...")));
        }
        (Known::Asked, _) => return Some(format!("measuring the backends{}", theme.symbol("…", " ..."))),
        (Known::Unknown, _) if state.active() => return Some("when the run is over".to_owned()),
        _ => return None,
    };
    let absent = words::absent_cases(estimate.absent.iter().map(|(reason, cases)| (reason.as_str(), *cases)));
    if estimate.runnable == 0 {
        return Some(format!("nothing can run here: {}", absent.as_deref().unwrap_or("no case")));
    }
    let time = span(estimate.seconds, estimate.most);
    let memory = units::fmt_bytes(estimate.memory);
    let absent = absent.map(|absent| format!("{}{absent}", theme.separator())).unwrap_or_default();
    Some(format!("about {time}, largest case {memory}{absent}"))
}

/// The overrides of the recipe, as the chart will show them.
fn changes(plan: &Plan) -> Option<String> {
    (!plan.overrides.is_empty()).then(|| plan.overrides.join(" "))
}

/// Draws the recipe's last run as a small chart at the bottom of `area`; returns the rest.
fn thumbnail(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    let last = state.recipes.selected().map(|index| state.home.facts.last(index));
    let Some(Known::Is(Some(run))) = last else { return area };
    let height = (area.height / 2).min(MOST_THUMBNAIL);
    if height < LEAST_THUMBNAIL {
        return area;
    }
    let rest = Rect { height: area.height - height, ..area };
    let below =
        heading(&last_run(run, theme), false, theme, Rect { y: rest.bottom(), height, ..area }, buffer);
    let view = ChartView::new(1);
    let shown = Shown { data: &run.chart, experiment: 0, panel: 0 };
    view.plot(shown, theme).draw(Selection { case: usize::MAX, cursor: None }, below, buffer);
    rest
}

/// `Last run 2026-11-21 00:46 · 12/14 cases · --set passes=4`.
fn last_run(run: &LastRun, theme: Theme) -> String {
    let started: String = run.started.chars().take("YYYY-MM-DD HH:MM".len()).collect();
    let (done, cases) = run.done;
    let mut parts =
        vec![format!("Last run {started}"), format!("{done} of {}", words::number_of(cases, "case"))];
    parts.extend((!run.overrides.is_empty()).then(|| run.overrides.join(" ")));
    parts.join(theme.separator())
}

fn meaning(plan: &Plan, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut facts = Vec::new();
    let mut told: Option<&Paper> = None;
    for (index, experiment) in plan.experiments.iter().enumerate() {
        if plan.experiments.len() > 1 {
            facts.push(("experiment", experiment.title.clone()));
        }
        // Most experiments share one paper, so it is shown only when it changes.
        let news = experiment.paper.as_ref().filter(|paper| told != Some(*paper));
        told = news.or(told);
        facts.extend(news.map(|p| ("paper", names::paper(p))));
        facts.extend(news.and_then(|p| Some(("claim", p.claim.clone()?))));
        facts.push(("cases", cases(plan, index, theme)));
        facts.extend(experiment.axes.iter().map(|axis| ("sweep", sweep(axis, theme))));
        facts.push(("chart", chart(experiment, theme)));
    }
    facts.iter().flat_map(|(name, text)| fact(name, text, columns, theme)).collect()
}

fn fact(name: &str, value: &str, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    text::fact(name, NAMES, value, columns, theme)
}

/// Cases, rounds and samples, the backends, and the cases that the plan knows cannot run.
fn cases(plan: &Plan, experiment: usize, theme: Theme) -> String {
    let own: Vec<_> = plan.cases.iter().filter(|c| c.experiment == experiment).collect();
    let mut backends: Vec<&str> = own.iter().map(|c| c.backend()).collect();
    backends.dedup();
    backends.sort_unstable();
    backends.dedup();
    let mut parts = vec![words::number_of(own.len(), "case"), format!("on {}", backends.join(", "))];
    if let Some(e) = plan.experiments.get(experiment) {
        parts.push(names::sampling(&e.measure));
    }
    let again = own.iter().filter(|case| plan.is_repeat(case)).count();
    parts.extend((again > 0).then(|| format!("{again} measured in another experiment")));
    parts.extend(words::absent_cases(own.iter().filter_map(|c| Some((c.not_applicable.as_deref()?, 1)))));
    parts.join(theme.separator())
}

fn sweep(axis: &Axis, theme: Theme) -> String {
    let values: Vec<String> = axis.values.iter().map(|v| names::value(v, axis.bytes)).collect();
    let gap = theme.symbol(" … ", " .. ");
    match values.as_slice() {
        [first, .., last] if axis.scale != Scale::Category && values.len() > 4 => {
            format!("{}: {first}{gap}{last} ({} values)", axis.name, values.len())
        }
        _ => format!("{}: {}", axis.name, values.join(", ")),
    }
}

fn chart(experiment: &Experiment, theme: Theme) -> String {
    let chart = &experiment.chart;
    let y = match chart.y {
        Quantity::Bandwidth => "effective bandwidth",
        Quantity::SystemBandwidth => "system bandwidth",
        Quantity::Time => "time",
        Quantity::TimeWithTransfer => "time with transfers",
        Quantity::Throughput => "throughput",
        Quantity::Flops => "floating-point operations per second",
        Quantity::FlopsWithTransfer => "floating-point operations per second, with transfers",
    };
    let all =
        |keys: &[String]| keys.iter().map(|k| names::name(experiment, k)).collect::<Vec<_>>().join(", ");
    let mut parts = vec![format!("{y} by {}", names::name(experiment, &chart.x))];
    if !chart.lines.is_empty() {
        parts.push(format!("lines: {}", all(&chart.lines)));
    }
    if !chart.panels.is_empty() {
        parts.push(format!("panels: {}", all(&chart.panels)));
    }
    if chart.statistic == Statistic::Fastest {
        parts.push("fastest samples".to_owned());
    }
    if !chart.best_of.is_empty() {
        parts.push(format!("best of: {}", all(&chart.best_of)));
    }
    parts.join(theme.separator())
}
