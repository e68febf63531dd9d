//! The sequential oracle of the primitives atop scan: their definitions, segment by segment.

use super::{Operation, Spec};
use crate::primitives::oracle::check_length;
use crate::primitives::scan::Direction;
use crate::primitives::scan::oracle::compare;

/// The segments, each from a head to the next. The first element is always a head.
fn segments(heads: &[bool]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts: Vec<usize> = (0..heads.len()).filter(|&i| i == 0 || heads[i]).collect();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([heads.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end)
}

/// The number of trues before each element in its segment (sengupta2007 §2.3.1).
pub fn enumerate(flags: &[bool], heads: &[bool]) -> Vec<u32> {
    let of = |segment: std::ops::Range<usize>| {
        let mut count = 0;
        flags[segment].iter().map(move |&flag| {
            count += u32::from(flag);
            count - u32::from(flag)
        })
    };
    segments(heads).flat_map(of).collect()
}

/// The elements whose flags are true.
pub fn compact<T: Copy>(input: &[T], flags: &[bool]) -> Vec<T> {
    input.iter().zip(flags).filter(|(_, flag)| **flag).map(|(element, _)| *element).collect()
}

/// The start of each segment in the compacted array.
pub fn pointers(flags: &[bool], heads: &[bool]) -> Vec<u32> {
    let mut kept = 0;
    let count = |flags: &[bool]| flags.iter().filter(|&&flag| flag).count() as u32;
    let before = |segment: std::ops::Range<usize>| {
        let own = count(&flags[segment]);
        kept += own;
        kept - own
    };
    segments(heads).map(before).collect()
}

/// Replaces every element by the first, or the last, element of its segment (§2.3.2).
pub fn distribute<T: Copy>(direction: Direction, input: &[T], heads: &[bool]) -> Vec<T> {
    let from = |segment: &std::ops::Range<usize>| match direction {
        Direction::Forward => segment.start,
        Direction::Backward => segment.end - 1,
    };
    segments(heads).flat_map(|segment| vec![input[from(&segment)]; segment.len()]).collect()
}

/// The falses of each segment, then its trues, and the flags of the elements that begin the new segments
/// (§2.3.3).
pub fn split<T: Copy>(input: &[T], flags: &[bool], heads: &[bool]) -> (Vec<T>, Vec<bool>) {
    let (mut out, mut out_heads) = (Vec::new(), vec![false; input.len()]);
    for segment in segments(heads) {
        for class in [false, true] {
            let start = out.len();
            out.extend(segment.clone().filter(|&i| flags[i] == class).map(|i| input[i]));
            if out.len() > start {
                out_heads[start] = true;
            }
        }
    }
    (out, out_heads)
}

/// Compares the output byte by byte with the definition: for compact the number of elements of out, then out,
/// then the array beside it.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output())?;
    let inputs = spec.inputs();
    let each = 0..spec.elements;
    let input: Vec<u64> = each.clone().map(|i| inputs.value(i)).collect();
    let flags: Vec<bool> = each.clone().map(|i| inputs.flag(i)).collect();
    let heads: Vec<bool> = each.map(|i| inputs.segments.head(i)).collect();
    let (out, beside): (Vec<u64>, Vec<u32>) = match spec.operation {
        Operation::Enumerate => (enumerate(&flags, &heads).into_iter().map(u64::from).collect(), Vec::new()),
        Operation::Compact if spec.segmented() => (compact(&input, &flags), pointers(&flags, &heads)),
        Operation::Compact => (compact(&input, &flags), Vec::new()),
        Operation::Distribute => (distribute(spec.direction, &input, &heads), Vec::new()),
        Operation::Split => (split(&input, &flags, &heads).0, Vec::new()),
        Operation::SplitAndSegment => {
            let (out, heads) = split(&input, &flags, &heads);
            (out, words(&heads))
        }
    };
    let number = if spec.operation == Operation::Compact { 8 } else { 0 };
    let (number, rest) = output.split_at(number);
    if !number.is_empty() && number != (out.len() as u64).to_le_bytes() {
        return Err(format!("out has {number:02x?} elements instead of {}", out.len()));
    }
    let (found, found_beside) = rest.split_at(out.len() * spec.out_element() as usize);
    let element = |word: u64| word.to_le_bytes()[..spec.out_element() as usize].to_vec();
    compare("out", found, spec.out_element(), out.into_iter().map(element))?;
    compare("beside out, word", found_beside, 4, beside.into_iter().map(|word| word.to_le_bytes().to_vec()))
}

/// Flags as bits: element i is bit i mod 32 of word i / 32.
fn words(flags: &[bool]) -> Vec<u32> {
    let word = |flags: &[bool]| flags.iter().enumerate().map(|(b, &flag)| u32::from(flag) << b).sum();
    flags.chunks(32).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Flags written as in the paper: `t` and `f`.
    fn flags(text: &str) -> Vec<bool> {
        text.split_whitespace().map(|word| word == "t").collect()
    }

    /// The heads of segments of these lengths.
    fn heads(lengths: &[usize]) -> Vec<bool> {
        lengths.iter().flat_map(|&length| (0..length).map(|k| k == 0)).collect()
    }

    fn lengths(heads: &[bool]) -> Vec<usize> {
        segments(heads).map(|segment| segment.len()).collect()
    }

    /// sengupta2007 §2.3.1.
    #[test]
    fn the_papers_enumerate() {
        let flags = flags("t f f t f t t");
        assert_eq!(enumerate(&flags, &heads(&[7])), [0, 1, 1, 1, 2, 2, 3]);
        assert_eq!(enumerate(&flags, &heads(&[3, 4])), [0, 1, 1, 0, 1, 1, 2]);
        // Enumerate gives the address of each element that is kept.
        assert_eq!(compact(&['a', 'b', 'c', 'd', 'e', 'f', 'g'], &flags), ['a', 'd', 'f', 'g']);
        assert_eq!(pointers(&flags, &heads(&[1, 2, 4])), [0, 1, 1]);
    }

    /// sengupta2007 §2.3.2.
    #[test]
    fn the_papers_distribute() {
        let input = ['a', 'b', 'c', 'd', 'e'];
        let of = |direction, lengths: &[usize]| distribute(direction, &input, &heads(lengths));
        assert_eq!(of(Direction::Forward, &[3, 2]), ['a', 'a', 'a', 'd', 'd']);
        assert_eq!(of(Direction::Backward, &[3, 2]), ['c', 'c', 'c', 'e', 'e']);
        assert_eq!(of(Direction::Backward, &[5]), ['e'; 5]);
    }

    /// sengupta2007 §2.3.3: both examples, the second with its addresses.
    #[test]
    fn the_papers_splits() {
        let (out, new) = split(&['a', 'b', 'c', 'd', 'e', 'f'], &flags("t f t f t f"), &heads(&[3, 3]));
        assert_eq!((out, lengths(&new)), (vec!['b', 'a', 'c', 'd', 'f', 'e'], vec![1, 2, 2, 1]));

        let flags = flags("t f t f f t f");
        let id = [0u32, 1, 2, 3, 4, 5, 6];
        let (out, new) = split(&id, &flags, &heads(&[7]));
        let mut address = [0; 7];
        out.iter().zip(id).for_each(|(&i, at)| address[i as usize] = at);
        assert_eq!((address, lengths(&new)), ([4, 0, 5, 1, 2, 6, 3], vec![4, 3]));
        // Our addresses: i − t(i), or e − u(i).
        let before = enumerate(&flags, &heads(&[7]));
        let ours = |i: usize| if flags[i] { 7 - (3 - before[i]) } else { id[i] - before[i] };
        assert_eq!(std::array::from_fn(ours), address);
    }

    /// sengupta2007 Fig. 2: every line of the quicksort of 5 3 7 4 6 in two passes.
    #[test]
    fn the_papers_quicksort() {
        let input = [5, 3, 7, 4, 6];
        let first = distribute(Direction::Forward, &input, &heads(&[5]));
        assert_eq!(first, [5; 5]);
        let above: Vec<bool> = input.iter().zip(&first).map(|(x, pivot)| x > pivot).collect();
        assert_eq!(above, flags("f f t f t"));
        let (halves, two) = split(&input, &above, &heads(&[5]));
        assert_eq!((halves.as_slice(), lengths(&two)), ([5, 3, 4, 7, 6].as_slice(), vec![3, 2]));
        let second = distribute(Direction::Forward, &halves, &two);
        assert_eq!(second, [5, 5, 5, 7, 7]);
        let above: Vec<bool> = halves.iter().zip(&second).map(|(x, pivot)| x >= pivot).collect();
        assert_eq!(above, flags("t f f t f"));
        let (sorted, four) = split(&halves, &above, &two);
        assert_eq!((sorted, lengths(&four)), (vec![3, 4, 5, 6, 7], vec![2, 1, 1, 1]));
    }

    #[test]
    fn bits_are_in_words() {
        let mut flags = vec![false; 33];
        (flags[1], flags[31], flags[32]) = (true, true, true);
        assert_eq!(words(&flags), [0x8000_0002, 1]);
    }
}
