//! The implementations of the primitives on processors and on GPUs. Only the engine imports this module.

use super::{Definition, Primitive, Problem};
use super::{
    cg, compaction, gather_scatter, hash_search, histogram, multisplit, pattern, random_access, reduce, scan,
    shallow_water, sort, spmv, sssp, stream, tridiagonal,
};
use crate::case::gpus::Gpus;
use crate::case::{Case, Failure};
use crate::device::Prepared;
use crate::device::cpu::{Context, PoolJob, on_pool};
use crate::device::cuda::{ComputeCapability, Gpu, GpuJob, GpuSetup, KernelList, OneGpu, on_gpu};

/// One row per definition, with its implementations on processors and on GPUs.
const ALL: &[Implementation] = &[
    Implementation::of::<stream::cpu::Stream, stream::cuda::Stream>(),
    Implementation::of::<gather_scatter::cpu::GatherScatter, gather_scatter::cuda::GatherScatter>(),
    Implementation::of::<pattern::cpu::Patterns, pattern::cuda::Patterns>(),
    Implementation::of::<random_access::cpu::RandomAccess, random_access::cuda::RandomAccess>(),
    Implementation::of::<reduce::cpu::Reduce, reduce::cuda::Reduce>(),
    Implementation::of::<scan::cpu::Scan, scan::cuda::Scan>(),
    Implementation::of::<compaction::cpu::Compaction, compaction::cuda::Compaction>(),
    Implementation::of::<histogram::cpu::Histogram, histogram::cuda::Histogram>(),
    Implementation::of::<multisplit::cpu::Multisplit, multisplit::cuda::Multisplit>(),
    Implementation::of::<sort::cpu::Sort, sort::cuda::Sort>(),
    Implementation::of::<hash_search::cpu::HashSearch, hash_search::cuda::HashSearch>(),
    Implementation::of::<hash_search::cpu::build::HashBuild, hash_search::cuda::build::HashBuild>(),
    Implementation::of::<spmv::cpu::Spmv, spmv::cuda::Spmv>(),
    Implementation::of::<cg::cpu::Cg, cg::cuda::Cg>(),
    Implementation::of::<sssp::cpu::Sssp, sssp::cuda::Sssp>(),
    Implementation::of::<tridiagonal::cpu::Tridiagonal, tridiagonal::cuda::Tridiagonal>(),
    Implementation::of::<shallow_water::cpu::ShallowWater, shallow_water::cuda::ShallowWater>(),
];

type OnGpu = fn(&Case, &GpuSetup) -> Result<OneGpu, Failure>;
type OnPool = fn(&Case, &Context) -> Result<Box<dyn Prepared>, Failure>;

/// The implementations of the primitives of one definition.
pub struct Implementation {
    primitives: &'static [Primitive],
    on_pool: OnPool,
    on_gpu: OnGpu,
    kernels: fn(&Case, ComputeCapability) -> Result<KernelList, Failure>,
    ranking: fn(&Case, &Gpu) -> Result<f64, Failure>,
}

/// The implementation of a case's primitive.
///
/// # Errors
/// The primitive does not exist.
pub fn implementation(case: &Case) -> Result<&'static Implementation, Failure> {
    let kernel_names =
        |of: &&Implementation| of.primitives.iter().any(|primitive| primitive.name() == case.primitive);
    ALL.iter()
        .find(kernel_names)
        .ok_or_else(|| Failure::NotApplicable(format!("{} has no implementation", case.primitive)))
}

impl Implementation {
    const fn of<C, G>() -> Implementation
    where
        C: PoolJob<Case: Definition>,
        G: GpuJob<Case = C::Case>,
    {
        Implementation {
            primitives: C::Case::PRIMITIVES,
            on_pool: |case, context| {
                let (case, resolved) = chosen::<C::Case>(case)?;
                let work = case.work();
                case.shared_input().iter().for_each(|input| context.shared.touch(input));
                on_pool::<C>(case, resolved, work.footprint.saturating_add(work.scratch), context)
            },
            on_gpu: |case, setup| {
                if Gpus::of(&case.params).spanning && !G::SPANS {
                    let reason = format!("{} cannot span GPUs; only gather and scatter can", case.primitive);
                    return Err(Failure::NotApplicable(reason));
                }
                let (case, resolved) = chosen::<C::Case>(case)?;
                let (work, gpus) = (case.work(), setup.others.len() as u64 + 1);
                let shared = work.footprint.div_ceil(gpus);
                setup.gpu.require(shared.saturating_add(work.scratch))?;
                setup.others.iter().try_for_each(|other| other.require(shared))?;
                // Its copies are in host memory before they are on the GPU.
                if let Some(input) = case.shared_input() {
                    setup.shared.touch(&input);
                    setup.shared.make_room(work.footprint);
                }
                on_gpu::<G>(case, resolved, setup)
            },
            kernels: |case, capability| G::kernels(&chosen::<C::Case>(case)?.0, capability),
            ranking: |case, gpu| G::ranking(&chosen::<C::Case>(case)?.0, gpu),
        }
    }

    /// Prepares a case on processors.
    ///
    /// # Errors
    /// Those of [`PoolJob::prepare`], and a case that does not exist.
    pub fn on_pool(&self, case: &Case, context: &Context) -> Result<Box<dyn Prepared>, Failure> {
        (self.on_pool)(case, context)
    }

    /// Prepares a case on one GPU or across several.
    ///
    /// # Errors
    /// Those of [`on_gpu`], and a case that does not exist.
    pub fn on_gpu(&self, case: &Case, setup: &GpuSetup) -> Result<OneGpu, Failure> {
        (self.on_gpu)(case, setup)
    }

    /// The kernels of a case on a GPU of this generation.
    ///
    /// # Errors
    /// A case that does not exist, or does not exist on GPUs.
    pub fn kernels(&self, case: &Case, capability: ComputeCapability) -> Result<KernelList, Failure> {
        (self.kernels)(case, capability)
    }

    /// Keys that a GPU ranks in a second, by one digit each, in the way of the case's method.
    ///
    /// # Errors
    /// Those of [`GpuJob::ranking`], and a case that does not exist.
    pub fn ranking(&self, case: &Case, gpu: &Gpu) -> Result<f64, Failure> {
        (self.ranking)(case, gpu)
    }
}

/// A case whose method is no longer open, and the values chosen for its open parameters.
fn chosen<D: Definition>(case: &Case) -> Result<(D, Vec<(String, crate::case::Value)>), Failure> {
    let case = D::of(case)?;
    if case.open() {
        return Err(Failure::NotApplicable("the method has not been chosen".to_owned()));
    }
    let resolved = case.resolved();
    Ok((case, resolved))
}
