//! pattern on a GPU (`kernels/pattern.cu`): one launch an execution, the dense side of
//! each block in its shared memory.

mod certify;
mod checks;
mod execute;
mod fault;
mod kernels;
mod starts;

use crate::case::tuning::Tuning;
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda;
use crate::device::cuda::{DeviceBuffer, Gpu, GpuFacts, GpuJob, Launched, Named, Part, Setup, poison};
use crate::primitives::cuda::length;
use crate::primitives::pattern::choice;
use crate::primitives::pattern::spec::{Kernel, Method, Spec};
use crate::primitives::pattern::walk::{Dense, Shape, Steps};
use crate::primitives::range::Range;
use fault::Plan;
use kernels::{Kernels, PARTIALS, Pattern};
use starts::Array;

/// A case in place.
pub struct Patterns {
    gpu: Gpu,
    spec: Spec,
    kernels: Kernels,
    shape: Shape,
    steps: Steps,
    /// The dense side of a block; `None` for the kernels that have none of their own.
    dense: Option<Dense>,
    /// What an execution launches.
    plan: Plan,
    /// p, or q and p; of gs p_s.
    pattern: Pattern,
    /// What is executed in its place by a deliberately wrong implementation.
    wrong_pattern: Option<Pattern>,
    /// p_g of gs.
    source_pattern: Option<Pattern>,
    /// Where uses start in S and in S_g, where that is read from an array.
    starts: Option<Array>,
    source_starts: Option<Array>,
    /// S; of gs S_s. It has a guard word behind its last one.
    sparse: DeviceBuffer<u64>,
    /// S_g of gs.
    source: Option<DeviceBuffer<u64>>,
    /// The dense side that all blocks share.
    shared: Option<DeviceBuffer<u64>>,
    /// The sum of read-only, in parts.
    partials: DeviceBuffer<u64>,
    /// Smallest and largest entry of the pattern as applied to S.
    smallest: u64,
    largest: u64,
}

/// Smallest and largest entry of the pattern as applied to S.
fn ends(spec: &Spec) -> (u64, u64) {
    let applied = if spec.kernel == Kernel::Gs { spec.scatter.clone() } else { spec.applied() };
    applied.iter().fold((u64::MAX, 0), |(a, b), &k| (a.min(k), b.max(k)))
}

/// The pattern as applied to S, entries equal to `replace.0` replaced by `replace.1`.
fn pattern(gpu: &Gpu, spec: &Spec, replace: Option<(u64, u64)>) -> Result<Pattern, Failure> {
    let entries = |indices: &[u64]| -> Vec<u64> {
        let changed = |k: u64| replace.filter(|&(from, _)| from == k).map_or(k, |(_, to)| to);
        indices.iter().map(|&k| changed(k)).collect()
    };
    let pattern = entries(&spec.pattern);
    match spec.kernel {
        Kernel::Gather | Kernel::Scatter => Pattern::new(gpu, &pattern, &[], spec.delta, spec.index),
        Kernel::Multigather | Kernel::Multiscatter => {
            Pattern::new(gpu, &spec.inner, &pattern, spec.delta, spec.index)
        }
        Kernel::Gs => Pattern::new(gpu, &entries(&spec.scatter), &[], spec.delta_scatter, spec.index),
    }
}

fn source_pattern(gpu: &Gpu, spec: &Spec) -> Result<Option<Pattern>, Failure> {
    match spec.kernel {
        Kernel::Gs => Pattern::new(gpu, &spec.gather, &[], spec.delta_gather, spec.index).map(Some),
        _ => Ok(None),
    }
}

fn array(
    gpu: &Gpu,
    kernels: &Kernels,
    spec: &Spec,
    wanted: bool,
    starts: &crate::primitives::pattern::Starts,
) -> Result<Option<Array>, Failure> {
    if wanted { Array::new(gpu, kernels, spec, starts).map(Some) } else { Ok(None) }
}

/// S: word k of a gather's is word64(seed, k), a scatter's holds poison.
fn sparse(gpu: &Gpu, spec: &Spec, kernels: &Kernels) -> Result<DeviceBuffer<u64>, Failure> {
    let words = spec.sparse_words();
    let mut sparse = gpu.alloc(length(words + 1)?)?;
    poison(gpu, &mut sparse)?;
    if !spec.kernel.scatters() {
        kernels.fill.words64(gpu, sparse.pointer(), spec.seed, words)?;
    }
    Ok(sparse)
}

/// S_g of gs: word k is word64(seed, k).
fn source(gpu: &Gpu, spec: &Spec, kernels: &Kernels) -> Result<Option<DeviceBuffer<u64>>, Failure> {
    if spec.kernel != Kernel::Gs {
        return Ok(None);
    }
    let source: DeviceBuffer<u64> = gpu.alloc(length(spec.source_words())?)?;
    kernels.fill.words64(gpu, source.pointer(), spec.seed, spec.source_words())?;
    Ok(Some(source))
}

impl GpuJob for Patterns {
    type Case = Spec;

    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        Ok(Launched { kernel: kernels::timed_name(spec, choice::steps(spec).items), launches: 1 })
    }

    fn kernels(spec: &Spec, _gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
        Ok(kernels::asked(spec, choice::steps(spec).items))
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        let (smallest, largest) = ends(spec);
        let words = spec.sparse_words() + 1 + spec.source_words();
        let shared = if spec.global { 8 * spec.dense_words() } else { 0 };
        let patterns = 2 * spec.index * spec.length() + spec.bases_bytes();
        let scratch = certify::scratch(spec, largest.saturating_sub(smallest) + 1);
        8 * words + shared + patterns + scratch
    }

    /// One part: which iterations those are, and what else a mistake changes, the case's own plan says.
    fn plan(spec: &Spec, _fault: Option<Fault>) -> cuda::Plan {
        cuda::Plan::whole(spec.count)
    }

    fn prepare(spec: Spec, setup: &Setup) -> Result<Patterns, Failure> {
        let gpu = setup.gpu;
        let (smallest, largest) = ends(&spec);
        if largest < smallest {
            return Err(Failure::Failed("a pattern without entries".to_owned()));
        }
        let shape = Shape::of(spec.length())?;
        let steps = choice::steps(&spec);
        let dense = match (spec.kernel, spec.method) {
            (Kernel::Gs, _) | (_, Method::ReadOnly) => None,
            _ if spec.global => None,
            _ => Some(shape.dense(spec.wrap, !spec.kernel.scatters())?),
        };
        let kernels = Kernels::new(gpu, &spec, steps.items)?;
        let plan = fault::plan(&spec, setup.fault, largest);
        let wrong_pattern = match plan.replace {
            Some(replace) => Some(pattern(gpu, &spec, Some(replace))?),
            None => None,
        };
        let (of_sparse, of_source) = (spec.based(), spec.based() && spec.kernel == Kernel::Gs);
        Ok(Patterns {
            gpu: gpu.clone(),
            shape,
            steps,
            dense,
            pattern: pattern(gpu, &spec, None)?,
            wrong_pattern,
            source_pattern: source_pattern(gpu, &spec)?,
            starts: array(gpu, &kernels, &spec, of_sparse, &spec.starts())?,
            source_starts: array(gpu, &kernels, &spec, of_source, &spec.source_starts())?,
            sparse: sparse(gpu, &spec, &kernels)?,
            source: source(gpu, &spec, &kernels)?,
            shared: if spec.global { Some(gpu.alloc(length(spec.dense_words())?)?) } else { None },
            partials: gpu.upload(&[0u64; PARTIALS])?,
            kernels,
            plan,
            spec,
            smallest,
            largest,
        })
    }

    /// The certificate clears what it judges.
    fn clear(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    fn enqueue(&mut self, _gpu: &Gpu, _all: Part) -> Result<(), Failure> {
        self.execute_planned()
    }

    /// Executes itself, poisoned, window by window, in an instantiation that keeps everything.
    fn judge(&mut self, _gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure> {
        certify::verdict(self, cancel)
    }

    fn output(&mut self, gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let all = Range { first: 0, count: self.spec.count };
        let words = if self.spec.kernel.scatters() {
            poison(gpu, &mut self.sparse)?;
            self.scatter(all, self.spec.kernel != Kernel::Gs)?;
            self.sparse.range_to_host(0..length(self.spec.sparse_words())?)?
        } else {
            let mut kept = gpu.alloc(length(self.spec.count * self.spec.length())?)?;
            poison(gpu, &mut kept)?;
            self.keep(&kept, all)?;
            kept.to_host()?
        };
        Ok(words.into_iter().flat_map(u64::to_le_bytes).collect())
    }

    fn memory(&self) -> u64 {
        let patterns = [Some(&self.pattern), self.wrong_pattern.as_ref(), self.source_pattern.as_ref()];
        let indices: u64 = patterns.into_iter().flatten().map(Pattern::bytes).sum();
        let starts = [&self.starts, &self.source_starts].into_iter().flatten().map(Array::bytes);
        let arrays = [Some(&self.sparse), self.source.as_ref(), self.shared.as_ref(), Some(&self.partials)];
        arrays.into_iter().flatten().map(DeviceBuffer::bytes).sum::<u64>() + indices + starts.sum::<u64>()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let Steps { items, grid } = self.steps;
        Tuning { items: Some(items), grid: Some(grid), ..Tuning::default() }.resolved()
    }
}
