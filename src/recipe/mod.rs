//! The recipe language, which `docs/recipes.md` describes. A recipe is read in three steps: YAML becomes nodes
//! that remember their places in the text; the nodes are checked against the parameters that each primitive
//! declares and become a [`Recipe`]; [`plan::resolve`] expands its sweeps into cases.

mod accepts;
mod chart;
mod draft;
mod error;
mod flow;
pub mod json_schema;
mod measure;
mod node;
pub mod paper;
mod patch;
pub mod plan;
pub mod programs;
pub mod published;
mod range;
mod seed;
mod setting;
pub mod shipped;
mod spelling;
mod value;
mod yaml;

use std::path::Path;
use std::sync::Arc;

pub use chart::chart_line;
pub use error::{ErrorKind, Nearest, RecipeError};

pub(crate) use accepts::{accepts, measure_accepts};
pub(crate) use chart::{ChartDraft, Name, accepts as chart_accepts};
pub(crate) use draft::{Draft, peers};
pub(crate) use error::{Mistake, Place, listed};
pub(crate) use flow::{flow, word};
pub(crate) use measure::{
    KEYS as MEASURE_KEYS, MOST_ROUNDS, MOST_SAMPLES, names as measure_keys, set as set_measure,
};
pub(crate) use node::{Content, Key, Node, locate_place, read, read_within, tree};
pub(crate) use patch::{Edit, loses_comments, patch};
pub(crate) use setting::{Alternative, ParamSlot, Setting, accepted, alternative, cases, entry};
pub(crate) use value::{count, scalar};
pub(crate) use yaml::Limits;

use crate::primitives::{Primitive, registry};

/// The most cases that the sweeps of one recipe may expand to; more are an error.
pub const MAX_CASES: usize = 10_000;

/// A recipe without mistakes in its keys, words, units and ranges, whose sweeps are not expanded yet.
#[derive(Clone)]
pub struct Recipe {
    title: String,
    file: Arc<str>,
    text: Arc<str>,
    pub(crate) drafts: Vec<Draft>,
}

impl Recipe {
    /// The recipe's title, or the stem of its file name.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// The file name used in messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The file's name without folder and extension.
    pub fn stem(&self) -> &str {
        Path::new(&*self.file).file_stem().and_then(|stem| stem.to_str()).unwrap_or(&self.file)
    }

    /// The YAML text, unchanged.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl std::fmt::Debug for Recipe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Recipe").field("title", &self.title).field("file", &self.file).finish_non_exhaustive()
    }
}

/// Reads a recipe for the primitives of [`registry()`]. `file_name` is used in messages and as the title of a
/// recipe without one; no file is opened.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(file_name: &str, text: &str) -> Result<Recipe, RecipeError> {
    parse_with(registry(), file_name, text)
}

/// The comment that begins a recipe which the program made of a suite: it may be longer than one that somebody wrote.
pub const GENERATED: &str = "# Converted from a Spatter suite by scatterlab.";

/// [`parse`] with a custom registry of primitives.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse_with(
    registry: &'static [&'static Primitive],
    file_name: &str,
    text: &str,
) -> Result<Recipe, RecipeError> {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let generated = comments.into_iter().any(|line| line == GENERATED);
    let limits = if generated { Limits::GENERATED } else { Limits::WRITTEN };
    let root = read_within(file_name, text, limits)?;
    let stem = Path::new(file_name).file_stem().map(|s| s.to_string_lossy().into_owned());
    let interpreter = draft::Interpreter { registry, fallback: stem.unwrap_or_else(|| file_name.to_owned()) };
    let (title, drafts) = interpreter.recipe(&root).map_err(|mistake| RecipeError {
        origin: file_name.to_owned(),
        place: locate_place(text, mistake.place),
        problem: Box::new(mistake.problem),
    })?;
    Ok(Recipe { title, file: file_name.into(), text: text.into(), drafts })
}

/// The BLAKE3 hash of a recipe's text, hexadecimal; it identifies the recipe in its runs. A run's copy has the hash of
/// the recipe that was run.
pub fn hash(text: &str) -> String {
    blake3::hash(without_changes(text).as_bytes()).to_hex().to_string()
}

/// How the first line of a run's copy of its recipe begins if the command line changed the recipe.
const CHANGES: &str = "# Run with: ";

/// A run's copy of a recipe: the text, after a comment that lists the overrides.
pub fn with_changes(text: &str, overrides: &[String]) -> String {
    let text = without_changes(text);
    if overrides.is_empty() {
        return text.to_owned();
    }
    // A value may hold a line break; the comment must not end there.
    format!("{CHANGES}{}\n{text}", overrides.join(" ").replace(['\n', '\r'], " "))
}

/// The overrides that a run's copy of a recipe lists, as words of a command line.
pub fn changes(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(CHANGES)
}

/// The recipe of which this may be a run's copy.
pub fn without_changes(text: &str) -> &str {
    text.split_once('\n').filter(|(first, _)| first.starts_with(CHANGES)).map_or(text, |(_, rest)| rest)
}

/// The mistake that a recipe has more than [`MAX_CASES`] cases; `at` names what exceeds the limit.
pub(crate) fn too_many(place: Place, at: &str) -> Mistake {
    Mistake::new(place, ErrorKind::TooManyCases { at: at.to_owned(), limit: MAX_CASES })
}
