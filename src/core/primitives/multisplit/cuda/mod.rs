//! multisplit on a GPU: the parts that all methods share (`kernels/multisplit/multisplit.cu`).

pub mod certify;
mod field_splits;
pub mod fused;
pub mod input;
mod paper;
mod rb_sort;

use super::spec::{KEY, Method, OFFSET, Spec};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, OutputArray, args,
};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::stats::median;
use certify::{Certificate, Output};
pub use field_splits::FieldSplits;
use input::{Function, Input};
use paper::{Localised, ScanSplit};
use rb_sort::RbSort;

/// The module of all kernels except the passes with bulk copies.
const MODULE: &str = "multisplit";

/// Number of executions over which the stages are timed.
const STAGED: usize = 5;

/// Pointers to keys and to values, the values as one or two words each; the second is unused if there are no
/// values.
pub type Pair = [DevicePtr<u32>; 2];

/// One multisplit to be queued. Addresses are aligned to an element.
#[derive(Clone, Copy)]
pub struct Split {
    pub from: Pair,
    pub n: u64,
    pub to: Pair,
    /// The m + 1 offsets.
    pub offsets: DevicePtr<u32>,
}

impl Split {
    /// Source and destination of the keys, then source and destination of the values.
    fn arrays(&self) -> [DevicePtr<u32>; 4] {
        [self.from[0], self.to[0], self.from[1], self.to[1]]
    }

    /// Queues a search for the offsets among the ordered keys: a warp for each bucket, and one for the end.
    fn seek(&self, gpu: &Gpu, kernel: &Kernel, function: Function, buckets: u64) -> Result<(), Failure> {
        let args = args![self.to[0], self.n, self.offsets, function];
        gpu.launch(kernel, grid(32 * (buckets + 1), u64::from(BLOCK)), BLOCK, 0, args)
    }
}

/// A buffer of `n` words, at least one.
fn words(gpu: &Gpu, n: u64) -> Result<DeviceBuffer<u32>, Failure> {
    gpu.alloc(length(n.max(1))?)
}

/// The addresses of arrays.
fn pointers<const N: usize>(arrays: &[DeviceBuffer<u32>; N]) -> [DevicePtr<u32>; N] {
    arrays.each_ref().map(DeviceBuffer::pointer)
}

/// A method with its kernels and temporary arrays.
pub trait Splitter: Send {
    /// Queues a whole multisplit with all its stages.
    fn split(&mut self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        (0..self.stages().len()).try_for_each(|stage| self.stage(gpu, what, stage))
    }

    /// Splits by this field, as wide as that of the case, from now on.
    fn turn_to(&mut self, _field: Function) {}

    /// The names of the stages whose times are recorded; empty if no stages are timed.
    fn stages(&self) -> &'static [&'static str] {
        &[]
    }

    /// Queues a single stage.
    fn stage(&mut self, _gpu: &Gpu, _what: &Split, _stage: usize) -> Result<(), Failure> {
        Ok(())
    }
}

/// A case in device memory.
pub struct Multisplit {
    spec: Spec,
    splitter: Box<dyn Splitter>,
    certificate: Certificate,
    input: Input,
    output: Output,
    /// Seconds of each stage, once they have been timed.
    stages: Vec<f64>,
}

/// The method of a case.
fn splitter(gpu: &Gpu, spec: &Spec, function: Function) -> Result<Box<dyn Splitter>, Failure> {
    Ok(match spec.method {
        Method::Direct | Method::WriteCombining => return Err(of_cpus()),
        Method::Fused => fused::splitter(gpu, spec, function)?,
        Method::RbSort => Box::new(RbSort::new(gpu, spec, function)?),
        Method::ScanSplit => Box::new(ScanSplit::new(gpu, spec, function)?),
        Method::Localised(shape) => Box::new(Localised::new(gpu, spec, shape, function)?),
    })
}

/// The kernels of a method, with bulk copies or without.
///
/// # Errors
/// A method of CPUs.
pub fn kernels(spec: &Spec, bulk: bool) -> Result<KernelList, Failure> {
    Ok(match spec.method {
        Method::Direct | Method::WriteCombining => return Err(of_cpus()),
        Method::Fused => fused::kernels(spec, bulk),
        Method::RbSort => rb_sort::kernels(spec, bulk),
        Method::ScanSplit => ScanSplit::kernels(spec),
        Method::Localised(shape) => Localised::kernels(spec, &shape),
    })
}

fn of_cpus() -> Failure {
    Failure::NotApplicable("a method of CPUs".to_owned())
}

impl GpuJob for Multisplit {
    type Case = Spec;

    fn kernels(spec: &Spec, capability: ComputeCapability) -> Result<KernelList, Failure> {
        let method = kernels(spec, fused::bulk(capability))?;
        Ok(method.untimed(MODULE, [input::FILL]).untimed(MODULE, Certificate::KERNELS))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.keys, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Multisplit, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let input = Input::new(gpu, &module, &spec)?;
        Ok(Multisplit {
            splitter: splitter(gpu, &spec, input.function)?,
            certificate: Certificate::new(gpu, &module, &spec)?,
            output: Output {
                keys: gpu.alloc(length(spec.keys)?)?,
                values: gpu.alloc(length(spec.value_bytes() / 4)?)?,
                offsets: gpu.alloc(length(spec.buckets + 1)?)?,
            },
            input,
            stages: Vec::new(),
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let what = self.split(part)?;
        self.splitter.split(gpu, &what)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let (value, Output { keys, values, offsets }) = (self.spec.value.max(4), &mut self.output);
        vec![OutputArray::new(keys, KEY), OutputArray::new(values, value), OutputArray::new(offsets, OFFSET)]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.certificate.judge(gpu, &self.spec, &self.input, &self.output)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }

    /// `rb-sort` also writes labels that nobody reads; the offsets of the buckets are results of every method.
    fn moved(&self, [inputs, _]: [u64; 2]) -> [u64; 2] {
        let Output { keys, values, offsets } = &self.output;
        [inputs, keys.bytes() + values.bytes() + offsets.bytes()]
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let stages = self.splitter.stages().iter().zip(&self.stages);
        stages.map(|(name, &seconds)| (format!("stages.{name}"), Value::Float(seconds))).collect()
    }

    /// Times the stages separately from the samples, which have no events between stages.
    fn certified(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let what = self.split(LaunchPart { first: 0, count: self.spec.keys, shift: 0 })?;
        let count = self.splitter.stages().len();
        let splitter = &mut self.splitter;
        let mut once = |_| gpu.timed_parts(count, &mut |stage| splitter.stage(gpu, &what, stage));
        let runs = (0..STAGED).map(&mut once).collect::<Result<Vec<_>, _>>()?;
        let of_stage = |stage: usize| runs.iter().map(|run| run[stage]).collect::<Vec<_>>();
        self.stages = (0..count).filter_map(|stage| median(&of_stage(stage))).collect();
        Ok(())
    }
}

impl Multisplit {
    /// The multisplit of the first `part.count` keys, with the input shifted by `part.shift`.
    fn split(&self, part: LaunchPart) -> Result<Split, Failure> {
        Ok(Split {
            from: [
                self.input.keys.pointer_at(length(part.shift)?)?,
                self.input.values.pointer_at(length(part.shift * self.spec.value / 4)?)?,
            ],
            n: part.count,
            to: [self.output.keys.pointer(), self.output.values.pointer()],
            offsets: self.output.offsets.pointer(),
        })
    }
}
