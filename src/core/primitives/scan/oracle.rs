//! The sequential oracle of the scans: one loop over the definition.

use super::operator::{Bits, combine, identity};
use super::{Kind, Spec};
use crate::primitives::oracle::check_length;

/// The scan of a case; `heads` has one flag per element, set where a segment begins.
///
/// A backward scan reverses input and flags, shifts the flags right by one (sengupta2007 §2.2.2: a flag stands
/// between two elements), and reverses the result.
fn scan(spec: &Spec, input: &[Bits], heads: &[bool]) -> Vec<Bits> {
    if !spec.backward() {
        return forward(spec, input, heads);
    }
    let input: Vec<Bits> = input.iter().rev().copied().collect();
    let mut output = forward(spec, &input, &flipped(heads));
    output.reverse();
    output
}

/// The flags of the reversed array.
fn flipped(heads: &[bool]) -> Vec<bool> {
    let mut flipped: Vec<bool> = heads.iter().rev().copied().collect();
    let shift = flipped.len().min(1);
    flipped.rotate_right(shift);
    flipped
}

fn forward(spec: &Spec, input: &[Bits], heads: &[bool]) -> Vec<Bits> {
    let none = identity(spec.operator, spec.ty);
    let mut total = none;
    let step = |(&element, &head): (&Bits, &bool)| {
        let before = if head { none } else { total };
        total = combine(spec.operator, spec.ty, before, element);
        if spec.kind == Kind::Exclusive { before } else { total }
    };
    input.iter().zip(heads).map(step).collect()
}

/// Compares out byte by byte with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.bytes())?;
    let (inputs, segments) = (spec.inputs(), spec.segments());
    let input: Vec<Bits> = (0..spec.elements).map(|i| inputs.bits(i)).collect();
    let heads: Vec<bool> = (0..spec.elements).map(|i| segments.head(i)).collect();
    let wanted = scan(spec, &input, &heads);
    let wanted = wanted.into_iter().map(|element| bytes(spec, element));
    compare("out", output, spec.element(), wanted)
}

/// Compares an array with the wanted one, in elements of `element` bytes.
pub fn compare(
    name: &str,
    found: &[u8],
    element: u64,
    wanted: impl IntoIterator<Item = Vec<u8>>,
) -> Result<(), String> {
    let mut both = found.chunks_exact(element as usize).zip(wanted).enumerate();
    both.find(|(_, (found, wanted))| found != wanted).map_or(Ok(()), |(i, (found, wanted))| {
        Err(format!("{name}[{i}] is {found:02x?} instead of {wanted:02x?}"))
    })
}

/// An element in its memory layout.
fn bytes(spec: &Spec, element: Bits) -> Vec<u8> {
    let word = spec.ty.bytes() as usize;
    let words = element.iter().take(spec.operator.words() as usize);
    words.flat_map(|bits| bits.to_le_bytes().into_iter().take(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::operator::{Operator, Type};
    use super::super::{Direction, tests::spec};
    use super::*;

    fn of(words: &[u64]) -> Vec<Bits> {
        words.iter().map(|&word| [word, 0]).collect()
    }

    fn sums(kind: Kind, direction: Direction, input: &[u64], heads: &[u64]) -> Vec<u64> {
        let heads: Vec<bool> = (0..input.len() as u64).map(|i| heads.contains(&i)).collect();
        let spec = Spec { kind, direction, ..spec(false, 1, "best") };
        scan(&spec, &of(input), &heads).iter().map(|bits| bits[0]).collect()
    }

    /// sengupta2007 §1.1 prints 14 where 3 + 1 + 7 + 0 + 4 = 15 belongs.
    #[test]
    fn the_papers_prefix_sum() {
        let input = [3, 1, 7, 0, 4, 1, 6, 3];
        assert_eq!(sums(Kind::Exclusive, Direction::Forward, &input, &[]), [0, 3, 4, 11, 11, 15, 16, 22]);
        assert_eq!(sums(Kind::Inclusive, Direction::Forward, &input, &[]), [3, 4, 11, 11, 15, 16, 22, 25]);
        assert_eq!(sums(Kind::Exclusive, Direction::Backward, &input, &[]), [22, 21, 14, 14, 10, 9, 3, 0]);
    }

    /// sengupta2007 §2.2.2: the segments are 1 2 3 and 4 5 6 7 8 in both directions.
    #[test]
    fn the_papers_flags_are_shifted() {
        let heads = [false, false, false, true, false, false, false, false];
        assert_eq!(flipped(&heads), [false, false, false, false, false, true, false, false]);
        let input = [1, 2, 3, 4, 5, 6, 7, 8];
        let backward = sums(Kind::Inclusive, Direction::Backward, &input, &[3]);
        assert_eq!(backward, [6, 5, 3, 30, 26, 21, 15, 8]);
        let forward = sums(Kind::Inclusive, Direction::Forward, &input, &[3]);
        assert_eq!(forward, [1, 3, 6, 4, 9, 15, 22, 30]);
    }

    /// sengupta2007 Fig. 3: the products of a row are summed from last to first.
    #[test]
    fn the_papers_matrix_rows_are_added_up() {
        let [a, b, c, d, e, f] = [2, 3, 5, 7, 11, 13];
        let found = sums(Kind::Inclusive, Direction::Backward, &[a, b, c, d, e, f], &[0, 2, 5]);
        assert_eq!(found, [a + b, b, c + d + e, d + e, e, f]);
    }

    #[test]
    fn compositions_keep_their_order() {
        let pairs = [[2, 1], [3, 0], [5, 7]];
        let run = |direction| {
            let (operator, ty, kind) = (Operator::Affine, Type::U64, Kind::Inclusive);
            let spec = Spec { operator, ty, kind, direction, ..spec(false, 1, "best") };
            scan(&spec, &pairs, &[true, false, false])
        };
        assert_eq!(run(Direction::Forward), [[2, 1], [6, 3], [30, 22]]);
        assert_eq!(run(Direction::Backward), [[30, 43], [15, 21], [5, 7]]);
    }
}
