//! The devices of the backends: thread pools and SIMD on CPUs, and GPUs by the CUDA driver. Buffers, pools and
//! streams are specific to a backend; the backends share only [`Prepared`], and the count of the memory that a case holds.

pub mod cpu;
pub mod cuda;
pub mod timing_lock;

use std::cell::Cell;
use std::sync::Arc;

use crate::case::units::fmt_size;
use crate::case::{Cancel, Failure, HostMemory, Snapshot, Transfer, Value, Verdict};
use crate::inputs::shared::Contents;

/// Looks up an index array by its hash.
pub type Stored<'a> = &'a dyn Fn(&str) -> Result<Arc<Vec<u64>>, Failure>;

/// A case with its arrays allocated on the device, ready to be timed.
///
/// Data stays on the device; the only access to it is [`read_back`](Prepared::read_back), which the tests and
/// `verify` use at small sizes.
pub trait Prepared {
    /// Executes the primitive `batch` times and returns the total seconds. The clock is read inside the workers
    /// (or between events), so waking up a pool or a launch queue is not included.
    fn sample(&mut self, batch: u32) -> Result<f64, Failure>;

    /// Poisons the outputs and resets what executions accumulate, so that [`judge`](Prepared::judge) sees only what
    /// the samples from now on leave.
    fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure>;

    /// Judges on the device what the samples since [`clear`](Prepared::clear) have left.
    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// Poisons the outputs, executes the primitive once and certifies the result on the device, without a host copy of
    /// the data. Also makes the executions that prove what an output cannot show.
    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// The largest error that the certificate lets pass, relative to what the primitive's documentation says; 0 if it demands
    /// equality.
    fn tolerance(&self) -> f64 {
        0.0
    }

    /// Bytes allocated on the device.
    fn memory(&self) -> u64;

    /// Values chosen for `auto` and other open parameters, as full keys and values, for the record.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Times the transfer of the inputs to the device and of the results back, whose bytes the case declares; `None`
    /// if there is no transfer to time: on processors, for peers, and on several GPUs.
    fn transfer(&mut self, _declared: [u64; 2], _memory: HostMemory) -> Result<Option<Transfer>, Failure> {
        Ok(None)
    }

    /// A picture of what the executions have computed so far; `None` if the case has none to show. Called between
    /// samples, never while one is timed, at most four times a second, and only if a client asks for pictures. What is
    /// timed and judged afterwards must not depend on it.
    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        Ok(None)
    }

    /// Disturbs what is computed at place `(x, y)` of the picture, in [0, 1)², like a stone that falls into water;
    /// `false` if the case has nothing to disturb. Called like [`snapshot`](Prepared::snapshot). What the case judges
    /// must take the disturbance into account.
    fn disturb(&mut self, _at: (f64, f64)) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Poisons the outputs, executes once and copies the whole output to the host.
    fn read_back(&mut self) -> Result<Vec<u8>, Failure>;
}

thread_local! {
    /// Bytes of the arrays that this thread has allocated, less those that it has freed, which another thread may have
    /// allocated.
    static BYTES: Cell<i64> = const { Cell::new(0) };
    /// The most that `BYTES` may become, if there is a limit.
    static LIMIT: Cell<Option<i64>> = const { Cell::new(None) };
}

/// The share of one array in the count, until it is dropped. Buffers contain one; a job that keeps a vector adds one.
///
/// Counts the memory that a case holds: the bytes of the arrays that its preparation allocates and does not free.
/// Every allocation counts itself; there is no other list of a case's arrays.
#[derive(Debug)]
pub(crate) struct Held(u64);

impl Held {
    pub fn new(bytes: u64) -> Held {
        BYTES.set(BYTES.get().wrapping_add_unsigned(bytes));
        Held(bytes)
    }

    /// Counts an array in host memory, whose pages are taken only at their first use, so that the limit is checked
    /// instead.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if the case's arrays exceed what was available before the first one.
    pub fn in_host_memory(bytes: u64) -> Result<Held, Failure> {
        let now = BYTES.get();
        let Some(limit) = LIMIT.get() else { return Ok(Held::new(bytes)) };
        match now.checked_add_unsigned(bytes) {
            Some(all) if all <= limit => Ok(Held::new(bytes)),
            _ => Err(too_large(bytes, limit.saturating_sub(now).max(0) as u64)),
        }
    }
}

/// A shared input that a case uses, and its share in the count of the case's memory.
pub struct Counted<T> {
    contents: Arc<T>,
    _held: Held,
}

impl<T: Contents> Counted<T> {
    /// Counts a shared input as memory of the case that is prepared, whether the case has made it or found it.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if it does not fit beside the case's arrays.
    pub fn of(contents: Arc<T>) -> Result<Counted<T>, Failure> {
        let held = Held::in_host_memory(contents.bytes())?;
        Ok(Counted { contents, _held: held })
    }
}

impl<T> std::ops::Deref for Counted<T> {
    type Target = Arc<T>;

    fn deref(&self) -> &Arc<T> {
        &self.contents
    }
}

/// The refusal of a case for lack of memory.
fn too_large(bytes: u64, free: u64) -> Failure {
    Failure::NotApplicable(format!("needs {}, {} free", fmt_size(bytes), fmt_size(free)))
}

impl Drop for Held {
    fn drop(&mut self) {
        BYTES.set(BYTES.get().wrapping_sub_unsigned(self.0));
    }
}

/// Runs `prepare`; returns its result, and the bytes of the arrays that it has allocated and not freed. It must
/// allocate and free on the calling thread, and may take at most `available` bytes of host memory.
fn held_by<T>(available: Option<u64>, prepare: impl FnOnce() -> T) -> (T, u64) {
    let before = BYTES.get();
    LIMIT.set(available.map(|available| before.saturating_add_unsigned(available)));
    let prepared = prepare();
    LIMIT.set(None);
    (prepared, BYTES.get().wrapping_sub(before) as u64)
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
        // An array that another thread has allocated and this one frees; then one that nobody checks against the
        // limit.
        drop(std::thread::spawn(|| Held::new(1000)).join());
        assert_eq!(both(40), Ok(()));
        let unchecked = || (Held::new(200), Held::in_host_memory(1).map(drop)).1;
        let refused = Err(Failure::NotApplicable("needs 1 B, 0 B free".to_owned()));
        assert_eq!(held_by(Some(100), unchecked).0, refused);
    }
}
