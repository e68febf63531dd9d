//! The methods of hash-search and hash-build, each in a file that states what it does, its passes over memory and its code
//! for each device: searches and insertions one by one in [`direct`], both in partitions in [`partitioned`], and the paper's
//! searches in [`he2007`].

mod direct;
mod he2007;
mod partitioned;

use super::{Build, CACHED, Form, Layout, Search};
use crate::case::table::{choice, count, words};
use crate::case::{Params, Value};
use crate::primitives::{Costs, auto_candidates};

/// Most bits of a partition's number: those of one split.
const MAX_BITS: u64 = 8;

/// Most passes of a gather.
const MAX_PASSES: u64 = 4096;

/// The passes of he2007 §4.2 on a GPU.
const PAPERS_PASSES: u64 = 16;

/// Keys from which on partitioning them pays on a GPU.
const WORTH_PARTITIONING: u64 = 16 << 20;

/// Most records per key for which it pays: with fewer keys, a part leaves the cache before its buckets are read again. With 2^24
/// keys and 2^26 records, partitioned searches take 4 % less time than direct ones on an H100, and 10 % less on an H200; with 2^27
/// records 14 % more on the H100, and with 2^30 34 % more (runs `h100-hash-auto` and `h200-hash-auto`).
const RECORDS_PER_KEY: u64 = 4;

/// Buckets of a table beyond which it pays: 64 MiB of one-sector buckets. The cache still holds much of a smaller table. With
/// buckets of one sector in the parts, and of two for direct searches, 2^22 records (42 MB) take 6 % more time on an H200, and 2^23
/// (84 MB) 5 % less, on an H100 17 % less (the same runs). With two sectors, a load of 0.99 and 2^26 keys on an H200, 2^24
/// records (136 MB) take 1 % more, 2^25 2 % less and 2^26 8 % less (run `h200-fig18`).
const BUCKETS: u64 = (64 << 20) / 32;

/// Bytes of a part of a table: on a GPU, and on a CPU, where chunks of the records have them, too.
const GPU_PART: u64 = 8 << 20;
const CPU_PART: u64 = 1 << 20;

words! {
    /// The order of the results of a search in partitions.
    pub enum Order {
        Restored = "restored",
        Free = "free",
    }
}

choice! {
    /// How a search is computed.
    #[derive(Eq)]
    pub enum Method {
        /// on GPUs: partitioned if there are at least 16 Mi keys, at least one key for every four records, and more than 2 Mi
        /// buckets; in all other cases direct
        Best = "best",
        /// each key is looked up in its buckets
        Direct = "direct",
        /// the keys are partitioned by those bits of their hash that select a part of the table; a part stays in cache
        /// while its keys are looked up
        Partitioned = "partitioned" {
            /// restored: result q belongs to key q; free: results are in the order of the partitions, each beside its q
            order: Order = "restored",
            /// log2 of the number of partitions; unset: enough for parts of at most 8 MiB of the table (CPUs: 1 MiB),
            /// as far as possible
            bits: Option<u64> [count(1, MAX_BITS)] = unset,
        },
        /// headers and chains: matches are counted, the counts summed, ids written, and records gathered by their
        /// ids in passes (he2007 §4.2)
        He2007 = "he2007" {
            /// passes of the gather, each over a chunk of the records; unset: 16, as in the paper (CPUs: chunks of 1
            /// MiB)
            passes: Option<u64> [count(1, MAX_PASSES)] = unset,
        },
        /// the method that the model `sector` predicts to be fastest, from the device's profile: direct, partitioned,
        /// or he2007 with 1 to 64 passes
        Auto = "auto",
    }
}

choice! {
    /// How a table is built.
    #[derive(Eq)]
    pub enum BuildMethod {
        /// on GPUs: partitioned if the table exceeds the L2 cache; in all other cases atomics
        Best = "best",
        /// each record is put into one of its buckets by atomic operations
        Atomics = "atomics",
        /// as atomics, after the records have been partitioned by the part of the table to which they belong
        Partitioned = "partitioned" {
            /// log2 of the number of partitions; unset: enough for parts of at most 8 MiB of the table (CPUs: 1 MiB),
            /// as far as possible
            bits: Option<u64> [count(1, MAX_BITS)] = unset,
        },
        /// the method that the model `sector` predicts to be fastest, from the device's profile
        Auto = "auto",
    }
}

impl Search {
    /// The method that is executed; direct until a model has chosen for `auto`.
    pub fn chosen(&self) -> Method {
        let layout = self.layout();
        let large = layout.bytes() / layout.bucket() > BUCKETS && self.count / RECORDS_PER_KEY <= self.keys;
        match self.asked {
            Method::Best if self.backend.is_cuda() && large && self.keys >= WORTH_PARTITIONING => {
                Method::Partitioned { order: Order::Restored, bits: None }
            }
            Method::Best | Method::Auto => Method::Direct,
            asked => asked,
        }
    }

    /// The layout of the results in memory.
    pub fn form(&self) -> Form {
        match self.method {
            Method::Best | Method::Auto | Method::Direct => Form::InOrder,
            Method::Partitioned { order: Order::Restored, .. } => Form::Restored,
            Method::Partitioned { order: Order::Free, .. } => Form::Numbered,
            Method::He2007 { .. } => Form::Matches,
        }
    }

    /// The bits of a partition's number, for the method `partitioned`.
    pub fn bits(&self) -> u64 {
        match self.method {
            Method::Partitioned { bits: Some(bits), .. } => bits,
            _ => open_bits(&self.layout(), self.backend.is_cuda()),
        }
    }

    /// The passes of the gather, for the method `he2007`.
    pub fn passes(&self) -> u64 {
        match self.method {
            Method::He2007 { passes: Some(passes) } => passes,
            _ if self.backend.is_cuda() => PAPERS_PASSES,
            _ => (8 * self.count).div_ceil(CPU_PART).min(MAX_PASSES),
        }
    }
}

impl Build {
    /// The method that is executed; atomics until a model has chosen for `auto`.
    pub fn chosen(&self) -> BuildMethod {
        match self.asked {
            BuildMethod::Best if self.backend.is_cuda() && self.layout().bytes() > CACHED => {
                BuildMethod::Partitioned { bits: None }
            }
            BuildMethod::Best | BuildMethod::Auto => BuildMethod::Atomics,
            asked => asked,
        }
    }

    /// The bits of a partition's number, for the method `partitioned`.
    pub fn bits(&self) -> u64 {
        match self.method {
            BuildMethod::Partitioned { bits: Some(bits) } => bits,
            _ => open_bits(&self.layout(), self.backend.is_cuda()),
        }
    }
}

/// The bits of the number of a partition that a recipe leaves open.
fn open_bits(layout: &Layout, on_gpu: bool) -> u64 {
    let parts = layout.bytes().div_ceil(if on_gpu { GPU_PART } else { CPU_PART });
    u64::from(parts.next_power_of_two().ilog2()).clamp(1, MAX_BITS)
}

/// The parameters of a search with each method that `auto` may become, the simplest first.
pub fn candidates(params: &Params) -> Vec<Params> {
    let passes = (0..=6).step_by(2).map(|power| ("he2007", vec![("passes", 1 << power)]));
    let methods = [("direct", vec![]), ("partitioned", vec![])].into_iter().chain(passes);
    auto_candidates(params, methods, |params| Search::from_params(params, 0).is_ok())
}

/// The same of a building.
pub fn build_candidates(params: &Params) -> Vec<Params> {
    let methods = [("atomics", vec![]), ("partitioned", vec![])];
    auto_candidates(params, methods, |params| Build::from_params(params, 0).is_ok())
}

/// The names and values that a search has chosen for its method and the method's open parameter.
pub fn resolved(spec: &Search) -> impl Iterator<Item = (String, Value)> {
    let own = match spec.method {
        Method::Partitioned { bits: None, .. } => Some(("method.partitioned.bits", spec.bits())),
        Method::He2007 { passes: None } => Some(("method.he2007.passes", spec.passes())),
        _ => None,
    };
    named((spec.asked == Method::Best).then(|| spec.method.name()), own)
}

/// The same of a building.
pub fn build_resolved(spec: &Build) -> impl Iterator<Item = (String, Value)> {
    let open = matches!(spec.method, BuildMethod::Partitioned { bits: None });
    let own = open.then(|| ("method.partitioned.bits", spec.bits()));
    named((spec.asked == BuildMethod::Best).then(|| spec.method.name()), own)
}

fn named(method: Option<&str>, own: Option<(&str, u64)>) -> impl Iterator<Item = (String, Value)> + use<> {
    let method = method.map(|name| ("method".to_owned(), Value::Text(name.to_owned())));
    method.into_iter().chain(own.map(|(key, value)| (key.to_owned(), Value::Int(value))))
}

/// The costs of a search by its method.
pub fn costs(spec: &Search) -> Costs<'_> {
    match spec.method {
        Method::Best | Method::Auto | Method::Direct => direct::costs(spec),
        Method::Partitioned { .. } => partitioned::costs(spec),
        Method::He2007 { .. } => he2007::costs(spec),
    }
}

/// The costs of a building by its method.
pub fn build_costs(spec: &Build) -> Costs<'_> {
    match spec.method {
        BuildMethod::Best | BuildMethod::Auto | BuildMethod::Atomics => direct::build_costs(spec),
        BuildMethod::Partitioned { .. } => partitioned::build_costs(spec),
    }
}

/// The methods on processors.
pub mod cpu {
    use super::{BuildMethod, Method, direct, he2007, partitioned};
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::hash_search::Build;
    use crate::primitives::hash_search::cpu::build::HashBuild;
    use crate::primitives::hash_search::cpu::{HashSearch, Made};

    /// The method of a search.
    ///
    /// # Errors
    /// Missing memory, and a request to stop.
    pub fn method(made: &Made) -> Result<PoolMethod<HashSearch>, Failure> {
        match made.spec.method {
            Method::Best | Method::Auto | Method::Direct => direct::cpu::method(made),
            Method::Partitioned { .. } => partitioned::cpu::method(made),
            Method::He2007 { .. } => he2007::cpu::method(made),
        }
    }

    /// The method of a building by some workers.
    ///
    /// # Errors
    /// Missing memory.
    pub fn build(spec: &Build, workers: usize) -> Result<PoolMethod<HashBuild>, Failure> {
        match spec.method {
            BuildMethod::Best | BuildMethod::Auto | BuildMethod::Atomics => Ok(direct::cpu::build()),
            BuildMethod::Partitioned { .. } => partitioned::cpu::build(spec, workers),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{BuildMethod, Method, direct, he2007, partitioned};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::hash_search::cuda::Call;
    use crate::primitives::hash_search::cuda::build::Put;
    use crate::primitives::hash_search::{Build, Search};

    /// The kernels of a search on a GPU of this generation.
    pub fn kernels(spec: &Search, capability: ComputeCapability) -> KernelList {
        match spec.method {
            Method::Best | Method::Auto | Method::Direct => direct::cuda::kernels(spec),
            Method::Partitioned { .. } => partitioned::cuda::kernels(spec, capability),
            Method::He2007 { .. } => he2007::cuda::kernels(spec),
        }
    }

    /// The method of a search.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn method(gpu: &Gpu, spec: &Search) -> Result<GpuMethod<Call>, Failure> {
        match spec.method {
            Method::Best | Method::Auto | Method::Direct => direct::cuda::method(gpu, spec),
            Method::Partitioned { .. } => partitioned::cuda::method(gpu, spec),
            Method::He2007 { .. } => he2007::cuda::method(gpu, spec),
        }
    }

    /// The kernels of a building, beside those that empty the table and put records into it.
    pub fn build_kernels(spec: &Build, capability: ComputeCapability) -> KernelList {
        match spec.method {
            BuildMethod::Best | BuildMethod::Auto | BuildMethod::Atomics => KernelList::default(),
            BuildMethod::Partitioned { .. } => partitioned::cuda::build_kernels(spec, capability),
        }
    }

    /// The parts of a building, subject to a fault.
    pub fn build_plan(spec: &Build, fault: Option<Fault>) -> LaunchPlan {
        match spec.method {
            BuildMethod::Best | BuildMethod::Auto | BuildMethod::Atomics => {
                LaunchPlan::ranges(spec.count, fault)
            }
            BuildMethod::Partitioned { .. } => partitioned::cuda::build_plan(spec, fault),
        }
    }

    /// The method of a building.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn build(gpu: &Gpu, spec: &Build) -> Result<GpuMethod<Put>, Failure> {
        match spec.method {
            BuildMethod::Best | BuildMethod::Auto | BuildMethod::Atomics => direct::cuda::build(gpu, spec),
            BuildMethod::Partitioned { .. } => partitioned::cuda::build(gpu, spec),
        }
    }
}
