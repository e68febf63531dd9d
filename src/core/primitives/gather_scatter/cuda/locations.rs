//! L on the device: closed forms, random partitions by a stable count, and user-provided arrays.

use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::{ZipfArg, ZipfTable, words32};
use crate::primitives::gather_scatter::user_indices::checksum;
use crate::primitives::gather_scatter::{COUNTING_CHUNKS, Source, Spec};

device_struct! {
    /// L as a function of i: `Locations` in `kernels/gather_scatter/gather_scatter.cu`.
    pub struct ClosedForm: 80 {
        kind: u32,
        unused: u32,
        key: u64,
        zipf: ZipfArg,
    }
}

const SEQUENTIAL: u32 = 0;
const RANDOM: u32 = 1;
const ZIPF: u32 = 2;
/// No closed form.
const PARTITIONS: u32 = 3;

/// L, and the data that its certificate needs.
pub struct Locations {
    /// Locations of 4 or 8 bytes.
    pub values: DeviceBuffer<u32>,
    /// For random partitions: where each begins, then n.
    pub starts: Option<DeviceBuffer<u64>>,
    pub closed: ClosedForm,
    /// The checksum of a user-provided L.
    pub checksum: Option<u64>,
    _table: Option<ZipfTable>,
}

/// The kernels that generate L, by its closed form or in random partitions.
pub fn kernels(spec: &Spec) -> [String; 5] {
    let [closed, place] = ["fill_locations", "partition_place"].map(|name| format!("{name}_i{}", spec.index));
    let [count, sum, starts] = ["partition_count", "exclusive_sum", "partition_starts"].map(str::to_owned);
    [closed, count, sum, starts, place]
}

/// Division of the input for counting: the number of chunks, and the tuples of each but the last.
struct Chunks {
    count: u64,
    length: u64,
}

impl Chunks {
    /// At most [`COUNTING_CHUNKS`] chunks; each but the last has a multiple of 32 tuples.
    fn of(n: u64) -> Chunks {
        let length = n.div_ceil(COUNTING_CHUNKS).next_multiple_of(32).max(32);
        Chunks { count: n.div_ceil(length).max(1), length }
    }
}

impl Locations {
    /// Generates L in `values`, or copies a user-provided L there.
    pub fn new(
        gpu: &Gpu,
        module: &Module,
        spec: &Spec,
        user_indices: Option<&[u64]>,
        mut values: DeviceBuffer<u32>,
        cancel: &Cancel,
    ) -> Result<Locations, Failure> {
        let source = spec.source()?;
        let (closed, table) = closed_form(gpu, &source)?;
        let [fill, partition @ ..] = module.kernels(kernels(spec))?;
        let mut starts = None;
        match (user_indices, source) {
            (Some(all), _) => gpu.put(&words32(all.iter().copied(), spec.index), &mut values)?,
            (None, Source::Partitions { count, .. }) => {
                starts = Some(partitions(gpu, &partition, spec, count, &values, cancel)?);
            }
            _ => launch_over(gpu, &fill, spec.tuples, args![values, closed, spec.tuples])?,
        }
        Ok(Locations { values, starts, closed, checksum: user_indices.map(checksum), _table: table })
    }

    /// L[0].
    pub fn first(&self, spec: &Spec) -> Result<u64, Failure> {
        let words = self.values.range_to_host(0..length(spec.index / 4)?)?;
        Ok(words.iter().rev().fold(0, |value, &word| value << 32 | u64::from(word)))
    }
}

fn closed_form(gpu: &Gpu, source: &Source) -> Result<(ClosedForm, Option<ZipfTable>), Failure> {
    let (kind, key, table) = match source {
        Source::Sequential => (SEQUENTIAL, 0, None),
        Source::Random(_) => (RANDOM, 0, None),
        Source::Zipf(zipf) => (ZIPF, key64(zipf.seed), Some(ZipfTable::new(gpu, zipf)?)),
        Source::Partitions { .. } | Source::Given => (PARTITIONS, 0, None),
    };
    let mut zipf = ZipfArg::of(table.as_ref())?;
    if let Source::Random(permutation) = source {
        zipf.spread = *permutation;
    }
    Ok((ClosedForm { kind, unused: 0, key, zipf }, table))
}

/// Counts the tuples of each of `count` partitions in each chunk of the input, sums the counts, and places each
/// tuple at the next place of its partition, in input order. Returns where each partition begins, then n.
fn partitions(
    gpu: &Gpu,
    [counted, summed, started, placed]: &[Kernel; 4],
    spec: &Spec,
    count: u64,
    values: &DeviceBuffer<u32>,
    cancel: &Cancel,
) -> Result<DeviceBuffer<u64>, Failure> {
    let (n, key, Chunks { count: chunks, length: size }) =
        (spec.tuples, key64(spec.seed), Chunks::of(spec.tuples));
    let counters = count * chunks;
    // First each chunk's number of tuples in each partition, then where they go.
    let mut counts = array::<u64>(gpu, counters)?;
    let starts = array(gpu, count + 1)?;
    gpu.memset32(&mut counts, 0)?;
    gpu.launch(counted, grid(chunks, 1), BLOCK, 0, args![counts, key, count, chunks, size, n])?;
    gpu.launch(summed, 1, 1024, 0, args![counts, counters])?;
    launch_over(gpu, started, count + 1, args![starts, counts, count, chunks, n])?;
    cancel.check()?;
    let warps = grid(chunks * 32, BLOCK.into());
    gpu.launch(placed, warps, BLOCK, 0, args![values, counts, key, count, chunks, size, n])?;
    gpu.synchronize()?;
    Ok(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Permutation;

    #[test]
    fn chunks_cover_the_input() {
        for n in [1, 31, 32, 33, 8191, 8192, 8193, 1 << 28, (1 << 33) + 5] {
            let chunks = Chunks::of(n);
            assert!(chunks.count * chunks.length >= n && (chunks.count - 1) * chunks.length < n, "{n}");
            assert!(chunks.count <= COUNTING_CHUNKS && chunks.length.is_multiple_of(32), "{n}");
        }
    }

    /// Must match the static assertions of the kernels' struct: 40 bytes and a permutation's 40.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Permutation>(), size_of::<ClosedForm>()), (40, 80));
        assert_eq!(std::mem::offset_of!(ClosedForm, zipf.spread), 40);
    }
}
