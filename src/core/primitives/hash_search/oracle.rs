//! The sequential oracles of hash-search and hash-build.

use super::layout::{Layout, MARK, NO_ID, id_of};
use super::records::Searches;
use super::{Build, Form, Search};
use crate::primitives::oracle::{check_length, words64};

/// Compares each result with the definition.
pub fn check_search(spec: &Search, output: &[u8]) -> Result<(), String> {
    let searches = Searches::of(spec).map_err(|refused| refused.to_string())?;
    match spec.form() {
        Form::Matches => check_matches(spec, &searches, output),
        Form::Numbered => check_pairs(spec, &searches, output),
        Form::InOrder | Form::Restored => {
            check_length(output, 4 * spec.keys)?;
            (0..).zip(words32(output)).find_map(|(q, found)| searches.mistake(q, found)).map_or(Ok(()), Err)
        }
    }
}

/// The output as little-endian 32-bit words.
fn words32(output: &[u8]) -> impl Iterator<Item = u32> {
    output.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes))
}

/// All q, then their results.
fn check_pairs(spec: &Search, searches: &Searches, output: &[u8]) -> Result<(), String> {
    check_length(output, 8 * spec.keys)?;
    let (numbers, results) = output.split_at(4 * spec.keys as usize);
    let mut sorted: Vec<u32> = words32(numbers).collect();
    sorted.sort_unstable();
    if !sorted.into_iter().map(u64::from).eq(0..spec.keys) {
        return Err("the results do not belong to all searches".to_owned());
    }
    let pairs = words32(numbers).zip(words32(results));
    pairs.into_iter().find_map(|(q, found)| searches.mistake(q.into(), found)).map_or(Ok(()), Err)
}

/// The offsets, then the records.
fn check_matches(spec: &Search, searches: &Searches, output: &[u8]) -> Result<(), String> {
    let short = || format!("the output has only {} bytes", output.len());
    let (offsets, found) = output.split_at_checked(4 * (spec.keys as usize + 1)).ok_or_else(short)?;
    let (offsets, found): (Vec<u32>, Vec<u64>) = (words32(offsets).collect(), words64(found).collect());
    let mut end = 0;
    for q in 0..spec.keys {
        let matches = searches.records.matches(searches.number(q));
        let begin = end;
        end += (matches.end - matches.start) as usize;
        if offsets[q as usize..q as usize + 2] != [begin as u32, end as u32] {
            return Err(format!("the results of search {q} are not from {begin} to {end}"));
        }
        let mut ids: Vec<u64> =
            found.get(begin..end).unwrap_or_default().iter().map(|word| word >> 32).collect();
        ids.sort_unstable();
        if !ids.into_iter().eq(matches.clone())
            || !found[begin..end].iter().all(|&word| is_record(searches, word))
        {
            return Err(format!("the results of search {q} are not records {matches:?}"));
        }
    }
    match offsets.first().zip(Some(found.len())) {
        Some((0, records)) if records == end => Ok(()),
        _ => Err(format!("there are {} records instead of {end}", found.len())),
    }
}

fn is_record(searches: &Searches, word: u64) -> bool {
    word as u32 == searches.records.key_of_record(word >> 32)
}

/// Searches a table for each key, and counts the records that are found.
pub fn check_table(spec: &Build, output: &[u8]) -> Result<(), String> {
    let (records, layout) = (spec.records(), spec.layout());
    check_length(output, layout.bytes())?;
    let table: Vec<u64> = words64(output).collect();
    let slots = &table[..table.len() - 1];
    let taken = slots.iter().filter(|&&word| id_of(word) != NO_ID).count() as u64;
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
    let reach = table.last().map_or(0, |&reach| reach.min(layout.most_visits().into()) as u32);
    for step in 0..reach {
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
