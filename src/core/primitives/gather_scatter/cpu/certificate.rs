//! The certificate of a gather or scatter: every tuple of R_out matches the definition, and L matches its
//! generator.

use std::sync::atomic::{AtomicU64, Ordering};

use super::GatherScatter;
use crate::device::cpu::POISON;
use crate::device::cpu::check::{Bitmap, find};
use crate::inputs::partition_of;
use crate::primitives::cpu::prelude::*;
use crate::primitives::gather_scatter::{Kernel, Source, index_of_tuple_word, tuple_word};

/// The description of the first mistake, if there is one.
type Mistake = Result<Option<String>, Failure>;

impl GatherScatter {
    /// `L[i]`, as it is stored.
    #[inline(always)]
    fn location(&self, i: usize) -> u64 {
        // SAFETY: the workers only read now, and every bit pattern is a number.
        unsafe { self.locations.number(self.spec.index, i) }
    }

    pub(super) fn wrong_location(&self, pool: &Pool, cancel: &Cancel) -> Mistake {
        if let Source::Partitions { count, seed } = self.source {
            return self.wrong_partition(count, seed, pool, cancel);
        }
        find(pool, self.spec.moves() as usize, cancel, |block| {
            block.into_iter().find_map(|i| {
                let expected = match &self.user_indices {
                    Some(all) => all[i],
                    None => self.source.location(i as u64)?,
                };
                let found = self.location(i);
                (found != expected).then(|| format!("L[{i}] is {found}, not {expected}"))
            })
        })
    }

    /// Checks that each tuple's location lies in the range of its partition and that locations are distinct: L
    /// is then a permutation, and every partition holds exactly its own tuples. Also checks, within each block
    /// of tuples, that locations ascend in a partition (the rank is stable).
    fn wrong_partition(&self, count: u64, seed: u64, pool: &Pool, cancel: &Cancel) -> Mistake {
        let (n, starts) = (self.spec.moves() as usize, &self.starts);
        let taken = Bitmap::new(n)?;
        let descents = AtomicU64::new(u64::MAX);
        let mistake = find(pool, n, cancel, |block| {
            let mut last = vec![0; count as usize];
            for i in block {
                let (l, q) = (self.location(i), partition_of(seed, i as u64, count) as usize);
                if l < starts[q] || l >= starts[q + 1] {
                    let range = format!("[{}, {})", starts[q], starts[q + 1]);
                    return Some(format!("L[{i}] is {l}, outside its partition {range}"));
                }
                if taken.set(l as usize) {
                    return Some(format!("L[{i}] is {l}, which another tuple has too"));
                }
                if l < last[q] {
                    descents.fetch_min(i as u64, Ordering::Relaxed);
                }
                last[q] = l;
            }
            None
        })?;
        let descent = Some(descents.into_inner()).filter(|&i| i != u64::MAX);
        Ok(mistake.or_else(|| descent.map(|i| format!("L[{i}] precedes an earlier tuple of its partition"))))
    }

    /// The place of R_out and the tuple of R_in that belongs there, for the `k`th check. Over all k, every
    /// place occurs once.
    #[inline(always)]
    fn pair(&self, k: usize) -> (usize, u64) {
        match (self.spec.kernel, self.source.inverse(k as u64)) {
            (Kernel::Gather, _) => (k, self.location(k)),
            (Kernel::Scatter, Some(i)) => (k, i),
            (Kernel::Scatter, None) => (self.location(k) as usize, k as u64),
        }
    }

    pub(super) fn wrong_tuple(&self, pool: &Pool, cancel: &Cancel) -> Mistake {
        find(pool, self.spec.moves() as usize, cancel, |block| {
            block.into_iter().find_map(|k| {
                let (place, i) = self.pair(k);
                self.words(place).find_map(|(w, found)| {
                    let expected = tuple_word(self.spec.seed, self.spec.tuple, i, w);
                    (found != expected).then(|| {
                        format!("R_out[{place}] word {w} is {found:#x}, not {expected:#x} of R_in[{i}]")
                    })
                })
            })
        })
    }

    /// For a scatter that overwrites: each word of a destination must be that of one of its tuples, which the
    /// word's value identifies, and all other words must be untouched. L has been checked before.
    pub(super) fn wrong_landing(&self, pool: &Pool, cancel: &Cancel) -> Mistake {
        let spec = &self.spec;
        let touched = Bitmap::new(spec.tuples as usize)?;
        pool.for_blocks(spec.moves() as usize, cancel, |block| {
            for i in block {
                touched.set(self.location(i) as usize);
            }
        })?;
        let untouched = if spec.tuple == 4 { POISON & u64::from(u32::MAX) } else { POISON };
        let mistake = |place: usize, w: u64, found: u64| {
            let (i, of) = index_of_tuple_word(spec.seed, spec.tuple, found);
            let landed = || of == w && i < spec.moves() && self.location(i as usize) == place as u64;
            let what = match touched.get(place) {
                true if landed() => return None,
                false if found == untouched => return None,
                true => "of no tuple that goes there",
                false => "and nothing goes there",
            };
            Some(format!("R_out[{place}] word {w} is {found:#x}, {what}"))
        };
        find(pool, spec.tuples as usize, cancel, |block| {
            block
                .into_iter()
                .find_map(|place| self.words(place).find_map(|(w, found)| mistake(place, w, found)))
        })
    }

    /// The words of a tuple of R_out, each with its index in the tuple.
    #[inline(always)]
    fn words(&self, place: usize) -> impl Iterator<Item = (u64, u64)> {
        let words = self.spec.words();
        // SAFETY: the workers only read now, and every bit pattern is a number.
        let word = move |w| unsafe { self.to.number(self.spec.tuple, place * words as usize + w as usize) };
        (0..words).map(move |w| (w, word(w)))
    }
}
