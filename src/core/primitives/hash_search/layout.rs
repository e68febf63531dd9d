//! How a bucketed hash table lies in memory; the twin of `kernels/hash_search/table.cuh`. Pure.
//!
//! A bucket is a sector (32 bytes, 4 slots) or two (64 bytes, 8 slots), and a slot is a 64-bit word: the key in the
//! lower half, the record's id in 31 bits above it, and a mark in the top bit. A record is in the bucket that its
//! hash selects, its *home*, or in its *alternative*, which a second hash selects in the same region of about 4 MiB,
//! or, if moving records about has not made room there, in the first bucket behind the alternative that has room.
//!
//! A record that is not at home leaves a mark in each bucket that a search visits before its own: the mark of one
//! of the slots, which the second hash selects. A search therefore goes on only if the mark of its key is set, and
//! most keys that the table does not have are answered by one bucket. Behind the slots, a last word holds the *reach*:
//! the most buckets that a search for any record visits, 2 unless some record is behind its alternative.
//!
//! When home and alternative of a record are full, a record there gives way: one whose other bucket has room, if there
//! is one, or one that is not at home, if there is one. With eight slots filled to 99 %, 23 % of the records are away
//! from home then, against 45 % if any record gives way.

use crate::inputs::mix::mix32;

/// Slots of a region of a large table.
const REGION_SLOTS: u64 = 1 << 19;

/// The id of an empty slot.
pub const NO_ID: u32 = 0x7FFF_FFFF;

/// The mark of a slot.
pub const MARK: u64 = 1 << 63;

/// Added to a key's hash before it is hashed again.
const AGAIN: u32 = 0x9E37_79B9;

/// The reach of a table in which every record is at home or in its alternative.
pub const LEAST_REACH: u64 = 2;

/// Records that an insertion moves before it looks for room behind its alternative.
pub const MOST_MOVES: u32 = 500;

/// The shape of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Slots per bucket, 4 or 8.
    pub slots: u32,
    /// Buckets per region.
    pub per_region: u32,
    pub regions: u32,
}

/// The buckets in which a key may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first bucket of the region.
    pub base: u64,
    /// The home and the alternative, from there.
    pub home: u32,
    pub other: u32,
    /// The slot whose mark is the key's.
    pub mark: u32,
}

/// A record's word in a slot without a mark.
pub fn slot_word(key: u32, id: u32) -> u64 {
    u64::from(id) << 32 | u64::from(key)
}

/// The id in a slot's word.
pub fn id_of(word: u64) -> u32 {
    (word >> 32) as u32 & NO_ID
}

#[inline(always)]
fn scale32(word: u32, n: u32) -> u32 {
    ((u64::from(word) * u64::from(n)) >> 32) as u32
}

impl Layout {
    /// The table for some records in buckets of `bytes` bytes, filled to at most `load`.
    pub fn new(records: u64, load: f64, bytes: u64) -> Layout {
        let slots = bytes / 8;
        // One multiplication and one division in f64 are the same on every machine.
        let buckets = ((records as f64 / (slots as f64 * load)).ceil() as u64).max(1);
        let regions = (buckets / (REGION_SLOTS / slots)).max(1);
        let per_region = buckets.div_ceil(regions);
        Layout { slots: slots as u32, per_region: per_region as u32, regions: regions as u32 }
    }

    /// Buckets in all.
    pub fn buckets(&self) -> u64 {
        u64::from(self.per_region) * u64::from(self.regions)
    }

    /// Slots in all.
    pub fn all_slots(&self) -> u64 {
        self.buckets() * u64::from(self.slots)
    }

    /// Bytes of a bucket.
    pub fn bucket(&self) -> u64 {
        8 * u64::from(self.slots)
    }

    /// Bytes of the table, with the reach behind its slots.
    pub fn bytes(&self) -> u64 {
        8 * (self.all_slots() + 1)
    }

    /// The bucket of a key's home.
    #[inline(always)]
    pub fn home(&self, key: u32) -> u64 {
        let place = u64::from(mix32(key)) * u64::from(self.regions);
        (place >> 32) * u64::from(self.per_region) + u64::from(scale32(place as u32, self.per_region))
    }

    /// The buckets of a key.
    #[inline(always)]
    pub fn place(&self, key: u32) -> Place {
        let (hash, n) = (mix32(key), self.per_region);
        let (place, again) = (u64::from(hash) * u64::from(self.regions), mix32(hash.wrapping_add(AGAIN)));
        let home = scale32(place as u32, n);
        let beside = home + 1 + scale32(again, n - 1);
        Place {
            base: (place >> 32) * u64::from(n),
            home,
            // A region of one bucket has no other.
            other: if beside >= n { beside - n } else { beside },
            mark: again & (self.slots - 1),
        }
    }

    /// The bucket that a search visits after `step` others.
    #[inline(always)]
    pub fn visit(&self, place: &Place, step: u32) -> u64 {
        let inside = match step {
            0 => place.home,
            _ => {
                let on = u64::from(place.other) + u64::from(step) - 1;
                if on >= u64::from(self.per_region) {
                    (on - u64::from(self.per_region)) as u32
                } else {
                    on as u32
                }
            }
        };
        place.base + u64::from(inside)
    }

    /// The most buckets that a search visits: the home, and all buckets of the region from the alternative on.
    pub fn most_visits(&self) -> u32 {
        self.per_region + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_room_and_regions_of_similar_size() {
        for (records, load, bytes) in
            [(1, 0.99, 64), (33, 0.99, 32), (1 << 20, 0.8, 64), ((1 << 28) + 1, 0.99, 64)]
        {
            let layout = Layout::new(records, load, bytes);
            assert!(layout.all_slots() >= records);
            assert!(layout.bytes() <= (1.001 * (8 * records) as f64 / load) as u64 + 2 * bytes, "{layout:?}");
            assert!(u64::from(layout.per_region) * u64::from(layout.slots) < 2 * REGION_SLOTS + 8);
        }
    }

    #[test]
    fn a_search_visits_every_bucket_of_its_region() {
        for records in [1, 9, 17, 100, 1 << 21] {
            let layout = Layout::new(records, 0.9, 64);
            for key in [0, 1, 77, u32::MAX] {
                let place = layout.place(key);
                assert_eq!(layout.visit(&place, 0), layout.home(key));
                let visited = (0..layout.most_visits()).map(|step| layout.visit(&place, step));
                let mut visited: Vec<u64> = visited.collect();
                visited.sort_unstable();
                visited.dedup();
                assert_eq!(visited.len(), layout.per_region as usize);
                assert!(*visited.last().expect("a bucket") < layout.buckets());
                assert!(layout.per_region == 1 || place.home != place.other);
            }
        }
    }
}
