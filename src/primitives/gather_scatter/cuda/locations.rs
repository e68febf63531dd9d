//! L on the device: the closed forms, random partitions by a stable count, and what
//! somebody brought.

use super::kernels::Kernels;
use crate::case::{Cancel, Failure};
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::inputs::Permutation;
use crate::primitives::cuda::{ZipfTable, length};
use crate::primitives::gather_scatter::given::checksum;
use crate::primitives::gather_scatter::spec::{Source, Spec};
use crate::primitives::gather_scatter::work::COUNTING_CHUNKS;

/// L as a function of i: `Locations` in `kernels/gather_scatter.cu`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ClosedForm {
    kind: u32,
    unused: u32,
    key: u64,
    cumulative: DevicePtr<u64>,
    start: DevicePtr<u64>,
    guide: DevicePtr<u32>,
    spread: Permutation,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for ClosedForm {}

const SEQUENTIAL: u32 = 0;
const RANDOM: u32 = 1;
const ZIPF: u32 = 2;
/// No closed form.
const PARTITIONS: u32 = 3;

/// L and what its certificate needs of it.
pub struct Locations {
    /// Locations of 4 or 8 bytes.
    pub values: DeviceBuffer<u32>,
    /// Random partitions: where each begins, and n.
    pub starts: Option<DeviceBuffer<u64>>,
    pub closed: ClosedForm,
    /// Of an L that was brought.
    pub checksum: Option<u64>,
    table: Option<ZipfTable>,
}

/// Bytes of the counters of random partitions.
pub fn counters(tuples: u64, partitions: u64) -> u64 {
    8 * (partitions * Chunks::of(tuples).count + partitions + 1)
}

/// How the input is cut for counting: chunks, and tuples of each but the last.
struct Chunks {
    count: u64,
    length: u64,
}

impl Chunks {
    /// At most [`COUNTING_CHUNKS`], of whole warps each but the last.
    fn of(n: u64) -> Chunks {
        let length = n.div_ceil(COUNTING_CHUNKS).next_multiple_of(32).max(32);
        Chunks { count: n.div_ceil(length).max(1), length }
    }
}

impl Locations {
    /// Generates L, or takes it to the devices where somebody brought it: one, or with others
    /// that it spans.
    pub fn new(
        (gpu, others): (&Gpu, &[Gpu]),
        spec: &Spec,
        given: Option<&[u64]>,
        kernels: &Kernels,
        cancel: &Cancel,
    ) -> Result<Locations, Failure> {
        let source = spec.source()?;
        let table = match &source {
            Source::Zipf(zipf) => Some(ZipfTable::new(gpu, zipf)?),
            _ => None,
        };
        let closed = closed_form(&source, table.as_ref())?;
        let mut values = super::across(gpu, others, length(spec.moves() * spec.index / 4)?)?;
        if let Some(all) = given {
            gpu.put(&words(all, spec.index), &mut values)?;
        }
        let checksum = given.map(checksum);
        let mut locations = Locations { values, starts: None, closed, checksum, table };
        match source {
            Source::Partitions { count, seed } => {
                let starts = partition(gpu, spec, kernels, &locations.values, (count, seed), cancel)?;
                locations.starts = Some(starts);
            }
            Source::Given => {}
            _ => kernels.fill_locations(gpu, &locations.values, &locations.closed, spec.tuples)?,
        }
        Ok(locations)
    }

    /// Partitions of L, 0 where it is not made of them.
    pub fn partitions(&self) -> u64 {
        self.starts.as_ref().map_or(0, |starts| starts.len() as u64 - 1)
    }

    /// L[0].
    pub fn first(&self, spec: &Spec) -> Result<u64, Failure> {
        let words = self.values.range_to_host(0..length(spec.index / 4)?)?;
        Ok(words.iter().rev().fold(0, |value, &word| value << 32 | u64::from(word)))
    }

    pub fn bytes(&self) -> u64 {
        let table = self.table.as_ref().map_or(0, ZipfTable::bytes);
        self.values.bytes() + self.starts.as_ref().map_or(0, DeviceBuffer::bytes) + table
    }
}

/// Locations as the kernels read them, in 4-byte words, the lower first.
fn words(all: &[u64], index: u64) -> Vec<u32> {
    match index {
        4 => all.iter().map(|&at| at as u32).collect(),
        _ => all.iter().flat_map(|&at| [at as u32, (at >> 32) as u32]).collect(),
    }
}

fn closed_form(source: &Source, table: Option<&ZipfTable>) -> Result<ClosedForm, Failure> {
    let identity = Permutation::new(1, 0).ok_or_else(|| Failure::Failed("no permutation of 1".to_owned()))?;
    let plain = |kind, spread| ClosedForm {
        kind,
        unused: 0,
        key: 0,
        cumulative: DevicePtr::null(),
        start: DevicePtr::null(),
        guide: DevicePtr::null(),
        spread,
    };
    Ok(match (source, table) {
        (Source::Random(permutation), _) => plain(RANDOM, *permutation),
        (Source::Zipf(zipf), Some(table)) => ClosedForm {
            key: crate::inputs::mix::key64(zipf.seed),
            cumulative: table.cumulative.pointer(),
            start: table.start.pointer(),
            guide: table.guide.pointer(),
            ..plain(ZIPF, zipf.spread)
        },
        (Source::Zipf(_), None) => return Err(Failure::Failed("no Zipf table".to_owned())),
        (Source::Partitions { .. } | Source::Given, _) => plain(PARTITIONS, identity),
        (Source::Sequential, _) => plain(SEQUENTIAL, identity),
    })
}

/// Counts each partition in each chunk of the input, adds up, and places each tuple at
/// the next place of its partition, in the order of the input. Returns where each
/// partition begins, and n.
fn partition(
    gpu: &Gpu,
    spec: &Spec,
    kernels: &Kernels,
    values: &DeviceBuffer<u32>,
    (partitions, seed): (u64, u64),
    cancel: &Cancel,
) -> Result<DeviceBuffer<u64>, Failure> {
    let chunks = Chunks::of(spec.tuples);
    let mut counts = gpu.alloc(length(partitions * chunks.count)?)?;
    let mut starts = gpu.alloc(length(partitions + 1)?)?;
    gpu.memset32(&mut counts, 0)?;
    let scheme = super::kernels::Counting {
        seed,
        partitions,
        chunks: chunks.count,
        length: chunks.length,
        tuples: spec.tuples,
    };
    kernels.count_partitions(gpu, &mut counts, &scheme)?;
    kernels.start_partitions(gpu, &mut counts, &mut starts, &scheme)?;
    cancel.check()?;
    kernels.place_partitions(gpu, values, &mut counts, &scheme)?;
    gpu.synchronize()?;
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_input() {
        for n in [1, 31, 32, 33, 8191, 8192, 8193, 1 << 28, (1 << 33) + 5] {
            let chunks = Chunks::of(n);
            assert!(chunks.count * chunks.length >= n && (chunks.count - 1) * chunks.length < n, "{n}");
            assert!(chunks.count <= COUNTING_CHUNKS && chunks.length.is_multiple_of(32), "{n}");
        }
    }

    /// As the static assertions of the kernels' struct: 40 bytes and a permutation's 40.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Permutation>(), size_of::<ClosedForm>()), (40, 80));
        assert_eq!(std::mem::offset_of!(ClosedForm, spread), 40);
    }
}
