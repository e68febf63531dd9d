//! Elimination from the first row to the last and back, for systems side by side in lanes: one generic body, which the compiler
//! vectorizes for each instruction set.

use super::{Batch, Kernel};
use crate::device::cpu::memory::prefetch;
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::real::Real;

/// Most bytes of c' and d' of the systems that are solved together, which shall stay in the second-level cache.
const CACHED: usize = 512 << 10;

/// Most systems that are solved together: rows of 4 KiB, so that lines that are neighbours in memory are fetched together.
const MOST_LINES: usize = 64;

/// Rows of a strided system that are transposed at a time, and how many rows ahead interleaved ones are prefetched.
const BLOCK: usize = 16;
const AHEAD: usize = 4;

/// Elements of a line, which are the lanes.
const fn lanes<T>() -> usize {
    64 / size_of::<T>()
}

/// Lines of systems that are solved together.
fn lines<T>(rows: usize, systems: usize, interleaved: bool) -> usize {
    let fit = CACHED / (2 * 64 * rows.max(1));
    let most = if interleaved { fit.clamp(1, MOST_LINES) } else { 1 };
    most.min(systems / lanes::<T>())
}

/// Elements of scratch memory for a worker.
pub fn scratch<T>(rows: usize, systems: usize, interleaved: bool) -> usize {
    2 * rows * (lines::<T>(rows, systems, interleaved) * lanes::<T>()).max(1)
}

/// The kernel for an instruction set that is present.
pub fn kernel<T: Real>(isa: Isa) -> Kernel<T> {
    of_isa!(isa, solve::<T>)
}

macro_rules! instances {
    ($isa:ident, $body:ident $(, $feature:literal)?) => {
        mod $isa {
            use super::{Batch, Real};

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            pub unsafe fn solve<T: Real>(of: Batch<T>, systems: usize, scratch: *mut T) {
                // SAFETY: by the caller's promise.
                unsafe { super::$body(of, systems, scratch) }
            }
        }
    };
}

instances!(scalar, one_by_one);
#[cfg(target_arch = "x86_64")]
instances!(avx2, all, "avx2,fma");
#[cfg(target_arch = "x86_64")]
instances!(avx512, all, "avx512f,avx512dq,avx512vl,fma");

/// In lanes of 64 bytes, whatever the type; what is left is solved one system after another.
#[inline(always)]
unsafe fn all<T: Real>(of: Batch<T>, systems: usize, scratch: *mut T) {
    // SAFETY: by the caller's promise.
    unsafe {
        let solved = match size_of::<T>() {
            4 => in_lanes::<T, 16>(of, systems, scratch),
            _ => in_lanes::<T, 8>(of, systems, scratch),
        };
        one_by_one(of.from(solved), systems - solved, scratch);
    }
}

/// The systems that fill whole lines, whose number is returned.
#[inline(always)]
unsafe fn in_lanes<T: Real, const L: usize>(of: Batch<T>, systems: usize, scratch: *mut T) -> usize {
    let interleaved = of.system == 1 && of.row > 1;
    let (mut solved, whole) = (0, systems / L * L);
    while solved < whole {
        let lines = lines::<T>(of.rows, whole - solved, interleaved);
        // SAFETY: by the caller's promise.
        unsafe {
            match interleaved {
                true => side_by_side::<T, L>(of.from(solved), lines, scratch),
                false => transposed::<T, L>(of.from(solved), scratch),
            }
        }
        solved += lines * L;
    }
    solved
}

/// The rows of a line of systems.
struct Rows<T, const L: usize> {
    a: [T; L],
    b: [T; L],
    c: [T; L],
    d: [T; L],
}

/// c' and d' of a row from those of the row before.
#[inline(always)]
fn eliminate<T: Real, const L: usize>(row: &Rows<T, L>, c: &mut [T; L], d: &mut [T; L]) {
    let one = T::of(1.0);
    for l in 0..L {
        let r = one / (row.b[l] - row.a[l] * c[l]);
        d[l] = (row.d[l] - row.a[l] * d[l]) * r;
        c[l] = row.c[l] * r;
    }
}

#[inline(always)]
fn substitute<T: Real, const L: usize>(upper: &[T; L], d: &[T; L], x: &mut [T; L]) {
    for l in 0..L {
        x[l] = d[l] - upper[l] * x[l];
    }
}

/// Lines of interleaved systems: row by row, so that as many bytes as possible are read in a stretch.
#[inline(always)]
unsafe fn side_by_side<T: Real, const L: usize>(of: Batch<T>, lines: usize, scratch: *mut T) {
    let (n, width) = (of.rows, lines * L);
    let (upper, right) = (scratch, scratch.wrapping_add(n * width));
    // SAFETY: by the caller's promise; prefetching is harmless anywhere.
    unsafe {
        let line = |array: *const T, at: usize| array.add(at).cast::<[T; L]>().read_unaligned();
        for i in 0..n {
            for k in (0..width).step_by(L) {
                let (at, here) = (i * of.row + k, i * width + k);
                for array in [of.a, of.b, of.c, of.d] {
                    prefetch(array.wrapping_add(at + AHEAD * of.row));
                }
                let (mut c, mut d) = ([T::default(); L], [T::default(); L]);
                let mut row =
                    Rows { a: line(of.a, at), b: line(of.b, at), c: line(of.c, at), d: line(of.d, at) };
                if i == 0 {
                    row.a = c;
                } else {
                    (c, d) = (line(upper, here - width), line(right, here - width));
                }
                eliminate(&row, &mut c, &mut d);
                upper.add(here).cast::<[T; L]>().write_unaligned(c);
                right.add(here).cast::<[T; L]>().write_unaligned(d);
            }
        }
        for i in (0..n).rev() {
            for k in (0..width).step_by(L) {
                let here = i * width + k;
                let mut x = line(right, here);
                if i + 1 < n {
                    let mut next = line(right, here + width);
                    substitute(&line(upper, here), &x, &mut next);
                    x = next;
                    right.add(here).cast::<[T; L]>().write_unaligned(x);
                }
                store(of.x.add(i * of.row + k), x);
            }
        }
    }
}

/// A line of strided systems.
#[inline(always)]
unsafe fn transposed<T: Real, const L: usize>(of: Batch<T>, scratch: *mut T) {
    let n = of.rows;
    let (upper, right) = (scratch, scratch.wrapping_add(n * L));
    let (mut c, mut d) = ([T::default(); L], [T::default(); L]);
    // SAFETY: by the caller's promise.
    unsafe {
        let mut first = 0;
        while first < n {
            let count = BLOCK.min(n - first);
            let mut block = [[[T::default(); L]; BLOCK]; 4];
            for (array, to) in [of.a, of.b, of.c, of.d].into_iter().zip(&mut block) {
                for l in 0..L {
                    let from = array.add(l * of.system + first);
                    for (i, row) in to.iter_mut().enumerate().take(count) {
                        row[l] = from.add(i).read();
                    }
                }
            }
            let [a, b, above, right_side] = block;
            for (i, a) in a.into_iter().enumerate().take(count) {
                let a = if first + i == 0 { [T::default(); L] } else { a };
                eliminate(&Rows { a, b: b[i], c: above[i], d: right_side[i] }, &mut c, &mut d);
                upper.add((first + i) * L).cast::<[T; L]>().write_unaligned(c);
                right.add((first + i) * L).cast::<[T; L]>().write_unaligned(d);
            }
            first += count;
        }
        let mut x = d;
        let mut end = n;
        while end > 0 {
            let count = if end.is_multiple_of(BLOCK) { BLOCK } else { end % BLOCK };
            let mut block = [[T::default(); L]; BLOCK];
            for i in (0..count).rev() {
                let at = (end - count + i) * L;
                if end - count + i + 1 < n {
                    let line = |array: *const T| array.add(at).cast::<[T; L]>().read_unaligned();
                    substitute(&line(upper), &line(right), &mut x);
                }
                block[i] = x;
            }
            for l in 0..L {
                let to = of.x.add(l * of.system + end - count);
                for (i, row) in block.iter().enumerate().take(count) {
                    to.add(i).write(row[l]);
                }
            }
            end -= count;
        }
    }
}

/// One system after another: d' stays in the place of x.
#[inline(always)]
unsafe fn one_by_one<T: Real>(of: Batch<T>, systems: usize, upper: *mut T) {
    let (n, one) = (of.rows, T::of(1.0));
    for system in 0..systems {
        let of = of.from(system);
        let (mut c, mut d) = (T::default(), T::default());
        for i in 0..n {
            let at = i * of.row;
            // SAFETY: by the caller's promise.
            unsafe {
                let a = if i == 0 { T::default() } else { of.a.add(at).read() };
                let r = one / (of.b.add(at).read() - a * c);
                d = (of.d.add(at).read() - a * d) * r;
                c = of.c.add(at).read() * r;
                upper.add(i).write(c);
                of.x.add(at).write(d);
            }
        }
        for i in (1..n).rev() {
            let at = (i - 1) * of.row;
            // SAFETY: as above.
            unsafe {
                d = of.x.add(at).read() - upper.add(i - 1).read() * d;
                of.x.add(at).write(d);
            }
        }
    }
}

/// Stores a line past the caches, if it is aligned.
#[inline(always)]
unsafe fn store<T: Real, const L: usize>(to: *mut T, line: [T; L]) {
    #[cfg(target_arch = "x86_64")]
    if to.align_offset(16) == 0 {
        use std::arch::x86_64::{__m128i, _mm_stream_si128};
        // SAFETY: the line has 64 bytes; by the caller's promise they may be written.
        unsafe {
            let parts: [__m128i; 4] = (&raw const line).cast::<[__m128i; 4]>().read_unaligned();
            for (k, part) in parts.into_iter().enumerate() {
                _mm_stream_si128(to.cast::<__m128i>().add(k), part);
            }
        }
        return;
    }
    // SAFETY: as above.
    unsafe { to.cast::<[T; L]>().write_unaligned(line) }
}
