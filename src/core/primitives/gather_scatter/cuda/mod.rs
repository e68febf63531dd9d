//! gather and scatter on a GPU (`kernels/gather_scatter/gather_scatter.cu`). Each pass is a launch, so it ends before the next
//! begins.
//!
//! The certificate checks that each L\[i\] equals its closed form, and that each tuple is moved as L requires.
//! Random partitions have no closed form: there each L\[i\] must lie inside its partition, and a bitmap proves
//! that L is a permutation. A user-provided L is verified by a checksum; after a scatter through it, each word
//! of R_out must be that of a tuple that goes there, or untouched if a bitmap shows that no tuple goes there.

mod locations;
mod partitioned;
mod spans;

use super::spec::{Kernel, Locations as Distribution, Spec};
use super::tuned::Tuned;
use super::user_indices;
use crate::case::gpus::COUNT_KEY;
use crate::case::tuning::Tuning;
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    self, ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, KernelList, LaunchPart,
    LaunchPlan, OutputArray, Persisting, args, device_struct, poison, run_concurrently,
};
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::tiles::Tiles;
use crate::primitives::cuda::{Fill, launch_over, length};
use locations::{ClosedForm, Locations};
use partitioned::{Pairs, Partitioned};
use spans::Span;

/// The module that contains the kernels of both primitives.
const MODULE: &str = "gather_scatter";

/// Fills tuples of 4 bytes; `Fill` handles the other sizes.
const FILL32: &str = "fill_words32";

/// `EVERYTHING` in the kernels.
const EVERYTHING: u64 = u64::MAX;

/// A prepared case. R_in and R_out have a guard tuple behind their last one, which the deliberately wrong
/// implementations may touch.
pub struct Move {
    spec: Spec,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    locations: Locations,
    certify: [cuda::Kernel; 3],
    /// One per GPU.
    persisting: Vec<Persisting>,
    /// State of the method `partitioned`, which handles each span.
    partitioned: Option<Partitioned>,
    /// The share of the GPU that generates and certifies, then those of the other GPUs that the arrays span.
    shares: Vec<Share>,
    /// Tuples by which the randomly accessed array is misplaced.
    shift: u64,
}

/// One GPU's share of an execution.
struct Share {
    gpu: Gpu,
    timed: cuda::Kernel,
    tiles: Tiles,
    /// The launches of the GPU.
    spans: Vec<Span>,
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

/// The address of a byte that is the first of a word.
fn at(buffer: &DeviceBuffer<u32>, byte: u64) -> Result<DevicePtr<u32>, Failure> {
    buffer.pointer_at(length(byte / 4)?)
}

impl GpuJob for Move {
    type Case = Spec;

    const SPANS: bool = true;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let spans = spans::spans(spec, None)?.len() as u64;
        let inputs = KernelList::default().untimed(MODULE, Fill::KERNELS).untimed(MODULE, [FILL32]);
        let inputs = inputs.untimed(MODULE, locations::kernels(spec));
        let direct = u64::from(spec.cut.is_none());
        let timed = inputs.timed(MODULE, Tuned::of(spec).kernel_name(spec), direct * spans);
        Ok(timed.and(partitioned::kernels(spec), spans).untimed(MODULE, certifying(spec)))
    }

    /// A single part: `spans` applies a fault once L is known.
    fn plan(spec: &Spec, _fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::whole(spec.moves())
    }

    /// With several GPUs, R_in, R_out and L span all of them, and each GPU moves the tuples of the part of L
    /// that it holds: those with i in [k·n/N, (k+1)·n/N). The first GPU generates and certifies.
    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Move, Failure> {
        let GpuSetup { gpu, others, fault, cancel, stored } = *setup;
        let (tuned, user_indices) = (Tuned::of(&spec), user_indices::load(&spec, stored)?);
        if !others.is_empty() && partitioned::workspace(&spec) > 0 {
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
        let by_location = if spec.kernel == Kernel::Gather { &input } else { &output };
        let persist = |gpu: &Gpu| tuned.0.persist.map(|bytes| gpu.persisting(by_location, bytes));
        let persisting = all().filter_map(persist).collect::<Result<_, _>>()?;
        let first = |fault| Ok::<_, Failure>((fault, locations.first(&spec)?));
        let spans = spans::spans(&spec, fault.map(first).transpose()?)?;
        let share = |(gpu, spans): (&Gpu, Vec<Span>)| {
            let timed = gpu.module(MODULE)?.kernel(&tuned.kernel_name(&spec))?;
            let tiles = Tiles::new(gpu, &timed, &tuned.0, 1)?;
            Ok(Share { gpu: gpu.clone(), timed, tiles, spans })
        };
        let shares = all().zip(spans::shares(&spans, spec.moves(), gpus)).map(share);
        Ok(Move {
            shares: shares.collect::<Result<_, Failure>>()?,
            certify: module.kernels(certifying(&spec))?,
            partitioned: Partitioned::new(gpu, &spec)?,
            shift: u64::from(fault == Some(Fault::OffByOne)),
            spec,
            input,
            output,
            locations,
            persisting,
        })
    }

    fn enqueue(&mut self, _gpu: &Gpu, _all: LaunchPart) -> Result<(), Failure> {
        self.shares.iter().try_for_each(|share| self.launch(share))
    }

    /// Waits for the other GPUs, so that subsequent work on the first GPU sees what they have written.
    fn synchronize_others(&mut self) -> Result<(), Failure> {
        self.shares.iter().skip(1).try_for_each(|share| share.gpu.synchronize())
    }

    /// Several GPUs run at the same time; the time is measured from the first start to the last end.
    fn time(&mut self, _gpu: &Gpu, _plan: &LaunchPlan, batch: u32) -> Result<f64, Failure> {
        let this = &*self;
        let timed = |share: &Share| share.gpu.timed(&mut || (0..batch).try_for_each(|_| this.launch(share)));
        match this.shares.as_slice() {
            [alone] => timed(alone),
            all => {
                run_concurrently(all.iter().map(|share| (share.gpu.clone(), move || timed(share))).collect())
            }
        }
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.output, self.spec.tuple).first(self.spec.output())]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, n) = (&self.spec, self.spec.output());
        let mut bitmap: Option<DeviceBuffer<u32>> = match bitmap(spec) {
            0 => None,
            bytes => Some(gpu.alloc(length(bytes / 4)?)?),
        };
        let finding = find(gpu, |report| {
            bitmap.as_mut().map_or(Ok(()), |bitmap| gpu.memset32(bitmap, 0))?;
            self.check(gpu, self.claim(bitmap.as_ref()), report)
        })?;
        let Locations { checksum, starts, .. } = &self.locations;
        let other = checksum
            .is_some_and(|sum| sum != finding.sum)
            .then(|| "L on the device is not the array that was brought: its checksum differs".to_owned());
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
        let spec = &self.spec;
        [spec.input() * spec.tuple + spec.moves() * spec.index, spec.output() * spec.tuple]
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        if self.partitioned.is_some() {
            return Vec::new();
        }
        let persist = self.persisting.first().map(Persisting::bytes);
        let count = Some(self.shares.len() as u64).filter(|&gpus| gpus > 1);
        let count = count.map(|gpus| (COUNT_KEY.to_owned(), Value::Int(gpus)));
        Tuning { persist, ..Tuned::of(&self.spec).0 }.resolved().into_iter().chain(count).collect()
    }
}

impl Move {
    /// Queues one GPU's share of an execution.
    fn launch(&self, share: &Share) -> Result<(), Failure> {
        share.spans.iter().try_for_each(|span| self.launch_span(share, span))
    }

    fn launch_span(&self, share: &Share, span: &Span) -> Result<(), Failure> {
        let (Share { gpu, timed, tiles, .. }, spec) = (share, &self.spec);
        let Span { first, count, low, high } = *span;
        let (beside, by_location) = (first * spec.tuple, self.shift * spec.tuple);
        let (from, to) = match spec.kernel {
            Kernel::Gather => (by_location, beside),
            Kernel::Scatter => (beside, by_location),
        };
        let (output, input) = (at(&self.output, to)?, at(&self.input, from)?);
        let locations = at(&self.locations.values, first * spec.index)?;
        if let Some(partitioned) = &self.partitioned {
            return partitioned.execute(gpu, spec, Pairs { tuples: input, locations }, output, count);
        }
        let ((full, tiled), blocks) = (tiles.full(count), tiles.blocks(count));
        // No location lies outside the chunk, and every tuple has a thread.
        let every = low == 0 && high == spec.tuples && tiles.one_each(count);
        let width = if every { EVERYTHING } else { high - low };
        let args = args![output, input, locations, full, tiled, count, low, width];
        gpu.launch(timed, blocks, tiles.block, 0, args)
    }

    /// Queues the check of all of L and R_out.
    fn check(&self, gpu: &Gpu, claim: Claim, report: &DeviceBuffer<u64>) -> Result<(), Failure> {
        let ([moved, user_indices, landed], values) = (&self.certify, &self.locations.values);
        if self.locations.checksum.is_none() {
            return launch_over(gpu, moved, claim.n, args![values, claim, report]);
        }
        let places = self.spec.tuples;
        launch_over(gpu, user_indices, claim.n, args![values, claim, places, report])?;
        let landed = || launch_over(gpu, landed, places, args![values, claim, places, report]);
        if claim.scatter == 0 { Ok(()) } else { landed() }
    }

    fn claim(&self, bitmap: Option<&DeviceBuffer<u32>>) -> Claim {
        let (spec, starts) = (&self.spec, self.locations.starts.as_ref());
        Claim {
            output: self.output.pointer(),
            key: key64(spec.seed),
            n: spec.moves(),
            tuple: spec.tuple as u32,
            scatter: u32::from(spec.kernel == Kernel::Scatter),
            starts: starts.map_or(DevicePtr::null(), DeviceBuffer::pointer),
            partitions: starts.map_or(0, |starts| starts.len() as u64 - 1),
            partition_key: key64(spec.seed),
            bitmap: bitmap.map_or(DevicePtr::null(), DeviceBuffer::pointer),
            locations: self.locations.closed,
        }
    }
}

/// Generates R_in; its guard is poison.
fn tuples(
    gpu: &Gpu,
    module: &cuda::Module,
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
    use super::super::tests::spec;
    use super::*;

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
