//! Memory for arrays: mapped directly, aligned, in huge pages if the system grants them, and first touched by the
//! worker that will use each part.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::memory::{HUGE, PAGE};
use crate::case::Failure;
use crate::device::Held;

/// Contents of every 8-byte word of an output before an execution.
pub const POISON: u64 = 0xDEAD_BEEF_DEAD_BEEF;

/// Bytes after the logical end that belong to the buffer, so that an off-by-one access stays inside the
/// allocation.
const GUARD: usize = 256;

/// Zeroed memory that is still untouched, except for the guard at its end.
///
/// Workers write disjoint parts through raw pointers; between executions one thread reads them. The methods
/// below never return overlapping `&mut`.
#[derive(Debug)]
pub struct Buffer {
    map: *mut u8,
    mapped: usize,
    start: *mut u8,
    bytes: usize,
    _held: Held,
}

// SAFETY: a Buffer is plain memory; each access states which others are possible.
unsafe impl Send for Buffer {}
// SAFETY: see `Send` above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Maps `bytes` of memory, aligned to 4 KiB. Arrays of at least a huge page begin at different offsets in their
    /// huge pages.
    ///
    /// # Errors
    /// [`Failure::Failed`] when the system does not map it.
    pub fn new(bytes: usize) -> Result<Buffer, Failure> {
        let held = Held::in_host_memory(bytes as u64)?;
        // Also the array's last huge page must lie inside the mapping.
        let slack = if bytes >= HUGE { 3 * HUGE } else { 0 };
        let failed = || Failure::Failed(format!("cannot map {bytes} bytes of memory"));
        let mapped = bytes.checked_add(GUARD + slack).ok_or_else(failed)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new anonymous mapping affects no existing memory.
        let map = unsafe { libc::mmap(std::ptr::null_mut(), mapped, protection, flags, -1, 0) };
        if map == libc::MAP_FAILED {
            return Err(failed());
        }
        let map = map.cast::<u8>();
        let start = if slack > 0 { map.wrapping_add(map.align_offset(HUGE) + place()) } else { map };
        let buffer = Buffer { map, mapped, start, bytes, _held: held };
        buffer.ask_for_huge_pages();
        buffer.fill_guard();
        Ok(buffer)
    }

    #[cfg(target_os = "linux")]
    fn ask_for_huge_pages(&self) {
        if self.bytes >= HUGE {
            // SAFETY: advice on our own mapping; a refusal has no effect.
            unsafe { libc::madvise(self.map.cast(), self.mapped, libc::MADV_HUGEPAGE) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn ask_for_huge_pages(&self) {}

    fn fill_guard(&self) {
        for byte in self.bytes..self.bytes + GUARD {
            // SAFETY: the mapping has GUARD bytes after the logical end.
            unsafe { self.start.add(byte).write((POISON >> (byte % 8 * 8)) as u8) };
        }
    }

    /// Logical length in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Logical length in elements of `T`.
    pub fn holds<T>(&self) -> usize {
        self.bytes / size_of::<T>()
    }

    /// Address of the first byte.
    pub fn ptr<T>(&self) -> *mut T {
        self.start.cast()
    }

    /// Read access to the elements in `range`.
    ///
    /// # Safety
    /// No one may write these elements meanwhile, and all bit patterns must be valid for `T`.
    pub unsafe fn read<T: Copy>(&self, range: Range<usize>) -> &[T] {
        debug_assert!(range.end <= self.holds::<T>());
        // SAFETY: inside the mapping and aligned for any T up to a page.
        unsafe { std::slice::from_raw_parts(self.ptr::<T>().add(range.start), range.len()) }
    }

    /// Write access to the elements in `range`.
    ///
    /// # Safety
    /// No one else may read or write these elements meanwhile, and all bit patterns must be valid for `T`.
    #[expect(
        clippy::mut_from_ref,
        reason = "workers write parts of one buffer; the caller promises that they are disjoint"
    )]
    pub unsafe fn write<T: Copy>(&self, range: Range<usize>) -> &mut [T] {
        debug_assert!(range.end <= self.holds::<T>());
        // SAFETY: inside the mapping and aligned; exclusive as promised by the caller.
        unsafe { std::slice::from_raw_parts_mut(self.ptr::<T>().add(range.start), range.len()) }
    }

    /// Number `at` of the buffer, seen as numbers of `bytes` bytes, 4 or 8.
    ///
    /// # Safety
    /// As for [`read`](Buffer::read).
    #[inline(always)]
    pub unsafe fn number(&self, bytes: u64, at: usize) -> u64 {
        // SAFETY: by the caller's promise.
        unsafe {
            match bytes {
                4 => u64::from(self.read::<u32>(at..at + 1)[0]),
                _ => self.read::<u64>(at..at + 1)[0],
            }
        }
    }

    /// Writes number `at` of the buffer, seen as numbers of `bytes` bytes, 4 or 8.
    ///
    /// # Safety
    /// As for [`write`](Buffer::write).
    #[inline(always)]
    pub unsafe fn put_number(&self, bytes: u64, at: usize, number: u64) {
        // SAFETY: by the caller's promise.
        unsafe {
            match bytes {
                4 => self.write::<u32>(at..at + 1)[0] = number as u32,
                _ => self.write::<u64>(at..at + 1)[0] = number,
            }
        }
    }

    /// Copies the whole contents.
    ///
    /// # Safety
    /// No one may write the buffer meanwhile.
    pub unsafe fn to_vec(&self) -> Vec<u8> {
        // SAFETY: as promised by the caller.
        unsafe { self.read::<u8>(0..self.bytes) }.to_vec()
    }
}

/// Addresses of loads and stores that differ by a multiple of this many bytes look alike to Intel processors.
const MEGA: usize = 1 << 20;

/// Offset of the next long array in its huge page: a multiple of a page, less than [`MEGA`].
///
/// If all arrays began at the start of a huge page, element i of one array and element i of another would have
/// addresses with the same low 20 bits. On Intel processors a load of one then waits for an earlier store to the other
/// (Islam et al.: SPOILER, USENIX Security 2019, §3): a product with a 5-point stencil, which stores `y[i - 1]` before
/// it loads `x[i - 1]`, took 2.3 times as long. Each array therefore begins 17 pages after the previous one's offset,
/// modulo 256 pages.
fn place() -> usize {
    static ARRAYS: AtomicUsize = AtomicUsize::new(0);
    ARRAYS.fetch_add(1, Ordering::Relaxed).wrapping_mul(17 * PAGE) % MEGA
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no longer borrowed.
        unsafe { libc::munmap(self.map.cast(), self.mapped) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_aligned_zeroed_and_guarded() {
        for bytes in [0, 8, 4096, HUGE, HUGE + 24] {
            let buffer = Buffer::new(bytes).expect("memory");
            assert_eq!(buffer.ptr::<u8>() as usize % PAGE, 0);
            assert!(bytes < HUGE || buffer.ptr::<u8>() as usize % HUGE < MEGA);
            // SAFETY: this thread owns the buffer.
            assert!(unsafe { buffer.to_vec() }.iter().all(|&b| b == 0));
            // SAFETY: the guard is part of the mapping; lengths above are multiples of 8.
            assert_eq!(unsafe { buffer.ptr::<u64>().add(bytes / 8).read() }, POISON);
        }
    }

    #[test]
    fn long_arrays_begin_at_different_places_of_their_huge_pages() {
        let buffers: Vec<Buffer> = (0..16).map(|_| Buffer::new(HUGE).expect("memory")).collect();
        let places: std::collections::BTreeSet<usize> =
            buffers.iter().map(|buffer| buffer.ptr::<u8>() as usize % MEGA).collect();
        // Tests that run concurrently map arrays, too.
        assert!(places.len() > 8, "{places:?}");
    }

    #[test]
    fn what_cannot_be_mapped_is_a_failure() {
        assert!(matches!(Buffer::new(usize::MAX / 2), Err(Failure::Failed(_))));
        assert!(matches!(Buffer::new(usize::MAX), Err(Failure::Failed(_))));
    }
}
