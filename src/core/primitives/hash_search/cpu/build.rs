//! hash-build on the CPU: the workers empty the table, and each puts in its part of the records; with `partitioned`,
//! each partitions its part, and then puts in all workers' records of some parts of the table.

use super::partitioned::{Parts, take};
use super::table::Table;
use crate::device::cpu::check::{self, Bitmap};
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::layout::{NO_ID, id_of, slot_word};
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::spec::{Build, BuildMethod};

use std::sync::atomic::Ordering;

/// Records whose homes are on their way together.
const GROUP: usize = 16;

/// The records in the order of the parts of the table, for each worker's part of them.
struct Partitions {
    parts: Parts,
    records: Buffer,
    /// For each worker and each of its two pieces: where the piece begins, and where its partitions do.
    starts: Buffer,
}

/// Words of `starts` for a piece.
const STARTS: usize = 258;

impl Partitions {
    fn new(spec: &Build, workers: usize) -> Result<Option<Partitions>, Failure> {
        if !matches!(spec.method, BuildMethod::Partitioned { .. }) {
            return Ok(None);
        }
        let (parts, records) = (Parts::new(spec.bits()), Buffer::new(8 * spec.count as usize)?);
        Ok(Some(Partitions { parts, records, starts: Buffer::new(4 * 2 * workers * STARTS)? }))
    }

    /// Partitions the records of a piece, of which no other worker has any.
    fn split(&self, records: &[u64], piece: usize, first: usize) {
        // SAFETY: workers have disjoint pieces.
        let (split, saved) = unsafe {
            let split = self.records.write::<u64>(first..first + records.len());
            (split, self.starts.write::<u32>(piece * STARTS..(piece + 1) * STARTS))
        };
        let mut next = self.parts.starts(records.iter().map(|&record| record as u32));
        saved[0] = first as u32;
        saved[1..].copy_from_slice(&next);
        for &record in records {
            split[take(&mut next, self.parts.of(record as u32))] = record;
        }
    }

    /// The records of a piece in one partition.
    fn of(&self, piece: usize, part: usize) -> &[u64] {
        // SAFETY: all workers have met since they wrote these.
        unsafe {
            let starts = self.starts.read::<u32>(piece * STARTS..(piece + 1) * STARTS);
            let at = |of: usize| (starts[0] + starts[1 + of]) as usize;
            self.records.read::<u64>(at(part)..at(part + 1))
        }
    }
}

/// A case with its table.
pub struct HashBuild {
    records: Records,
    table: Table,
    /// The records, and an extra one, which is read only with a fault.
    input: Buffer,
    partitions: Option<Partitions>,
    fault: Option<Fault>,
}

impl PoolJob for HashBuild {
    type Case = Build;

    fn prepare(spec: Build, context: &Context) -> Result<(HashBuild, Isa), Failure> {
        let isa = context.isa_or(|| Isa::Scalar)?;
        let (records, layout, n) = (spec.records(), spec.layout(), spec.count as usize);
        let partitions = Partitions::new(&spec, context.pool.threads())?;
        let mut input = Buffer::new(8 * (n + 1))?;
        let record = |id: usize| slot_word(records.key_of_record(id as u64), id as u32);
        context.pool.fill(&mut input, n + 1, context.cancel, record)?;
        let table = Table::new(layout, &records)?;
        Ok((HashBuild { records, table, input, partitions, fault: context.fault }, isa))
    }

    fn execute(&self, worker: Worker) {
        part(self.table.all(), worker.index, worker.count).for_each(|at| self.table.empty_slot(at));
        if worker.index == 0 {
            self.table.reset_reach();
        }
        worker.meet();
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let pieces = pieces(self.records.count as usize, 64, worker, self.fault);
        for (number, piece) in pieces.into_iter().enumerate() {
            // SAFETY: the piece lies inside the records, which nobody writes; with a fault it extends to the extra one.
            let records = unsafe { self.input.read::<u64>(piece.start + beside..piece.end + beside) };
            match &self.partitions {
                Some(partitions) => partitions.split(records, 2 * worker.index + number, piece.start),
                None => self.insert(records),
            }
        }
        worker.meet();
        if let Some(partitions) = &self.partitions {
            for part in
                (worker.index * 256).div_ceil(worker.count)..((worker.index + 1) * 256).div_ceil(worker.count)
            {
                (0..2 * worker.count).for_each(|piece| self.insert(partitions.of(piece, part)));
            }
            worker.meet();
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(self.table.slots(), 8)]
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let seen = Bitmap::new(self.records.count as usize)?;
        let slots = check::find(pool, self.table.all(), cancel, |mut block| {
            block.find_map(|at| self.table.mistake(at, &self.records).or_else(|| self.twice(at, &seen)))
        })?;
        let missing = check::find(pool, self.records.count as usize, cancel, |mut block| {
            block.find(|&id| !seen.get(id)).map(|id| format!("record {id} is not in the table"))
        })?;
        Ok(Verdict::of(slots.or(missing), self.records.count))
    }
}

impl HashBuild {
    /// Puts in some records.
    fn insert(&self, records: &[u64]) {
        for group in records.chunks(GROUP) {
            group.iter().for_each(|&record| self.table.request(record as u32));
            for &record in group {
                // A record without room is missing from the table, which the certificate shows.
                self.table.insert(record);
            }
        }
    }

    /// Whether the record in a slot is in another slot, too.
    fn twice(&self, at: usize, seen: &Bitmap) -> Option<String> {
        let id = id_of(self.table.slot(at).load(Ordering::Relaxed));
        (id != NO_ID && seen.set(id as usize)).then(|| format!("record {id} is twice in the table"))
    }
}
