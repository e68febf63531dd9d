//! pattern on a GPU (`kernels/pattern/pattern.cu`): one launch per execution, with the dense side of each block in its
//! shared memory.

mod certify;
mod starts;

use crate::case::Value;
use crate::case::tuning::{DEFAULT_BLOCK, Tuning};
use crate::device::cuda::{self, Arg, plain_struct, pointer_or_null, poison};
use crate::inputs::mix::key64;
use crate::primitives::Range;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::{Fill, words32};
use crate::primitives::pattern::choice;
use crate::primitives::pattern::spec::{Kernel, Method, POISON, Spec};
use crate::primitives::pattern::walk::{Dense, KEPT, Shape, Steps, Walk};
use starts::Array;

const MODULE: &str = "pattern";

/// Partial sums shared by the blocks of a gather without a destination: `PARTIALS` in the kernels.
const PARTIALS: usize = 1024;

plain_struct!(Walk: 56);

device_struct! {
    /// `Side` in the kernels.
    struct Side: 40 {
        index: DevicePtr<u32>,
        outer: DevicePtr<u32>,
        delta: u64,
        starts: DevicePtr<u32>,
        bytes: u32,
        start_bytes: u32,
    }
}

/// One sparse array's pattern on the device: p, or q and p.
struct Pattern {
    side: Side,
    _indices: Vec<DeviceBuffer<u32>>,
}

/// Lists the names of the untimed kernels once, without the prefix `pattern_`.
macro_rules! kernels {
    ($($other:ident),+ $(,)?) => {
        /// The untimed kernels.
        const OTHERS: [&str; [$(stringify!($other)),+].len()] =
            [$(concat!("pattern_", stringify!($other))),+];

        /// The kernels that a case needs.
        struct Kernels {
            fill: Fill,
            timed: cuda::Kernel,
            $($other: cuda::Kernel),+
        }

        impl Kernels {
            /// Loads the kernels of a case; `items` selects the timed one.
            fn new(gpu: &Gpu, spec: &Spec, items: u32) -> Result<Kernels, Failure> {
                let module = gpu.module(MODULE)?;
                let timed = module.kernel(&timed_name(spec, items))?;
                let [$($other),+] = module.kernels(OTHERS)?;
                Ok(Kernels { fill: Fill::new(&module)?, timed, $($other),+ })
            }
        }
    };
}

kernels! {
    gather_keep, scatter_keep, starts,
    check_kept, check_left, mark_left, check_starts, expected_fold, mark, check_region,
}

/// A walk and the threads of its blocks.
#[derive(Clone, Copy)]
struct Launch {
    walk: Walk,
    threads: u32,
    /// Shared memory per block, in bytes.
    shared: u32,
}

/// A prepared case.
pub struct Patterns {
    spec: Spec,
    kernels: Kernels,
    shape: Shape,
    steps: Steps,
    /// The dense side of a block; `None` for kernels without a private one.
    dense: Option<Dense>,
    /// The launches of an execution.
    plan: LaunchPlan,
    fault: Option<Fault>,
    /// p, or q and p; for gs p_s.
    pattern: Pattern,
    /// The pattern executed instead by a deliberately wrong implementation.
    wrong_pattern: Option<Pattern>,
    /// Where uses start in S, and for gs also in S_g, if starts are read from arrays.
    starts: Vec<Array>,
    /// S; for gs S_s. A guard word follows its last one.
    sparse: DeviceBuffer<u64>,
    /// p_g and S_g of gs.
    source: Option<(Pattern, DeviceBuffer<u64>)>,
    /// The dense side shared by all blocks.
    shared: Option<DeviceBuffer<u64>>,
    /// The partial sums of read-only, and the executions since the last clearing, which all add to them.
    partials: DeviceBuffer<u64>,
    executed: u64,
    /// Smallest and largest entry of the pattern as applied to S.
    smallest: u64,
    largest: u64,
}

/// The name in the PTX of the timed kernel with `items` items.
fn timed_name(spec: &Spec, items: u32) -> String {
    let name = match (spec.kernel, spec.method) {
        (Kernel::Gs, _) => "gs",
        (Kernel::Scatter | Kernel::Multiscatter, _) => "scatter",
        (_, Method::Global) => "gather_global",
        (_, Method::ReadOnly) => "read_only",
        (_, Method::Direct | Method::Atomic) => "gather",
    };
    let other = match (spec.based() || spec.atomic(), spec.kernel.scatters()) {
        (false, _) => "",
        (true, true) => "_variant",
        (true, false) => "_visits",
    };
    let wide = if spec.block() > DEFAULT_BLOCK { "_wide" } else { "" };
    format!("pattern_{name}{other}_u{items}{wide}")
}

/// Smallest and largest entry of the pattern as applied to S.
fn ends(spec: &Spec) -> (u64, u64) {
    spec.applied().iter().fold((u64::MAX, 0), |(a, b), &k| (a.min(k), b.max(k)))
}

impl Pattern {
    /// Uploads p, or q and p, as indices of the case's width.
    fn new(
        gpu: &Gpu,
        spec: &Spec,
        patterns: &[&[u64]],
        delta: u64,
        starts: Option<&Array>,
    ) -> Result<Pattern, Failure> {
        let upload = |indices: &&[u64]| gpu.upload(&words32(indices.iter().copied(), spec.index));
        let indices = patterns.iter().map(upload).collect::<Result<Vec<_>, _>>()?;
        let [index, outer] = [0, 1].map(|k| pointer_or_null(indices.get(k)));
        let bytes = spec.index as u32;
        let side = Side { index, outer, delta, starts: DevicePtr::null(), bytes, start_bytes: 0 };
        Ok(Pattern { side: starts.map_or(side, |starts| starts.of(side)), _indices: indices })
    }

    /// The pattern as applied to S, with entries equal to `replace.0` replaced by `replace.1`.
    fn applied(
        gpu: &Gpu,
        spec: &Spec,
        starts: Option<&Array>,
        replace: Option<(u64, u64)>,
    ) -> Result<Pattern, Failure> {
        let gs = spec.kernel == Kernel::Gs;
        let changed = |&k: &u64| replace.filter(|&(from, _)| from == k).map_or(k, |(_, to)| to);
        let entries = if gs { &spec.scatter } else { &spec.pattern };
        let entries: Vec<u64> = entries.iter().map(changed).collect();
        let patterns = [&spec.inner[..], &entries];
        let patterns = if spec.inner.is_empty() { &patterns[1..] } else { &patterns };
        Pattern::new(gpu, spec, patterns, if gs { spec.delta_scatter } else { spec.delta }, starts)
    }
}

impl Launch {
    fn start(&self, gpu: &Gpu, kernel: &cuda::Kernel, args: &[Arg]) -> Result<(), Failure> {
        gpu.launch(kernel, self.walk.blocks(), self.threads, self.shared, args)
    }
}

impl GpuJob for Patterns {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let timed = KernelList::default().timed(MODULE, timed_name(spec, choice::steps(spec).items), 1);
        Ok(timed.untimed(MODULE, Fill::KERNELS).untimed(MODULE, OTHERS))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        certify::plan(spec, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Patterns, Failure> {
        let gpu = setup.gpu;
        let (smallest, largest) = ends(&spec);
        if largest < smallest {
            return Err(Failure::Failed("a pattern without entries".to_owned()));
        }
        let (shape, steps) = (Shape::of(spec.length(), spec.block())?, choice::steps(&spec));
        let own = spec.kernel != Kernel::Gs && !matches!(spec.method, Method::ReadOnly | Method::Global);
        let dense = own.then(|| shape.dense(spec.wrap, !spec.kernel.scatters())).transpose()?;
        let kernels = Kernels::new(gpu, &spec, steps.items)?;
        let sides = spec.sides().into_iter().rev().filter(|_| spec.based());
        let starts = sides.map(|(_, starts)| Array::new(gpu, &kernels, &spec, starts, setup.fault));
        let starts = starts.collect::<Result<Vec<_>, _>>()?;
        let applied = |replace| Pattern::applied(gpu, &spec, starts.first(), replace);
        let replace = certify::replaced(&spec, setup.fault, largest);
        let shared = spec.global().then(|| array(gpu, spec.dense_words())).transpose()?;
        Ok(Patterns {
            shape,
            steps,
            dense,
            plan: Self::plan(&spec, setup.fault),
            fault: setup.fault,
            pattern: applied(None)?,
            wrong_pattern: replace.map(|replace| applied(Some(replace))).transpose()?,
            sparse: sparse(gpu, &spec, &kernels)?,
            source: source(gpu, &spec, &kernels, starts.get(1))?,
            starts,
            shared,
            partials: gpu.upload(&[0u64; PARTIALS])?,
            executed: 0,
            kernels,
            spec,
            smallest,
            largest,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.executed = 0;
        gpu.memset32(&mut self.partials, 0)?;
        if self.spec.kernel.scatters() {
            poison(gpu, &mut self.sparse)?;
        }
        self.shared.as_mut().map_or(Ok(()), |shared| poison(gpu, shared))
    }

    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        self.executed += 1;
        Ok(())
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        self.execute_part(gpu, part)
    }

    /// Of a gather, what its blocks have in shared memory is none of these.
    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let words = self.spec.sparse_words();
        match (self.spec.kernel.scatters(), self.spec.method) {
            (true, _) => vec![OutputArray::new(&mut self.sparse, 8).first(words)],
            (false, Method::ReadOnly) => vec![OutputArray::new(&mut self.partials, 8)],
            (false, _) => self.shared.iter_mut().map(|shared| OutputArray::new(shared, 8)).collect(),
        }
    }

    /// A scatter makes its words up, and what a copy of S to D leaves of each use is not defined.
    fn input(&self) -> Option<InputArray> {
        self.source.as_ref().map(|(_, source)| InputArray::new(source))
    }

    fn prove(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Option<String>, Failure> {
        self.wrong_beyond_output(gpu, cancel)
    }

    fn judge(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.wrong_output(gpu, Range { first: 0, count: self.spec.count }, cancel)?;
        Ok(Verdict::of(mistake, self.spec.count * self.spec.length()))
    }

    fn output(&mut self, gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let all = Range { first: 0, count: self.spec.count };
        let words = if self.spec.kernel.scatters() {
            poison(gpu, &mut self.sparse)?;
            self.scatter(gpu, all, self.spec.kernel != Kernel::Gs)?;
            self.sparse.range_to_host(0..length(self.spec.sparse_words())?)?
        } else {
            let mut kept = array(gpu, self.spec.count * self.spec.length())?;
            poison(gpu, &mut kept)?;
            self.keep(gpu, &kept, all)?;
            kept.to_host()?
        };
        Ok(words.into_iter().flat_map(u64::to_le_bytes).collect())
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let Steps { items, grid } = self.steps;
        Tuning { items: Some(items), grid: Some(grid), ..Tuning::default() }.resolved()
    }
}

/// S: word64(seed, k) as word k for a gather, poison for a scatter.
fn sparse(gpu: &Gpu, spec: &Spec, kernels: &Kernels) -> Result<DeviceBuffer<u64>, Failure> {
    let words = spec.sparse_words();
    let mut sparse = array(gpu, words + 1)?;
    poison(gpu, &mut sparse)?;
    if !spec.kernel.scatters() {
        kernels.fill.words64(gpu, sparse.pointer(), spec.seed, words)?;
    }
    Ok(sparse)
}

/// p_g and S_g of gs; word k of S_g is word64(seed, k).
fn source(
    gpu: &Gpu,
    spec: &Spec,
    kernels: &Kernels,
    starts: Option<&Array>,
) -> Result<Option<(Pattern, DeviceBuffer<u64>)>, Failure> {
    if spec.kernel != Kernel::Gs {
        return Ok(None);
    }
    let pattern = Pattern::new(gpu, spec, &[&spec.gather], spec.delta_gather, starts)?;
    let source: DeviceBuffer<u64> = array(gpu, spec.source_words())?;
    kernels.fill.words64(gpu, source.pointer(), spec.seed, spec.source_words())?;
    Ok(Some((pattern, source)))
}

/// Launches of a case: timed ones and those of its certificate.
impl Patterns {
    /// The side that is executed, which may be deliberately wrong.
    fn executed(&self) -> Side {
        self.wrong_pattern.as_ref().unwrap_or(&self.pattern).side
    }

    /// S as passed to the kernels, possibly misplaced by a fault.
    fn base(&self, part: LaunchPart) -> Result<DevicePtr<u64>, Failure> {
        self.sparse.pointer_at(length(part.shift)?)
    }

    /// The executed parts of a window's iterations.
    fn parts(&self, window: Range) -> impl Iterator<Item = LaunchPart> {
        let inside = move |part: &LaunchPart| {
            let Range { first, count } = range(*part).within(window.first, window.first + window.count);
            LaunchPart { first, count, ..*part }
        };
        self.plan.parts.iter().map(inside).filter(|part| part.count > 0)
    }

    /// A launch over `range` without a dense side.
    fn launch(&self, gpu: &Gpu, range: Range, steps: Steps) -> Launch {
        let walk = self.shape.walk(range, steps, gpu.device().sms);
        Launch { walk, threads: self.shape.threads(), shared: 0 }
    }

    /// A launch of the timed kernel over `range`.
    fn timed_launch(&self, gpu: &Gpu, range: Range) -> Launch {
        let launch = self.launch(gpu, range, self.steps);
        match self.dense {
            Some(dense) => Launch { walk: launch.walk.with(dense), shared: dense.bytes, ..launch },
            None if self.spec.global() => Launch { walk: launch.walk.sharing(self.spec.wrap), ..launch },
            None => launch,
        }
    }

    /// Queues one part of an execution.
    fn execute_part(&self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let (timed, launch) = (&self.kernels.timed, self.timed_launch(gpu, range(part)));
        let (side, base) = (self.executed(), self.base(part)?);
        match (&self.source, self.spec.method) {
            (Some((from, source)), _) => {
                let atomic = u32::from(self.spec.atomic());
                let args = args![launch.walk, from.side, side, source, base, atomic];
                launch.start(gpu, timed, &args[..5 + usize::from(self.takes_atomic())])
            }
            _ if self.spec.kernel.scatters() => self.launch_scatter(gpu, &launch, part, false),
            (_, Method::ReadOnly) => launch.start(gpu, timed, args![launch.walk, side, base, self.partials]),
            _ => {
                // Null if each block has a dense side of its own; it is then not written out.
                let left = pointer_or_null(self.shared.as_ref());
                launch.start(gpu, timed, args![launch.walk, side, base, left])
            }
        }
    }

    /// Launches the timed scatter or, with `keep`, the one with a distinct word for each (i, j).
    fn launch_scatter(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        part: LaunchPart,
        keep: bool,
    ) -> Result<(), Failure> {
        let kernel = if keep { &self.kernels.scatter_keep } else { &self.kernels.timed };
        let (side, base, key) = (self.executed(), self.base(part)?, key64(self.spec.seed));
        let atomic = u32::from(self.spec.atomic());
        let args = args![launch.walk, side, base, key, atomic];
        launch.start(gpu, kernel, &args[..4 + usize::from(keep || self.takes_atomic())])
    }

    /// Whether the timed kernel has an argument that makes its stores atomic.
    fn takes_atomic(&self) -> bool {
        self.spec.kernel.scatters() && (self.spec.based() || self.spec.atomic())
    }

    /// Queues the gather of a window's iterations that keeps every word: that of (i, j) at (i − window.first)·P
    /// + j.
    fn keep(&self, gpu: &Gpu, kept: &DeviceBuffer<u64>, window: Range) -> Result<(), Failure> {
        self.unless_replaced(gpu, kept, window.count * self.spec.length(), || {
            self.parts(window).try_for_each(|part| {
                let to = kept.pointer_at(length((part.first - window.first) * self.spec.length())?)?;
                let (launch, base) = (self.launch(gpu, range(part), KEPT), self.base(part)?);
                launch.start(gpu, &self.kernels.gather_keep, args![launch.walk, self.executed(), base, to])
            })
        })
    }

    /// Runs an instantiation that keeps everything in `words` words, unless a fault runs in place of it.
    fn unless_replaced(
        &self,
        gpu: &Gpu,
        to: &DeviceBuffer<u64>,
        words: u64,
        runs: impl FnOnce() -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let fill = |word, places: std::ops::Range<u64>| {
            let at = to.pointer_at(length(places.start)?)?;
            self.kernels.fill.constant(gpu, at, word, places.end - places.start)
        };
        match self.fault.filter(|fault| fault.stands_in()) {
            None => runs(),
            Some(Fault::Zeros) => fill(0, 0..words),
            Some(Fault::Identity) if self.source.is_some() => {
                let copied = words.min(self.spec.source_words());
                fill(0, copied..words)?;
                self.kernels.fill.words64(gpu, to.pointer(), self.spec.seed, copied)
            }
            Some(Fault::LostPart) => runs().and_then(|()| fill(POISON, Fault::lost_part(words))),
            Some(_) => Ok(()),
        }
    }

    /// Queues the scatter or gs of a window's iterations; `keep` selects the instantiation with a distinct word
    /// for each (i, j).
    fn scatter(&self, gpu: &Gpu, window: Range, keep: bool) -> Result<(), Failure> {
        self.unless_replaced(gpu, &self.sparse, self.spec.sparse_words(), || {
            self.parts(window).try_for_each(|part| match keep {
                true => self.launch_scatter(gpu, &self.launch(gpu, range(part), KEPT), part, true),
                false => self.execute_part(gpu, part),
            })
        })
    }
}

fn range(part: LaunchPart) -> Range {
    Range { first: part.first, count: part.count }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Side>(), std::mem::offset_of!(Side, bytes)), (40, 32));
    }
}
