//! pattern: Spatter's gathers and scatters with a short index pattern that moves by a
//! delta (lavin2020 §3.1).
//!
//! The effective and the system bytes are Spatter's: 8 for each entry of the pattern
//! and each use of it (for gs on both sides); the index buffers stay in registers or
//! the first cache and are not counted (lavin2020 §3.3).

pub mod cpu;
pub mod cuda;
mod oracle;
mod schema;
mod source;
pub mod spec;

pub use source::Source;
pub use spec::Spec;

use std::collections::HashSet;

use super::schema::Param;
use super::{Access, Concurrency, Direction, Order, Pass, Primitive, Refusal, Walk, Work};
use crate::backend::Fault;
use crate::patterns::class::classify;
use crate::plan::{Params, Value};
use spec::{Kernel, Method};

/// The primitive `pattern`.
pub struct Pattern;

impl Primitive for Pattern {
    fn name(&self) -> &'static str {
        "pattern"
    }

    fn summary(&self) -> &'static str {
        "gathers and scatters by a short index pattern that moves by a delta (Spatter, lavin2020)"
    }

    fn params(&self) -> &'static [Param] {
        schema::PARAMS
    }

    fn methods(&self) -> &'static [&'static str] {
        &["direct", "read-only"]
    }

    fn longest_carried(&self) -> Option<u64> {
        Some(schema::LONGEST_LIST as u64)
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        let spec = Spec::from_params(params, 0)?;
        let bytes = spec.bytes_each() * spec.count;
        let words = spec.sparse_words() + spec.source_words() + spec.dense_words();
        Ok(Work {
            passes: vec![Pass { times: 1, accesses: accesses(&spec) }],
            elements: spec.length() * spec.count,
            effective_bytes: bytes,
            system_bytes: bytes,
            footprint: 8 * words + spec.index * indices(&spec),
            scratch: scratch(&spec),
        })
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        oracle::check(&Spec::from_params(params, seed).map_err(|e| e.to_string())?, output)
    }

    /// A scatter that visits a word twice hides a missing store; one that moves on shows
    /// at least where its last iterations are missing.
    fn shows(&self, params: &Params, fault: Fault) -> bool {
        let Ok(spec) = Spec::from_params(params, 0) else { return false };
        if !spec.kernel.scatters() || fault == Fault::OffByOne || writes_once(&spec) {
            return true;
        }
        let (_, delta) = spec.written();
        delta > 0 && fault != Fault::SkippedStore
    }

    fn walks(
        &self,
        params: &Params,
        seed: u64,
        most: u64,
        _stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        let spec = Spec::from_params(params, seed).map_err(|e| e.to_string())?;
        let walk = |side, pattern: &[u64], delta| Walk {
            side,
            element: 8,
            indices: uses(pattern, delta, spec.count).take(most as usize).collect(),
            total: spec.length() * spec.count,
        };
        Ok(match spec.kernel {
            Kernel::Gs => vec![
                walk("p_g", &spec.gather, spec.delta_gather),
                walk("p_s", &spec.scatter, spec.delta_scatter),
            ],
            _ => vec![walk("p", &spec.applied(), spec.delta)],
        })
    }

    /// Class (lavin2020 §2; of gs the writing side's pattern), length, delta and count.
    fn annotations(&self, params: &Params) -> Vec<(&'static str, Value)> {
        let Ok(spec) = Spec::from_params(params, 0) else {
            return Vec::new();
        };
        let (pattern, delta) = spec.written();
        vec![
            ("class", Value::Text(classify(&pattern).to_string())),
            ("pattern-length", Value::Int(spec.length())),
            ("pattern-delta", Value::Int(delta)),
            ("pattern-count", Value::Int(spec.count)),
        ]
    }
}

/// The indices of all uses of a pattern, one use after another.
fn uses(pattern: &[u64], delta: u64, count: u64) -> impl Iterator<Item = u64> {
    (0..count).flat_map(move |i| pattern.iter().map(move |p| p + delta * i))
}

/// Whether no word of a scatter's destination is written twice: O(count · P).
fn writes_once(spec: &Spec) -> bool {
    let (pattern, delta) = spec.written();
    let mut seen = HashSet::new();
    (0..spec.count).all(|i| pattern.iter().all(|p| seen.insert(p + delta * i)))
}

/// Entries of all index buffers.
fn indices(spec: &Spec) -> u64 {
    [&spec.pattern, &spec.inner, &spec.gather, &spec.scatter].iter().map(|p| p.len() as u64).sum()
}

/// Most bytes of gathered words that a certificate keeps at a time, on any backend,
/// unless a single use is longer.
pub const KEPT: u64 = 256 << 20;

/// Most bytes of dense words that a scatter's certificate makes at a time, as [`KEPT`].
pub const MADE: u64 = 64 << 20;

/// Most words of the destination that two bitmaps describe at a time.
pub const MAPPED: u64 = 1 << 31;

/// What the certificate takes, on the backend where it takes most. A gather's keeps a
/// window of the gathered words. A scatter's has one bit for each word of the destination
/// and a window of the source, or two bits for each word of a part of the destination. A
/// sum needs no room.
fn scratch(spec: &Spec) -> u64 {
    let bits = |words: u64| words.div_ceil(64) * 8;
    match (spec.kernel, spec.method) {
        (Kernel::Gather | Kernel::Multigather, Method::ReadOnly) => 0,
        (Kernel::Gather | Kernel::Multigather, Method::Direct) => window(spec, KEPT),
        (Kernel::Scatter | Kernel::Multiscatter | Kernel::Gs, _) => {
            let made = if spec.kernel == Kernel::Gs { 0 } else { window(spec, MADE) };
            let words = spec.sparse_words();
            (bits(words) + made).max(2 * bits(words.min(MAPPED)))
        }
    }
}

/// Bytes of the dense words of consecutive uses: of all, or of as many as fit in `most`,
/// at least one.
fn window(spec: &Spec, most: u64) -> u64 {
    let one = 8 * spec.length();
    one * (most / one).clamp(1, spec.count)
}

fn accesses(spec: &Spec) -> Vec<Access> {
    let sparse = |array, direction, pattern: &[u64], delta, words| {
        let order = Order::Pattern { indices: pattern.to_vec(), delta };
        access(spec, array, direction, words, order)
    };
    let dense = |direction| access(spec, "D", direction, spec.dense_words(), Order::Sequential);
    let sparse_side = |direction| sparse("S", direction, &spec.applied(), spec.delta, spec.sparse_words());
    match spec.kernel {
        Kernel::Gather | Kernel::Multigather if spec.method == Method::ReadOnly => {
            vec![sparse_side(Direction::Read)]
        }
        Kernel::Gather | Kernel::Multigather => vec![sparse_side(Direction::Read), dense(Direction::Write)],
        Kernel::Scatter | Kernel::Multiscatter => vec![dense(Direction::Read), sparse_side(Direction::Write)],
        Kernel::Gs => vec![
            sparse("S_g", Direction::Read, &spec.gather, spec.delta_gather, spec.source_words()),
            sparse("S_s", Direction::Write, &spec.scatter, spec.delta_scatter, spec.sparse_words()),
        ],
    }
}

fn access(spec: &Spec, array: &str, direction: Direction, words: u64, order: Order) -> Access {
    Access {
        array: array.to_owned(),
        direction,
        element: 8,
        count: spec.length() * spec.count,
        footprint: 8 * words,
        order,
        concurrency: Concurrency::Independent,
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
