//! Puts a chart together, from the title down to the caption.

use super::caption::Caption;
use super::panel::{Frame, View};
use super::scene::{Anchor, Color, FRAME, GREY, INK, Scene, Shape, Text, text_width, wrap};
use super::style::Look;
use crate::plan::Scale;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::{ChartData, Guide};

const MARGIN: f64 = 20.0;
pub const TITLE: f64 = 18.0;
pub const LABEL: f64 = 13.0;
pub const TICK: f64 = 12.0;
const SMALL: f64 = 11.5;
/// Height of one row of a horizontal category axis.
const ROW: f64 = 21.0;
const GAP: f64 = 18.0;

/// The whole picture.
pub fn scene(data: &ChartData, caption: &Caption) -> Scene {
    let columns = columns(data.panels.len());
    let width = if columns > 2 { 1200.0 } else { 900.0 };
    let mut page = Page { scene: Scene { width, ..Scene::default() }, y: MARGIN };
    page.paragraph(&data.title, TITLE, INK, true);
    for words in caption.recipe.iter().chain(&caption.paper).chain(&caption.changes) {
        page.paragraph(words, LABEL, GREY, false);
    }
    for run in &caption.runs {
        page.paragraph(run, LABEL, INK, false);
    }
    page.y += 4.0;
    page.legend(data);
    page.panels(data, columns);
    page.y += 6.0;
    for note in &data.notes {
        page.paragraph(&note.to_string(), SMALL + 0.5, INK, false);
    }
    if let Some(words) = guides(data) {
        page.paragraph(&words, SMALL + 0.5, INK, false);
    }
    page.y += 4.0;
    for line in &caption.lines {
        page.paragraph(line, SMALL, GREY, false);
    }
    page.scene.height = page.y + MARGIN / 2.0;
    page.scene
}

/// What the grey lines are, and which are not there.
fn guides(data: &ChartData) -> Option<String> {
    let (there, missing): (Vec<_>, Vec<_>) = data.guides().into_iter().partition(|g| g.level.is_some());
    let what = "copy: median rate of the plain copies between this run's passes, read and written bytes";
    let missing: Vec<String> = missing.into_iter().map(Guide::words).collect();
    let words: Vec<String> =
        (!there.is_empty()).then(|| what.to_owned()).into_iter().chain(missing).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

fn columns(panels: usize) -> usize {
    match panels {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// A page that fills from the top.
struct Page {
    scene: Scene,
    y: f64,
}

impl Page {
    fn inner_width(&self) -> f64 {
        self.scene.width - 2.0 * MARGIN
    }

    fn paragraph(&mut self, words: &str, size: f64, color: Color, bold: bool) {
        // Bold letters are about an eighth wider than the regular ones that are measured.
        let width = if bold { self.inner_width() / 1.13 } else { self.inner_width() };
        for line in wrap(words, size, width) {
            let height = size * 1.4;
            let text = Text::new(MARGIN, self.y + height / 2.0, &line, size, color);
            self.scene.text(Text { bold, ..text });
            self.y += height;
        }
    }

    /// Rows of samples of the lines that have something to show, above the plot.
    fn legend(&mut self, data: &ChartData) {
        let entries = legend_entries(data);
        let mut x = MARGIN;
        for (label, entry, style) in &entries {
            let width = 46.0 + text_width(label, LABEL) + GAP;
            if x > MARGIN && x + width > self.scene.width - MARGIN {
                x = MARGIN;
                self.y += 20.0;
            }
            let look = Look::of(*style, data.lines_per_run);
            self.sample(x, *entry, look, data.x.scale == Scale::Category);
            self.scene.text(Text::new(x + 40.0, self.y + 10.0, label, LABEL, INK));
            x += width;
        }
        self.y += if entries.is_empty() { 0.0 } else { 26.0 };
    }

    fn sample(&mut self, x: f64, entry: Entry, look: Look, names: bool) {
        let (y, color) = (self.y + 10.0, look.color);
        let points = vec![(x, y), (x + 32.0, y)];
        match entry {
            Entry::Reference => {
                self.scene.push(Shape::Path { points, color, width: 2, dash: look.reference });
            }
            Entry::Guide(dash) => {
                self.scene.push(Shape::Path { points, color: GREY, width: 2, dash: Some(dash) });
            }
            Entry::Line => {
                if !names {
                    self.scene.push(Shape::Path { points, color, width: 2, dash: look.dash });
                }
                self.scene.push(look.marker((x + 16.0, y), 5.0, true));
            }
        }
    }

    fn panels(&mut self, data: &ChartData, columns: usize) {
        let view = View::new(data, self.inner_width() / columns as f64);
        let titled = data.panels.iter().any(|p| !p.title.is_empty());
        let gutter = self.gutter(&view, data);
        let left = MARGIN + gutter;
        let width = (self.scene.width - MARGIN - left + GAP) / columns as f64 - GAP;
        let height = panel_height(&view, data.panels.len());
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

    /// Space on the left for the labels of the vertical axis and for its title.
    fn gutter(&self, view: &View, data: &ChartData) -> f64 {
        let height = panel_height(view, data.panels.len());
        let widest = |l: f64, (_, label): &(f64, String)| l.max(text_width(label, TICK));
        let labels = view.vertical_ticks(height).iter().fold(0.0, widest);
        let title = if view.vertical_title(data).is_empty() { 0.0 } else { 22.0 };
        labels.min(self.inner_width() * 0.4) + 10.0 + title
    }

    fn axis_titles(&mut self, view: &View, data: &ChartData, (left, top, bottom): (f64, f64, f64)) {
        let middle = (left + self.scene.width - MARGIN) / 2.0;
        let across = Text::new(middle, bottom + 34.0, &view.horizontal_title(data), LABEL, INK);
        self.scene.text(across.anchored(Anchor::Middle));
        let words = view.vertical_title(data);
        if !words.is_empty() {
            // A long title shrinks rather than run over the legend and the caption.
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

fn panel_height(view: &View, panels: usize) -> f64 {
    match (view.horizontal, panels) {
        (true, _) => (view.x.names().len() as f64 * ROW).max(120.0),
        (false, 1) => 380.0,
        (false, _) => 240.0,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Line,
    Reference,
    /// With its dash.
    Guide((i32, i32)),
}

/// Label, kind and style of everything with a value in some panel.
fn legend_entries(data: &ChartData) -> Vec<(String, Entry, usize)> {
    let kind = |style: usize| {
        let line = data.panels.iter().flat_map(|p| &p.lines);
        let reference = data.panels.iter().flat_map(|p| &p.references);
        match () {
            () if line.into_iter().any(|l| l.style == style && !l.points.is_empty()) => Some(Entry::Line),
            () if reference.into_iter().any(|r| r.style == style) => Some(Entry::Reference),
            () => None,
        }
    };
    let labels = data.labels.iter().enumerate();
    let measured = labels.filter_map(|(style, label)| Some((label.clone(), kind(style)?, style)));
    let guides = data.guides().into_iter().filter(|guide| guide.level.is_some());
    measured.chain(guides.map(|g| (g.words(), Entry::Guide(Look::guide(g.style)), g.style))).collect()
}

/// A measured axis' title, which says when its steps are ratios.
pub fn measured_title(data: &ChartData, axis: &AxisScale) -> String {
    let log = if axis.spacing == Spacing::Log10 { ", log scale" } else { "" };
    format!("{}{log}", data.y.title())
}
