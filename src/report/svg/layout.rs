//! Layout of a chart, from the title down to the caption.

use super::caption::Caption;
use super::page::{Entry, GAP, LABEL, MARGIN, Page, Sample, TICK};
use super::panel::{Frame, View};
use super::scene::{Anchor, FRAME, INK, Scene, Text, text_width};
use super::style::Look;
use crate::recipe::plan::Scale;
use crate::report::scale::AxisScale;
use crate::report::series::{ChartData, Doubt, Guide, ModelKey};

/// Height of one row of a horizontal category axis.
const ROW: f64 = 21.0;

/// Least width of a panel beside another one in print.
const NARROW: f64 = 300.0;
/// Greatest height of a panel as a share of the page's width, alone and beside others, which narrow pages reach.
const STEEPEST: f64 = 0.6;
const STEEPEST_OF_MANY: f64 = 0.4;

/// The whole picture.
pub fn scene(data: &ChartData, caption: &Caption) -> Scene {
    stacked(&with_residual(data), caption)
}

/// The chart and its legend alone, for a page of this width.
pub fn printed(data: &ChartData, width: f64) -> Scene {
    let charts = with_residual(data);
    let columns = most_columns(&charts).min((width / NARROW) as usize).max(1);
    let caption = Caption::default();
    Page::begin(width, "", &caption).charts(&charts, columns).end(std::iter::empty(), &caption)
}

pub fn with_residual(data: &ChartData) -> Vec<ChartData> {
    // Only for a single panel: residuals of several would double their number.
    let residual = data.residual().filter(|_| data.panels.len() == 1);
    std::iter::once(data.clone()).chain(residual).collect()
}

/// Several charts below one another, with the title and the legend of the first.
pub fn stacked(charts: &[ChartData], caption: &Caption) -> Scene {
    let columns = most_columns(charts);
    let width = if columns > 2 { 1200.0 } else { 900.0 };
    let title = charts.first().map_or("", |data| &data.title);
    let page = Page::begin(width, title, caption).charts(charts, columns);
    page.end(notes(charts).into_iter(), caption)
}

fn most_columns(charts: &[ChartData]) -> usize {
    charts.iter().map(|data| columns(data.panels.len())).max().unwrap_or(1)
}

/// What the charts say about themselves: doubtful and missing points, guides, accuracy of models, what is beyond the
/// axes.
pub fn notes(charts: &[ChartData]) -> Vec<String> {
    let notes = charts.iter().flat_map(|data| &data.notes).map(ToString::to_string);
    let models = charts.iter().flat_map(|data| &data.models);
    let models = models.flat_map(|key| key.accuracy().into_iter().chain(key.gaps()));
    let models =
        models.chain(charts.iter().filter_map(predicted_beyond)).chain(charts.iter().filter_map(cut));
    let own = || charts.iter().filter(|data| !data.residual);
    let doubts = own().flat_map(ChartData::doubt_notes);
    let choices = own().filter_map(ChartData::choices);
    choices.chain(doubts).chain(notes).chain(charts.iter().filter_map(guides)).chain(models).collect()
}

/// The number of predictions beyond the axes, which only reach near the points.
fn predicted_beyond(data: &ChartData) -> Option<String> {
    let y = data.y_scale();
    let count = data.predicted(|_| true).filter(|point| y.position(point.y).is_none()).count();
    (count > 0).then(|| format!("predictions beyond the axis: {count}"))
}

/// The number of bars that leave the axis, of the chart or of the differences below it.
fn cut(data: &ChartData) -> Option<String> {
    let y = data.y_scale();
    let leaves = |bar: [f64; 2]| bar.iter().any(|end| y.position(*end).is_none());
    let count = data.measured().filter_map(|value| value.bar).filter(|bar| leaves(*bar)).count();
    let of =
        if data.residual { format!(" of {}", data.y.title().trim_end_matches(", %")) } else { String::new() };
    (count > 0).then(|| format!("bars that leave the axis{of} (arrowheads): {count}"))
}

/// Descriptions of the grey guides, and of the missing ones.
fn guides(data: &ChartData) -> Option<String> {
    let (there, missing): (Vec<_>, Vec<_>) = data.guides().into_iter().partition(|g| g.level.is_some());
    let missing: Vec<String> = missing.into_iter().map(Guide::words).collect();
    let mut words: Vec<String> = Vec::new();
    for guide in there {
        if !words.contains(&guide.about) {
            words.push(guide.about.clone());
        }
    }
    words.extend(missing);
    (!words.is_empty()).then(|| words.join("; "))
}

fn columns(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

impl Page {
    fn charts(mut self, charts: &[ChartData], columns: usize) -> Page {
        charts.iter().take(1).for_each(|data| self.legend(&legend_entries(data)));
        // The charts share their left edge, so that their x ticks lie below each other.
        let gutter =
            charts.iter().map(|data| self.gutter(&self.view(data, columns), data)).fold(0.0, f64::max);
        charts.iter().for_each(|data| self.panels(data, columns, gutter));
        self
    }

    fn view(&self, data: &ChartData, columns: usize) -> View {
        View::new(data, self.inner_width() / columns as f64)
    }

    /// Draws a chart, `gutter` from the left margin.
    fn panels(&mut self, data: &ChartData, columns: usize, gutter: f64) {
        let view = self.view(data, columns);
        let titled = data.panels.iter().any(|p| !p.title.is_empty());
        let left = MARGIN + gutter;
        let width = (self.scene.width - MARGIN - left + GAP) / columns as f64 - GAP;
        let height = self.panel_height(&view, data);
        let top = self.y;
        let rows = data.panels.len().div_ceil(columns);
        let title = if titled { 22.0 } else { 6.0 };
        for (i, panel) in data.panels.iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            let frame = Frame {
                left: left + column as f64 * (width + GAP),
                top: top + title + row as f64 * (height + title + 8.0),
                width,
                height,
                outer_left: column == 0,
                outer_bottom: i + columns >= data.panels.len(),
            };
            view.draw(&mut self.scene, panel, &frame);
        }
        let bottom = top + rows as f64 * (height + title + 8.0) - 8.0;
        self.axis_titles(&view, data, (left, top + title, bottom));
        self.y = bottom + 44.0;
    }

    /// Space on the left for the labels and the title of the vertical axis.
    fn gutter(&self, view: &View, data: &ChartData) -> f64 {
        let height = self.panel_height(view, data);
        let widest = |l: f64, (_, label): &(f64, String)| l.max(text_width(label, TICK));
        let labels = view.vertical_ticks(height).iter().fold(0.0, widest);
        let title = if view.vertical_title(data).is_empty() { 0.0 } else { 22.0 };
        labels.min(self.inner_width() * 0.4) + 10.0 + title
    }

    fn panel_height(&self, view: &View, data: &ChartData) -> f64 {
        match (view.horizontal, data.panels.len()) {
            (false, _) if data.residual => 110.0,
            (true, _) => (view.x.names().len() as f64 * ROW).max(120.0),
            (false, 1) => (self.inner_width() * STEEPEST).min(380.0),
            (false, _) => (self.inner_width() * STEEPEST_OF_MANY).min(240.0),
        }
    }

    fn axis_titles(&mut self, view: &View, data: &ChartData, (left, top, bottom): (f64, f64, f64)) {
        let middle = (left + self.scene.width - MARGIN) / 2.0;
        let across = Text::new(middle, bottom + 34.0, &view.horizontal_title(data), LABEL, INK);
        self.scene.text(across.anchored(Anchor::Middle));
        let words = view.vertical_title(data);
        if !words.is_empty() {
            // A long title shrinks, so that it does not overlap the legend and the caption.
            let fit = (bottom - top) / text_width(&words, LABEL);
            let text = Text::new(MARGIN + 6.0, (top + bottom) / 2.0, &words, LABEL * fit.min(1.0), INK);
            self.scene.text(Text { upright: true, ..text.anchored(Anchor::Middle) });
        }
        if data.is_empty() {
            let text = Text::new(middle, (top + bottom) / 2.0, "nothing measured", LABEL, FRAME);
            self.scene.text(text.anchored(Anchor::Middle));
        }
    }
}

/// Legend entries of the lines, references and guides with a value in some panel.
fn legend_entries(data: &ChartData) -> Vec<Entry> {
    let line = if data.x.scale == Scale::Category { Sample::Marker } else { Sample::Line };
    let kind = |style: usize| {
        let lines = data.panels.iter().flat_map(|p| &p.lines);
        let mut foreseen = data.panels.iter().flat_map(|p| &p.models);
        let reference = data.panels.iter().flat_map(|p| &p.references);
        match () {
            () if lines.into_iter().any(|l| l.style == style && !l.points.is_empty()) => Some(line),
            // A reference may have a prediction, too, and is dashed.
            () if reference.into_iter().any(|r| r.style == style) => Some(Sample::Reference),
            () if foreseen.any(|l| l.of == style) => Some(line),
            () => None,
        }
    };
    // The markers of a line without any certified point are hollow in the plot.
    let certified = |style: usize| {
        let lines = data.panels.iter().flat_map(|p| &p.lines).filter(|line| line.style == style);
        let mut points = lines.flat_map(|line| &line.points).peekable();
        points.peek().is_none() || points.any(|point| point.value.certified)
    };
    let labels = data.labels.iter().enumerate();
    let measured = labels.filter_map(|(style, label)| {
        let (look, certified) = (Look::of(style, data.lines_per_run), certified(style));
        Some(Entry { label: label.clone(), sample: kind(style)?, look, certified })
    });
    let guides = data.guides().into_iter().filter(|guide| guide.level.is_some());
    let guide = |guide: &Guide| Entry {
        label: guide.words(),
        sample: Sample::Guide(Look::guide(guide.style)),
        look: Look::of(guide.style, data.lines_per_run),
        certified: true,
    };
    let models = data.models.iter().enumerate().filter(|(_, key)| key.predicts());
    let model = |(rank, key): (usize, &ModelKey)| Entry {
        label: key.words(),
        sample: Sample::Model(Look::model(rank)),
        look: Look::of(key.style, data.lines_per_run),
        certified: true,
    };
    let doubts = data.doubts().into_iter();
    let doubt = |(doubt, word): (Doubt, &str)| Entry {
        label: word.to_owned(),
        sample: Sample::Doubt(doubt),
        look: Look::plain(),
        certified: true,
    };
    let published = data.published.iter().map(|source| Entry {
        label: format!("{source}, not measured here"),
        sample: Sample::Marker,
        look: Look::plain(),
        certified: false,
    });
    let measured = measured.chain(guides.map(guide)).chain(models.map(model)).chain(published);
    measured.chain(doubts.map(doubt)).collect()
}

/// The title of a measured axis, which mentions a log scale.
pub fn measured_title(data: &ChartData, axis: &AxisScale) -> String {
    let log = if axis.spacing.is_log() { ", log scale" } else { "" };
    format!("{}{log}", data.y.title())
}
