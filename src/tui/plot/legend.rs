//! The names of the lines: above the chart, never on it. The number of a line is the key that hides and shows
//! it.

use std::collections::BTreeSet;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::Plot;
use crate::report::series::{ChartData, guides};
use crate::tui::chart::numbers;
use crate::tui::chart::overlay::Overlay;
use crate::tui::theme::Theme;
use crate::tui::words::{self, Kin, Word};

/// Minimum width of an entry if there are many.
const NARROWEST: usize = 9;
/// Columns between two entries.
const GAP: usize = 2;

/// One entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    text: String,
    /// How it is shortened, if not by cutting its end.
    short: Option<Short>,
    style: Style,
    /// The column of the marker, and its style. Only the marker has the colour of the line: text needs more
    /// contrast than that colour has.
    marker: Option<(u16, Style)>,
}

/// The name of a line without the words that all names share, between what stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Short {
    begin: String,
    words: Vec<Word>,
    end: &'static str,
}

/// The entries, with their maximum width and the rows they take.
#[derive(Clone, Debug)]
pub struct Legend {
    entries: Vec<Entry>,
    /// Maximum width of an entry; longer ones are cut.
    widest: usize,
    pub rows: u16,
}

/// The visible lines of these panels, in the order of the SVG, and the overlay. The legend takes at most `most`
/// rows: entries are shortened before any is left out.
pub fn legend(plot: &Plot, panels: &[usize], columns: usize, most: u16) -> Legend {
    let (mut entries, shared) = entries(plot, panels);
    let widest = |entries: &[Entry]| {
        let fits = |widest: &usize| rows(entries, *widest, columns, plot.theme) <= most;
        (NARROWEST..=columns.max(NARROWEST)).rev().find(fits).unwrap_or(NARROWEST)
    };
    let mut room = widest(&entries);
    let is_short = |entry: &Entry| entry.short.is_some() && words::width(&entry.text) > room;
    if !shared.is_empty() && entries.iter().any(is_short) {
        // What the short names leave out stands once, before them.
        entries.insert(
            0,
            Entry { text: format!("{shared}:"), short: None, style: plot.theme.dim(), marker: None },
        );
        room = widest(&entries);
    }
    let rows = rows(&entries, room, columns, plot.theme).min(most);
    Legend { entries, widest: room, rows }
}

/// The entries, and the words that the names of all lines share.
fn entries(plot: &Plot, panels: &[usize]) -> (Vec<Entry>, String) {
    let panels = || panels.iter().filter_map(|p| plot.data.panels.get(*p));
    let mut styles: Vec<usize> = panels().flat_map(numbers::shown).collect();
    styles.sort_unstable();
    styles.dedup();
    let label = |style: &usize| Some((*style, plot.data.labels.get(*style)?)).filter(|(_, l)| !l.is_empty());
    let labelled: Vec<(usize, &String)> = styles.iter().filter_map(label).collect();
    let (names, shared) = names(&labelled.iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>());
    let lines = labelled.into_iter().zip(names);
    let mut entries: Vec<Entry> = lines.map(|((s, label), words)| entry(plot, s, label, words)).collect();
    let guides = guides(panels()).into_iter();
    entries.extend(guides.map(|g| sign(plot, g.style, plot.theme.guide(), &g.words())));
    let models = plot.data.models.iter().enumerate();
    entries.extend(models.map(|(rank, key)| {
        // The mark stays where the words are cut.
        let doubt = if key.doubtful { plot.theme.doubtful() } else { "" };
        let symbol = format!("{}{doubt}", plot.theme.model(rank));
        sign(plot, key.style, &symbol, &key.words())
    }));
    entries.extend(plot.data.published.iter().map(|source| Entry {
        text: format!("{} {source}", plot.theme.published()),
        short: None,
        style: plot.theme.dim(),
        marker: None,
    }));
    entries.extend(doubtful(plot));
    if let Some(overlay) = plot.overlay {
        let own = overlay.own_lines();
        entries.extend(own.map(|(style, label)| marked(plot, style, plot.theme.behind(), label, None)));
        let text = baseline(plot, overlay);
        entries.push(Entry { text, short: None, style: plot.theme.dim(), marker: None });
    }
    (entries, shared)
}

/// `1 ● cpu`, or `(1 ● cpu)` if the line is hidden; lines after the ninth have no key.
fn entry(plot: &Plot, style: usize, label: &str, words: Vec<Word>) -> Entry {
    marked(plot, style, plot.theme.marker(style), label, Some(words))
}

/// `× baseline (tuple 8 B → 16 B): 20261128-101500-passes`, or why none of its results are on this chart.
fn baseline(plot: &Plot, overlay: &Overlay) -> String {
    let (symbol, name, differs) = (plot.theme.behind(), &overlay.name, overlay.differs());
    let arrow = plot.theme.symbol("→", "->");
    match overlay.refusal() {
        Some(why) => format!("{symbol} baseline: {name} ({why})"),
        None if differs.is_empty() => format!("{symbol} baseline: {name}"),
        None => format!("{symbol} baseline ({}): {name}", differs.replace('→', arrow)),
    }
}

/// A line with its number and marker, in brackets if it is hidden; `words` are what its name is shortened to.
fn marked(plot: &Plot, style: usize, marker: &str, label: &str, words: Option<Vec<Word>>) -> Entry {
    let number = before(plot, style);
    let shown = plot.look.shows(style);
    let (open, end) = if shown { ("", "") } else { ("(", ")") };
    let begin = format!("{open}{number}{marker} ");
    Entry {
        text: format!("{begin}{label}{end}"),
        short: words.map(|words| Short { begin, words, end }),
        style: if shown { Style::default() } else { plot.theme.dim() },
        marker: shown.then(|| (number.len() as u16, plot.theme.series(style))),
    }
}

/// The words of each label without the parts that all labels have in the same place, and these parts.
fn names(labels: &[&str]) -> (Vec<Vec<Word>>, String) {
    let parts: Vec<Vec<&str>> = labels.iter().map(|label| label.split(", ").collect()).collect();
    let places = parts.iter().map(Vec::len).max().unwrap_or(0);
    let is_shared = |place: &usize| {
        labels.len() > 1 && parts.windows(2).all(|pair| pair[0].get(*place) == pair[1].get(*place))
    };
    let (shared, own): (Vec<usize>, Vec<usize>) = (0..places).partition(is_shared);
    let only = |parts: &Vec<&str>, places: &[usize]| {
        let parts: Vec<&str> = places.iter().filter_map(|place| parts.get(*place).copied()).collect();
        parts.join(", ")
    };
    let own: Vec<String> = parts.iter().map(|parts| only(parts, &own)).collect();
    let split: Vec<Vec<&str>> = own.iter().map(|name| name.split(' ').collect()).collect();
    let kin = |place: usize| {
        let there: BTreeSet<&str> = split.iter().filter_map(|words| words.get(place).copied()).collect();
        Kin::of(there.into_iter().map(str::to_owned).collect())
    };
    let kin: Vec<Kin> = (0..split.iter().map(Vec::len).max().unwrap_or(0)).map(kin).collect();
    let word = |(text, kin): (&&str, &Kin)| kin.word(text);
    let names = split.iter().map(|words| words.iter().zip(&kin).map(word).collect()).collect();
    (names, parts.first().map(|parts| only(parts, &shared)).unwrap_or_default())
}

/// A guide or a model; a hidden one stands in brackets.
fn sign(plot: &Plot, style: usize, symbol: &str, words: &str) -> Entry {
    let text = format!("{}{symbol} {words}", before(plot, style));
    let text = if plot.look.shows(style) { text } else { format!("({text})") };
    Entry { text, short: None, style: plot.theme.dim(), marker: None }
}

/// `◐ doubtful 5 of 27`; the kinds of doubt are those on the chart.
fn doubtful(plot: &Plot) -> Option<Entry> {
    let (count, all) = plot.data.doubtful_points();
    let kinds: Vec<&str> = plot.data.doubts().into_iter().map(|(_, word)| word).collect();
    let text = format!("{} {} {count} of {all}", plot.theme.doubtful_marker(0), kinds.join(", "));
    (count > 0).then(|| Entry { text, short: None, style: plot.theme.dim(), marker: None })
}

fn before(plot: &Plot, style: usize) -> String {
    number(plot.data, style).map(|number| format!("{number} ")).unwrap_or_default()
}

/// The number that hides and shows a style, if it has one.
pub fn number(data: &ChartData, style: usize) -> Option<String> {
    Some(numbers::number(data, style)).filter(|number| *number <= 9).map(|number| number.to_string())
}

/// Rows of the wrapped entries if each entry is at most `widest` columns wide.
fn rows(entries: &[Entry], widest: usize, columns: usize, theme: Theme) -> u16 {
    let (mut rows, mut used) = (u16::from(!entries.is_empty()), 0);
    for entry in entries {
        let width = words::width(&entry.fit(widest, theme));
        if used > 0 && used + width > columns {
            (rows, used) = (rows.saturating_add(1), 0);
        }
        used += width + GAP;
    }
    rows
}

impl Entry {
    /// The text in at most this many columns.
    fn fit(&self, columns: usize, theme: Theme) -> String {
        match &self.short {
            Some(Short { begin, words, end }) if words::width(&self.text) > columns => {
                let room = columns.saturating_sub(words::width(begin) + end.len());
                format!("{begin}{}{end}", words::squeeze(words, room, theme))
            }
            _ => words::fit(&self.text, columns, theme),
        }
    }
}

impl Legend {
    /// Draws the legend from the top of `area`.
    pub fn draw(&self, plot: &Plot, area: Rect, buffer: &mut Buffer) {
        let mut at = (area.x, area.y);
        for (index, entry) in self.entries.iter().enumerate() {
            let text = entry.fit(self.widest.min(usize::from(area.width)), plot.theme);
            let width = words::width(&text) as u16;
            if at.0 > area.x && at.0 + width > area.right() {
                at = (area.x, at.1 + 1);
            }
            if at.1 >= area.y + self.rows {
                return self.more(plot, self.entries.len() - index, area, buffer);
            }
            buffer.set_string(at.0, at.1, text, entry.style);
            if let Some((before, style)) = entry.marker {
                buffer[(at.0 + before, at.1)].set_style(style);
            }
            at.0 = at.0.saturating_add(width + GAP as u16);
        }
    }

    /// Draws the number of entries that do not fit.
    fn more(&self, plot: &Plot, count: usize, area: Rect, buffer: &mut Buffer) {
        let text = format!(" +{count} more");
        let width = words::width(&text) as u16;
        if width < area.width && self.rows > 0 {
            let row = area.y + self.rows - 1;
            buffer.set_string(area.right() - width, row, text, plot.theme.dim());
        }
    }
}
