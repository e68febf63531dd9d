//! The memory that a case holds: the bytes of the arrays that its preparation allocates and does not free.

use std::cell::Cell;

thread_local! {
    /// Bytes of the arrays that this thread has allocated, less those that it has freed.
    static BYTES: Cell<u64> = const { Cell::new(0) };
}

/// An array's part of the count, until it is dropped. Buffers have theirs; a job that keeps a vector adds one.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    pub fn new(bytes: u64) -> Held {
        BYTES.set(BYTES.get().wrapping_add(bytes));
        Held(bytes)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        BYTES.set(BYTES.get().wrapping_sub(self.0));
    }
}

/// What `prepare` returns, and the bytes of the arrays that it has allocated and not freed. It must do both on the calling
/// thread.
pub(super) fn held_by<T>(prepare: impl FnOnce() -> T) -> (T, u64) {
    let before = BYTES.get();
    let prepared = prepare();
    (prepared, BYTES.get().wrapping_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_count_until_they_are_freed() {
        let (kept, bytes) = held_by(|| {
            drop(Held::new(100));
            [Held::new(7), Held::new(1 << 40)]
        });
        assert_eq!((kept.len(), bytes), (2, 7 + (1 << 40)));
        assert_eq!(held_by(|| drop(kept)).1, bytes.wrapping_neg());
        assert_eq!(held_by(|| ()).1, 0);
    }
}
