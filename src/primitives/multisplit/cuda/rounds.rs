//! fused above 256 buckets: two rounds by digits of the buckets' numbers, the lower one first
//! (ashkiani2017 §6.3), and a search for where buckets begin.

use super::input::Function;
use super::passes::{Arrays, Passes};
use super::{MODULE, Split, Splitter, passes};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, GpuFacts, Kernel};
use crate::device::cuda::{Launched, Named, named};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::rounds::Rounds;
use crate::primitives::multisplit::tiles::{field, way};

const STAGES: &[&str] = &["first-round", "second-round", "offsets"];

/// A case's kernels, counts, and what lies between the rounds.
pub struct InRounds {
    spec: Spec,
    /// The whole one.
    function: Function,
    /// Its digits.
    digits: [Function; 2],
    /// A key of the last number of the lower digit.
    behind: u32,
    passes: Passes,
    offsets: Kernel,
    keys: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
}

/// What an execution launches.
pub fn launched(spec: &Spec) -> Launched {
    Launched { kernel: format!("regex:^({}|fused_offsets)$", way(spec).launched()), launches: 7 }
}

/// The bits of the number from the lowest on, and those above them.
fn digits(spec: &Spec, function: Function, rounds: &Rounds) -> [Function; 2] {
    let (low, high) = (rounds.bits, spec.bits() - rounds.bits);
    match field(spec) {
        Some(shift) => {
            [(shift, low), (shift + low, high)].map(|(shift, bits)| Function::field(shift, bits, 1 << bits))
        }
        None => [(0, low), (low, high)].map(|(shift, bits)| function.digit(shift, bits)),
    }
}

/// The kernel of the offsets.
const OFFSETS: &str = "fused_offsets";

/// The kernels that a case asks for on such a GPU.
pub fn kernels(spec: &Spec, gpu: &GpuFacts) -> Vec<Named> {
    [passes::kernels(way(spec), gpu), named(MODULE, [OFFSETS])].concat()
}

impl InRounds {
    /// Those of a case.
    ///
    /// # Errors
    /// What [`Passes::new`] says.
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function, rounds: &Rounds) -> Result<InRounds, Failure> {
        let alloc = |bytes: u64| length(bytes.max(4) / 4).and_then(|n| gpu.alloc(n));
        Ok(InRounds {
            spec: *spec,
            function,
            digits: digits(spec, function, rounds),
            behind: (((1 << rounds.bits) - 1) * spec.delta()) as u32,
            passes: Passes::new(gpu, way(spec), spec.keys)?,
            offsets: gpu.module(MODULE)?.kernel(OFFSETS)?,
            keys: alloc(spec.key_bytes())?,
            values: alloc(spec.value_bytes())?,
        })
    }

    fn round(&self, gpu: &Gpu, what: &Split, round: usize) -> Result<(), Failure> {
        let between = (self.keys.pointer(), self.values.pointer());
        let (input, output) = ((what.keys, what.values), (what.keys_out, what.values_out));
        let (from, to) = [(input, between), (between, output)][round];
        let arrays = Arrays {
            keys: from.0,
            values: from.1,
            keys_out: to.0,
            values_out: to.1,
            offsets: DevicePtr::null(),
            // No key is of a higher super-bucket than the greatest.
            behind: [self.behind, u32::MAX][round],
        };
        self.passes.split(gpu, &arrays, self.digits[round], what.n)
    }

    /// A warp for each bucket, and one for the end.
    fn seek(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let blocks = grid(32 * (self.spec.buckets + 1), u64::from(BLOCK));
        let args =
            [(&what.keys_out).into(), (&what.n).into(), (&what.offsets).into(), (&self.function).into()];
        gpu.launch(&self.offsets, blocks, BLOCK, 0, &args)
    }
}

impl Splitter for InRounds {
    fn bytes(&self) -> u64 {
        self.keys.bytes() + self.values.bytes() + self.passes.bytes()
    }

    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        match stage {
            2 => self.seek(gpu, what),
            round => self.round(gpu, what, round),
        }
    }
}
