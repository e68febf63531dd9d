//! Holding the stream back until all that is to be timed has been queued.
//!
//! A launch takes the host some microseconds, more than many a kernel takes the device, and how
//! many changes with whatever else the host does. So a kernel of one thread goes ahead that waits
//! for a word in page-locked memory, as NVBench has it, and what follows is timed without gaps.

use std::sync::PoisonError;

use cust::memory::LockedBuffer;

use super::error::check;
use super::gpu::Gpu;
use crate::case::Failure;
use crate::device::cuda::GATE;

/// Nanoseconds after which the kernel gives up: time for some thousand launches. The driver holds
/// about a thousand, and whoever queues more waits for the device.
const LIMIT: u64 = 5_000_000;

impl Gpu {
    /// Queues what `work` queues as if all of it had come at once. Nothing of it begins before `work`
    /// has returned, unless that takes longer than the limit.
    pub(super) fn at_once<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let gate = self.module(GATE.0)?.kernel(GATE.1)?;
        let mut word = self.inner.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let word = match &mut *word {
            Some(word) => word,
            none => none.insert(check("cuMemAllocHost", LockedBuffer::new(&0_u32, 1))?),
        };
        let mut set = |value| {
            let word: *mut u32 = word.as_mut_slice().as_mut_ptr();
            // SAFETY: the word is ours while the lock is held, and the device only reads it.
            unsafe { word.write_volatile(value) };
            word as u64
        };
        let address = set(0);
        self.launch(&gate, 1, 1, 0, &[(&address).into(), (&LIMIT).into()])?;
        let done = work();
        set(1);
        done
    }
}
