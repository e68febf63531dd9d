//! pattern: Spatter's gathers and scatters with a short index pattern that moves by a
//! delta (lavin2020 §3.1).
//!
//! The effective and the system bytes are Spatter's: 8 for each entry of the pattern
//! and each use of it (for gs on both sides); the index buffers stay in registers or
//! the first cache and are not counted (lavin2020 §3.3); only of `method: global` the system
//! bytes have the stores, too. Where the uses start is computed
//! as δ·i; with a list of deltas or shuffled visits it is read from an array, which is
//! declared as an access and is not counted either.

mod choice;
pub mod cpu;
pub mod cuda;
mod oracle;
mod schema;
mod sizes;
mod source;
pub mod spec;
mod starts;
mod walk;

pub use schema::LONGEST_LIST;
pub use source::Source;
pub use spec::Spec;
pub use starts::Starts;

use std::collections::HashSet;

use super::{Definition, Primitive, Problem, Stored};
use crate::case::tuning::Tuning;
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Fault, Params, Pass, Refusal, Value, Walk, Work};
use crate::inputs::class::classify;
use spec::{Kernel, Method};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "pattern",
        "gathers and scatters by a short index pattern that moves by a delta (Spatter, lavin2020)",
        schema::PARAMS,
    )
    .with_walks()
    .carrying(schema::LONGEST_LIST as u64)];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &choice::OFFERED).map(drop)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let bytes = self.bytes_each() * self.count;
        let words = self.sparse_words() + self.source_words() + self.dense_words();
        Work {
            passes: vec![Pass::once(accesses(self))],
            elements: self.length() * self.count,
            effective_bytes: bytes,
            // Every store leaves the multiprocessor.
            system_bytes: if self.global { 2 * bytes } else { bytes },
            footprint: 8 * words + self.index * indices(self) + self.bases_bytes(),
            scratch: scratch(self),
        }
    }

    fn blocks(&self) -> Option<u64> {
        choice::blocks(self).filter(|_| self.backend.is_cuda())
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    /// A scatter that visits a word twice hides a missing store; one that moves on shows
    /// at least where its last iterations are missing.
    fn shows(&self, fault: Fault) -> bool {
        if self.method == Method::ReadOnly && self.based() && fault == Fault::WrongChunk {
            // The neighbour's uses may read the same words.
            return !self.starts().deltas().contains(&0);
        }
        if !self.kernel.scatters() || fault == Fault::OffByOne || writes_once(self) {
            return true;
        }
        !self.based() && self.starts().total > 0 && fault != Fault::SkippedStore
    }

    fn walks(&self, most: u64, _stored: Stored) -> Result<Vec<Walk>, String> {
        let walk = |side, pattern: &[u64], starts: &Starts| Walk {
            side,
            element: 8,
            indices: uses(pattern, starts, self.count).take(most as usize).collect(),
            total: self.length() * self.count,
        };
        Ok(match self.kernel {
            Kernel::Gs => vec![
                walk("p_g", &self.gather, &self.source_starts()),
                walk("p_s", &self.scatter, &self.starts()),
            ],
            _ => vec![walk("p", &self.applied(), &self.starts())],
        })
    }

    /// Class (lavin2020 §2; of gs the writing side's pattern), length, delta (unless it is a
    /// list) and count.
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        let (pattern, starts) = self.written();
        let delta = self.deltas.is_empty().then_some(("pattern-delta", Value::Int(starts.total)));
        let shape = [
            ("class", Value::Text(classify(&pattern).to_string())),
            ("pattern-length", Value::Int(self.length())),
        ];
        shape.into_iter().chain(delta).chain([("pattern-count", Value::Int(self.count))]).collect()
    }
}

/// The indices of all uses of a pattern, one use after another.
fn uses(pattern: &[u64], starts: &Starts, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| starts.at(i)).flat_map(|start| pattern.iter().map(move |p| p + start))
}

/// Whether no word of a scatter's destination is written twice: O(count · P).
fn writes_once(spec: &Spec) -> bool {
    let (pattern, starts) = spec.written();
    let mut seen = HashSet::new();
    uses(&pattern, &starts, spec.count).all(|word| seen.insert(word))
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
/// and a window of the source, or two bits for each word of a part of the destination; of gs
/// and where uses start anywhere, two for all of them. A sum needs no room.
fn scratch(spec: &Spec) -> u64 {
    let bits = |words: u64| words.div_ceil(64) * 8;
    match (spec.kernel, spec.method) {
        (Kernel::Gather | Kernel::Multigather, Method::ReadOnly) => 0,
        (Kernel::Gather | Kernel::Multigather, Method::Direct) => {
            let stored = if spec.global && spec.based() { 2 * bits(spec.dense_words()) } else { 0 };
            window(spec, KEPT).max(stored)
        }
        (Kernel::Scatter | Kernel::Multiscatter | Kernel::Gs, _) => {
            let made = if spec.kernel == Kernel::Gs { 0 } else { window(spec, MADE) };
            let words = spec.sparse_words();
            if spec.explained() {
                return 2 * bits(words) + made;
            }
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
    let order = |pattern: &[u64], starts: Starts| match spec.based() {
        false => Order::Pattern { indices: pattern.to_vec(), delta: starts.total },
        true => Order::Visits { indices: pattern.to_vec(), deltas: starts.deltas(), shuffled: spec.shuffled },
    };
    let sparse = |array, direction, pattern: &[u64], starts, words| {
        access(spec, array, direction, words, order(pattern, starts))
    };
    let dense = |direction| access(spec, "D", direction, spec.dense_words(), Order::Sequential);
    let sparse_side = |direction| sparse("S", direction, &spec.applied(), spec.starts(), spec.sparse_words());
    let mut accesses = match spec.kernel {
        Kernel::Gather | Kernel::Multigather if spec.method == Method::ReadOnly => {
            vec![sparse_side(Direction::Read)]
        }
        Kernel::Gather | Kernel::Multigather => vec![sparse_side(Direction::Read), dense(Direction::Write)],
        Kernel::Scatter | Kernel::Multiscatter => vec![dense(Direction::Read), sparse_side(Direction::Write)],
        Kernel::Gs => vec![
            sparse("S_g", Direction::Read, &spec.gather, spec.source_starts(), spec.source_words()),
            sparse("S_s", Direction::Write, &spec.scatter, spec.starts(), spec.sparse_words()),
        ],
    };
    accesses.extend(spec.based().then(|| starts(spec)));
    accesses
}

/// The arrays of starts, one after another.
fn starts(spec: &Spec) -> Access {
    let (element, footprint) = (spec.base_bytes(), spec.bases_bytes());
    let count = footprint / element;
    Access { element, count, footprint, ..access(spec, "starts", Direction::Read, 0, Order::Sequential) }
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
