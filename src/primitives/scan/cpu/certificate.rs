//! The proof of a scan: each element of out follows from the one before it.

use super::{Bits, Scan};
use crate::case::{Cancel, Failure};
use crate::device::cpu::{Pool, check};
use crate::primitives::scan::operator::combine;
use crate::primitives::scan::spec::Kind;

/// out[i] = out[i−1] ⊕ in[i], or where a segment begins in[i]; exclusive, out[i−1] ⊕ in[i−1], or the
/// identity. Backward i + 1 takes the place of i − 1. in and the heads are computed anew.
pub fn first_mistake(scan: &Scan, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    check::find(pool, scan.n, cancel, |block| {
        block.into_iter().find_map(|i| {
            let (found, wanted) = (found(scan, i), wanted(scan, i));
            (found != wanted).then(|| format!("out[{i}] is {found:x?}, not {wanted:x?}"))
        })
    })
}

#[inline(always)]
fn wanted(scan: &Scan, i: usize) -> Bits {
    let (spec, inputs, segments) = (&scan.spec, scan.spec.inputs(), scan.spec.segments());
    let inclusive = spec.kind == Kind::Inclusive;
    let begins = if spec.backward() {
        i + 1 == scan.n || segments.head(i as u64 + 1)
    } else {
        segments.head(i as u64)
    };
    match (begins, inclusive) {
        (true, true) => inputs.bits(i as u64),
        (true, false) => scan.identity(),
        (false, _) => {
            let before = if spec.backward() { i + 1 } else { i - 1 };
            let element = if inclusive { i } else { before };
            combine(spec.operator, spec.ty, found(scan, before), inputs.bits(element as u64))
        }
    }
}

#[inline(always)]
fn found(scan: &Scan, i: usize) -> Bits {
    let pair = scan.spec.operator.words() == 2;
    // SAFETY: nobody writes while this is checked.
    unsafe {
        match scan.spec.element() {
            4 => [scan.output.ptr::<u32>().add(i).read().into(), 0],
            8 if pair => scan.output.ptr::<[u32; 2]>().add(i).read().map(u64::from),
            8 => [scan.output.ptr::<u64>().add(i).read(), 0],
            _ => scan.output.ptr::<Bits>().add(i).read(),
        }
    }
}
