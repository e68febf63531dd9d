//! Arrays in device memory.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use cust::memory::{DevicePointer, cuda_free, cuda_malloc};
use cust::sys;

use super::error::{Code, OUT_OF_MEMORY, check_raw, code};
use super::gpu::{Gpu, Inner};
use super::span::Span;
use crate::case::Failure;
use crate::case::units::fmt_bytes;
use crate::device::cuda::{DevicePtr, Plain};

/// `len` elements of device memory, freed when dropped.
pub struct DeviceBuffer<T: Plain> {
    address: DevicePtr<T>,
    len: usize,
    gpu: Arc<Inner>,
    /// The range that it lies in, where that is on several GPUs.
    span: Option<Span>,
}

// SAFETY: the memory is the device's; the driver may be called from any thread, and
// each call makes the context current first.
unsafe impl<T: Plain> Send for DeviceBuffer<T> {}
// SAFETY: as above; through a shared reference the host only reads.
unsafe impl<T: Plain> Sync for DeviceBuffer<T> {}

impl<T: Plain> Drop for DeviceBuffer<T> {
    fn drop(&mut self) {
        if self.span.is_some() {
            return;
        }
        // Kernels that use the memory may still be queued. Errors were, or will be,
        // reported by the next call that waits; here there is nobody to tell.
        let _ = self.gpu.synchronize();
        // SAFETY: allocated by `alloc` with the same context, freed once.
        let _ = unsafe { cuda_free(DevicePointer::<u8>::from_raw(self.address.0)) };
        self.gpu.scrub.freed(self.bytes());
    }
}

impl<T: Plain> DeviceBuffer<T> {
    /// Elements at the start of a range that spans GPUs, of which `gpu` is the first.
    pub(super) fn spanning(address: u64, len: usize, gpu: Arc<Inner>, span: Span) -> DeviceBuffer<T> {
        DeviceBuffer { address: DevicePtr(address, PhantomData), len, gpu, span: Some(span) }
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes of its elements.
    pub fn bytes(&self) -> u64 {
        (self.len * size_of::<T>()) as u64
    }

    /// The address of the first element.
    pub fn pointer(&self) -> DevicePtr<T> {
        self.address
    }

    /// The address of the element `index`; one past the last is allowed.
    pub fn pointer_at(&self, index: usize) -> Result<DevicePtr<T>, Failure> {
        self.check(&(index..self.len))?;
        Ok(DevicePtr(self.address.0 + (index * size_of::<T>()) as u64, PhantomData))
    }

    /// The argument of a launch.
    pub(super) fn address(&self) -> &DevicePtr<T> {
        &self.address
    }

    /// All elements, copied to the host after everything that was queued.
    pub fn to_host(&self) -> Result<Vec<T>, Failure> {
        self.range_to_host(0..self.len)
    }

    /// Some elements, copied to the host after everything that was queued.
    pub fn range_to_host(&self, range: Range<usize>) -> Result<Vec<T>, Failure> {
        let from = self.pointer_at(range.start)?;
        self.check(&range)?;
        let mut host: Vec<T> = Vec::new();
        let bytes = range.len() * size_of::<T>();
        host.try_reserve_exact(range.len()).map_err(|_| host_memory(bytes))?;
        let to = host.as_mut_ptr().cast::<u8>();
        self.piecewise(&range, |gpu, at, piece| {
            // SAFETY: `bytes` are reserved at `to`, and lie inside the buffer at `from`; the
            // piece is one of them.
            let result = unsafe {
                let to = to.add(at).cast::<c_void>();
                sys::cuMemcpyDtoHAsync_v2(to, from.0 + at as u64, piece, gpu.stream.as_inner())
            };
            check_raw("cuMemcpyDtoHAsync", result)
        })?;
        self.synchronize()?;
        // SAFETY: the copy is done, and every bit pattern is a value of a `Plain` type.
        unsafe { host.set_len(range.len()) };
        Ok(host)
    }

    /// Queues what `each` does with every part of some elements that lies in one GPU's memory:
    /// on that GPU, with the first byte of the part, from that of the elements on, and its
    /// bytes. What other GPUs have queued is done before.
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

    /// Waits for everything that was queued on its GPUs.
    fn synchronize(&self) -> Result<(), Failure> {
        self.span.as_ref().map_or_else(|| self.gpu.synchronize(), Span::synchronize)
    }

    /// `Failed` if the range does not lie inside the buffer.
    fn check(&self, range: &Range<usize>) -> Result<(), Failure> {
        if range.start <= range.end && range.end <= self.len {
            return Ok(());
        }
        let Range { start, end } = range;
        Err(Failure::Failed(format!("elements {start}..{end} of a device buffer of {}", self.len)))
    }
}

impl Gpu {
    /// `len` elements, uninitialised. Too large for the free memory: `NotApplicable`.
    pub fn alloc<T: Plain>(&self, len: usize) -> Result<DeviceBuffer<T>, Failure> {
        const { assert!(size_of::<T>() > 0) };
        self.inner.bind()?;
        let Some(bytes) = len.checked_mul(size_of::<T>()) else {
            return Err(too_large(u64::MAX, self.free_memory().ok()));
        };
        // The driver refuses empty allocations.
        // SAFETY: freed by the buffer's drop; `Plain` types may be read uninitialised.
        match code(unsafe { cuda_malloc::<u8>(bytes.max(1)) }) {
            Ok(address) => Ok(DeviceBuffer {
                address: DevicePtr(address.as_raw(), PhantomData),
                len,
                gpu: self.inner.clone(),
                span: None,
            }),
            Err(Code(OUT_OF_MEMORY)) => Err(refused(bytes as u64, self.free_memory().ok())),
            Err(other) => Err(other.failure("cuMemAlloc")),
        }
    }

    /// A copy of `data` in device memory.
    pub fn upload<T: Plain>(&self, data: &[T]) -> Result<DeviceBuffer<T>, Failure> {
        let mut buffer = self.alloc(data.len())?;
        self.put(data, &mut buffer)?;
        Ok(buffer)
    }

    /// Copies `data` to the first elements of a buffer.
    pub fn put<T: Plain>(&self, data: &[T], buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
        let range = 0..data.len();
        buffer.check(&range)?;
        let (from, to) = (data.as_ptr().cast::<u8>(), buffer.address.0);
        buffer.piecewise(&range, |gpu, at, piece| {
            // SAFETY: the piece lies inside both sides, and `data` is borrowed until the
            // copy is done.
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
            // SAFETY: the words lie inside the buffer.
            check_raw("cuMemsetD32Async", unsafe {
                sys::cuMemsetD32Async(to + at as u64, word, piece / 4, stream)
            })
        })?;
        // Those who use it next may be others than those who filled it.
        if buffer.span.is_some() { buffer.synchronize() } else { Ok(()) }
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
        // SAFETY: both ranges lie inside their buffers, which are different.
        check_raw("cuMemcpyDtoDAsync", unsafe { sys::cuMemcpyDtoDAsync_v2(to.0, from.0, bytes, stream) })
    }
}

/// What a case that does not fit says.
pub(super) fn too_large(bytes: u64, free: Option<u64>) -> Failure {
    let free = free.map_or("unknown".to_owned(), fmt_bytes);
    Failure::NotApplicable(format!("needs {} of device memory, {free} free", fmt_bytes(bytes)))
}

/// What is said where the driver has no memory for an array. With enough free bytes it is no
/// case too large: they lie in pieces, or were somebody else's a moment ago.
fn refused(bytes: u64, free: Option<u64>) -> Failure {
    match free {
        Some(free) if free >= bytes => {
            let call = format!("cuMemAlloc of {} with {} free", fmt_bytes(bytes), fmt_bytes(free));
            Code(OUT_OF_MEMORY).failure(&call)
        }
        _ => too_large(bytes, free),
    }
}

/// What a copy to a host without memory says.
fn host_memory(bytes: usize) -> Failure {
    Failure::Failed(format!("no host memory for a copy of {}", fmt_bytes(bytes as u64)))
}
