//! stream on a GPU (`kernels/stream/stream.cu`): vectors, one launch per execution. The certificate compares every
//! element of the destination with its closed form; for read it compares the sum with that of the integers,
//! which f64 holds exactly.

use super::Tuned;
use super::{Array, Kernel, Q, Spec, WRITTEN};
use crate::case::Value;
use crate::device::cuda;
use crate::inputs::mix::key64;
use crate::primitives::cuda::Tiles;
use crate::primitives::cuda::prelude::*;

const MODULE: &str = "stream";

/// Kernels that are not timed.
const OTHERS: [&str; 3] = ["stream_fill", "stream_expected_sum", "stream_certify"];

/// `PARTIALS` in the kernels: partial sums that accumulate over launches.
const PARTIALS: usize = 1024;

/// A prepared case. Each array has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct Stream {
    spec: Spec,
    tuned: Tuned,
    timed: cuda::Kernel,
    tiles: Tiles,
    expected_sum: cuda::Kernel,
    certify: cuda::Kernel,
    /// The operands that the kernel reads, in the order of its formula.
    sources: Vec<DeviceBuffer<f64>>,
    /// The array that the kernel writes; `None` for read.
    destination: Option<DeviceBuffer<f64>>,
    /// The partial sums of read.
    partials: DeviceBuffer<u64>,
    /// Executions since the last clearing, which all add to the partial sums.
    executed: u64,
}

fn tuned(spec: &Spec) -> Tuned {
    Tuned::new(spec.kernel, spec.tuning)
}

impl GpuJob for Stream {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let name = tuned(spec).kernel_name(spec.kernel);
        Ok(KernelList::default().timed(MODULE, name, 1).untimed(MODULE, OTHERS))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.elements, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Stream, Failure> {
        let (gpu, tuned) = (setup.gpu, tuned(&spec));
        let module = gpu.module(MODULE)?;
        let timed = module.kernel(&tuned.kernel_name(spec.kernel))?;
        let [fill, expected_sum, certify] = module.kernels(OTHERS)?;
        let n = spec.elements;
        let source = |of: &Array| {
            let mut source = array(gpu, n + 1)?;
            poison(gpu, &mut source)?;
            launch_over(gpu, &fill, n, args![source, key64(of.seed(spec.seed)), n, spec.bits()])?;
            Ok(source)
        };
        Ok(Stream {
            tiles: Tiles::new(gpu, &timed, &tuned.0, tuned.lanes())?,
            timed,
            expected_sum,
            certify,
            sources: spec.kernel.sources().iter().map(source).collect::<Result<_, Failure>>()?,
            destination: spec.kernel.destination().map(|_| array(gpu, n + 1)).transpose()?,
            partials: gpu.upload(&vec![0; if spec.kernel == Kernel::Read { PARTIALS } else { 0 }])?,
            executed: 0,
            tuned,
            spec,
        })
    }

    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        self.executed += 1;
        Ok(())
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.executed = 0;
        gpu.memset32(&mut self.partials, 0)?;
        self.destination.as_mut().map_or(Ok(()), |destination| poison(gpu, destination))
    }

    /// A fault's shift misplaces the destination or, for read, the source.
    fn enqueue(&mut self, gpu: &Gpu, LaunchPart { first, count, shift }: LaunchPart) -> Result<(), Failure> {
        let (blocks, block) = (self.tiles.blocks(count), self.tiles.block);
        let Some(destination) = &self.destination else {
            let (tiles, tiled) = self.vectors(first + shift, count);
            let x = at(self.sources.first(), first + shift)?;
            return gpu.launch(&self.timed, blocks, block, 0, args![x, tiles, tiled, count, self.partials]);
        };
        let (tiles, tiled) = self.vectors(first | (first + shift), count);
        let to = at(Some(destination), first + shift)?;
        let (x, y) = (at(self.sources.first(), first)?, at(self.sources.get(1), first)?);
        let q = factor(self.spec.kernel);
        gpu.launch(&self.timed, blocks, block, 0, args![to, x, y, tiles, tiled, count, q])
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        match &mut self.destination {
            Some(destination) => vec![OutputArray::new(destination, 8)],
            None => vec![OutputArray::new(&mut self.partials, 8)],
        }
    }

    fn input(&self) -> Option<InputArray> {
        self.sources.first().map(InputArray::new)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (kernel, n) = (self.spec.kernel, self.spec.elements);
        let key = |operand: usize| {
            kernel.sources().get(operand).map_or(0, |array| key64(array.seed(self.spec.seed)))
        };
        let Some(destination) = &self.destination else {
            let sum = |report: &DeviceBuffer<u64>| {
                launch_over(gpu, &self.expected_sum, n, args![key(0), n, self.spec.bits(), report])
            };
            let expected = find(gpu, sum)?;
            return Ok(judge_sum(
                self.sum()?,
                expected.sum.wrapping_mul(self.executed.max(1)),
                expected.checked,
            ));
        };
        let (op, x, y, q) = (kernel as u32, key(0), key(1), factor(kernel));
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![destination, op, x, y, q, n, report])
        })?;
        let name = kernel.destination().map_or("", Array::name);
        Ok(Verdict::of(finding.mistake(name).or_else(|| finding.unchecked(n, "elements")), n))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let values = match &self.destination {
            Some(destination) => destination.range_to_host(0..length(self.spec.elements)?)?,
            None => vec![self.sum()? as f64],
        };
        Ok(values.into_iter().flat_map(f64::to_le_bytes).collect())
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.tuned.0.resolved()
    }
}

impl Stream {
    /// The sum of all reads since the last clearing.
    fn sum(&self) -> Result<u64, Failure> {
        Ok(self.partials.to_host()?.into_iter().fold(0, u64::wrapping_add))
    }

    /// The full tiles of a range, and the number of elements in them; none if the range is not aligned to whole
    /// vectors. `first` is the OR of all first elements; the arrays themselves are aligned.
    fn vectors(&self, first: u64, count: u64) -> (u32, u64) {
        if first.is_multiple_of(self.tuned.lanes()) { self.tiles.full(count) } else { (0, 0) }
    }
}

/// The kernel's constant: q, or the value that write stores.
fn factor(kernel: Kernel) -> f64 {
    if kernel == Kernel::Write { WRITTEN } else { Q }
}

/// The address of an element; null for an array that the kernel does not take.
fn at(buffer: Option<&DeviceBuffer<f64>>, element: u64) -> Result<DevicePtr<f64>, Failure> {
    buffer.map_or(Ok(DevicePtr::null()), |buffer| buffer.pointer_at(length(element)?))
}

fn judge_sum(found: u64, expected: u64, checked: u64) -> Verdict {
    let mistake = (found != expected).then(|| format!("the sum is {found} instead of {expected}"));
    Verdict::of(mistake, checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_must_be_equal() {
        assert_eq!(judge_sum(9007199254740991, (1 << 53) - 1, 4), Verdict::Certified { checked: 4 });
        assert!(matches!(judge_sum(9007199254740990, (1 << 53) - 1, 4), Verdict::Wrong { .. }));
    }
}
