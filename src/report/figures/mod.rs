//! The figures of papers, drawn from stored runs in the papers' own forms.
//!
//! [`FIGURES`] lists them. Most are charts of recipes (`charts`). The others are what no chart is: each of them looks up its values among the cases of the runs, whichever recipe
//! measured them (`lookup`), creates marks (`mark`), and draws those; its table is made from the same marks.
//! Cases that failed, cannot run or lack a certificate are never points.

mod ashkiani2017;
mod caption;
mod charts;
mod lavin2020;
mod lookup;
mod mark;
mod platform;
mod published;
mod radar;
mod rating;
mod sengupta2007;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::{Context, Result, anyhow};

use super::names::letter;
use super::replace::replace;
use super::verdicts::NamedRun;
use mark::Mark;
use platform::Platform;

/// A figure of a paper.
#[derive(Clone, Debug)]
pub struct Figure {
    /// `lavin2020/fig03`.
    pub name: Cow<'static, str>,
    /// The content of the figure, in one line.
    pub about: Cow<'static, str>,
    /// Recipes whose runs the figure is drawn from; empty if it needs no runs.
    pub recipes: Cow<'static, [&'static str]>,
    /// File extension of the document: `svg` or `md`.
    pub extension: &'static str,
    /// Whether it shows the pictures that runs have recorded.
    pub pictures: bool,
    draw: Draw,
}

/// How a figure is drawn.
#[derive(Clone, Debug)]
enum Draw {
    /// As the charts of its recipes.
    Charts,
    Own(fn(&[NamedRun]) -> Result<Drawn>),
}

/// A figure as files.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The picture, or the text in Markdown.
    pub document: String,
    /// Exactly the drawn values, as CSV.
    pub table: String,
    /// The document for a terminal, if it is a text.
    pub text: Option<String>,
}

impl Drawn {
    /// Writes the document to `path` and its table beside it, each atomically, and returns their paths.
    ///
    /// # Errors
    /// A file that cannot be written, or a path without a file name.
    pub fn write(&self, path: &Path) -> Result<[PathBuf; 2]> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let write = |path: &Path, content: &str| {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.with_context(|| format!("{} is not a file name", path.display()))?;
            replace(folder, name, |out| Ok(out.write_all(content.as_bytes())?))
        };
        Ok([write(path, &self.document)?, write(&path.with_extension("csv"), &self.table)?])
    }
}

/// Figures that are no charts of a recipe.
const OWN: [Figure; 6] = [
    sengupta2007::FIGURE,
    ashkiani2017::FIGURE,
    lavin2020::radars::FIG07,
    lavin2020::radars::FIG08,
    lavin2020::fig09::FIGURE,
    lavin2020::table04::FIGURE,
];

/// All figures, in the papers' order.
pub static FIGURES: LazyLock<Vec<Figure>> = LazyLock::new(|| {
    let own = |figure: &Figure| OWN.iter().any(|own| own.name == figure.name);
    let mut all: Vec<Figure> =
        charts::figures().into_iter().filter(|figure| !own(figure)).chain(OWN).collect();
    let year =
        |name: &str| name.split('/').next().map(|paper| paper[paper.len().saturating_sub(4)..].to_owned());
    all.sort_by_cached_key(|figure| (year(&figure.name), figure.name.clone()));
    all
});

/// The figure with this name; the paper may be omitted if only one paper has such a figure.
///
/// # Errors
/// A name that does not match exactly one figure; the error lists the accepted names.
pub fn find(name: &str) -> Result<&'static Figure> {
    let bare = |figure: &Figure| figure.name.split_once('/').is_some_and(|(_, bare)| bare == name);
    let mut found = FIGURES.iter().filter(|figure| figure.name == name || bare(figure));
    if let (Some(figure), None) = (found.next(), found.next()) {
        return Ok(figure);
    }
    let names: Vec<&str> = FIGURES.iter().map(|figure| &*figure.name).collect();
    Err(anyhow!("there is no figure {name}; accepted: {}", names.join(", ")))
}

impl Figure {
    /// Draws the figure from these runs.
    ///
    /// # Errors
    /// Runs that lack the figure's cases; the error names these and the recipes that measure them.
    pub fn draw(&self, runs: &[NamedRun]) -> Result<Drawn> {
        if self.recipes.is_empty() && !runs.is_empty() {
            return Err(anyhow!("{}: it is not measured and takes no runs", self.name));
        }
        let drawn = match self.draw {
            Draw::Charts => charts::draw(self, runs),
            Draw::Own(draw) => draw(runs),
        };
        if self.recipes.is_empty() {
            return drawn.with_context(|| self.name.clone());
        }
        drawn.map_err(|error| {
            anyhow!("{}: {error:#}; to measure it: scatterlab run {}", self.name, self.recipes.join(" "))
        })
    }
}

/// Rejects a figure without points; the error describes the figure and the reasons.
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

/// Prefixes the platforms' labels with `A`, `B`, … and returns these letters, for use where space is short.
fn lettered(platforms: &mut [Platform]) -> Vec<String> {
    let letters: Vec<String> = (0..platforms.len()).map(letter).collect();
    for (platform, letter) in platforms.iter_mut().zip(&letters) {
        platform.label = format!("{letter} · {}", platform.label);
    }
    letters
}
