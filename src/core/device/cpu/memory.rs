//! Memory available to a case.

use crate::case::Failure;
use crate::device::too_large;
use crate::memory::with_room;
pub use crate::memory::{available, total};

/// Bytes of a huge page.
pub(super) const HUGE: usize = 2 << 20;
/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// Refuses a case that needs more memory than is available.
///
/// # Errors
/// [`Failure::NotApplicable`] with both figures.
pub fn require(bytes: u64) -> Result<(), Failure> {
    fits(bytes, available())
}

/// Refuses a case that needs more than the available memory, if that is known.
pub(super) fn fits(bytes: u64, available: Option<u64>) -> Result<(), Failure> {
    match available {
        Some(free) if bytes > free => Err(too_large(bytes, free)),
        _ => Ok(()),
    }
}

/// A copy of elements, in huge pages if the system grants them.
///
/// # Errors
/// [`Failure::NotApplicable`] if it does not fit.
pub fn copy<T: Copy>(elements: &[T]) -> Result<Vec<T>, Failure> {
    let room = with_room(elements.len());
    let mut copy = room.map_err(|why| Failure::NotApplicable(why.to_string()))?;
    ask_for_huge_pages(copy.spare_capacity_mut());
    copy.extend_from_slice(elements);
    Ok(copy)
}

/// Asks the system to move elements that are in memory already into huge pages; has no effect if the system cannot.
pub fn ask_for_huge_pages<T>(elements: &[T]) {
    #[cfg(target_os = "linux")]
    {
        /// `MADV_COLLAPSE` of Linux 6.1 does at once what `MADV_HUGEPAGE` leaves to a thread of the kernel.
        const COLLAPSE: libc::c_int = 25;
        let (first, end) = (elements.as_ptr().addr(), elements.as_ptr_range().end.addr());
        let (first, end) = (first.next_multiple_of(PAGE), end - end % PAGE);
        if end.saturating_sub(first) >= HUGE {
            let at = elements.as_ptr().with_addr(first).cast_mut().cast();
            for advice in [libc::MADV_HUGEPAGE, COLLAPSE] {
                // SAFETY: whole pages of our own memory, whose contents stay as they are; a refusal has no effect.
                unsafe { libc::madvise(at, end - first, advice) };
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = elements;
}

/// Prefetches the line at an address into the first-level cache. This is no access, so any address will do.
#[inline(always)]
pub fn prefetch<T>(at: *const T) {
    hint::<3, T>(at);
}

/// Prefetches into the second-level cache, which can wait for more lines at a time than the first.
#[inline(always)]
pub fn prefetch_l2<T>(at: *const T) {
    hint::<2, T>(at);
}

/// Prefetches a line that will be written.
#[inline(always)]
pub fn prefetch_to_write<T>(at: *const T) {
    hint::<7, T>(at);
}

/// A prefetch with a hint of x86-64: `_MM_HINT_T0` is 3, `_MM_HINT_T1` is 2, `_MM_HINT_ET0` is 7.
#[inline(always)]
fn hint<const HINT: i32, T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch has no effect but on caches, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<HINT>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::units::fmt_size;

    #[test]
    fn too_much_is_refused_with_both_figures() {
        let refusal = require(1 << 60);
        assert!(
            matches!(&refusal, Err(Failure::NotApplicable(r)) if r.starts_with("needs 1073741824 GiB, ")),
            "{refusal:?}"
        );
        assert_eq!(require(4096), Ok(()));
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [fmt_size(12 << 30), fmt_size((9 << 30) + (1 << 29)), fmt_size(3 << 20)],
            ["12 GiB", "9.5 GiB", "3 MiB"]
        );
        assert_eq!(fmt_size(100 << 20), "100 MiB");
    }
}
