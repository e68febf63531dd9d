//! Timing of queued work by events, behind a gate that holds back the stream until all of it is queued.
//!
//! A launch takes the host several microseconds, longer than many kernels run, and that time varies with the host's
//! load. As in NVBench, a single-thread kernel is therefore queued first, which waits for a word in page-locked
//! memory; the work queued after it then runs without gaps.

use std::sync::PoisonError;

use cust::event::{Event, EventFlags};
use cust::memory::LockedBuffer;

use super::check;
use super::gpu::Gpu;
use super::kernel::Arg;
use crate::case::Failure;
use crate::device::cuda::GATE;
use crate::device::timing_lock;

/// Nanoseconds after which the gate kernel gives up: enough for about a thousand launches. The driver's queue holds
/// about a thousand; a host that queues more waits for the device.
const LIMIT: u64 = 5_000_000;

impl Gpu {
    /// Seconds between two events on the stream, around the operations queued by `work`. Waits for all of them;
    /// operations queued earlier are completed first and not counted.
    ///
    /// The device starts after everything is queued, so that the host's launch overhead is excluded. If there are more
    /// launches than the driver's queue holds, about a thousand, the host still queues the last ones while the first
    /// ones run.
    ///
    /// First waits until the driver has cleared previously freed memory, and until no kernel is being [compiled
    /// ahead](super::Ahead); compilation in turn waits for the end of the timing.
    pub fn timed(&self, work: &mut dyn FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
        Ok(self.timed_parts(1, &mut |_| work())?.into_iter().sum())
    }

    /// Like [`timed`](Gpu::timed), but returns the seconds of each of `count` parts, which `work` queues one
    /// after another.
    pub fn timed_parts(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), Failure>,
    ) -> Result<Vec<f64>, Failure> {
        let _alone = timing_lock::timing();
        self.wait_for_own_work()?;
        let event = |_| check("cuEventCreate", Event::new(EventFlags::DEFAULT));
        let events = (0..=count).map(event).collect::<Result<Vec<_>, _>>()?;
        let stream = &self.inner.stream;
        self.at_once(|| {
            events.iter().enumerate().try_for_each(|(part, event)| {
                check("cuEventRecord", event.record(stream))?;
                if part < count { work(part) } else { Ok(()) }
            })
        })?;
        let seconds = |pair: &[Event]| -> Result<f64, Failure> {
            check("cuEventSynchronize", pair[1].synchronize())?;
            let milliseconds = check("cuEventElapsedTime", pair[1].elapsed_time_f32(&pair[0]))?;
            Ok(f64::from(milliseconds) * 1e-3)
        };
        events.windows(2).map(seconds).collect()
    }

    /// Runs `work`; the operations that it queues start only after it has returned, unless it takes longer than the
    /// limit.
    fn at_once<T>(&self, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
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
