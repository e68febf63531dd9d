//! The heights at the beginning, as functions of the cell without libm: the same bits on every machine; and the picture of the
//! water, with drops of the user.

use super::{Scene, Spec};
use crate::case::Snapshot;
use crate::case::snapshot::{MOST_COLUMNS, MOST_ROWS};
use crate::inputs::mix::word64;

impl Spec {
    /// The height of a cell above rest at the beginning.
    pub fn height(&self, column: u64, row: u64) -> f32 {
        let [x, y] = [column, row].map(|at| at as f64 + 0.5);
        let [width, length] = [self.columns, self.rows()].map(|cells| cells as f64);
        let size = match self.scene {
            Scene::Drop => {
                // Not in the middle, so that no symmetry hides a mistake.
                let radius = (width.min(length) / 8.0).max(1.5);
                hill((x - 0.4 * width) / radius, (y - 0.3 * length) / radius)
            }
            Scene::Wave { halves } => cos_pi(halves as f64 * x / width),
            Scene::Dam if 2.0 * x < width => 1.0,
            Scene::Dam => -1.0,
        };
        (self.amplitude * size) as f32
    }

    /// All heights, row by row.
    pub fn heights(&self) -> Vec<f32> {
        let row = |row| (0..self.columns).map(move |column| self.height(column, row));
        (0..self.rows()).flat_map(row).collect()
    }

    /// The heights from which an execution that is judged begins, row by row: those of the scene and, on top of each cell, a random
    /// part of an eighth of the amplitude (10⁻⁶ at least, for flat water shows nothing), or of the depth where that is less. Such
    /// ripples change by far more than rounding in every step and every cell, however wide or far away the waves of the scene are,
    /// and their mean stays when all waves are gone.
    pub fn rippled(&self) -> Vec<f32> {
        let shallowest = if self.scene == Scene::Drop { 1.0 } else { 1.0 - self.amplitude };
        let most = self.judged_size().min(shallowest) / 8.0;
        let part = |cell: u64| (word64(self.seed, cell) >> 40) as f64 / f64::from(1 << 24);
        let all = (0..).zip(self.heights());
        all.map(|(cell, height)| (f64::from(height) + most * part(cell)) as f32).collect()
    }
}

/// (1 − r²)² within a circle of radius 1.
pub fn hill(x: f64, y: f64) -> f64 {
    let rest = (1.0 - x * x - y * y).max(0.0);
    rest * rest
}

/// cos(π·t) for t ≥ 0, from sums and products alone.
fn cos_pi(t: f64) -> f64 {
    let t = t - 2.0 * (t / 2.0).floor();
    let t = if t > 1.0 { 2.0 - t } else { t };
    if t > 0.5 {
        return -cos_pi(1.0 - t);
    }
    let square = (std::f64::consts::PI * t) * (std::f64::consts::PI * t);
    // The terms of the series up to x^22, from the last one on.
    (1..=11).rev().fold(1.0, |sum, k| 1.0 - square / f64::from((2 * k - 1) * (2 * k)) * sum)
}

/// Columns and rows of the picture.
pub fn picture_size(spec: &Spec) -> [u32; 2] {
    let most = |cells: u64, most: u32| cells.min(u64::from(most)) as u32;
    [most(spec.columns, MOST_COLUMNS), most(spec.rows(), MOST_ROWS)]
}

/// The picture from its mean heights, after so many steps. `None` of a grid without cells.
pub fn picture(spec: &Spec, step: u64, values: Vec<f32>) -> Option<Snapshot> {
    let [columns, rows] = picture_size(spec);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_one() {
        for t in [0.0, 0.1, 0.25, 0.5, 0.7, 1.0, 1.3, 1.5, 1.9, 2.0, 7.25, 1000.5] {
            assert!((cos_pi(t) - (std::f64::consts::PI * t).cos()).abs() < 1e-12, "{t}");
        }
    }
}
