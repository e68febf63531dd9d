//! scan and segmented-scan on a GPU (`kernels/scan.cu`).

mod certify;
pub(in crate::primitives) mod forms;
mod heads;
pub(in crate::primitives) mod one_pass;
mod sengupta2007;

use super::spec::{Kind, Method, Spec};
use crate::case::{self, Cancel, Failure, Fault, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Module};
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{Launched, Named, POISON32, launch_over, length, named, poison, refused};
use forms::{Inputs, family};
use heads::Heads;
use one_pass::{Arrays, Manner, Means, OnePass};
use sengupta2007::Sengupta2007;

/// A case in place. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
struct Case {
    gpu: Gpu,
    spec: Spec,
    runner: Runner,
    certify: cuda::Kernel,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    heads: Option<Heads>,
    flaws: Flaws,
}

/// How it is computed.
enum Runner {
    OnePass(OnePass),
    Sengupta2007(Sengupta2007),
}

/// What an execution does, and what a fault makes of it.
struct Flaws {
    /// Elements that are scanned, one launch after another, each from the first element on.
    counts: Vec<u64>,
    /// Elements by which out is misplaced.
    shift: u64,
    /// The element that is not stored, and what it keeps.
    skipped: Option<(u64, DeviceBuffer<u32>)>,
}

/// The module of every scan.
pub const MODULE: &str = "scan";

/// Kernels of all scans: the one that makes the input, and the certificate's.
const OTHERS: [&str; 2] = ["scan_fill", "scan_certify"];

/// Allocates and generates the arrays of a case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &case::Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let spec = read(case)?;
    gpu.require(needed(&spec))?;
    let module = gpu.module(MODULE)?;
    cancel.check()?;
    let room = length((spec.elements + 1) * spec.element() / 4)?;
    let input = gpu.alloc(room)?;
    let inputs = Inputs::new(&spec);
    let [fill, certify] = module.kernels(OTHERS)?;
    launch_over(gpu, &fill, spec.elements, &[(&input).into(), (&inputs).into()])?;
    let heads = Heads::new(gpu, &module, &spec)?;
    let case = Case {
        gpu: gpu.clone(),
        runner: Runner::new(gpu, &module, &spec)?,
        certify,
        input,
        output: gpu.alloc(room)?,
        heads,
        flaws: Flaws::new(gpu, &spec, fault)?,
        spec,
    };
    gpu.synchronize()?;
    Ok(Box::new(case))
}

fn read(case: &case::Case) -> Result<Spec, Failure> {
    Spec::from_params(case.primitive == "segmented-scan", &case.params, case.seed).map_err(refused)
}

/// Bytes of the arrays and of what the method needs beside them.
fn needed(spec: &Spec) -> u64 {
    let (n, element) = (spec.elements, spec.element());
    let method = match spec.method {
        Method::Sengupta2007 { elements_per_thread } => {
            sengupta2007::bytes(n, elements_per_thread, element, spec.segmented.is_some())
        }
        method => one_pass::bytes(Means::of(method), n, element),
    };
    2 * (n + 1) * element + heads::bytes(spec) + method
}

/// What an execution of a case launches; of several kernels the first one, those that make flags
/// aside.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &case::Case) -> Result<Launched, Failure> {
    let spec = read(case)?;
    let (segmented, (family, _)) = (spec.segmented.is_some(), family(spec.operator, spec.ty));
    let (kernel, launches) = match spec.method {
        Method::Sengupta2007 { elements_per_thread } => {
            sengupta2007::launched(spec.elements, elements_per_thread, segmented, family)
        }
        method => (one_pass::name(Means::of(method), segmented, family), 1),
    };
    Ok(Launched { kernel, launches })
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &case::Case) -> Result<Vec<Named>, Failure> {
    let spec = read(case)?;
    let (segmented, (family, _)) = (spec.segmented.is_some(), family(spec.operator, spec.ty));
    let runner = match spec.method {
        Method::Sengupta2007 { elements_per_thread } => {
            sengupta2007::names(elements_per_thread, segmented, family)
        }
        method => vec![one_pass::name(Means::of(method), segmented, family)],
    };
    Ok([named(MODULE, OTHERS), named(MODULE, runner), named(MODULE, heads::names(&spec))].concat())
}

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

impl Flaws {
    fn new(gpu: &Gpu, spec: &Spec, fault: Option<Fault>) -> Result<Flaws, Failure> {
        let skipped = match fault {
            Some(Fault::SkippedStore) if spec.elements > 0 => {
                let kept = vec![POISON32; length(spec.element() / 4)?];
                Some((spec.elements / 2, gpu.upload(&kept)?))
            }
            _ => None,
        };
        let shift = u64::from(fault == Some(Fault::OffByOne));
        Ok(Flaws { counts: counts(spec.elements, fault), shift, skipped })
    }
}

/// Elements of each launch: with a fault the last one is left out, or the second half's worker
/// works on the first half.
fn counts(n: u64, fault: Option<Fault>) -> Vec<u64> {
    match fault {
        Some(Fault::MissingTail) => vec![n.saturating_sub(1)],
        Some(Fault::WrongChunk) => vec![n / 2; 2],
        _ => vec![n],
    }
}

impl Case {
    /// Queues one execution: first the bits that it reads, where it does not have them.
    fn execute(&mut self) -> Result<(), Failure> {
        if let Some(heads) = &mut self.heads {
            heads.execute(&self.gpu)?;
        }
        for n in self.flaws.counts.clone() {
            self.scan(n)?;
        }
        let Some((at, kept)) = &self.flaws.skipped else { return Ok(()) };
        self.gpu.copy(kept, 0..kept.len(), &mut self.output, length(at * self.spec.element() / 4)?)
    }

    /// Queues the scan of the first `n` elements.
    fn scan(&mut self, n: u64) -> Result<(), Failure> {
        let shift = self.flaws.shift * self.spec.element();
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
            Runner::OnePass(runner) => runner.execute(&self.gpu, &arrays, n, manner),
            Runner::Sengupta2007(runner) => runner.execute(&self.gpu, (&arrays, flags), n, manner),
        }
    }
}

impl Prepared for Case {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        cancel.check()?;
        certify::verdict(self)
    }

    fn memory(&self) -> u64 {
        let heads = self.heads.as_ref().map_or(0, Heads::bytes);
        self.input.bytes() + self.output.bytes() + heads + self.runner.bytes()
    }

    fn resolved(&self) -> Vec<(String, case::Value)> {
        self.spec.resolved()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        let words = self.output.range_to_host(0..length(self.spec.bytes() / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_leaves_an_element_out() {
        assert_eq!((counts(5, None), counts(5, Some(Fault::OffByOne))), (vec![5], vec![5]));
        assert_eq!(
            (counts(5, Some(Fault::MissingTail)), counts(5, Some(Fault::WrongChunk))),
            (vec![4], vec![2, 2])
        );
        assert_eq!(
            (counts(1, Some(Fault::MissingTail)), counts(1, Some(Fault::WrongChunk))),
            (vec![0], vec![0, 0])
        );
    }
}
