//! The records of a table and the keys that are searched for, as integer functions of (seed, i); the twins of the
//! functions in `kernels/hash_search/inputs.cuh`.
//!
//! Record i has the id i and key number ⌊i / d⌋, where d is the number of records per key; key number k is
//! `word32(seed, k)`, a bijection. Records have numbers below 2^31; the other half belongs to keys that no record
//! has. A search draws its number: with the probability of a hit one of the table's, otherwise one of the other
//! half.

use super::{Distribution, Search};
use crate::case::Refusal;
use crate::inputs::Zipf;
use crate::inputs::mix::{index_of_word32, mix64, scale, word32, word64};

/// The first number of a key that no record has.
pub const ABSENT: u32 = 1 << 31;

/// The result of a search without a match.
pub const MISS: u32 = u32::MAX;

/// Tells the word that selects a number from the word that decides about a hit.
const NUMBER: u64 = 0x4841_5348_4B45_5953;

/// The records of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Records {
    pub seed: u64,
    /// How many there are.
    pub count: u64,
    /// Records per key; the last key may have fewer.
    pub copies: u64,
}

impl Records {
    /// Keys that differ.
    pub fn numbers(&self) -> u64 {
        self.count.div_ceil(self.copies)
    }

    /// The key with a number.
    #[inline(always)]
    pub fn key(&self, number: u32) -> u32 {
        word32(self.seed, number)
    }

    /// The key of the record with an id.
    #[inline(always)]
    pub fn key_of_record(&self, id: u64) -> u32 {
        self.key((id / self.copies) as u32)
    }

    /// The number of a key.
    pub fn number(&self, key: u32) -> u32 {
        index_of_word32(self.seed, key)
    }

    /// A key that neither a record nor a search has: the key of an empty slot.
    pub fn empty_key(&self) -> u32 {
        self.key(u32::MAX)
    }

    /// The ids of the records with a key's number; none if no record has it.
    pub fn matches(&self, number: u32) -> std::ops::Range<u64> {
        let first = (u64::from(number) * self.copies).min(self.count);
        let end = if number < ABSENT { (first + self.copies).min(self.count) } else { first };
        first..end
    }
}

/// The keys that are searched for.
#[derive(Clone, Debug)]
pub struct Searches {
    pub records: Records,
    /// The seed of the draws.
    pub seed: u64,
    /// 2^32 times the share of hits.
    pub hits: u64,
    pub zipf: Option<Zipf>,
}

impl Searches {
    /// The keys of a case.
    ///
    /// # Errors
    /// A Zipf distribution that does not exist.
    pub fn of(spec: &Search) -> Result<Searches, Refusal> {
        let records = spec.records();
        let zipf = match spec.distribution {
            Distribution::Uniform => None,
            Distribution::Zipf { exponent } => {
                let zipf = Zipf::new(records.numbers(), exponent, spec.seed);
                let refusal = || Refusal::invalid("distribution.zipf.exponent", "is out of range");
                Some(zipf.ok_or_else(refusal)?)
            }
        };
        // The product with a power of two is exact.
        let hits = (spec.hits * (1u64 << 32) as f64) as u64;
        Ok(Searches { records, seed: spec.seed.wrapping_add(1), hits, zipf })
    }

    /// The number of search key `q`.
    pub fn number(&self, q: u64) -> u32 {
        let word = word64(self.seed, q);
        let drawn = mix64(word ^ NUMBER);
        if word >> 32 >= self.hits {
            return ABSENT + scale(drawn, u64::from(ABSENT - 1)) as u32;
        }
        match &self.zipf {
            Some(zipf) => zipf.draw(q) as u32,
            None => scale(drawn, self.records.numbers()) as u32,
        }
    }

    /// Search key `q`.
    pub fn key(&self, q: u64) -> u32 {
        self.records.key(self.number(q))
    }

    /// What is wrong with the id that a search for key `q` has found.
    pub fn mistake(&self, q: u64, found: u32) -> Option<String> {
        let matches = self.records.matches(self.number(q));
        let right = if matches.is_empty() { found == MISS } else { matches.contains(&u64::from(found)) };
        let wanted =
            if matches.is_empty() { "a miss".to_owned() } else { format!("one of records {matches:?}") };
        (!right).then(|| format!("search {q} has found {found:#x} instead of {wanted}"))
    }
}
