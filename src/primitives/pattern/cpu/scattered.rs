//! The proof of a pattern scatter: what lies where, and that nothing lies elsewhere.
//!
//! Every word of the source is a bijection of its place, so a word of the destination
//! tells who wrote it, and it is checked that this writer writes there. Where several
//! do, any of them may be the last: a lost store that another one overwrites is not
//! visible in the result.

use super::{Patterns, fill};
use crate::case::{Cancel, Failure, Verdict};
use crate::device::cpu::check::{Bitmap, find, poison, verdict};
use crate::device::cpu::{Buffer, POISON, Pool};
use crate::inputs::mix::index_of_word64;
use crate::primitives::pattern::Starts;
use crate::primitives::pattern::spec::Kernel;

/// Where uses write.
pub(super) struct Writers<'a> {
    pattern: &'a [u64],
    starts: &'a Starts,
    count: u64,
}

impl Writers<'_> {
    /// Where entry `j` of visit `i` writes.
    pub(super) fn place(&self, i: u64, j: u64) -> u64 {
        self.pattern[j as usize] + self.starts.at(i)
    }

    /// The use that writes `place` through entry `j`, if one does: for δ = 0 all of them,
    /// which is `Some(None)`. Only where uses start at δ·i.
    fn user(&self, place: u64, j: u64) -> Option<Option<u64>> {
        let far = place.checked_sub(self.pattern[j as usize])?;
        let delta = self.starts.total;
        match far.checked_div(delta) {
            Some(i) => (far % delta == 0 && i < self.count).then_some(Some(i)),
            None => (far == 0).then_some(None),
        }
    }
}

impl Patterns {
    /// Window by window scatters words that tell their place and decodes them; then
    /// executes as the clock does and checks every word of the destination.
    pub(super) fn prove_scatter(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let gs = self.spec.kernel == Kernel::Gs;
        let pattern = if gs { &self.spec.scatter } else { &self.applied };
        let writers = Writers { pattern, starts: &self.starts, count: self.spec.count };
        let touched = self.touched(&writers, pool, cancel)?;
        let mut mistake = None;
        if !gs {
            mistake = self.wrong_window(&writers, &touched, pool, cancel)?;
        }
        if mistake.is_none() {
            mistake = match self.spec.explained() {
                true => self.unexplained(&writers, &touched, pool, cancel)?,
                false => self.wrong_execution(&writers, &touched, pool, cancel)?,
            };
        }
        Ok(verdict(mistake, self.spec.count * self.spec.length()))
    }

    /// A bit for each word of the destination that the definition writes.
    fn touched(&self, writers: &Writers, pool: &Pool, cancel: &Cancel) -> Result<Bitmap, Failure> {
        let touched = Bitmap::new(self.destination().holds::<u64>())?;
        self.for_entries(pool, cancel, |i, j| _ = touched.set(writers.place(i, j) as usize))?;
        Ok(touched)
    }

    fn wrong_window(
        &self,
        writers: &Writers,
        touched: &Bitmap,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Option<String>, Failure> {
        let (p, seed) = (self.spec.length(), self.spec.seed);
        poison(pool, self.destination(), 8, cancel)?;
        let (windows, kept) = self.windows()?;
        for window in windows {
            let first = window.start as u64 * p;
            fill(&kept, window.len() * self.length(), seed, first, pool, cancel)?;
            pool.run(|worker| self.keep(worker, &window, &kept));
            let mistake = find(pool, window.len(), cancel, |block| {
                let mut uses = (window.start + block.start) as u64..(window.start + block.end) as u64;
                uses.find_map(|i| {
                    (0..p).find_map(|j| {
                        let place = writers.place(i, j);
                        let found = self.word(place);
                        let k = index_of_word64(seed, found);
                        let sound = k == i * p + j
                            || window.contains(&((k / p) as usize)) && writers.place(k / p, k % p) == place;
                        (!sound).then(|| self.mistake(place, found))
                    })
                })
            })?;
            if mistake.is_some() {
                return Ok(mistake);
            }
        }
        // Each written word was decoded in its window: what is left is what lies elsewhere.
        self.wrong_word(touched, pool, cancel, |_, _| true)
    }

    /// After an execution as the clock does it: every word that the definition writes
    /// holds a word that one of its writers stores, and the others the poison.
    fn wrong_execution(
        &self,
        writers: &Writers,
        touched: &Bitmap,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Option<String>, Failure> {
        let spec = &self.spec;
        poison(pool, self.destination(), 8, cancel)?;
        self.run_timed(pool);
        self.wrong_word(touched, pool, cancel, |place, found| {
            let k = index_of_word64(spec.seed, found);
            // A division costs more than all the rest, and with one tile there is none.
            let length = spec.length();
            let (tile, entry) = if k < length { (0, k) } else { (k / length, k % length) };
            // For δ = 0 the tiles of the last `wrap` uses of some part: any tile in use.
            let right = |i: Option<u64>| i.is_none_or(|i| spec.wrap == 1 || i % spec.wrap == tile);
            tile < spec.wrap.min(spec.count) && writers.user(place, entry).is_some_and(right)
        })
    }

    pub(super) fn wrong_word(
        &self,
        touched: &Bitmap,
        pool: &Pool,
        cancel: &Cancel,
        sound: impl Fn(u64, u64) -> bool + Sync,
    ) -> Result<Option<String>, Failure> {
        find(pool, self.destination().holds::<u64>(), cancel, |block| {
            block.into_iter().find_map(|place| {
                let found = self.word(place as u64);
                let right = match touched.get(place) {
                    true => sound(place as u64, found),
                    false => found == POISON,
                };
                (!right).then(|| self.mistake(place as u64, found))
            })
        })
    }

    pub(super) fn word(&self, place: u64) -> u64 {
        let destination: &Buffer = self.destination();
        // SAFETY: nobody writes while this is checked.
        unsafe { destination.read::<u64>(place as usize..place as usize + 1)[0] }
    }

    fn mistake(&self, place: u64, found: u64) -> String {
        match found {
            POISON => format!("word {place} of the destination was not written"),
            _ => {
                let k = index_of_word64(self.spec.seed, found);
                format!(
                    "word {place} of the destination holds {found:#x} (source word {k}), which nobody writes there"
                )
            }
        }
    }
}
