//! The certificates of pattern, in windows of iterations whose scratch is bounded.
//!
//! gather: an instantiation of the kernel keeps every word, and each is compared with
//! its closed form; then the timed kernel runs, and what its blocks leave in their dense
//! sides, or in the one that they share, is decoded. scatter: the words to be written are poisoned, and each word that
//! the definition touches must hold what one of its writers stores, each other one
//! poison; once for the instantiation with a word of its own for each (i, j), once for
//! the timed kernel. read-only: the sum of all words.

use super::Patterns;
use super::checks::{Expect, Region};
use super::kernels::Launch;
use crate::case::{Cancel, Failure, Verdict};
use crate::device::cuda::DeviceBuffer;
use crate::device::cuda::poison;
use crate::primitives::cuda::finding::{Finding, find};
use crate::primitives::cuda::length;
use crate::primitives::pattern::spec::{Kernel, Method, POISON, Spec};
use crate::primitives::pattern::walk::SINGLE;
use crate::primitives::pattern::{KEPT, MAPPED, window};
use crate::primitives::range::{Range, windows};

/// Words that the timed kernel's blocks may leave: 64 MiB.
const LEFT_WORDS: u64 = 1 << 23;
/// (i, j) of a window of a scatter's certificate.
const MARKED: u64 = 1 << 24;

/// Judges the case; executes it itself, poisoned.
pub fn verdict(case: &mut Patterns, cancel: &Cancel) -> Result<Verdict, Failure> {
    if let Some(mistake) = misplaced(case)? {
        return Ok(Verdict::Wrong { mistake });
    }
    match (case.spec.kernel.scatters(), case.spec.method) {
        (true, _) => scattered(case, cancel),
        (false, Method::ReadOnly) => folded(case),
        (false, Method::Direct) => gathered(case, cancel),
    }
}

/// Bytes that the certificate allocates at its peak.
pub fn scratch(spec: &Spec, span: u64) -> u64 {
    match (spec.kernel.scatters(), spec.method) {
        (true, _) => 8 * largest_region(spec, span).div_ceil(32),
        (false, Method::ReadOnly) => 0,
        (false, Method::Direct) if spec.global => {
            let bitmaps = if spec.based() { 8 * spec.dense_words().div_ceil(32) } else { 0 };
            (8 * kept_window(spec) * spec.length()).max(bitmaps)
        }
        (false, Method::Direct) => {
            let bitmaps = if spec.based() { 2 * LEFT_WORDS / 8 } else { 0 };
            (8 * kept_window(spec) * spec.length()).max(8 * LEFT_WORDS + bitmaps)
        }
    }
}

fn kept_window(spec: &Spec) -> u64 {
    window(spec, KEPT) / (8 * spec.length())
}

fn gathered(case: &mut Patterns, cancel: &Cancel) -> Result<Verdict, Failure> {
    match kept(case, cancel)? {
        certified @ Verdict::Certified { .. } if case.spec.global => stored(case, certified),
        certified @ Verdict::Certified { .. } => left(case, cancel, certified),
        wrong => Ok(wrong),
    }
}

/// The first mistake in the arrays of starts.
fn misplaced(case: &Patterns) -> Result<Option<String>, Failure> {
    for starts in [&case.starts, &case.source_starts].into_iter().flatten() {
        if let Some(mistake) = starts.mistake(&case.gpu, &case.kernels, case.spec.seed)? {
            return Ok(Some(mistake));
        }
    }
    Ok(None)
}

/// Every word, by the instantiation that keeps them.
fn kept(case: &Patterns, cancel: &Cancel) -> Result<Verdict, Failure> {
    let (count, window, p) = (case.spec.count, kept_window(&case.spec), case.spec.length());
    let mut kept = case.gpu.alloc(length(window * p)?)?;
    let finding = find(&case.gpu, |report| {
        windows(count, window).try_for_each(|window| {
            cancel.check()?;
            case.gpu.memset32(&mut kept, POISON as u32)?;
            case.keep(&kept, window)?;
            let launch = case.launch(window, SINGLE);
            case.kernels.checks.check_kept(&case.gpu, &launch, &case.side(), case.spec.seed, &kept, report)
        })
    })?;
    Ok(judge(&finding, "kept", count * p))
}

/// The timed gather's own words, after the others were found right.
fn left(case: &Patterns, cancel: &Cancel, certified: Verdict) -> Result<Verdict, Failure> {
    let finding = find(&case.gpu, |report| {
        case.plan.ranges.iter().try_for_each(|&range| {
            cancel.check()?;
            let mut launch = case.timed_launch(range);
            launch.walk = launch.walk.at_most(LEFT_WORDS / launch.walk.at_most(1).left_words());
            let left = case.gpu.alloc(length(launch.walk.left_words())?)?;
            let source = case.base()?;
            case.kernels.gather(&case.gpu, &launch, &case.executed(), source, left.pointer())?;
            match case.spec.based() {
                true => marked_left(case, &launch, &left, report),
                false => {
                    let (walk, side) = (&launch.walk, case.side());
                    case.kernels.checks.check_left(&case.gpu, walk, &side, case.spec.seed, &left, report)
                }
            }
        })
    })?;
    Ok(match finding.mistake("dense words of all blocks") {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.touched == 0 => {
            Verdict::Wrong { mistake: "the timed kernel stored no word".to_owned() }
        }
        None => certified,
    })
}

/// The words of the dense side that all blocks share: each holds what one of its writers stores.
fn stored(case: &mut Patterns, certified: Verdict) -> Result<Verdict, Failure> {
    if let Some(shared) = &mut case.shared {
        poison(&case.gpu, shared)?;
    }
    case.execute_planned()?;
    let Some(shared) = &case.shared else { return Ok(certified) };
    let launch = case.timed_launch(Range { first: 0, count: case.spec.count });
    let finding = find(&case.gpu, |report| match case.spec.based() {
        true => marked_left(case, &launch, shared, report),
        false => {
            let (walk, side) = (launch.walk.alone(), case.side());
            case.kernels.checks.check_left(&case.gpu, &walk, &side, case.spec.seed, shared, report)
        }
    })?;
    let wanted = case.spec.length() * case.spec.wrap.min(case.spec.count);
    Ok(match finding.mistake("D") {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.touched != wanted => {
            Verdict::Wrong { mistake: format!("{} of {wanted} words of D were stored", finding.touched) }
        }
        None => certified,
    })
}

/// Where uses start anywhere, which one put a word there is not computed from the word.
fn marked_left(
    case: &Patterns,
    launch: &Launch,
    left: &DeviceBuffer<u64>,
    report: &DeviceBuffer<u64>,
) -> Result<(), Failure> {
    let words = left.len() as u64;
    let mut bitmaps =
        [case.gpu.alloc(length(words.div_ceil(32))?)?, case.gpu.alloc(length(words.div_ceil(32))?)?];
    for bitmap in &mut bitmaps {
        case.gpu.memset32(bitmap, 0)?;
    }
    let [touched, explained] = &bitmaps;
    let region = Region { destination: left, begin: 0, words, touched, explained };
    let how = (case.spec.seed, case.spec.global);
    case.kernels.checks.marked_left(&case.gpu, launch, &case.side(), how, &region, report)
}

fn folded(case: &mut Patterns) -> Result<Verdict, Failure> {
    case.gpu.memset32(&mut case.partials, 0)?;
    case.execute_planned()?;
    let found = case.partials.to_host()?.into_iter().fold(0, u64::wrapping_add);
    let all = Range { first: 0, count: case.spec.count };
    let expected = find(&case.gpu, |report| {
        let launch = case.launch(all, SINGLE);
        case.kernels.checks.expected_fold(&case.gpu, &launch, &case.side(), case.spec.seed, report)
    })?;
    Ok(match found == expected.sum {
        true => Verdict::Certified { checked: expected.checked },
        false => Verdict::Wrong {
            mistake: format!("the sum of all words is {found:#x} instead of {:#x}", expected.sum),
        },
    })
}

/// Iterations of a window of a scatter's certificate; `span` is max(p) − min(p) + 1. Where
/// uses start anywhere, a window's words are no part of the destination: it is one window.
fn marked_window(spec: &Spec, span: u64) -> u64 {
    if spec.based() {
        return spec.count;
    }
    let by_marks = MARKED / spec.length().max(1);
    let room = MAPPED.saturating_sub(span);
    let by_words = room.checked_div(super::fault::scatter_delta(spec)).map_or(u64::MAX, |moves| moves + 1);
    by_marks.min(by_words).clamp(1, spec.count)
}

/// Words of the destination that a window touches at most.
fn largest_region(spec: &Spec, span: u64) -> u64 {
    match marked_window(spec, span) {
        all if all == spec.count => spec.sparse_words(),
        window => span + super::fault::scatter_delta(spec) * (window - 1),
    }
}

/// First word and number of the words that a window touches; one window for all is the
/// whole array.
fn region(case: &Patterns, window: Range) -> (u64, u64) {
    if window.count == case.spec.count {
        return (0, case.spec.sparse_words());
    }
    let delta = super::fault::scatter_delta(&case.spec);
    (case.smallest + delta * window.first, case.span() + delta * (window.count - 1))
}

fn scattered(case: &mut Patterns, cancel: &Cancel) -> Result<Verdict, Failure> {
    let (count, window) = (case.spec.count, marked_window(&case.spec, case.span()));
    let bitmap = length(largest_region(&case.spec, case.span()).div_ceil(32))?;
    let mut bitmaps: [DeviceBuffer<u32>; 2] = [case.gpu.alloc(bitmap)?, case.gpu.alloc(bitmap)?];
    let instantiations: &[Expect] = match case.spec.kernel {
        Kernel::Gs => &[Expect::Sparse],
        _ => &[Expect::Computed, Expect::Dense],
    };
    let finding = find(&case.gpu, |report| {
        windows(count, window).try_for_each(|window| {
            instantiations.iter().try_for_each(|&expect| {
                cancel.check()?;
                window_of_scatter(case, window, expect, &mut bitmaps, report)
            })
        })
    })?;
    let pairs = count * case.spec.length();
    Ok(match judge(&finding, "S", pairs * instantiations.len() as u64) {
        Verdict::Certified { .. } => Verdict::Certified { checked: pairs },
        wrong => wrong,
    })
}

fn window_of_scatter(
    case: &Patterns,
    window: Range,
    expect: Expect,
    bitmaps: &mut [DeviceBuffer<u32>; 2],
    report: &DeviceBuffer<u64>,
) -> Result<(), Failure> {
    let (begin, words) = region(case, window);
    case.kernels.fill.constant(&case.gpu, case.sparse.pointer_at(length(begin)?)?, POISON, words)?;
    case.scatter(window, expect == Expect::Computed)?;
    for bitmap in bitmaps.iter_mut() {
        case.gpu.memset32(bitmap, 0)?;
    }
    let [touched, explained] = &*bitmaps;
    let region = Region { destination: &case.sparse, begin, words, touched, explained };
    let mut launch = case.launch(window, SINGLE);
    launch.walk.wrap = u32::try_from(case.spec.wrap).unwrap_or(u32::MAX);
    let (side, source) = (case.side(), case.source_side());
    case.kernels.checks.mark(
        &case.gpu,
        &launch,
        (&side, &source),
        (expect, case.spec.seed),
        &region,
        report,
    )?;
    case.kernels.checks.check_region(&case.gpu, &region, report)
}

fn judge(finding: &Finding, output: &str, pairs: u64) -> Verdict {
    match finding.mistake(output) {
        Some(mistake) => Verdict::Wrong { mistake },
        None if finding.checked != pairs => {
            Verdict::Wrong { mistake: format!("{} of {pairs} words were checked", finding.checked) }
        }
        None => Verdict::Certified { checked: pairs },
    }
}

#[cfg(test)]
#[path = "certify_tests.rs"]
mod tests;
