//! The methods of sssp. All are delta-stepping with a window of buckets ([`Window`]), and differ in how many buckets there are
//! and in who relaxes what is near: with `fusion` a warp of a GPU or a worker of a processor goes on alone with what it has found
//! itself, otherwise all meet after each step. On GPUs each way to put vertices into buckets is a kernel of its own.

use super::Spec;
use crate::case::Refusal;
use crate::case::table::{choice, count};
use crate::inputs::graph::UNREACHED;

/// Most buckets of a method: a GPU has a bit for each but the nearest.
const MAX_BUCKETS: u64 = 32;

/// Arcs per vertex from which on paths are short and frontiers large: buckets pay in ashkiani2017's Table 10, and a wide Δ
/// does not.
const CONNECTED: u64 = 8;

/// Buckets of the best method of a GPU for such graphs.
const BEST_BUCKETS: u64 = 32;

/// Bits of a digit of a GPU's sort by bucket (`DIGIT_BITS` in the kernels), and of a whole key.
const DIGIT_BITS: u64 = 8;
const KEY_BITS: u64 = 32;

/// Buckets of fusion on processors, an eighth of Δ each: so many that the last one is seldom distributed.
const FUSED_BUCKETS: u32 = 128;
const BUCKETS_OF_STEP: u32 = 8;

/// Rounds that warps of a GPU go on alone unless a case says how many.
const ROUNDS: u64 = 16;

/// Δ is so many times the mean weight over the mean number of arcs per vertex: cuGraph's 32, and less for graphs with many
/// arcs per vertex. Warps that go on alone spend most of their time at barriers: relaxing some arcs again costs less than
/// another step.
const WIDTH: u128 = 32;
const WIDTH_OF_WARPS: u128 = 256;
const WIDTH_OF_GPUS: u128 = 4;
const WIDTH_OF_PROCESSORS: u128 = 2;

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// fusion; on GPUs multisplit with 32 buckets if there are at least eight arcs per vertex
        Best = "best",
        /// each step relaxes the arcs of all vertices whose distance fell in the step before
        BellmanFord = "bellman-ford",
        /// vertices within Δ are relaxed until none is left, while all others wait in one pile (Davidson et al. 2014)
        NearFar = "near-far",
        /// waiting vertices are kept by distance in buckets that are Δ wide; the last bucket holds the rest
        Bucketing = "bucketing" main "buckets" {
            /// number of buckets, including the nearest
            buckets: u64 [count(2, MAX_BUCKETS)] = "10",
            /// GPUs sort all waiting vertices by so many bits of their bucket's number after each step, 8 at a time: 32
            /// is a regular radix sort, with which Davidson et al. (2014) filled buckets. Unset: each vertex is inserted
            /// individually
            sort: Option<u64> [count(1, KEY_BITS)] = unset,
        },
        /// the same buckets; a block of a GPU distributes the vertices that it finds among them by a multisplit
        Multisplit = "multisplit" main "buckets" {
            /// number of buckets, including the nearest
            buckets: u64 [count(2, MAX_BUCKETS)] = "10",
        },
        /// near-far, but a warp or worker goes on alone with the near vertices that it finds before all synchronise
        /// (bucket fusion, Zhang et al. 2020); a worker orders near vertices by eighths of Δ and waiting ones in 128
        /// buckets of that width
        Fusion = "fusion" main "rounds" {
            /// rounds for which a warp of a GPU goes on alone; unset: 16. Workers on processors go on until they have
            /// no near vertices
            rounds: Option<u64> [count(1, 1 << 20)] = unset,
        },
    }
}

/// The method that is executed.
///
/// # Errors
/// A method that the backend does not have.
pub fn chosen(spec: &Spec) -> Result<Method, Refusal> {
    let refused = |why: &str| Err(Refusal::NotApplicable(why.to_owned()));
    match spec.asked {
        Method::Multisplit { .. } if spec.backend.is_cpu() => {
            refused("multisplit needs the blocks of a GPU: use bucketing on processors")
        }
        Method::Bucketing { sort: Some(_), .. } if spec.backend.is_cpu() => {
            refused("processors insert vertices into buckets individually: leave sort unset")
        }
        Method::Bucketing { sort: Some(bits), buckets } if buckets > 1 << bits.min(DIGIT_BITS) => {
            refused("the bits of sort do not tell all buckets apart")
        }
        Method::Bucketing { sort: Some(_), .. } if spec.arcs + spec.vertices > u32::MAX.into() => {
            refused("a sort counts arcs and vertices together by 32 bits")
        }
        Method::Fusion { rounds: Some(_) } if spec.backend.is_cpu() => refused(
            "fusion has no rounds on processors: their workers go on alone until they have no near vertices",
        ),
        Method::Best if spec.backend.is_cuda() && spec.connected() => {
            Ok(Method::Multisplit { buckets: BEST_BUCKETS })
        }
        Method::Best => Ok(Method::Fusion { rounds: None }),
        asked => Ok(asked),
    }
}

impl Spec {
    /// True of graphs with many arcs per vertex.
    pub fn connected(&self) -> bool {
        self.arcs >= CONNECTED * self.vertices
    }

    /// True if a warp or a worker goes on alone with the vertices that it finds near.
    pub fn is_fused(&self) -> bool {
        matches!(self.method, Method::Fusion { .. })
    }

    /// Rounds that warps of a GPU go on alone; 0 if they do not.
    pub fn rounds(&self) -> u32 {
        match self.method {
            Method::Fusion { rounds } if self.backend.is_cuda() => rounds.unwrap_or(ROUNDS) as u32,
            _ => 0,
        }
    }

    /// Number of buckets, including the nearest; 1 if nothing is deferred.
    pub fn buckets(&self) -> u32 {
        match self.method {
            Method::Fusion { .. } if self.backend.is_cpu() => FUSED_BUCKETS,
            Method::Best | Method::NearFar | Method::Fusion { .. } => 2,
            Method::BellmanFord => 1,
            Method::Bucketing { buckets, .. } | Method::Multisplit { buckets } => buckets as u32,
        }
    }

    /// Digits of a GPU's sort by bucket; 0 if there is none.
    pub fn digits(&self) -> u32 {
        match self.method {
            Method::Bucketing { sort: Some(bits), .. } => bits.div_ceil(DIGIT_BITS) as u32,
            _ => 0,
        }
    }

    /// Buckets that a worker of a processor empties before all meet; together as wide as Δ, if that is not less than their
    /// number.
    pub fn buckets_of_step(&self, delta: u32) -> u32 {
        if self.is_fused() { BUCKETS_OF_STEP.min(delta) } else { 1 }
    }

    /// The window of a processor at the beginning.
    pub fn window(&self, delta: u32) -> Window {
        Window::new(delta.div_ceil(self.buckets_of_step(delta)), self.buckets())
    }

    /// Δ by the mean weight over the mean number of arcs per vertex.
    pub fn width(&self) -> u128 {
        match (self.connected(), self.backend.is_cuda()) {
            (false, true) if self.is_fused() => WIDTH_OF_WARPS,
            (false, _) => WIDTH,
            (true, true) => WIDTH_OF_GPUS,
            (true, false) => WIDTH_OF_PROCESSORS,
        }
    }
}

/// The distances that are relaxed at present, and those that a method defers: from `base` on in buckets of Δ each, the last of
/// which holds all that are farther.
///
/// The vertices of the present bucket are relaxed until none is left. Then comes the next bucket; when only the last is
/// left, the window moves to the least distance there, and the vertices in the last bucket are distributed again. With two
/// buckets this is near-far, with one Bellman-Ford.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    delta: u64,
    buckets: u32,
    base: u64,
    bucket: u32,
}

impl Window {
    /// From distance 0 on.
    pub fn new(delta: u32, buckets: u32) -> Window {
        Window { delta: delta.max(1).into(), buckets: buckets.max(1), base: 0, bucket: 0 }
    }

    /// The end of the distances that are relaxed at present.
    pub fn limit(&self) -> u32 {
        match self.buckets {
            1 => UNREACHED,
            _ => (self.base + self.delta * u64::from(self.bucket + 1)).min(UNREACHED.into()) as u32,
        }
    }

    /// The bucket of a distance that is not below the base.
    pub fn bucket_of(&self, distance: u32) -> u32 {
        // A division of 32 bits, because each vertex that waits takes one; a distance is not below the base.
        ((distance - self.base as u32) / self.delta as u32).min(self.buckets - 1)
    }

    /// The bucket that is relaxed at present.
    pub fn bucket(&self) -> u32 {
        self.bucket
    }

    /// The last bucket, which holds the rest.
    pub fn last(&self) -> u32 {
        self.buckets - 1
    }

    /// Goes on to a bucket.
    pub fn go_on(&mut self, bucket: u32) {
        self.bucket = bucket;
    }

    /// Moves to the least of the distances of the last bucket.
    pub fn move_to(&mut self, least: u32) {
        self.base = u64::from(least) / self.delta * self.delta;
        self.bucket = 0;
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::Method;
    use crate::device::cuda::pointer_or_null;
    use crate::inputs::graph::Graph;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::sssp::Spec;
    use crate::primitives::sssp::cuda::{MODULE, Search};

    /// Most threads of a block (`THREADS` in the kernels), and those of graphs of a few vertices, which meet sooner.
    const THREADS: u32 = 512;
    const FEW_THREADS: u32 = 128;
    const FEW_VERTICES: u64 = 1 << 12;

    /// Entries that each warp may leave to the next frontier beyond those of arcs: its ring (`RING` in the kernels), and the
    /// vertices of a round.
    const ALONE: u64 = 128 + 16;

    /// One of so many rows may be longer than its slots: its arcs beyond them are waited for one after another.
    const LONG_ROWS: u64 = 16;
    const LANE_BITS: u32 = 5;

    /// Values of a digit of a sort (`DIGITS` in the kernels), and what is counted of them: by each block, and in all.
    const DIGITS: u64 = 256;

    /// The kernel's name in the PTX.
    fn name(spec: &Spec) -> &'static str {
        match spec.method {
            Method::Bucketing { sort: Some(_), .. } => "sssp_bucketing_sort",
            Method::Bucketing { .. } => "sssp_bucketing",
            Method::Multisplit { .. } => "sssp_multisplit",
            Method::Fusion { .. } => "sssp_fusion",
            Method::Best | Method::NearFar | Method::BellmanFord => "sssp_near_far",
        }
    }

    /// The exponent of a number of slots for a vertex's first arcs, a power of two from 4, which fill a sector of memory, to
    /// one for each lane of a warp: as many as a vertex has arcs on average, or twice as many if too many rows would not fit.
    fn ell_bits(spec: &Spec, graph: &Graph) -> u32 {
        let mean = spec.arcs.div_ceil(spec.vertices.max(1));
        let least = mean.clamp(4, 1 << LANE_BITS).next_power_of_two().ilog2();
        let longer = graph.starts.windows(2).filter(|ends| ends[1] - ends[0] > 1 << least).count() as u64;
        if longer > spec.vertices / LONG_ROWS { (least + 1).min(LANE_BITS) } else { least }
    }

    /// The kernels that an execution launches.
    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, name(spec), 1)
    }

    /// The method of a case.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn method(
        gpu: &Gpu,
        module: &Module,
        spec: &Spec,
        graph: &Graph,
    ) -> Result<GpuMethod<Search>, Failure> {
        let (kernel, n, fused) = (module.kernel(name(spec))?, spec.vertices, spec.rounds() > 0);
        let threads = if n < FEW_VERTICES { FEW_THREADS } else { THREADS };
        let resident = gpu.max_blocks(&kernel, threads, 0)?;
        // Warps that go on alone are seldom all busy; fewer meet sooner.
        let most = if fused { resident.min(gpu.device().sms) } else { resident };
        let blocks = most.min(grid(n, threads.into()));
        // Each arc may add an entry to a frontier in a step, and each vertex that waited; before a sort they are together.
        let sorts = spec.digits() > 0;
        let room = if sorts { spec.arcs + n + 1 } else { spec.arcs.max(n) + 1 };
        let alone = if fused { u64::from(blocks * threads / 32) * ALONE } else { 0 };
        let [even, odd]: [DeviceBuffer<u64>; 2] = [array(gpu, room + alone)?, array(gpu, room + alone)?];
        let piled = if sorts { DIGITS * u64::from(blocks + 1) } else { n * u64::from(spec.buckets()) };
        let piles: DeviceBuffer<u32> = array(gpu, piled.max(1))?;
        let mut in_piles: DeviceBuffer<u32> = array(gpu, n + 1)?;
        gpu.memset32(&mut in_piles, 0)?;
        // The first arcs of each vertex, and from where blocks have relaxed vertices with many.
        let ell_bits = if fused { ell_bits(spec, graph) } else { 0 };
        let ell: Option<DeviceBuffer<u64>> = fused.then(|| array(gpu, (n << ell_bits).max(1))).transpose()?;
        let relaxed: Option<DeviceBuffer<u32>> = fused.then(|| array(gpu, n + 1)).transpose()?;
        let (buckets, rounds, digits) = (spec.buckets(), spec.rounds(), spec.digits());
        Ok(Box::new(move |gpu, call| {
            let search = Search {
                even: even.pointer(),
                odd: odd.pointer(),
                piles: piles.pointer(),
                in_piles: in_piles.pointer(),
                ell: pointer_or_null(ell.as_ref()),
                relaxed: pointer_or_null(relaxed.as_ref()),
                ell_bits,
                buckets,
                rounds,
                digits,
                ..*call
            };
            gpu.launch(&kernel, blocks, threads, 0, args![search])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_as_wide_as_delta_and_the_last_holds_the_rest() {
        let mut window = Window::new(10, 3);
        assert_eq!([0, 9, 10, 19, 20, u32::MAX - 1].map(|d| window.bucket_of(d)), [0, 0, 1, 1, 2, 2]);
        assert_eq!((window.limit(), window.last()), (10, 2));
        window.go_on(1);
        assert_eq!((window.limit(), window.bucket()), (20, 1));
        window.move_to(47);
        assert_eq!((window.limit(), window.bucket_of(59), window.bucket_of(60)), (50, 1, 2));
        assert_eq!(Window::new(10, 1).limit(), UNREACHED);
        window.move_to(UNREACHED - 1);
        assert_eq!(window.limit(), UNREACHED);
    }
}
