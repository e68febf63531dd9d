//! The certificate evaluates the definition independently. Each worker counts its part of the keys, regenerated
//! from the seed, and then looks for each key, and its value, in its place.

use super::Multisplit;
use crate::device::cpu::Blocks;
use crate::primitives::cpu::prelude::*;
use crate::primitives::multisplit::buckets::Buckets;
use crate::primitives::multisplit::keys::Keys;

/// Describes the first mistake; `None` if there is none.
///
/// # Safety
/// The workers are done with the case.
pub unsafe fn judge(case: &Multisplit, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let (spec, m) = (&case.spec, case.spec.buckets as usize);
    let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
    let of = |index, count| part(spec.keys as usize, index, count);
    let bucket = |i: u64| buckets.of(keys.at(i)) as usize;
    let mut places = pool.try_run(|worker| {
        let mut counts = vec![0u64; m];
        each(of(worker.index, worker.count), cancel, |i| {
            counts[bucket(i)] += 1;
            None
        })?;
        Ok(counts)
    })?;
    // SAFETY: by the caller's promise.
    if let Some(mistake) = begin(&mut places, unsafe { case.offsets.read(0..m + 1) }) {
        return Ok(Some(mistake));
    }
    let found = pool.try_run(|worker| {
        let mut next = places[worker.index].clone();
        each(of(worker.index, worker.count), cancel, |i| {
            let place = &mut next[bucket(i)];
            *place += 1;
            let at = *place as usize - 1;
            mistake(
                [case.output.key(at), case.output.value(at)],
                [keys.at(i).into(), keys.value(i, spec.value)],
                i,
                *place - 1,
            )
        })
    })?;
    Ok(found.into_iter().flatten().next())
}

/// Turns counts into the places of each worker's first key of each bucket; describes the first wrong offset.
fn begin(counts: &mut [Vec<u64>], offsets: &[u32]) -> Option<String> {
    let (mut place, mut mistake) = (0, None);
    let mut compare = |b: usize, wanted: u64| {
        let found = offsets[b];
        if mistake.is_none() && u64::from(found) != wanted {
            mistake = Some(format!("offset {b} is {found} instead of {wanted}"));
        }
    };
    for b in 0..offsets.len() - 1 {
        compare(b, place);
        for counts in counts.iter_mut() {
            place += std::mem::replace(&mut counts[b], place);
        }
    }
    compare(offsets.len() - 1, place);
    mistake
}

/// Calls `look` with the keys of a range until it finds a mistake.
fn each(
    range: Range<usize>,
    cancel: &Cancel,
    mut look: impl FnMut(u64) -> Option<String>,
) -> Result<Option<String>, Failure> {
    for block in Blocks::of(range) {
        cancel.check()?;
        if let Some(mistake) = block.map(|i| look(i as u64)).find_map(|mistake| mistake) {
            return Ok(Some(mistake));
        }
    }
    Ok(None)
}

/// Describes the mistake if key `i` or its value is not in this place.
fn mistake(found: [u64; 2], wanted: [u64; 2], i: u64, place: u64) -> Option<String> {
    let at = found.iter().zip(&wanted).position(|(found, wanted)| found != wanted)?;
    let (what, found, wanted) = (["keys", "values"][at], found[at], wanted[at]);
    Some(format!("element {i}: {what}[{place}] is {found:#x} instead of {wanted:#x}"))
}
