//! The proof of a pattern scatter: what lies where, and that nothing lies elsewhere.
//!
//! Every word of the source is a bijection of its place, so a word of the destination
//! tells who wrote it, and it is checked that this writer writes there. Where several
//! do, any of them may be the last: a lost store that another one overwrites is not
//! visible in the result.

use super::{Patterns, fill};
use crate::backend::cpu::check::{Bitmap, find, poison, verdict};
use crate::backend::cpu::{Buffer, POISON, Pool};
use crate::backend::{Cancel, Failure, Verdict};
use crate::patterns::mix::index_of_word64;
use crate::primitives::pattern::Starts;
use crate::primitives::pattern::spec::Kernel;

/// Finds the uses that write a word: the entries of the scattering pattern, by their
/// residue modulo δ.
pub(super) struct Writers<'a> {
    pattern: &'a [u64],
    starts: &'a Starts,
    delta: u64,
    count: u64,
    /// (`p[j]` mod δ, j), ascending; for δ = 0 the residue is `p[j]` itself.
    residues: Vec<(u64, u64)>,
}

impl<'a> Writers<'a> {
    fn new(pattern: &'a [u64], starts: &'a Starts, count: u64) -> Writers<'a> {
        let delta = starts.total;
        let residue = |&p: &u64| p.checked_rem(delta).unwrap_or(p);
        let mut residues: Vec<_> = pattern.iter().map(residue).zip(0..).collect();
        residues.sort_unstable();
        Writers { pattern, starts, delta, count, residues }
    }

    /// Where entry `j` of visit `i` writes.
    pub(super) fn place(&self, i: u64, j: u64) -> u64 {
        self.pattern[j as usize] + self.starts.at(i)
    }

    /// Whether any writer of `place` satisfies `is`. For δ = 0 every use writes through
    /// an entry, and `is` gets `None` for the use.
    fn any(&self, place: u64, is: impl Fn(Option<u64>, u64) -> bool) -> bool {
        let residue = place.checked_rem(self.delta).unwrap_or(place);
        let first = self.residues.partition_point(|r| r.0 < residue);
        let mut entries = self.residues[first..].iter().take_while(|r| r.0 == residue).map(|r| r.1);
        entries.any(|j| self.user(place, j).is_some_and(|i| is(i, j)))
    }

    /// The use that writes `place` through entry `j`, if one does: for δ = 0 all of them,
    /// which is `Some(None)`.
    fn user(&self, place: u64, j: u64) -> Option<Option<u64>> {
        let far = place.checked_sub(self.pattern[j as usize])?;
        match far.checked_div(self.delta) {
            Some(i) => (far % self.delta == 0 && i < self.count).then_some(Some(i)),
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
        let writers = Writers::new(pattern, &self.starts, self.spec.count);
        let touched = self.touched(&writers, pool, cancel)?;
        let mut mistake = None;
        if !gs {
            mistake = self.wrong_window(&writers, &touched, pool, cancel)?;
        }
        if mistake.is_none() {
            mistake = match self.spec.based() {
                true => self.unexplained(&writers, &touched, pool, cancel)?,
                false => self.wrong_execution(&writers, &touched, pool, cancel)?,
            };
        }
        Ok(verdict(mistake, self.spec.count * self.spec.length()))
    }

    /// A bit for each word of the destination that the definition writes.
    fn touched(&self, writers: &Writers, pool: &Pool, cancel: &Cancel) -> Result<Bitmap, Failure> {
        let touched = Bitmap::new(self.destination().holds::<u64>())?;
        self.for_uses(pool, cancel, |uses| {
            for (i, j) in uses.flat_map(|i| (0..self.length() as u64).map(move |j| (i, j))) {
                touched.set(writers.place(i, j) as usize);
            }
        })?;
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
            if spec.kernel == Kernel::Gs {
                return writers.any(place, |i, j| self.reads(i, j, k));
            }
            // A division costs more than all the rest, and with one tile there is none.
            let length = spec.length();
            let (tile, entry) = if k < length { (0, k) } else { (k / length, k % length) };
            // For δ = 0 the tiles of the last `wrap` uses of some part: any tile in use.
            let right = |i: Option<u64>| i.is_none_or(|i| spec.wrap == 1 || i % spec.wrap == tile);
            tile < spec.wrap.min(spec.count) && writers.user(place, entry).is_some_and(right)
        })
    }

    /// Whether entry `j` of use `i` of gs (of any use for `None`) reads word `k`.
    fn reads(&self, i: Option<u64>, j: u64, k: u64) -> bool {
        let (first, delta) = (self.spec.gather[j as usize], self.spec.delta_gather);
        match i {
            Some(i) => first + delta * i == k,
            None => k.checked_sub(first).is_some_and(|far| match far.checked_div(delta) {
                Some(i) => far % delta == 0 && i < self.spec.count,
                None => far == 0,
            }),
        }
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
