//! Cyclic reduction of one system after another, in place in a copy of its rows.

use super::Batch;
use crate::primitives::real::Real;

/// Solves `systems` systems.
///
/// # Safety
/// The arrays hold these systems, nobody else writes their x, and `scratch` holds four times as many elements as a system
/// has rows.
pub unsafe fn solve<T: Real>(of: Batch<T>, systems: usize, scratch: *mut T) {
    let n = of.rows;
    // SAFETY: by the caller's promise.
    let rows = unsafe { std::slice::from_raw_parts_mut(scratch, 4 * n) };
    let (a, rest) = rows.split_at_mut(n);
    let (b, rest) = rest.split_at_mut(n);
    let (c, d) = rest.split_at_mut(n);
    for system in 0..systems {
        let of = of.from(system);
        for i in 0..n {
            let at = i * of.row;
            // SAFETY: by the caller's promise.
            unsafe {
                a[i] = if i == 0 { T::of(0.0) } else { of.a.add(at).read() };
                b[i] = of.b.add(at).read();
                c[i] = if i + 1 == n { T::of(0.0) } else { of.c.add(at).read() };
                d[i] = of.d.add(at).read();
            }
        }
        reduce(a, b, c, d);
        for (i, x) in d.iter().enumerate() {
            // SAFETY: by the caller's promise.
            unsafe { of.x.add(i * of.row).write(*x) };
        }
    }
}

/// x in the place of d.
fn reduce<T: Real>(a: &mut [T], b: &mut [T], c: &mut [T], d: &mut [T]) {
    let (n, zero) = (a.len(), T::of(0.0));
    let mut by = 1;
    // Rows 2·by − 1, 4·by − 1 … lose their neighbours at a distance of `by`.
    while 2 * by <= n {
        for i in (2 * by - 1..n).step_by(2 * by) {
            let (l, r) = (i - by, i + by);
            let left = a[i] / b[l];
            a[i] = zero - a[l] * left;
            b[i] = b[i] - c[l] * left;
            d[i] = d[i] - d[l] * left;
            let right = if r < n { c[i] / b[r] } else { zero };
            c[i] = zero;
            if r < n {
                c[i] = zero - c[r] * right;
                b[i] = b[i] - a[r] * right;
                d[i] = d[i] - d[r] * right;
            }
        }
        by *= 2;
    }
    while by > 0 {
        for i in (by - 1..n).step_by(2 * by) {
            let mut x = d[i];
            if i >= by {
                x = x - a[i] * d[i - by];
            }
            if i + by < n {
                x = x - c[i] * d[i + by];
            }
            d[i] = x / b[i];
        }
        by /= 2;
    }
}
