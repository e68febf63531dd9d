//! The proof of a pattern gather.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Patterns;
use crate::case::{Cancel, Failure, Verdict};
use crate::device::cpu::check::{find, poison, verdict};
use crate::device::cpu::simd::fold;
use crate::device::cpu::{Buffer, Pool, pieces};
use crate::inputs::mix::word64;

impl Patterns {
    /// Window by window keeps every gathered word and compares it; then executes as the
    /// clock does, and checks that every worker's dense side holds its last tiles.
    pub(super) fn prove_gather(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let (windows, kept) = self.windows()?;
        for window in windows {
            poison(pool, &kept, 8, cancel)?;
            pool.run(|worker| self.keep(worker, &window, &kept));
            let mistake = find(pool, window.len(), cancel, |block| {
                let uses = window.start + block.start..window.start + block.end;
                self.wrong_tile(&kept, uses, |i| i - window.start)
            })?;
            if mistake.is_some() {
                return Ok(verdict(mistake, 0));
            }
        }
        Ok(verdict(self.wrong_dense_side(pool, cancel)?, self.spec.count * self.spec.length()))
    }

    /// The first of these uses whose tile in `dense` is not what it gathers.
    fn wrong_tile(
        &self,
        dense: &Buffer,
        mut uses: Range<usize>,
        tile: impl Fn(usize) -> usize,
    ) -> Option<String> {
        let length = self.length();
        uses.find_map(|i| {
            let first = tile(i) * length;
            // SAFETY: nobody writes while this is checked.
            let found = unsafe { dense.read::<u64>(first..first + length) };
            let base = self.starts.at(i as u64);
            let wrong = found
                .iter()
                .zip(&self.applied)
                .position(|(&word, &p)| word != word64(self.spec.seed, p + base))?;
            let (found, expected) = (found[wrong], word64(self.spec.seed, self.applied[wrong] + base));
            Some(format!("entry {wrong} of gather {i} is {found:#x}, not {expected:#x}"))
        })
    }

    fn wrong_dense_side(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        for dense in &self.dense {
            poison(pool, dense, 8, cancel)?;
        }
        self.run_timed(pool);
        let wrap = self.spec.wrap as usize;
        let found = pool.run(|worker| {
            let [mine, _] = pieces(self.count(), 1, worker, None);
            let last = mine.start.max(mine.end.saturating_sub(wrap))..mine.end;
            let mistake = self.wrong_tile(&self.dense[worker.index], last, |i| i % wrap);
            mistake.map(|m| format!("after a timed execution, on thread {}: {m}", worker.index))
        });
        Ok(found.into_iter().flatten().next())
    }

    /// Executes as the clock does and compares the fold of everything that was read.
    pub(super) fn prove_fold(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let expected = AtomicU64::new(0);
        self.for_uses(pool, cancel, |uses| {
            let sum = uses.fold(0, |sum, i| {
                let base = self.starts.at(i);
                self.applied.iter().fold(sum, |s, &p| fold(s, word64(self.spec.seed, p + base)))
            });
            expected.fetch_add(sum, Ordering::Relaxed);
        })?;
        self.run_timed(pool);
        let found = self.folds.iter().fold(0, |s, f| fold(s, f.0.load(Ordering::Relaxed)));
        let expected = expected.into_inner();
        let mistake = (found != expected).then(|| format!("the sum is {found:#x}, not {expected:#x}"));
        Ok(verdict(mistake, self.spec.count * self.spec.length()))
    }
}
