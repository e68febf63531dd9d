//! R-MAT (Chakrabarti, Zhan, Faloutsos: R-MAT: A Recursive Model for Graph Mining, SDM 2004).
//!
//! An entry descends `scale` levels; on each it goes to one of four quadrants, with probabilities of 5, 1, 1 and 3
//! tenths. So a level takes a decimal digit of a random number, and a table takes four levels at once.

use std::sync::atomic::Ordering;

use super::csr::{atomics, in_ranges, put_back};
use crate::inputs::mix::word64;
use crate::memory::{self, NoMemory};

/// The quadrant of each digit, as a bit of the row and one of the column.
const QUADRANTS: [(u8, u8); 10] =
    [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 1), (1, 1)];

/// Levels that a look-up takes, and the numbers that it distinguishes.
const LEVELS: u64 = 4;
const NUMBERS: usize = 10_000;

/// Look-ups of one random word: what is left of it decides the last one with an error of 10^-7.
const LOOK_UPS: u64 = 3;

/// The bits of row (low half) and column (high half) for each number of four digits; the first level is the highest bit.
pub(super) fn table() -> Vec<u8> {
    let bits = |number: usize| {
        [1000, 100, 10, 1].iter().fold(0u8, |bits, place| {
            let (row, column) = QUADRANTS[number / place % 10];
            (bits & 0x77) << 1 | row | column << 4
        })
    };
    (0..NUMBERS).map(bits).collect()
}

/// Row starts and columns of 2^scale rows with this many entries. Threads put entries into their rows in any order, and
/// the columns of a row are sorted where they are.
pub(super) fn make(seed: u64, scale: u64, entries: u64) -> Result<(Vec<u32>, Vec<u32>), NoMemory> {
    let (table, rows) = (table(), 1u64 << scale);
    let entry = |e| entry(&table, seed, scale, e);
    let mut starts = memory::zeroed::<u32>(rows as usize + 1)?;
    let next = atomics(&mut starts);
    let take = |at: u32| next[at as usize].fetch_add(1, Ordering::Relaxed);
    in_ranges(entries, |part| part.for_each(|e| _ = take(entry(e).0 + 1)));
    let mut sum = 0;
    for count in next {
        sum += count.load(Ordering::Relaxed);
        count.store(sum, Ordering::Relaxed);
    }
    let mut all = memory::zeroed::<u32>(entries as usize)?;
    let columns = atomics(&mut all);
    in_ranges(entries, |part| {
        for (row, column) in part.map(entry) {
            columns[take(row) as usize].store(column, Ordering::Relaxed);
        }
    });
    // The place after the last entry of a row is where the next begins.
    put_back(&mut starts);
    let sorted = in_ranges(rows, |part| {
        let mut row = Vec::new();
        for ends in starts[part.start as usize..=part.end as usize].windows(2) {
            let columns = &columns[ends[0] as usize..ends[1] as usize];
            memory::reserve(&mut row, columns.len())?;
            row.extend(columns.iter().map(|column| column.load(Ordering::Relaxed)));
            row.sort_unstable();
            columns.iter().zip(row.drain(..)).for_each(|(to, column)| to.store(column, Ordering::Relaxed));
        }
        Ok(())
    });
    sorted.into_iter().collect::<Result<(), NoMemory>>()?;
    Ok((starts, all))
}

/// Tells row and column of each entry.
pub(super) fn each(seed: u64, scale: u64, entries: u64, to: &mut dyn FnMut(u64, u32)) {
    let table = table();
    for e in 0..entries {
        let (row, column) = entry(&table, seed, scale, e);
        to(row.into(), column);
    }
}

/// Entries of a group of rows next to each other, in the order of their rows, that has about `wanted` of `entries`. The group
/// is one in whose rows an entry lies that is number `e` of a seed.
pub(super) fn group(seed: u64, scale: u64, entries: u64, wanted: u64, e: u64) -> Vec<(u32, u32)> {
    let table = table();
    let place = entry(&table, seed, scale, e).0;
    // Rows that agree with it in the first levels: four and six tenths of the entries have a bit of 1 and of 0 there.
    let (mut expected, mut level) = (entries as f64, 0);
    while level < scale && expected > wanted as f64 {
        level += 1;
        expected *= if place >> (scale - level) & 1 == 1 { 0.4 } else { 0.6 };
    }
    let shift = scale - level;
    let first = u64::from(place >> shift);
    // Of a level's digits, those with the wanted bit of the row; the levels behind are those of any entry.
    let bit = |e: u64, at: u64| {
        let (of_zero, of_one) = ([0, 0, 0, 0, 0, 1], [0, 1, 1, 1]);
        let word = word64(seed ^ e, at);
        match first >> (level - 1 - at) & 1 {
            0 => of_zero[scale_of(word, 6)],
            _ => of_one[scale_of(word, 4)],
        }
    };
    let of = |k: u64| {
        let column = (0..level).fold(0u64, |column, at| column << 1 | bit(e + 1 + k, at));
        let (row, below) = entry(&table, seed ^ e, shift, k);
        ((first << shift) as u32 | row, (column << shift) as u32 | below)
    };
    let mut found: Vec<_> = (0..expected.round() as u64).map(of).collect();
    found.sort_unstable();
    found
}

fn scale_of(word: u64, n: u64) -> usize {
    crate::inputs::mix::scale(word, n) as usize
}

/// Row and column of entry `e`. A word of its own serves each twelve levels; levels beyond the scale are dropped.
pub(super) fn entry(table: &[u8], seed: u64, scale: u64, e: u64) -> (u32, u32) {
    let words = scale.div_ceil(LEVELS * LOOK_UPS).max(1);
    let (mut row, mut column, mut level) = (0u64, 0u64, 0);
    for w in 0..words {
        let mut left = word64(seed, e * words + w);
        for _ in 0..LOOK_UPS {
            if level >= scale {
                break;
            }
            let product = u128::from(left) * NUMBERS as u128;
            left = product as u64;
            let bits = u64::from(table[(product >> 64) as usize]);
            row = row << LEVELS | bits & 15;
            column = column << LEVELS | bits >> 4;
            level += LEVELS;
        }
    }
    let beyond = level - scale;
    ((row >> beyond) as u32, (column >> beyond) as u32)
}
