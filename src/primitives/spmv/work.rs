//! The memory accesses of a product.

use super::spec::{Matrix, Method, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

/// One pass over the matrix, in which x is gathered; by `he2007` as many as there are chunks of x, then one over the
/// products; by `segscan` one for the products, one for the heads of rows, one that scans, and one for the results; by `blocks` one
/// over the slices and one that adds the sums of each row. Zeros at the ends of short rows of a slice are not declared.
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
            let heads = Pass::once(vec![starts.clone(), flags(Direction::Write)]);
            let scan = vec![all(Direction::Read), flags(Direction::Read), all(Direction::Write)];
            let firsts = Access { count, footprint: shape.entries * element, ..all(Direction::Read) };
            let last = [Some(starts), Some(firsts), z, Some(y)].into_iter().flatten().collect();
            let bytes = shape.entries * element + 4 * shape.entries.div_ceil(32);
            (vec![first, heads, Pass::once(scan), Pass::once(last)], bytes)
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
            let matrix = [values, columns, read("rows", 4, shape.rows), gather(spec)];
            let pass = Pass::once(matrix.into_iter().chain(z).chain([y]).collect());
            (vec![pass], (element + 4) * (shape.entries + shape.entries / 4) + 4 * shape.rows)
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
    let bytes = of_matrix + element * shape.columns.min(shape.entries) + vectors;
    Work {
        passes,
        elements: shape.entries,
        effective_bytes: bytes,
        system_bytes: bytes,
        footprint: of_matrix + shape.columns * element + vectors + products,
        scratch: 0,
    }
}

/// The products of entries whose columns are in one chunk of x: all columns are read, and of the values a part.
fn products(spec: &Spec, passes: u64, columns: Access) -> Pass {
    let (element, entries) = (spec.element(), spec.shape.entries.div_ceil(passes));
    let of = |array, direction| Access::sequential(array, direction, element, entries);
    let whole = gather(spec);
    let x = Access {
        count: whole.count.div_ceil(passes),
        footprint: spec.shape.columns.div_ceil(passes) * element,
        ..whole
    };
    let accesses = vec![columns, of("values", Direction::Read), x, of("products", Direction::Write)];
    Pass { times: passes, accesses }
}

/// The accesses to x. A stencil or a band visits each part of it a few times within a short while, so that caches make it
/// one sequential read; about other matrices nothing is assumed, and each entry is an access of its own.
fn gather(spec: &Spec) -> Access {
    let (shape, element) = (spec.shape, spec.element());
    match spec.matrix {
        Matrix::Laplace5 { .. } | Matrix::Laplace7 { .. } | Matrix::Banded { .. } => {
            Access::sequential("x", Direction::Read, element, shape.columns)
        }
        _ => Access {
            array: "x".to_owned(),
            direction: Direction::Read,
            element,
            count: shape.entries,
            footprint: shape.columns * element,
            order: Order::Given,
            concurrency: Concurrency::Indexed,
        },
    }
}
