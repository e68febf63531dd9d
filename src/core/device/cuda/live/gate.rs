//! A gate that holds back the stream until all work to be timed is queued.
//!
//! A launch takes the host several microseconds, longer than many kernels run, and that time varies with the host's
//! load. As in NVBench, a single-thread kernel is therefore queued first, which waits for a word in page-locked
//! memory; the work queued after it then runs without gaps.

use std::sync::PoisonError;

use cust::memory::LockedBuffer;

use super::check;
use super::gpu::Gpu;
use super::kernel::Arg;
use crate::case::Failure;
use crate::device::cuda::GATE;

/// Nanoseconds after which the gate kernel gives up: enough for about a thousand launches. The driver's queue holds
/// about a thousand; a host that queues more waits for the device.
const LIMIT: u64 = 5_000_000;

impl Gpu {
    /// Runs `work`; the operations that it queues start only after it has returned, unless it takes longer than the
    /// limit.
    pub(super) fn at_once<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let gate = self.module(GATE.0)?.kernel(GATE.1)?;
        let mut word = self.inner.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let word = match &mut *word {
            Some(word) => word,
            none => none.insert(check("cuMemAllocHost", LockedBuffer::new(&0_u32, 1))?),
        };
        let mut set = |value| {
            let word: *mut u32 = word.as_mut_slice().as_mut_ptr();
            // SAFETY: the lock gives exclusive access on the host, and the device only reads the word.
            unsafe { word.write_volatile(value) };
            word as u64
        };
        let address = set(0);
        self.launch(&gate, 1, 1, 0, &[Arg::new(&address), Arg::new(&LIMIT)])?;
        let done = work();
        set(1);
        done
    }
}
