//! scan and segmented-scan on a GPU (`kernels/scan/scan.cu`). The certificate recomputes each element of out by the
//! recurrence of the definition, with the elements of in and the heads as functions of the seed.

mod heads;
pub(in crate::primitives) mod one_pass;

use super::operator::{Operator, Type};
use super::segments::{self, Lengths};
use super::{Kind, Spec, methods};
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use heads::Heads;
use one_pass::Launch;

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
    method: GpuMethod<Launch>,
    certify: Kernel,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    heads: Option<Heads>,
}

/// The kernel family of an operator and a type: the suffix of the kernel names, and the mask that elements are
/// exclusive-ored with when they are loaded and stored. The mask turns maxima into minima, ors into ands, and
/// signed into unsigned numbers in the same order.
pub fn family(spec: &Spec) -> (&'static str, u64) {
    use Operator::{Add, Affine, And, Max, Min, Or};
    let [of_u32, of_u64, of_f32, of_f64] = match spec.operator {
        Add => ["add_u32", "add_u64", "add_f32", "add_f64"],
        Min | Max => ["min_u32", "min_u64", "min_f32", "min_f64"],
        And | Or => ["and_u32", "and_u64", "and_u32", "and_u32"],
        Affine => ["affine_u32", "affine_u64", "affine_u32", "affine_u32"],
    };
    let family = match spec.ty {
        Type::U32 | Type::I32 => of_u32,
        Type::U64 => of_u64,
        Type::F32 => of_f32,
        Type::F64 => of_f64,
    };
    let (all, sign) = (spec.ty.mask(), 1 << (spec.ty.bits() - 1));
    let flip = match (spec.operator, spec.ty) {
        (Min, Type::I32) | (Max, Type::F32 | Type::F64) => sign,
        (Max, Type::I32) => all ^ sign,
        (Max | Or, _) => all,
        _ => 0,
    };
    (family, flip)
}

impl GpuJob for Scan {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let inputs = KernelList::default().untimed(MODULE, OTHERS).and(heads::kernels(spec), 1);
        Ok(inputs.and(methods::cuda::kernels(spec)?, 1))
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
        Ok(Scan {
            heads: Heads::new(gpu, &spec)?,
            method: methods::cuda::method(gpu, &spec)?,
            output: gpu.alloc(room)?,
            certify,
            input,
            spec,
        })
    }

    /// Makes the bits that a scan reads, if they are not given.
    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.heads.as_mut().map_or(Ok(()), |heads| heads.execute(gpu))
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let shift = part.shift * self.spec.element();
        let output = self.output.pointer_at(length(shift / 4)?)?;
        let launch = Launch {
            heads: self.heads.as_ref().map_or(DevicePtr::null(), |heads| heads.read),
            flip: family(&self.spec).1,
            backward: self.spec.backward().into(),
            inclusive: (self.spec.kind == Kind::Inclusive).into(),
            aligned: shift.is_multiple_of(16).into(),
            ..Launch::new(self.input.pointer(), output, part.count)
        };
        (self.method)(gpu, &launch)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.output, self.spec.element()).first(self.spec.elements)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.input))
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
