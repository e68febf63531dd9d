//! The memory that a case holds: the bytes of the arrays that its preparation allocates and does not free. Allocating them is
//! the only list of them that there is.

use std::cell::Cell;

use crate::case::Failure;
use crate::case::units::fmt_size;

thread_local! {
    /// Bytes of the arrays that this thread has allocated, less those that it has freed.
    static BYTES: Cell<u64> = const { Cell::new(0) };
    /// How many they may become.
    static LIMIT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// An array's part of the count, until it is dropped. Buffers have theirs; a job that keeps a vector adds one.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    pub fn new(bytes: u64) -> Held {
        BYTES.set(BYTES.get().wrapping_add(bytes));
        Held(bytes)
    }

    /// The same for an array in host memory, which is not taken before its first use.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if the case's arrays exceed what was available before the first one.
    pub fn in_host_memory(bytes: u64) -> Result<Held, Failure> {
        let (now, limit) = (BYTES.get(), LIMIT.get());
        match now.checked_add(bytes) {
            Some(all) if all <= limit => Ok(Held::new(bytes)),
            _ => Err(too_large(bytes, limit - now)),
        }
    }
}

/// The refusal of a case for lack of memory.
pub(super) fn too_large(bytes: u64, free: u64) -> Failure {
    Failure::NotApplicable(format!("needs {}, {} free", fmt_size(bytes), fmt_size(free)))
}

impl Drop for Held {
    fn drop(&mut self) {
        BYTES.set(BYTES.get().wrapping_sub(self.0));
    }
}

/// What `prepare` returns, and the bytes of the arrays that it has allocated and not freed. It must do both on the calling
/// thread, and no more in host memory than is `available`.
pub(super) fn held_by<T>(available: Option<u64>, prepare: impl FnOnce() -> T) -> (T, u64) {
    let before = BYTES.get();
    LIMIT.set(available.map_or(u64::MAX, |available| before.saturating_add(available)));
    let prepared = prepare();
    LIMIT.set(u64::MAX);
    (prepared, BYTES.get().wrapping_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_count_until_they_are_freed() {
        let (kept, bytes) = held_by(None, || {
            drop(Held::new(100));
            [Held::new(7), Held::new(1 << 40)]
        });
        assert_eq!((kept.len(), bytes), (2, 7 + (1 << 40)));
        assert_eq!(held_by(None, || drop(kept)).1, bytes.wrapping_neg());
        assert_eq!(held_by(None, || ()).1, 0);
    }

    #[test]
    fn arrays_must_fit_together() {
        let both = |bytes: u64| {
            let array = |bytes| Held::in_host_memory(bytes);
            held_by(Some(100), || array(60).and_then(|_first| array(bytes).map(drop))).0
        };
        assert_eq!(both(40), Ok(()));
        assert_eq!(both(41), Err(Failure::NotApplicable("needs 41 B, 40 B free".to_owned())));
        assert!(both(u64::MAX).is_err());
    }
}
