//! Arrays of starts of a case's uses, in device memory.

use super::{Kernels, Side};
use crate::inputs::Permutation;
use crate::inputs::mix::{scale, word64};
use crate::primitives::Range;
use crate::primitives::cuda::prelude::*;
use crate::primitives::pattern::{Spec, Starts};

/// Length of a run of entries that the host compares, and the number of such runs at random positions.
const SAMPLE: u64 = 64;
const SAMPLES: u64 = 64;

device_struct! {
    /// `Starts` in the kernels.
    struct Form: 72 {
        sums: DevicePtr<u64>,
        length: u64,
        total: u64,
        order: Permutation,
        shuffled: u32,
        unused: u32,
    }
}

/// Where each visit of a case starts in one sparse array, and the function that it follows.
pub struct Array {
    starts: DeviceBuffer<u32>,
    _sums: DeviceBuffer<u64>,
    bytes: u32,
    count: u64,
    form: Form,
    /// The starts as the host computes them.
    function: Starts,
}

impl Array {
    /// Allocates the array and queues the kernel that fills it; with [`Fault::SequentialOrder`] the uses are visited in sequence.
    pub fn new(
        gpu: &Gpu,
        kernels: &Kernels,
        spec: &Spec,
        function: Starts,
        fault: Option<Fault>,
    ) -> Result<Array, Failure> {
        let none = || Failure::Failed("no permutation of 1".to_owned());
        let (bytes, count) = (spec.base_bytes() as u32, spec.count);
        let starts = array(gpu, count * u64::from(bytes) / 4)?;
        let sums = gpu.upload(&function.sums)?;
        let form = Form {
            sums: sums.pointer(),
            length: sums.len() as u64,
            total: function.total,
            order: function.order.or_else(|| Permutation::new(1, 0)).ok_or_else(none)?,
            shuffled: u32::from(function.order.is_some()),
            unused: 0,
        };
        let wrong = fault == Some(Fault::SequentialOrder);
        let filled = if wrong { Form { shuffled: 0, ..form } } else { form };
        launch_over(gpu, &kernels.starts, count, args![starts, bytes, filled, count])?;
        Ok(Array { starts, _sums: sums, bytes, count, form, function })
    }

    /// The first mistake: all entries are compared with the kernels' own function, and some with the host's,
    /// because the kernel that filled the array used the same function as the check.
    pub fn mistake(&self, gpu: &Gpu, kernels: &Kernels, seed: u64) -> Result<Option<String>, Failure> {
        let finding = find(gpu, |report| {
            let args = args![self.starts, self.bytes, self.form, self.count, report];
            launch_over(gpu, &kernels.check_starts, self.count, args)
        })?;
        match finding.mistake("starts").or_else(|| finding.unchecked(self.count, "starts")) {
            Some(mistake) => Ok(Some(mistake)),
            None => self.mistake_by_host(seed),
        }
    }

    fn mistake_by_host(&self, seed: u64) -> Result<Option<String>, Failure> {
        let words = u64::from(self.bytes) / 4;
        for Range { first, count } in samples(self.count, seed) {
            let (begin, end) = (length(first * words)?, length((first + count) * words)?);
            let found = self.starts.range_to_host(begin..end)?;
            if let Some(mistake) = mistaken(&self.function, first, &found, words as usize) {
                return Ok(Some(mistake));
            }
        }
        Ok(None)
    }

    /// The side, with uses that start where the array states.
    pub fn of(&self, side: Side) -> Side {
        Side { starts: self.starts.pointer(), start_bytes: self.bytes, ..side }
    }
}

/// Runs of entries: the first, the last, and some at random positions, which may overlap.
fn samples(count: u64, seed: u64) -> impl Iterator<Item = Range> {
    let last = count.saturating_sub(SAMPLE);
    let anywhere = (0..SAMPLES).map(move |k| scale(word64(seed, k), last + 1));
    [0, last].into_iter().chain(anywhere).map(move |first| Range { first, count: count.min(SAMPLE) })
}

/// The first of these entries, each of one or two 32-bit words, that differs from the function.
fn mistaken(starts: &Starts, first: u64, found: &[u32], words: usize) -> Option<String> {
    let value = |entry: &[u32]| entry.iter().rev().fold(0, |high, word| high << 32 | u64::from(*word));
    (first..).zip(found.chunks(words).map(value)).find_map(|(i, found)| {
        let expected = starts.at(i);
        (found != expected).then(|| format!("starts[{i}] is {found:#x} instead of {expected:#x}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_lie_inside_and_reach_both_ends() {
        for count in [1, SAMPLE - 1, SAMPLE, SAMPLE + 1, 1 << 40] {
            let all: Vec<Range> = samples(count, 7).collect();
            assert!(all.iter().all(|s| s.count > 0 && s.first + s.count <= count), "{count}");
            assert!(all.iter().any(|s| s.first == 0) && all.iter().any(|s| s.first + s.count == count));
        }
        let places = |seed| samples(1 << 40, seed).map(|s| s.first).collect::<Vec<_>>();
        assert_ne!(places(7), places(8));
    }

    #[test]
    fn an_entry_that_is_not_the_definitions_is_a_mistake() {
        let starts = Starts::new(&[0, 1 << 33, 5], Permutation::new(1000, 9));
        let entries = |change: u64| -> Vec<u32> {
            let wrong = |i: u64| starts.at(i) ^ if i == 17 { change } else { 0 };
            (10..30).map(wrong).flat_map(|start| [start as u32, (start >> 32) as u32]).collect()
        };
        assert_eq!(mistaken(&starts, 10, &entries(0), 2), None);
        for change in [1, 1 << 40] {
            let told = mistaken(&starts, 10, &entries(change), 2).expect("a mistake");
            assert!(told.starts_with("starts[17] is "), "{told}");
        }
        let narrow = Starts::new(&[8], None);
        assert_eq!(mistaken(&narrow, 4, &[32, 40], 1), None);
        assert_eq!(mistaken(&narrow, 4, &[32, 41], 1).as_deref(), Some("starts[5] is 0x29 instead of 0x28"));
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Form>(), std::mem::offset_of!(Form, shuffled)), (72, 64));
    }
}
