//! The memory accesses of a product.

use std::collections::BTreeSet;

use super::bands;
use super::spec::{Matrix, Method, Spec};
use crate::case::work::{Access, Order, Pass, Work};

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let (shape, element) = (spec.shape, spec.element());
    let matrix = 4 * (shape.rows + 1) + (4 + element) * shape.entries;
    let vectors = shape.rows * element * (1 + spec.beta);
    let (passes, beside) = passes(spec);
    // Blocks of columns have places of two bytes on GPUs.
    let declared = passes.iter().map(Pass::bytes).sum();
    let bytes = (matrix + element * shape.columns.min(shape.entries) + vectors).min(declared);
    Work::of(shape.entries, bytes, passes).footprint(matrix + shape.columns * element + vectors + beside)
}

/// The passes, and the bytes of arrays beside the compressed rows and the vectors: one pass over the matrix, in which x
/// is gathered; by `he2007` as many as there are chunks of x, then one over the products; by `segscan` one for the
/// products, one for the heads of rows, one that scans, and one for the results; by `blocks` those of [`in_bands`] or
/// [`in_layers`]. Zeros at the ends of rows of a slice that are shorter than others are not declared.
fn passes(spec: &Spec) -> (Vec<Pass>, u64) {
    let (rows, entries, element) = (spec.shape.rows, spec.shape.entries, spec.element());
    let starts = Access::reads("starts", 4, rows + 1);
    let [columns, values] = [Access::reads("columns", 4, entries), Access::reads("values", element, entries)];
    match spec.method {
        Method::He2007 { passes: Some(passes) } => {
            let sums = Pass::once([starts, Access::reads("products", element, entries)]).and(results(spec));
            (vec![products(spec, passes), sums], entries * element)
        }
        Method::Segscan => {
            let (firsts, words) = (rows.min(entries), entries.div_ceil(32));
            let heads = Access::reads("heads", 4, words);
            let cleared = Access::writes("heads", 4, words);
            // An atomic operation for each row that has entries.
            let set = Access { count: firsts, ..cleared.clone() }.ordered(Order::Given).indexed();
            let all = Access::reads("products", element, entries);
            let last = Access { count: firsts, ..all.clone() };
            let passes = vec![
                products(spec, 1).and([cleared]),
                Pass::once([starts.clone(), set]),
                Pass::once([all, heads, Access::writes("products", element, entries)]),
                Pass::once([starts, last]).and(results(spec)),
            ];
            (passes, entries * element + 4 * words)
        }
        Method::Blocks { columns: Some(width) } if spec.backend.is_cpu() => in_bands(spec, width),
        Method::Blocks { columns: Some(width) } => in_layers(spec, width),
        Method::Slices => {
            // Rows are filled up to whole groups of 16 bytes of values.
            let filled = (entries.div_ceil(rows.max(1)).next_multiple_of(16 / element) * rows).max(entries);
            let matrix = [
                Access::reads("values", element, filled),
                Access::reads("columns", 4, filled),
                Access::reads("starts", 4, rows.div_ceil(LANES as u64) + 1),
                Access::reads("rows", 4, rows),
                gather(spec),
            ];
            let pass = Pass::once(matrix).and(results(spec));
            (vec![pass], (element + 4) * (filled + filled / 4) + 4 * rows)
        }
        Method::Sorted => {
            let matrix = [starts, columns, values, Access::reads("places", 2, entries), gather(spec)];
            (vec![Pass::once(matrix).and(results(spec))], (element + 6) * entries)
        }
        _ => (vec![Pass::once([starts, columns, values, gather(spec)]).and(results(spec))], 0),
    }
}

/// The vectors of rows: z if there is one, and y.
fn results(spec: &Spec) -> impl Iterator<Item = Access> {
    let (element, rows) = (spec.element(), spec.shape.rows);
    let z = (spec.beta == 1).then(|| Access::reads("z", element, rows));
    z.into_iter().chain([Access::writes("y", element, rows)])
}

/// Blocks on processors: a pass in which each band of rows reads x and adds to its part of y.
fn in_bands(spec: &Spec, width: u64) -> (Vec<Pass>, u64) {
    let (shape, entries, element) = (spec.shape, spec.shape.entries, spec.element());
    // As many bands as one worker has; others have bands of their own, and read x as often.
    let height = bands::most_rows(width).min(shape.rows).max(1);
    let bands = shape.rows.div_ceil(height);
    let x = Access::reads("x", element, entries.min(shape.columns * bands)).within(element * shape.columns);
    let matrix = [Access::reads("values", element, entries), Access::reads("places", 4, entries), x];
    let sums = [Access::reads, Access::writes].map(|of| of("y", element, entries).within(height * element));
    let sums = sums.map(|sums| sums.ordered(Order::Given).indexed());
    // Beside the compressed rows; each block that has entries takes 8 bytes.
    let blocks = entries.min(shape.columns.div_ceil(width) * bands);
    (vec![Pass::once(matrix).and(results(spec)).and(sums)], (element + 4) * entries + 8 * blocks)
}

/// Blocks on GPUs: a pass over the slices, and one that adds the sums of each row.
fn in_layers(spec: &Spec, width: u64) -> (Vec<Pass>, u64) {
    let (entries, element) = (spec.shape.entries, spec.element());
    let sums = spec.shape.rows * spec.shape.columns.div_ceil(width);
    let products = Pass::once([
        Access::reads("values", element, entries),
        Access::reads("places", 2, entries),
        Access::reads("rows", 4, sums),
        Access::reads("x", element, spec.shape.columns),
        Access::writes("layers", element, sums),
    ]);
    let added = Pass::once([Access::reads("layers", element, sums)]).and(results(spec));
    // The slices, with zeros at the ends of short rows, beside the compressed rows that they are made of.
    (vec![products, added], (element + 2) * (entries + entries / 4) + (8 + element) * sums)
}

/// The products of entries whose columns are in one chunk of x: all columns are read, and of the values a part. The columns
/// of a row ascend, so that a chunk's entries are neighbours in it: of m random ones m/p in each of p passes, or
/// m/p / (1 − (1 − 1/p)^m) if rows without any do not count. Those of stencils and bands are one stretch.
fn products(spec: &Spec, passes: u64) -> Pass {
    let (element, entries) = (spec.element(), spec.shape.entries.div_ceil(passes));
    let whole = gather(spec);
    let (mean, part) = (spec.shape.entries as f64 / spec.shape.rows.max(1) as f64, 1.0 / passes as f64);
    // A matrix without entries must have one, too: 0/0 is no number, which a plan cannot keep.
    let run = (mean * part / (1.0 - (1.0 - part).powf(mean))).max(1.0);
    let order = Order::Strided { stride: passes, run };
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

/// What warps of a GPU ask for, as a part of the entries, and the part of x that they gather from at a time. Of R-MAT some
/// tiles are looked at; its columns are as many as their entropy tells. Lanes that walk along sorted random rows, each at
/// its own, are near place k of x's n at entry k of n: within two standard deviations of a beta distribution on each side.
fn near(spec: &Spec) -> (f64, f64) {
    let (shape, sorted) = (spec.shape, spec.method == Method::Sorted);
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
        Matrix::Random { .. } if spec.method == Method::Slices => (1.0, (2.0 / (mean + 2.0).sqrt()).min(1.0)),
        _ => (1.0, 1.0),
    }
}

/// The accesses to x. A stencil or a band visits each part of it a few times within a short while, so that caches make it
/// one sequential read; of other matrices each entry is an access of its own, unless a warp asks for several at once.
fn gather(spec: &Spec) -> Access {
    let (shape, element) = (spec.shape, spec.element());
    match spec.matrix {
        Matrix::Laplace5 { .. } | Matrix::Laplace7 { .. } | Matrix::Banded { .. } => {
            Access::reads("x", element, shape.columns)
        }
        _ => {
            let (asked, part) = near(spec);
            // All of x is asked for at least once.
            let count = ((shape.entries as f64 * asked) as u64).max(shape.columns.min(shape.entries));
            let footprint = (((shape.columns * element) as f64 * part) as u64).max(element);
            Access::reads("x", element, count).within(footprint).ordered(Order::Given).indexed()
        }
    }
}
