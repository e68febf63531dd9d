//! hash-build on the CPU: the workers empty the table, and put in the records in the order of the method.

use std::sync::atomic::Ordering;

use super::table::Table;
use crate::device::cpu::check::{self, Bitmap};
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::layout::{NO_ID, id_of, slot_word};
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::{Build, methods};

/// Records whose homes are on their way together.
const GROUP: usize = 16;

/// A case with its table.
pub struct HashBuild {
    records: Records,
    table: Table,
    /// The records, and an extra one, which is read only with a fault.
    input: Buffer,
    method: PoolMethod<HashBuild>,
    fault: Option<Fault>,
}

impl PoolJob for HashBuild {
    type Case = Build;

    fn prepare(spec: Build, context: &Context) -> Result<(HashBuild, Isa), Failure> {
        let isa = context.isa_or(|| Isa::Scalar)?;
        let (records, layout, n) = (spec.records(), spec.layout(), spec.count as usize);
        let method = methods::cpu::build(&spec, context.pool.threads())?;
        let mut input = Buffer::new(8 * (n + 1))?;
        let record = |id: usize| slot_word(records.key_of_record(id as u64), id as u32);
        context.pool.fill(&mut input, n + 1, context.cancel, record)?;
        let table = Table::new(layout, &records)?;
        Ok((HashBuild { records, table, input, method, fault: context.fault }, isa))
    }

    fn execute(&self, worker: Worker) {
        part(self.table.all(), worker.index, worker.count).for_each(|at| self.table.empty_slot(at));
        if worker.index == 0 {
            self.table.reset_reach();
        }
        worker.meet();
        (self.method)(self, worker);
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(self.table.slots(), 8)]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input).into())
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
    /// A worker's records.
    pub fn pieces(&self, worker: Worker) -> [Range<usize>; 2] {
        pieces(self.records.count as usize, 64, worker, self.fault)
    }

    /// The records of a range; with a fault each is the one after its own.
    pub fn some(&self, range: Range<usize>) -> &[u64] {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        // SAFETY: the range lies inside the records, which nobody writes; with a fault it extends to the extra one.
        unsafe { self.input.read::<u64>(range.start + beside..range.end + beside) }
    }

    /// Puts in some records.
    pub fn insert(&self, records: &[u64]) {
        for group in records.chunks(GROUP) {
            group.iter().for_each(|&record| self.table.request(record as u32));
            for &record in group {
                // A record without room is missing from the table, which the certificate shows.
                self.table.insert(record);
            }
        }
    }

    /// Reports the record in a slot if it is in another slot, too.
    fn twice(&self, at: usize, seen: &Bitmap) -> Option<String> {
        let id = id_of(self.table.slot(at).load(Ordering::Relaxed));
        (id != NO_ID && seen.set(id as usize)).then(|| format!("record {id} is in the table twice"))
    }
}
