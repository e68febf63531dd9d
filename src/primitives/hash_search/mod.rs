//! hash-search and hash-build: searches in a hash table (he2007 §4.2), and the building of such a table.
//!
//! A table holds records, each of a 32-bit key and a 32-bit id ([`records`]). A search looks for many keys:
//!
//! ```text
//! hash-search   out[q] = the id of a record with key q, or 2^32 − 1 if there is none
//! hash-build    table = all records, each in one slot of a bucket in which a search finds it
//! ```
//!
//! If several records have the key, the result is any of them. The table is an array of buckets of 4 or 8 records
//! that a search reads as a whole ([`layout`]). The method `he2007` is the paper's: an array of chains, headers that
//! hold where each begins, and all records of each key as the result, with the offset of each key's first:
//!
//! ```text
//! offsets[q] = Σ r < q: the records with key r          out[offsets[q] …] = the records with key q
//! ```
//!
//! The effective bytes of a search are its key (4), its result (4) and the record that it finds (8); those of
//! building are the record read and written (16).
//!
//! The certificates know the number of a key from a bijection, and so the ids of its records: each result must be
//! one of them, or a miss for keys of the half of the numbers that no record has. Of a table that was built, each
//! slot is decoded: its id must be there once, with its key, in a bucket that a search of that key visits.

pub mod cpu;
pub mod cuda;
pub mod layout;
mod oracle;
pub mod records;
pub mod spec;
mod work;

pub use spec::{Build, Search};

use super::{Definition, Primitive, Problem};
use crate::case::{Fault, Params, Refusal, Value, Work};
use records::Searches;
use spec::{BuildMethod, Method};

impl Definition for Search {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Search>(
        "hash-search",
        "the records with given keys, found in a hash table (he2007 §4.2)",
        Search::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Search, Refusal> {
        Search::from_params(params, seed)
    }
}

impl Problem for Search {
    fn work(&self) -> Work {
        work::search(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_search(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let open = (self.asked == Method::Best).then(|| text("method", self.method.name()));
        let own = match self.method {
            Method::Partitioned { bits: None, .. } => Some(int("method.partitioned.bits", self.bits())),
            Method::He2007 { passes: None } => Some(int("method.he2007.passes", self.passes())),
            _ => None,
        };
        let in_buckets = self.bucket.is_none() && !matches!(self.method, Method::He2007 { .. });
        let bucket = in_buckets.then(|| int("bucket", self.bucket_bytes()));
        open.into_iter().chain(own).chain(bucket).collect()
    }

    /// Searches that go by the key next to their own show only if some result differs from the next one.
    fn fault_is_detectable(&self, fault: Fault) -> bool {
        let differ = || Searches::of(self).is_ok_and(|searches| searches.differ_from_next(self.keys));
        fault != Fault::OffByOne || differ()
    }
}

impl Definition for Build {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Build>(
        "hash-build",
        "a hash table of given records, for searches (he2007 §4.2)",
        Build::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Build, Refusal> {
        Build::from_params(params, seed)
    }
}

impl Problem for Build {
    fn work(&self) -> Work {
        work::build(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_table(self, output)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let open = (self.asked == BuildMethod::Best).then(|| text("method", self.method.name()));
        let own = matches!(self.method, BuildMethod::Partitioned { bits: None });
        let own = own.then(|| int("method.partitioned.bits", self.bits()));
        let bucket = self.bucket.is_none().then(|| int("bucket", self.bucket_bytes()));
        open.into_iter().chain(own).chain(bucket).collect()
    }
}

fn text(key: &str, value: &str) -> (String, Value) {
    (key.to_owned(), Value::Text(value.to_owned()))
}

fn int(key: &str, value: u64) -> (String, Value) {
    (key.to_owned(), Value::Int(value))
}
