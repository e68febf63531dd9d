//! hash-search with the method `partitioned`: a multisplit of the keys by the high bits of their hashes, searches in
//! that order, in which a part of the table stays in the second-level cache, and, if the order of the results is to
//! be that of the keys, the same multisplit backwards (`kernels/multisplit/back.cuh`).

use super::inputs::{Keys, Table, table_kernels};
use super::{CERTIFY, Lookup, MODULE, Results, Searcher};
use crate::device::cuda::pointer_or_null;
use crate::primitives::cuda::prelude::*;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;
use crate::primitives::multisplit::cuda::Split;
use crate::primitives::multisplit::cuda::fused::{self, Passes};
use crate::primitives::multisplit::cuda::input::Function;
use crate::primitives::multisplit::tiles::{KernelVariant, Number};

/// The kernel that numbers the searches.
const FILL_NUMBERS: &str = "hash_fill_numbers";

/// The kernels of a split by `bits` bits of the hash, with values of `value` bytes.
pub fn variant(bits: u64, value: u64) -> KernelVariant {
    KernelVariant { bits: bits as u32, value, number: Number::Hash }
}

fn split(spec: &Search) -> KernelVariant {
    variant(spec.bits(), if spec.order_is_free() { 4 } else { 0 })
}

fn back_name(spec: &Search) -> String {
    format!("fused_back_hash_{}", spec.bits())
}

/// How the results return to the order of the keys: their kernel and its resident blocks, and the results in the order
/// of the partitions.
struct Back {
    kernel: Kernel,
    resident: u32,
    found: DeviceBuffer<u32>,
}

/// The method with its table.
pub struct Partitioned {
    function: Function,
    passes: Passes,
    table: Table,
    lookup: Lookup,
    /// The keys in the order of the partitions.
    keys: DeviceBuffer<u32>,
    /// The numbers of the searches, which are split with the keys if the order is free.
    numbers: Option<DeviceBuffer<u32>>,
    back: Option<Back>,
    results: Results,
}

impl Partitioned {
    /// The kernels of a case, with bulk copies or without.
    pub fn kernels(spec: &Search, bulk: bool) -> KernelList {
        let layout = spec.layout();
        let split = table_kernels(&layout).and(fused::split_kernels(split(spec), bulk), 1);
        let found = split.timed(MODULE, Lookup::name(&layout), 1).untimed(MODULE, [CERTIFY]);
        match spec.order_is_free() {
            true => found.untimed(MODULE, [FILL_NUMBERS]),
            false => found.timed(MODULE, back_name(spec), 1),
        }
    }

    pub fn new(gpu: &Gpu, spec: &Search, searches: &Searches) -> Result<Partitioned, Failure> {
        let (layout, n, module) = (spec.layout(), spec.keys, gpu.module(MODULE)?);
        let passes = Passes::new(gpu, split(spec), n)?;
        let room = || array::<u32>(gpu, n.max(1));
        let (mut numbers, mut back) = (None, None);
        if spec.order_is_free() {
            let all = room()?;
            launch_over(gpu, &module.kernel(FILL_NUMBERS)?, n, args![all, n])?;
            numbers = Some(all);
        } else {
            let kernel = module.kernel(&back_name(spec))?;
            back = Some(Back { resident: passes.resident_back(gpu, &kernel)?, kernel, found: room()? });
        }
        Ok(Partitioned {
            function: Function::high_bits_of_hash(spec.bits() as u32),
            passes,
            table: Table::filled(gpu, layout, &searches.records)?,
            lookup: Lookup::new(gpu, &layout)?,
            keys: room()?,
            numbers,
            back,
            results: Results::new(gpu, n, spec.order_is_free())?,
        })
    }
}

impl Searcher for Partitioned {
    fn search(&mut self, gpu: &Gpu, keys: DevicePtr<u32>, part: LaunchPart) -> Result<(), Failure> {
        let (n, offsets, function) = (part.count, DevicePtr::null(), self.function);
        let out = self.results.out.pointer();
        let values = [self.numbers.as_ref(), self.results.numbers.as_ref()].map(pointer_or_null);
        let (from, to) = ([keys, values[0]], [self.keys.pointer(), values[1]]);
        self.passes.split(gpu, &Split { from, n, to, offsets, function }, u32::MAX)?;
        let Some(Back { kernel, resident, found }) = &self.back else {
            return self.lookup.queue(gpu, &self.table, self.keys.pointer(), out, n);
        };
        self.lookup.queue(gpu, &self.table, self.keys.pointer(), found.pointer(), n)?;
        let results =
            Split { from: [keys, found.pointer()], n, to: [DevicePtr::null(), out], offsets, function };
        self.passes.back(gpu, kernel, *resident, &results, u32::MAX)
    }

    fn mistake(&mut self, gpu: &Gpu, keys: &Keys, n: u64) -> Result<Option<String>, Failure> {
        self.results.mistake(gpu, keys, n)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        self.results.outputs()
    }
}
