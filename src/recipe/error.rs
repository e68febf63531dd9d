//! Mistakes in a recipe: one line each, with the place, the key, the accepted values, and an example.

use std::fmt;

use crate::case::schema::{Kind, Param, ParamDefault, Variant};
use crate::case::units::{UnitError, escaped, label_bytes, shown};

/// A mistake in a recipe or in an override of it. Its `Display` is one line:
/// ``fig09.yaml:3:38: unknown key `pases` in scatter.method.multipass; accepted: passes``.
#[derive(Clone, Debug, PartialEq)]
pub struct RecipeError {
    /// The recipe's file name as given, or the override (`--set passes=0`).
    pub origin: String,
    /// Line and column, both counted from 1; the column counts characters.
    pub place: Option<(usize, usize)>,
    /// The kind of mistake.
    pub problem: Box<ErrorKind>,
}

impl fmt::Display for RecipeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escaped(&self.origin))?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for RecipeError {}

/// The kinds of mistakes. `at` is the dotted path of the key as written in the recipe.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ErrorKind {
    /// The text is not YAML.
    #[error("not YAML: {0}")]
    Syntax(String),
    /// Valid YAML, but outside of the subset that recipes use, or too large.
    #[error("{0}")]
    Unsupported(String),
    /// Nobody waits for the plan any longer.
    #[error("cancelled")]
    Cancelled,
    /// A key that is not accepted here.
    #[error("unknown key `{}` in {at}; accepted: {accepted}{nearest}", shown(key))]
    UnknownKey { key: String, at: String, accepted: String, nearest: Nearest },
    /// A required key is missing.
    #[error("missing key `{key}` in {at}{}", such_as(example.as_deref()))]
    MissingKey {
        key: String,
        at: String,
        /// Example of the map with the missing key.
        example: Option<String>,
    },
    /// The same key twice in one map.
    #[error("duplicate key `{}` in {}", shown(key), shown(at))]
    DuplicateKey { key: String, at: String },
    /// A value of the wrong type, such as a list instead of a number.
    #[error("{at}: expected {expected}, found {found}")]
    WrongType { at: String, expected: String, found: String },
    /// A number outside of the parameter's limits.
    #[error("{at}: {value} is out of range; accepted: {accepted}")]
    OutOfRange { at: String, value: String, accepted: String },
    /// An unknown word.
    #[error("{at}: unknown word `{}`; accepted: {accepted}{nearest}", shown(word))]
    UnknownWord { at: String, word: String, accepted: String, nearest: Nearest },
    /// A value that the parameter accepts, but that no case of the experiment has.
    #[error("{at}: no case has {value}; accepted: {accepted}")]
    NotAmong { at: String, value: String, accepted: String },
    /// A number with a wrong unit, or too large for 64 bits.
    #[error("{at}: {reason}")]
    Quantity { at: String, reason: UnitError },
    /// A range that does not follow `a..b xk` or `a..b +k`.
    #[error("{at}: bad range `{}`: {reason}", shown(text))]
    Range { at: String, text: String, reason: String },
    /// No key of the experiment is a primitive.
    #[error("no primitive in {at}; accepted: {accepted}")]
    NoPrimitive { at: String, accepted: String },
    /// More than one key of the experiment is a primitive.
    #[error("two primitives in {at}: `{first}` and `{second}`; put each into an item of experiments")]
    TwoPrimitives { at: String, first: String, second: String },
    /// A swept parameter that the chart does not assign.
    #[error(
        "axis `{axis}` takes {values} values, but chart assigns it to neither x, lines, panels nor best-of; add \
         `lines: {lines}` to chart, or fix it to one value"
    )]
    Unassigned {
        axis: String,
        values: usize,
        /// The value of `lines` that would assign it.
        lines: String,
    },
    /// A short name that matches several parameters.
    #[error("{at}: `{}` is ambiguous; accepted: {candidates}", shown(name))]
    Ambiguous { at: String, name: String, candidates: String },
    /// A name that matches no parameter of the experiment.
    #[error("{at}: no parameter `{}`; accepted: {accepted}{nearest}", shown(name))]
    UnknownName { at: String, name: String, accepted: String, nearest: Nearest },
    /// A combination that the primitive rejects, or that makes no sense.
    #[error("{at}: {message}")]
    Invalid { at: String, message: String },
    /// A word that is neither a label, nor an identity, nor the beginning of an identity.
    #[error("no case `{}`{} (--dry-run lists them all)", shown(id), near(nearest))]
    UnknownCase { id: String, nearest: Vec<String> },
    /// The sweeps expand to too many cases.
    #[error("{at}: the sweeps multiply to more than {limit} cases")]
    TooManyCases { at: String, limit: usize },
}

fn near(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; nearest: {}", names.join(", ")) }
}

fn such_as(example: Option<&str>) -> String {
    example.map(|example| format!("; for example `{example}`")).unwrap_or_default()
}

/// Common synonyms of our names.
const MEANT: [(&str, &str); 4] =
    [("gpu", "cuda"), ("nvidia", "cuda"), ("openmp", "cpu"), ("serial", "scalar")];

/// The accepted name closest to what was written, if any is close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest(pub Option<String>);

impl Nearest {
    /// Looks for a name whose edit distance is within a third of the written letters (Damerau–Levenshtein,
    /// ignoring case). Names of three letters or fewer are all close to each other. Common synonyms are found
    /// through a table.
    pub fn among<'a>(written: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> Nearest {
        const LONGEST: usize = 60;
        if written.len() > LONGEST {
            return Nearest(None);
        }
        let written = written.to_lowercase();
        let meant = MEANT.iter().find(|(theirs, _)| *theirs == written).map(|(_, ours)| *ours);
        if let Some(ours) = meant.filter(|ours| names.clone().into_iter().any(|name| name == *ours)) {
            return Nearest(Some(ours.to_owned()));
        }
        let distance = |name: &str| strsim::damerau_levenshtein(&written, &name.to_lowercase());
        let close = names.into_iter().filter(|name| name.len() > 3).map(|name| (distance(name), name));
        let best = close.filter(|(d, name)| *d <= (name.len() / 3).max(1)).min_by_key(|(d, _)| *d);
        Nearest(best.map(|(_, name)| name.to_owned()))
    }
}

impl fmt::Display for Nearest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some(name) => write!(f, " (did you mean `{name}`?)"),
            None => Ok(()),
        }
    }
}

/// Place of a mistake, before it is translated to line and column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Place {
    /// The node with this number in the recipe's text.
    Recipe(u32),
    /// The override with this index.
    Override(usize),
    /// The backend list that replaces the recipe's.
    Backends,
    /// The word with this index among those of `--only`.
    Only(usize),
    /// No written text: a default.
    #[default]
    Nowhere,
}

/// A problem and its place. Interpreting and resolving return it; the public interface turns it into a
/// [`RecipeError`].
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Mistake {
    pub place: Place,
    pub problem: ErrorKind,
}

impl Mistake {
    pub fn new(place: Place, problem: ErrorKind) -> Mistake {
        Mistake { place, problem }
    }

    /// A [`ErrorKind::Invalid`].
    pub fn invalid(place: Place, at: &str, message: impl Into<String>) -> Mistake {
        Mistake::new(place, ErrorKind::Invalid { at: at.to_owned(), message: message.into() })
    }

    /// A [`ErrorKind::WrongType`].
    pub fn wrong_type(place: Place, at: &str, expected: &str, found: String) -> Mistake {
        Mistake::new(place, ErrorKind::WrongType { at: at.to_owned(), expected: expected.to_owned(), found })
    }

    /// A [`ErrorKind::UnknownWord`].
    pub fn unknown_word(place: Place, at: &str, word: &str, accepted: &[&str]) -> Mistake {
        let nearest = Nearest::among(word, accepted.iter().copied());
        let (at, word, accepted) = (at.to_owned(), word.to_owned(), listed(accepted));
        Mistake::new(place, ErrorKind::UnknownWord { at, word, accepted, nearest })
    }

    /// A [`ErrorKind::UnknownKey`].
    pub fn unknown_key(place: Place, at: &str, key: &str, accepted: &[&str]) -> Mistake {
        let nearest = Nearest::among(key, accepted.iter().copied());
        let (at, key, accepted) = (at.to_owned(), key.to_owned(), listed(accepted));
        Mistake::new(place, ErrorKind::UnknownKey { key, at, accepted, nearest })
    }

    /// A [`ErrorKind::MissingKey`].
    pub fn missing_key(place: Place, at: &str, key: &str) -> Mistake {
        Mistake::new(place, ErrorKind::MissingKey { key: key.to_owned(), at: at.to_owned(), example: None })
    }
}

/// Names for a message: `a, b, c`, or `nothing`.
pub(crate) fn listed(names: &[&str]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

/// `multipass: {passes: 4}`: the variant with all its required parameters.
pub(super) fn example(variant: &Variant) -> String {
    let needed = |param: &&Param| !matches!(param.default, ParamDefault::Unset | ParamDefault::Is(_));
    let params: Vec<String> = variant
        .params
        .iter()
        .filter(needed)
        .map(|param| format!("{}: {}", param.name, value(&param.kind)))
        .collect();
    format!("{}: {{{}}}", variant.name, params.join(", "))
}

/// A value that the kind accepts.
fn value(kind: &Kind) -> String {
    match kind {
        Kind::Count { min, max } | Kind::CountOr { min, max, .. } => 4.clamp(*min, *max).to_string(),
        Kind::Bytes { min, max, accepted } => label_bytes(*accepted.first().unwrap_or(&8.clamp(*min, *max))),
        Kind::Float { min, max } => 1.0f64.clamp(*min, *max).to_string(),
        Kind::Word(words) => words.first().copied().unwrap_or_default().to_owned(),
        Kind::Choice(variants) | Kind::Inline(variants) => variants.first().map(example).unwrap_or_default(),
        Kind::Indices { .. } => "[0, 8, 16]".to_owned(),
        Kind::Text => "NAME".to_owned(),
    }
}
