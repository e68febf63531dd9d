//! reduce on a GPU (`kernels/reduce/reduce.cu`): one launch with as many blocks as are resident at once; the last
//! block to finish combines the words of all. The certificate reduces the closed form of the terms.

use super::Spec;
use crate::inputs::mix;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::stride_grid;

const MODULE: &str = "reduce";
const OTHERS: [&str; 2] = ["reduce_fill", "reduce_expected"];

/// Bytes per tile: 8 vectors of 16 bytes per thread (`ITEMS` in the kernels); with products, 4 of each array.
const TILE: u64 = 8 * 16 * BLOCK as u64;

device_struct! {
    /// `Terms` in the kernels: x and y as functions of i.
    struct Terms: 48 {
        keys: [u64; 2],
        n: u64,
        planted: u64,
        operator: u32,
        ty: u32,
        contents: u32,
        products: u32,
    }
}

/// A prepared case. Arrays have an extra element, which only a deliberate mistake reads.
pub struct Reduce {
    spec: Spec,
    timed: Kernel,
    /// The same kernel for as many blocks as are resident. Launched early, blocks land on other multiprocessors each time, farther
    /// from the L2 slice that has their data: on an H200, 40 MB then took 12 µs instead of 9.
    in_turn: Kernel,
    expected: Kernel,
    x: DeviceBuffer<u32>,
    y: Option<DeviceBuffer<u32>>,
    /// The word of each block, the number of blocks that have stored theirs, and the combined word.
    parts: DeviceBuffer<u64>,
    ticket: DeviceBuffer<u32>,
    all: DeviceBuffer<u64>,
    /// True once a part of the present execution has been queued.
    begun: bool,
}

/// The timed kernel's name in the PTX.
fn name(spec: &Spec) -> String {
    let products = if spec.products() { "_products" } else { "" };
    format!("reduce_{}_{}{products}", spec.operator.name(), spec.ty.name())
}

fn closed_form(spec: &Spec) -> Terms {
    Terms {
        keys: [0, 1].map(|second| mix::key64(spec.seed.wrapping_add(second))),
        n: spec.elements,
        planted: spec.planted(),
        operator: spec.operator as u32,
        ty: spec.ty as u32,
        contents: spec.contents as u32,
        products: spec.products().into(),
    }
}

impl GpuJob for Reduce {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(KernelList::default().timed(MODULE, name(spec), 1).untimed(MODULE, OTHERS))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        // A launch over no terms leaves the identity.
        if spec.elements == 0 { LaunchPlan::whole(0) } else { LaunchPlan::ranges(spec.elements, fault) }
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Reduce, Failure> {
        let (gpu, module) = (setup.gpu, setup.gpu.module(MODULE)?);
        let timed = module.kernel(&name(&spec))?;
        let [fill, expected] = module.kernels(OTHERS)?;
        let n = spec.elements + 1;
        let array = |second: u32| -> Result<_, Failure> {
            let array = array(gpu, n * spec.element() / 4)?;
            launch_over(gpu, &fill, n, args![array, closed_form(&spec), second])?;
            Ok(array)
        };
        Ok(Reduce {
            parts: gpu.alloc(gpu.max_blocks(&timed, BLOCK, 0)? as usize)?,
            in_turn: timed.in_turn(),
            timed,
            expected,
            x: array(0)?,
            y: spec.products().then(|| array(1)).transpose()?,
            ticket: gpu.upload(&[0])?,
            all: gpu.alloc(1)?,
            begun: false,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.all)
    }

    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        self.begun = false;
        Ok(())
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let (first, n, element) = (part.first + part.shift, part.count, self.spec.element());
        let at = |array: &DeviceBuffer<u32>| array.pointer_at(length(first * element / 4)?);
        let (x, y) = (at(&self.x)?, self.y.as_ref().map_or(Ok(DevicePtr::null()), at)?);
        let size = if self.y.is_some() { TILE / 2 } else { TILE } / element;
        // Arrays are aligned to whole vectors.
        let tiles = if (first * element).is_multiple_of(16) { n / size } else { 0 };
        let (tiled, further) = (tiles * size, u32::from(std::mem::replace(&mut self.begun, true)));
        let blocks = grid(n, size).min(self.parts.len() as u32);
        let args = args![x, y, tiles, tiled, n, further, self.parts, self.ticket, self.all];
        let fills = blocks as usize == self.parts.len();
        gpu.launch(if fills { &self.in_turn } else { &self.timed }, blocks, BLOCK, 0, args)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.all, 8)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.x))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, n) = (&self.spec, self.spec.elements);
        let threads = stride_grid(gpu, n) * BLOCK;
        let words: DeviceBuffer<u64> = gpu.upload(&vec![spec.identity(); threads as usize])?;
        launch_over(gpu, &self.expected, n, args![words, closed_form(spec)])?;
        Ok(Verdict::of(spec.mistake(self.result()?, spec.joined(words.to_host()?)), n))
    }

    /// The result is no array that the case declares.
    fn moved(&self, [inputs, _]: [u64; 2]) -> [u64; 2] {
        [inputs, self.spec.element()]
    }

    fn tolerance(&self) -> f64 {
        self.spec.tolerance()
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        Ok(self.result()?.to_le_bytes()[..self.spec.element() as usize].to_vec())
    }
}

impl Reduce {
    fn result(&self) -> Result<u64, Failure> {
        Ok(self.spec.result(self.all.to_host()?.first().copied().unwrap_or(0)))
    }
}
