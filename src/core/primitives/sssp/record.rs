//! The size of the frontier by step, in a record of bounded length that spans the whole search: of every step at first, and
//! of every second one of those that it holds whenever it is full.
//!
//! A step that is kept goes where one was that is kept no longer, so nothing is moved. Twice as many steps as before are in
//! the record at half the resolution, and the second half of those that are kept then, in order, takes the places of the
//! steps that were dropped, in order (`slot_of` in `kernels/sssp/step.cuh`).

use crate::case::Snapshot;

/// Sizes in a record.
pub const LENGTH: usize = 4096;

/// A step among as many as this power of two, times `LENGTH`.
fn level(step: u64) -> u32 {
    let times = step / LENGTH as u64;
    u64::BITS - times.leading_zeros()
}

/// Where the size of the frontier of a step, from 0, is kept; `None` if it is not.
pub fn slot(step: u64) -> Option<usize> {
    if !step.is_multiple_of(1 << level(step)) {
        return None;
    }
    let mut at = step;
    while at >= LENGTH as u64 {
        let level = level(at);
        at = at - ((LENGTH as u64 / 2) << level) + (1 << (level - 1));
    }
    Some(at as usize)
}

/// The record of so many steps: how many steps two neighbours are apart, and the sizes of the frontier from the first step
/// on.
fn sizes(steps: u64, kept: impl Fn(usize) -> u64) -> (u64, Vec<u64>) {
    let apart = 1 << level(steps.saturating_sub(1));
    let all = (0..steps).step_by(apart as usize);
    (apart, all.filter_map(slot).map(kept).collect())
}

/// The picture of a search of so many steps, of which each slot of the record keeps a size: a curve. `None` of a search
/// without steps.
pub fn picture(steps: u64, kept: impl Fn(usize) -> u64) -> Option<Snapshot> {
    let (apart, sizes) = sizes(steps, kept);
    (!sizes.is_empty()).then(|| Snapshot::Curve {
        x: "step".to_owned(),
        y: "vertices in the frontier".to_owned(),
        spacing: apart as f64,
        values: sizes.into_iter().map(|size| size as f64).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_has_the_sizes_by_step() {
        let Some(Snapshot::Curve { spacing, values, .. }) = picture(8193, |slot| slot as u64) else {
            panic!("no curve")
        };
        assert_eq!((spacing, values.len(), values[1]), (4.0, 2049, 4.0));
        assert_eq!(picture(0, |_| 1), None);
    }

    /// After any number of steps the record holds the latest that was written for each place, and just those at equal
    /// distances from the first one on.
    #[test]
    fn it_spans_all_steps() {
        let (mut record, mut written) = (vec![u64::MAX; LENGTH], 0);
        for steps in [0, 1, 2, 4095, 4096, 4097, 8191, 8192, 8193, 12_289, 40_000, 65_536, 65_537, 1_000_003]
        {
            for step in written..steps {
                if let Some(slot) = slot(step) {
                    record[slot] = step;
                }
            }
            written = steps;
            let (apart, found) = sizes(steps, |slot| record[slot]);
            let expected: Vec<u64> = (0..steps).step_by(apart as usize).collect();
            assert_eq!(found, expected, "{steps}");
            assert!(found.len() <= LENGTH && (apart == 1 || found.len() > LENGTH / 2), "{steps} {apart}");
        }
    }
}
