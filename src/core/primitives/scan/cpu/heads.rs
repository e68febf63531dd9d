//! The segment heads as they lie in memory, and their conversion to one bit per element for a tile.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::case::{Cancel, Failure};
use crate::device::cpu::{Buffer, CacheLineSlot, Pool, Worker, part};
use crate::primitives::scan::segments::{CHUNK, Heads, Segments};

/// The segments of a case in memory.
pub struct Array {
    pub heads: Heads,
    buffer: Buffer,
    elements: usize,
    segments: usize,
    /// Elements of a tile, a power of two.
    tile: usize,
    /// For [`Heads::Lengths`]: the first segment that begins in a tile or behind it, and the element at which
    /// it begins.
    starts: Vec<[AtomicU64; 2]>,
    /// The sum of each worker's lengths.
    sums: Vec<CacheLineSlot>,
}

impl Array {
    /// Allocates the heads and fills them with the workers of `pool`.
    pub fn new(
        heads: Heads,
        segments: &Segments,
        tile: usize,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Array, Failure> {
        let (n, count) = (segments.elements, segments.count().unwrap_or(0));
        let (entry, entries) = heads.entries(n, count);
        let lengths = heads == Heads::Lengths;
        let tiles = if lengths { (n as usize).div_ceil(tile) } else { 0 };
        let mut array = Array {
            heads,
            buffer: Buffer::new((entry * entries) as usize)?,
            elements: n as usize,
            segments: count as usize,
            tile,
            starts: (0..tiles).map(|_| Default::default()).collect(),
            sums: (0..pool.threads()).map(|_| CacheLineSlot::default()).collect(),
        };
        array.fill(segments, pool, cancel)?;
        Ok(array)
    }

    fn fill(&mut self, segments: &Segments, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let elements = self.elements;
        let pointer = |j: usize| segments.pointer(j as u64).unwrap_or(0);
        let head = |i: usize| i < elements && segments.head(i as u64);
        match self.heads {
            Heads::Bits => {
                self.words(pool, cancel, |w| (0..32).map(|b| u32::from(head(32 * w + b)) << b).sum())
            }
            Heads::Striped => self.words(pool, cancel, |w| {
                let (chunk, column) = (w * 4 / CHUNK as usize * CHUNK as usize, w % 32);
                (0..4).map(|row| u32::from(head(chunk + row * 32 + column)) << (8 * row)).sum()
            }),
            Heads::Lengths => self.words(pool, cancel, |j| (pointer(j + 1) - pointer(j)) as u32),
            Heads::Pointers => self.words(pool, cancel, |j| pointer(j) as u32),
            Heads::Bytes => pool.fill(&mut self.buffer, elements, cancel, |i| u8::from(head(i))),
        }
    }

    fn words(
        &mut self,
        pool: &Pool,
        cancel: &Cancel,
        word: impl Fn(usize) -> u32 + Sync,
    ) -> Result<(), Failure> {
        let words = self.buffer.holds::<u32>();
        pool.fill(&mut self.buffer, words, cancel, word)
    }

    /// A worker's share of the preparation before tiles are read: for lengths, finds the segments that begin in
    /// each tile. All workers must call this.
    pub fn begin(&self, worker: Worker) {
        if self.heads != Heads::Lengths {
            return;
        }
        let mine = part(self.segments, worker.index, worker.count);
        let lengths = self.entries();
        let sum: u64 = lengths[mine.clone()].iter().map(|&length| u64::from(length)).sum();
        self.sums[worker.index].0.store(sum, Ordering::Relaxed);
        worker.meet();
        let before: u64 = self.sums[..worker.index].iter().map(|sum| sum.0.load(Ordering::Relaxed)).sum();
        self.note_starts(mine, before as usize);
        worker.meet();
    }

    fn entries(&self) -> &[u32] {
        // SAFETY: nobody writes after `fill`.
        unsafe { self.buffer.read::<u32>(0..self.segments) }
    }

    /// Notes the starts of the segments `mine`, the first of which begins at `position`.
    fn note_starts(&self, mine: Range<usize>, mut position: usize) {
        let lengths = self.entries();
        let tile_of = |position: usize| position >> self.tile.trailing_zeros();
        let note = |from: usize, to: usize, segment: usize, position: usize| {
            for [first, at] in &self.starts[from.min(self.starts.len())..to.min(self.starts.len())] {
                first.store(segment as u64, Ordering::Relaxed);
                at.store(position as u64, Ordering::Relaxed);
            }
        };
        // Tiles below this one are already noted.
        let mut known = match mine.start {
            0 => 0,
            segment => tile_of(position - lengths[segment - 1] as usize) + 1,
        };
        for segment in mine.clone() {
            let tile = tile_of(position);
            if tile >= known {
                note(known, tile + 1, segment, position);
                known = tile + 1;
            }
            position += lengths[segment] as usize;
        }
        if mine.end == self.segments {
            note(known, self.starts.len(), self.segments, self.elements);
        }
    }

    /// Flags as bits, for the elements of `range` and the one behind it: bit i from the returned pointer is the
    /// flag of element i. `range` begins where a tile begins and lies inside that tile; `room` has [`room`]
    /// words.
    pub fn bits(&self, range: Range<usize>, room: &mut [u64]) -> *const u8 {
        let end = (range.end + 1).min(self.elements);
        let range = range.start..end.max(range.start);
        match self.heads {
            Heads::Bits => return self.buffer.ptr(),
            Heads::Bytes => self.of_bytes(range.clone(), room),
            Heads::Striped => self.of_stripes(range.clone(), room),
            Heads::Lengths => self.of_lengths(range.clone(), room),
            Heads::Pointers => self.of_pointers(range.clone(), room),
        }
        room.as_ptr().cast::<u8>().wrapping_sub(range.start / 8)
    }

    fn of_bytes(&self, range: Range<usize>, room: &mut [u64]) {
        let whole = range.len() / 64;
        let words = self.buffer.ptr::<u8>().wrapping_add(range.start).cast::<u64>();
        for (k, to) in room.iter_mut().take(whole).enumerate() {
            // SAFETY: whole words of the range, aligned because tiles are.
            *to = (0..8).map(|b| packed(unsafe { words.add(8 * k + b).read() }) << (8 * b)).sum();
        }
        // SAFETY: the bytes of the range.
        let rest = unsafe { self.buffer.read::<u8>(range.start + whole * 64..range.end) };
        room[whole] = rest.iter().enumerate().map(|(b, &flag)| u64::from(flag) << b).sum();
    }

    fn of_stripes(&self, range: Range<usize>, room: &mut [u64]) {
        let chunk = CHUNK as usize;
        for (k, to) in room.chunks_exact_mut(2).take(range.len().div_ceil(chunk)).enumerate() {
            let at = (range.start + k * chunk) / 4;
            // SAFETY: the array has whole chunks.
            let words = unsafe { self.buffer.read::<u32>(at..at + chunk / 4) };
            // Byte r of the sum over eight columns holds their flags of row r.
            let mut rows = [0u32; 4];
            for (group, columns) in words.chunks_exact(8).enumerate() {
                let flags: u32 = columns.iter().enumerate().map(|(c, word)| word << c).sum();
                for (row, byte) in rows.iter_mut().zip(flags.to_le_bytes()) {
                    *row |= u32::from(byte) << (8 * group);
                }
            }
            to[0] = u64::from(rows[0]) | u64::from(rows[1]) << 32;
            to[1] = u64::from(rows[2]) | u64::from(rows[3]) << 32;
        }
    }

    fn of_lengths(&self, range: Range<usize>, room: &mut [u64]) {
        room.fill(0);
        let [first, at] = &self.starts[range.start >> self.tile.trailing_zeros()];
        let mut position = at.load(Ordering::Relaxed) as usize;
        for &length in &self.entries()[first.load(Ordering::Relaxed) as usize..] {
            if position >= range.end {
                break;
            }
            set(room, position - range.start);
            position += length as usize;
        }
    }

    fn of_pointers(&self, range: Range<usize>, room: &mut [u64]) {
        room.fill(0);
        let pointers = self.entries();
        let first = pointers.partition_point(|&pointer| (pointer as usize) < range.start);
        for &pointer in pointers[first..].iter().take_while(|&&pointer| (pointer as usize) < range.end) {
            set(room, pointer as usize - range.start);
        }
    }
}

/// Words for the bits of a tile, of the element behind it, and of the bytes that a kernel reads beyond.
pub fn room(tile: usize) -> usize {
    tile / 64 + 4
}

fn set(room: &mut [u64], bit: usize) {
    room[bit / 64] |= 1 << (bit % 64);
}

/// Packs the lowest bits of eight bytes that are 0 or 1; the first byte gives the lowest bit.
fn packed(bytes: u64) -> u64 {
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The last head in `range`, where `bits` has a flag for each element.
pub fn last(bits: *const u8, range: Range<usize>) -> Option<usize> {
    let (w, word) = words(bits, range).rfind(|(_, word)| *word != 0)?;
    Some(64 * w + 63 - word.leading_zeros() as usize)
}

/// The first head in `range`.
pub fn first(bits: *const u8, range: Range<usize>) -> Option<usize> {
    let (w, word) = words(bits, range).find(|(_, word)| *word != 0)?;
    Some(64 * w + word.trailing_zeros() as usize)
}

/// The number of flags set in `range`.
pub fn count(bits: *const u8, range: Range<usize>) -> usize {
    words(bits, range).map(|(_, word)| word.count_ones() as usize).sum()
}

/// The indices of the words of a range, each with its flags that lie in the range.
fn words(bits: *const u8, range: Range<usize>) -> impl DoubleEndedIterator<Item = (usize, u64)> {
    let numbers = range.start / 64..range.end.div_ceil(64);
    numbers.map(move |w| (w, within(bits, w, &range)))
}

/// The flags of elements 64w to 64w + 63 that lie in the range.
pub fn within(bits: *const u8, w: usize, range: &Range<usize>) -> u64 {
    // SAFETY: the bits of a tile are in whole words, and those of a case have a guard behind them.
    let word = unsafe { bits.wrapping_add(8 * w).cast::<u64>().read_unaligned() };
    let low = u64::MAX.checked_shl(range.start.saturating_sub(64 * w) as u32).unwrap_or(0);
    let high = u64::MAX.checked_shr((64 * w + 64).saturating_sub(range.end) as u32).unwrap_or(0);
    word & low & high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::scan::segments::{Lengths, striped};

    fn array(heads: Heads, lengths: Lengths, n: u64, tile: usize) -> (Array, Segments, Pool) {
        let pool = Pool::new(None).expect("a pool");
        let segments = Segments::new(lengths, n, 7);
        let array = Array::new(heads, &segments, tile, &pool, &Cancel::default()).expect("memory");
        pool.run(|worker| array.begin(worker));
        (array, segments, pool)
    }

    /// Every representation gives the same flags, tile by tile, including the flag behind a tile.
    #[test]
    fn the_bits_of_tiles_are_the_flags() {
        let all = [Heads::Bits, Heads::Bytes, Heads::Striped, Heads::Lengths, Heads::Pointers];
        let lengths = [1, 3, 700, 100_000].map(|mean| Lengths::Random { mean });
        let sizes = [1u64, 127, 512, 513, 4096, 5000];
        for ((heads, lengths), n) in
            all.into_iter().flat_map(|h| lengths.map(|l| (h, l))).flat_map(|hl| sizes.map(|n| (hl, n)))
        {
            let tile = 512;
            let (array, segments, _pool) = array(heads, lengths, n, tile);
            let mut space = vec![u64::MAX; room(tile)];
            for start in (0..n as usize).step_by(tile) {
                let range = start..(start + tile).min(n as usize);
                let bits = array.bits(range.clone(), &mut space);
                for i in range.start..(range.end + 1).min(n as usize) {
                    // SAFETY: the bit of an element of the range, or the one behind it.
                    let found = unsafe { *bits.wrapping_add(i / 8) } >> (i % 8) & 1 == 1;
                    assert_eq!(found, segments.head(i as u64), "{heads:?} {lengths:?} {n}: {i}");
                }
                let mut inside = range.clone().filter(|&i| segments.head(i as u64));
                assert_eq!(first(bits, range.clone()), inside.clone().next());
                assert_eq!(count(bits, range.clone()), inside.clone().count());
                assert_eq!(last(bits, range), inside.next_back());
            }
        }
    }

    #[test]
    fn stripes_lie_where_the_definition_says() {
        let (array, segments, _pool) = array(Heads::Striped, Lengths::Geometric { mean: 3 }, 300, 512);
        // SAFETY: nobody writes any more.
        let bytes = unsafe { array.buffer.to_vec() };
        for i in 0..300 {
            assert_eq!(bytes[striped(i) as usize] == 1, segments.head(i), "{i}");
        }
        assert_eq!(
            bytes.iter().map(|&b| usize::from(b)).sum::<usize>(),
            (0..300).filter(|&i| segments.head(i)).count()
        );
    }
}
