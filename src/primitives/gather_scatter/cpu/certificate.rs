//! The proof of a gather or scatter: every tuple of R_out is what the definition says,
//! and L is what the generator says.

use super::Moves;
use super::locations::{Stored, check_partitions};
use crate::case::{Cancel, Failure};
use crate::device::cpu::check::{Bitmap, find};
use crate::device::cpu::{Buffer, POISON, Pool};
use crate::primitives::gather_scatter::spec::{Kernel, Source, index_of_tuple_word, tuple_word};

impl Moves {
    fn stored(&self) -> Stored<'_> {
        Stored::new(&self.locations, self.spec.index)
    }

    pub(super) fn wrong_location(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (stored, n) = (self.stored(), self.spec.moves() as usize);
        if let Source::Partitions { count, seed } = self.source {
            return check_partitions(stored, (n, count, seed), &self.starts, pool, cancel);
        }
        find(pool, n, cancel, |block| {
            block.into_iter().find_map(|i| {
                let expected = match &self.given {
                    Some(all) => all[i],
                    None => self.source.location(i as u64)?,
                };
                let found = stored.get(i);
                (found != expected).then(|| format!("L[{i}] is {found}, not {expected}"))
            })
        })
    }

    /// The tuple of R_in that belongs at a place of R_out: (place, tuple) for the `k`th
    /// check. Over all k every place comes once.
    #[inline(always)]
    fn pair(&self, stored: Stored, k: usize) -> (usize, u64) {
        match (self.spec.kernel, self.source.inverse(k as u64)) {
            (Kernel::Gather, _) => (k, stored.get(k)),
            (Kernel::Scatter, Some(i)) => (k, i),
            (Kernel::Scatter, None) => (stored.get(k) as usize, k as u64),
        }
    }

    pub(super) fn wrong_tuple(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (stored, spec) = (self.stored(), &self.spec);
        let words = spec.words();
        find(pool, spec.moves() as usize, cancel, |block| {
            block.into_iter().find_map(|k| {
                let (place, i) = self.pair(stored, k);
                (0..words).find_map(|w| {
                    let found = word(&self.to, spec.tuple, place * words as usize + w as usize);
                    let expected = tuple_word(spec.seed, spec.tuple, i, w);
                    (found != expected).then(|| {
                        format!("R_out[{place}] word {w} is {found:#x}, not {expected:#x} of R_in[{i}]")
                    })
                })
            })
        })
    }

    /// Of a scatter that overwrites: each word to which tuples go is that of one of them,
    /// which its value tells, and all others are untouched. L has been checked.
    pub(super) fn wrong_landing(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (stored, spec) = (self.stored(), &self.spec);
        let touched = Bitmap::new(spec.tuples as usize)?;
        pool.for_blocks(spec.moves() as usize, cancel, |block| {
            for i in block {
                touched.set(stored.get(i) as usize);
            }
        })?;
        let words = spec.words();
        find(pool, spec.tuples as usize, cancel, |block| {
            block.into_iter().find_map(|place| {
                (0..words).find_map(|w| {
                    let found = word(&self.to, spec.tuple, place * words as usize + w as usize);
                    let (i, of) = index_of_tuple_word(spec.seed, spec.tuple, found);
                    let landed = of == w && i < spec.moves() && stored.get(i as usize) == place as u64;
                    match touched.get(place) {
                        true if landed => None,
                        false if found == poison(spec.tuple) => None,
                        true => Some(format!(
                            "R_out[{place}] word {w} is {found:#x}, of no tuple that goes there"
                        )),
                        false => {
                            Some(format!("R_out[{place}] word {w} is {found:#x}, and nothing goes there"))
                        }
                    }
                })
            })
        })
    }
}

/// An untouched word.
fn poison(tuple: u64) -> u64 {
    if tuple == 4 { POISON & u64::from(u32::MAX) } else { POISON }
}

/// A word of R_out.
#[inline(always)]
fn word(buffer: &Buffer, tuple: u64, at: usize) -> u64 {
    // SAFETY: nobody writes R_out while it is checked.
    unsafe {
        match tuple {
            4 => u64::from(buffer.read::<u32>(at..at + 1)[0]),
            _ => buffer.read::<u64>(at..at + 1)[0],
        }
    }
}
