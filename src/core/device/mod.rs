//! The devices of the backends: thread pools and SIMD on CPUs, and GPUs by the CUDA driver. Buffers, pools and
//! streams are specific to a backend; the backends share only [`Prepared`].

pub mod cpu;
pub mod cuda;
pub(crate) mod held;
pub mod timing_lock;

use std::sync::Arc;

use crate::case::{Cancel, Failure, HostMemory, Snapshot, Transfer, Value, Verdict};

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
