//! pattern: Spatter's gathers and scatters with a short index pattern that advances by a delta (lavin2020
//! §3.1).
//!
//! The effective and the system bytes are Spatter's: 8 for each entry of the pattern and each use of it (for gs
//! on both sides). The index buffers stay in registers or the L1 cache and are not counted (lavin2020 §3.3).
//! Only for `method: global` do the system bytes include the stores. Uses start at δ·i; with a list of deltas
//! or shuffled visits the starts are read from an array, which is declared as an access and is not counted
//! either.

mod choice;
pub mod cpu;
pub mod cuda;
mod oracle;
mod sizes;
mod source;
pub mod spec;
mod starts;
mod walk;

pub use source::{LONGEST_LIST, LONGEST_PATTERN, Source};
pub use spec::Spec;
pub use starts::Starts;

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::tuning::Tuning;
use crate::case::work::{Access, Order, Pass, Work};
use crate::case::{Fault, IndexPattern, Params, Refusal, Value, Walk};
use crate::inputs::applications::classify;
use spec::{Given, Kernel, Method};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "pattern",
        "gathers and scatters by a short index pattern that moves by a delta (Spatter, lavin2020)",
        Given::TABLE,
    )
    .with_walks()
    .with_inline_index_limit(LONGEST_PATTERN as u64)];

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
        Work::of(self.length() * self.count, bytes, [Pass::once(accesses(self))])
            // Every store leaves the multiprocessor.
            .system(if self.global() { 2 * bytes } else { bytes })
            .footprint(8 * words + self.index * indices(self) + self.bases_bytes())
            .scratch(scratch(self))
    }

    fn blocks(&self) -> Option<u64> {
        choice::blocks(self).filter(|_| self.backend.is_cuda())
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    fn examined(&self) -> u64 {
        self.bytes_each().saturating_mul(self.count)
    }

    fn is_ordered(&self) -> bool {
        let moved = |starts: Starts| (0..self.count).any(|i| starts.at(i) != starts.of(i));
        self.shuffled && self.sides().into_iter().any(|(_, starts)| moved(starts))
    }

    fn unjudged(&self, fault: Fault) -> Option<&'static str> {
        let gathers = self.backend.is_cuda() && !self.kernel.scatters() && self.method != Method::ReadOnly;
        if gathers && Fault::ELEMENTS.contains(&fault) {
            let deltas = self.starts().deltas();
            let one_word_on = deltas.contains(&1) && (self.wrap == 1 || deltas.len() > 1);
            let hidden = fault != Fault::OffByOne || one_word_on;
            return hidden.then_some("a word of D may hold what any visit with its tile has gathered");
        }
        if gathers && fault == Fault::LostPart && self.count < self.wrap {
            return Some("the part may lie in tiles of D that no use reaches");
        }
        match self.kernel.scatters() {
            _ if self.leaves_output() => None,
            true => {
                Some("a destination larger than the bitmaps is judged part by part, in executions of its own")
            }
            false => Some("what a gather stores to the shared memory of its blocks is gone when they end"),
        }
    }

    /// The result of a read-only pattern is a sum; the oracle has the words of each use.
    fn uncertified(&self, fault: Fault) -> Option<&'static str> {
        let repeats = self.starts().deltas().contains(&0);
        match fault {
            _ if self.method != Method::ReadOnly => None,
            Fault::LostPart => {
                Some("the result is a sum of all words, of which no part can be left as it was")
            }
            Fault::WrongChunk if repeats => Some(
                "uses that start at one place read the same words, so that their sum does not tell them apart",
            ),
            _ => None,
        }
    }

    fn walks(&self, most: u64, _stored: IndexLookup) -> Result<Vec<Walk>, String> {
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

    /// Class (lavin2020 §2; for gs that of the writing side's pattern), length, delta (unless it is a list) and
    /// count.
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        let delta = self.deltas.is_empty().then(|| ("pattern-delta", Value::Int(self.starts().total)));
        let shape = [
            ("class", Value::Text(classify(&self.applied()).to_string())),
            ("pattern-length", Value::Int(self.length())),
        ];
        shape.into_iter().chain(delta).chain([("pattern-count", Value::Int(self.count))]).collect()
    }
}

impl Spec {
    /// True if a timed execution leaves what can be judged. On GPUs, what a gather stores to the shared memory of its blocks is
    /// gone when they end, and a destination larger than the bitmaps is judged part by part in executions of its own.
    pub fn leaves_output(&self) -> bool {
        match (self.backend.is_cuda(), self.kernel.scatters()) {
            (true, true) => self.mapped_whole(),
            (true, false) => self.method != Method::Direct,
            (false, _) => true,
        }
    }
}

/// The indices of all uses of a pattern, one use after another.
fn uses(pattern: &[u64], starts: &Starts, count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|i| starts.at(i)).flat_map(|start| pattern.iter().map(move |p| p + start))
}

/// Entries of all index buffers.
fn indices(spec: &Spec) -> u64 {
    [&spec.pattern, &spec.inner, &spec.gather, &spec.scatter].iter().map(|p| p.len() as u64).sum()
}

/// Maximum bytes of gathered words that a certificate keeps at a time, on any backend, unless a single use is
/// longer.
pub const KEPT: u64 = 256 << 20;

/// Maximum bytes of dense words that a scatter's certificate generates at a time, with the same exception as
/// [`KEPT`].
pub const MADE: u64 = 64 << 20;

/// Maximum number of words of the destination that two bitmaps describe at a time.
pub const MAPPED: u64 = 1 << 31;

/// Scratch memory of the certificate, on the backend that needs most. A gather's certificate keeps a window of
/// the gathered words. A scatter's has one bit per word of the destination and a window of the source, or two
/// bits per word of a part of the destination; for gs, and if uses start anywhere, two bits for all words. A
/// sum needs no scratch memory.
fn scratch(spec: &Spec) -> u64 {
    let bits = |words: u64| words.div_ceil(64) * 8;
    let words = spec.sparse_words();
    if spec.kernel.scatters() {
        let made = if spec.kernel == Kernel::Gs { 0 } else { window(spec, MADE) };
        return match spec.explained() {
            true => 2 * bits(words) + made,
            false => (bits(words) + made).max(2 * bits(words.min(MAPPED))),
        };
    }
    match spec.method {
        Method::ReadOnly => 0,
        Method::Global if spec.based() => window(spec, KEPT).max(2 * bits(spec.dense_words())),
        _ => window(spec, KEPT),
    }
}

/// Bytes of the dense words of consecutive uses: of all uses, or of as many as fit in `most`, at least one.
fn window(spec: &Spec, most: u64) -> u64 {
    let one = 8 * spec.length();
    one * (most / one).clamp(1, spec.count)
}

fn accesses(spec: &Spec) -> Vec<Access> {
    let uses = spec.length() * spec.count;
    let sparse = |access: Access, indices: IndexPattern, starts: Starts, words: u64| {
        let order = match spec.based() {
            false => Order::Pattern { indices, delta: starts.total },
            true => Order::Visits { indices, deltas: starts.deltas(), shuffled: spec.shuffled },
        };
        access.within(8 * words).ordered(order)
    };
    let applied = |access| sparse(access, spec.applied(), spec.starts(), spec.sparse_words());
    let gathered = |access| sparse(access, spec.gather.clone(), spec.source_starts(), spec.source_words());
    let dense = |access: Access| access.within(8 * spec.dense_words());
    let [read, write] = [Access::reads, Access::writes].map(|of| move |array| of(array, 8, uses));
    let [first, second] = match spec.kernel {
        Kernel::Gather | Kernel::Multigather => [applied(read("S")), dense(write("D"))],
        Kernel::Scatter | Kernel::Multiscatter => [dense(read("D")), applied(write("S"))],
        Kernel::Gs => [gathered(read("S_g")), applied(write("S_s"))],
    };
    let second = (spec.method != Method::ReadOnly).then_some(second);
    // The arrays of starts, one after another.
    let starts = || Access::reads("starts", spec.base_bytes(), spec.bases_bytes() / spec.base_bytes());
    [first].into_iter().chain(second).chain(spec.based().then(starts)).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
