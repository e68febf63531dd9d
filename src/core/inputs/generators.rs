//! Generators of Spatter's index patterns: UNIFORM, MS1 and LAPLACIAN (lavin2020 §3.3).
//! [`notation`](super::notation) parses Spatter's strings.
//!
//! Parameters that Spatter 2.1.0 leaves undefined or silently ignores are errors here.

use crate::case::IndexPattern;

/// Longest pattern, in indices.
pub const MAX_LENGTH: u64 = 1 << 20;

/// Why a pattern does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PatternError(pub String);

fn refuse<T>(message: impl Into<String>) -> Result<T, PatternError> {
    Err(PatternError(message.into()))
}

fn check_length(length: u64) -> Result<(), PatternError> {
    match length {
        0 => refuse("a pattern has at least one index"),
        1..=MAX_LENGTH => Ok(()),
        _ => refuse(format!("a pattern has at most {MAX_LENGTH} indices, this one has {length}")),
    }
}

fn overflow() -> PatternError {
    PatternError("an index exceeds 2^63".to_owned())
}

/// `UNIFORM:length:stride`: `p[i] = i·stride` (lavin2020 §3.3.1). Both at least 1.
pub fn uniform(length: u64, stride: u64) -> Result<IndexPattern, PatternError> {
    check_length(length)?;
    if stride == 0 {
        return refuse("the stride of UNIFORM is at least 1");
    }
    match (length - 1).checked_mul(stride) {
        Some(last) if last < 1 << 63 => {
            Ok(IndexPattern::generated(length, last, move || (0..length).map(|i| i * stride).collect()))
        }
        _ => Err(overflow()),
    }
}

/// `MS1:length:breaks:gaps`, mostly stride 1 (lavin2020 §3.3.2): starting from v = −1, entry i adds the gap of
/// a break at i, or else 1. `breaks` must ascend; `gaps` has either one entry for all breaks, or at least one
/// per break.
pub fn ms1(length: u64, breaks: &[u64], gaps: &[u64]) -> Result<IndexPattern, PatternError> {
    if !breaks.is_sorted_by(|a, b| a < b) {
        return refuse("the breaks of MS1 must ascend: Spatter drops the others silently");
    }
    if gaps.len() > 1 && gaps.len() < breaks.len() {
        return refuse(unmatched(breaks, gaps));
    }
    ms1_in_order(length, breaks, gaps)
}

pub(super) fn unmatched(breaks: &[u64], gaps: &[u64]) -> String {
    let (breaks, gaps) = (breaks.len(), gaps.len());
    format!("MS1 has {breaks} breaks but {gaps} gaps: give one gap or one for each break")
}

/// [`ms1`] with breaks in any order, as Spatter 2.1.0 takes them: a break counts only after all before it, so that
/// one that is not greater than those, and every later one, is never reached. Refused if a break that is reached
/// has no gap: there Spatter reads beyond its list.
pub fn ms1_in_order(length: u64, breaks: &[u64], gaps: &[u64]) -> Result<IndexPattern, PatternError> {
    check_length(length)?;
    if breaks.is_empty() || gaps.is_empty() {
        return refuse("MS1 has at least one break and one gap");
    }
    // The steps that are not 1, each with its position.
    let mut steps: Vec<(u64, u64)> = Vec::new();
    for (number, &at) in breaks.iter().enumerate() {
        if at >= length || steps.last().is_some_and(|(before, _)| at <= *before) {
            break;
        }
        let gap = if gaps.len() == 1 { gaps.first() } else { gaps.get(number) };
        steps.push((at, *gap.ok_or_else(|| PatternError(unmatched(breaks, gaps)))?));
    }
    if steps.first() == Some(&(0, 0)) {
        return refuse("a gap of 0 at the break 0 makes the first index negative");
    }
    let gaps: u128 = steps.iter().map(|(_, gap)| u128::from(*gap)).sum();
    let ones = length - steps.len() as u64;
    let last = (u128::from(ones) + gaps - 1).try_into().ok().filter(|last: &u64| *last < 1 << 63);
    let last = last.ok_or_else(overflow)?;
    Ok(IndexPattern::generated(length, last, move || {
        let (mut sum, mut steps) = (0, steps.into_iter().peekable());
        let step = |i| steps.next_if(|(at, _)| *at == i).map_or(1, |(_, gap)| gap);
        let sums = (0..length).map(step).map(|step| {
            sum += step;
            sum - 1
        });
        sums.collect()
    }))
}

/// `LAPLACIAN:dimensions:length:size` (lavin2020 §3.3.3): a stencil of 2·D·L + 1 points. With branches b = (j +
/// 1)·size^i for i < D and j < L, and M the last of them, the pattern is M − b in reverse, M, M + b. If size ≤
/// length, the branches overlap, as in Spatter.
pub fn laplacian(dimensions: u64, length: u64, size: u64) -> Result<IndexPattern, PatternError> {
    if dimensions == 0 || length == 0 || size == 0 {
        return refuse("dimensions, length and size of LAPLACIAN are at least 1");
    }
    let points = dimensions.checked_mul(length).and_then(|x| x.checked_mul(2)).and_then(|x| x.checked_add(1));
    let points = points.unwrap_or(u64::MAX);
    check_length(points)?;
    let power = u32::try_from(dimensions - 1).ok().and_then(|most| size.checked_pow(most));
    // The last branch is the longest.
    let middle = power.and_then(|power| length.checked_mul(power)).filter(|&middle| middle < 1 << 62);
    let middle = middle.ok_or_else(overflow)?;
    Ok(IndexPattern::generated(points, 2 * middle, move || {
        let powers = (0..dimensions as u32).map(|i| size.pow(i));
        let branches: Vec<u64> = powers.flat_map(|power| (1..=length).map(move |j| j * power)).collect();
        let below = branches.iter().rev().map(|b| middle - b);
        below.chain([middle]).chain(branches.iter().map(|b| middle + b)).collect()
    }))
}

/// Checks a list of indices and returns it as a pattern.
pub fn custom(indices: IndexPattern) -> Result<IndexPattern, PatternError> {
    check_length(indices.len() as u64)?;
    if indices.largest() >= 1 << 63 {
        return Err(overflow());
    }
    Ok(indices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_papers_examples() {
        assert_eq!(*uniform(8, 4).unwrap(), [0, 4, 8, 12, 16, 20, 24, 28]);
        assert_eq!(*ms1(8, &[4], &[20]).unwrap(), [0, 1, 2, 3, 23, 24, 25, 26]);
        assert_eq!(*laplacian(2, 2, 100).unwrap(), [0, 100, 198, 199, 200, 201, 202, 300, 400]);
    }

    #[test]
    fn what_spatter_defines_beside_them() {
        assert_eq!(*ms1(8, &[0], &[32]).unwrap(), [31, 32, 33, 34, 35, 36, 37, 38]);
        assert_eq!(*ms1(8, &[2, 5], &[10, 20]).unwrap(), [0, 1, 11, 12, 13, 33, 34, 35]);
        assert_eq!(*ms1(4, &[2], &[10, 20]).unwrap(), [0, 1, 11, 12]);
        assert_eq!(*ms1(4, &[1], &[0]).unwrap(), [0, 0, 1, 2]);
        assert_eq!(*laplacian(2, 3, 2).unwrap(), [0, 2, 4, 3, 4, 5, 6, 7, 8, 9, 8, 10, 12]);
        assert_eq!(*laplacian(1, 2, 7).unwrap(), [0, 1, 2, 3, 4]);
        assert_eq!(*laplacian(3, 1, 10).unwrap(), [0, 90, 99, 100, 101, 110, 200]);
    }

    #[test]
    fn what_spatter_leaves_undefined_is_refused() {
        assert!(ms1(8, &[1, 3, 5], &[10, 20]).is_err());
        assert!(ms1(8, &[5, 3], &[10]).is_err());
        assert!(ms1(8, &[3, 3], &[10]).is_err());
        assert!(ms1(8, &[0], &[0]).is_err());
        assert!(ms1(8, &[], &[1]).is_err());
        assert!(ms1(8, &[1], &[u64::MAX]).is_err());
        assert!(uniform(0, 1).is_err());
        assert!(uniform(1, 0).is_err());
        assert!(uniform(3, 1 << 62).is_err());
        assert!(uniform(MAX_LENGTH + 1, 1).is_err());
        assert!(laplacian(3, 1, u64::MAX).is_err());
        assert!(laplacian(70, 1, 1).is_ok());
        assert!(laplacian(u64::MAX, 2, 1).is_err());
        assert!(custom(Vec::new().into()).is_err());
        assert!(custom(vec![u64::MAX].into()).is_err());
    }

    proptest! {
        #[test]
        fn no_numbers_make_them_panic(a: u64, b: u64, c: u64, list: Vec<u64>, other: Vec<u64>) {
            let _ = uniform(a, b);
            let _ = laplacian(a % 80, b % 5000, c);
            let _ = laplacian(a, b, c);
            let _ = ms1(a % 1000, &list, &other);
            let _ = custom(list.into());
        }

        #[test]
        fn uniform_is_uniform(length in 1u64..500, stride in 1u64..1000) {
            let p = uniform(length, stride).unwrap();
            prop_assert_eq!(p.len() as u64, length);
            prop_assert!(p.windows(2).all(|w| w[1] - w[0] == stride) && p[0] == 0);
        }

        #[test]
        fn laplacian_is_symmetric(d in 1u64..4, l in 1u64..6, n in 1u64..200) {
            let p = laplacian(d, l, n).unwrap();
            prop_assert_eq!(p.len() as u64, 2 * d * l + 1);
            let ends = p[0] + p[p.len() - 1];
            prop_assert!(p.iter().zip(p.iter().rev()).all(|(a, b)| a + b == ends));
        }
    }
}
