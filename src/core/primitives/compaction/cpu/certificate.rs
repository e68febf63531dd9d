//! The certificates of the primitives atop scan.

use std::sync::atomic::Ordering;

use super::Compaction;
use crate::device::cpu::{POISON, check};
use crate::primitives::compaction::Operation;
use crate::primitives::cpu::prelude::*;
use crate::primitives::cpu::word;

/// Describes the first mistake; `None` if there is none.
pub fn first_mistake(case: &Compaction, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let (spec, number) = (&case.spec, case.number.0.load(Ordering::Relaxed));
    if spec.operation == Operation::Compact && number != spec.trues {
        return Ok(Some(format!("out has {number} elements, not {}", spec.trues)));
    }
    let look = |n: u64, prove: &(dyn Fn(u64) -> Result<(), String> + Sync)| {
        check::find(pool, n as usize, cancel, |mut block| block.find_map(|i| prove(i as u64).err()))
    };
    let out = look(spec.elements, &|k| match spec.operation {
        Operation::Enumerate => number_at(case, k),
        Operation::Distribute => copied(case, k),
        Operation::Compact if k < spec.trues => kept(case, k),
        Operation::Compact => untouched(case, k),
        Operation::Split | Operation::SplitAndSegment => split(case, k),
    })?;
    if out.is_some() {
        return Ok(out);
    }
    match spec.operation {
        Operation::Compact if spec.segmented() => look(spec.segment_count(), &|j| pointer(case, j)),
        Operation::SplitAndSegment => look(spec.elements, &|k| new_head(case, k)),
        _ => Ok(None),
    }
}

fn require(right: bool, mistake: impl FnOnce() -> String) -> Result<(), String> {
    if right { Ok(()) } else { Err(mistake()) }
}

fn equal(k: u64, found: u64, wanted: u64) -> Result<(), String> {
    require(found == wanted, || format!("out[{k}] is {found:#x}, not {wanted:#x}"))
}

/// out\[k\] as bits.
fn found(case: &Compaction, k: u64) -> u64 {
    word(&case.output, case.spec.out_element(), k as usize)
}

/// Word `w` beside out.
fn beside(case: &Compaction, w: u64) -> u64 {
    word(&case.beside, 4, w as usize)
}

/// out\[k\] is 0 where a segment begins; otherwise out\[k − 1\], plus one if flag k − 1 is true.
fn number_at(case: &Compaction, k: u64) -> Result<(), String> {
    let begins = case.inputs.segments.head(k);
    let wanted = if begins { 0 } else { found(case, k - 1) + u64::from(case.inputs.flag(k - 1)) };
    equal(k, found(case, k), wanted)
}

fn copied(case: &Compaction, k: u64) -> Result<(), String> {
    let segment = case.inputs.segment(k);
    let from = if case.spec.backward() { segment.end - 1 } else { segment.start };
    equal(k, found(case, k), case.inputs.value(from))
}

/// The index in in of the element at out\[k\].
fn source(case: &Compaction, k: u64) -> Result<u64, String> {
    let found = found(case, k);
    let i = case.inputs.index(found);
    require(i < case.spec.elements, || format!("out[{k}] is {found:#x}, which is not an element of in"))?;
    Ok(i)
}

/// The kept elements are true and their indices rise; since as many as there are trues are kept, none is
/// missing.
fn kept(case: &Compaction, k: u64) -> Result<(), String> {
    let i = source(case, k)?;
    require(case.inputs.flag(i), || format!("out[{k}] is in[{i}], which is false"))?;
    let before = if k == 0 { return Ok(()) } else { source(case, k - 1)? };
    require(before < i, || format!("out[{k}] is in[{i}], after in[{before}]"))
}

/// Nothing is written behind the kept elements.
fn untouched(case: &Compaction, k: u64) -> Result<(), String> {
    let poison = if case.spec.out_element() == 4 { POISON & u64::from(u32::MAX) } else { POISON };
    let found = found(case, k);
    require(found == poison, || format!("out[{k}] holds {found:#x}, but nothing is written there"))
}

/// The places of a segment hold elements of that segment, falses with rising indices and then trues with rising
/// indices: all differ, so none is missing.
fn split(case: &Compaction, k: u64) -> Result<(), String> {
    let (segment, i) = (case.inputs.segment(k), source(case, k)?);
    require(segment.contains(&i), || format!("out[{k}] is in[{i}] of another segment"))?;
    let before = if k == segment.start { return Ok(()) } else { source(case, k - 1)? };
    let key = |i: u64| (case.inputs.flag(i), i);
    require(key(before) < key(i), || format!("out[{k}] is in[{i}], after in[{before}]"))
}

/// Segment j begins behind all kept elements of the segments before it.
fn pointer(case: &Compaction, j: u64) -> Result<(), String> {
    let at = beside(case, j);
    let head = case.inputs.segments.pointer(j).unwrap_or(0);
    let before = |k: u64| source(case, k).is_ok_and(|i| i < head);
    let right =
        at <= case.spec.trues && (at == 0 || before(at - 1)) && (at == case.spec.trues || !before(at));
    require(right, || format!("segment {j} begins at out[{at}]"))
}

/// A segment begins where one began before and at each segment's first true; the bits behind the last element
/// are 0.
fn new_head(case: &Compaction, k: u64) -> Result<(), String> {
    let flag = |k: u64| source(case, k).is_ok_and(|i| case.inputs.flag(i));
    let wanted = case.inputs.segments.head(k) || flag(k) && !flag(k - 1);
    let last = k + 1 == case.spec.elements;
    let bits = beside(case, k / 32) >> (k % 32);
    let right = if last { bits == u64::from(wanted) } else { (bits & 1 == 1) == wanted };
    require(right, || format!("out[{k}] {} a segment", if wanted { "does not begin" } else { "begins" }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::compaction::Spec;
    use crate::primitives::compaction::tests::spec;

    /// A case that has run, so that its output can be tampered with and certified again.
    struct Tampered {
        case: Compaction,
        pool: Pool,
    }

    impl Tampered {
        fn new(spec: Spec) -> Tampered {
            let pool = Pool::new(None).expect("a pool");
            let mut case = Compaction::new(spec, Isa::Scalar, &pool, None).expect("memory");
            case.fill(&pool, &Cancel::default()).expect("not cancelled");
            case.clear(&pool, &Cancel::default()).expect("not cancelled");
            pool.run(|worker| case.execute(worker));
            let tampered = Tampered { case, pool };
            assert_eq!(tampered.mistake(), None, "{spec:?}");
            tampered
        }

        fn mistake(&self) -> Option<String> {
            first_mistake(&self.case, &self.pool, &Cancel::default()).expect("not cancelled")
        }

        fn out(&mut self) -> &mut [u32] {
            // SAFETY: the workers are done, and each test has one of these at a time.
            unsafe { self.case.output.write::<u32>(0..self.case.spec.elements as usize) }
        }

        fn beside(&mut self) -> &mut [u32] {
            // SAFETY: the workers are done, and each test has one of these at a time.
            unsafe { self.case.beside.write::<u32>(0..self.case.beside.holds::<u32>()) }
        }

        /// `tamper` makes a mistake that the certificate finds; applying it twice undoes it.
        fn catches(&mut self, tamper: impl Fn(&mut Tampered)) {
            tamper(self);
            assert!(self.mistake().is_some(), "{:?}", self.case.spec);
            tamper(self);
            assert_eq!(self.mistake(), None);
        }
    }

    #[test]
    fn compactions_that_are_wrong() {
        let mut job = Tampered::new(spec(Operation::Compact, 1000, 30, 5));
        job.catches(|job| job.out().swap(17, 18));
        job.catches(|job| job.out().swap(0, 499));
        // A false element in the place of a true one.
        let (at, inputs) = (40, job.case.inputs);
        let kept = inputs.index(found(&job.case, at));
        let next = (kept + 1..1000).find(|&i| !inputs.flag(i)).expect("a false one");
        let difference = inputs.value(kept) as u32 ^ inputs.value(next) as u32;
        job.catches(|job| job.out()[at as usize] ^= difference);
        job.catches(|job| job.out()[500] ^= 1);
        job.catches(|job| {
            job.case.number.0.fetch_xor(1, Ordering::Relaxed);
        });
        job.catches(|job| job.beside()[9] ^= 1);
        job.catches(|job| job.beside()[0] ^= 1);
    }

    #[test]
    fn splits_that_are_wrong() {
        for mean in [0, 40] {
            let operation = if mean == 0 { Operation::Split } else { Operation::SplitAndSegment };
            let mut job = Tampered::new(spec(operation, 1000, mean, 5));
            // Not stable, then not split, then across segments, then an element twice.
            let flags: Vec<bool> =
                (0..1000).map(|k| job.case.inputs.flag(job.case.inputs.index(found(&job.case, k)))).collect();
            let two = |first, second| flags.windows(2).position(|pair| pair == [first, second]);
            let same = two(false, false).expect("two falses") + 1;
            job.catches(|job| job.out().swap(same - 1, same));
            let edge = two(false, true).expect("a first true") + 1;
            job.catches(|job| job.out().swap(edge - 1, edge));
            job.catches(|job| job.out().swap(3, 900));
            let twice = job.out()[same] ^ job.out()[same - 1];
            job.catches(|job| job.out()[same] ^= twice);
            if mean > 0 {
                job.catches(|job| job.beside()[5] ^= 1 << 7);
                job.catches(|job| job.beside()[31] ^= 1 << 30);
            }
        }
    }

    #[test]
    fn numbers_and_copies_that_are_wrong() {
        for (operation, mean) in [Operation::Enumerate, Operation::Distribute]
            .into_iter()
            .flat_map(|o| [0, 20].map(|mean| (o, mean)))
        {
            let mut job = Tampered::new(spec(operation, 1000, mean, 5));
            job.catches(|job| job.out()[0] ^= 1);
            job.catches(|job| job.out()[999] ^= 1);
            // If a segment, or its rest, has the same error throughout, the error shows only where it begins.
            job.catches(|job| job.out()[500..520].iter_mut().for_each(|word| *word ^= 1 << 20));
        }
    }
}
