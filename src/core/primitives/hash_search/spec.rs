//! The typed parameters of hash-search and hash-build.

use super::layout::Layout;
use super::records::Records;
use crate::case::table::{choice, count, float, parameters, sizes, words};
use crate::case::{Params, Refusal};
use crate::inputs::zipf::MAX_EXPONENT;
use crate::primitives::auto_candidates;

/// Most records of a table: ids have 31 bits, and one of them means none.
pub const MAX_RECORDS: u64 = (1 << 31) - 1;

/// Most search keys.
pub const MAX_KEYS: u64 = 1 << 31;

/// Most records per key.
const MAX_COPIES: u64 = 8;

/// The load up to which buckets of a sector have room for nearly all records in two of them.
const SECTOR_LOAD: f64 = 0.9;

/// Loads of a table. Regions of a fuller one would run out of room.
const LEAST_LOAD: f64 = 0.05;
const MOST_LOAD: f64 = 0.99;

/// Bytes of a table that a GPU's second-level cache holds: there a bucket of one sector takes half as long as one of
/// two, while in memory both take the same time.
const CACHED: u64 = 32 << 20;

/// Most bits of a partition's number: those of one split.
const MAX_BITS: u64 = 8;

/// Most passes of a gather.
const MAX_PASSES: u64 = 4096;

/// The passes of he2007 §4.2 on a GPU.
const PAPERS_PASSES: u64 = 16;

/// Keys from which on partitioning them pays on a GPU.
const WORTH_PARTITIONING: u64 = 16 << 20;

/// Bytes of a part of a table: on a GPU, and on a CPU, where chunks of the records have them, too.
const GPU_PART: u64 = 8 << 20;
const CPU_PART: u64 = 1 << 20;

choice! {
    /// How the search keys are distributed.
    pub enum Distribution {
        /// each key of the table equally likely
        Uniform = "uniform",
        /// independent draws, a few keys hot
        Zipf = "zipf" main "exponent" {
            /// the key of rank r is drawn in proportion to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)],
        },
    }
}

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
        /// on GPUs partitioned for at least 16 Mi keys and a table that exceeds the second-level cache, otherwise direct
        Best = "best",
        /// each key looks into its buckets
        Direct = "direct",
        /// the keys are partitioned by the bits of their hash that select a part of the table, which stays in cache
        /// while the keys of that part look into their buckets
        Partitioned = "partitioned" {
            /// restored: result q is key q's; free: results in the order of the partitions, each beside its q
            order: Order = "restored",
            /// partitions, as a power of two; unset: parts of at most 8 MiB of the table (CPUs: 1 MiB), as far as possible
            bits: Option<u64> [count(1, MAX_BITS)] = unset,
        },
        /// headers and chains: matches are counted, the counts summed, ids written, and records gathered by their
        /// ids in passes (he2007 §4.2)
        He2007 = "he2007" {
            /// passes of the gather, each over a chunk of the records; unset: the paper's 16 (CPUs: chunks of 1 MiB)
            passes: Option<u64> [count(1, MAX_PASSES)] = unset,
        },
        /// the method that the model `sector` expects to be the fastest, from the device's profile: direct, partitioned, or
        /// he2007 with 1 to 64 passes
        Auto = "auto",
    }
}

choice! {
    /// How a table is built.
    #[derive(Eq)]
    pub enum BuildMethod {
        /// on GPUs partitioned for a table that exceeds the second-level cache, otherwise atomics
        Best = "best",
        /// each record is put into one of its buckets by atomic operations
        Atomics = "atomics",
        /// the same, once the records are partitioned by the part of the table that they belong to
        Partitioned = "partitioned" {
            /// partitions, as a power of two; unset: parts of at most 8 MiB of the table (CPUs: 1 MiB), as far as possible
            bits: Option<u64> [count(1, MAX_BITS)] = unset,
        },
        /// the method that the model `sector` expects to be the fastest, from the device's profile
        Auto = "auto",
    }
}

parameters! {
    /// A search, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Search {
        /// records in the table, each of a u32 key and a u32 id
        count as "records": u64 [count(1, MAX_RECORDS)],
        /// u32 search keys
        keys: u64 [count(1, MAX_KEYS)] = "4Mi",
        /// records per slot of the table (he2007: per hash header), from 0.05 to 0.99
        load: f64 [float(0.0, 1.0)] = "0.8",
        /// the part of the search keys that the table has
        hits: f64 [float(0.0, 1.0)] = "1.0",
        /// which of the table's keys are searched for
        distribution: Distribution = "uniform",
        /// records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// bytes of a bucket; unset: 64B, but on GPUs 32B for a table or parts that the second-level cache holds
        bucket: Option<u64> [sizes(&[32, 64])] = unset,
        /// how it is computed
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; direct until a model has chosen for `auto`.
        method: Method = Method::Direct,
    }
}

parameters! {
    /// The building of a table, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Build {
        /// records, each of a u32 key and a u32 id
        count as "records": u64 [count(1, MAX_RECORDS)],
        /// records per slot of the table, from 0.05 to 0.99
        load: f64 [float(0.0, 1.0)] = "0.8",
        /// records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// bytes of a bucket; unset: 64B, but on GPUs 32B for a table or parts that the second-level cache holds
        bucket: Option<u64> [sizes(&[32, 64])] = unset,
        /// how it is built
        asked as "method": BuildMethod = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; atomics until a model has chosen for `auto`.
        method: BuildMethod = BuildMethod::Atomics,
    }
}

/// The bytes of a bucket that a recipe leaves open.
fn open_bucket(records: u64, load: f64, in_parts: bool, on_gpu: bool) -> u64 {
    let fits = in_parts || 8.0 * records as f64 / load <= CACHED as f64;
    if on_gpu && fits && load <= SECTOR_LOAD { 32 } else { 64 }
}

/// The bits of the number of a partition that a recipe leaves open.
fn open_bits(layout: &Layout, on_gpu: bool) -> u64 {
    let parts = layout.bytes().div_ceil(if on_gpu { GPU_PART } else { CPU_PART });
    u64::from(parts.next_power_of_two().ilog2()).clamp(1, MAX_BITS)
}

/// Refuses tables without records, of another load than tables are built for, and with more slots or headers than 32
/// bits number.
fn check_records(records: u64, load: f64) -> Result<(), Refusal> {
    match records {
        0 => Err(Refusal::invalid("records", "must be at least 1")),
        _ if !(LEAST_LOAD..=MOST_LOAD).contains(&load) => {
            Err(Refusal::invalid("load", format!("must be from {LEAST_LOAD} to {MOST_LOAD}")))
        }
        _ if records as f64 / load >= (1u64 << 32) as f64 => {
            Err(Refusal::invalid("load", "32 bits do not number the slots of so large a table"))
        }
        _ => Ok(()),
    }
}

impl Search {
    /// Bytes beside keys and table of a search in partitions: the split keys, the results in their order, and those in
    /// the order of the keys or, if the order is free, the number of each key before and after the split.
    pub fn beside_partitions(&self) -> u64 {
        (if self.order_is_free() { 16 } else { 12 }) * self.keys
    }

    /// Results come in the order of the partitions, each beside the number of its search.
    pub fn order_is_free(&self) -> bool {
        matches!(self.method, Method::Partitioned { order: Order::Free, .. })
    }

    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Search, Refusal> {
        let mut spec = Search::of_table(params, seed)?;
        check_records(spec.count, spec.load)?;
        spec.method = match spec.asked {
            Method::Best => spec.best(),
            Method::Auto => Method::Direct,
            asked => asked,
        };
        if matches!(spec.method, Method::He2007 { .. }) && spec.most_matches() >> 32 > 0 {
            return Err(Refusal::NotApplicable("32 bits do not count so many matches".to_owned()));
        }
        Ok(spec)
    }

    /// The parameters with each method that `auto` may become, the simplest first.
    pub fn candidates(params: &Params) -> Vec<Params> {
        let passes = (0..=6).step_by(2).map(|power| ("he2007", vec![("passes", 1 << power)]));
        let methods = [("direct", vec![]), ("partitioned", vec![])].into_iter().chain(passes);
        auto_candidates::of(params, methods, |params| Search::from_params(params, 0).is_ok())
    }

    /// What the method `best` stands for.
    fn best(&self) -> Method {
        let large = self.layout().bytes() > CACHED && self.keys >= WORTH_PARTITIONING;
        let partitioned = Method::Partitioned { order: Order::Restored, bits: None };
        if self.backend.is_cuda() && large { partitioned } else { Method::Direct }
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// The most records that all searches find.
    pub fn most_matches(&self) -> u64 {
        self.keys * self.copies.max(1)
    }

    /// Bytes of a bucket. A part of a table is in cache, whatever the size of the table.
    pub fn bucket_bytes(&self) -> u64 {
        let parts = matches!(self.method, Method::Partitioned { .. });
        self.bucket.unwrap_or_else(|| open_bucket(self.count, self.load, parts, self.backend.is_cuda()))
    }

    /// The bucketed table of the methods that have one.
    pub fn layout(&self) -> Layout {
        Layout::new(self.count, self.load, self.bucket_bytes())
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

    /// The headers of the method `he2007`: the load factor of a table with chains is its records per header.
    pub fn headers(&self) -> u64 {
        ((self.count as f64 / self.load) as u64).max(1)
    }
}

impl Build {
    /// The parameters with each method that `auto` may become, the simplest first.
    pub fn candidates(params: &Params) -> Vec<Params> {
        let methods = [("atomics", vec![]), ("partitioned", vec![])];
        auto_candidates::of(params, methods, |params| Build::from_params(params, 0).is_ok())
    }

    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Build, Refusal> {
        let mut spec = Build::of_table(params, seed)?;
        // A table of no records is one empty bucket.
        check_records(spec.count.max(1), spec.load)?;
        let large = spec.backend.is_cuda() && spec.layout().bytes() > CACHED;
        spec.method = match spec.asked {
            BuildMethod::Best if large => BuildMethod::Partitioned { bits: None },
            BuildMethod::Best | BuildMethod::Auto => BuildMethod::Atomics,
            asked => asked,
        };
        Ok(spec)
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// Bytes of a bucket.
    pub fn bucket_bytes(&self) -> u64 {
        self.bucket.unwrap_or_else(|| open_bucket(self.count, self.load, false, self.backend.is_cuda()))
    }

    /// The table.
    pub fn layout(&self) -> Layout {
        Layout::new(self.count, self.load, self.bucket_bytes())
    }

    /// The bits of a partition's number, for the method `partitioned`.
    pub fn bits(&self) -> u64 {
        match self.method {
            BuildMethod::Partitioned { bits: Some(bits) } => bits,
            _ => open_bits(&self.layout(), self.backend.is_cuda()),
        }
    }
}
