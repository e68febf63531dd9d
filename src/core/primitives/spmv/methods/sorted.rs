//! Shares as those of `balanced`, larger ones, with the entries of each in the order of their columns, so that lanes next
//! to each other gather x by fewer accesses; products go to the entries' places in shared memory. GPUs only.

use crate::case::block_cost::WARPS;
use crate::case::work::{Access, Pass};
use crate::inputs::sparse::{Csr, in_ranges_of};
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::tiles::{merged, tile_cost};
use crate::primitives::spmv::work::{LARGE_WARPS, Lanes, gather, matrix, results};

/// Rows and entries of a tile (`SORTED_TILE` in the kernels).
const TILE: u64 = 8192;

/// Tiles that are not worth a further thread.
const SERIAL: u64 = 4;

/// As for `balanced`, in two rounds of a thread's entries.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let wide = [18_000.0, 6_400.0, 6_500.0];
    let of_tile = if spec.element() == 4 { [17_900.0, 6_200.0, 4_000.0] } else { wide };
    let passes = || {
        let places = Access::reads("places", 2, spec.shape.entries);
        vec![Pass::once(matrix(spec)).and([places, gather(spec, Lanes::Sorted)]).and(results(spec))]
    };
    Costs::of_sampled(passes).beside((spec.element() + 6) * spec.shape.entries).blocks([tile_cost(
        spec,
        TILE,
        WARPS / LARGE_WARPS,
        of_tile,
    )])
}

/// The entries of a matrix, those of each tile in the order of their columns, with their places in the tile.
struct Entries {
    columns: Vec<u32>,
    values: Vec<f64>,
    places: Vec<u16>,
}

impl Entries {
    /// Sorts the entries of tiles of [`TILE`] rows and entries, of which `firsts` are the first rows.
    fn new(matrix: &Csr<f64>, firsts: &[u32]) -> Entries {
        let total = merged(&matrix.starts);
        let begin = |tile: u64| ((tile * TILE).min(total) - u64::from(firsts[tile as usize])) as usize;
        let parts = in_ranges_of(SERIAL, firsts.len() as u64 - 1, |tiles| {
            let (mut order, mut sorted) = (Vec::new(), Entries::empty());
            for tile in tiles {
                let entries = begin(tile)..begin(tile + 1);
                order.clear();
                order.extend(
                    (0u16..).zip(&matrix.indices[entries.clone()]).map(|(place, column)| (*column, place)),
                );
                order.sort_unstable();
                sorted.columns.extend(order.iter().map(|entry| entry.0));
                sorted
                    .values
                    .extend(order.iter().map(|entry| matrix.values[entries.start + entry.1 as usize]));
                sorted.places.extend(order.iter().map(|entry| entry.1));
            }
            sorted
        });
        let mut all = Entries::empty();
        for part in parts {
            all.columns.extend(part.columns);
            all.values.extend(part.values);
            all.places.extend(part.places);
        }
        all
    }

    fn empty() -> Entries {
        Entries { columns: Vec::new(), values: Vec::new(), places: Vec::new() }
    }
}

pub mod cuda {
    use super::super::balanced::cuda::Tiles;
    use super::{Entries, TILE};
    use crate::inputs::shared::Contents;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, Rows, named, uploaded};
    use crate::primitives::spmv::tiles::firsts;

    /// Threads of a block (`SORTED_THREADS` in the kernel).
    const THREADS: u32 = 1024;

    /// Sorted tiles as words, with two places in each.
    struct Words {
        columns: Vec<u32>,
        values: Vec<u32>,
        places: Vec<u32>,
    }

    impl Contents for Words {
        fn bytes(&self) -> u64 {
            self.columns.bytes() + self.values.bytes() + self.places.bytes()
        }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed_all(MODULE, ["sorted", "carry"].map(|word| (named(spec, word), 1)))
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let (spec, firsts) = (made.spec, firsts(&made.matrix.starts, TILE));
        let (tiles, kernel) = (Tiles::new(made, &firsts)?, made.kernel("sorted")?);
        let pair = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16;
        let words = made.forms.get("sorted tiles", (6 + spec.element()) * spec.shape.entries, || {
            let Entries { columns, values, places } = Entries::new(&made.matrix, &firsts);
            let places = places.chunks(2).map(pair).collect();
            Ok(Words { columns, values: made.words(&values)?, places })
        })?;
        let [columns, values, places] = [
            uploaded(made.gpu, &words.columns)?,
            uploaded(made.gpu, &words.values)?,
            uploaded(made.gpu, &words.places)?,
        ];
        let total = spec.shape.rows + spec.shape.entries;
        // The products of a tile, one place in 128 bytes empty.
        let shared = (TILE * spec.element() / 128 * (128 + spec.element())) as u32;
        Ok(Box::new(move |gpu, call| {
            let (Tiles { firsts, carries, .. }, &Call { a, x, z, y, rows }) = (&tiles, call);
            let sorted = Rows { columns: columns.pointer(), values: values.pointer(), ..a };
            let args = args![firsts, sorted, places, total, x, z, y, carries, rows];
            gpu.launch(&kernel, tiles.count(), THREADS, shared, args)?;
            tiles.carry(gpu, call)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Nas;
    use crate::primitives::spmv::tiles::firsts;

    #[test]
    fn sorted_tiles_hold_their_entries_with_their_places() {
        let matrix = Nas::new(700, 5, 0.5).make().expect("a matrix");
        let firsts = firsts(&matrix.starts, TILE);
        let sorted = Entries::new(&matrix, &firsts);
        let total = merged(&matrix.starts);
        let mut again = matrix.clone();
        let mut from = 0;
        for (tile, first) in (1u64..).zip(&firsts[1..]) {
            let end = ((tile * TILE).min(total) - u64::from(*first)) as usize;
            assert!(sorted.columns[from..end].is_sorted());
            for at in from..end {
                let to = from + sorted.places[at] as usize;
                (again.indices[to], again.values[to]) = (sorted.columns[at], sorted.values[at]);
            }
            from = end;
        }
        assert!(firsts.len() > 2 && from == matrix.indices.len());
        assert_eq!(again, matrix);
    }
}
