//! The machine during the newest rounds: clocks, power, temperature, other load.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::case::units;
use crate::stats::noise::{self, Conditions, GpuConditions};
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, heading};
use crate::tui::words;

/// Rows that the panel needs for a width of `columns`, including its heading.
pub fn rows_needed(session: &Session, columns: u16) -> u16 {
    lines(session, Theme::PLAIN, usize::from(columns)).len() as u16 + 1
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let area = heading("Devices", false, theme, area, buffer);
    widgets::lines(lines(session, theme, usize::from(area.width)), area, buffer);
}

/// The name of a figure, its value, and whether it is a cause for concern.
type Figure = (&'static str, Option<String>, bool);

fn lines(session: &Session, theme: Theme, columns: usize) -> Vec<Line<'static>> {
    let machine = &session.machine;
    let cpu = session.environment.as_ref().map_or("", |e| e.cpu.as_str());
    let mut lines = vec![name(cpu, "CPU", theme, columns)];
    lines.extend(of_cpu(&machine.newest).iter().flat_map(|figures| rows(figures, theme, columns)));
    if let Some(gpu) = machine.gpu_conditions() {
        lines.push(name(machine.gpu().unwrap_or_default(), "GPU", theme, columns));
        // The reason for a slow round comes first, in case there is no room for everything.
        lines.extend(rows(&[throttle(&gpu)], theme, columns));
        lines.extend(of_gpu(&gpu, theme).iter().flat_map(|figures| rows(figures, theme, columns)));
    }
    lines
}

fn name(name: &str, kind: &str, theme: Theme, columns: usize) -> Line<'static> {
    let name = if name.is_empty() { kind } else { name };
    Line::styled(format!(" {}", words::fit(name, columns.saturating_sub(1), theme)), theme.title())
}

fn of_cpu(seen: &Conditions) -> [Vec<Figure>; 2] {
    let clock = seen.clock.map(|clock| format!("{clock:.2} GHz"));
    let steal = seen.steal.map(|share| format!("{:.1} %", share * 100.0));
    let busy = seen.background.map(|cpus| format!("{cpus:.1} CPUs"));
    let over = |value: Option<f64>, limit| value.is_some_and(|value| value > limit);
    [
        vec![("clock", clock, false), ("steal", steal, over(seen.steal, noise::STEAL))],
        vec![("background", busy, over(seen.background, noise::BACKGROUND))],
    ]
}

fn of_gpu(seen: &GpuConditions, theme: Theme) -> [Vec<Figure>; 3] {
    let clock = |mhz: Option<u32>| mhz.map(|mhz| format!("{mhz} MHz"));
    let power = seen.power.map(|watts| format!("{watts:.0} W"));
    let temperature = seen.temperature.map(|degrees| format!("{degrees} {}", theme.symbol("°C", "C")));
    let used = seen.memory_used.map(units::fmt_bytes);
    let total = seen.memory_total.map(units::fmt_bytes);
    let memory = used.map(|used| total.map_or(used.clone(), |total| format!("{used} of {total}")));
    [
        vec![("SM", clock(seen.sm_clock), false), ("memory", clock(seen.memory_clock), false)],
        vec![("power", power, false), ("temperature", temperature, false)],
        vec![("memory used", memory, false)],
    ]
}

/// An empty list means that nothing throttles the clocks only if the driver reports throttling at all.
fn throttle(seen: &GpuConditions) -> Figure {
    let told = seen.sm_clock.is_some() || !seen.throttle.is_empty();
    let words = if seen.throttle.is_empty() { "none".to_owned() } else { seen.throttle.join(", ") };
    ("throttle", told.then_some(words), !seen.throttle.is_empty())
}

/// Figures side by side, or one per row if they do not fit.
fn rows(figures: &[Figure], theme: Theme, columns: usize) -> Vec<Line<'static>> {
    let beside = row(figures, theme, usize::MAX);
    if figures.len() == 1 || beside.width() > columns + 1 {
        return figures.iter().map(|figure| row(std::slice::from_ref(figure), theme, columns)).collect();
    }
    vec![beside]
}

fn row(figures: &[Figure], theme: Theme, columns: usize) -> Line<'static> {
    let spans = figures.iter().flat_map(|(name, figure, bad)| {
        let style = if *bad { theme.warning() } else { Style::default() };
        let room = columns.saturating_sub(words::width(name) + 2);
        let figure = words::fit(figure.as_deref().unwrap_or("n/a"), room, theme);
        [Span::styled(format!(" {name} "), theme.dim()), Span::styled(format!("{figure} "), style)]
    });
    Line::from(spans.collect::<Vec<_>>())
}
