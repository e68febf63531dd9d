//! A bucketed table in host memory, into which several threads put records.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::case::{Cancel, Failure};
use crate::device::cpu::memory::prefetch;
use crate::device::cpu::{Buffer, Pool};
use crate::primitives::hash_search::layout::{
    LEAST_REACH, Layout, MARK, MOST_MOVES, NO_ID, Place, id_of, slot_word,
};
use crate::primitives::hash_search::records::Records;

/// A table.
pub struct Table {
    pub layout: Layout,
    slots: Buffer,
    /// The word of an empty slot.
    empty: u64,
}

impl Table {
    /// Room for the records; the slots are not empty yet.
    pub fn new(layout: Layout, records: &Records) -> Result<Table, Failure> {
        let slots = Buffer::new(layout.bytes() as usize)?;
        Ok(Table { layout, slots, empty: slot_word(records.empty_key(), NO_ID) })
    }

    /// A table with these records.
    pub fn filled(layout: Layout, records: &Records, pool: &Pool, cancel: &Cancel) -> Result<Table, Failure> {
        let table = Table::new(layout, records)?;
        pool.for_blocks(table.all(), cancel, |block| block.for_each(|at| table.empty_slot(at)))?;
        table.reset_reach();
        pool.for_blocks(records.count as usize, cancel, |block| {
            for id in block {
                table.insert(slot_word(records.key_of_record(id as u64), id as u32));
            }
        })?;
        Ok(table)
    }

    /// The buffer of the slots.
    pub fn slots(&self) -> &Buffer {
        &self.slots
    }

    /// Slots in all.
    pub fn all(&self) -> usize {
        self.layout.all_slots() as usize
    }

    /// The first slot.
    pub fn start(&self) -> *const u64 {
        self.slots.ptr::<u64>().cast_const()
    }

    #[inline(always)]
    pub fn slot(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at <= self.all());
        // SAFETY: inside the buffer, aligned, and accessed by other threads as atomic words only.
        unsafe { &*self.slots.ptr::<AtomicU64>().add(at) }
    }

    /// Empties a slot.
    #[inline(always)]
    pub fn empty_slot(&self, at: usize) {
        self.slot(at).store(self.empty, Ordering::Relaxed);
    }

    /// Says that all records of the empty table are at home or in their alternatives.
    pub fn reset_reach(&self) {
        self.slot(self.all()).store(LEAST_REACH, Ordering::Relaxed);
    }

    /// The most buckets that a search visits.
    pub fn reach(&self) -> u32 {
        self.slot(self.all()).load(Ordering::Relaxed).min(self.layout.most_visits().into()) as u32
    }

    /// Requests the home of a key from memory.
    #[inline(always)]
    pub fn request(&self, key: u32) {
        prefetch(self.start().wrapping_add(self.layout.home(key) as usize * self.layout.slots as usize));
    }

    /// Puts a record into an empty slot of a bucket, if there is one.
    #[inline(always)]
    fn put(&self, bucket: u64, record: u64) -> bool {
        let slots = self.layout.slots as usize;
        let first = bucket as usize * slots;
        (first..first + slots).any(|at| {
            let slot = self.slot(at);
            let mut seen = slot.load(Ordering::Relaxed);
            // A mark that is set meanwhile must stay.
            while id_of(seen) == NO_ID {
                match slot.compare_exchange_weak(
                    seen,
                    record | seen & MARK,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => return true,
                    Err(now) => seen = now,
                }
            }
            false
        })
    }

    /// Puts a record in place of another one, which is returned.
    fn replace(&self, at: usize, record: u64) -> u64 {
        let slot = self.slot(at);
        let mut seen = slot.load(Ordering::Relaxed);
        loop {
            match slot.compare_exchange_weak(seen, record | seen & MARK, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return seen & !MARK,
                Err(now) => seen = now,
            }
        }
    }

    /// Sets a key's mark in a bucket, so that a search goes on from there.
    #[inline(always)]
    fn set_mark(&self, bucket: u64, place: &Place) {
        let slot = self.slot((bucket * u64::from(self.layout.slots)) as usize + place.mark as usize);
        if slot.load(Ordering::Relaxed) & MARK == 0 {
            slot.fetch_or(MARK, Ordering::Relaxed);
        }
    }

    /// Puts a record into the table; returns whether there was room. If its home and its alternative are full, it
    /// takes the place of a record there, which moves to its own other bucket, and so on. A record that none of
    /// these moves has placed goes into the first bucket behind its alternative that has room.
    pub fn insert(&self, record: u64) -> bool {
        let place = self.layout.place(record as u32);
        self.put(self.layout.visit(&place, 0), record) || self.insert_away(record, place)
    }

    fn insert_away(&self, record: u64, place: Place) -> bool {
        let (mut record, mut place, mut step) = (record, place, 1);
        for moves in 0..MOST_MOVES {
            let bucket = self.layout.visit(&place, step);
            if step == 1 {
                self.set_mark(self.layout.visit(&place, 0), &place);
            }
            if self.put(bucket, record) {
                return true;
            }
            let victim = self.victim(bucket, place.mark + moves);
            record = self.replace(victim, record);
            place = self.layout.place(record as u32);
            // To its alternative from its home, and to its home from anywhere else.
            step = u32::from(self.layout.visit(&place, 0) == bucket);
        }
        self.insert_behind(record, &place)
    }

    /// The slot of the record of a full bucket that gives way: one whose other bucket has room, or else one that is
    /// not at home, or else the one that `turn` selects.
    fn victim(&self, bucket: u64, turn: u32) -> usize {
        let slots = self.layout.slots as usize;
        let (first, mut away) = (bucket as usize * slots, None);
        for at in (0..slots).map(|k| first + (turn as usize + k) % slots) {
            let place = self.layout.place(self.slot(at).load(Ordering::Relaxed) as u32);
            let home = self.layout.visit(&place, 0);
            let other = if home == bucket { self.layout.visit(&place, 1) } else { home };
            let mut others = other as usize * slots..(other as usize + 1) * slots;
            if others.any(|at| id_of(self.slot(at).load(Ordering::Relaxed)) == NO_ID) {
                return at;
            }
            away = away.or((home != bucket).then_some(at));
        }
        away.unwrap_or(first + turn as usize % slots)
    }

    fn insert_behind(&self, record: u64, place: &Place) -> bool {
        (0..self.layout.most_visits()).any(|step| {
            let bucket = self.layout.visit(place, step);
            let there = self.put(bucket, record);
            if there {
                self.slot(self.all()).fetch_max(u64::from(step) + 1, Ordering::Relaxed);
            } else {
                self.set_mark(bucket, place);
            }
            there
        })
    }

    /// What is wrong with the record in a slot.
    pub fn mistake(&self, at: usize, records: &Records) -> Option<String> {
        let word = self.slot(at).load(Ordering::Relaxed);
        let (key, id) = (word as u32, id_of(word));
        if id == NO_ID {
            return (key != records.empty_key())
                .then(|| format!("slot {at} is empty, but has the key {key:#x}"));
        }
        if u64::from(id) >= records.count {
            return Some(format!("slot {at} holds id {id:#x}, which no record has"));
        }
        let wanted = records.key_of_record(id.into());
        if key != wanted {
            return Some(format!("slot {at} holds key {key:#x} beside id {id} instead of {wanted:#x}"));
        }
        let bucket = (at / self.layout.slots as usize) as u64;
        (!self.leads_to(key, bucket))
            .then(|| format!("a search for record {id} does not visit its slot {at}"))
    }

    /// Whether a search for a key visits a bucket.
    fn leads_to(&self, key: u32, bucket: u64) -> bool {
        let place = self.layout.place(key);
        for step in 0..self.reach() {
            let visited = self.layout.visit(&place, step);
            if visited == bucket {
                return true;
            }
            let mark = (visited * u64::from(self.layout.slots)) as usize + place.mark as usize;
            if self.slot(mark).load(Ordering::Relaxed) & MARK == 0 {
                return false;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Even nearly full tables keep most records at home, and a search rarely goes on in vain.
    #[test]
    fn a_nearly_full_table_is_built() {
        let records = Records { seed: 3, count: 1 << 16, copies: 1 };
        let pool = Pool::new(Some(1)).expect("a pool");
        for (load, bytes, away) in [(0.99, 64, 0.25), (0.8, 64, 0.11), (0.8, 32, 0.22)] {
            let layout = Layout::new(records.count, load, bytes);
            let table = Table::filled(layout, &records, &pool, &Cancel::default()).expect("a table");
            assert!((0..table.all()).all(|at| table.mistake(at, &records).is_none()));
            let slots = layout.slots as usize;
            let taken = (0..table.all()).filter(|&at| id_of(table.slot(at).load(Ordering::Relaxed)) != NO_ID);
            let at_home = |at: &usize| {
                layout.home(table.slot(*at).load(Ordering::Relaxed) as u32) == (at / slots) as u64
            };
            let (mut all, mut home) = (0, 0);
            taken.for_each(|at| (all, home) = (all + 1, home + usize::from(at_home(&at))));
            let marks =
                (0..table.all()).filter(|&at| table.slot(at).load(Ordering::Relaxed) & MARK != 0).count();
            let (found, missed) = (1.0 - home as f64 / all as f64, marks as f64 / table.all() as f64);
            assert_eq!(all as u64, records.count);
            assert!(found < away && missed < away, "{found} {missed}");
        }
    }
}
