//! The typed parameters of a pattern case, with the index vectors generated and the count resolved.

use super::MAPPED;
use super::source::{DEFAULT_DELTA, LONGEST_LIST, Source};
use super::starts::Starts;
use crate::case::params::{self, MAX_BYTES};
use crate::case::schema::{Kind, Param};
use crate::case::table::{Described, Field, bytes, choice, count, parameters, sizes, words};
use crate::case::tuning::{DEFAULT_BLOCK, Tuning};
use crate::case::{Backend, IndexPattern, Params, Refusal, Value};
use crate::inputs::Permutation;
use crate::inputs::applications::Use;
use crate::primitives::Elsewhere;
use crate::primitives::Range;

/// The contents of untouched words of a destination.
pub const POISON: u64 = 0xDEAD_BEEF_DEAD_BEEF;

/// The maximum of all indices, deltas and counts.
pub(super) const MAX_INDEX: u64 = MAX_BYTES / 8;

words! {
    /// Spatter's kernels. i runs over the count, j over the P entries of the pattern; S is
    /// sparse, D dense, p the pattern, δ the delta. Data are 8-byte words.
    pub enum Kernel {
        /// `D[j + P·(i mod wrap)] = S[p[j] + δ·i]`
        Gather = "gather",
        /// `S[p[j] + δ·i] = D[j + P·(i mod wrap)]`
        Scatter = "scatter",
        /// `S_s[p_s[j] + δ_s·i] = S_g[p_g[j] + δ_g·i]`
        Gs = "gs",
        /// Gather with `p[p_g[j]]` for `p[j]`; P is the length of p_g
        Multigather = "multigather",
        /// Scatter with `p[p_s[j]]` for `p[j]`; P is the length of p_s
        Multiscatter = "multiscatter",
    }
}

impl Kernel {
    /// Whether the kernel writes the sparse array.
    pub fn scatters(self) -> bool {
        matches!(self, Kernel::Scatter | Kernel::Gs | Kernel::Multiscatter)
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// every store in the definition is executed
        Direct = "direct",
        /// gathers fold what they read into a register and store nothing
        ReadOnly = "read-only",
        /// gathers on GPUs: all blocks store to one dense array, in global memory
        Global = "global",
        /// scatter, gs and multiscatter on GPUs: every store is an atomic exchange
        Atomic = "atomic",
    }
}

words! {
    /// In which order the uses are visited.
    pub enum Visits {
        Sequential = "sequential",
        Random = "random",
    }
}

words! {
    /// The fence at the end of each thread's execution.
    pub enum Fence {
        None = "none",
        Release = "release",
    }
}

words! {
    /// A delta that follows from the pattern.
    pub enum Implied {
        /// The application's, or the generator's.
        Default = "default",
        /// The least one with which no element is used twice.
        NoReuse = "no-reuse",
    }
}

/// The delta as specified by a recipe.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    By(u64),
    /// A list of deltas that is repeated.
    List(Vec<u64>),
    Implied(Implied),
}

impl Described for Delta {
    const KIND: Kind = match Implied::KIND {
        Kind::Word(words) => Kind::CountOr { min: 0, max: MAX_INDEX, words, list: LONGEST_LIST },
        other => other,
    };
}

impl Field for Delta {
    fn read(params: &Params, key: &str, row: &Param) -> Result<Delta, Refusal> {
        match params.get(key) {
            Some(Value::Int(_)) => u64::read(params, key, row).map(Delta::By),
            Some(Value::Indices(list)) => Ok(Delta::List(list.to_vec())),
            _ => Implied::read(params, key, row).map(Delta::Implied),
        }
    }
}

parameters! {
    /// The parameters of a case as a recipe gives them.
    #[derive(Debug)]
    pub struct Given {
        /// Spatter's kernel; unset: scatter for an application's pattern with the letter S, gather for all others
        kernel: Option<Kernel> = unset,
        /// the pattern; for multigather and multiscatter the outer one
        source: Option<Source> [Source::INLINE] = unset,
        /// gs: the pattern of the reads; multigather: the inner pattern
        gather: Option<Source> = unset,
        /// gs: the pattern of the writes; multiscatter: the inner pattern
        scatter: Option<Source> = unset,
        /// elements from one use of the pattern to the next; default: the application's own, 1 for laplacian, 8 for all
        /// others; no-reuse: length·stride for uniform, largest index + 1 for all others; a list is repeated as needed,
        /// and use i starts at the sum of the first i deltas
        delta: Delta = "default",
        /// gs: delta of the reads; unset: 8
        delta_gather as "delta-gather": Option<u64> [count(0, MAX_INDEX)] = unset,
        /// gs: delta of the writes; unset: 8
        delta_scatter as "delta-scatter": Option<u64> [count(0, MAX_INDEX)] = unset,
        /// number of tiles in the dense array: each use of the pattern takes the next tile, and the first follows the
        /// last
        wrap: u64 [count(1, MAX_INDEX)] = "1",
        /// number of uses of the pattern
        count: Option<u64> [count(1, MAX_INDEX)] = unset,
        /// size of the sparse array; the pattern is used as often as fits
        footprint: Option<u64> [bytes(8, MAX_BYTES)] = unset,
        /// bytes to move; the pattern is used as often as they allow
        traffic: Option<u64> [bytes(8, MAX_BYTES)] = unset,
        /// size of an index of the pattern
        index: u64 [sizes(&[4, 8])] = "4B",
        /// order of the uses; random: a permutation drawn from the seed; unset: sequential
        visits: Option<Visits> = unset,
        /// cpu: the fence with which each thread ends an execution, inside the timed region; unset: none
        fence: Option<Fence> = unset,
        /// a name for charts, without effect on what is measured
        label: Option<Elsewhere> = unset,
        /// how it is computed
        method: Method = "direct",
    }
}

/// A pattern case, typed.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    pub kernel: Kernel,
    pub method: Method,
    /// p; for multigather and multiscatter the outer pattern; empty for gs.
    pub pattern: IndexPattern,
    /// The inner pattern of multigather and multiscatter, else empty.
    pub inner: IndexPattern,
    /// p_g of gs, else empty.
    pub gather: IndexPattern,
    /// p_s of gs, else empty.
    pub scatter: IndexPattern,
    /// δ; unused by gs, 0 with a list.
    pub delta: u64,
    /// A list of deltas that is repeated, or empty.
    pub deltas: Vec<u64>,
    /// δ_g of gs.
    pub delta_gather: u64,
    /// δ_s of gs.
    pub delta_scatter: u64,
    /// Number of gathers or scatters, at least 1.
    pub count: u64,
    /// Number of dense tiles, at least 1.
    pub wrap: u64,
    /// Bytes of an index: 4 or 8.
    pub index: u64,
    /// Whether the uses are visited in an order drawn from the seed.
    pub shuffled: bool,
    /// Whether each thread ends an execution with a release fence.
    pub fenced: bool,
    pub seed: u64,
    pub backend: Backend,
    pub tuning: Tuning,
}

impl Spec {
    /// Most threads of a block of a GPU.
    pub fn block(&self) -> u32 {
        self.tuning.block.unwrap_or(DEFAULT_BLOCK)
    }

    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let given = Given::of_table(params, seed)?;
        let kernel = given.kernel.unwrap_or_else(|| implied_kernel(given.source.as_ref()));
        let gs = kernel == Kernel::Gs;
        let pattern = entries("source", given.source.as_ref(), !gs)?;
        let reads = entries("gather", given.gather.as_ref(), gs || kernel == Kernel::Multigather)?;
        let writes = entries("scatter", given.scatter.as_ref(), gs || kernel == Kernel::Multiscatter)?;
        let (delta, deltas) = deltas(&given, gs, pattern.largest())?;
        let none = IndexPattern::default;
        // For the multi-kernels, one of `reads` and `writes` is empty.
        let (gather, scatter, inner) = if gs {
            (reads, writes, none())
        } else {
            (none(), none(), if reads.is_empty() { writes } else { reads })
        };
        let mut spec = Spec {
            kernel,
            method: given.method,
            pattern,
            inner,
            gather,
            scatter,
            delta,
            deltas,
            delta_gather: given.delta_gather.unwrap_or(DEFAULT_DELTA),
            delta_scatter: given.delta_scatter.unwrap_or(DEFAULT_DELTA),
            count: 1,
            wrap: given.wrap,
            index: given.index,
            shuffled: given.visits == Some(Visits::Random),
            fenced: given.fence == Some(Fence::Release),
            seed,
            backend: given.backend,
            tuning: given.tuning,
        };
        spec.check_indices()?;
        spec.count = spec.resolve_count(&given)?;
        spec.check_sizes()?;
        spec.check_method(params)?;
        Ok(spec)
    }

    /// Whether every store to the sparse array is an atomic exchange, as with Spatter's
    /// `--atomic-writes`.
    pub fn atomic(&self) -> bool {
        self.method == Method::Atomic
    }

    /// Whether all blocks of a gather store to one dense array in a GPU's global memory, instead of each to its
    /// own in shared memory.
    pub fn global(&self) -> bool {
        self.method == Method::Global
    }

    /// P: entries that one gather or scatter handles.
    pub fn length(&self) -> u64 {
        let entries = match self.kernel {
            Kernel::Gather | Kernel::Scatter => &self.pattern,
            Kernel::Gs => &self.gather,
            Kernel::Multigather | Kernel::Multiscatter => &self.inner,
        };
        entries.len() as u64
    }

    /// The pattern as applied to the sparse array: p, or `p[inner[j]]`; for gs p_s, the pattern of the writing
    /// side.
    pub fn applied(&self) -> IndexPattern {
        match self.kernel {
            Kernel::Gather | Kernel::Scatter => self.pattern.clone(),
            Kernel::Gs => self.scatter.clone(),
            Kernel::Multigather | Kernel::Multiscatter => {
                let entries = self.inner.iter().filter_map(|&j| self.pattern.get(j as usize).copied());
                entries.collect::<Vec<u64>>().into()
            }
        }
    }

    /// Where the uses start in the sparse array; for gs in the destination.
    pub fn starts(&self) -> Starts {
        match self.kernel {
            Kernel::Gs => self.visited(&[self.delta_scatter]),
            _ if self.deltas.is_empty() => self.visited(&[self.delta]),
            _ => self.visited(&self.deltas),
        }
    }

    /// Where the uses start in the source of gs.
    pub fn source_starts(&self) -> Starts {
        self.visited(&[self.delta_gather])
    }

    fn visited(&self, deltas: &[u64]) -> Starts {
        let order = if self.shuffled { Permutation::new(self.count, self.seed) } else { None };
        Starts::new(deltas, order)
    }

    /// Ranges of visits, each executed alone to prove in which order uses are visited; none for uses in sequence.
    /// Half of the visits, the square root of their number, and a single one, from where the seed says.
    pub fn probes(&self) -> Vec<Range> {
        let n = if self.shuffled { self.count } else { 0 };
        let lengths =
            [n / 2, 1 << (n.max(1).ilog2() / 2), 1].into_iter().filter(|length| *length > 0 && *length < n);
        lengths.map(|count| Range::probe(self.seed, count, n)).collect()
    }

    /// Whether the starts of uses are read from an array instead of being computed as δ·i.
    pub fn based(&self) -> bool {
        self.shuffled || !self.deltas.is_empty()
    }

    /// Whether the bitmaps of a scatter's certificate on a GPU describe its whole destination at once.
    pub fn mapped_whole(&self) -> bool {
        self.based() || self.sparse_words() <= MAPPED
    }

    /// Whether the certificate on CPUs checks each writer for its word, because a word of the destination does
    /// not identify its writer.
    pub fn explained(&self) -> bool {
        self.based() || self.kernel == Kernel::Gs
    }

    /// Bytes of one gather or scatter as Spatter counts them: 8·P, for gs on both sides.
    pub fn bytes_each(&self) -> u64 {
        let sides = if self.kernel == Kernel::Gs { 2 } else { 1 };
        8 * sides * self.length()
    }

    fn check_indices(&self) -> Result<(), Refusal> {
        if self.kernel == Kernel::Gs && self.gather.len() != self.scatter.len() {
            let (reads, writes) = (self.gather.len(), self.scatter.len());
            let message = format!("gs needs patterns of one length, not {reads} and {writes}");
            return Err(Refusal::invalid("scatter", message));
        }
        let (last, outer) = (self.inner.largest(), self.pattern.len());
        if last >= outer as u64 && !self.inner.is_empty() {
            let key = if self.kernel == Kernel::Multigather { "gather" } else { "scatter" };
            let message = format!("{last} is outside the outer pattern of {outer} entries");
            return Err(Refusal::invalid(key, message));
        }
        let all = [&self.pattern, &self.inner, &self.gather, &self.scatter];
        if self.index == 4 && all.iter().any(|p| p.largest() > u64::from(u32::MAX)) {
            return Err(Refusal::invalid("index", "4 bytes cannot hold the largest index"));
        }
        Ok(())
    }

    fn check_method(&self, params: &Params) -> Result<(), Refusal> {
        let scatters = self.kernel.scatters();
        let elsewhere = |backend: &str| params.text("backend").is_some_and(|here| here != backend);
        let refused = match self.method {
            Method::ReadOnly if scatters => "read-only does not apply to a scatter",
            _ if scatters && params::asks_for_avx2(params) => return Err(params::avx2_cannot_scatter()),
            Method::Atomic if !scatters => "atomic does not apply to a gather: its stores never conflict",
            Method::Atomic if elsewhere("cuda") => "atomic exchanges are for GPUs",
            Method::Global if scatters => "global applies to gathers only",
            Method::Global if elsewhere("cuda") => "global requires a GPU",
            Method::Global if self.wrap > u64::from(u32::MAX) => "GPUs take a wrap below 2^32",
            _ if self.fenced && elsewhere("cpu") => "a fence orders the stores of CPU threads",
            _ => return Ok(()),
        };
        Err(Refusal::NotApplicable(refused.to_owned()))
    }
}

fn implied_kernel(source: Option<&Source>) -> Kernel {
    match source {
        Some(Source::App { name }) if name.kernel == Use::Scatter => Kernel::Scatter,
        _ => Kernel::Gather,
    }
}

/// The indices of a pattern that the kernel needs; empty for a pattern that it does not have.
fn entries(key: &str, source: Option<&Source>, wanted: bool) -> Result<IndexPattern, Refusal> {
    match source {
        Some(source) if wanted => source.indices().map_err(|error| Refusal::invalid(key, error.to_string())),
        Some(_) => Err(Refusal::invalid(key, "this kernel has no such pattern")),
        None if wanted => Err(Refusal::invalid(key, "this kernel needs this pattern")),
        None => Ok(IndexPattern::default()),
    }
}

/// δ and the list of deltas; a case has one of the two.
fn deltas(given: &Given, gs: bool, largest: u64) -> Result<(u64, Vec<u64>), Refusal> {
    let invalid = |message| Refusal::invalid("delta", message);
    let delta = match (&given.delta, &given.source) {
        (Delta::List(_), _) if gs => {
            return Err(invalid("gs takes delta-gather and delta-scatter, not a list of deltas"));
        }
        (Delta::List(list), _) => return Ok((0, list.clone())),
        (_, None) => 0,
        (Delta::By(delta), _) => *delta,
        (Delta::Implied(Implied::Default), Some(source)) => source.default_delta(),
        (Delta::Implied(Implied::NoReuse), Some(source)) => {
            source.no_reuse_delta(largest).ok_or_else(|| invalid("no-reuse is too large"))?
        }
    };
    Ok((delta, Vec::new()))
}

/// The largest index, or 0 if there is none.
pub fn largest(pattern: &[u64]) -> u64 {
    pattern.iter().copied().max().unwrap_or(0)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
pub(super) mod tests;
