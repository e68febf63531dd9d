//! The certificates of pattern, in windows of iterations whose scratch is bounded.
//!
//! gather: an instantiation of the kernel keeps every word, and each is compared with
//! its closed form; then the timed kernel runs, and what its blocks leave in their dense
//! sides is decoded. scatter: the words to be written are poisoned, and each word that
//! the definition touches must hold what one of its writers stores, each other one
//! poison; once for the instantiation with a word of its own for each (i, j), once for
//! the timed kernel. read-only: the sum of all words.

use super::Case;
use super::kernels::{Expect, Region};
use crate::backend::cuda::DeviceBuffer;
use crate::backend::{Cancel, Failure, Verdict};
use crate::primitives::cuda::finding::{Finding, find};
use crate::primitives::cuda::length;
use crate::primitives::cuda::range::{Range, windows};
use crate::primitives::pattern::spec::{Kernel, Method, POISON, Spec};
use crate::primitives::pattern::{KEPT, MAPPED, window};

/// Words that the timed kernel's blocks may leave: 64 MiB.
const LEFT_WORDS: u64 = 1 << 23;
/// (i, j) of a window of a scatter's certificate.
const MARKED: u64 = 1 << 24;

/// Judges the case; executes it itself, poisoned.
pub fn verdict(case: &mut Case, cancel: &Cancel) -> Result<Verdict, Failure> {
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
        (false, Method::Direct) => 8 * (kept_window(spec) * spec.length()).max(LEFT_WORDS),
    }
}

fn kept_window(spec: &Spec) -> u64 {
    window(spec, KEPT) / (8 * spec.length())
}

fn gathered(case: &mut Case, cancel: &Cancel) -> Result<Verdict, Failure> {
    match kept(case, cancel)? {
        certified @ Verdict::Certified { .. } => left(case, cancel, certified),
        wrong => Ok(wrong),
    }
}

/// Every word, by the instantiation that keeps them.
fn kept(case: &Case, cancel: &Cancel) -> Result<Verdict, Failure> {
    let (count, window, p) = (case.spec.count, kept_window(&case.spec), case.spec.length());
    let mut kept = case.gpu.alloc(length(window * p)?)?;
    let finding = find(&case.gpu, |report| {
        windows(count, window).try_for_each(|window| {
            cancel.check()?;
            case.gpu.memset32(&mut kept, POISON as u32)?;
            case.keep(&kept, window)?;
            let launch = case.launch(window, 1);
            case.kernels.check_kept(&case.gpu, &launch, &case.pattern.side(), case.spec.seed, &kept, report)
        })
    })?;
    Ok(judge(&finding, "kept", count * p))
}

/// The timed gather's own words, after the others were found right.
fn left(case: &Case, cancel: &Cancel, certified: Verdict) -> Result<Verdict, Failure> {
    let finding = find(&case.gpu, |report| {
        case.plan.ranges.iter().try_for_each(|&range| {
            cancel.check()?;
            let mut launch = case.timed_launch(range);
            launch.walk = launch.walk.at_most(LEFT_WORDS / launch.walk.at_most(1).left_words());
            let left = case.gpu.alloc(length(launch.walk.left_words())?)?;
            let source = case.base()?;
            case.kernels.gather(&case.gpu, &launch, &case.executed().side(), source, left.pointer())?;
            let side = case.pattern.side();
            case.kernels.check_left(&case.gpu, &launch.walk, &side, case.spec.seed, &left, report)
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

fn folded(case: &mut Case) -> Result<Verdict, Failure> {
    case.gpu.memset32(&mut case.fold, 0)?;
    case.execute()?;
    let found = case.fold.to_host()?.first().copied();
    let all = Range { first: 0, count: case.spec.count };
    let expected = find(&case.gpu, |report| {
        case.kernels.expected_fold(
            &case.gpu,
            &case.launch(all, 1),
            &case.pattern.side(),
            case.spec.seed,
            report,
        )
    })?;
    Ok(match found {
        Some(found) if found == expected.sum => Verdict::Certified { checked: expected.checked },
        _ => Verdict::Wrong {
            mistake: format!("the sum of all words is {found:#x?} instead of {:#x}", expected.sum),
        },
    })
}

/// Iterations of a window of a scatter's certificate; `span` is max(p) − min(p) + 1.
fn marked_window(spec: &Spec, span: u64) -> u64 {
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
fn region(case: &Case, window: Range) -> (u64, u64) {
    if window.count == case.spec.count {
        return (0, case.spec.sparse_words());
    }
    let delta = super::fault::scatter_delta(&case.spec);
    (case.smallest + delta * window.first, case.span() + delta * (window.count - 1))
}

fn scattered(case: &mut Case, cancel: &Cancel) -> Result<Verdict, Failure> {
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
    case: &Case,
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
    let mut launch = case.launch(window, 1);
    launch.walk.wrap = u32::try_from(case.spec.wrap).unwrap_or(u32::MAX);
    let (side, source) = (case.pattern.side(), case.source_pattern.as_ref().unwrap_or(&case.pattern).side());
    case.kernels.mark(&case.gpu, &launch, (&side, &source), (expect, case.spec.seed), &region, report)?;
    case.kernels.check_region(&case.gpu, &region, report)
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
