//! rb-sort: a reduced-bit sort (ashkiani2017 §3.3). Every key gets its bucket's number as a label, and labels
//! are sorted from their lowest digit on, together with a load: the key; key and value in one 64-bit word; or,
//! if values have 8 bytes, the pair's number, by which pairs are permuted at the end. Sorting by a digit is a
//! split by up to 8 bits (`fused`).

use super::fused::{self, Digit, Passes};
use super::input::Function;
use super::{MODULE, Split, Splitter, words};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, args};
use crate::primitives::cuda::launch_over;
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::labels::{Load, digits, loads, way};

/// The kernels of rb-sort itself: labelling, unpacking, permuting and offsets.
const KERNELS: [&str; 4] = ["rb_label", "rb_unpack", "rb_permute", "rb_offsets"];

/// The kernels of a case, with bulk copies or without.
pub fn kernels(spec: &Spec, bulk: bool) -> KernelList {
    let digits = u64::from(digits(spec.bits()).0);
    let load = Load::of(spec);
    let [unpacked, permuted] = [Load::Pair, Load::Number].map(|with| u64::from(load == with));
    let [label, unpack, permute, offsets] = KERNELS;
    let sorted =
        KernelList::default().timed(MODULE, label, 1).and(fused::split_kernels(way(spec), bulk), digits);
    let found = sorted.timed(MODULE, offsets, u64::from(digits > 1));
    found.timed(MODULE, unpack, unpacked).timed(MODULE, permute, permuted)
}

/// The kernels of a case and the arrays between them.
pub struct RbSort {
    spec: Spec,
    function: Function,
    kernels: [Kernel; 4],
    passes: Passes,
    labels: [DeviceBuffer<u32>; 2],
    loads: [DeviceBuffer<u32>; 2],
}

impl RbSort {
    /// Allocates the arrays of a case.
    ///
    /// # Errors
    /// The errors of [`Passes::new`].
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function) -> Result<RbSort, Failure> {
        let [one, other] = loads(spec);
        Ok(RbSort {
            spec: *spec,
            function,
            kernels: gpu.module(MODULE)?.kernels(KERNELS)?,
            passes: Passes::new(gpu, way(spec), spec.keys)?,
            labels: [words(gpu, spec.keys)?, words(gpu, spec.keys)?],
            loads: [words(gpu, one)?, words(gpu, other)?],
        })
    }

    /// The loads that the split by `digit` reads; one past the last digit gives the sorted loads.
    fn load(&self, what: &Split, digit: u32) -> DevicePtr<u32> {
        match (Load::of(&self.spec), digit) {
            (Load::Key, 0) => what.from[0],
            (Load::Key, digit) if digit == digits(self.spec.bits()).0 => what.to[0],
            // There are at most two digits.
            (Load::Key, _) => self.loads[0].pointer(),
            (_, digit) => self.loads[digit as usize % 2].pointer(),
        }
    }

    fn label(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let ([keys, values], n, with) = (what.from, what.n as u32, Load::of(&self.spec) as u32);
        let args = args![keys, values, n, self.function, with, self.labels[0], self.loads[0]];
        let [label, ..] = &self.kernels;
        launch_over(gpu, label, what.n, args)
    }

    /// Sorts by the digits from the lowest on. The offsets come from the split if there is a single digit;
    /// otherwise they are searched for among the sorted labels.
    fn sort(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let (count, bits) = digits(self.spec.bits());
        let (offsets, buckets) = match count {
            1 => (what.offsets, self.spec.buckets),
            _ => (DevicePtr::null(), 1 << bits),
        };
        for digit in 0..count {
            let labels = |digit: u32| self.labels[digit as usize % 2].pointer();
            let [from, to] = [digit, digit + 1].map(|digit| [labels(digit), self.load(what, digit)]);
            let function = Function::field(digit * bits, bits, buckets);
            self.passes.split(gpu, &Split { from, to, offsets, ..*what }, Digit { function, behind: 0 })?;
        }
        if count == 1 {
            return Ok(());
        }
        let (labels, n, buckets) =
            (&self.labels[count as usize % 2], what.n as u32, self.spec.buckets as u32);
        let [.., offsets] = &self.kernels;
        launch_over(gpu, offsets, what.n + 1, args![labels, n, buckets, what.offsets])
    }

    /// Unpacks the pairs, or permutes them.
    fn unpack(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let [_, unpack, permute, _] = &self.kernels;
        let (n, words) = (what.n as u32, (self.spec.value / 4) as u32);
        let sorted = self.load(what, digits(self.spec.bits()).0);
        let ([keys, values], [keys_out, values_out]) = (what.from, what.to);
        match Load::of(&self.spec) {
            Load::Key => Ok(()),
            Load::Pair => launch_over(gpu, unpack, what.n, args![sorted, n, keys_out, values_out]),
            Load::Number => {
                let args = args![sorted, n, keys, values, words, keys_out, values_out];
                launch_over(gpu, permute, what.n, args)
            }
        }
    }
}

impl Splitter for RbSort {
    /// The paper's names (Table 4); a permutation counts as unpacking.
    fn stages(&self) -> &'static [&'static str] {
        &["labelling", "sorting", "unpacking"]
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        match stage {
            0 => self.label(gpu, what),
            1 => self.sort(gpu, what),
            _ => self.unpack(gpu, what),
        }
    }
}
