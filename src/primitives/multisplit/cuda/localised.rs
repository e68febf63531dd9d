//! dms, wms and bms: a pre-scan, the scan of its counts, a post-scan
//! (`kernels/multisplit_paper.cuh`).

use super::input::Function;
use super::{MODULE, Split, Splitter, Summed};
use crate::case::Failure;
use crate::device::cuda::{self, DevicePtr, Gpu, Plain};
use crate::device::cuda::{Launched, Named, named};
use crate::primitives::cuda::length;
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::subproblems::{Localisation, Subproblems, WINDOW};

/// The paper's names (§4.1, Table 4).
const STAGES: &[&str] = &["pre-scan", "scan", "post-scan"];

/// `Split` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Launch {
    keys: DevicePtr<u32>,
    keys_out: DevicePtr<u32>,
    values: DevicePtr<u32>,
    values_out: DevicePtr<u32>,
    counts: DevicePtr<u32>,
    offsets: DevicePtr<u32>,
    n: u64,
    subproblems: u32,
    windows: u32,
    tiles: u32,
    value: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Launch {}

/// A case's kernels, and the counts of its subproblems.
pub struct Localised {
    spec: Spec,
    shape: Subproblems,
    function: Function,
    prescan: cuda::Kernel,
    postscan: cuda::Kernel,
    /// H and G.
    counts: Summed,
}

/// Bytes that it holds beside the arrays.
pub fn bytes(spec: &Spec, shape: &Subproblems) -> u64 {
    Summed::bytes_for(shape.counts(spec))
}

fn names(spec: &Spec, shape: &Subproblems) -> [String; 2] {
    let prescan = if shape.localisation == Localisation::Block { "blocks" } else { "warps" };
    [format!("prescan_{prescan}_{}", spec.bits()), format!("{}_{}", shape.localisation.name(), spec.bits())]
}

/// What an execution launches.
pub fn launched(spec: &Spec, shape: &Subproblems) -> Launched {
    let [prescan, postscan] = names(spec, shape);
    Launched { kernel: format!("regex:^({prescan}|{}|{postscan})$", Summed::kernel()), launches: 3 }
}

/// Dynamic shared memory of a block in the pre-scan and in the post-scan, bytes
/// (`kernels/subproblems.cuh`, `kernels/reordering.cuh`).
fn shared(spec: &Spec, shape: &Subproblems) -> [u64; 2] {
    let (buckets, warps) = (1u64 << spec.bits(), shape.warps);
    let cells = 4 * (buckets * warps + buckets * warps / WINDOW + 1);
    let room = shape.tile() * (4 + spec.value) + 8 * buckets.max(4);
    match shape.localisation {
        Localisation::Direct => [0, if spec.bits() > 5 { 4 * buckets * warps } else { 0 }],
        Localisation::Warp => [0, warps * room],
        Localisation::Block => [cells, room + cells],
    }
}

/// The kernels that a case asks for.
pub fn kernels(spec: &Spec, shape: &Subproblems) -> Vec<Named> {
    [named(MODULE, names(spec, shape)), Summed::kernels()].concat()
}

impl Localised {
    /// Those of a case.
    ///
    /// # Errors
    /// What the driver reports.
    pub fn new(gpu: &Gpu, spec: &Spec, shape: Subproblems, function: Function) -> Result<Localised, Failure> {
        let [prescan, postscan] = gpu.module(MODULE)?.kernels(names(spec, &shape))?;
        Ok(Localised {
            spec: *spec,
            shape,
            function,
            prescan,
            postscan,
            counts: Summed::new(gpu, shape.counts(spec))?,
        })
    }

    /// Queues the pre-scan or the post-scan.
    fn launch(&self, gpu: &Gpu, what: &Split, first: bool) -> Result<(), Failure> {
        let shape = &self.shape;
        let subproblems = shape.count(what.n);
        let each = if shape.localisation == Localisation::Block { 1 } else { shape.warps };
        let [prescan, postscan] = shared(&self.spec, shape);
        let (kernel, counts, shared) = match first {
            true => (&self.prescan, &self.counts.given, prescan),
            false => (&self.postscan, &self.counts.sums, postscan),
        };
        let launch = Launch {
            keys: what.keys,
            keys_out: what.keys_out,
            values: what.values,
            values_out: what.values_out,
            counts: counts.pointer(),
            offsets: what.offsets,
            n: what.n,
            subproblems: subproblems as u32,
            windows: shape.windows as u32,
            tiles: shape.tiles as u32,
            value: self.spec.value as u32,
        };
        // Without keys a block of the post-scan stores the offsets.
        let blocks = subproblems.div_ceil(each).max(1) as u32;
        let args = [(&launch).into(), (&self.function).into()];
        gpu.launch(kernel, blocks, (shape.warps * WINDOW) as u32, length(shared)? as u32, &args)
    }
}

impl Splitter for Localised {
    fn bytes(&self) -> u64 {
        self.counts.bytes()
    }

    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        match stage {
            // There is no room for counts of nothing.
            0 if what.n == 0 => Ok(()),
            1 => self.counts.scan(gpu, self.spec.buckets * self.shape.count(what.n)),
            _ => self.launch(gpu, what, stage == 0),
        }
    }
}
