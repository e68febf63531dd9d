//! The picture of the water.

use super::Spec;
use crate::case::Snapshot;
use crate::case::snapshot::{MOST_COLUMNS, MOST_ROWS};

/// Columns and rows of the picture.
pub fn size(spec: &Spec) -> [u32; 2] {
    let most = |cells: u64, most: u32| cells.min(u64::from(most)) as u32;
    [most(spec.columns, MOST_COLUMNS), most(spec.rows(), MOST_ROWS)]
}

/// The picture from its mean heights, after so many steps. `None` of a grid without cells.
pub fn of(spec: &Spec, step: u64, values: Vec<f32>) -> Option<Snapshot> {
    let [columns, rows] = size(spec);
    let field = Snapshot::Field {
        what: "height of the water above rest, in depths".to_owned(),
        when: format!("step {step}"),
        columns,
        rows,
        values,
    };
    (spec.cells() > 0).then_some(field)
}

/// A drop of the user: where it falls, in cells, its radius, and its height.
pub fn drop_at(spec: &Spec, (x, y): (f64, f64)) -> [f64; 4] {
    let [width, length] = [spec.columns, spec.rows()].map(|cells| cells as f64);
    let radius = (width.min(length) / 16.0).max(1.5);
    [x.clamp(0.0, 1.0) * width, y.clamp(0.0, 1.0) * length, radius, drop_size(spec)]
}

/// The height of a drop of the user.
pub fn drop_size(spec: &Spec) -> f64 {
    spec.amplitude.max(0.01)
}
