//! sort on a GPU (`kernels/sort/sort.cu`, `kernels/sort/sort_sengupta2007.cu`, `kernels/sort/sort_he2007.cu`).

mod bitonic;
mod certify;
mod he2007;
mod multisplits;
mod onesweep;
pub mod ranking;
mod sengupta2007;

use super::Spec;
use super::spec::{Method, Scope};
use super::work;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, Gpu, GpuJob, GpuSetup, KernelList, LaunchPart, LaunchPlan, OutputArray,
};
use crate::primitives::cuda::{array, length};
use crate::primitives::multisplit::cuda::{Pair, fused};
use crate::primitives::of_cpus;
use certify::Certificate;

/// The module of all kernels except the passes with bulk copies.
const MODULE: &str = "sort";

/// Arrays of keys and of values, as words.
struct Pairs {
    keys: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
}

impl Pairs {
    /// Arrays of `n` keys and values of a case; at least one word each.
    fn new(gpu: &Gpu, spec: &Spec, n: u64) -> Result<Pairs, Failure> {
        let words = |bytes: u64| array(gpu, (n * bytes / 4).max(1));
        Ok(Pairs { keys: words(spec.key_bytes())?, values: words(spec.value())? })
    }

    fn pointers(&self) -> Pair {
        [self.keys.pointer(), self.values.pointer()]
    }
}

/// A sort to be queued: of `n` keys and values, by way of arrays between. Addresses are aligned to an element.
struct Arrays {
    from: Pair,
    between: Pair,
    to: Pair,
    n: u64,
}

/// A method with its kernels and temporary arrays.
trait Sorter: Send {
    /// Queues a sort.
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure>;
}

/// The method of a case.
fn sorter(gpu: &Gpu, spec: &Spec) -> Result<Box<dyn Sorter>, Failure> {
    Ok(match spec.method {
        Method::Best | Method::Auto | Method::Onesweep { .. } => {
            Box::new(onesweep::Onesweep::new(gpu, spec)?)
        }
        Method::MultisplitLsd { radix, by, found } => {
            Box::new(multisplits::Multisplits::new(gpu, spec, radix, by, found)?)
        }
        Method::SplitRadix { scope: Scope::Global } => Box::new(sengupta2007::Bits::new(gpu, spec)?),
        Method::SplitRadix { .. } | Method::Quicksort { .. } => {
            Box::new(sengupta2007::Tiles::new(gpu, spec)?)
        }
        Method::He2007Msd { passes, .. } => Box::new(he2007::He2007::new(gpu, spec, passes)?),
        Method::Bitonic => Box::new(bitonic::Bitonic::new(gpu, spec)?),
        Method::Lsd | Method::Msd | Method::Library => return Err(of_cpus()),
    })
}

/// The kernels of a method, with bulk copies or without.
fn method_kernels(spec: &Spec, bulk: bool) -> Result<KernelList, Failure> {
    match spec.method {
        Method::Best | Method::Auto | Method::Onesweep { .. } => Ok(onesweep::kernels(spec, bulk)),
        Method::MultisplitLsd { radix, by, .. } => multisplits::kernels(spec, radix, by, bulk),
        Method::SplitRadix { .. } | Method::Quicksort { .. } => Ok(sengupta2007::kernels(spec)),
        Method::He2007Msd { passes, .. } => Ok(he2007::kernels(spec, passes)),
        Method::Bitonic => Ok(bitonic::kernels(spec)),
        Method::Lsd | Method::Msd | Method::Library => Err(of_cpus()),
    }
}

/// A case in device memory.
pub struct Sort {
    spec: Spec,
    sorter: Box<dyn Sorter>,
    certificate: Certificate,
    /// One key and value more than the case has, which only a deliberate mistake reads.
    input: Pairs,
    between: Pairs,
    output: Pairs,
}

impl GpuJob for Sort {
    type Case = Spec;

    fn kernels(spec: &Spec, capability: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(method_kernels(spec, fused::bulk(capability))?.untimed(MODULE, Certificate::KERNELS))
    }

    fn ranking(spec: &Spec, gpu: &Gpu) -> Result<f64, Failure> {
        ranking::rate(gpu, spec)
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.keys, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Sort, Failure> {
        let gpu = setup.gpu;
        let input = Pairs::new(gpu, &spec, spec.keys + 1)?;
        let certificate = Certificate::new(gpu, &spec)?;
        certificate.fill(gpu, &input)?;
        Ok(Sort {
            sorter: sorter(gpu, &spec)?,
            certificate,
            input,
            between: Pairs::new(gpu, &spec, if work::arrays(&spec) == 2 { 0 } else { spec.keys })?,
            output: Pairs::new(gpu, &spec, spec.keys)?,
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let at = |array: &DeviceBuffer<u32>, bytes: u64| array.pointer_at(length(part.shift * bytes / 4)?);
        let Pairs { keys, values } = &self.input;
        let arrays = Arrays {
            from: [at(keys, self.spec.key_bytes())?, at(values, self.spec.value())?],
            between: self.between.pointers(),
            to: self.output.pointers(),
            n: part.count,
        };
        self.sorter.sort(gpu, &arrays)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let (n, key, value) = (self.spec.keys, self.spec.key_bytes(), self.spec.value());
        let Pairs { keys, values } = &mut self.output;
        vec![OutputArray::new(keys, key).first(n), OutputArray::new(values, value).first(n)]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.certificate.judge(gpu, &self.spec, &self.output)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}
