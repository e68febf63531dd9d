//! Copies between host and device memory, as made by a program whose data are on the host.

use std::ffi::c_void;
use std::time::Instant;

use cust::memory::LockedBuffer;
use cust::sys;

use super::buffer::DeviceBuffer;
use super::gpu::Gpu;
use super::{check, check_raw};
use crate::case::{Failure, HostMemory};
use crate::device::timing_lock;
use crate::stats;

/// Bytes of the longest copy: a transfer needs no more memory than that besides the arrays, whatever their size. A
/// copy of this length takes milliseconds, the start of the next one microseconds.
const PIECE: u64 = 256 << 20;

/// Number of timed copies, of which the median counts; an untimed one precedes them.
const TIMED: usize = 3;

/// Memory of the host, written once so that its pages are present.
enum Host {
    Pinned(LockedBuffer<u8>),
    Pageable(Vec<u8>),
}

impl Host {
    fn new(memory: HostMemory, bytes: usize) -> Result<Host, Failure> {
        Ok(match memory {
            HostMemory::Pinned => Host::Pinned(check("cuMemAllocHost", LockedBuffer::new(&1, bytes))?),
            HostMemory::Pageable => Host::Pageable(vec![1; bytes]),
        })
    }

    fn bytes(&mut self) -> &mut [u8] {
        match self {
            Host::Pinned(buffer) => buffer.as_mut_slice(),
            Host::Pageable(bytes) => bytes,
        }
    }
}

/// The direction of a copy.
#[derive(Clone, Copy)]
enum Way {
    In,
    Out,
}

impl Gpu {
    /// Seconds to copy `bytes[0]` bytes from the host's memory to the device, and `bytes[1]` bytes back, by the host's
    /// clock from the first call until the last byte has arrived; 0 for no bytes.
    ///
    /// # Errors
    /// `NotApplicable` if the pieces do not fit into the device's memory; errors reported by the driver.
    pub fn transfer(&self, bytes: [u64; 2], memory: HostMemory) -> Result<[f64; 2], Failure> {
        let piece = bytes[0].max(bytes[1]).clamp(1, PIECE) as usize;
        let device: DeviceBuffer<u8> = self.alloc(piece)?;
        let mut host = Host::new(memory, piece)?;
        let _alone = timing_lock::timing();
        self.wait_for_own_work()?;
        let mut median = |way, bytes| -> Result<f64, Failure> {
            let mut time = || self.copy_over(&device, host.bytes(), way, bytes);
            time()?;
            let timed = (0..TIMED).map(|_| time()).collect::<Result<Vec<f64>, Failure>>()?;
            Ok(stats::median(&timed).unwrap_or(0.0))
        };
        Ok([median(Way::In, bytes[0])?, median(Way::Out, bytes[1])?])
    }

    /// Copies `bytes` bytes piece by piece; returns the seconds.
    fn copy_over(
        &self,
        device: &DeviceBuffer<u8>,
        host: &mut [u8],
        way: Way,
        bytes: u64,
    ) -> Result<f64, Failure> {
        if bytes == 0 {
            return Ok(0.0);
        }
        let (stream, at, to) = (self.inner.stream.as_inner(), device.pointer().0, host.as_mut_ptr());
        self.synchronize()?;
        let start = Instant::now();
        let mut left = bytes;
        while left > 0 {
            let piece = left.min(host.len() as u64) as usize;
            // SAFETY: both buffers have at least `piece` bytes and outlive the copies, which `synchronize` awaits.
            let result = unsafe {
                match way {
                    Way::In => sys::cuMemcpyHtoDAsync_v2(at, to.cast::<c_void>(), piece, stream),
                    Way::Out => sys::cuMemcpyDtoHAsync_v2(to.cast::<c_void>(), at, piece, stream),
                }
            };
            check_raw("cuMemcpyAsync", result)?;
            left -= piece as u64;
        }
        self.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    }
}
