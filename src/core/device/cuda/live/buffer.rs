//! Arrays in device memory, and the wait until the driver has cleared freed memory.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{slice, thread};

use cust::memory::{DevicePointer, cuda_free, cuda_malloc};
use cust::sys;

use super::gpu::{Gpu, Inner};
use super::span::Span;
use super::{Code, OUT_OF_MEMORY, check_raw, code};
use crate::case::Failure;
use crate::case::units::fmt_bytes;
use crate::device::Held;
use crate::device::cuda::{DevicePtr, Plain};

/// `len` elements of device memory, freed when dropped.
pub struct DeviceBuffer<T: Plain> {
    address: DevicePtr<T>,
    len: usize,
    gpu: Arc<Inner>,
    /// The address range of a buffer that spans several GPUs.
    span: Option<Span>,
    _held: Held,
}

// SAFETY: the memory belongs to the device; the driver may be called from any thread, and each call makes the
// context current first.
unsafe impl<T: Plain> Send for DeviceBuffer<T> {}
// SAFETY: see `Send` above; through a shared reference the host only reads.
unsafe impl<T: Plain> Sync for DeviceBuffer<T> {}

impl<T: Plain> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.span.is_some() {
            return;
        }
        // Queued kernels may still use the memory. Errors are reported by another call that waits; a drop has no one
        // to report them to.
        let _ = self.gpu.synchronize();
        // SAFETY: allocated by `alloc` with the same context, freed once.
        let _ = unsafe { cuda_free(DevicePointer::<u8>::from_raw(self.address.0)) };
        self.gpu.scrub.freed(self.bytes());
    }
}

fn held<T>(len: usize) -> Held {
    Held::new((len * size_of::<T>()) as u64)
}

impl<T: Plain> DeviceBuffer<T> {
    /// A buffer at the start of a range that spans several GPUs, of which `gpu` is the first.
    pub(super) fn spanning(address: u64, len: usize, gpu: Arc<Inner>, span: Span) -> DeviceBuffer<T> {
        DeviceBuffer {
            _held: held::<T>(len),
            address: DevicePtr(address, PhantomData),
            len,
            gpu,
            span: Some(span),
        }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Size in bytes.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The address of the first element.
    pub fn pointer(&self) -> DevicePtr<T> {
        self.address
    }

    /// The address of element `index`; one past the last is allowed.
    pub fn pointer_at(&self, index: usize) -> Result<DevicePtr<T>, Failure> {
        self.check(&(index..self.len))?;
        Ok(DevicePtr(self.address.0 + (index * size_of::<T>()) as u64, PhantomData))
    }

    /// The address, as the argument of a launch.
    pub fn address(&self) -> &DevicePtr<T> {
        &self.address
    }

    /// Copies all elements to the host, after all queued work.
    pub fn to_host(&self) -> Result<Vec<T>, Failure> {
        self.range_to_host(0..self.len)
    }

    /// Copies a range of elements to the host, after all queued work.
    pub fn range_to_host(&self, range: Range<usize>) -> Result<Vec<T>, Failure> {
        let from = self.pointer_at(range.start)?;
        self.check(&range)?;
        let mut host: Vec<T> = Vec::new();
        let bytes = range.len() * size_of::<T>();
        host.try_reserve_exact(range.len()).map_err(|_| host_memory(bytes))?;
        let to = host.as_mut_ptr().cast::<u8>();
        self.piecewise(&range, |gpu, at, piece| {
            // SAFETY: `bytes` are reserved at `to` and lie inside the buffer at `from`; the piece is part of
            // them.
            let result = unsafe {
                let to = to.add(at).cast::<c_void>();
                sys::cuMemcpyDtoHAsync_v2(to, from.0 + at as u64, piece, gpu.stream.as_inner())
            };
            check_raw("cuMemcpyDtoHAsync", result)
        })?;
        self.synchronize()?;
        // SAFETY: the copy is complete, and every bit pattern is valid for a `Plain` type.
        unsafe { host.set_len(range.len()) };
        Ok(host)
    }

    /// Copies the first `bytes` bytes to the host, after all queued work.
    pub fn bytes_to_host(&self, bytes: u64) -> Result<Vec<u8>, Failure> {
        let elements = self.range_to_host(0..(bytes as usize).div_ceil(size_of::<T>()))?;
        // SAFETY: `Plain` types are numbers or structs of them as a kernel has them, without padding.
        let all =
            unsafe { slice::from_raw_parts(elements.as_ptr().cast::<u8>(), size_of_val(&elements[..])) };
        Ok(all[..bytes as usize].to_vec())
    }

    /// Calls `each` to queue an operation for every piece of `range` that lies in the memory of one GPU: with that
    /// GPU, the piece's offset from the start of the range, and its length, both in bytes. Work queued on other GPUs
    /// is completed first.
    fn piecewise(
        &self,
        range: &Range<usize>,
        mut each: impl FnMut(&Inner, usize, usize) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bytes = range.start * size_of::<T>()..range.end * size_of::<T>();
        if bytes.is_empty() {
            return Ok(());
        }
        let pieces = match &self.span {
            None => vec![(&self.gpu, bytes.clone())],
            Some(span) => {
                span.synchronize()?;
                span.pieces(&bytes)
            }
        };
        pieces.into_iter().try_for_each(|(gpu, piece)| {
            gpu.bind()?;
            each(gpu, piece.start - bytes.start, piece.len())
        })
    }

    /// Waits for all queued work on the buffer's GPUs.
    fn synchronize(&self) -> Result<(), Failure> {
        self.span.as_ref().map_or_else(|| self.gpu.synchronize(), Span::synchronize)
    }

    /// `Failed` unless the range is inside the buffer.
    fn check(&self, range: &Range<usize>) -> Result<(), Failure> {
        if range.start <= range.end && range.end <= self.len {
            return Ok(());
        }
        let Range { start, end } = range;
        Err(Failure::Failed(format!("elements {start}..{end} of a device buffer of {}", self.len)))
    }
}

impl Gpu {
    /// Allocates `len` uninitialized elements. `NotApplicable` if they exceed the free memory.
    pub fn alloc<T: Plain>(&self, len: usize) -> Result<DeviceBuffer<T>, Failure> {
        const { assert!(size_of::<T>() > 0) };
        self.inner.bind()?;
        let Some(bytes) = len.checked_mul(size_of::<T>()) else {
            return Err(too_large(u64::MAX, self.free_memory().ok()));
        };
        // The driver refuses empty allocations.
        // SAFETY: freed when the buffer is dropped; `Plain` types may be read uninitialized.
        match code(unsafe { cuda_malloc::<u8>(bytes.max(1)) }) {
            Ok(address) => Ok(DeviceBuffer {
                address: DevicePtr(address.as_raw(), PhantomData),
                len,
                gpu: self.inner.clone(),
                span: None,
                _held: held::<T>(len),
            }),
            Err(Code(OUT_OF_MEMORY)) => Err(refused(bytes as u64, self.free_memory().ok())),
            Err(other) => Err(other.failure("cuMemAlloc")),
        }
    }

    /// Copies `data` to a new buffer.
    pub fn upload<T: Plain>(&self, data: &[T]) -> Result<DeviceBuffer<T>, Failure> {
        let mut buffer = self.alloc(data.len())?;
        self.put(data, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies `data` to the start of a buffer.
    pub fn put<T: Plain>(&self, data: &[T], buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
        let range = 0..data.len();
        buffer.check(&range)?;
        let (from, to) = (data.as_ptr().cast::<u8>(), buffer.address.0);
        buffer.piecewise(&range, |gpu, at, piece| {
            // SAFETY: the piece is inside both sides, and `data` is borrowed until the copy is complete.
            let result = unsafe {
                let from = from.add(at).cast();
                sys::cuMemcpyHtoDAsync_v2(to + at as u64, from, piece, gpu.stream.as_inner())
            };
            check_raw("cuMemcpyHtoDAsync", result)
        })?;
        buffer.synchronize()
    }

    /// Queues a fill of the whole buffer with a 32-bit word.
    pub fn memset32<T: Plain>(&self, buffer: &mut DeviceBuffer<T>, word: u32) -> Result<(), Failure> {
        let bytes = buffer.len * size_of::<T>();
        if !bytes.is_multiple_of(4) {
            return Err(Failure::Failed(format!("a fill with 32-bit words of {bytes} bytes")));
        }
        let to = buffer.address.0;
        buffer.piecewise(&(0..buffer.len), |gpu, at, piece| {
            let stream = gpu.stream.as_inner();
            // SAFETY: the words are inside the buffer.
            check_raw("cuMemsetD32Async", unsafe {
                sys::cuMemsetD32Async(to + at as u64, word, piece / 4, stream)
            })
        })?;
        // A GPU other than those that filled the buffer may use it next.
        if buffer.span.is_some() { buffer.synchronize() } else { Ok(()) }
    }

    /// Queues a copy of the first `bytes` bytes at `from` to the start of a buffer.
    ///
    /// # Safety
    /// At `from` begins an allocated array of as many bytes on this GPU.
    pub unsafe fn copy_bytes<T: Plain>(
        &self,
        from: DevicePtr<u8>,
        to: &mut DeviceBuffer<T>,
        bytes: u64,
    ) -> Result<(), Failure> {
        if bytes > to.bytes() {
            return Err(Failure::Failed(format!("a copy of {bytes} bytes to {}", to.bytes())));
        }
        self.inner.bind()?;
        let (to, stream) = (to.address.0, self.inner.stream.as_inner());
        // SAFETY: the caller's promise, and the buffer's length, which was compared.
        check_raw("cuMemcpyDtoDAsync", unsafe {
            sys::cuMemcpyDtoDAsync_v2(to, from.0, bytes as usize, stream)
        })
    }

    /// Queues a copy of `from[range]` to the elements of `to` that start at `at`.
    pub fn copy<T: Plain>(
        &self,
        from: &DeviceBuffer<T>,
        range: Range<usize>,
        to: &mut DeviceBuffer<T>,
        at: usize,
    ) -> Result<(), Failure> {
        from.check(&range)?;
        to.check(&(at..at.saturating_add(range.len())))?;
        if range.is_empty() {
            return Ok(());
        }
        self.inner.bind()?;
        let (from, to) = (from.pointer_at(range.start)?, to.pointer_at(at)?);
        let (bytes, stream) = (range.len() * size_of::<T>(), self.inner.stream.as_inner());
        // SAFETY: both ranges are inside their buffers, which are distinct.
        check_raw("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, stream) })
    }
}

/// The failure of a case that does not fit.
pub(super) fn too_large(bytes: u64, free: Option<u64>) -> Failure {
    let free = free.map_or("unknown".to_owned(), fmt_bytes);
    Failure::NotApplicable(format!("needs {} of device memory, {free} free", fmt_bytes(bytes)))
}

/// The failure of an allocation by the driver. If enough bytes are free, the case is not too large: the memory
/// is fragmented, or was in use by another process a moment ago.
fn refused(bytes: u64, free: Option<u64>) -> Failure {
    match free {
        Some(free) if free >= bytes => {
            let call = format!("cuMemAlloc of {} with {} free", fmt_bytes(bytes), fmt_bytes(free));
            Code(OUT_OF_MEMORY).failure(&call)
        }
        _ => too_large(bytes, free),
    }
}

/// The failure of a copy for lack of host memory.
fn host_memory(bytes: usize) -> Failure {
    Failure::Failed(format!("no host memory for a copy of {}", fmt_bytes(bytes as u64)))
}

/// Waiting time per GiB: 1.5 times what was measured.
const PER_GIB: Duration = Duration::from_millis(4);

/// When all memory freed so far will be clear.
///
/// Waiting until the driver has cleared freed memory.
///
/// The driver overwrites freed memory in the background before it is reused, which takes bandwidth from concurrent
/// work: on an H200 (driver 580), a write that otherwise reaches 4.66 TB/s reached 4.23 TB/s for 2.7 ms after each GiB
/// freed (3, 11, 42, 80 and 175 ms for 1, 4, 16, 32 and 64 GiB), whether the memory was touched or not. Allocation has
/// no such effect. scatterlab allocates its arrays in every round, so the first samples of a round would measure this.
#[derive(Default)]
pub(super) struct Scrub {
    clear: Mutex<Option<Instant>>,
}

impl Scrub {
    /// Records that `bytes` were just freed.
    pub fn freed(&self, bytes: u64) {
        let mut clear = self.clear.lock().unwrap_or_else(PoisonError::into_inner);
        *clear = Some(clear_at(*clear, Instant::now(), bytes));
    }

    /// Waits until all freed memory is clear.
    pub fn wait(&self) {
        let clear = self.clear.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(left) = clear.and_then(|at| at.checked_duration_since(Instant::now())) {
            thread::sleep(left);
        }
    }
}

/// The time at which memory freed now will be clear: memory is cleared in the order in which it was freed.
fn clear_at(before: Option<Instant>, now: Instant, bytes: u64) -> Instant {
    let takes = PER_GIB.mul_f64(bytes as f64 / f64::from(1 << 30));
    before.unwrap_or(now).max(now) + takes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_is_cleared_one_after_the_other() {
        let now = Instant::now();
        let first = clear_at(None, now, 1 << 30);
        assert_eq!(first - now, PER_GIB);
        assert_eq!(clear_at(Some(first), now, 2 << 30) - now, 3 * PER_GIB);
        let later = now + Duration::from_secs(1);
        assert_eq!(clear_at(Some(first), later, 0), later);
    }

    #[test]
    fn the_wait_is_for_what_is_left() {
        let scrub = Scrub::default();
        scrub.wait();
        let start = Instant::now();
        scrub.freed(5 << 30);
        scrub.wait();
        assert!(start.elapsed() >= 5 * PER_GIB);
    }
}
