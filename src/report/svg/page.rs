//! A page that is filled from the top: title, text, legend, picture, notes, caption.

use super::caption::Caption;
use super::scene::{Color, GREY, INK, Scene, Shape, Text, text_width, wrap};
use super::style::Look;
use crate::report::series::Doubt;

pub const MARGIN: f64 = 20.0;
const TITLE: f64 = 18.0;
pub const LABEL: f64 = 13.0;
pub const TICK: f64 = 12.0;
pub const SMALL: f64 = 11.5;
pub const GAP: f64 = 18.0;
/// Width of a sample in the legend, with the space before its label.
const SAMPLE: f64 = 40.0;

pub struct Page {
    pub scene: Scene,
    /// Vertical position of the next element.
    pub y: f64,
}

/// An entry of the legend.
pub struct Entry {
    pub label: String,
    pub sample: Sample,
    pub look: Look,
    /// Whether the marker is filled: some of its points are certified.
    pub certified: bool,
}

/// The sample of a style in the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sample {
    /// A stroke with a marker on it.
    Line,
    Marker,
    Reference,
    /// A grey stroke with this dash, whatever the style.
    Guide((i32, i32)),
    /// A thin stroke with this dash, for a model.
    Model((i32, i32)),
    /// A marker of doubtful points, whatever the style.
    Doubt(Doubt),
}

impl Page {
    /// Begins a page with its title and the text below it.
    pub fn begin(width: f64, title: &str, caption: &Caption) -> Page {
        let mut page = Page { scene: Scene { width, ..Scene::default() }, y: MARGIN };
        page.paragraph(title, TITLE, INK, true);
        for words in caption.recipe.iter().chain(&caption.paper).chain(&caption.changes) {
            page.paragraph(words, LABEL, GREY, false);
        }
        for run in &caption.runs {
            page.paragraph(run, LABEL, INK, false);
        }
        page.y += 4.0;
        page
    }

    /// Ends the page with notes on missing points, what the run is worth, and the caption.
    pub fn end(mut self, notes: impl Iterator<Item = String>, caption: &Caption) -> Scene {
        self.y += 6.0;
        for note in notes.chain(caption.notes.iter().cloned()).chain(caption.verdict.clone()) {
            self.paragraph(&note, SMALL + 0.5, INK, false);
        }
        self.y += 4.0;
        for line in &caption.lines {
            self.paragraph(line, SMALL, GREY, false);
        }
        self.scene.height = self.y + MARGIN / 2.0;
        self.scene
    }

    pub fn inner_width(&self) -> f64 {
        self.scene.width - 2.0 * MARGIN
    }

    pub fn paragraph(&mut self, words: &str, size: f64, color: Color, bold: bool) {
        // Bold letters are about an eighth wider than the regular ones that `text_width` measures.
        let width = if bold { self.inner_width() / 1.13 } else { self.inner_width() };
        for line in wrap(words, size, width) {
            let height = size * 1.4;
            let text = Text::new(MARGIN, self.y + height / 2.0, &line, size, color);
            self.scene.text(Text { bold, ..text });
            self.y += height;
        }
    }

    /// Draws the legend above the plot, in rows. A label that is wider than the page is broken into lines.
    pub fn legend(&mut self, entries: &[Entry]) {
        const ROW: f64 = 20.0;
        const LINE: f64 = 16.0;
        let (mut x, mut height) = (MARGIN, 0.0_f64);
        for entry in entries {
            let lines = wrap(&entry.label, LABEL, self.inner_width() - SAMPLE);
            let widest = lines.iter().map(|line| text_width(line, LABEL)).fold(0.0, f64::max);
            let width = SAMPLE + 6.0 + widest + GAP;
            if x > MARGIN && x + width > self.scene.width - MARGIN {
                x = MARGIN;
                self.y += height;
                height = 0.0;
            }
            self.sample(x, entry);
            for (at, line) in lines.iter().enumerate() {
                let y = self.y + ROW / 2.0 + at as f64 * LINE;
                self.scene.text(Text::new(x + SAMPLE, y, line, LABEL, INK));
            }
            height = height.max(ROW + lines.len().saturating_sub(1) as f64 * LINE);
            x += width;
        }
        self.y += if entries.is_empty() { 0.0 } else { height + 6.0 };
    }

    fn sample(&mut self, x: f64, entry: &Entry) {
        let (y, look, color) = (self.y + 10.0, entry.look, entry.look.color);
        let points = vec![(x, y), (x + 32.0, y)];
        let stroke = |color, width, dash| Shape::Path { points, color, width, dash };
        match entry.sample {
            Sample::Guide(dash) => return self.scene.push(stroke(GREY, 2, Some(dash))),
            Sample::Model(dash) => return self.scene.push(stroke(INK, 1, Some(dash))),
            Sample::Reference => return self.scene.push(stroke(color, 2, look.reference)),
            Sample::Line => self.scene.push(stroke(color, 2, look.dash)),
            Sample::Marker | Sample::Doubt(_) => {}
        }
        let doubt = if let Sample::Doubt(doubt) = entry.sample { doubt } else { Doubt::default() };
        self.scene.shapes.extend(look.marker_of((x + 16.0, y), 5.0, entry.certified, doubt));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 84 mm with letters of 8 pt are 357 wide; the doubt of a profile once ran off the page.
    #[test]
    fn a_legend_stays_on_its_page_and_its_lines_apart() {
        let labels =
            ["cpu", "sector, amd-epyc-2cpus (87 % of its calibration doubtful: 1 CPU elsewhere)", "scalar"];
        let entry = |label: &str| Entry {
            label: label.to_owned(),
            sample: Sample::Line,
            look: Look::plain(),
            certified: true,
        };
        for width in [200.0, 357.0, 900.0] {
            let mut page = Page::begin(width, "", &Caption::default());
            page.legend(&labels.map(entry));
            let texts: Vec<&Text> = page
                .scene
                .shapes
                .iter()
                .filter_map(|s| if let Shape::Text(t) = s { Some(t) } else { None })
                .collect();
            let words: Vec<&str> = texts.iter().flat_map(|text| text.text.split(' ')).collect();
            assert_eq!(words.join(" "), labels.join(" "));
            for text in &texts {
                assert!(
                    text.x + text_width(&text.text, text.size) <= width - MARGIN,
                    "{width}: {}",
                    text.text
                );
                assert!(text.y < page.y, "{width}: {} is below the legend", text.text);
            }
            assert!(crate::report::svg::tests::covered(&page.scene).is_empty());
        }
    }
}
