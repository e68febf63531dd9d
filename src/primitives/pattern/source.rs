//! The index patterns that a case's parameters name.

use crate::case::{Params, Refusal, reader};
use crate::inputs::applications::{self, Application};
use crate::inputs::generators::{self, PatternError};

/// Spatter's default delta.
pub const DEFAULT_DELTA: u64 = 8;

/// A pattern, as a recipe names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Uniform { length: u64, stride: u64 },
    Ms1 { length: u64, breaks: Vec<u64>, gaps: Vec<u64> },
    Laplacian { dimensions: u64, length: u64, size: u64 },
    Custom { indices: Vec<u64> },
    App(&'static Application),
}

impl Source {
    /// The pattern under `key` (`source`, `gather` or `scatter`), if there is one.
    pub fn from_params(params: &Params, key: &str) -> Result<Option<Source>, Refusal> {
        let Some(name) = params.text(key) else {
            return Ok(None);
        };
        let at = |parameter: &str| format!("{key}.{name}.{parameter}");
        let int = |parameter: &str| reader::int(params, &at(parameter));
        let list = |parameter: &str| {
            params
                .indices(&at(parameter))
                .map(<[u64]>::to_vec)
                .ok_or_else(|| Refusal::invalid(at(parameter), "is missing"))
        };
        Ok(Some(match name {
            "uniform" => Source::Uniform { length: int("length")?, stride: int("stride")? },
            "ms1" => Source::Ms1 { length: int("length")?, breaks: list("breaks")?, gaps: list("gaps")? },
            "laplacian" => Source::Laplacian {
                dimensions: int("dimensions")?,
                length: int("length")?,
                size: int("size")?,
            },
            // The plan puts a file's indices into the parameters.
            "custom" | "file" => Source::Custom { indices: list("indices")? },
            "app" => Source::App(application(params, &at("name"))?),
            _ => return Err(Refusal::invalid(key, format!("`{name}` is no kind of pattern"))),
        }))
    }

    /// Its indices, in elements.
    pub fn indices(&self) -> Result<Vec<u64>, PatternError> {
        match self {
            Source::Uniform { length, stride } => generators::uniform(*length, *stride),
            Source::Ms1 { length, breaks, gaps } => generators::ms1(*length, breaks, gaps),
            Source::Laplacian { dimensions, length, size } => {
                generators::laplacian(*dimensions, *length, *size)
            }
            Source::Custom { indices } => generators::custom(indices),
            Source::App(app) => Ok(app.indices.to_vec()),
        }
    }

    /// The delta where the recipe leaves it open.
    pub fn default_delta(&self) -> u64 {
        match self {
            Source::App(app) => app.delta,
            Source::Laplacian { .. } => 1,
            _ => DEFAULT_DELTA,
        }
    }

    /// The delta with which no element is used twice: Spatter's length·stride for
    /// UNIFORM, else the extent, largest index + 1.
    pub fn no_reuse_delta(&self, largest: u64) -> Option<u64> {
        match self {
            Source::Uniform { length, stride } => length.checked_mul(*stride),
            _ => largest.checked_add(1),
        }
    }
}

fn application(params: &Params, key: &str) -> Result<&'static Application, Refusal> {
    let name = params.text(key).ok_or_else(|| Refusal::invalid(key, "is missing"))?;
    applications::find(name).ok_or_else(|| {
        Refusal::invalid(key, format!("`{name}` is no pattern of lavin2020's Table 5, such as PENNANT-G0"))
    })
}
