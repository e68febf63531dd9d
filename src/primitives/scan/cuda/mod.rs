//! scan and segmented-scan on a GPU (`kernels/scan.cu`).

mod certify;
pub(in crate::primitives) mod forms;
mod heads;
pub(in crate::primitives) mod one_pass;
mod sengupta2007;

use super::spec::{Kind, Method, Spec};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, GpuFacts, GpuJob, Kernel, Launched, Module, Named, Part, Plan, Setup, args,
    named, poison,
};
use crate::primitives::cuda::{launch_over, length};
use forms::{Inputs, family};
use heads::Heads;
use one_pass::{Arrays, Manner, Means, OnePass};
use sengupta2007::Sengupta2007;

/// A case in place. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct Scan {
    spec: Spec,
    runner: Runner,
    certify: Kernel,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    heads: Option<Heads>,
}

/// How it is computed.
enum Runner {
    OnePass(OnePass),
    Sengupta2007(Sengupta2007),
}

/// The module of every scan.
pub const MODULE: &str = "scan";

/// Kernels of all scans: the one that makes the input, and the certificate's.
const OTHERS: [&str; 2] = ["scan_fill", "scan_certify"];

impl Runner {
    fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Runner, Failure> {
        let (segmented, (family, _)) = (spec.segmented.is_some(), family(spec.operator, spec.ty));
        let (n, element) = (spec.elements, spec.element());
        Ok(match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                let (kernels, sizes) = ((segmented, family), (element, elements_per_thread));
                Runner::Sengupta2007(Sengupta2007::new(gpu, module, kernels, sizes, n)?)
            }
            method => Runner::OnePass(OnePass::new(
                gpu,
                module,
                Means::of(method),
                (segmented, family),
                element,
                n,
            )?),
        })
    }

    fn bytes(&self) -> u64 {
        match self {
            Runner::OnePass(runner) => runner.bytes(),
            Runner::Sengupta2007(runner) => runner.bytes(),
        }
    }
}

impl GpuJob for Scan {
    type Case = Spec;

    /// Of several kernels the first one, those that make flags aside.
    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        let (segmented, (family, _)) = (spec.segmented.is_some(), family(spec.operator, spec.ty));
        let (kernel, launches) = match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                sengupta2007::launched(spec.elements, elements_per_thread, segmented, family)
            }
            method => (one_pass::name(Means::of(method), segmented, family), 1),
        };
        Ok(Launched { kernel, launches })
    }

    fn kernels(spec: &Spec, _gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
        let (segmented, (family, _)) = (spec.segmented.is_some(), family(spec.operator, spec.ty));
        let runner = match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                sengupta2007::names(elements_per_thread, segmented, family)
            }
            method => vec![one_pass::name(Means::of(method), segmented, family)],
        };
        Ok([named(MODULE, OTHERS), named(MODULE, runner), named(MODULE, heads::names(spec))].concat())
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        let (n, element) = (spec.elements, spec.element());
        let method = match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                sengupta2007::bytes(n, elements_per_thread, element, spec.segmented.is_some())
            }
            method => one_pass::bytes(Means::of(method), n, element),
        };
        2 * (n + 1) * element + heads::bytes(spec) + method
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> Plan {
        Plan::prefix(spec.elements, fault)
    }

    fn prepare(spec: Spec, setup: &Setup) -> Result<Scan, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let room = length((spec.elements + 1) * spec.element() / 4)?;
        let input = gpu.alloc(room)?;
        let [fill, certify] = module.kernels(OTHERS)?;
        launch_over(gpu, &fill, spec.elements, args![input, Inputs::new(&spec)])?;
        Ok(Scan {
            runner: Runner::new(gpu, &module, &spec)?,
            certify,
            input,
            output: gpu.alloc(room)?,
            heads: Heads::new(gpu, &module, &spec)?,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.output)
    }

    /// The bits that a scan reads, where it does not have them.
    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.heads.as_mut().map_or(Ok(()), |heads| heads.execute(gpu))
    }

    fn enqueue(&mut self, gpu: &Gpu, part: Part) -> Result<(), Failure> {
        let shift = part.shift * self.spec.element();
        let flags = self.heads.as_ref().map(Heads::flags);
        let arrays = Arrays {
            input: self.input.pointer(),
            output: self.output.pointer_at(length(shift / 4)?)?,
            heads: flags.map_or(DevicePtr::null(), |flags| flags.at),
            aligned: shift.is_multiple_of(16),
        };
        let manner = Manner {
            flip: family(self.spec.operator, self.spec.ty).1,
            backward: self.spec.backward(),
            inclusive: self.spec.kind == Kind::Inclusive,
        };
        match &mut self.runner {
            Runner::OnePass(runner) => runner.execute(gpu, &arrays, part.count, manner),
            Runner::Sengupta2007(runner) => runner.execute(gpu, (&arrays, flags), part.count, manner),
        }
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        certify::verdict(self, gpu)
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let words = self.output.range_to_host(0..length(self.spec.bytes() / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn written(&mut self) -> Option<(&mut DeviceBuffer<u32>, u64)> {
        Some((&mut self.output, self.spec.element() / 4))
    }

    fn memory(&self) -> u64 {
        let heads = self.heads.as_ref().map_or(0, Heads::bytes);
        self.input.bytes() + self.output.bytes() + heads + self.runner.bytes()
    }
}
