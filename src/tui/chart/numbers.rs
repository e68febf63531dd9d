//! The numbers of lines in a chart's legend, which are the keys that hide and show them.

use crate::report::series::{ChartData, Line, NoteKind, Panel};

/// Styles in the order of their numbers from 1: those of the legend, then lines of which only the marks of n/a cases can be
/// hidden.
pub fn numbered(data: &ChartData) -> Vec<usize> {
    let legend = in_legend(data);
    let others = (0..data.labels.len()).filter(|style| legend.binary_search(style).is_err());
    legend.iter().copied().chain(others).collect()
}

/// The first style beyond the chart's own: those of lines that only the run laid under it has follow, with numbers that
/// follow too.
pub fn end(data: &ChartData) -> usize {
    numbered(data).into_iter().max().map_or(0, |style| style + 1)
}

/// The style with this number, from 1.
pub fn style(data: &ChartData, number: usize) -> usize {
    let own = numbered(data);
    own.get(number - 1).copied().unwrap_or_else(|| end(data) + number - 1 - own.len())
}

/// The number of a style, from 1.
pub fn number(data: &ChartData, style: usize) -> usize {
    let own = numbered(data);
    let at = own.iter().position(|numbered| *numbered == style);
    at.unwrap_or_else(|| own.len() + style.saturating_sub(end(data))) + 1
}

/// The styles of the legend: lines and references that have something to show in any panel, guides, models.
pub fn in_legend(data: &ChartData) -> Vec<usize> {
    let mut styles: Vec<usize> = data.panels.iter().flat_map(shown).collect();
    styles.extend(data.guides().iter().map(|guide| guide.style));
    styles.extend(data.models.iter().map(|key| key.style));
    styles.sort_unstable();
    styles.dedup();
    styles
}

/// The styles of a panel's lines and references that have a point, a failure or a prediction.
pub fn shown(panel: &Panel) -> impl Iterator<Item = usize> {
    let lines = panel.lines.iter().filter(|line| is_there(line)).map(|line| line.style);
    let references = panel.references.iter().map(|reference| reference.style);
    lines.chain(references).chain(panel.models.iter().map(|line| line.of))
}

/// Whether the line has a point or a failure. One that cannot run here would be an entry without a line: the
/// reason stands below the chart.
fn is_there(line: &Line) -> bool {
    !line.points.is_empty() || line.absent.iter().any(|absent| absent.kind == NoteKind::Failed)
}
