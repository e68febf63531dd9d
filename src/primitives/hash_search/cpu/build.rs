//! hash-build on the CPU: the workers empty the table, and each puts in its part of the records.

use super::table::Table;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::check::Bitmap;
use crate::device::cpu::{Buffer, Context, Isa, Pool, PoolJob, Worker, check, memory, part, pieces};
use crate::primitives::hash_search::layout::{NO_ID, id_of, slot_word};
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::spec::Build;

use std::ops::Range;
use std::sync::atomic::Ordering;

/// Records whose homes are on their way together.
const GROUP: usize = 16;

/// A case with its table.
pub struct Building {
    records: Records,
    table: Table,
    /// The records, and an extra one, which is read only with a fault.
    input: Buffer,
    fault: Option<Fault>,
}

impl PoolJob for Building {
    type Case = Build;

    fn prepare(spec: Build, context: &Context) -> Result<(Building, Isa), Failure> {
        let isa = context.isa_or(|| Isa::Scalar)?;
        let (records, layout, n) = (spec.records(), spec.layout(), spec.count as usize);
        memory::require(layout.bytes() + 9 * spec.count)?;
        let mut input = Buffer::new(8 * (n + 1))?;
        let record = |id: usize| slot_word(records.key_of_record(id as u64), id as u32);
        context.pool.fill(&mut input, n + 1, context.cancel, record)?;
        let table = Table::new(layout, &records)?;
        Ok((Building { records, table, input, fault: context.fault }, isa))
    }

    fn execute(&self, worker: Worker) {
        part(self.table.all(), worker.index, worker.count).for_each(|at| self.table.empty_slot(at));
        worker.meet();
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        for piece in pieces(self.records.count as usize, 64, worker, self.fault) {
            self.insert(piece.start + beside..piece.end + beside);
        }
        worker.meet();
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        check::poison(pool, self.table.slots(), 8, cancel)
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

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        // SAFETY: nobody writes after the execution.
        Ok(unsafe { self.table.slots().read::<u8>(0..8 * self.table.all()) }.to_vec())
    }

    fn memory(&self) -> u64 {
        (self.table.slots().bytes() + self.input.bytes()) as u64
    }
}

impl Building {
    fn insert(&self, range: Range<usize>) {
        for first in range.clone().step_by(GROUP) {
            // SAFETY: the range lies inside the records, which nobody writes.
            let records = unsafe { self.input.read::<u64>(first..range.end.min(first + GROUP)) };
            for &record in records {
                self.table.request(record as u32);
            }
            for &record in records {
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
