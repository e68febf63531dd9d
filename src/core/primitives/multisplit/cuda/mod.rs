//! multisplit on a GPU: the parts that all methods share (`kernels/multisplit/multisplit.cu`).

pub mod certify;
pub mod fused;
pub mod input;

use super::{KEY, OFFSET, Spec, methods};
use crate::case::Value;
use crate::primitives::cuda::Pair;
use crate::primitives::cuda::prelude::*;
use crate::stats::median;
use certify::{Certificate, Output};
use input::{Function, Input};

/// The module of all kernels except the passes with bulk copies.
pub const MODULE: &str = "multisplit";

/// Number of executions over which the stages are timed.
const STAGED: usize = 5;

/// One multisplit to be queued. Addresses are aligned to an element.
#[derive(Clone, Copy)]
pub struct Split {
    pub from: Pair,
    pub n: u64,
    pub to: Pair,
    /// The m + 1 offsets.
    pub offsets: DevicePtr<u32>,
    /// The bucket of a key.
    pub function: Function,
}

impl Split {
    /// Source and destination of the keys, then source and destination of the values.
    pub fn arrays(&self) -> [DevicePtr<u32>; 4] {
        [self.from[0], self.to[0], self.from[1], self.to[1]]
    }

    /// Queues a search for the offsets among the ordered keys: a warp for each bucket, and one for the end.
    pub fn seek(&self, gpu: &Gpu, kernel: &Kernel, buckets: u64) -> Result<(), Failure> {
        let args = args![self.to[0], self.n, self.offsets, self.function];
        gpu.launch(kernel, grid(32 * (buckets + 1), u64::from(BLOCK)), BLOCK, 0, args)
    }
}

/// A buffer of `n` words, at least one.
pub fn words(gpu: &Gpu, n: u64) -> Result<DeviceBuffer<u32>, Failure> {
    array(gpu, n.max(1))
}

/// The addresses of arrays.
pub fn pointers<const N: usize>(arrays: &[DeviceBuffer<u32>; N]) -> [DevicePtr<u32>; N] {
    arrays.each_ref().map(DeviceBuffer::pointer)
}

/// Queues one stage of a multisplit, with the kernels and arrays that its method has.
type Queue = Box<dyn FnMut(&Gpu, &Split, usize) -> Result<(), Failure> + Send>;

/// A method, stage by stage.
pub struct Stages {
    /// The names of the stages whose times are recorded; none if a method is one stage.
    names: &'static [&'static str],
    queue: Queue,
}

impl Stages {
    /// A method of these stages.
    pub fn new<F>(names: &'static [&'static str], queue: F) -> Stages
    where
        F: FnMut(&Gpu, &Split, usize) -> Result<(), Failure> + Send + 'static,
    {
        Stages { names, queue: Box::new(queue) }
    }

    /// Queues a whole multisplit with all its stages.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn split(&mut self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        (0..self.names.len().max(1)).try_for_each(|stage| (self.queue)(gpu, what, stage))
    }
}

/// A case in device memory.
pub struct Multisplit {
    spec: Spec,
    method: Stages,
    certificate: Certificate,
    input: Input,
    output: Output,
    /// Seconds of each stage, once they have been timed.
    seconds: Vec<f64>,
}

impl GpuJob for Multisplit {
    type Case = Spec;

    fn kernels(spec: &Spec, capability: ComputeCapability) -> Result<KernelList, Failure> {
        let method = methods::cuda::kernels(spec, fused::bulk(capability))?;
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
            method: methods::cuda::method(gpu, &spec)?,
            certificate: Certificate::new(gpu, &module, &spec)?,
            output: Output {
                keys: array(gpu, spec.keys)?,
                values: array(gpu, spec.value_bytes() / 4)?,
                offsets: array(gpu, spec.buckets + 1)?,
            },
            input,
            seconds: Vec::new(),
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let what = self.split(part)?;
        self.method.split(gpu, &what)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let (value, Output { keys, values, offsets }) = (self.spec.value.max(4), &mut self.output);
        vec![OutputArray::new(keys, KEY), OutputArray::new(values, value), OutputArray::new(offsets, OFFSET)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.input.keys))
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
        let stages = self.method.names.iter().zip(&self.seconds);
        stages.map(|(name, &seconds)| (format!("stages.{name}"), Value::Float(seconds))).collect()
    }

    /// Times the stages separately from the samples, which have no events between stages.
    fn certified(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let what = self.split(LaunchPart { first: 0, count: self.spec.keys, shift: 0 })?;
        let Stages { names, queue } = &mut self.method;
        let mut once = |_| gpu.timed_parts(names.len(), &mut |stage| queue(gpu, &what, stage));
        let runs = (0..STAGED).map(&mut once).collect::<Result<Vec<_>, _>>()?;
        let of_stage = |stage: usize| runs.iter().map(|run| run[stage]).collect::<Vec<_>>();
        self.seconds = (0..names.len()).filter_map(|stage| median(&of_stage(stage))).collect();
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
            function: self.input.function.executed(&self.spec),
        })
    }
}
