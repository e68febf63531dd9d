//! A bound on what is kept of an engine's chatter: lines that are no events, messages, and events by which the plan
//! does not advance.

/// Most lines kept between two steps of progress.
const MOST: u32 = 200;

/// Counts the lines since the plan last advanced.
#[derive(Debug)]
pub(super) struct Noise {
    left: u32,
    dropped: u64,
}

impl Noise {
    pub fn new() -> Noise {
        Noise { left: MOST, dropped: 0 }
    }

    /// Whether to keep one more line.
    pub fn takes(&mut self) -> bool {
        let takes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        self.dropped += u64::from(!takes);
        takes
    }

    /// The plan advances: further lines are kept, and the text says how many were not.
    pub fn refill(&mut self) -> Option<String> {
        let Noise { dropped, .. } = std::mem::replace(self, Noise::new());
        (dropped > 0).then(|| {
            format!(
                "{dropped} lines of the engine were dropped: {MOST} are kept while its plan does not advance"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_bound_is_counted_and_told_once() {
        let mut noise = Noise::new();
        assert_eq!((0..MOST + 7).filter(|_| noise.takes()).count(), MOST as usize);
        assert!(noise.refill().is_some_and(|told| told.starts_with("7 lines")));
        assert_eq!((noise.refill(), noise.takes()), (None, true));
    }
}
