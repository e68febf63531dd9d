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
use crate::case::{Cancel, Case, Failure, Fault, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, GpuFacts};
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{Launched, Named, POISON32, length, named, poison, refused};
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
struct Multisplit {
    gpu: Gpu,
    spec: Spec,
    splitter: Box<dyn Splitter>,
    certificate: Certificate,
    input: Input,
    output: Output,
    flaws: Flaws,
    /// Whether there are samples.
    sampled: bool,
    /// Seconds of each stage, once they were timed.
    stages: Vec<f64>,
}

/// What a fault makes of an execution.
struct Flaws {
    /// Keys that are split, one launch after another, each from the first key on.
    counts: Vec<u64>,
    /// Keys by which the input is misplaced.
    shift: u64,
    /// The key that is not stored, and what is there instead.
    skipped: Option<(u64, DeviceBuffer<u32>)>,
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

/// What an execution of a case launches.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    match spec.method {
        Method::Direct | Method::WriteCombining => Err(of_cpus()),
        Method::Fused if Rounds::of(&spec).is_some() => Ok(rounds::launched(&spec)),
        Method::Fused => Ok(fused::launched(&spec)),
        Method::RbSort => Ok(rb_sort::launched(&spec)),
        Method::ScanSplit => Ok(scan_split::launched(&spec)),
        Method::Localised(shape) => Ok(localised::launched(&spec, &shape)),
    }
}

/// The kernels that a case asks for on such a GPU.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &Case, gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    let method = match spec.method {
        Method::Direct | Method::WriteCombining => return Err(of_cpus()),
        Method::Fused if Rounds::of(&spec).is_some() => rounds::kernels(&spec, gpu),
        Method::Fused => fused::kernels(&spec, gpu),
        Method::RbSort => rb_sort::kernels(&spec, gpu),
        Method::ScanSplit => scan_split::kernels(),
        Method::Localised(shape) => localised::kernels(&spec, &shape),
    };
    Ok([named(MODULE, [input::FILL]), method, named(MODULE, Certificate::KERNELS)].concat())
}

/// Allocates and generates the arrays of a case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    let arrays = 2 * (spec.keys + 1) * (4 + spec.value) + spec.offset_bytes();
    gpu.require(arrays + certify::bytes(&spec) + needed(&spec))?;
    let module = gpu.module(MODULE)?;
    cancel.check()?;
    let input = Input::new(gpu, &module, &spec)?;
    let multisplit = Multisplit {
        gpu: gpu.clone(),
        splitter: splitter(gpu, &spec, &input)?,
        certificate: Certificate::new(gpu, &module, &spec)?,
        output: Output {
            keys: gpu.alloc(length(spec.keys)?)?,
            values: gpu.alloc(length(spec.value_bytes() / 4)?)?,
            offsets: gpu.alloc(length(spec.buckets + 1)?)?,
        },
        input,
        flaws: Flaws::new(gpu, &spec, fault)?,
        sampled: false,
        stages: Vec::new(),
        spec,
    };
    gpu.synchronize()?;
    Ok(Box::new(multisplit))
}

impl Flaws {
    fn new(gpu: &Gpu, spec: &Spec, fault: Option<Fault>) -> Result<Flaws, Failure> {
        let skipped = match fault {
            Some(Fault::SkippedStore) if spec.keys > 0 => Some((spec.keys / 2, gpu.upload(&[POISON32])?)),
            _ => None,
        };
        Ok(Flaws {
            counts: counts(spec.keys, fault),
            shift: u64::from(fault == Some(Fault::OffByOne)),
            skipped,
        })
    }
}

/// Keys of each launch: with a fault the last one is left out, or the second half's worker works
/// on the first half.
fn counts(n: u64, fault: Option<Fault>) -> Vec<u64> {
    match fault {
        Some(Fault::MissingTail) => vec![n.saturating_sub(1)],
        Some(Fault::WrongChunk) => vec![n / 2; 2],
        _ => vec![n],
    }
}

impl Multisplit {
    /// Queues one execution.
    fn execute(&mut self) -> Result<(), Failure> {
        for n in self.flaws.counts.clone() {
            let what = self.split(n)?;
            self.splitter.split(&self.gpu, &what)?;
        }
        match &self.flaws.skipped {
            Some((at, instead)) => self.gpu.copy(instead, 0..1, &mut self.output.keys, length(*at)?),
            None => Ok(()),
        }
    }

    /// The first `n` keys.
    fn split(&self, n: u64) -> Result<Split, Failure> {
        let shift = self.flaws.shift;
        Ok(Split {
            keys: self.input.keys.pointer_at(length(shift)?)?,
            values: self.input.values.pointer_at(length(shift * self.spec.value / 4)?)?,
            n,
            keys_out: self.output.keys.pointer(),
            values_out: self.output.values.pointer(),
            offsets: self.output.offsets.pointer(),
        })
    }

    /// Times the stages by themselves, beside the samples, which have no events between them.
    fn time_stages(&mut self) -> Result<(), Failure> {
        let what = self.split(self.spec.keys)?;
        let count = self.splitter.stages().len();
        let (gpu, splitter) = (&self.gpu, &mut self.splitter);
        let mut once = |_| gpu.timed_parts(count, &mut |stage| splitter.stage(gpu, &what, stage));
        let runs = (0..STAGED).map(&mut once).collect::<Result<Vec<_>, _>>()?;
        let of_stage = |stage: usize| runs.iter().map(|run| run[stage]).collect::<Vec<_>>();
        self.stages = (0..count).filter_map(|stage| median(&of_stage(stage))).collect();
        Ok(())
    }

    fn poison(&mut self) -> Result<(), Failure> {
        poison(&self.gpu, &mut self.output.keys)?;
        poison(&self.gpu, &mut self.output.values)?;
        poison(&self.gpu, &mut self.output.offsets)
    }
}

impl Prepared for Multisplit {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        self.sampled = true;
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let stages = self.splitter.stages().iter().zip(&self.stages);
        let stages = stages.map(|(name, &seconds)| (format!("stages.{name}"), Value::Float(seconds)));
        self.spec.resolved().into_iter().chain(stages).collect()
    }

    /// Of a case that was measured, its stages are timed here: once, as it is certified.
    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.poison()?;
        self.execute()?;
        cancel.check()?;
        let mistake = self.certificate.judge(&self.gpu, &self.spec, &self.input, &self.output)?;
        if self.sampled && mistake.is_none() {
            self.time_stages()?;
        }
        Ok(match mistake {
            Some(mistake) => Verdict::Wrong { mistake },
            None => Verdict::Certified { checked: self.spec.keys },
        })
    }

    fn memory(&self) -> u64 {
        let Output { keys, values, offsets } = &self.output;
        let output = keys.bytes() + values.bytes() + offsets.bytes();
        self.input.bytes() + output + self.certificate.bytes() + self.splitter.bytes()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.poison()?;
        self.execute()?;
        let Output { keys, values, offsets } = &self.output;
        let words = [keys, values, offsets].into_iter().map(DeviceBuffer::to_host);
        Ok(words.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().flat_map(u32::to_le_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_leaves_a_key_out() {
        assert_eq!((counts(5, None), counts(5, Some(Fault::OffByOne))), (vec![5], vec![5]));
        assert_eq!(
            (counts(5, Some(Fault::MissingTail)), counts(5, Some(Fault::WrongChunk))),
            (vec![4], vec![2, 2])
        );
    }
}
