//! multisplit on a GPU: what all methods share (`kernels/multisplit.cu`).

pub mod certify;
mod fused;
pub mod input;
mod localised;
mod passes;
mod rb_sort;
mod rounds;
mod scan_split;
mod summed;

use super::Spec;
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, GpuFacts, GpuJob, Launched, Named, Part, Plan, Setup, named, poison,
};
use crate::primitives::cuda::length;
use crate::primitives::multisplit::rounds::Rounds;
use crate::primitives::multisplit::spec::Method;
use crate::primitives::multisplit::{labels, rounds as digits, tiles};
use crate::stats::median;
use certify::{Certificate, Output};
use fused::Fused;
use input::Input;
use localised::Localised;
use rb_sort::RbSort;
use rounds::InRounds;
use scan_split::ScanSplit;
use summed::Summed;

/// The module of all kernels but the passes with bulk copies.
const MODULE: &str = "multisplit";

/// Executions whose stages are timed.
const STAGED: usize = 5;

/// One multisplit to be queued. Addresses are aligned to an element.
pub struct Split {
    pub keys: DevicePtr<u32>,
    /// Values as words, one or two each; of no meaning where there are none.
    pub values: DevicePtr<u32>,
    pub n: u64,
    pub keys_out: DevicePtr<u32>,
    pub values_out: DevicePtr<u32>,
    /// m + 1 of them.
    pub offsets: DevicePtr<u32>,
}

/// A method with its kernels and temporary arrays.
pub trait Splitter: Send {
    /// Bytes that it holds on the device.
    fn bytes(&self) -> u64;

    /// Queues a whole multisplit, all that it needs included.
    fn split(&mut self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        (0..self.stages().len()).try_for_each(|stage| self.stage(gpu, what, stage))
    }

    /// The names of its stages, whose times are recorded; none where nobody asks for them.
    fn stages(&self) -> &'static [&'static str] {
        &[]
    }

    /// Queues one of the stages.
    fn stage(&mut self, _gpu: &Gpu, _what: &Split, _stage: usize) -> Result<(), Failure> {
        Ok(())
    }
}

/// A case in place.
pub struct Multisplit {
    spec: Spec,
    splitter: Box<dyn Splitter>,
    certificate: Certificate,
    input: Input,
    output: Output,
    /// Seconds of each stage, once they were timed.
    stages: Vec<f64>,
}

/// The method of a case.
fn splitter(gpu: &Gpu, spec: &Spec, input: &Input) -> Result<Box<dyn Splitter>, Failure> {
    Ok(match spec.method {
        Method::Direct | Method::WriteCombining => return Err(of_cpus()),
        Method::Fused => match Rounds::of(spec) {
            Some(rounds) => Box::new(InRounds::new(gpu, spec, input.function, &rounds)?),
            None => Box::new(Fused::new(gpu, spec, input.function)?),
        },
        Method::RbSort => Box::new(RbSort::new(gpu, spec, input.function)?),
        Method::ScanSplit => Box::new(ScanSplit::new(gpu, spec, input.function)?),
        Method::Localised(shape) => Box::new(Localised::new(gpu, spec, shape, input.function)?),
    })
}

/// Bytes that the method holds beside keys, values and offsets.
fn needed(spec: &Spec) -> u64 {
    match &spec.method {
        Method::Direct | Method::WriteCombining => 0,
        Method::Fused => tiles::way(spec).bytes(spec.keys) + digits::bytes(spec),
        Method::RbSort => labels::bytes(spec),
        Method::ScanSplit => scan_split::bytes(spec),
        Method::Localised(shape) => localised::bytes(spec, shape),
    }
}

fn of_cpus() -> Failure {
    Failure::NotApplicable("a method of CPUs".to_owned())
}

impl GpuJob for Multisplit {
    type Case = Spec;

    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        match spec.method {
            Method::Direct | Method::WriteCombining => Err(of_cpus()),
            Method::Fused if Rounds::of(spec).is_some() => Ok(rounds::launched(spec)),
            Method::Fused => Ok(fused::launched(spec)),
            Method::RbSort => Ok(rb_sort::launched(spec)),
            Method::ScanSplit => Ok(scan_split::launched(spec)),
            Method::Localised(shape) => Ok(localised::launched(spec, &shape)),
        }
    }

    fn kernels(spec: &Spec, gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
        let method = match spec.method {
            Method::Direct | Method::WriteCombining => return Err(of_cpus()),
            Method::Fused if Rounds::of(spec).is_some() => rounds::kernels(spec, gpu),
            Method::Fused => fused::kernels(spec, gpu),
            Method::RbSort => rb_sort::kernels(spec, gpu),
            Method::ScanSplit => scan_split::kernels(),
            Method::Localised(shape) => localised::kernels(spec, &shape),
        };
        Ok([named(MODULE, [input::FILL]), method, named(MODULE, Certificate::KERNELS)].concat())
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        let arrays = 2 * (spec.keys + 1) * (4 + spec.value) + spec.offset_bytes();
        arrays + certify::bytes(spec) + needed(spec)
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> Plan {
        Plan::prefix(spec.keys, fault)
    }

    fn prepare(spec: Spec, setup: &Setup) -> Result<Multisplit, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let input = Input::new(gpu, &module, &spec)?;
        Ok(Multisplit {
            splitter: splitter(gpu, &spec, &input)?,
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

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.output.keys)?;
        poison(gpu, &mut self.output.values)?;
        poison(gpu, &mut self.output.offsets)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: Part) -> Result<(), Failure> {
        let what = self.split(part)?;
        self.splitter.split(gpu, &what)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.certificate.judge(gpu, &self.spec, &self.input, &self.output)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let Output { keys, values, offsets } = &self.output;
        let words = [keys, values, offsets].into_iter().map(DeviceBuffer::to_host);
        Ok(words.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().flat_map(u32::to_le_bytes).collect())
    }

    fn written(&mut self) -> Option<(&mut DeviceBuffer<u32>, u64)> {
        Some((&mut self.output.keys, 1))
    }

    fn memory(&self) -> u64 {
        let Output { keys, values, offsets } = &self.output;
        let output = keys.bytes() + values.bytes() + offsets.bytes();
        self.input.bytes() + output + self.certificate.bytes() + self.splitter.bytes()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let stages = self.splitter.stages().iter().zip(&self.stages);
        stages.map(|(name, &seconds)| (format!("stages.{name}"), Value::Float(seconds))).collect()
    }

    /// The stages are timed by themselves, beside the samples, which have no events between them.
    fn certified(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let what = self.split(Part { first: 0, count: self.spec.keys, shift: 0 })?;
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
    /// The first keys, as many as a part has.
    fn split(&self, part: Part) -> Result<Split, Failure> {
        Ok(Split {
            keys: self.input.keys.pointer_at(length(part.shift)?)?,
            values: self.input.values.pointer_at(length(part.shift * self.spec.value / 4)?)?,
            n: part.count,
            keys_out: self.output.keys.pointer(),
            values_out: self.output.values.pointer(),
            offsets: self.output.offsets.pointer(),
        })
    }
}
