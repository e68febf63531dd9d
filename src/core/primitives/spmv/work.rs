//! The memory accesses of a product.

use std::collections::BTreeSet;

use super::bands;
use super::spec::{Matrix, Method, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

/// One pass over the matrix, in which x is gathered; by `he2007` as many as there are chunks of x, then one over the
/// products; by `segscan` one for the products, one for the heads of rows, one that scans, and one for the results; by `blocks` on GPUs
/// one over the slices and one that adds the sums of each row, on processors one in which each band of rows reads x and adds
/// to its part of y. Zeros at the ends of rows of a slice that are shorter than others are not declared.
pub fn work(spec: &Spec) -> Work {
    let (shape, element) = (spec.shape, spec.element());
    let read = |array, element, count| Access::sequential(array, Direction::Read, element, count);
    let starts = read("starts", 4, shape.rows + 1);
    let [columns, values] = [read("columns", 4, shape.entries), read("values", element, shape.entries)];
    let z = (spec.beta == 1).then(|| read("z", element, shape.rows));
    let y = Access::sequential("y", Direction::Write, element, shape.rows);
    let of_matrix = starts.bytes() + columns.bytes() + values.bytes();
    let (passes, products) = match spec.method {
        Method::He2007 { passes: Some(passes) } => {
            let sums = [Some(starts), Some(read("products", element, shape.entries)), z, Some(y)];
            let sums = Pass::once(sums.into_iter().flatten().collect());
            (vec![products(spec, passes, columns), sums], shape.entries * element)
        }
        Method::Segscan => {
            let count = shape.rows.min(shape.entries);
            let flags = |direction| Access::sequential("heads", direction, 4, shape.entries.div_ceil(32));
            let all = |direction| Access::sequential("products", direction, element, shape.entries);
            let mut first = products(spec, 1, columns);
            first.accesses.push(flags(Direction::Write));
            // An atomic operation for each row that has entries.
            let (order, concurrency) = (Order::Given, Concurrency::Indexed);
            let set = Access { count, order, concurrency, ..flags(Direction::Write) };
            let heads = Pass::once(vec![starts.clone(), set]);
            let scan = vec![all(Direction::Read), flags(Direction::Read), all(Direction::Write)];
            let firsts = Access { count, footprint: shape.entries * element, ..all(Direction::Read) };
            let last = [Some(starts), Some(firsts), z, Some(y)].into_iter().flatten().collect();
            let bytes = shape.entries * element + 4 * shape.entries.div_ceil(32);
            (vec![first, heads, Pass::once(scan), Pass::once(last)], bytes)
        }
        Method::Blocks { columns: Some(width) } if spec.backend.is_cpu() => {
            // As many bands as one worker has; others have bands of their own, and read x as often.
            let height = bands::most_rows(width).min(shape.rows).max(1);
            let bands = shape.rows.div_ceil(height);
            let count = shape.entries.min(shape.columns * bands);
            let x = Access { count, ..read("x", element, shape.columns) };
            let sums = |direction| Access {
                footprint: height * element,
                order: Order::Given,
                concurrency: Concurrency::Indexed,
                ..Access::sequential("y", direction, element, shape.entries)
            };
            let matrix = vec![values, read("places", 4, shape.entries), x];
            let vectors = [z, Some(y)].into_iter().flatten();
            let all =
                matrix.into_iter().chain(vectors).chain([sums(Direction::Read), sums(Direction::Write)]);
            // Beside the compressed rows; each block that has entries takes 8 bytes.
            let blocks = shape.entries.min(shape.columns.div_ceil(width) * bands);
            (vec![Pass::once(all.collect())], (element + 4) * shape.entries + 8 * blocks)
        }
        Method::Blocks { columns: Some(width) } => {
            let layers = shape.columns.div_ceil(width);
            let sums = |direction| Access::sequential("layers", direction, element, shape.rows * layers);
            let matrix = vec![values, read("places", 2, shape.entries), read("rows", 4, shape.rows * layers)];
            let x = read("x", element, shape.columns);
            let products = Pass::once([matrix, vec![x, sums(Direction::Write)]].concat());
            let added = [Some(sums(Direction::Read)), z, Some(y)].into_iter().flatten().collect();
            // The slices, with zeros at the ends of short rows, beside the compressed rows that they are made of.
            let slices = (element + 2) * (shape.entries + shape.entries / 4) + 8 * shape.rows * layers;
            (vec![products, Pass::once(added)], slices + shape.rows * layers * element)
        }
        Method::Slices => {
            // Rows are filled up to whole groups of 16 bytes of values.
            let group = 16 / element;
            let most = shape.entries.div_ceil(shape.rows.max(1)).next_multiple_of(group) * shape.rows;
            let filled = most.max(shape.entries);
            let starts = read("starts", 4, shape.rows.div_ceil(LANES as u64) + 1);
            let filled_in = [read("values", element, filled), read("columns", 4, filled)];
            let matrix = filled_in.into_iter().chain([starts, read("rows", 4, shape.rows), gather(spec)]);
            let pass = Pass::once(matrix.chain(z).chain([y]).collect());
            (vec![pass], (element + 4) * (filled + filled / 4) + 4 * shape.rows)
        }
        Method::Sorted => {
            let matrix = [starts, columns, values, read("places", 2, shape.entries), gather(spec)];
            let pass = Pass::once(matrix.into_iter().chain(z).chain([y]).collect());
            (vec![pass], (element + 6) * shape.entries)
        }
        _ => {
            let all = [Some(starts), Some(columns), Some(values), Some(gather(spec)), z, Some(y)];
            (vec![Pass::once(all.into_iter().flatten().collect())], 0)
        }
    };
    let vectors = shape.rows * element * (1 + spec.beta);
    let declared =
        passes.iter().flat_map(|pass| pass.accesses.iter().map(|access| pass.times * access.bytes())).sum();
    // Blocks of columns have places of two bytes on GPUs.
    let bytes = (of_matrix + element * shape.columns.min(shape.entries) + vectors).min(declared);
    Work {
        passes,
        elements: shape.entries,
        effective_bytes: bytes,
        system_bytes: bytes,
        footprint: of_matrix + shape.columns * element + vectors + products,
        scratch: 0,
    }
}

/// The products of entries whose columns are in one chunk of x: all columns are read, and of the values a part. The columns
/// of a row ascend, so that a chunk's entries are neighbours in it: of m random ones m/p in each of p passes, or
/// m/p / (1 − (1 − 1/p)^m) if rows without any do not count. Of stencils and bands they are one stretch.
fn products(spec: &Spec, passes: u64, columns: Access) -> Pass {
    let (element, entries) = (spec.element(), spec.shape.entries.div_ceil(passes));
    let whole = gather(spec);
    let (mean, part) = (spec.shape.entries as f64 / spec.shape.rows.max(1) as f64, 1.0 / passes as f64);
    // Of a matrix without entries, too: 0/0 is no number, which a plan cannot keep.
    let run = (mean * part / (1.0 - (1.0 - part).powf(mean))).max(1.0);
    let order = Order::Strided { stride: passes, run };
    let scattered = passes > 1 && whole.order != Order::Sequential;
    let of = |array, direction| {
        let taken = Access::sequential(array, direction, element, entries);
        let all = spec.shape.entries * element;
        if scattered { Access { footprint: all, order: order.clone(), ..taken } } else { taken }
    };
    let x = Access {
        count: whole.count.div_ceil(passes),
        footprint: spec.shape.columns.div_ceil(passes) * element,
        ..whole
    };
    let accesses = vec![columns, of("values", Direction::Read), x, of("products", Direction::Write)];
    Pass { times: passes, accesses }
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
            Access::sequential("x", Direction::Read, element, shape.columns)
        }
        _ => {
            let (asked, part) = near(spec);
            Access {
                array: "x".to_owned(),
                direction: Direction::Read,
                element,
                // All of x is asked for at least once.
                count: ((shape.entries as f64 * asked) as u64).max(shape.columns.min(shape.entries)),
                footprint: (((shape.columns * element) as f64 * part) as u64).max(element),
                order: Order::Given,
                concurrency: Concurrency::Indexed,
            }
        }
    }
}
