//! The typed parameters of hash-search and hash-build.

use super::layout::Layout;
use super::records::Records;
use crate::case::table::{choice, count, float, parameters, sizes};
use crate::case::{Params, Refusal};
use crate::inputs::zipf::MAX_EXPONENT;

/// Most records of a table: ids have 31 bits, and one of them means none.
pub const MAX_RECORDS: u64 = (1 << 31) - 1;

/// Most search keys.
pub const MAX_KEYS: u64 = 1 << 31;

/// Most records per key.
const MAX_COPIES: u64 = 8;

/// The load up to which buckets of a sector have room for nearly all records in two of them.
const SECTOR_LOAD: f64 = 0.9;

/// Bytes of a table that a GPU's second-level cache holds: there a bucket of one sector takes half as long as one of
/// two, while in memory both take the same time.
const CACHED: u64 = 32 << 20;

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

choice! {
    /// How a search is computed.
    #[derive(Eq)]
    pub enum Method {
        /// each key looks into its buckets
        Direct = "direct",
    }
}

choice! {
    /// How a table is built.
    #[derive(Eq)]
    pub enum BuildMethod {
        /// each record is put into one of its buckets by atomic operations
        Atomics = "atomics",
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
        /// records per slot of the table (he2007: per hash header)
        load: f64 [float(0.05, 0.99)] = "0.8",
        /// the part of the search keys that the table has
        hits: f64 [float(0.0, 1.0)] = "1.0",
        /// which of the table's keys are searched for
        distribution: Distribution = "uniform",
        /// records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// a bucket; unset: 64B, but on GPUs 32B for a table that fits in the second-level cache
        bucket: Option<u64> [sizes(&[32, 64])] = unset,
        /// how it is computed
        method: Method = "direct",
    }
}

parameters! {
    /// The building of a table, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Build {
        /// records, each of a u32 key and a u32 id
        count as "records": u64 [count(1, MAX_RECORDS)],
        /// records per slot of the table
        load: f64 [float(0.05, 0.99)] = "0.8",
        /// records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// a bucket; unset: 64B, but on GPUs 32B for a table that fits in the second-level cache
        bucket: Option<u64> [sizes(&[32, 64])] = unset,
        /// how it is built
        method: BuildMethod = "atomics",
    }
}

/// The bytes of a bucket that a recipe leaves open.
fn open_bucket(records: u64, load: f64, on_gpu: bool) -> u64 {
    let fits = 8.0 * records as f64 / load <= CACHED as f64;
    if on_gpu && fits && load <= SECTOR_LOAD { 32 } else { 64 }
}

impl Search {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Search, Refusal> {
        let spec = Search::of_table(params, seed)?;
        match spec.count {
            0 => Err(Refusal::invalid("records", "must be at least 1")),
            _ => Ok(spec),
        }
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// Bytes of a bucket.
    pub fn bucket_bytes(&self) -> u64 {
        self.bucket.unwrap_or_else(|| open_bucket(self.count, self.load, self.backend.is_cuda()))
    }

    /// The bucketed table of the methods that have one.
    pub fn layout(&self) -> Layout {
        Layout::new(self.count, self.load, self.bucket_bytes())
    }
}

impl Build {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Build, Refusal> {
        Build::of_table(params, seed)
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// Bytes of a bucket.
    pub fn bucket_bytes(&self) -> u64 {
        self.bucket.unwrap_or_else(|| open_bucket(self.count, self.load, self.backend.is_cuda()))
    }

    /// The table.
    pub fn layout(&self) -> Layout {
        Layout::new(self.count, self.load, self.bucket_bytes())
    }
}
