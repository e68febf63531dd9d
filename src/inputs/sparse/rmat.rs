//! R-MAT (Chakrabarti, Zhan, Faloutsos: R-MAT: A Recursive Model for Graph Mining, SDM 2004).
//!
//! An entry descends `scale` levels; on each it goes to one of four quadrants, with probabilities of 5, 1, 1 and 3
//! tenths. So a level takes a decimal digit of a random number, and a table takes four levels at once.

use crate::inputs::mix::word64;

/// The quadrant of each digit, as a bit of the row and one of the column.
const QUADRANTS: [(u8, u8); 10] =
    [(0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 1), (1, 0), (1, 1), (1, 1), (1, 1)];

/// Levels that a look-up takes, and the numbers that it distinguishes.
const LEVELS: u64 = 4;
const NUMBERS: usize = 10_000;

/// Look-ups of one random word: what is left of it decides the last one with an error of 10^-7.
const LOOK_UPS: u64 = 3;

/// The bits of row (low half) and column (high half) for each number of four digits; the first level is the highest bit.
fn table() -> Vec<u8> {
    let bits = |number: usize| {
        [1000, 100, 10, 1].iter().fold(0u8, |bits, place| {
            let (row, column) = QUADRANTS[number / place % 10];
            (bits & 0x77) << 1 | row | column << 4
        })
    };
    (0..NUMBERS).map(bits).collect()
}

/// Row starts and columns of 2^scale rows with this many entries.
pub(super) fn make(seed: u64, scale: u64, entries: u64) -> (Vec<u32>, Vec<u32>) {
    let table = table();
    let entry = |e| entry(&table, seed, scale, e);
    let starts = super::starts(1 << scale, (0..entries).map(|e| entry(e).0));
    let (mut next, mut columns) = (starts.clone(), vec![0u32; entries as usize]);
    for e in 0..entries {
        let (row, column) = entry(e);
        let to = &mut next[row as usize];
        columns[*to as usize] = column;
        *to += 1;
    }
    for ends in starts.windows(2) {
        columns[ends[0] as usize..ends[1] as usize].sort_unstable();
    }
    (starts, columns)
}

/// Tells row and column of each entry.
pub(super) fn each(seed: u64, scale: u64, entries: u64, to: &mut dyn FnMut(u64, u32)) {
    let table = table();
    for e in 0..entries {
        let (row, column) = entry(&table, seed, scale, e);
        to(row.into(), column);
    }
}

/// Row and column of entry `e`. A word of its own serves each twelve levels; levels beyond the scale are dropped.
fn entry(table: &[u8], seed: u64, scale: u64, e: u64) -> (u32, u32) {
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
