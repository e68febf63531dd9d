//! The index patterns that a case's parameters specify.

use crate::case::schema::{Kind, Param};
use crate::case::table::{Described, Field, choice, count};
use crate::case::{IndexPattern, Params, Refusal};
use crate::inputs::applications::{self, Application};
use crate::inputs::generators::{self, MAX_LENGTH, PatternError};
use crate::primitives::Elsewhere;

use super::spec::MAX_INDEX;

/// Spatter's default delta.
pub const DEFAULT_DELTA: u64 = 8;

/// Maximum length of a list of indices, in a recipe or in a file.
pub const LONGEST_PATTERN: usize = MAX_LENGTH as usize;

/// Maximum length of a list of deltas.
pub const LONGEST_LIST: usize = 1 << 16;

const LIST: Kind = Kind::Indices { max_length: LONGEST_PATTERN };

choice! {
    owned
    /// A pattern, as a recipe names it.
    pub enum Source {
        /// UNIFORM: p[i] = i·stride (lavin2020 §3.3.1)
        Uniform = "uniform" {
            /// number of indices
            length: u64 [count(1, MAX_LENGTH)],
            /// distance from one index to the next, in elements
            stride: u64 [count(1, MAX_INDEX)],
        },
        /// MS1: mostly stride 1, with gaps at breaks (lavin2020 §3.3.2)
        Ms1 = "ms1" {
            /// number of indices
            length: u64 [count(1, MAX_LENGTH)],
            /// positions of the gaps, ascending
            breaks: IndexPattern [LIST],
            /// the gap at each break, or one gap for all of them
            gaps: IndexPattern [LIST],
        },
        /// LAPLACIAN: a stencil of 2·dimensions·length + 1 points (lavin2020 §3.3.3)
        Laplacian = "laplacian" {
            /// dimensions of the grid
            dimensions: u64 [count(1, 62)],
            /// points on each branch of the stencil
            length: u64 [count(1, MAX_LENGTH)],
            /// edge length of the grid
            size: u64 [count(1, MAX_INDEX)],
        },
        /// a list of indices
        Custom = "custom" main "indices" {
            /// the pattern
            indices: IndexPattern [LIST],
        },
        /// a list of indices in a file
        File = "file" main "path" {
            /// path of a .npy file, a text file or a file of raw 64-bit words, also as .gz; relative to the recipe's
            /// folder
            path: InFile,
            /// name of the column, for a table with a header line
            column: Option<Elsewhere> = unset,
        },
        /// a pattern of an application (lavin2020 Table 5)
        App = "app" main "name" {
            /// name in lavin2020's Table 5
            name: &'static Application,
        },
    }
}

/// The indices of a file; the plan puts them into the parameters next to the file's path.
#[derive(Clone, Debug, PartialEq)]
pub struct InFile(IndexPattern);

impl Described for InFile {
    const KIND: Kind = Kind::Text;
}

impl Field for InFile {
    fn read(params: &Params, key: &str, row: &Param) -> Result<InFile, Refusal> {
        let beside = key.trim_end_matches(row.name).to_owned() + "indices";
        Field::read(params, &beside, row).map(InFile)
    }
}

impl Described for &'static Application {
    const KIND: Kind = Kind::Word(&applications::NAMES);
}

impl Field for &'static Application {
    fn read(params: &Params, key: &str, _row: &Param) -> Result<Self, Refusal> {
        let name = params.text(key).ok_or_else(|| Refusal::Missing { key: key.to_owned() })?;
        let none = || format!("`{name}` is not a pattern of lavin2020's Table 5, such as PENNANT-G0");
        applications::find(name).ok_or_else(|| Refusal::invalid(key, none()))
    }
}

impl Source {
    /// The variants as inline parameters, next to the other parameters.
    pub const INLINE: Kind = match Source::KIND {
        Kind::Choice(variants) => Kind::Inline(variants),
        other => other,
    };

    /// The indices of the pattern, in elements.
    pub fn indices(&self) -> Result<IndexPattern, PatternError> {
        match self {
            Source::Uniform { length, stride } => generators::uniform(*length, *stride),
            Source::Ms1 { length, breaks, gaps } => generators::ms1(*length, breaks, gaps),
            Source::Laplacian { dimensions, length, size } => {
                generators::laplacian(*dimensions, *length, *size)
            }
            Source::Custom { indices } | Source::File { path: InFile(indices), .. } => {
                generators::custom(indices.clone())
            }
            Source::App { name } => Ok(name.indices.to_vec().into()),
        }
    }

    /// The delta if the recipe leaves it open.
    pub fn default_delta(&self) -> u64 {
        match self {
            Source::App { name } => name.delta,
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
