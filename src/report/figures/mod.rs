//! The figures of papers, drawn from stored runs in the papers' own forms.
//!
//! [`FIGURES`] lists them. Each looks up what it needs among the cases of the runs, whichever
//! recipe measured them (`lookup`), makes its marks (`mark`), and draws those; the same
//! marks are its table. What failed, cannot run or has no certificate is never a point.

mod ashkiani2017;
mod caption;
mod lavin2020;
mod lookup;
mod mark;
mod platform;
mod published;
mod radar;
mod rating;
mod sengupta2007;
mod splits;
mod sweep;
#[cfg(test)]
mod tests;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};

use super::files::replace;
use super::overlay::letter;
use super::verdicts::Named;
use mark::Mark;
use platform::Platform;

/// A figure of a paper.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// `lavin2020/fig03`.
    pub name: &'static str,
    /// What it shows, in a line.
    pub about: &'static str,
    /// Recipes whose runs it is drawn from; none where it is the same for everybody.
    pub recipes: &'static [&'static str],
    /// What its document is: `svg` or `md`.
    pub extension: &'static str,
    draw: fn(&[Named]) -> Result<Drawn>,
}

/// A figure as it is written.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The picture, or the text in Markdown.
    pub document: String,
    /// Exactly what is drawn, as CSV.
    pub table: String,
    /// The same for a terminal, where it is a text.
    pub text: Option<String>,
}

impl Drawn {
    /// Writes the document as this file and its table beside it, each whole or not at all, and
    /// returns their paths.
    ///
    /// # Errors
    /// A file that cannot be written, and a path without a file name.
    pub fn write(&self, path: &Path) -> Result<[PathBuf; 2]> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let write = |path: &Path, content: &str| {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.with_context(|| format!("{} is no name of a file", path.display()))?;
            replace(folder, name, |out| Ok(out.write_all(content.as_bytes())?))
        };
        Ok([write(path, &self.document)?, write(&path.with_extension("csv"), &self.table)?])
    }
}

/// All of them, in the papers' order.
pub const FIGURES: &[Figure] = &[
    sengupta2007::fig05::FIGURE,
    ashkiani2017::fig05::FIGURE,
    ashkiani2017::fig06::FIGURE,
    ashkiani2017::fig07::FIGURE,
    lavin2020::fig03::FIGURE,
    lavin2020::fig04::FIGURE,
    lavin2020::fig05::FIGURE,
    lavin2020::fig06::FIGURE,
    lavin2020::fig07::FIGURE,
    lavin2020::fig08::FIGURE,
    lavin2020::fig09::FIGURE,
    lavin2020::table04::FIGURE,
];

/// The figure of this name, which may leave the paper out where only one has such a figure.
///
/// # Errors
/// A name that not exactly one has, with those that are accepted.
pub fn find(name: &str) -> Result<&'static Figure> {
    let bare = |figure: &Figure| figure.name.split_once('/').is_some_and(|(_, bare)| bare == name);
    let mut found = FIGURES.iter().filter(|figure| figure.name == name || bare(figure));
    if let (Some(figure), None) = (found.next(), found.next()) {
        return Ok(figure);
    }
    let names: Vec<&str> = FIGURES.iter().map(|figure| figure.name).collect();
    Err(anyhow!("there is no figure {name}; accepted: {}", names.join(", ")))
}

impl Figure {
    /// Draws it from these runs.
    ///
    /// # Errors
    /// Runs that lack what it shows: what that is, and which recipes measure it.
    pub fn draw(&self, runs: &[Named]) -> Result<Drawn> {
        if self.recipes.is_empty() && !runs.is_empty() {
            return Err(anyhow!("{}: it measures nothing and takes no runs", self.name));
        }
        if self.recipes.is_empty() {
            return (self.draw)(runs).with_context(|| self.name);
        }
        (self.draw)(runs).map_err(|error| {
            anyhow!("{}: {error:#}; to measure it: scatterlab run {}", self.name, self.recipes.join(" "))
        })
    }
}

/// Refuses a figure without a single point: says what it would show and why nothing is there.
fn some_point(marks: &[Mark], what: &str) -> Result<()> {
    if marks.iter().any(|mark| mark.y.is_ok()) {
        return Ok(());
    }
    const MOST: usize = 3;
    let mut why = mark::reasons(marks);
    let more = why.len().saturating_sub(MOST);
    why.truncate(MOST);
    why.extend((more > 0).then(|| format!("and {more} more reasons")));
    let why = if why.is_empty() { "none is in these runs".to_owned() } else { why.join("; ") };
    Err(anyhow!("there is no result for {what} ({why})"))
}

/// Puts `A`, `B`, … before the platforms' labels and returns those letters, for where there is
/// no room for more.
fn lettered(platforms: &mut [Platform]) -> Vec<String> {
    let letters: Vec<String> = (0..platforms.len()).map(letter).collect();
    for (platform, letter) in platforms.iter_mut().zip(&letters) {
        platform.label = format!("{letter} · {}", platform.label);
    }
    letters
}
