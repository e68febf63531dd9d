//! The peer `hashbrown` of the primitives hash-search and hash-build: one table, searched by all threads and filled by
//! one, with the lab's hash function.

use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use hashbrown::HashMap;

use crate::case::{Case, NotApplicable, refused};
use crate::inputs::mix::{mix32, mix64, scale, word32, word64};
use crate::inputs::zipf::Zipf;
use crate::threads::{Pinning, Threads, require};
use crate::work::{Setting, Work};

/// The first number of a key that no record has.
const ABSENT: u32 = 1 << 31;
/// The result of a search without a match.
const MISS: u32 = u32::MAX;
/// Tells the word that selects a number from the word that decides about a hit.
const NUMBER: u64 = 0x4841_5348_4B45_5953;

/// The lab's hash of a key, in both halves of the word: the crate takes a bucket from the lowest bits and a tag from the
/// highest seven.
#[derive(Clone, Copy, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(self.0 as u32 ^ u32::from(*byte)));
    }

    #[inline]
    fn write_u32(&mut self, key: u32) {
        self.0 = u64::from(mix32(key)) * 0x1_0000_0001;
    }
}

impl BuildHasher for Mixed {
    type Hasher = Mixed;

    #[inline]
    fn build_hasher(&self) -> Mixed {
        Mixed(0)
    }
}

type Table = HashMap<u32, u32, Mixed>;

/// The records of a table: record i has the id i and the key `word32(seed, i)`.
#[derive(Clone, Copy, Debug)]
struct Records {
    seed: u64,
    count: u64,
}

impl Records {
    fn of(case: &mut Case) -> Result<Records, NotApplicable> {
        let (count, seed) = (case.number("records", "")?, case.number("seed", "1")?);
        // Ours: the crate has a load and buckets of its own.
        for ours in ["method", "load", "bucket"] {
            case.text(ours, "");
        }
        match case.number::<u64>("duplicates", "1")? {
            _ if count == 0 || count >= 1 << 31 => refused("its table has 1 to 2^31 - 1 records"),
            1 => Ok(Records { seed, count }),
            _ => refused("its table has one record a key"),
        }
    }

    fn key(&self, number: u32) -> u32 {
        word32(self.seed, number)
    }

    fn array(&self, threads: &Threads) -> Vec<(u32, u32)> {
        threads.array(self.count as usize, |i| (self.key(i as u32), i as u32))
    }

    /// Bytes of a table with room for the records: a key, an id and a tag in each slot, the number of which is the
    /// smallest power of two of which the records are at most 7/8.
    fn table_bytes(&self) -> u64 {
        9 * (self.count * 8).div_ceil(7).next_power_of_two()
    }
}

/// A table without records, but with room for them.
fn empty_table(records: &Records) -> Table {
    HashMap::with_capacity_and_hasher(records.count as usize, Mixed(0))
}

fn fill(table: &mut Table, records: &[(u32, u32)]) {
    for (key, id) in records {
        // SAFETY: `word32` is a bijection, so no two records have the same key, and the table was empty.
        unsafe { table.insert_unique_unchecked(*key, *id) };
    }
}

/// The share of the slots that are taken; the crate fills 7/8 of them at most.
fn load(table: &Table) -> Setting {
    ("load", format!("{:.3}", table.len() as f64 / (table.capacity() as f64 * 8.0 / 7.0)))
}

/// Prepares a case of one of the two primitives.
pub fn prepare(case: &mut Case) -> Result<Box<dyn Work>, NotApplicable> {
    let threads = Threads::of(case, Pinning::Each)?;
    match case.one_of("primitive", &["hash-search", "hash-build"])? {
        "hash-build" => Ok(Box::new(Build::new(case, threads)?)),
        _ => Ok(Box::new(Search::new(case, threads)?)),
    }
}

struct Search {
    records: Records,
    threads: Threads,
    table: Table,
    keys: Vec<u32>,
    /// The number of each search's key.
    numbers: Vec<u32>,
    out: Vec<AtomicU32>,
}

impl Search {
    fn new(case: &mut Case, threads: Threads) -> Result<Search, NotApplicable> {
        let records = Records::of(case)?;
        let n: u64 = case.number("keys", "4194304")?;
        let hits: f64 = case.number("hits", "1.0")?;
        let zipf = match case.one_of("distribution", &["uniform", "zipf"])? {
            "zipf" => Some(Zipf::new(
                records.count,
                case.number("distribution.zipf.exponent", "1.0")?,
                records.seed,
            )),
            _ => None,
        };
        case.nothing_else()?;
        if n == 0 || !(0.0..=1.0).contains(&hits) || matches!(zipf, Some(None)) {
            return refused("there are no such searches");
        }
        require(records.table_bytes() + 8 * records.count + 12 * n)?;
        let (zipf, hits) = (zipf.flatten(), (hits * (1u64 << 32) as f64) as u64);
        let number = |q| number(&records, zipf.as_ref(), hits, q);
        let numbers = threads.array(n as usize, number);
        let keys = threads.array(n as usize, |q| records.key(numbers[q as usize]));
        let mut table = empty_table(&records);
        fill(&mut table, &records.array(&threads));
        let out = (0..n).map(|_| AtomicU32::new(0)).collect();
        Ok(Search { records, threads, table, keys, numbers, out })
    }
}

/// The number of search key `q`.
fn number(records: &Records, zipf: Option<&Zipf>, hits: u64, q: u64) -> u32 {
    let word = word64(records.seed.wrapping_add(1), q);
    let drawn = mix64(word ^ NUMBER);
    match zipf {
        _ if word >> 32 >= hits => ABSENT + scale(drawn, u64::from(ABSENT - 1)) as u32,
        Some(zipf) => zipf.draw(q) as u32,
        None => scale(drawn, records.count) as u32,
    }
}

impl Work for Search {
    fn ways(&self) -> Vec<Vec<Setting>> {
        vec![vec![load(&self.table), ("threads", self.threads.count.to_string())]]
    }

    fn execute(&mut self, _way: usize) -> f64 {
        let Search { table, keys, out, .. } = self;
        self.threads.time(keys.len(), |own| {
            for (key, out) in keys[own.clone()].iter().zip(&out[own]) {
                // A relaxed store is a plain one.
                out.store(table.get(key).copied().unwrap_or(MISS), Ordering::Relaxed);
            }
        })
    }

    fn wrong(&self) -> u64 {
        let right = |number: u32| if u64::from(number) < self.records.count { number } else { MISS };
        let pairs = self.numbers.iter().zip(&self.out);
        pairs.filter(|(number, out)| out.load(Ordering::Relaxed) != right(**number)).count() as u64
    }

    fn effective_bytes(&self) -> u64 {
        16 * self.keys.len() as u64
    }

    fn memory(&self) -> u64 {
        self.records.table_bytes() + 12 * self.keys.len() as u64
    }
}

struct Build {
    records: Records,
    table: Table,
    input: Vec<(u32, u32)>,
}

impl Build {
    fn new(case: &mut Case, threads: Threads) -> Result<Build, NotApplicable> {
        let records = Records::of(case)?;
        case.nothing_else()?;
        require(records.table_bytes() + 8 * records.count)?;
        Ok(Build { records, table: empty_table(&records), input: records.array(&threads) })
    }
}

impl Work for Build {
    fn ways(&self) -> Vec<Vec<Setting>> {
        vec![vec![("threads", "1".to_owned())]]
    }

    /// Emptying the table counts: the lab's building empties its slots, too.
    fn execute(&mut self, _way: usize) -> f64 {
        let start = Instant::now();
        self.table.clear();
        fill(&mut self.table, &self.input);
        start.elapsed().as_secs_f64()
    }

    fn wrong(&self) -> u64 {
        let missing = self.input.iter().filter(|(key, id)| self.table.get(key) != Some(id)).count();
        missing as u64 + u64::from(self.table.len() as u64 != self.records.count)
    }

    fn effective_bytes(&self) -> u64 {
        16 * self.records.count
    }

    fn memory(&self) -> u64 {
        self.records.table_bytes() + 8 * self.records.count
    }
}
