//! LRU stack distances, exactly: a line's last access is a mark on a strip of time, and
//! the distance is the number of marks behind it. A Fenwick tree counts them. The strip
//! is not as long as the whole trace but twice as long as there are lines: when it is
//! full, the marks move up. So an access costs O(log lines).

/// Never touched; also the end of what a number of a place may be.
const NONE: u32 = u32::MAX;

/// The lines touched so far, in the order of their last access.
pub struct Stack {
    /// Place of each line's last access.
    last: Vec<u32>,
    /// Whose mark is at a place.
    owner: Vec<u32>,
    /// Fenwick tree over the marks, from 1.
    marks: Vec<u32>,
    /// The next free place.
    next: usize,
    cold: u64,
    /// Whether a line has been touched again.
    again: Vec<bool>,
}

impl Stack {
    /// For lines numbered below `ids`.
    pub fn new(ids: usize) -> Stack {
        let places = (2 * ids).max(64);
        Stack {
            last: vec![NONE; ids],
            owner: vec![NONE; places],
            marks: vec![0; places + 1],
            next: 0,
            cold: 0,
            again: vec![false; ids],
        }
    }

    /// First accesses so far, which is the number of lines.
    pub fn cold(&self) -> u64 {
        self.cold
    }

    /// Lines that were touched more than once.
    pub fn reused(&self) -> u64 {
        self.again.iter().filter(|&&again| again).count() as u64
    }

    /// The number of other lines touched since the last access to `line`; `None` at the
    /// first one.
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

    /// Takes the gaps out of the strip.
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
        // Node k of the tree covers the places (k − lowest bit of k, k].
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

    /// Marks at the places up to this one.
    fn up_to(&self, place: usize) -> u32 {
        let (mut node, mut sum) = (place + 1, 0);
        while node > 0 {
            sum += self.marks[node];
            node &= node - 1;
        }
        sum
    }
}
