//! A sweep along lines side by side, one in each lane: one generic body, which the compiler vectorizes for each instruction set.

use std::ops::Range;

use crate::device::cpu::{Isa, of_isa};

/// Lines that are swept together: those of a line of the cache.
pub const LANES: usize = 16;

/// Arrays of `LANES` elements for each cell of a line that a worker needs: η, w, c' and y.
pub const ARRAYS: usize = 4;

/// The state before and after a sweep: cell i of line k at k·line + i·cell.
#[derive(Clone, Copy)]
pub struct Water {
    pub eta: *const f32,
    pub w: *const f32,
    pub eta_to: *mut f32,
    pub w_to: *mut f32,
    pub line: usize,
    pub cell: usize,
    pub count: usize,
    pub kappa: f32,
}

/// Sweeps some lines; returns whether the water is gone somewhere.
///
/// # Safety
/// The arrays hold these lines, nobody else writes them, `scratch` holds [`ARRAYS`] times [`LANES`] elements for each cell, and
/// the processor has the instruction set.
pub type Kernel = unsafe fn(Water, lines: Range<usize>, scratch: *mut f32) -> bool;

/// The kernel for an instruction set that is present.
pub fn kernel(isa: Isa, along_rows: bool) -> Kernel {
    match along_rows {
        true => of_isa!(isa, sweep::<true>),
        false => of_isa!(isa, sweep::<false>),
    }
}

macro_rules! instances {
    ($isa:ident, $lanes:literal $(, $feature:literal)?) => {
        mod $isa {
            use super::{Range, Water};

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            pub unsafe fn sweep<const ALONG_ROWS: bool>(of: Water, lines: Range<usize>, scratch: *mut f32) -> bool {
                let whole = lines.start + lines.len() / $lanes * $lanes;
                let mut dry = false;
                for first in (lines.start..whole).step_by($lanes) {
                    // SAFETY: by the caller's promise.
                    dry |= unsafe { super::together::<$lanes, ALONG_ROWS>(of, first, scratch) };
                }
                for line in whole..lines.end {
                    // SAFETY: as above.
                    dry |= unsafe { super::together::<1, ALONG_ROWS>(of, line, scratch) };
                }
                dry
            }
        }
    };
}

instances!(scalar, 1);
#[cfg(target_arch = "x86_64")]
instances!(avx2, 16, "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, 16, "avx512f,avx512dq,avx512vl");

/// Sweeps `L` lines from line `first` on.
#[inline(always)]
unsafe fn together<const L: usize, const ALONG_ROWS: bool>(
    of: Water,
    first: usize,
    scratch: *mut f32,
) -> bool {
    let n = of.count;
    if n == 0 {
        return false;
    }
    // SAFETY: by the caller's promise; the parts of the scratch memory are disjoint.
    let array =
        |k: usize| unsafe { std::slice::from_raw_parts_mut(scratch.add(k * n * L).cast::<[f32; L]>(), n) };
    let (eta, w, upper, y) = (array(0), array(1), array(2), array(3));
    // SAFETY: by the caller's promise.
    unsafe {
        load(of.eta.add(first * of.line), of, eta);
        load(of.w.add(first * of.line), of, w);
    }
    let half = 0.5 * of.kappa;
    // κ times the depth on the right of cell i.
    let face = |eta: &[[f32; L]], i: usize, l: usize| of.kappa + half * (eta[i][l] + eta[i + 1][l]);
    let (mut c, mut d, mut left) = ([0f32; L], [0f32; L], [0f32; L]);
    for i in 0..n {
        for l in 0..L {
            let right = if i + 1 < n { face(eta, i, l) } else { 0.0 };
            let wanted = if ALONG_ROWS { eta[i][l] + w[i][l] } else { eta[i][l] };
            let r = 1.0 / (1.0 + left[l] + right + left[l] * c[l]);
            d[l] = (wanted + left[l] * d[l]) * r;
            c[l] = -right * r;
            left[l] = right;
        }
        (upper[i], y[i]) = (c, d);
    }
    for i in (1..n).rev() {
        for l in 0..L {
            y[i - 1][l] -= upper[i - 1][l] * y[i][l];
        }
    }
    let (mut from_left, mut least) = ([0f32; L], [0f32; L]);
    for i in 0..n {
        for l in 0..L {
            let to_right = if i + 1 < n { face(eta, i, l) * (y[i + 1][l] - y[i][l]) } else { 0.0 };
            let change = to_right - from_left[l];
            from_left[l] = to_right;
            w[i][l] += change;
            eta[i][l] += if ALONG_ROWS { w[i][l] } else { change };
            // Heights that are not numbers show in the certificate.
            least[l] = least[l].min(eta[i][l]);
        }
    }
    // SAFETY: by the caller's promise.
    unsafe {
        store(of.eta_to.add(first * of.line), of, eta);
        store(of.w_to.add(first * of.line), of, w);
    }
    least.iter().any(|least| *least <= -1.0)
}

/// The cells of lines side by side.
#[inline(always)]
unsafe fn load<const L: usize>(from: *const f32, of: Water, to: &mut [[f32; L]]) {
    // SAFETY: by the caller's promise.
    unsafe {
        if of.line == 1 {
            for (i, cells) in to.iter_mut().enumerate() {
                *cells = from.add(i * of.cell).cast::<[f32; L]>().read_unaligned();
            }
            return;
        }
        // Transposed in blocks, so that each line of the cache is used as long as it is there.
        for (k, block) in to.chunks_mut(LANES).enumerate() {
            for l in 0..L {
                let from = from.add(l * of.line + k * LANES * of.cell);
                for (i, cells) in block.iter_mut().enumerate() {
                    cells[l] = from.add(i * of.cell).read();
                }
            }
        }
    }
}

#[inline(always)]
unsafe fn store<const L: usize>(to: *mut f32, of: Water, from: &[[f32; L]]) {
    // SAFETY: by the caller's promise.
    unsafe {
        if of.line == 1 {
            for (i, cells) in from.iter().enumerate() {
                to.add(i * of.cell).cast::<[f32; L]>().write_unaligned(*cells);
            }
            return;
        }
        for (k, block) in from.chunks(LANES).enumerate() {
            for l in 0..L {
                let to = to.add(l * of.line + k * LANES * of.cell);
                for (i, cells) in block.iter().enumerate() {
                    to.add(i * of.cell).write(cells[l]);
                }
            }
        }
    }
}
