//! What the backends compute with: pools and SIMD of processors, and GPUs by the CUDA driver. Buffers,
//! pools and streams belong to each backend; across backends there is only [`Prepared`].

pub mod alone;
pub mod cpu;
pub mod cuda;

use std::sync::Arc;

use crate::case::{Cancel, Failure, Value, Verdict};

/// The index array with a hash, from whoever keeps it.
pub type Stored<'a> = &'a dyn Fn(&str) -> Result<Arc<Vec<u64>>, Failure>;

/// A case with its arrays in place on the device, ready to be timed.
///
/// Data stays on the device that computes it; nothing here gives access to it except
/// [`read_back`](Prepared::read_back), which the tests and `verify` use at small sizes.
pub trait Prepared {
    /// Executes the primitive `batch` times and returns the seconds of all of them
    /// together. The clock runs inside the workers (or between events), so waking
    /// a pool or a launch queue is not in it.
    fn sample(&mut self, batch: u32) -> Result<f64, Failure>;

    /// Poisons the outputs, executes the primitive once and proves the result on the
    /// device, without a host copy of the data.
    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// Bytes that it holds on the device.
    fn memory(&self) -> u64;

    /// What `auto` and other open parameters became: full key and value, for the record.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Poisons the outputs, executes once and copies the whole output to the host.
    fn read_back(&mut self) -> Result<Vec<u8>, Failure>;
}
