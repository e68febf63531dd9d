//! The distances that a method defers: from `base` on in buckets of Δ each, the last of which holds all that are farther.
//!
//! The vertices of the present bucket are relaxed until none is left. Then comes the next bucket; when only the last is
//! left, the window moves to the least distance there, and the vertices in the last bucket are distributed again. With two
//! buckets this is near-far, with one Bellman-Ford.

use crate::inputs::graph::UNREACHED;

/// The distances that are relaxed at present, and those of the buckets behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    delta: u64,
    buckets: u32,
    base: u64,
    bucket: u32,
}

impl Window {
    /// From distance 0 on.
    pub fn new(delta: u32, buckets: u32) -> Window {
        Window { delta: delta.max(1).into(), buckets: buckets.max(1), base: 0, bucket: 0 }
    }

    /// The end of the distances that are relaxed at present.
    pub fn limit(&self) -> u32 {
        match self.buckets {
            1 => UNREACHED,
            _ => (self.base + self.delta * u64::from(self.bucket + 1)).min(UNREACHED.into()) as u32,
        }
    }

    /// The bucket of a distance that is not below the base.
    pub fn bucket_of(&self, distance: u32) -> u32 {
        // A division of 32 bits, because each vertex that waits takes one; a distance is not below the base.
        ((distance - self.base as u32) / self.delta as u32).min(self.buckets - 1)
    }

    /// The bucket that is relaxed at present.
    pub fn bucket(&self) -> u32 {
        self.bucket
    }

    /// The last bucket, which holds the rest.
    pub fn last(&self) -> u32 {
        self.buckets - 1
    }

    /// Goes on to a bucket.
    pub fn go_on(&mut self, bucket: u32) {
        self.bucket = bucket;
    }

    /// Moves to the least of the distances of the last bucket.
    pub fn move_to(&mut self, least: u32) {
        self.base = u64::from(least) / self.delta * self.delta;
        self.bucket = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_as_wide_as_delta_and_the_last_holds_the_rest() {
        let mut window = Window::new(10, 3);
        assert_eq!([0, 9, 10, 19, 20, u32::MAX - 1].map(|d| window.bucket_of(d)), [0, 0, 1, 1, 2, 2]);
        assert_eq!((window.limit(), window.last()), (10, 2));
        window.go_on(1);
        assert_eq!((window.limit(), window.bucket()), (20, 1));
        window.move_to(47);
        assert_eq!((window.limit(), window.bucket_of(59), window.bucket_of(60)), (50, 1, 2));
        assert_eq!(Window::new(10, 1).limit(), UNREACHED);
        window.move_to(UNREACHED - 1);
        assert_eq!(window.limit(), UNREACHED);
    }
}
