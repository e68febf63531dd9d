//! tridiagonal on a GPU (`kernels/tridiagonal/tridiagonal.cu`).

use super::tiles::Tiles;
use super::{Layout, Spec, methods};
use crate::case::Value;
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;

pub const MODULE: &str = "tridiagonal";

/// The kernels that all methods use: those that make the inputs, find the sizes of the systems, and judge rows by them.
const OTHERS: [&str; 3] = ["fill", "measure", "certify"];

/// `TEAM_WORDS` in the kernels: elements of shared memory for each thread.
pub const TEAM_WORDS: u64 = 6;

device_struct! {
    /// `Batch` in the kernels.
    pub struct Batch: 72 {
        pub a: DevicePtr<u32>,
        pub b: DevicePtr<u32>,
        pub c: DevicePtr<u32>,
        pub d: DevicePtr<u32>,
        pub x: DevicePtr<u32>,
        pub rows: u64,
        pub systems: u64,
        pub row: u64,
        pub system: u64,
    }

    /// `Tiles` in the kernels.
    pub struct TilesOf: 12 {
        team: u32,
        pub tiles: u32,
        group: u32,
    }

    /// `Contents` in the kernels.
    struct Contents: 32 {
        key: u64,
        rows: u64,
        systems: u64,
        kind: u32,
        interleaved: u32,
    }
}

/// A prepared case.
pub struct Tridiagonal {
    spec: Spec,
    method: GpuMethod<Batch>,
    measure: Kernel,
    certify: Kernel,
    /// a, b, c and d, each with an element behind its last one, which only a deliberate mistake reads.
    inputs: [DeviceBuffer<u32>; 4],
    x: DeviceBuffer<u32>,
    /// The bits of the size of each system.
    sizes: DeviceBuffer<u64>,
    found: Vec<(String, Value)>,
}

/// The parts that a method is made from.
pub struct Made<'a> {
    gpu: &'a Gpu,
    pub spec: &'a Spec,
    pub module: Module,
}

/// Elements that a method has beside the arrays.
pub struct Scratch {
    words: DeviceBuffer<u32>,
    element: u64,
}

impl Made<'_> {
    /// The kernels of these names for the case's type.
    pub fn kernels<const N: usize>(&self, kernels: [&str; N]) -> Result<[Kernel; N], Failure> {
        self.module.kernels(kernels.map(|kernel| name(self.spec, kernel)))
    }

    /// Room for so many elements.
    pub fn scratch(&self, elements: u64) -> Result<Scratch, Failure> {
        let element = self.spec.element();
        Ok(Scratch { words: array(self.gpu, (elements * element / 4).max(1))?, element })
    }
}

impl Scratch {
    /// The place of an element.
    pub fn at(&self, element: u64) -> Result<DevicePtr<u32>, Failure> {
        self.words.pointer_at(length(element * self.element / 4)?)
    }

    /// A batch whose a, b, c and d, of so many elements, follow each other from this element on.
    pub fn batch(&self, first: u64, size: u64, batch: Batch) -> Result<Batch, Failure> {
        let at = |k: u64| self.at(first + k * size);
        Ok(Batch { a: at(0)?, b: at(1)?, c: at(2)?, d: at(3)?, ..batch })
    }
}

/// Kernels for a case's type with their launches.
pub fn named<const N: usize>(spec: &Spec, kernels: [(&str, u64); N]) -> KernelList {
    KernelList::default().timed_all(MODULE, kernels.map(|(kernel, launches)| (name(spec, kernel), launches)))
}

/// The name of a kernel for a case's type.
pub fn name(spec: &Spec, kernel: &str) -> String {
    format!("tridiagonal_{kernel}_{}", spec.ty.name())
}

impl TilesOf {
    /// The form in which kernels take tiles.
    pub fn of(tiles: &Tiles) -> TilesOf {
        TilesOf { team: tiles.team as u32, tiles: tiles.tiles as u32, group: tiles.group as u32 }
    }
}

impl GpuJob for Tridiagonal {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(methods::cuda::kernels(spec).untimed(MODULE, OTHERS.map(|kernel| name(spec, kernel))))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(if spec.rows == 0 { 0 } else { spec.systems }, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Tridiagonal, Failure> {
        let gpu = setup.gpu;
        let mut made = Made { gpu, spec: &spec, module: gpu.module(MODULE)? };
        let [fill, measure, certify] = made.kernels(OTHERS)?;
        let input = || array(gpu, (spec.count() + 1) * spec.element() / 4);
        let inputs = [input()?, input()?, input()?, input()?];
        let [a, b, c, d] = &inputs;
        let of = contents(&spec);
        launch_over(gpu, &fill, spec.count() + 1, args![of, a, b, c, d])?;
        Ok(Tridiagonal {
            method: methods::cuda::method(&mut made)?,
            measure,
            certify,
            x: array(gpu, spec.count().max(1) * spec.element() / 4)?,
            sizes: array(gpu, spec.systems)?,
            inputs,
            found: Vec::new(),
            spec,
        })
    }

    /// The systems of the part. A fault's shift misplaces d.
    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let [row, system] = self.spec.strides();
        let first = part.first * system;
        let [a, b, c, d] = &self.inputs;
        let batch = Batch {
            a: self.at(a, first)?,
            b: self.at(b, first)?,
            c: self.at(c, first)?,
            d: self.at(d, first + part.shift)?,
            x: self.at(&self.x, first)?,
            rows: self.spec.rows,
            systems: part.count,
            row,
            system,
        };
        (self.method)(gpu, &batch)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.x, self.spec.element()).first(self.spec.count())]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.inputs[3]))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, most) = (self.spec.count(), gpu.upload(&[0u64])?);
        gpu.memset32(&mut self.sizes, 0)?;
        let ([a, b, c, d], x, sizes) = (&self.inputs, &self.x, &self.sizes);
        let (of, bound) = (contents(&self.spec), self.spec.bound());
        launch_over(gpu, &self.measure, n, args![of, a, b, c, d, x, sizes])?;
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![of, a, b, c, d, x, sizes, bound, most, report])
        })?;
        let error = f64::from_bits(most.to_host()?.first().copied().unwrap_or(0));
        self.found = self.spec.found(error, finding.touched);
        let mistake = finding
            .mistake("x")
            .or_else(|| self.spec.silent(finding.sum, finding.touched))
            .or_else(|| finding.unchecked(n, "rows"));
        Ok(Verdict::of(mistake, n))
    }

    fn tolerance(&self) -> f64 {
        self.spec.bound()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }
}

fn contents(spec: &Spec) -> Contents {
    Contents {
        key: key64(spec.seed),
        rows: spec.rows,
        systems: spec.systems,
        kind: spec.inputs as u32,
        interleaved: u32::from(spec.layout == Layout::Interleaved),
    }
}

impl Tridiagonal {
    fn at(&self, array: &DeviceBuffer<u32>, element: u64) -> Result<DevicePtr<u32>, Failure> {
        array.pointer_at(length(element * self.spec.element() / 4)?)
    }
}
