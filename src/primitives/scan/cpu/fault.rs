//! Scans of tiles, with the mistakes that a certificate must find.

use std::ops::Range;

use super::kernels::Arrays;
use super::{Bits, Scan};
use crate::case::Fault;
use crate::device::cpu::Worker;

impl Scan {
    /// Scans the tile at place `t` from its prefix; what that has become behind it.
    pub(super) fn scan(
        &self,
        arrays: &Arrays,
        range: Range<usize>,
        t: usize,
        prefix: Bits,
        worker: Worker,
    ) -> Bits {
        match self.fault {
            Some(Fault::SkippedStore) if range.contains(&(self.n / 2)) => {
                self.skipping(arrays, range, prefix)
            }
            Some(Fault::WrongChunk) if t + 1 == self.tiles() => self.elsewhere(range, t, prefix, worker),
            // SAFETY: the range lies inside the arrays, or with a fault one element behind, in the guard.
            _ => unsafe { (self.kernels.scan)(arrays, range, prefix) },
        }
    }

    /// Without the element in the middle of the array, which counts but is not stored.
    fn skipping(&self, arrays: &Arrays, range: Range<usize>, prefix: Bits) -> Bits {
        let middle = self.n / 2;
        let (mut first, mut second) = (range.start..middle, middle + 1..range.end);
        if self.spec.backward() {
            std::mem::swap(&mut first, &mut second);
        }
        // SAFETY: as in `scan`.
        let before = unsafe { (self.kernels.scan)(arrays, first, prefix) };
        let total = self.total(arrays, middle..middle + 1);
        // SAFETY: as in `scan`.
        unsafe { (self.kernels.scan)(arrays, second, self.behind(before, total)) }
    }

    /// The last tile's worker goes over the tile before it, or over half of the only one.
    fn elsewhere(&self, range: Range<usize>, t: usize, prefix: Bits, worker: Worker) -> Bits {
        let half = range.len() / 2;
        let tile = if t == 0 { range.clone() } else { self.tile_at(t - 1) };
        let other = match (t, self.spec.backward()) {
            (0, false) => range.start..range.start + half,
            (0, true) => range.end - half..range.end,
            _ => tile.clone(),
        };
        let arrays = self.arrays(&tile, worker);
        // SAFETY: as in `scan`.
        unsafe { (self.kernels.scan)(&arrays, other, prefix) }
    }
}
