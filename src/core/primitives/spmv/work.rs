//! The memory accesses of a product, as far as methods share them.

use std::collections::BTreeSet;

use super::{Matrix, Spec};
use crate::case::work::{Access, Order, Pass};
use crate::inputs::sparse::Shape;

/// Threads of most blocks, and their warps; warps of a block with a part of x, or a sorted tile, in shared memory.
pub const BLOCK: u64 = 256;
pub const BLOCK_WARPS: u64 = BLOCK / 32;
pub const LARGE_WARPS: u64 = 32;

/// The entries of x that lanes next to each other gather.
#[derive(Clone, Copy, PartialEq)]
pub enum Lanes {
    /// Those of entries next to each other.
    Entries,
    /// The same, of a tile whose entries are in the order of their columns.
    Sorted,
    /// Those of rows of about the same length.
    Rows,
}

/// The row starts.
pub fn starts(spec: &Spec) -> Access {
    Access::reads("starts", 4, spec.shape.rows + 1)
}

/// The compressed rows.
pub fn matrix(spec: &Spec) -> [Access; 3] {
    let entries = spec.shape.entries;
    [starts(spec), Access::reads("columns", 4, entries), Access::reads("values", spec.element(), entries)]
}

/// One pass over the matrix, in which x is gathered.
pub fn in_one_pass(spec: &Spec) -> Vec<Pass> {
    vec![Pass::once(matrix(spec)).and([gather(spec, Lanes::Entries)]).and(results(spec))]
}

/// The vectors of rows: z if there is one, and y.
pub fn results(spec: &Spec) -> impl Iterator<Item = Access> {
    let (element, rows) = (spec.element(), spec.shape.rows);
    let z = (spec.beta == 1).then(|| Access::reads("z", element, rows));
    z.into_iter().chain([Access::writes("y", element, rows)])
}

/// The order of entries whose columns are in one of so many chunks. The columns of a row ascend, so that a chunk's entries are
/// neighbours in it: of m random ones m/p in each of p passes, or m/p / (1 − (1 − 1/p)^m) if rows without any do not count.
pub fn in_runs(shape: Shape, passes: u64) -> Order {
    let (mean, part) = (shape.entries as f64 / shape.rows.max(1) as f64, 1.0 / passes as f64);
    // A matrix without entries must have one, too: 0/0 is no number, which a plan cannot keep.
    let run = (mean * part / (1.0 - (1.0 - part).powf(mean))).max(1.0);
    if passes > 1 { Order::Strided { stride: passes, run } } else { Order::Sequential }
}

/// The products of entries whose columns are in one chunk of x: all columns are read, and of the values a part. Those
/// of stencils and bands are one stretch.
pub fn products(spec: &Spec, passes: u64) -> Pass {
    let (element, entries) = (spec.element(), spec.shape.entries.div_ceil(passes));
    let whole = gather(spec, Lanes::Entries);
    let order = in_runs(spec.shape, passes);
    let scattered = passes > 1 && whole.order != Order::Sequential;
    let taken = |access: Access| match scattered {
        true => access.within(spec.shape.entries * element).ordered(order.clone()),
        false => access,
    };
    Pass::once([
        Access::reads("columns", 4, spec.shape.entries),
        taken(Access::reads("values", element, entries)),
        Access { count: whole.count.div_ceil(passes), ..whole }
            .within(spec.shape.columns.div_ceil(passes) * element),
        taken(Access::writes("products", element, entries)),
    ])
    .times(passes)
}

/// Bytes that a multiprocessor asks for at a time: a warp's columns within them are one access.
const PACKET: u64 = 64;

/// Lanes of a warp, tiles that are looked at, and their entries.
const LANES: usize = 32;
const GROUPS: u64 = 8;
const GROUP: u64 = 8192;

/// Packets that warps ask for, as a part of the entries, if `columns` are those of lanes next to each other.
fn packets(columns: &[u32], element: u64) -> f64 {
    let packet = |column: &u32| u64::from(*column) * element / PACKET;
    let of_warp = |warp: &[u32]| warp.iter().map(packet).collect::<BTreeSet<_>>().len();
    columns.chunks(LANES).map(of_warp).sum::<usize>() as f64 / columns.len().max(1) as f64
}

/// Requests of a GPU's warps, as a part of the entries, and the part of x that they gather from at a time. For R-MAT both come
/// from a sample of tiles; the number of columns follows from their entropy. Lanes that walk along sorted random rows, each at
/// its own, are near place k of x's n at entry k of n: within two standard deviations of a beta distribution on each side.
fn near(spec: &Spec, lanes: Lanes) -> (f64, f64) {
    let (shape, sorted) = (spec.shape, lanes == Lanes::Sorted);
    let mean = shape.entries as f64 / shape.rows.max(1) as f64;
    match spec.matrix {
        _ if !spec.backend.is_cuda() => (1.0, 1.0),
        Matrix::Rmat { scale, .. } => {
            let of = |place: u64| {
                let mut columns =
                    spec.generator()?.group(spec.seed, GROUP, place * (shape.entries / GROUPS))?;
                if sorted {
                    columns.sort_unstable();
                }
                Some(packets(&columns, spec.element()))
            };
            let parts: Vec<f64> = (0..GROUPS).filter_map(of).collect();
            let entropy = -(0.6 * f64::log2(0.6) + 0.4 * f64::log2(0.4));
            (parts.iter().sum::<f64>() / parts.len().max(1) as f64, f64::exp2((entropy - 1.0) * scale as f64))
        }
        Matrix::Random { .. } if sorted => {
            let tile = GROUP as f64 * mean / (mean + 1.0);
            let span = (shape.columns * spec.element()) as f64 / PACKET as f64 * LANES as f64 / tile;
            (span.max(1.0) * (1.0 - (1.0 - 1.0 / span.max(1.0)).powi(LANES as i32)) / LANES as f64, 1.0)
        }
        Matrix::Random { .. } if lanes == Lanes::Rows => (1.0, (2.0 / (mean + 2.0).sqrt()).min(1.0)),
        _ => (1.0, 1.0),
    }
}

/// The accesses to x. A stencil or a band visits each part of it a few times within a short while, so that caches make it
/// one sequential read; of other matrices each entry is an access of its own, unless a warp asks for several at once.
pub fn gather(spec: &Spec, lanes: Lanes) -> Access {
    let (shape, element) = (spec.shape, spec.element());
    match spec.matrix {
        Matrix::Laplace5 { .. } | Matrix::Laplace7 { .. } | Matrix::Banded { .. } => {
            Access::reads("x", element, shape.columns)
        }
        _ => {
            let (asked, part) = near(spec, lanes);
            // All of x is asked for at least once.
            let count = ((shape.entries as f64 * asked) as u64).max(shape.columns.min(shape.entries));
            let footprint = (((shape.columns * element) as f64 * part) as u64).max(element);
            Access::reads("x", element, count).within(footprint).ordered(Order::Given).indexed()
        }
    }
}
