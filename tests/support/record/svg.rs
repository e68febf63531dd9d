//! Writes a film as an animated SVG: the frames lie side by side, and the strip moves in steps.

use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

use super::film::{Film, Look, Run};

/// A character's cell, in the SVG's units.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 16.0;
/// Distance from a row's top to its baseline.
const BASELINE: f64 = 13.0;

/// Rows, each distinct one defined only once.
#[derive(Default)]
struct Rows<'a> {
    known: HashMap<&'a [Run], usize>,
    definitions: String,
}

impl<'a> Rows<'a> {
    fn number(&mut self, row: &'a [Run]) -> usize {
        let next = self.known.len();
        *self.known.entry(row).or_insert_with(|| {
            let _ = write!(self.definitions, "<g id=\"r{next}\">");
            row.iter().for_each(|run| draw(run, &mut self.definitions));
            self.definitions += "</g>\n";
            next
        })
    }
}

pub fn render(film: &Film) -> String {
    let (width, height) = (f64::from(film.columns) * WIDTH + 16.0, f64::from(film.rows) * HEIGHT + 16.0);
    let mut rows = Rows::default();
    let mut strip = String::new();
    for (at, (frame, _)) in film.frames.iter().enumerate() {
        let _ = write!(strip, "<g transform=\"translate({} 0)\">", at as f64 * width);
        for (line, row) in frame.rows.iter().enumerate().filter(|(_, row)| !row.is_empty()) {
            let _ = write!(strip, "<use href=\"#r{}\" y=\"{}\"/>", rows.number(row), line as f64 * HEIGHT);
        }
        strip += "</g>\n";
    }
    let (seconds, keyframes) = keyframes(film, width);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <title>scatterlab in a terminal</title>\n<style>\n\
         text {{ font: 14px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre }}\n\
         .strip {{ animation: play {seconds:.2}s step-end infinite; }}\n@keyframes play {{ {keyframes} }}\n</style>\n\
         <defs>\n{}</defs>\n<rect width=\"100%\" height=\"100%\" rx=\"6\" fill=\"#161b22\"/>\n\
         <svg x=\"8\" y=\"8\" width=\"{}\" height=\"{}\"><g class=\"strip\" fill=\"#d0d7de\">\n{strip}</g></svg>\n</svg>\n",
        rows.definitions,
        width - 16.0,
        height - 16.0,
    )
}

/// Duration of the whole film in seconds, and the keyframes that position the strip.
fn keyframes(film: &Film, width: f64) -> (f64, String) {
    let total: Duration = film.frames.iter().map(|(_, shown)| *shown).sum();
    let (mut before, mut text) = (Duration::ZERO, String::new());
    for (at, (_, shown)) in film.frames.iter().enumerate() {
        let share = 100.0 * before.as_secs_f64() / total.as_secs_f64();
        let _ = write!(text, "{share:.3}% {{ transform: translateX({}px) }} ", -(at as f64) * width);
        before += *shown;
    }
    (total.as_secs_f64(), text)
}

fn draw(run: &Run, out: &mut String) {
    let (x, width) = (f64::from(run.column) * WIDTH, f64::from(run.columns) * WIDTH);
    if let Some([r, g, b]) = run.look.background {
        let fill = format!("#{r:02x}{g:02x}{b:02x}");
        let _ = write!(out, "<rect x=\"{x}\" width=\"{width}\" height=\"{HEIGHT}\" fill=\"{fill}\"/>");
    }
    // Blanks at the ends are not drawn: some renderers drop them and would shift the text after them.
    let text = run.text.trim();
    let blanks = (run.text.len() - run.text.trim_start().len(), run.text.len() - text.len());
    let (x, width) = (x + blanks.0 as f64 * WIDTH, width - blanks.1 as f64 * WIDTH);
    if !text.is_empty() {
        // The explicit length keeps characters from a fallback font on their columns.
        let length = format!("textLength=\"{width}\" lengthAdjust=\"spacingAndGlyphs\"");
        let text = escaped(text);
        let _ = write!(out, "<text x=\"{x}\" y=\"{BASELINE}\" {length}{}>{text}</text>", style(run.look));
    }
}

fn style(look: Look) -> String {
    let mut style = String::new();
    if let Some([r, g, b]) = look.foreground {
        let _ = write!(style, " fill=\"#{r:02x}{g:02x}{b:02x}\"");
    }
    let flags = [
        (look.bold, " font-weight=\"bold\""),
        (look.dim, " opacity=\"0.7\""),
        (look.underline, " text-decoration=\"underline\""),
    ];
    flags.iter().filter(|(on, _)| *on).for_each(|(_, text)| style += text);
    style
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
