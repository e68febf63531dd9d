//! Exact LRU stack distances. A line's last access is a mark on a strip of time, and the distance is the number
//! of later marks, counted by a Fenwick tree. The strip is not as long as the trace but only twice the number
//! of lines: when it is full, it is compacted. An access therefore costs O(log lines).

use crate::memory::{self, NoMemory};

/// Marks a line that was never touched or a place without a mark; also the exclusive upper bound of place
/// numbers.
const NONE: u32 = u32::MAX;

/// The lines touched so far, ordered by their last access.
pub struct Stack {
    /// Place of the last access of each line.
    last: Vec<u32>,
    /// Line whose mark is at each place.
    owner: Vec<u32>,
    /// Fenwick tree over the marks, 1-based.
    marks: Vec<u32>,
    /// The next free place.
    next: usize,
    cold: u64,
    /// True if each line was touched again.
    again: Vec<bool>,
}

impl Stack {
    /// For lines with ids below `ids`.
    ///
    /// # Errors
    /// Lines that do not fit into the memory.
    pub fn new(ids: usize) -> Result<Stack, NoMemory> {
        let places = (2 * ids).max(64);
        Ok(Stack {
            last: memory::filled(ids, NONE)?,
            owner: memory::filled(places, NONE)?,
            marks: memory::filled(places + 1, 0)?,
            next: 0,
            cold: 0,
            again: memory::filled(ids, false)?,
        })
    }

    /// Number of first accesses so far, which is the number of lines.
    pub fn cold(&self) -> u64 {
        self.cold
    }

    /// Number of lines touched more than once.
    pub fn reused(&self) -> u64 {
        self.again.iter().filter(|&&again| again).count() as u64
    }

    /// Records an access. Returns the number of distinct other lines touched since the last access to `line`;
    /// `None` at the first access.
    pub fn touch(&mut self, line: usize) -> Option<u64> {
        let place = self.last[line];
        if place == NONE {
            self.cold += 1;
            self.mark(line);
            return None;
        }
        self.again[line] = true;
        let place = place as usize;
        if place + 1 == self.next {
            return Some(0);
        }
        let distance = self.cold - u64::from(self.up_to(place));
        self.owner[place] = NONE;
        self.add(place, false);
        self.mark(line);
        Some(distance)
    }

    fn mark(&mut self, line: usize) {
        if self.next == self.owner.len() {
            self.last[line] = NONE;
            self.move_up();
        }
        self.owner[self.next] = line as u32;
        self.last[line] = self.next as u32;
        self.add(self.next, true);
        self.next += 1;
    }

    /// Compacts the strip.
    fn move_up(&mut self) {
        let mut to = 0;
        for from in 0..self.owner.len() {
            let line = std::mem::replace(&mut self.owner[from], NONE);
            if line != NONE {
                self.owner[to] = line;
                self.last[line as usize] = to as u32;
                to += 1;
            }
        }
        self.next = to;
        // Node k of the tree covers the places (k − lowest set bit of k, k].
        for node in 1..self.marks.len() {
            let first = node - (node & node.wrapping_neg());
            self.marks[node] = (node.min(to) - first.min(to)) as u32;
        }
    }

    fn add(&mut self, place: usize, set: bool) {
        let mut node = place + 1;
        while let Some(marks) = self.marks.get_mut(node) {
            *marks = if set { *marks + 1 } else { *marks - 1 };
            node += node & node.wrapping_neg();
        }
    }

    /// Number of marks up to and including this place.
    fn up_to(&self, place: usize) -> u32 {
        let (mut node, mut sum) = (place + 1, 0);
        while node > 0 {
            sum += self.marks[node];
            node &= node - 1;
        }
        sum
    }
}
