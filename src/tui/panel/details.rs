//! Facts about the selected run.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::Focus;
use crate::case::units;
use crate::report::quantities;
use crate::run::summary::{Outcome, Summary, Tally};
use crate::tui::runs::{Entry, Runs};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, below, heading, text};
use crate::tui::words;

/// Columns for the names of facts.
const NAMES: usize = 9;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let title = state.runs.selected().map_or("Details", |entry| entry.name.as_str());
    let area = heading(title, state.focus == Focus::Details, theme, area, buffer);
    let lines = lines(&state.runs, usize::from(area.width), theme);
    widgets::lines(lines.into_iter().skip(state.runs.details_scroll), area, buffer);
}

/// The last scroll position of the panel in `area`.
pub fn last_scroll(runs: &Runs, theme: Theme, area: Rect) -> usize {
    text::last_scroll(&lines(runs, usize::from(area.width), theme), below(1, area).height)
}

fn lines(runs: &Runs, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let Some(entry) = runs.selected() else { return Vec::new() };
    let mut lines = Vec::new();
    match &entry.content {
        Ok(summary) => facts(entry, summary, theme)
            .iter()
            .for_each(|(name, value)| lines.extend(text::fact(name, NAMES, value, columns, theme))),
        Err(reason) => lines.extend(text::paragraph(" ! ", reason, columns, theme.bad())),
    }
    if let Some(summary) = entry.summary() {
        lines.push(Line::default());
        lines.extend(text::source(summary.recipe.iter().map(String::as_str), columns, theme));
    }
    lines
}

fn facts(entry: &Entry, summary: &Summary, theme: Theme) -> Vec<(&'static str, String)> {
    let separator = theme.separator();
    let mut facts = vec![("title", summary.title.clone())];
    facts.extend(entry.note.clone().map(|note| ("note", note)));
    let took = summary.took.map(|took| format!("{separator}took {}", units::fmt_seconds(took)));
    facts.push(("started", format!("{} UTC{}", summary.started, took.unwrap_or_default())));
    let state = if summary.complete { "complete" } else { "not complete" };
    facts.push(("cases", format!("{state}: {}", cases(summary.tally))));
    facts.extend(summary.verdict.clone().map(|verdict| ("verdict", verdict)));
    facts.extend(summary.failure.clone().map(|failure| ("failed", failure)));
    facts.extend(summary.results.iter().map(|outcome| ("result", result(outcome, theme))));
    facts.push(("command", summary.repeat.run.clone()));
    let machine = [&summary.host, &summary.cpu, &summary.system].map(String::as_str);
    let machine: Vec<&str> = machine.into_iter().filter(|word| !word.trim().is_empty()).collect();
    let memory = units::fmt_bytes(summary.memory);
    facts.push(("machine", format!("{}{separator}{memory}", machine.join(separator))));
    facts.extend(summary.devices.iter().map(|device| ("device", device.clone())));
    facts.push(("program", format!("scatterlab {}, revision {}", summary.version, summary.revision)));
    facts
}

/// `12 done (1 doubtful), 1 failed, 2 open, 7 n/a`.
fn cases(tally: Tally) -> String {
    let doubtful = (tally.doubtful > 0).then(|| format!(" ({} doubtful)", tally.doubtful));
    let mut parts = vec![format!("{} done{}", tally.done, doubtful.unwrap_or_default())];
    let others = [(tally.failed, "failed"), (tally.open, "open"), (tally.absent, "n/a")];
    parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")));
    parts.join(", ")
}

/// `cpu: 3.40 GB/s to 34.3 GB/s · 6 cases · Kernels`.
fn result(outcome: &Outcome, theme: Theme) -> String {
    let [low, high] = outcome.range.map(|value| quantities::value(outcome.quantity, value));
    let range = if low == high { low } else { format!("{low} to {high}") };
    let (experiment, backend, cases) =
        (&outcome.experiment, &outcome.backend, words::number_of(outcome.cases, "case"));
    format!("{backend}: {range}{}{cases}{}{experiment}", theme.separator(), theme.separator())
}
