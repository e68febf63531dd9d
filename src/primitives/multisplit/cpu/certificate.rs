//! The certificate: the definition once more. Each worker counts its part of the keys, made anew,
//! and then looks for each of them, and its value, where it belongs.

use std::ops::Range;

use crate::case::{Cancel, Failure};
use crate::device::cpu::{Blocks, Pool, part};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::buckets::Buckets;
use crate::primitives::multisplit::keys::Keys;

/// What an execution left.
pub struct Output<'a> {
    pub keys: &'a [u32],
    /// Values of 4 and of 8 bytes; one of them is empty, or both.
    pub values32: &'a [u32],
    pub values64: &'a [u64],
    /// m + 1 of them.
    pub offsets: &'a [u32],
}

/// The first mistake in words, `None` without one.
pub fn judge(spec: &Spec, output: &Output, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
    let of = |index, count| part(spec.keys as usize, index, count);
    let bucket = |i: u64| buckets.of(keys.at(i)) as usize;
    let mut places = pool.try_run(|worker| {
        let mut counts = vec![0u64; spec.buckets as usize];
        each(of(worker.index, worker.count), cancel, |i| {
            counts[bucket(i)] += 1;
            None
        })?;
        Ok(counts)
    })?;
    if let Some(mistake) = begin(&mut places, output.offsets) {
        return Ok(Some(mistake));
    }
    let found = pool.try_run(|worker| {
        let mut next = places[worker.index].clone();
        each(of(worker.index, worker.count), cancel, |i| {
            let place = &mut next[bucket(i)];
            *place += 1;
            mistake(&keys, output, i, *place as usize - 1)
        })
    })?;
    Ok(found.into_iter().flatten().next())
}

/// Counts become the places of each worker's first key of each bucket; the first offset that is
/// wrong in words.
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

/// Looks at every key of a range until one has a mistake.
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

/// What is wrong with key `i`, or its value, which belongs to this place.
fn mistake(keys: &Keys, output: &Output, i: u64, place: usize) -> Option<String> {
    let wrong = |what: &str, found: u64, wanted: u64| {
        (found != wanted)
            .then(|| format!("element {i}: {what}[{place}] is {found:#x} instead of {wanted:#x}"))
    };
    let key = wrong("keys", output.keys[place].into(), keys.at(i).into());
    let value32 = |&found: &u32| wrong("values", found.into(), keys.value32(i).into());
    let value64 = |&found: &u64| wrong("values", found, keys.value64(i));
    key.or_else(|| output.values32.get(place).and_then(value32))
        .or_else(|| output.values64.get(place).and_then(value64))
}
