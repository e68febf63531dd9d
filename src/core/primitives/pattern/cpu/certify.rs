//! The certificates of pattern on the CPU. Windows of uses are executed by the kernel that keeps everything.
//! What timed executions leave is judged by itself. Of shuffled visits, some ranges are executed alone, as in the
//! timed region.
//!
//! gather: each word is compared with its closed form. scatter: every word of the destination must be right,
//! and no other word may be written. Every word of the source is a bijection of its index, so a word of the
//! destination identifies its writer, and the certificate checks that this writer writes there. If several uses
//! write a word, any of them may be the last: a lost store that another one overwrites is not visible in the
//! result.
//!
//! For gs, and for a scatter whose uses start anywhere, the writers of a word are not computed from its place,
//! because many entries of the pattern would have to be tried; instead, each writer checks whether the word is
//! the one that it stores.

use std::sync::atomic::Ordering;

use super::Patterns;
use crate::device::cpu::check::{Bitmap, find, poison};
use crate::device::cpu::simd::fold;
use crate::device::cpu::{Blocks, POISON};
use crate::inputs::mix::{index_of_word64, word64};
use crate::primitives::cpu::prelude::*;
use crate::primitives::pattern::spec::{Kernel, Method};
use crate::primitives::pattern::{MADE, window};

/// The description of the first mistake, if there is one.
type Mistake = Result<Option<String>, Failure>;

/// A case whose executions are judged.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub case: &'a Patterns,
    pub pool: &'a Pool,
    pub cancel: &'a Cancel,
}

impl<'a> Judge<'a> {
    /// The first mistake that the output of the timed kernel cannot show: in an instantiation that keeps
    /// everything, and in the order of the visits, of which some ranges are executed alone.
    pub fn wrong_beyond_output(&self) -> Mistake {
        let all = 0..self.case.count();
        let kept = match (self.case.spec.kernel, self.case.spec.method) {
            (Kernel::Gs, _) | (_, Method::ReadOnly) => None,
            (kernel, _) if kernel.scatters() => self.scattered(&all)?.wrong_window()?,
            _ => self.wrong_gather()?,
        };
        let visited = kept.map_or_else(|| self.wrong_visits(), |mistake| Ok(Some(mistake)))?;
        visited.map_or_else(|| self.wrong_start(), |mistake| Ok(Some(mistake)))
    }

    /// Executes ranges of shuffled visits alone.
    fn wrong_visits(&self) -> Mistake {
        for probe in self.case.spec.probes() {
            let window = probe.first as usize..(probe.first + probe.count) as usize;
            self.case.clear(self.pool, self.cancel)?;
            self.pool.run(|worker| self.case.execute_uses(worker, &window));
            if let Some(mistake) = self.wrong_output(&window)? {
                return Ok(Some(format!("visits {} to {}: {mistake}", window.start, window.end - 1)));
            }
        }
        Ok(None)
    }

    /// The first start, if starts are read from arrays, that is not the definition's.
    fn wrong_start(&self) -> Mistake {
        for (array, (_, starts)) in self.case.arrays.iter().zip(self.case.spec.sides()) {
            let mistake = find(self.pool, self.case.count(), self.cancel, |mut block| {
                block.find_map(|i| {
                    // SAFETY: nobody writes the starts, and the array holds `count` of them.
                    let found = unsafe { array.number(if self.case.wide { 8 } else { 4 }, i) };
                    let expected = starts.at(i as u64);
                    (found != expected).then(|| format!("visit {i} starts at {found}, not at {expected}"))
                })
            })?;
            if mistake.is_some() {
                return Ok(mistake);
            }
        }
        Ok(None)
    }

    /// The first mistake in what executions of the uses `window` have left since the last clearing.
    pub fn wrong_output(&self, window: &Range<usize>) -> Mistake {
        match (self.case.spec.kernel.scatters(), self.case.spec.method) {
            (true, _) => self.scattered(window)?.wrong_output(),
            (false, Method::ReadOnly) => self.wrong_fold(window),
            (false, _) => Ok(self.wrong_dense_side(window)),
        }
    }

    /// Keeps every gathered word and compares it.
    fn wrong_gather(&self) -> Mistake {
        let clear = |kept: &mut Buffer, _: &Range<usize>| poison(self.pool, kept, 8, self.cancel);
        let wrong = |kept: &Buffer, window: &Range<usize>, i| self.wrong_tile(kept, i, i - window.start);
        self.wrong_use(clear, wrong)
    }

    /// Executes window by window with a dense side that `made` initializes, and reports the first use for which
    /// `wrong` finds a mistake.
    fn wrong_use(
        &self,
        made: impl Fn(&mut Buffer, &Range<usize>) -> Result<(), Failure>,
        wrong: impl Fn(&Buffer, &Range<usize>, usize) -> Option<String> + Sync,
    ) -> Mistake {
        let mut kept = Buffer::new(window(&self.case.spec, MADE) as usize)?;
        let uses = kept.holds::<u64>() / self.case.length();
        for first in (0..self.case.count()).step_by(uses) {
            let window = first..(first + uses).min(self.case.count());
            made(&mut kept, &window)?;
            self.pool.run(|worker| self.case.keep(worker, &window, &kept));
            let mistake = find(self.pool, window.len(), self.cancel, |mut block| {
                block.find_map(|i| wrong(&kept, &window, first + i))
            })?;
            if mistake.is_some() {
                return Ok(mistake);
            }
        }
        Ok(None)
    }

    /// Describes the first entry in which use `i`'s tile of `dense` differs from the definition.
    fn wrong_tile(&self, dense: &Buffer, i: usize, tile: usize) -> Option<String> {
        let first = tile * self.case.length();
        // SAFETY: nobody writes while this is checked.
        let found = unsafe { dense.read::<u64>(first..first + self.case.length()) };
        let base = self.case.starts.at(i as u64);
        let expected = |p: &u64| word64(self.case.spec.seed, p + base);
        let mut entries = found.iter().zip(self.case.applied.iter().map(expected)).enumerate();
        let (wrong, (found, expected)) = entries.find(|(_, (found, expected))| *found != expected)?;
        Some(format!("entry {wrong} of gather {i} is {found:#x}, not {expected:#x}"))
    }

    /// Checks that every worker's dense side holds its last tiles.
    fn wrong_dense_side(&self, window: &Range<usize>) -> Option<String> {
        let wrap = self.case.spec.wrap as usize;
        let found = self.pool.run(|worker| {
            let mine = mine(window, worker);
            let mut last = mine.start.max(mine.end.saturating_sub(wrap))..mine.end;
            let mistake = last.find_map(|i| self.wrong_tile(&self.case.dense[worker.index], i, i % wrap));
            mistake.map(|m| format!("after a timed execution, on thread {}: {m}", worker.index))
        });
        found.into_iter().flatten().next()
    }

    /// Compares the fold of everything that each worker has read.
    fn wrong_fold(&self, window: &Range<usize>) -> Mistake {
        let found = self.pool.try_run(|worker| {
            let (Patterns { spec, applied, starts, .. }, mut expected) = (self.case, 0);
            for block in Blocks::of(mine(window, worker)) {
                for i in block {
                    if (i * applied.len()).is_multiple_of(1 << 18) {
                        self.cancel.check()?;
                    }
                    let base = starts.at(i as u64);
                    expected = applied.iter().fold(expected, |s, &p| fold(s, word64(spec.seed, p + base)));
                }
                self.cancel.check()?;
            }
            let found = self.case.folds[worker.index].0.load(Ordering::Relaxed);
            let mistake = || format!("the sum of thread {} is {found:#x}, not {expected:#x}", worker.index);
            Ok((found != expected).then(mistake))
        })?;
        Ok(found.into_iter().flatten().next())
    }

    /// The certificate of the uses `window` of a scatter.
    fn scattered(&self, window: &Range<usize>) -> Result<Scattered<'a>, Failure> {
        let Patterns { spec, applied, .. } = self.case;
        let touched = Bitmap::new(self.case.destination().holds::<u64>())?;
        let pattern = if spec.kernel == Kernel::Gs { &spec.scatter } else { applied };
        let scattered = Scattered { judge: *self, window: window.clone(), pattern, touched };
        scattered.touch()?;
        Ok(scattered)
    }

    /// Calls `work` with ranges that together cover the uses `window`; checks for cancellation after every 2^18
    /// entries.
    fn for_uses(&self, window: &Range<usize>, work: impl Fn(Range<u64>) + Sync) -> Result<(), Failure> {
        let step = ((1 << 18) / self.case.length()).max(1);
        self.pool.for_blocks(window.len(), self.cancel, |block| {
            for start in block.clone().step_by(step) {
                if !self.cancel.requested() {
                    let end = (start + step).min(block.end);
                    work((window.start + start) as u64..(window.start + end) as u64);
                }
            }
        })?;
        self.cancel.check()
    }
}

/// The uses of `window` that a worker executes, without a fault.
fn mine(window: &Range<usize>, worker: Worker) -> Range<usize> {
    let [mine, _] = pieces(window.len(), 1, worker, None);
    window.start + mine.start..window.start + mine.end
}

/// The certificate of some uses of a scatter.
struct Scattered<'a> {
    judge: Judge<'a>,
    window: Range<usize>,
    /// The pattern of the destination.
    pattern: &'a [u64],
    /// A bit for each word of the destination that the definition writes.
    touched: Bitmap,
}

impl Scattered<'_> {
    /// Checks every word of the destination after timed executions.
    fn wrong_output(&self) -> Mistake {
        match self.judge.case.spec.explained() {
            true => self.unexplained(),
            false => self.wrong_word(|place, found| self.written_by_one(place, found)),
        }
    }

    /// Sets the bit of every word that the definition writes.
    fn touch(&self) -> Result<(), Failure> {
        self.judge.for_uses(&self.window, |uses| {
            let mut touched = self.touched.setter();
            for i in uses {
                let start = self.judge.case.starts.at(i);
                self.pattern.iter().for_each(|p| touched.set((p + start) as usize));
            }
        })
    }

    /// The place to which entry `j` of visit `i` writes.
    fn place(&self, i: u64, j: u64) -> u64 {
        self.pattern[j as usize] + self.judge.case.starts.at(i)
    }

    /// The use that writes `place` through entry `j`, if there is one; `Some(None)` for δ = 0, where all uses
    /// do. Only valid if uses start at δ·i.
    fn user(&self, place: u64, j: u64) -> Option<Option<u64>> {
        let far = place.checked_sub(self.pattern[j as usize])?;
        let delta = self.judge.case.starts.total;
        match far.checked_div(delta) {
            Some(i) => (far % delta == 0 && i < self.judge.case.spec.count).then_some(Some(i)),
            None => (far == 0).then_some(None),
        }
    }

    /// Scatters words that identify their source and decodes them.
    fn wrong_window(&self) -> Mistake {
        let (p, seed) = (self.judge.case.spec.length(), self.judge.case.spec.seed);
        poison(self.judge.pool, self.judge.case.destination(), 8, self.judge.cancel)?;
        let made = |kept: &mut Buffer, window: &Range<usize>| {
            let (words, first) = (window.len() * self.judge.case.length(), window.start as u64 * p);
            self.judge.pool.fill(kept, words, self.judge.cancel, |k| word64(seed, first + k as u64))
        };
        let wrong = |_: &Buffer, window: &Range<usize>, i: usize| {
            let i = i as u64;
            let (start, first) = (self.judge.case.starts.at(i), i * p);
            // The loop yields a number, not a message: a gigabyte of words is checked here.
            let wrong = (0..p).find(|&j| {
                let place = self.pattern[j as usize] + start;
                let k = index_of_word64(seed, self.word(place));
                let other = || window.contains(&((k / p) as usize)) && self.place(k / p, k % p) == place;
                k != first + j && !other()
            })?;
            let place = self.place(i, wrong);
            Some(self.mistake(place, self.word(place)))
        };
        match self.judge.wrong_use(made, wrong)? {
            // Each written word was decoded in its window; only words written elsewhere remain to be found.
            None => self.wrong_word(|_, _| true),
            mistake => Ok(mistake),
        }
    }

    /// Whether `found`, a word that the definition writes, is stored by one of the writers of `place` in a
    /// timed execution.
    fn written_by_one(&self, place: u64, found: u64) -> bool {
        let (spec, k) = (&self.judge.case.spec, index_of_word64(self.judge.case.spec.seed, found));
        // A division costs more than everything else here, and with one tile it is not needed.
        let length = spec.length();
        let (tile, entry) = if k < length { (0, k) } else { (k / length, k % length) };
        // For δ = 0, the tiles of the last `wrap` uses of some part: any tile in use.
        let right = |i: Option<u64>| i.is_none_or(|i| spec.wrap == 1 || i % spec.wrap == tile);
        tile < spec.wrap.min(spec.count) && self.user(place, entry).is_some_and(right)
    }

    /// The first word that the definition writes but that holds no value of its writers, or that it does not
    /// write but that is not poison.
    fn unexplained(&self) -> Mistake {
        let explained = Bitmap::new(self.judge.case.destination().holds::<u64>())?;
        self.for_entries(|i, j| {
            let place = self.place(i, j);
            if self.word(place) == word64(self.judge.case.spec.seed, self.stored(i, j)) {
                explained.set(place as usize);
            }
        })?;
        self.wrong_word(|place, _| explained.get(place as usize))
    }

    /// The index of the source word that entry `j` of visit `i` stores.
    fn stored(&self, i: u64, j: u64) -> u64 {
        let spec = &self.judge.case.spec;
        match spec.kernel {
            Kernel::Gs => spec.gather[j as usize] + self.judge.case.sources.at(i),
            _ => j + spec.length() * (i % spec.wrap),
        }
    }

    fn wrong_word(&self, sound: impl Fn(u64, u64) -> bool + Sync) -> Mistake {
        find(self.judge.pool, self.judge.case.destination().holds::<u64>(), self.judge.cancel, |mut block| {
            let wrong = block.find(|&place| {
                let found = self.word(place as u64);
                match self.touched.get(place) {
                    true => !sound(place as u64, found),
                    false => found != POISON,
                }
            })? as u64;
            Some(self.mistake(wrong, self.word(wrong)))
        })
    }

    fn word(&self, place: u64) -> u64 {
        // SAFETY: nobody writes while this is checked.
        unsafe { self.judge.case.destination().read::<u64>(place as usize..place as usize + 1)[0] }
    }

    fn mistake(&self, place: u64, found: u64) -> String {
        if found == POISON {
            return format!("word {place} of the destination was not written");
        }
        let k = index_of_word64(self.judge.case.spec.seed, found);
        format!(
            "word {place} of the destination holds {found:#x} (source word {k}), which no write stores there"
        )
    }

    /// Calls `work` with each use and each entry of the pattern.
    fn for_entries(&self, work: impl Fn(u64, u64) + Sync) -> Result<(), Failure> {
        let entries = 0..self.pattern.len() as u64;
        let all = |uses: Range<u64>| uses.for_each(|i| entries.clone().for_each(|j| work(i, j)));
        self.judge.for_uses(&self.window, all)
    }
}
