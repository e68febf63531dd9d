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
mod methods;
mod oracle;
pub mod records;
mod work;

use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, float, parameters, sizes};
use crate::case::{Backend, BlockCost, Params, Refusal, Value, Work};
use crate::inputs::zipf::MAX_EXPONENT;
use layout::Layout;
use methods::{BuildMethod, Method};
use records::Records;
use work::times;

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

/// The load beyond which records that are put away from home often find their alternative full, too.
const MOVES: f64 = 0.9;

/// The load beyond which buckets of four slots have no place for all records, whichever of their two buckets they go to
/// (Fernholz and Ramachandran 2007). The others lie anywhere behind their alternatives, and searches follow.
const HELD_BY_FOURS: f64 = 0.98;

/// The layout of the results of searches in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One for each key, in the order of the keys.
    InOrder,
    /// The same, from an array in another order.
    Restored,
    /// One for each key in another order, each beside the number of its search.
    Numbered,
    /// All records of each key, with the offset of each key's first.
    Matches,
}

choice! {
    /// How the search keys are distributed.
    pub enum Distribution {
        /// each key of the table equally likely
        Uniform = "uniform",
        /// independent draws, which make a few keys hot
        Zipf = "zipf" main "exponent" {
            /// the key of rank r is drawn with a probability proportional to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)],
        },
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
        /// fraction of the search keys found in the table
        hits: f64 [float(0.0, 1.0)] = "1.0",
        /// which of the table's keys are searched for
        distribution: Distribution = "uniform",
        /// number of records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// size of a bucket; unset: 64B, or on GPUs 32B up to a load of 0.9
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
        /// number of records with the same key
        copies as "duplicates": u64 [count(1, MAX_COPIES)] = "1",
        /// size of a bucket; unset: 64B, or on GPUs 32B up to a load of 0.9 if the table fits in the L2 cache
        bucket: Option<u64> [sizes(&[32, 64])] = unset,
        /// how it is built
        asked as "method": BuildMethod = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for; atomics until a model has chosen for `auto`.
        method: BuildMethod = BuildMethod::Atomics,
    }
}

/// The table for some records. A bucket that a recipe leaves open has one sector on GPUs if `short`, unless the table is nearly
/// full.
fn table(records: u64, load: f64, bucket: Option<u64>, short: bool, backend: Backend) -> Layout {
    let open = if backend.is_cuda() && short && load <= SECTOR_LOAD { 32 } else { 64 };
    Layout::new(records, load, bucket.unwrap_or(open))
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
            Err(Refusal::invalid("load", "32 bits cannot number the slots of a table this large"))
        }
        _ => Ok(()),
    }
}

impl Search {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Search, Refusal> {
        let mut spec = Search::of_table(params, seed)?;
        check_records(spec.count, spec.load)?;
        spec.method = spec.chosen();
        if spec.form() == Form::Matches && spec.most_matches() >> 32 > 0 {
            return Err(Refusal::NotApplicable("32 bits cannot count this many matches".to_owned()));
        }
        Ok(spec)
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// The most records that all searches find.
    pub fn most_matches(&self) -> u64 {
        self.keys * self.copies.max(1)
    }

    /// The bucketed table of the methods that have one. Short buckets take less time wherever the table lies: with buckets of 32
    /// bytes direct searches of 2^28 records take 21 to 24 % less time on an H200, and 2 to 6 % less on an H100 (runs `h200-hash`
    /// and `h100-hash`).
    pub fn layout(&self) -> Layout {
        table(self.count, self.load, self.bucket, true, self.backend)
    }

    /// The headers of the method `he2007`: the load factor of a table with chains is its records per header.
    pub fn headers(&self) -> u64 {
        ((self.count as f64 / self.load) as u64).max(1)
    }

    /// Elements of the arrays that searches write, by the form of their results: numbers of searches or offsets of results;
    /// results in another order than the keys' or ids of matches; 32-bit words of the results.
    pub fn written(&self) -> [u64; 3] {
        let (n, most) = (self.keys, self.most_matches());
        match self.form() {
            Form::InOrder => [0, 0, n],
            Form::Restored => [0, n, n],
            Form::Numbered => [n, 0, n],
            Form::Matches => [n + 1, most, 2 * most],
        }
    }
}

impl Build {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Build, Refusal> {
        let mut spec = Build::of_table(params, seed)?;
        // A table of no records is one empty bucket.
        check_records(spec.count.max(1), spec.load)?;
        spec.method = spec.chosen();
        Ok(spec)
    }

    /// The records of the table.
    pub fn records(&self) -> Records {
        Records { seed: self.seed, count: self.count, copies: self.copies.max(1) }
    }

    /// The table.
    pub fn layout(&self) -> Layout {
        let fits = 8.0 * self.count as f64 / self.load <= CACHED as f64;
        table(self.count, self.load, self.bucket, fits, self.backend)
    }
}

/// The bytes of a bucket that a recipe leaves open.
fn bucket(layout: Layout) -> (String, Value) {
    ("bucket".to_owned(), Value::Int(layout.bucket()))
}

impl Definition for Search {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Search>(
        "hash-search",
        "a search of a hash table for the records with given keys (he2007 §4.2)",
        Search::TABLE,
    )
    .with_method_candidates(|_, params| methods::candidates(params))];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Search, Refusal> {
        Search::from_params(params, seed)
    }
}

impl Problem for Search {
    fn work(&self) -> Work {
        let (n, costs) = (self.keys, methods::costs(self));
        let footprint = 4 * n + costs.own_bytes;
        let scratch = if self.form() == Form::Numbered { n.div_ceil(8) } else { 0 };
        Work::of(n, 8 * n + 8 * times(n, self.hits), costs.passes()).footprint(footprint).scratch(scratch)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.bucket == Some(32) && self.load > HELD_BY_FOURS {
            return Err(
                "no model covers searches beyond a record's two buckets, as needed at this load with buckets of 32 bytes"
                    .to_owned(),
            );
        }
        if self.backend.is_cuda() { methods::costs(self).block_costs() } else { Ok(Vec::new()) }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_search(self, output)
    }

    fn open(&self) -> bool {
        self.asked == Method::Auto
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let open = self.bucket.is_none() && self.form() != Form::Matches;
        methods::resolved(self).chain(open.then(|| bucket(self.layout()))).collect()
    }
}

impl Definition for Build {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Build>(
        "hash-build",
        "a hash table of given records, for searches (he2007 §4.2)",
        Build::TABLE,
    )
    .with_method_candidates(|_, params| methods::build_candidates(params))];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Build, Refusal> {
        Build::from_params(params, seed)
    }
}

impl Problem for Build {
    fn work(&self) -> Work {
        let (n, costs) = (self.count, methods::build_costs(self));
        let footprint = self.layout().bytes() + 8 * n + costs.own_bytes;
        Work::of(n, 16 * n, costs.passes()).footprint(footprint).scratch(n.div_ceil(8))
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        match self.backend.is_cuda() {
            true if self.load > MOVES => {
                Err("no model covers the records that are displaced in a nearly full table".to_owned())
            }
            true => methods::build_costs(self).block_costs(),
            false => Ok(Vec::new()),
        }
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_table(self, output)
    }

    fn open(&self) -> bool {
        self.asked == BuildMethod::Auto
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let open = self.bucket.is_none().then(|| bucket(self.layout()));
        methods::build_resolved(self).chain(open).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    pub fn search(words: &str) -> Search {
        Search::read("hash-search", &params(words), 7).expect("a case")
    }

    fn text(key: &str, value: &str) -> (String, Value) {
        (key.to_owned(), Value::Text(value.to_owned()))
    }

    fn int(key: &str, value: u64) -> (String, Value) {
        (key.to_owned(), Value::Int(value))
    }

    #[test]
    fn auto_is_chosen_among_methods_that_exist() {
        let methods = |words: &str| {
            let all = methods::candidates(&params(words)).into_iter();
            all.map(|params| (params.text("method").map(str::to_owned), params.int("method.he2007.passes")))
                .collect::<Vec<_>>()
        };
        let he2007 = [1, 4, 16, 64].map(|passes| (Some("he2007".to_owned()), Some(passes)));
        let all =
            [("direct", None), ("partitioned", None)].map(|(word, passes)| (Some(word.to_owned()), passes));
        assert_eq!(methods("records=1000 method=auto"), [&all[..], &he2007].concat());
        // 32 bits do not count the matches of the paper's search.
        assert_eq!(methods("records=1000 keys=2147483648 duplicates=2 method=auto"), all);
        assert!(methods("records=1000 method=best").is_empty());
        assert!(search("records=1000 method=auto").open() && !search("records=1000").open());
        assert_eq!(methods::build_candidates(&params("records=1000 method=auto")).len(), 2);
    }

    #[test]
    fn what_best_becomes_is_recorded() {
        let large = search("records=268435456 keys=268435456 backend=cuda");
        let bits = int("method.partitioned.bits", 8);
        assert_eq!(large.resolved(), [text("method", "partitioned"), bits, int("bucket", 32)]);
        // Too few keys for so many records, and a table of which a cache holds much.
        let few = search("records=268435456 keys=16777216 backend=cuda");
        assert_eq!(few.resolved(), [text("method", "direct"), int("bucket", 32)]);
        let full = search("records=8388608 keys=67108864 load=0.95 backend=cuda");
        assert_eq!(full.resolved(), [text("method", "direct"), int("bucket", 64)]);
        let cached = search("records=1000 keys=268435456 backend=cuda");
        assert_eq!(cached.resolved(), [text("method", "direct"), int("bucket", 32)]);
        let on_cpus = search("records=268435456 keys=268435456 backend=cpu");
        assert_eq!(on_cpus.resolved(), [text("method", "direct"), int("bucket", 64)]);
        assert_eq!(search("records=1000 method=direct bucket=32").resolved(), []);
        let asked = search("records=268435456 method=direct backend=cuda");
        assert_eq!(asked.resolved(), [int("bucket", 32)]);
    }

    #[test]
    fn tables_too_empty_or_too_full_are_refused() {
        for load in ["0.01", "1.0"] {
            let refused = Search::read("hash-search", &params(&format!("records=10 load={load}")), 1);
            assert!(refused.expect_err("refused").to_string().starts_with("load: "));
        }
    }

    #[test]
    fn results_are_those_of_the_keys() {
        let spec = search("records=100 keys=50 hits=0.5 duplicates=3 method=direct");
        let searches = records::Searches::of(&spec).expect("searches");
        let numbers: Vec<u32> = (0..50).map(|q| searches.number(q)).collect();
        let hits = numbers.iter().filter(|&&number| number < records::ABSENT).count();
        assert!((10..40).contains(&hits), "{hits}");
        let result = |number: &u32| match searches.records.matches(*number) {
            none if none.is_empty() => records::MISS,
            some => some.end as u32 - 1,
        };
        let mut output: Vec<u8> = numbers.iter().map(result).flat_map(u32::to_le_bytes).collect();
        assert_eq!(spec.check(&output), Ok(()));
        output[41] ^= 1;
        assert!(spec.check(&output).is_err());
    }

    #[test]
    fn there_is_a_cost_for_each_pass() {
        let table = "records=1048576 backend=cuda";
        for words in [
            "method=direct",
            "method=he2007",
            "method=partitioned",
            "method=partitioned method.partitioned.order=free",
        ] {
            let spec = search(&format!("{table} keys=1048576 {words}"));
            let (costs, passes) = (spec.block_costs().expect("counted"), spec.work().passes.len());
            assert!(
                costs.is_empty() == (words == "method=direct") && [0, passes].contains(&costs.len()),
                "{words}"
            );
        }
        let on_cpus = search("records=1048576 backend=cpu method=partitioned");
        assert!(on_cpus.block_costs().is_ok_and(|costs| costs.is_empty()));
        let build = |words: &str| {
            let words = format!("{table} method=partitioned {words}");
            Build::from_params(&params(&words), 7).expect("a case")
        };
        assert_eq!(build("").block_costs().expect("counted").len(), build("").work().passes.len());
        assert!(build("load=0.99").block_costs().is_err_and(|why| why.contains("are displaced")));
    }

    #[test]
    fn searches_beyond_two_buckets_are_not_predicted() {
        let refused =
            |words: &str| search(&format!("records=1048576 backend=cuda {words}")).block_costs().is_err();
        assert!(refused("bucket=32 load=0.99") && refused("bucket=32 load=0.99 method=partitioned"));
        assert!(!refused("bucket=32 load=0.97") && !refused("bucket=64 load=0.99") && !refused("load=0.99"));
    }
}
