//! The sequential oracles of hash-search and hash-build.

use super::layout::{Layout, MARK, NO_ID, id_of};
use super::records::Searches;
use super::spec::{Build, Search};
use crate::primitives::oracle::{check_length, words64};

/// Compares each result with the definition.
pub fn check_search(spec: &Search, output: &[u8]) -> Result<(), String> {
    check_length(output, 4 * spec.keys)?;
    let searches = Searches::of(spec).map_err(|refused| refused.to_string())?;
    let results = output.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let mistake = (0..).zip(results).find_map(|(q, found)| searches.mistake(q, found));
    mistake.map_or(Ok(()), Err)
}

/// Searches a table for each key, and counts the records that are found.
pub fn check_table(spec: &Build, output: &[u8]) -> Result<(), String> {
    let (records, layout) = (spec.records(), spec.layout());
    check_length(output, layout.bytes())?;
    let table: Vec<u64> = words64(output).collect();
    let taken = table.iter().filter(|&&word| id_of(word) != NO_ID).count() as u64;
    if taken != records.count {
        return Err(format!("the table holds {taken} records instead of {}", records.count));
    }
    for number in 0..records.numbers() as u32 {
        let key = records.key(number);
        let mut ids = found(&layout, &table, key);
        // A search that visits all buckets of a region visits the home twice.
        ids.sort_unstable();
        ids.dedup();
        if !ids.iter().copied().eq(records.matches(number)) {
            return Err(format!("key {number} has records {ids:?} instead of {:?}", records.matches(number)));
        }
    }
    Ok(())
}

/// The ids of all records with a key.
fn found(layout: &Layout, table: &[u64], key: u32) -> Vec<u64> {
    let (place, slots, mut ids) = (layout.place(key), layout.slots as usize, Vec::new());
    for step in 0..layout.most_visits() {
        let first = layout.visit(&place, step) as usize * slots;
        let bucket = &table[first..first + slots];
        let matching = bucket.iter().filter(|&&word| word as u32 == key && id_of(word) != NO_ID);
        ids.extend(matching.map(|&word| u64::from(id_of(word))));
        if bucket[place.mark as usize] & MARK == 0 {
            break;
        }
    }
    ids
}
