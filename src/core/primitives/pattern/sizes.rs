//! The sizes of a pattern case: the extents of its arrays, and the count that follows from a footprint or a
//! traffic.

use super::spec::{Given, Kernel, Spec};
use super::starts::Starts;
use crate::case::{IndexPattern, Refusal, params};
use crate::inputs::permutation::MAX_ELEMENTS;

impl Spec {
    /// Words of the dense side, P·wrap; 0 for gs, which has none.
    pub fn dense_words(&self) -> u64 {
        if self.kernel == Kernel::Gs { 0 } else { self.length() * self.wrap }
    }

    /// Words of the sparse array, for gs the destination: max(p) + the start of the last use + 1.
    pub fn sparse_words(&self) -> u64 {
        let pattern = if self.kernel == Kernel::Gs { &self.scatter } else { &self.pattern };
        extent(pattern, &self.starts(), self.count)
    }

    /// Words of the sparse source of gs; 0 for the other kernels.
    pub fn source_words(&self) -> u64 {
        match self.kernel {
            Kernel::Gs => extent(&self.gather, &self.source_starts(), self.count),
            _ => 0,
        }
    }

    /// Bytes per start if starts are read from an array: 4 if the farthest start fits, else 8.
    pub fn base_bytes(&self) -> u64 {
        let far = |(_, starts): (u64, Starts)| starts.of(self.count - 1);
        let fits = |far: u64| far <= u64::from(u32::MAX);
        if self.sides().into_iter().map(far).all(fits) { 4 } else { 8 }
    }

    /// Bytes of the arrays of starts: there are none, one or, for gs, two.
    pub fn bases_bytes(&self) -> u64 {
        let sides = if self.kernel == Kernel::Gs { 2 } else { 1 };
        if self.based() { sides * self.base_bytes() * self.count } else { 0 }
    }

    /// The sparse arrays (for gs the source, then the destination), each as its largest index and the starts of
    /// its uses.
    pub(super) fn sides(&self) -> Vec<(u64, Starts)> {
        match self.kernel {
            Kernel::Gs => {
                vec![(self.gather.largest(), self.source_starts()), (self.scatter.largest(), self.starts())]
            }
            _ => vec![(self.pattern.largest(), self.starts())],
        }
    }

    pub(super) fn resolve_count(&self, given: &Given) -> Result<u64, Refusal> {
        let more = |key| Err(Refusal::invalid(key, "give only one of count, footprint and traffic"));
        match (given.count, given.footprint, given.traffic) {
            (Some(0), None, None) => Err(Refusal::invalid("count", "must be at least 1")),
            (Some(count), None, None) => Ok(count),
            (None, Some(bytes), None) => self.count_in_footprint(bytes),
            (None, None, Some(bytes)) => match bytes / self.bytes_each() {
                0 => Err(Refusal::invalid("traffic", format!("one use moves {} bytes", self.bytes_each()))),
                count => Ok(count),
            },
            (None, None, None) => Err(Refusal::invalid("count", "give one of count, footprint and traffic")),
            (Some(_), Some(_), _) => more("footprint"),
            _ => more("traffic"),
        }
    }

    /// The largest count with which every sparse array stays within `bytes`.
    fn count_in_footprint(&self, bytes: u64) -> Result<u64, Refusal> {
        let mut count: Option<u64> = None;
        for (largest, starts) in self.sides() {
            let room = (bytes / 8).checked_sub(1).and_then(|words| words.checked_sub(largest));
            let small =
                || format!("the pattern's largest index is {largest}: one use needs more than {bytes} bytes");
            let room = room.ok_or_else(|| Refusal::invalid("footprint", small()))?;
            count = count.into_iter().chain(starts.up_to(room)).min();
        }
        let endless = "with a delta of 0, the footprint does not depend on the count: give count or traffic";
        count.ok_or_else(|| Refusal::invalid("footprint", endless))
    }

    pub(super) fn check_sizes(&self) -> Result<(), Refusal> {
        for (largest, starts) in self.sides() {
            let words = starts
                .checked_of(self.count - 1)
                .and_then(|far| far.checked_add(largest))
                .and_then(|x| x.checked_add(1));
            params::bytes("count", &[words.unwrap_or(u64::MAX), 8])?;
        }
        params::bytes("count", &[self.bytes_each(), self.count])?;
        if self.shuffled && self.count > MAX_ELEMENTS {
            return Err(Refusal::invalid("visits", format!("at most {MAX_ELEMENTS} uses can be shuffled")));
        }
        if self.wrap == 0 {
            return Err(Refusal::invalid("wrap", "must be at least 1"));
        }
        if self.kernel == Kernel::Gs && self.wrap != 1 {
            return Err(Refusal::invalid("wrap", "gs has no dense side to wrap"));
        }
        params::bytes("wrap", &[self.length(), self.wrap, 8]).map(drop)
    }
}

/// Words from the first to the last one that a pattern can touch. Sizes are checked when a spec is made, so
/// this does not overflow.
fn extent(pattern: &IndexPattern, starts: &Starts, count: u64) -> u64 {
    pattern.largest() + starts.of(count - 1) + 1
}
