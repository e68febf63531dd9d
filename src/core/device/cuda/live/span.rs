//! A single address range over the memory of several GPUs, all of which can access it: the driver's virtual
//! memory management (CUDA driver API, "Virtual Memory Management").

use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use cust::sys;

use super::buffer::{DeviceBuffer, too_large};
use super::driver::SYMBOL_NOT_FOUND;
use super::gpu::{Gpu, Inner};
use super::{Code, OUT_OF_MEMORY, raw};
use crate::case::Failure;
use crate::device::cuda::Plain;

/// An address range and the memory mapped to it, released on drop.
pub(super) struct Span {
    address: u64,
    bytes: usize,
    /// All GPUs with access to the range.
    gpus: Vec<Arc<Inner>>,
    parts: Vec<MappedPart>,
}

/// The bytes of a range that lie in one GPU's memory.
struct MappedPart {
    gpu: Arc<Inner>,
    bytes: Range<usize>,
}

impl Drop for Span {
    fn drop(&mut self) {
        // As for a buffer's own memory: waits for queued users; a drop has no one to report an error to.
        let _ = self.synchronize();
        for part in &self.parts {
            // SAFETY: mapped as this range once, and unmapped once.
            let _ = raw(unsafe { sys::cuMemUnmap(self.at(part.bytes.start), part.bytes.len()) });
            part.gpu.scrub.freed(part.bytes.len() as u64);
        }
        // SAFETY: reserved with this size; nothing is mapped to it any more.
        let _ = raw(unsafe { sys::cuMemAddressFree(self.address, self.bytes) });
    }
}

impl Span {
    fn reserve(gpus: Vec<Arc<Inner>>, bytes: usize) -> Result<Span, Failure> {
        let mut address = 0;
        // SAFETY: `address` outlives the call, which writes an address to it.
        done("cuMemAddressReserve", unsafe { sys::cuMemAddressReserve(&mut address, bytes, 0, 0, 0) })?;
        Ok(Span { address, bytes, gpus, parts: Vec::new() })
    }

    /// Maps memory of a GPU to a part of the range.
    fn back(&mut self, gpu: &Arc<Inner>, bytes: Range<usize>) -> Result<(), Failure> {
        let mut memory = 0;
        let properties = properties(gpu);
        // SAFETY: both outlive the call, which reads one and writes a handle to the other.
        let created = raw(unsafe { sys::cuMemCreate(&mut memory, bytes.len(), &properties, 0) });
        if created == Err(Code(OUT_OF_MEMORY)) {
            return Err(too_large(bytes.len() as u64, Gpu { inner: gpu.clone() }.free_memory().ok()));
        }
        answered("cuMemCreate", created)?;
        // SAFETY: the bytes are inside the reserved range, and nothing is mapped to them yet.
        let mapped = raw(unsafe { sys::cuMemMap(self.at(bytes.start), bytes.len(), 0, memory, 0) });
        // SAFETY: created above; mapped memory stays allocated until it is unmapped.
        let released = raw(unsafe { sys::cuMemRelease(memory) });
        answered("cuMemMap", mapped)?;
        self.parts.push(MappedPart { gpu: gpu.clone(), bytes });
        answered("cuMemRelease", released)
    }

    /// Grants all GPUs read and write access to the whole range.
    fn open(&self) -> Result<(), Failure> {
        let flags = sys::CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
        let access: Vec<sys::CUmemAccessDesc> =
            self.gpus.iter().map(|gpu| sys::CUmemAccessDesc { location: place(gpu), flags }).collect();
        // SAFETY: the count matches the descriptors, and the whole range is mapped.
        done("cuMemSetAccess", unsafe {
            sys::cuMemSetAccess(self.address, self.bytes, access.as_ptr(), access.len())
        })
    }

    /// Waits for all work queued on any of the GPUs.
    pub fn synchronize(&self) -> Result<(), Failure> {
        self.gpus.iter().try_for_each(|gpu| gpu.synchronize())
    }

    /// The parts of a range, each with the GPU in whose memory it lies.
    pub fn pieces(&self, bytes: &Range<usize>) -> Vec<(&Arc<Inner>, Range<usize>)> {
        let within = |part: &Range<usize>| part.start.max(bytes.start)..part.end.min(bytes.end);
        let pieces = self.parts.iter().map(|part| (&part.gpu, within(&part.bytes)));
        pieces.filter(|(_, piece)| !piece.is_empty()).collect()
    }

    fn at(&self, byte: usize) -> u64 {
        self.address + byte as u64
    }
}

impl Gpu {
    /// Allocates `len` uninitialized elements in contiguous parts, one on this GPU and on each of `others` in turn, of
    /// equal size up to the mapping granularity (2 MiB on an H200). All of these GPUs can read and write the whole
    /// range. Copies and fills wait for all work queued on any of them, and are complete on return.
    ///
    /// # Errors
    /// `NotApplicable` if a part does not fit, if a GPU cannot access another's memory, or if a GPU or the
    /// driver lacks virtual memory management.
    pub fn alloc_across<T: Plain>(&self, others: &[Gpu], len: usize) -> Result<DeviceBuffer<T>, Failure> {
        let gpus: Vec<Arc<Inner>> = [self].into_iter().chain(others).map(|gpu| gpu.inner.clone()).collect();
        gpus.iter().try_for_each(|gpu| maps(gpu))?;
        peers(&gpus)?;
        let grain = granularity(&gpus)?;
        let whole = |bytes: usize| bytes.max(1).checked_next_multiple_of(grain);
        let Some(bytes) = len.checked_mul(size_of::<T>()).and_then(whole) else {
            return Err(too_large(u64::MAX, self.free_memory().ok()));
        };
        let mut span = Span::reserve(gpus.clone(), bytes)?;
        for (gpu, part) in gpus.iter().zip(parts(len * size_of::<T>(), grain, gpus.len())) {
            if !part.is_empty() {
                span.back(gpu, part)?;
            }
        }
        span.open()?;
        Ok(DeviceBuffer::spanning(span.address, len, self.inner.clone(), span))
    }
}

/// Splits `bytes` bytes into `count` contiguous parts of whole grains, cut at the grains nearest to equal shares.
fn parts(bytes: usize, grain: usize, count: usize) -> Vec<Range<usize>> {
    let grains = bytes.max(1).div_ceil(grain);
    let nearest = |k: usize| {
        let share = k as u128 * bytes as u128 / count as u128;
        (((share + grain as u128 / 2) / grain as u128) as usize).min(grains) * grain
    };
    let cut = |k: usize| if k == count { grains * grain } else { nearest(k) };
    (0..count).map(|k| cut(k)..cut(k + 1)).collect()
}

/// `NotApplicable` unless the GPU supports virtual memory management.
fn maps(gpu: &Inner) -> Result<(), Failure> {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED;
    let mut supported = 0;
    // SAFETY: `supported` outlives the call, which writes one integer to it.
    done("cuDeviceGetAttribute", unsafe {
        sys::cuDeviceGetAttribute(&mut supported, attribute, gpu.number)
    })?;
    if supported != 0 {
        return Ok(());
    }
    Err(Failure::NotApplicable(format!("GPU {} has no virtual memory management", gpu.number)))
}

/// `NotApplicable` unless each GPU can access the memory of all others.
fn peers(gpus: &[Arc<Inner>]) -> Result<(), Failure> {
    let pairs = gpus.iter().flat_map(|from| gpus.iter().map(move |to| (from.number, to.number)));
    for (from, to) in pairs.filter(|(from, to)| from != to) {
        let mut can = 0;
        // SAFETY: `can` outlives the call, which writes one integer to it.
        done("cuDeviceCanAccessPeer", unsafe { sys::cuDeviceCanAccessPeer(&mut can, from, to) })?;
        if can == 0 {
            return Err(Failure::NotApplicable(format!("GPU {from} cannot access the memory of GPU {to}")));
        }
    }
    Ok(())
}

/// A mapping granularity in bytes that suits all GPUs.
fn granularity(gpus: &[Arc<Inner>]) -> Result<usize, Failure> {
    let least = sys::CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    gpus.iter().try_fold(1, |largest: usize, gpu| {
        let (mut grain, properties) = (0, properties(gpu));
        // SAFETY: both outlive the call, which reads one and writes a size to the other.
        done("cuMemGetAllocationGranularity", unsafe {
            sys::cuMemGetAllocationGranularity(&mut grain, &properties, least)
        })?;
        Ok(largest.max(grain))
    })
}

/// Properties of an allocation on this GPU.
fn properties(gpu: &Inner) -> sys::CUmemAllocationProp {
    sys::CUmemAllocationProp {
        type_: sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
        requestedHandleTypes: sys::CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
        location: place(gpu),
        win32HandleMetaData: ptr::null_mut(),
        allocFlags: Default::default(),
    }
}

fn place(gpu: &Inner) -> sys::CUmemLocation {
    sys::CUmemLocation { type_: sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: gpu.number }
}

fn done(call: &str, result: sys::cudaError_enum) -> Result<(), Failure> {
    answered(call, raw(result))
}

/// A driver that is too old for a function makes the case not applicable.
fn answered(call: &str, result: Result<(), Code>) -> Result<(), Failure> {
    result.map_err(|code| match code {
        Code(SYMBOL_NOT_FOUND) => Failure::NotApplicable(format!("this driver has no {call}")),
        other => other.failure(call),
    })
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn parts_are_whole_grains_and_cover_everything() {
        for (bytes, grain, count) in [(0, 4, 2), (1, 4, 2), (9, 4, 2), (1000, 4, 3), (4096, 4096, 8)] {
            let parts = parts(bytes, grain, count);
            assert_eq!((parts.len(), parts[0].start), (count, 0));
            assert!(parts.windows(2).all(|pair| pair[0].end == pair[1].start), "{parts:?}");
            assert!(parts.iter().all(|part| part.start <= part.end && part.end % grain == 0), "{parts:?}");
            assert_eq!(parts[count - 1].end, bytes.max(1).next_multiple_of(grain));
        }
    }

    #[test]
    fn a_guard_behind_the_last_element_moves_no_cut() {
        let mib = 1 << 20;
        assert_eq!(parts(128 * mib + 8, 2 * mib, 2), [0..64 * mib, 64 * mib..130 * mib]);
    }
}
