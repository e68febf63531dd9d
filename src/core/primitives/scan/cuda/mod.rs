//! scan and segmented-scan on a GPU (`kernels/scan/scan.cu`). The certificate recomputes each element of out by the
//! recurrence of the definition, with the elements of in and the heads as functions of the seed.

mod heads;
pub(in crate::primitives) mod one_pass;
mod sengupta2007;

use super::operator::{Operator, Type};
use super::segments::{self, Heads as Form, Lengths};
use super::spec::{Kind, Method, Spec};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, OutputArray, args, device_struct,
};
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{launch_over, length};
use heads::Heads;
use one_pass::{Launch, OnePass, Variant};
use sengupta2007::{Flags, Sengupta2007};

/// The module of every scan.
pub const MODULE: &str = "scan";

/// Kernels that all scans use: the input generator and the certificate.
const OTHERS: [&str; 2] = ["scan_fill", "scan_certify"];

device_struct! {
    /// `Inputs` in the kernels: the elements of in.
    struct Inputs: 32 {
        key: u64,
        n: u64,
        operator: u32,
        ty: u32,
        backward: u32,
        length: u32,
    }

    /// `Segments` in the kernels: where segments begin.
    pub struct Segments: 32 {
        key: u64,
        n: u64,
        mean: u64,
        lengths: u32,
        unused: u32,
    }
}

impl Inputs {
    fn new(spec: &Spec) -> Inputs {
        Inputs {
            key: key64(spec.seed),
            n: spec.elements,
            operator: spec.operator as u32,
            ty: spec.ty as u32,
            backward: spec.backward().into(),
            length: spec.inputs().length,
        }
    }
}

impl Segments {
    /// The segments in the layout of the kernels.
    pub fn new(segments: &segments::Segments) -> Segments {
        let (lengths, mean) = match segments.lengths {
            Lengths::Constant { length } => (0, length),
            Lengths::Random { mean } => (1, mean),
            Lengths::Geometric { mean } => (2, mean),
        };
        Segments { key: key64(segments.tag()), n: segments.elements, mean, lengths, unused: 0 }
    }
}

/// A case in device memory. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct Scan {
    spec: Spec,
    runner: Runner,
    certify: Kernel,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    heads: Option<Heads>,
}

/// The implementation that computes the scan.
enum Runner {
    OnePass(OnePass),
    Sengupta2007(Sengupta2007),
}

/// The kernel family of an operator and a type: the suffix of the kernel names, and the mask that elements are
/// exclusive-ored with when they are loaded and stored. The mask turns maxima into minima, ors into ands, and
/// signed into unsigned numbers in the same order.
fn family(spec: &Spec) -> (&'static str, u64) {
    use Operator::{Add, Affine, And, Max, Min, Or};
    match (spec.operator, spec.ty) {
        (Add, Type::U32 | Type::I32) => ("add_u32", 0),
        (Add, Type::U64) => ("add_u64", 0),
        (Add, Type::F32) => ("add_f32", 0),
        (Add, Type::F64) => ("add_f64", 0),
        (Min, Type::U32) => ("min_u32", 0),
        (Min, Type::I32) => ("min_u32", 0x8000_0000),
        (Min, Type::U64) => ("min_u64", 0),
        (Min, Type::F32) => ("min_f32", 0),
        (Min, Type::F64) => ("min_f64", 0),
        (Max, Type::U32) => ("min_u32", 0xFFFF_FFFF),
        (Max, Type::I32) => ("min_u32", 0x7FFF_FFFF),
        (Max, Type::U64) => ("min_u64", u64::MAX),
        (Max, Type::F32) => ("min_f32", 0x8000_0000),
        (Max, Type::F64) => ("min_f64", 1 << 63),
        (And, Type::U64) => ("and_u64", 0),
        (And, _) => ("and_u32", 0),
        (Or, Type::U64) => ("and_u64", u64::MAX),
        (Or, _) => ("and_u32", 0xFFFF_FFFF),
        (Affine, Type::U64) => ("affine_u64", 0),
        (Affine, _) => ("affine_u32", 0),
    }
}

/// The one-pass kernel of a case.
fn variant(spec: &Spec) -> Variant {
    let (spine, segmented) = (spec.method == Method::Spine, spec.segmented());
    Variant { spine, segmented, family: family(spec).0, element: spec.element() }
}

impl GpuJob for Scan {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let all = KernelList::default().untimed(MODULE, OTHERS).and(heads::kernels(spec), 1);
        Ok(match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                all.and(sengupta2007::kernels(spec, elements_per_thread), 1)
            }
            _ => all.timed(MODULE, variant(spec).name(), 1),
        })
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.elements, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Scan, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let room = length((spec.elements + 1) * spec.element() / 4)?;
        let input = gpu.alloc(room)?;
        let [fill, certify] = module.kernels(OTHERS)?;
        launch_over(gpu, &fill, spec.elements, args![input, Inputs::new(&spec)])?;
        let heads = Heads::new(gpu, &spec)?;
        let runner = match spec.method {
            Method::Sengupta2007 { elements_per_thread } => {
                Runner::Sengupta2007(Sengupta2007::new(gpu, &module, &spec, elements_per_thread)?)
            }
            _ => Runner::OnePass(OnePass::new(gpu, variant(&spec), spec.elements)?),
        };
        let output = gpu.alloc(room)?;
        Ok(Scan { spec, runner, certify, input, output, heads })
    }

    /// Makes the bits that a scan reads, if they are not given.
    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.heads.as_mut().map_or(Ok(()), |heads| heads.execute(gpu))
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let shift = part.shift * self.spec.element();
        let none = Flags::new(DevicePtr::null(), Form::Bits);
        let flags = self.heads.as_ref().map_or(none, Heads::flags);
        let output = self.output.pointer_at(length(shift / 4)?)?;
        let launch = Launch {
            heads: flags.at,
            flip: family(&self.spec).1,
            backward: self.spec.backward().into(),
            inclusive: (self.spec.kind == Kind::Inclusive).into(),
            aligned: shift.is_multiple_of(16).into(),
            ..Launch::new(self.input.pointer(), output, part.count)
        };
        match &mut self.runner {
            Runner::OnePass(runner) => runner.execute(gpu, launch),
            Runner::Sengupta2007(runner) => runner.execute(gpu, &launch, flags),
        }
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.output, self.spec.element()).first(self.spec.elements)]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (inputs, segments) = (Inputs::new(&self.spec), Segments::new(&self.spec.segments()));
        let (n, inclusive) = (self.spec.elements, u32::from(self.spec.kind == Kind::Inclusive));
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![self.output, inputs, segments, inclusive, report])
        })?;
        Ok(Verdict::of(finding.mistake("out").or_else(|| finding.unchecked(n, "elements")), n))
    }
}
