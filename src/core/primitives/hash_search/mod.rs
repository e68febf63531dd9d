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

mod block_costs;
pub mod cpu;
pub mod cuda;
pub mod layout;
mod oracle;
pub mod records;
pub mod spec;
mod work;

pub use spec::{Build, Search};

use super::{Definition, Primitive, Problem};
use crate::case::{BlockCost, Fault, Params, Refusal, Value, Work};
use records::Searches;
use spec::{BuildMethod, Method};

impl Definition for Search {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Search>(
        "hash-search",
        "the records with given keys, found in a hash table (he2007 §4.2)",
        Search::TABLE,
    )
    .with_method_candidates(|_, params| Search::candidates(params))];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Search, Refusal> {
        Search::from_params(params, seed)
    }
}

impl Problem for Search {
    fn work(&self) -> Work {
        work::search(self)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        block_costs::of_search(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_search(self, output)
    }

    fn open(&self) -> bool {
        self.asked == Method::Auto
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
    )
    .with_method_candidates(|_, params| Build::candidates(params))];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Build, Refusal> {
        Build::from_params(params, seed)
    }
}

impl Problem for Build {
    fn work(&self) -> Work {
        work::build(self)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        block_costs::of_build(self)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check_table(self, output)
    }

    fn open(&self) -> bool {
        self.asked == BuildMethod::Auto
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

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    fn search(words: &str) -> Search {
        Search::read("hash-search", &params(words), 7).expect("a case")
    }

    #[test]
    fn auto_is_chosen_among_methods_that_exist() {
        let methods = |words: &str| {
            let all = Search::candidates(&params(words)).into_iter();
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
        assert_eq!(Build::candidates(&params("records=1000 method=auto")).len(), 2);
    }

    #[test]
    fn what_best_becomes_is_recorded() {
        let large = search("records=268435456 keys=268435456 backend=cuda");
        let bits = int("method.partitioned.bits", 8);
        assert_eq!(large.resolved(), [text("method", "partitioned"), bits, int("bucket", 32)]);
        let cached = search("records=1000 keys=268435456 backend=cuda");
        assert_eq!(cached.resolved(), [text("method", "direct"), int("bucket", 32)]);
        let on_cpus = search("records=268435456 keys=268435456 backend=cpu");
        assert_eq!(on_cpus.resolved(), [text("method", "direct"), int("bucket", 64)]);
        assert_eq!(search("records=1000 method=direct bucket=32").resolved(), []);
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
        let searches = Searches::of(&spec).expect("searches");
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

    /// Where every search misses, it does not matter which key it has.
    #[test]
    fn keys_beside_their_own_show_where_results_differ() {
        let shows = |words: &str| search(words).fault_is_detectable(Fault::OffByOne);
        assert!(shows("records=1000 keys=33") && !shows("records=1000 keys=33 hits=0.0"));
        assert!(!shows("records=1 keys=33") && shows("records=1 keys=33 hits=0.5"));
    }
}
