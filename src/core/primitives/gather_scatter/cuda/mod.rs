//! gather and scatter on a GPU (`kernels/gather_scatter/gather_scatter.cu`).
//!
//! The certificate checks that each L\[i\] equals its closed form, and that each tuple is moved as L requires.
//! Random partitions have no closed form: there each L\[i\] must lie inside its partition, and a bitmap proves
//! that L is a permutation. A user-provided L is verified by a checksum; after a scatter through it, each word
//! of R_out must be that of a tuple that goes there, or untouched if a bitmap shows that no tuple goes there.

mod locations;

use super::methods::passes::{Span, shares, spans};
use super::{Locations as Distribution, Spec, methods, tuned, user_indices};
use crate::case::Value;
use crate::case::gpus::COUNT_KEY;
use crate::case::tuning::Tuning;
use crate::device::cuda::{Persisting, pointer_or_null, poison, run_concurrently};
use crate::inputs::mix::key64;
use crate::primitives::cuda::Fill;
use crate::primitives::cuda::prelude::*;
use locations::{ClosedForm, Locations};

/// The module that contains the kernels of both primitives.
pub const MODULE: &str = "gather_scatter";

/// Fills tuples of 4 bytes; `Fill` handles the other sizes.
const FILL32: &str = "fill_words32";

/// A prepared case.
pub struct GatherScatter {
    arrays: Arrays,
    certify: [Kernel; 3],
    /// One per GPU.
    persisting: Vec<Persisting>,
    /// The share of the GPU that generates and certifies, then those of the other GPUs that the arrays span.
    shares: Vec<Share>,
}

/// The arrays of a case. R_in and R_out have a guard tuple behind their last one, which the deliberately wrong
/// implementations may touch.
pub struct Arrays {
    spec: Spec,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    locations: Locations,
    /// Tuples by which the randomly accessed array is misplaced.
    shift: u64,
}

/// The places of the arrays where a launch begins.
#[derive(Clone, Copy)]
pub struct At {
    pub output: DevicePtr<u32>,
    pub input: DevicePtr<u32>,
    pub locations: DevicePtr<u32>,
}

impl Arrays {
    /// Where the launch for a span begins.
    pub fn at(&self, span: &Span) -> Result<At, Failure> {
        let at = |buffer: &DeviceBuffer<u32>, byte: u64| buffer.pointer_at(length(byte / 4)?);
        let Spec { tuple, index, .. } = self.spec;
        let (beside, by_location) = (span.first * tuple, self.shift * tuple);
        let scatters = self.spec.scatters();
        let (from, to) = if scatters { (beside, by_location) } else { (by_location, beside) };
        let locations = at(&self.locations.values, span.first * index)?;
        Ok(At { output: at(&self.output, to)?, input: at(&self.input, from)?, locations })
    }
}

/// One GPU's share of an execution.
struct Share {
    gpu: Gpu,
    method: GpuMethod<Arrays>,
}

device_struct! {
    /// The definition that a certificate checks against: `Claim` in the kernels.
    struct Claim: 144 {
        output: DevicePtr<u32>,
        key: u64,
        n: u64,
        tuple: u32,
        scatter: u32,
        starts: DevicePtr<u64>,
        partitions: u64,
        partition_key: u64,
        bitmap: DevicePtr<u32>,
        locations: ClosedForm,
    }
}

/// Bytes of the certificate's bitmap, or 0 if it has none.
fn bitmap(spec: &Spec) -> u64 {
    let counted = matches!(spec.locations, Distribution::Partitions { .. });
    if counted || spec.overwrites() { 4 * spec.tuples.div_ceil(32) } else { 0 }
}

/// The certificate's kernels for the size of a case's locations.
fn certifying(spec: &Spec) -> [String; 3] {
    ["certify_move", "certify_given", "certify_landed"].map(|name| format!("{name}_i{}", spec.index))
}

impl GpuJob for GatherScatter {
    type Case = Spec;

    const SPANS: bool = true;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let inputs = KernelList::default().untimed(MODULE, Fill::KERNELS).untimed(MODULE, [FILL32]);
        let inputs = inputs.untimed(MODULE, locations::kernels(spec));
        let launches = spans(spec, None)?.len() as u64;
        Ok(inputs.and(methods::cuda::kernels(spec), launches).untimed(MODULE, certifying(spec)))
    }

    /// A single part: `spans` applies a fault once L is known.
    fn plan(spec: &Spec, _fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::whole(spec.moves())
    }

    /// With several GPUs, R_in, R_out and L span all of them, and each GPU moves the tuples of the part of L
    /// that it holds: those with i in [k·n/N, (k+1)·n/N). The first GPU generates and certifies.
    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<GatherScatter, Failure> {
        let GpuSetup { gpu, others, fault, cancel, stored, .. } = *setup;
        let user_indices = user_indices::load(&spec, stored)?;
        if !others.is_empty() && spec.cut.is_some() {
            return Err(Failure::NotApplicable("partitioned runs on one GPU".to_owned()));
        }
        let gpus = others.len() as u64 + 1;
        let across = |bytes: u64| {
            let words = length(bytes / 4)?;
            if others.is_empty() { gpu.alloc(words) } else { gpu.alloc_across(others, words) }
        };
        let module = gpu.module(MODULE)?;
        let input = across((spec.input() + 1) * spec.tuple)?;
        let input = tuples(gpu, &module, &spec, input)?;
        let output = across((spec.output() + 1) * spec.tuple)?;
        let values = across(spec.moves() * spec.index)?;
        let user_indices = user_indices.as_deref().map(Vec::as_slice);
        let locations = Locations::new(gpu, &module, &spec, user_indices, values, cancel)?;
        let all = || [gpu].into_iter().chain(others);
        let by_location = if spec.scatters() { &output } else { &input };
        let persist = |gpu: &Gpu| spec.tuning.persist.map(|bytes| gpu.persisting(by_location, bytes));
        let persisting = all().filter_map(persist).collect::<Result<_, _>>()?;
        let first = |fault| Ok::<_, Failure>((fault, locations.first(&spec)?));
        let spans = spans(&spec, fault.map(first).transpose()?)?;
        let share = |(gpu, spans): (&Gpu, Vec<Span>)| {
            Ok(Share { gpu: gpu.clone(), method: methods::cuda::method(gpu, &spec, spans)? })
        };
        let shares = all().zip(shares(&spans, spec.moves(), gpus)).map(share);
        Ok(GatherScatter {
            shares: shares.collect::<Result<_, Failure>>()?,
            certify: module.kernels(certifying(&spec))?,
            arrays: Arrays {
                shift: u64::from(fault == Some(Fault::OffByOne)),
                spec,
                input,
                output,
                locations,
            },
            persisting,
        })
    }

    fn enqueue(&mut self, _gpu: &Gpu, _all: LaunchPart) -> Result<(), Failure> {
        self.shares.iter_mut().try_for_each(|share| (share.method)(&share.gpu, &self.arrays))
    }

    /// Waits for the other GPUs, so that subsequent work on the first GPU sees what they have written.
    fn synchronize_others(&mut self) -> Result<(), Failure> {
        self.shares.iter().skip(1).try_for_each(|share| share.gpu.synchronize())
    }

    /// Several GPUs run at the same time; the time is measured from the first start to the last end.
    fn time(&mut self, _gpu: &Gpu, _plan: &LaunchPlan, batch: u32) -> Result<f64, Failure> {
        let arrays = &self.arrays;
        let timed = |Share { gpu, method }: &mut Share| {
            gpu.timed(&mut || (0..batch).try_for_each(|_| method(gpu, arrays)))
        };
        match &mut self.shares[..] {
            [alone] => timed(alone),
            all => run_concurrently(
                all.iter_mut().map(|share| (share.gpu.clone(), move || timed(share))).collect(),
            ),
        }
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let Arrays { spec, output, .. } = &mut self.arrays;
        vec![OutputArray::new(output, spec.tuple).first(spec.output())]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.arrays.input))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, n) = (&self.arrays.spec, self.arrays.spec.output());
        let mut bitmap: Option<DeviceBuffer<u32>> = match bitmap(spec) {
            0 => None,
            bytes => Some(array(gpu, bytes / 4)?),
        };
        let finding = find(gpu, |report| {
            bitmap.as_mut().map_or(Ok(()), |bitmap| gpu.memset32(bitmap, 0))?;
            self.check(gpu, self.claim(bitmap.as_ref()), report)
        })?;
        let Locations { checksum, starts, .. } = &self.arrays.locations;
        let other = checksum
            .is_some_and(|sum| sum != finding.sum)
            .then(|| "L on the device is not the given array: its checksum differs".to_owned());
        let repeated = || {
            let distinct = finding.touched;
            (starts.is_some() && distinct != n)
                .then(|| format!("L is not a permutation: {distinct} of {n} locations are distinct"))
        };
        let mistake = other.or_else(|| finding.mistake("R_out"));
        Ok(Verdict::of(mistake.or_else(|| finding.unchecked(n, "tuples")).or_else(repeated), n))
    }

    /// Where a method takes segments one at a time, the case declares the footprint of one.
    fn moved(&self, _declared: [u64; 2]) -> [u64; 2] {
        let spec = &self.arrays.spec;
        [spec.input() * spec.tuple + spec.moves() * spec.index, spec.output() * spec.tuple]
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        if self.arrays.spec.cut.is_some() {
            return Vec::new();
        }
        let persist = self.persisting.first().map(Persisting::bytes);
        let count = Some(self.shares.len() as u64).filter(|&gpus| gpus > 1);
        let count = count.map(|gpus| (COUNT_KEY.to_owned(), Value::Int(gpus)));
        Tuning { persist, ..tuned::tuning(&self.arrays.spec) }.resolved().into_iter().chain(count).collect()
    }
}

impl GatherScatter {
    /// Queues the check of all of L and R_out.
    fn check(&self, gpu: &Gpu, claim: Claim, report: &DeviceBuffer<u64>) -> Result<(), Failure> {
        let ([moved, user_indices, landed], values) = (&self.certify, &self.arrays.locations.values);
        if self.arrays.locations.checksum.is_none() {
            return launch_over(gpu, moved, claim.n, args![values, claim, report]);
        }
        let places = self.arrays.spec.tuples;
        launch_over(gpu, user_indices, claim.n, args![values, claim, places, report])?;
        let landed = || launch_over(gpu, landed, places, args![values, claim, places, report]);
        if claim.scatter == 0 { Ok(()) } else { landed() }
    }

    fn claim(&self, bitmap: Option<&DeviceBuffer<u32>>) -> Claim {
        let Arrays { spec, output, locations, .. } = &self.arrays;
        let starts = locations.starts.as_ref();
        Claim {
            output: output.pointer(),
            key: key64(spec.seed),
            n: spec.moves(),
            tuple: spec.tuple as u32,
            scatter: u32::from(spec.scatters()),
            starts: pointer_or_null(starts),
            partitions: starts.map_or(0, |starts| starts.len() as u64 - 1),
            partition_key: key64(spec.seed),
            bitmap: pointer_or_null(bitmap),
            locations: locations.closed,
        }
    }
}

/// Generates R_in; its guard is poison.
fn tuples(
    gpu: &Gpu,
    module: &Module,
    spec: &Spec,
    mut input: DeviceBuffer<u32>,
) -> Result<DeviceBuffer<u32>, Failure> {
    let (fill, fill32, n) = (Fill::new(module)?, module.kernel(FILL32)?, spec.input());
    poison(gpu, &mut input)?;
    match spec.tuple {
        4 => launch_over(gpu, &fill32, n, args![input, key64(spec.seed), n])?,
        _ => fill.words64(gpu, input.pointer(), spec.seed, n * spec.words())?,
    }
    Ok(input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::gather_scatter::Kernel;
    use crate::primitives::gather_scatter::tests::spec;

    /// The size of the kernels' struct: 64 bytes and the locations' 80.
    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Claim>(), std::mem::offset_of!(Claim, locations)), (144, 64));
    }

    #[test]
    fn bitmaps_only_where_they_are_needed() {
        let bytes = |kernel, words: &str| bitmap(&spec(kernel, &format!("tuples=100 {words}")));
        let user_indices = "locations=file locations.file.length=7 locations.file.largest=99";
        assert_eq!(bytes(Kernel::Scatter, "locations=random"), 0);
        assert_eq!(bytes(Kernel::Gather, "locations=partitions locations.partitions.count=4"), 16);
        assert_eq!((bytes(Kernel::Gather, user_indices), bytes(Kernel::Scatter, user_indices)), (0, 16));
    }
}
