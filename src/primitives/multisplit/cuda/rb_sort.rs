//! rb-sort: a reduced-bit sort (ashkiani2017 §3.3). Every key gets its bucket's number as a label, and
//! labels are sorted, from their lowest digit on, with what goes along: the key; key and value in
//! one word of 64 bits; or where values have 8 bytes the pair's number, by which pairs are permuted
//! at the end. A digit is a split by up to 8 bits (`passes`).

use super::input::Function;
use super::passes::{Arrays, Passes};
use super::{MODULE, Split, Splitter, passes};
use crate::case::Failure;
use crate::device::cuda::{Arg, DeviceBuffer, DevicePtr, Gpu, GpuFacts, Kernel};
use crate::device::cuda::{Launched, Named, named};
use crate::primitives::cuda::{launch_over, length};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::labels::{Load, digits, loads, way};

/// The paper's names (Table 4); unpacking is also what a permutation takes.
const STAGES: &[&str] = &["labelling", "sorting", "unpacking"];

/// What an execution launches.
pub fn launched(spec: &Spec) -> Launched {
    let count = digits(spec.bits()).0;
    let more = u64::from(count > 1) + u64::from(spec.value > 0);
    Launched {
        kernel: format!("regex:^({}|rb_.*)$", way(spec).launched()),
        launches: 1 + 3 * u64::from(count) + more,
    }
}

/// A case's kernels and what lies between them.
pub struct RbSort {
    spec: Spec,
    function: Function,
    label: Kernel,
    unpack: Kernel,
    permute: Kernel,
    offsets: Kernel,
    passes: Passes,
    labels: [DeviceBuffer<u32>; 2],
    loads: [DeviceBuffer<u32>; 2],
}

/// Its own kernels: those that label, unpack and permute, and that of the offsets.
const KERNELS: [&str; 4] = ["rb_label", "rb_unpack", "rb_permute", "rb_offsets"];

/// The kernels that a case asks for on such a GPU.
pub fn kernels(spec: &Spec, gpu: &GpuFacts) -> Vec<Named> {
    [named(MODULE, KERNELS), passes::kernels(way(spec), gpu)].concat()
}

impl RbSort {
    /// Those of a case.
    ///
    /// # Errors
    /// What [`Passes::new`] says.
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function) -> Result<RbSort, Failure> {
        let [label, unpack, permute, offsets] = gpu.module(MODULE)?.kernels(KERNELS)?;
        let alloc = |n: u64| length(n.max(1)).and_then(|n| gpu.alloc(n));
        let [one, other] = loads(spec);
        Ok(RbSort {
            spec: *spec,
            function,
            label,
            unpack,
            permute,
            offsets,
            passes: Passes::new(gpu, way(spec), spec.keys)?,
            labels: [alloc(spec.keys)?, alloc(spec.keys)?],
            loads: [alloc(one)?, alloc(other)?],
        })
    }

    fn digits(&self) -> (u32, u32) {
        digits(self.spec.bits())
    }

    /// Where the loads of the digit's input are, counted up to one past the last digit.
    fn load(&self, what: &Split, digit: u32) -> DevicePtr<u32> {
        match (Load::of(&self.spec), digit) {
            (Load::Key, 0) => what.keys,
            (Load::Key, digit) if digit == self.digits().0 => what.keys_out,
            // There are two digits at most.
            (Load::Key, _) => self.loads[0].pointer(),
            (_, digit) => self.loads[digit as usize % 2].pointer(),
        }
    }

    fn label(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let (n, with) = (what.n as u32, Load::of(&self.spec) as u32);
        let args: [Arg; 7] = [
            (&what.keys).into(),
            (&what.values).into(),
            (&n).into(),
            (&self.function).into(),
            (&with).into(),
            (&self.labels[0]).into(),
            (&self.loads[0]).into(),
        ];
        launch_over(gpu, &self.label, what.n, &args)
    }

    /// The digits from the lowest on; the offsets are those of a single one, or sought among the
    /// sorted labels.
    fn sort(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let (count, bits) = self.digits();
        for digit in 0..count {
            let from = digit as usize % 2;
            let (offsets, buckets) = match count {
                1 => (what.offsets, self.spec.buckets),
                _ => (DevicePtr::null(), 1 << bits),
            };
            let arrays = Arrays {
                keys: self.labels[from].pointer(),
                values: self.load(what, digit),
                keys_out: self.labels[1 - from].pointer(),
                values_out: self.load(what, digit + 1),
                offsets,
                behind: 0,
            };
            self.passes.split(gpu, &arrays, Function::field(digit * bits, bits, buckets), what.n)?;
        }
        if count == 1 {
            return Ok(());
        }
        let (n, buckets) = (what.n as u32, self.spec.buckets as u32);
        let labels = &self.labels[count as usize % 2];
        let args = [labels.into(), (&n).into(), (&buckets).into(), (&what.offsets).into()];
        launch_over(gpu, &self.offsets, what.n + 1, &args)
    }

    fn unpack(&self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let (n, words) = (what.n as u32, (self.spec.value / 4) as u32);
        let sorted = self.load(what, self.digits().0);
        let out = [(&what.keys_out).into(), (&what.values_out).into()];
        match Load::of(&self.spec) {
            Load::Key => Ok(()),
            Load::Pair => {
                let args = [&[(&sorted).into(), (&n).into()], &out[..]].concat();
                launch_over(gpu, &self.unpack, what.n, &args)
            }
            Load::Number => {
                let from = [(&sorted).into(), (&n).into(), (&what.keys).into(), (&what.values).into()];
                let args = [&from[..], &[(&words).into()], &out].concat();
                launch_over(gpu, &self.permute, what.n, &args)
            }
        }
    }
}

impl Splitter for RbSort {
    fn bytes(&self) -> u64 {
        let all = self.labels.iter().chain(&self.loads).map(DeviceBuffer::bytes);
        all.sum::<u64>() + self.passes.bytes()
    }

    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        match stage {
            0 => self.label(gpu, what),
            1 => self.sort(gpu, what),
            _ => self.unpack(gpu, what),
        }
    }
}
