//! Tridiagonal systems and lines of shallow water that several tiles share, and rows of a matrix so long that f32 does not represent their
//! sums.

use scatterlab::case::{Cancel, Fault, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;

use crate::case;
use crate::host::Host;
use crate::prove::prove_all;

#[test]
pub fn tridiagonal() {
    let types = ["type=f32", "type=f64"];
    let layouts = [("strided", [4097, 9001]), ("interleaved", [1030, 5000])];
    let sizes = layouts.iter().flat_map(|(layout, sizes)| sizes.map(|rows| (layout, rows)));
    let small = sizes.flat_map(|(layout, rows)| {
        types.map(|ty| format!("layout={layout} rows={rows} systems=3 {ty} method=partition"))
    });
    let wide = [("strided", 8200), ("interleaved", 2000)].map(|(layout, rows)| {
        format!("layout={layout} rows={rows} systems=2 method=partition method.partition.rows=16")
    });
    prove_all("tridiagonal", &small.chain(wide).collect::<Vec<_>>());
}

#[test]
pub fn shallow_water() {
    let sizes = [(8200, 3), (5, 1100), (600, 40), (40, 600)];
    let words = |(columns, rows)| format!("columns={columns} rows={rows} steps=2 scene=dam");
    prove_all("shallow-water", &sizes.map(words));
}

/// The bound of a kernel that adds up so many terms in any order would let zeros pass.
#[test]
fn a_long_row_is_more_than_zero() {
    let Some(_host) = Host::new() else { return };
    let words =
        "matrix=random matrix.random.rows=2 matrix.random.entries=2000000 method=row method.row.per=block";
    let case = case("spmv", words);
    let certify = |fault| {
        let cancel = Cancel::default();
        let mut prepared = CudaExecutor::default().prepare(&case, fault, &cancel).unwrap();
        (prepared.certify(&cancel).unwrap(), prepared.tolerance())
    };
    let (verdict, tolerance) = certify(None);
    assert!(matches!(verdict, Verdict::Certified { .. }) && tolerance > 0.0, "{verdict:?} {tolerance}");
    let (zeros, _) = certify(Some(Fault::Zeros));
    assert!(matches!(zeros, Verdict::Wrong { .. }), "{zeros:?}");
}
