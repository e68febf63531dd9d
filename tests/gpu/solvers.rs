//! Tridiagonal systems and lines of shallow water that several tiles share.

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
