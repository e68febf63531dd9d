//! The effects of the deliberately wrong implementations.

use super::spec::{Operation, Spec};
use crate::case::Fault;

/// The number of elements handled, from the first on: with [`Fault::MissingTail`] all but the last one written;
/// with [`Fault::WrongChunk`], whose second half repeats the first, half of those written. The stores implement
/// the other faults.
pub fn handled(spec: &Spec, fault: Option<Fault>) -> u64 {
    let written = spec.written();
    match fault {
        Some(Fault::MissingTail) => reaching(spec, written.saturating_sub(1)),
        Some(Fault::WrongChunk) => reaching(spec, written / 2),
        _ => spec.elements,
    }
}

/// The element of out that [`Fault::SkippedStore`] leaves unwritten.
pub fn skipped(spec: &Spec, fault: Option<Fault>) -> Option<u64> {
    (fault == Some(Fault::SkippedStore) && spec.written() > 0).then_some(spec.written() / 2)
}

/// The number of elements, from the first on, that gives exactly `written` elements of out; fewer than all are
/// written.
fn reaching(spec: &Spec, written: u64) -> u64 {
    if spec.operation != Operation::Compact {
        return written;
    }
    let inputs = spec.inputs();
    let mut trues = (0..spec.elements).filter(|&i| inputs.flag(i));
    trues.nth(written as usize).unwrap_or(spec.elements)
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn a_fault_leaves_something_out() {
        for operation in [Operation::Compact, Operation::Enumerate] {
            let spec = spec(operation, 100, 0, 3);
            let inputs = spec.inputs();
            let written = |n: u64| match operation {
                Operation::Compact => (0..n).filter(|&i| inputs.flag(i)).count() as u64,
                _ => n,
            };
            let all = spec.written();
            assert_eq!(written(handled(&spec, None)), all);
            assert_eq!(written(handled(&spec, Some(Fault::MissingTail))), all - 1);
            assert_eq!(written(handled(&spec, Some(Fault::WrongChunk))), all / 2);
            assert_eq!(skipped(&spec, Some(Fault::SkippedStore)), Some(all / 2));
        }
    }
}
