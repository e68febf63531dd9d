//! What a pattern case computes: its parameters, typed, with the index vectors
//! generated and the count resolved.

use super::source::{DEFAULT_DELTA, Source};
use super::starts::Starts;
use crate::case::tuning::Tuning;
use crate::case::{Backend, Params, Refusal, reader};
use crate::inputs::Permutation;
use crate::inputs::applications::Use;

/// What untouched words of a destination hold.
pub const POISON: u64 = 0xDEAD_BEEF_DEAD_BEEF;

/// Spatter's kernels. i runs over the count, j over the P entries of the pattern; S is
/// sparse, D dense, p the pattern, δ the delta. Data are 8-byte words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// `D[j + P·(i mod wrap)] = S[p[j] + δ·i]`
    Gather,
    /// `S[p[j] + δ·i] = D[j + P·(i mod wrap)]`
    Scatter,
    /// `S_s[p_s[j] + δ_s·i] = S_g[p_g[j] + δ_g·i]`
    Gs,
    /// Gather with `p[p_g[j]]` for `p[j]`; P is the length of p_g
    Multigather,
    /// Scatter with `p[p_s[j]]` for `p[j]`; P is the length of p_s
    Multiscatter,
}

impl Kernel {
    pub(crate) const NAMES: [(&'static str, Kernel); 5] = [
        ("gather", Kernel::Gather),
        ("scatter", Kernel::Scatter),
        ("gs", Kernel::Gs),
        ("multigather", Kernel::Multigather),
        ("multiscatter", Kernel::Multiscatter),
    ];

    /// Its name, as in a recipe.
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(_, kernel)| *kernel == self).map_or("", |(name, _)| name)
    }

    /// Whether it writes the sparse array.
    pub fn scatters(self) -> bool {
        matches!(self, Kernel::Scatter | Kernel::Gs | Kernel::Multiscatter)
    }
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every store of the definition happens.
    Direct,
    /// Gathered values are folded into a register, as in Spatter's CUDA kernel.
    ReadOnly,
}

const METHODS: [(&str, &str); 4] =
    [("direct", "direct"), ("read-only", "read-only"), ("global", "global"), ("atomic", "atomic")];

/// A pattern case, typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    pub kernel: Kernel,
    pub method: Method,
    /// Whether every store to the sparse array is an atomic exchange, as with Spatter's
    /// `--atomic-writes`.
    pub atomic: bool,
    /// Whether a gather stores to one dense array in a GPU's global memory that all blocks
    /// share, instead of each to one of its own in shared memory.
    pub global: bool,
    /// p; for multigather and multiscatter the outer pattern; empty for gs.
    pub pattern: Vec<u64>,
    /// The inner pattern of multigather and multiscatter, else empty.
    pub inner: Vec<u64>,
    /// p_g of gs, else empty.
    pub gather: Vec<u64>,
    /// p_s of gs, else empty.
    pub scatter: Vec<u64>,
    /// δ; unused by gs, 0 with a list.
    pub delta: u64,
    /// A list of deltas that is repeated, or empty.
    pub deltas: Vec<u64>,
    /// δ_g of gs.
    pub delta_gather: u64,
    /// δ_s of gs.
    pub delta_scatter: u64,
    /// Gathers or scatters, at least 1.
    pub count: u64,
    /// Dense tiles, at least 1.
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
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let source = Source::from_params(params, "source")?;
        let method = reader::word_or(params, "method", &METHODS, "direct")?;
        let mut spec = Spec {
            kernel: reader::word_or(params, "kernel", &Kernel::NAMES, implied_kernel(source.as_ref()))?,
            method: if method == "read-only" { Method::ReadOnly } else { Method::Direct },
            atomic: method == "atomic",
            global: method == "global",
            pattern: Vec::new(),
            inner: Vec::new(),
            gather: Vec::new(),
            scatter: Vec::new(),
            delta: 0,
            deltas: Vec::new(),
            delta_gather: params.int("delta-gather").unwrap_or(DEFAULT_DELTA),
            delta_scatter: params.int("delta-scatter").unwrap_or(DEFAULT_DELTA),
            count: 1,
            wrap: params.int("wrap").unwrap_or(1),
            index: reader::one_of(params, "index", &[4, 8], 4)?,
            shuffled: reader::word_or(params, "visits", &[("sequential", false), ("random", true)], false)?,
            fenced: reader::word_or(params, "fence", &[("none", false), ("release", true)], false)?,
            seed,
            backend: Backend::of(params),
            tuning: Tuning::of(params)?,
        };
        spec.fill_patterns(params, source)?;
        spec.check_indices()?;
        spec.count = spec.resolve_count(params)?;
        spec.check_sizes()?;
        spec.check_method(params)?;
        Ok(spec)
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

    /// The pattern as it is applied to the sparse array: p, or `p[inner[j]]`; empty for gs.
    pub fn applied(&self) -> Vec<u64> {
        match self.kernel {
            Kernel::Multigather | Kernel::Multiscatter => {
                self.inner.iter().filter_map(|&j| self.pattern.get(j as usize).copied()).collect()
            }
            _ => self.pattern.clone(),
        }
    }

    /// The indices that address the sparse array, and where the uses start; of gs, those
    /// of the writing side.
    pub fn written(&self) -> (Vec<u64>, Starts) {
        match self.kernel {
            Kernel::Gs => (self.scatter.clone(), self.starts()),
            _ => (self.applied(), self.starts()),
        }
    }

    /// Where the uses start in the sparse array; of gs in the destination.
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

    /// Whether where a use starts is read from an array instead of being computed as δ·i.
    pub fn based(&self) -> bool {
        self.shuffled || !self.deltas.is_empty()
    }

    /// Whether the certificate on CPUs asks each writer for its word, because a word of the
    /// destination does not tell its writer.
    pub fn explained(&self) -> bool {
        self.based() || self.kernel == Kernel::Gs
    }

    /// Bytes of one gather or scatter in Spatter's count: 8·P, for gs both sides.
    pub fn bytes_each(&self) -> u64 {
        let sides = if self.kernel == Kernel::Gs { 2 } else { 1 };
        8 * sides * self.length()
    }

    fn fill_patterns(&mut self, params: &Params, source: Option<Source>) -> Result<(), Refusal> {
        let gather = Source::from_params(params, "gather")?;
        let scatter = Source::from_params(params, "scatter")?;
        let allowed = match self.kernel {
            Kernel::Gather | Kernel::Scatter => [true, false, false],
            Kernel::Gs => [false, true, true],
            Kernel::Multigather => [true, true, false],
            Kernel::Multiscatter => [true, false, true],
        };
        let given = [("source", &source), ("gather", &gather), ("scatter", &scatter)];
        for ((key, pattern), allowed) in given.into_iter().zip(allowed) {
            match (pattern.is_some(), allowed) {
                (true, false) => return Err(Refusal::invalid(key, "this kernel has no such pattern")),
                (false, true) => return Err(Refusal::invalid(key, "this kernel needs this pattern")),
                _ => {}
            }
        }
        if self.kernel == Kernel::Gs && params.indices("delta").is_some() {
            return Err(Refusal::invalid("delta", "gs moves by delta-gather and delta-scatter"));
        }
        if let Some(source) = &source {
            self.pattern = indices("source", source)?;
            match params.indices("delta") {
                Some(list) => self.deltas = list.to_vec(),
                None => self.delta = delta(params, source, largest(&self.pattern))?,
            }
        }
        for (key, side) in [("gather", gather), ("scatter", scatter)] {
            let Some(side) = side else { continue };
            let indices = indices(key, &side)?;
            match (self.kernel, key) {
                (Kernel::Gs, "gather") => self.gather = indices,
                (Kernel::Gs, _) => self.scatter = indices,
                _ => self.inner = indices,
            }
        }
        Ok(())
    }

    fn check_indices(&self) -> Result<(), Refusal> {
        if self.kernel == Kernel::Gs && self.gather.len() != self.scatter.len() {
            let message = format!(
                "gs needs patterns of one length, not {} and {}",
                self.gather.len(),
                self.scatter.len()
            );
            return Err(Refusal::invalid("scatter", message));
        }
        if largest(&self.inner) >= self.pattern.len() as u64 && !self.inner.is_empty() {
            let key = if self.kernel == Kernel::Multigather { "gather" } else { "scatter" };
            let message = format!(
                "{} is outside the outer pattern of {} entries",
                largest(&self.inner),
                self.pattern.len()
            );
            return Err(Refusal::invalid(key, message));
        }
        let all = [&self.pattern, &self.inner, &self.gather, &self.scatter];
        if self.index == 4 && all.iter().any(|p| largest(p) > u64::from(u32::MAX)) {
            return Err(Refusal::invalid("index", "4 bytes cannot hold the largest index"));
        }
        Ok(())
    }

    fn check_method(&self, params: &Params) -> Result<(), Refusal> {
        if self.kernel.scatters() && self.method == Method::ReadOnly {
            return Err(Refusal::NotApplicable("a scatter that stores nothing is none".to_owned()));
        }
        if self.kernel.scatters() && reader::asks_for_avx2(params) {
            return Err(reader::avx2_cannot_scatter());
        }
        let elsewhere = |backend: &str| params.text("backend").is_some_and(|here| here != backend);
        let refused = match () {
            () if self.atomic && !self.kernel.scatters() => {
                "a gather stores to no array that others store to"
            }
            () if self.atomic && elsewhere("cuda") => "atomic exchanges are for GPUs",
            () if self.global && self.kernel.scatters() => "global says where a gather stores",
            () if self.global && elsewhere("cuda") => {
                "only a GPU has a memory for all blocks and one for each"
            }
            () if self.global && self.wrap > u64::from(u32::MAX) => "GPUs take a wrap below 2^32",
            () if self.fenced && elsewhere("cpu") => "a fence orders the stores of CPU threads",
            () => return Ok(()),
        };
        Err(Refusal::NotApplicable(refused.to_owned()))
    }
}

fn implied_kernel(source: Option<&Source>) -> Kernel {
    match source {
        Some(Source::App(app)) if app.kernel == Use::Scatter => Kernel::Scatter,
        _ => Kernel::Gather,
    }
}

fn indices(key: &str, source: &Source) -> Result<Vec<u64>, Refusal> {
    source.indices().map_err(|e| Refusal::invalid(key, e.to_string()))
}

fn delta(params: &Params, source: &Source, largest: u64) -> Result<u64, Refusal> {
    if let Some(delta) = params.int("delta") {
        return Ok(delta);
    }
    match params.text("delta") {
        None | Some("default") => Ok(source.default_delta()),
        Some("no-reuse") => {
            source.no_reuse_delta(largest).ok_or_else(|| Refusal::invalid("delta", "no-reuse is too large"))
        }
        Some(other) => {
            Err(Refusal::invalid("delta", format!("`{other}` is neither a number, no-reuse nor default")))
        }
    }
}

/// The largest index; 0 without one.
pub(crate) fn largest(pattern: &[u64]) -> u64 {
    pattern.iter().copied().max().unwrap_or(0)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
