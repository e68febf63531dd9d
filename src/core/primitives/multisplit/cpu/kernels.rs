//! The timed loops: one generic body per method, and named functions of it for each size of a value and
//! instruction set, in which the bucket function is selected before the loop.

use crate::device::cpu::Isa;
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::Avx512;
use crate::device::cpu::simd::{Lanes, Scalar};
use crate::primitives::cpu::tuple::{None, Tuple};
use crate::primitives::cpu::write_combining::{self, Labels, WorkerPart};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::buckets::{Buckets, Function, by_function};
use crate::primitives::multisplit::methods::combines;

/// A loop over a part of the keys.
///
/// # Safety
/// The pointers are valid as documented for their fields, the buckets of the keys are in range, nobody else
/// writes to the places of the part, and the processor has the instruction set.
pub type Loop = unsafe fn(&Buckets, &WorkerPart);

impl<F: Function> Labels<u32> for F {
    #[inline(always)]
    fn label(&self, key: u32) -> usize {
        self.of(key) as usize
    }
}

/// Counts the keys of each bucket in `next`, as a [`Loop`].
pub unsafe fn count(buckets: &Buckets, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    by_function!(buckets, |function| unsafe { write_combining::count::<u32>(function, part) })
}

/// Stores every key and value in its place immediately.
#[inline(always)]
unsafe fn scatter<V: Tuple>(labels: &impl Labels<u32>, part: &WorkerPart) {
    let (keys, values) = (part.from.0.cast::<u32>(), part.from.1.cast::<V>());
    let (to_keys, to_values) = (part.to.0.cast::<u32>(), part.to.1.cast::<V>());
    for i in part.range.clone() {
        // SAFETY: by the caller's promise.
        unsafe {
            let key = u32::take(keys.add(i));
            let next = part.next.add(labels.label(key));
            let place = *next as usize;
            *next = place as u64 + 1;
            key.put(to_keys.add(place));
            V::take(values.add(i)).put(to_values.add(place));
        }
    }
}

unsafe fn direct<V: Tuple>(buckets: &Buckets, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    by_function!(buckets, |function| unsafe { scatter::<V>(function, part) })
}

#[inline(always)]
unsafe fn combined<S: Lanes<u64>, V: Tuple>(buckets: &Buckets, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    by_function!(buckets, |function| unsafe { write_combining::sort::<S, V, u32>(function, part) })
}

unsafe fn combined_scalar<V: Tuple>(buckets: &Buckets, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    unsafe { combined::<Scalar, V>(buckets, part) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
unsafe fn combined_avx512<V: Tuple>(buckets: &Buckets, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    unsafe { combined::<Avx512, V>(buckets, part) }
}

/// The loop that moves every key, and its value, to the place given by `next`, for an available instruction
/// set.
pub fn sort(spec: &Spec, isa: Isa) -> Loop {
    match spec.value {
        4 => of::<u32>(spec, isa),
        8 => of::<u64>(spec, isa),
        _ => of::<None>(spec, isa),
    }
}

fn of<V: Tuple>(spec: &Spec, isa: Isa) -> Loop {
    match (combines(spec), isa) {
        #[cfg(target_arch = "x86_64")]
        (true, Isa::Avx512) => combined_avx512::<V>,
        (true, _) => combined_scalar::<V>,
        _ => direct::<V>,
    }
}
