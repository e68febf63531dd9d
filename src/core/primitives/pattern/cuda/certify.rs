//! The certificates of pattern, in windows of iterations with bounded scratch memory.
//!
//! gather: an instantiation of the kernel keeps every word, and each word is compared with its closed form;
//! then the timed kernel runs, and the contents of its blocks' dense sides, or of the shared one, are decoded.
//! scatter: the destination is poisoned, each word that the definition touches must then hold a value of one of
//! its writers, and each other word poison; once for the instantiation with a distinct word for each (i, j),
//! once for what the timed kernel has left. read-only: the sum of all words. Of shuffled visits, some ranges are
//! executed alone.
//!
//! The launches of deliberately wrong implementations, which it must refuse, are here, too ([`plan`], [`replaced`]). A
//! gather is certified with every word kept, so an omitted iteration shows. A word of a scatter's destination may have
//! many writers, and a missing writer shows only if it was the only one. For δ > 0 this holds for the first word, which
//! only iteration 0 writes, and for the last word, which only the last iteration writes. With δ = 0 all iterations write
//! the same words, so the largest index is replaced instead; so it is if starts are read from an array, because the single
//! writers are then unknown.

use super::{Launch, Patterns};
use crate::device::cuda::POISON32;
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use crate::primitives::pattern::spec::{Kernel, Method, POISON, Spec};
use crate::primitives::pattern::walk::SINGLE;
use crate::primitives::pattern::{KEPT, MAPPED, window};
use crate::primitives::{Range, windows};

/// The description of the first mistake, if there is one.
type Mistake = Result<Option<String>, Failure>;

/// Maximum number of words that the timed kernel's blocks may leave: 64 MiB.
const LEFT_WORDS: u64 = 1 << 23;
/// (i, j) per window of a scatter's certificate.
const MARKED: u64 = 1 << 24;

/// The words that a scatter's certificate expects: the codes of `pattern_mark`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The timed scatter: the dense word j + P·(i mod wrap).
    Dense,
    /// The keeping scatter: word i·P + j.
    Computed,
    /// gs: the word of the sparse source.
    Sparse,
}

/// Bitmaps of the words that must be written, and of the words that hold a value of one of their writers.
type Bitmaps = [DeviceBuffer<u32>; 2];

fn kept_window(spec: &Spec) -> u64 {
    window(spec, KEPT) / (8 * spec.length())
}

/// Iterations per window of a scatter's certificate; `span` is max(p) − min(p) + 1. If uses start anywhere, the
/// words of a window are not a contiguous part of the destination, so there is only one window.
fn marked_window(spec: &Spec, span: u64) -> u64 {
    if spec.based() {
        return spec.count;
    }
    let by_marks = MARKED / spec.length().max(1);
    let room = MAPPED.saturating_sub(span);
    let by_words = room.checked_div(spec.starts().total).map_or(u64::MAX, |moves| moves + 1);
    by_marks.min(by_words).clamp(1, spec.count)
}

/// Maximum number of words of the destination that a window touches.
fn largest_region(spec: &Spec, span: u64) -> u64 {
    match marked_window(spec, span) {
        all if all == spec.count => spec.sparse_words(),
        window => span + spec.starts().total * (window - 1),
    }
}

/// Allocates the bitmaps for `words` words.
fn bitmaps(gpu: &Gpu, words: u64) -> Result<Bitmaps, Failure> {
    let room = length(words.div_ceil(32))?;
    Ok([gpu.alloc(room)?, gpu.alloc(room)?])
}

fn clear(gpu: &Gpu, bitmaps: &mut Bitmaps) -> Result<(), Failure> {
    bitmaps.iter_mut().try_for_each(|bitmap| gpu.memset32(bitmap, 0))
}

impl Patterns {
    /// The first mistake that the output of the timed kernel cannot show: in an instantiation that keeps
    /// everything, and in the order of the visits, of which some ranges are executed alone.
    pub(super) fn wrong_beyond_output(&mut self, gpu: &Gpu, cancel: &Cancel) -> Mistake {
        let mistake = match (self.spec.kernel, self.spec.method) {
            (Kernel::Gs, _) | (_, Method::ReadOnly) => None,
            (kernel, _) if kernel.scatters() => self.scattered(gpu, Expect::Computed, cancel)?,
            _ => self.kept(gpu, cancel)?,
        };
        if mistake.is_some() {
            return Ok(mistake);
        }
        // What a gather leaves in shared memory is judged with the rest of its execution.
        let probes = if self.spec.leaves_output() { self.spec.probes() } else { Vec::new() };
        for window @ Range { first, count } in probes {
            cancel.check()?;
            self.clear(gpu)?;
            self.execute_part(gpu, LaunchPart { first, count, shift: 0 })?;
            if let Some(mistake) = self.wrong_output(gpu, window, cancel)? {
                return Ok(Some(format!("visits {first} to {}: {mistake}", first + count - 1)));
            }
        }
        for starts in &self.starts {
            let mistake = starts.mistake(gpu, &self.kernels, self.spec.seed)?;
            if mistake.is_some() {
                return Ok(mistake);
            }
        }
        Ok(None)
    }

    /// The first mistake in what executions of the iterations `window` have left since the last clearing; where
    /// they leave nothing, or more than bitmaps describe, the timed kernel is executed again.
    pub(super) fn wrong_output(&mut self, gpu: &Gpu, window: Range, cancel: &Cancel) -> Mistake {
        match (self.spec.kernel, self.spec.method) {
            (kernel, _) if kernel.scatters() => {
                let expect = if kernel == Kernel::Gs { Expect::Sparse } else { Expect::Dense };
                match self.spec.mapped_whole() {
                    true => self.wrong_destination(gpu, window, expect, cancel),
                    false => self.scattered(gpu, expect, cancel),
                }
            }
            (_, Method::ReadOnly) => self.folded(gpu, window),
            _ if self.spec.global() => self.stored(gpu, window),
            _ => self.left(gpu, cancel),
        }
    }

    /// max(p) − min(p) + 1.
    fn span(&self) -> u64 {
        self.largest - self.smallest + 1
    }

    /// Checks every word, by the instantiation that keeps them.
    fn kept(&self, gpu: &Gpu, cancel: &Cancel) -> Mistake {
        let (count, window, p) = (self.spec.count, kept_window(&self.spec), self.spec.length());
        let (side, key) = (self.pattern.side, key64(self.spec.seed));
        let mut kept: DeviceBuffer<u64> = array(gpu, window * p)?;
        let finding = find(gpu, |report| {
            windows(count, window).try_for_each(|window| {
                cancel.check()?;
                gpu.memset32(&mut kept, POISON32)?;
                self.keep(gpu, &kept, window)?;
                let launch = self.launch(gpu, window, SINGLE);
                launch.start(gpu, &self.kernels.check_kept, args![launch.walk, side, key, kept, report])
            })
        })?;
        Ok(finding.mistake("kept").or_else(|| finding.unchecked(count * p, "words")))
    }

    /// Checks the words that the timed gather leaves, after the kept words were found right.
    fn left(&self, gpu: &Gpu, cancel: &Cancel) -> Mistake {
        let (timed, side) = (&self.kernels.timed, self.executed());
        let finding = find(gpu, |report| {
            self.plan.parts.iter().try_for_each(|&part| {
                cancel.check()?;
                let mut launch = self.timed_launch(gpu, super::range(part));
                launch.walk = launch.walk.at_most(LEFT_WORDS / launch.walk.at_most(1).left_words());
                let left: DeviceBuffer<u64> = array(gpu, launch.walk.left_words())?;
                launch.start(gpu, timed, args![launch.walk, side, self.base(part)?, left])?;
                self.check_left(gpu, &launch, &left, report)
            })
        })?;
        let none = || (finding.touched == 0).then(|| "the timed kernel stored no word".to_owned());
        Ok(finding.mistake("dense words of all blocks").or_else(none))
    }

    /// Checks the dense side that all blocks share: each word must hold a value of one of its writers.
    fn stored(&self, gpu: &Gpu, window: Range) -> Mistake {
        let Some(shared) = &self.shared else { return Ok(None) };
        let launch = self.timed_launch(gpu, window);
        let finding = find(gpu, |report| self.check_left(gpu, &launch, shared, report))?;
        let wanted = self.spec.length() * self.spec.wrap.min(window.count);
        let missed = || format!("{} of {wanted} words of D were stored", finding.touched);
        Ok(finding.mistake("D").or_else(|| (finding.touched != wanted).then(missed)))
    }

    /// Queues the check of the words that the timed gather's blocks left; `launch` is that of the gather. If
    /// uses start anywhere, the writer of a word is not computed from the word: all stores of the blocks are
    /// marked and compared with the words left.
    fn check_left(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        left: &DeviceBuffer<u64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (side, key, shared) = (self.pattern.side, key64(self.spec.seed), self.spec.global());
        if !self.spec.based() {
            let walk = if shared { launch.walk.alone() } else { launch.walk };
            let n = walk.left_words();
            return launch_over(gpu, &self.kernels.check_left, n, args![walk, side, key, left, n, report]);
        }
        let words = left.len() as u64;
        let mut bitmaps = bitmaps(gpu, words)?;
        clear(gpu, &mut bitmaps)?;
        let [touched, explained] = &bitmaps;
        let shared = u32::from(shared);
        let args = args![launch.walk, side, key, left, touched, explained, shared];
        launch.start(gpu, &self.kernels.mark_left, args)?;
        self.check_region(gpu, left, (0, words), &bitmaps, report)
    }

    /// Queues the check of a region, given as its first word and its number of words, against its marks.
    fn check_region(
        &self,
        gpu: &Gpu,
        destination: &DeviceBuffer<u64>,
        (begin, words): (u64, u64),
        [touched, explained]: &Bitmaps,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let args = args![destination, begin, words, touched, explained, report];
        launch_over(gpu, &self.kernels.check_region, words, args)
    }

    fn folded(&self, gpu: &Gpu, window: Range) -> Mistake {
        let found = self.partials.to_host()?.into_iter().fold(0, u64::wrapping_add);
        let launch = self.launch(gpu, window, SINGLE);
        let (side, key) = (self.pattern.side, key64(self.spec.seed));
        let finding = find(gpu, |report| {
            launch.start(gpu, &self.kernels.expected_fold, args![launch.walk, side, key, report])
        })?;
        let expected = finding.sum.wrapping_mul(self.executed.max(1));
        let mistake = || format!("the sum of all words is {found:#x} instead of {expected:#x}");
        let unchecked = finding.unchecked(window.count * self.spec.length(), "words");
        Ok(unchecked.or_else(|| (found != expected).then(mistake)))
    }

    /// Checks the whole destination after executions of the iterations `all`.
    fn wrong_destination(&self, gpu: &Gpu, all: Range, expect: Expect, cancel: &Cancel) -> Mistake {
        let words = self.spec.sparse_words();
        let mut bitmaps = bitmaps(gpu, words)?;
        let window = if self.spec.based() { all.count } else { marked_window(&self.spec, self.span()) };
        let finding = find(gpu, |report| {
            clear(gpu, &mut bitmaps)?;
            windows(all.count, window).try_for_each(|window| {
                cancel.check()?;
                let window = Range { first: all.first + window.first, ..window };
                self.mark(gpu, window, expect, 0, &bitmaps, report)
            })?;
            self.check_region(gpu, &self.sparse, (0, words), &bitmaps, report)
        })?;
        let pairs = all.count * self.spec.length();
        Ok(finding.mistake("S").or_else(|| finding.unchecked(pairs, "words")))
    }

    /// Queues the marks of the words from `begin` on that a window's iterations must write.
    fn mark(
        &self,
        gpu: &Gpu,
        window: Range,
        expect: Expect,
        begin: u64,
        [touched, explained]: &Bitmaps,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (side, key) = (self.pattern.side, key64(self.spec.seed));
        let mut launch = self.launch(gpu, window, SINGLE);
        launch.walk.wrap = u32::try_from(self.spec.wrap).unwrap_or(u32::MAX);
        let from = self.source.as_ref().map_or(side, |(pattern, _)| pattern.side);
        let (kind, sparse) = (expect as u32, &self.sparse);
        let args = args![launch.walk, side, from, kind, key, sparse, begin, touched, explained, report];
        launch.start(gpu, &self.kernels.mark, args)
    }

    /// The first word and the number of words that a window touches; a window of all iterations touches the
    /// whole array.
    fn region(&self, window: Range) -> (u64, u64) {
        if window.count == self.spec.count {
            return (0, self.spec.sparse_words());
        }
        let delta = self.spec.starts().total;
        (self.smallest + delta * window.first, self.span() + delta * (window.count - 1))
    }

    /// Executes an instantiation of the scatter window by window and checks what each leaves.
    fn scattered(&self, gpu: &Gpu, expect: Expect, cancel: &Cancel) -> Mistake {
        let window = marked_window(&self.spec, self.span());
        let mut bitmaps = bitmaps(gpu, largest_region(&self.spec, self.span()))?;
        let finding = find(gpu, |report| {
            windows(self.spec.count, window).try_for_each(|window| {
                cancel.check()?;
                let (begin, words) = self.region(window);
                self.kernels.fill.constant(gpu, self.sparse.pointer_at(length(begin)?)?, POISON, words)?;
                self.scatter(gpu, window, expect == Expect::Computed)?;
                clear(gpu, &mut bitmaps)?;
                self.mark(gpu, window, expect, begin, &bitmaps, report)?;
                self.check_region(gpu, &self.sparse, (begin, words), &bitmaps, report)
            })
        })?;
        let pairs = self.spec.count * self.spec.length();
        Ok(finding.mistake("S").or_else(|| finding.unchecked(pairs, "words")))
    }
}

/// The iterations of a case, launch by launch, and the number of words by which the sparse array (the source of
/// a gather, else the destination) is misplaced.
pub fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
    let mut plan = LaunchPlan::ranges(spec.count, fault);
    match fault {
        // All iterations are launched; their words are wrong instead.
        Some(_) if replaced(spec, fault, 0).is_some() => return LaunchPlan::whole(spec.count),
        Some(Fault::SkippedStore) if spec.kernel.scatters() => {
            plan.parts = vec![LaunchPart { first: 1, count: spec.count - 1, shift: 0 }];
            plan.parts.retain(|part| part.count > 0);
        }
        // With δ = 0 both halves read the same words, so the sum of one half twice would be right.
        Some(Fault::WrongChunk) if spec.method == Method::ReadOnly => {
            plan.parts.truncate(if spec.starts().of(spec.count - 1) == 0 { 1 } else { 2 });
        }
        _ => {}
    }
    plan
}

/// The entry of the applied pattern (gs: of the scatter side) that is replaced, and its replacement: entries
/// equal to `largest`, the largest entry.
pub fn replaced(spec: &Spec, fault: Option<Fault>, largest: u64) -> Option<(u64, u64)> {
    let hidden = spec.kernel.scatters() && (spec.based() || spec.starts().total == 0);
    let left_out = [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore];
    (hidden && fault.is_some_and(|fault| left_out.contains(&fault))).then(|| (largest, beside(spec, largest)))
}

/// A neighbouring index: the guard behind the array, unless the index type cannot hold it.
fn beside(spec: &Spec, index: u64) -> u64 {
    if spec.index == 4 && index >= u64::from(u32::MAX) { index - 1 } else { index + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::pattern::spec::tests::spec_of;
    use std::collections::BTreeSet;

    fn spec(kernel: Kernel, length: u64, delta: u64, count: u64) -> Spec {
        let pattern = (0..length).collect::<Vec<u64>>().into();
        // Replaces the pattern, because the list may be longer than a recipe allows.
        Spec { pattern, ..spec_of(kernel.name(), &[0], delta, count) }
    }

    /// The codes passed to the device are those of the kernels.
    #[test]
    fn the_codes_are_the_kernels() {
        assert_eq!([Expect::Dense, Expect::Computed, Expect::Sparse].map(|e| e as u32), [0, 1, 2]);
    }

    #[test]
    fn windows_are_never_empty() {
        assert_eq!(kept_window(&spec(Kernel::Gather, 1 << 26, 1, 5)), 1);
        assert_eq!(marked_window(&spec(Kernel::Scatter, 8, 8, 5), 1 << 40), 1);
        assert_eq!(marked_window(&spec(Kernel::Scatter, 8, 0, 5), 8), 5);
    }

    /// A window's words lie inside its largest region.
    #[test]
    fn regions_hold_their_windows() {
        let spec = spec(Kernel::Scatter, 8, 1 << 28, 1 << 10);
        let window = marked_window(&spec, 8);
        assert!(window < spec.count && largest_region(&spec, 8) == 8 + (window - 1) * spec.delta);
        assert!(largest_region(&spec, 8) <= MAPPED);
    }

    fn written(spec: &Spec, fault: Option<Fault>) -> BTreeSet<u64> {
        let largest = spec.pattern.iter().copied().max().unwrap();
        let replaced = replaced(spec, fault, largest);
        let entry = |k: u64| match replaced {
            Some((from, to)) if k == from => to,
            _ => k,
        };
        let parts = plan(spec, fault).parts.into_iter();
        let visits =
            parts.flat_map(|part| (part.first..part.first + part.count).map(move |i| (i, part.shift)));
        visits
            .flat_map(|(i, shift)| spec.pattern.iter().map(move |&k| entry(k) + spec.delta * i + shift))
            .collect()
    }

    /// Each fault of a scatter leaves a word unwritten, regardless of overlaps, and touches no word behind the
    /// guard.
    #[test]
    fn every_fault_of_a_scatter_shows() {
        for pattern in [&[0][..], &[0, 1, 2, 3], &[5, 0, 5, 9], &[3, 3]] {
            for (delta, count) in [(0, 1), (0, 6), (1, 1), (1, 9), (4, 5)] {
                let spec = spec_of("scatter", pattern, delta, count);
                let right = written(&spec, None);
                for fault in Fault::ELEMENTS {
                    let wrong = written(&spec, Some(fault));
                    assert!(!right.is_subset(&wrong), "{fault:?}, {pattern:?}, δ {delta}, {count}");
                    assert!(wrong.iter().all(|&k| k <= spec.sparse_words()), "{fault:?}");
                }
            }
        }
    }

    #[test]
    fn every_fault_of_a_gather_leaves_an_iteration_out() {
        let spec = spec_of("gather", &[0, 4], 0, 7);
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            let parts = plan(&spec, Some(fault)).parts;
            let all: BTreeSet<u64> =
                parts.iter().flat_map(|part| part.first..part.first + part.count).collect();
            assert!(all.len() < 7 && all.iter().all(|&i| i < 7), "{fault:?}");
        }
        assert_eq!(plan(&spec, Some(Fault::OffByOne)).parts, [LaunchPart { first: 0, count: 7, shift: 1 }]);
    }

    #[test]
    fn a_sum_of_equal_halves_must_miss_one() {
        let spec = Spec { method: Method::ReadOnly, ..spec_of("gather", &[0, 4], 0, 8) };
        let half = LaunchPart { first: 0, count: 4, shift: 0 };
        assert_eq!(plan(&spec, Some(Fault::WrongChunk)).parts, [half]);
    }
}
