//! hash-search on the CPU: each worker searches for its part of the keys.

use super::kernels::{self, Call, Timed};
use super::table::Table;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{Buffer, Context, Isa, Pool, PoolJob, Worker, check, memory, pieces};
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;

/// A case with its table.
pub struct Searching {
    spec: Search,
    searches: Searches,
    table: Table,
    /// The keys, and an extra one, which is read only with a fault.
    keys: Buffer,
    out: Buffer,
    timed: Timed,
    fault: Option<Fault>,
}

impl PoolJob for Searching {
    type Case = Search;

    fn prepare(spec: Search, context: &Context) -> Result<(Searching, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (layout, n) = (spec.layout(), spec.keys as usize);
        memory::require(layout.bytes() + 8 * spec.keys)?;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        let table = Table::filled(layout, &searches.records, &context.pool, context.cancel)?;
        let mut keys = Buffer::new(4 * (n + 1))?;
        context.pool.fill(&mut keys, n + 1, context.cancel, |q| searches.key(q as u64))?;
        let (out, timed) = (Buffer::new(4 * n)?, kernels::timed(&layout, isa));
        Ok((Searching { spec, searches, table, keys, out, timed, fault: context.fault }, isa))
    }

    fn execute(&self, worker: Worker) {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        for piece in pieces(self.spec.keys as usize, 64, worker, self.fault) {
            let call = Call {
                table: self.table.start(),
                layout: self.table.layout,
                keys: self.keys.ptr::<u32>().wrapping_add(piece.start + beside).cast_const(),
                out: self.out.ptr::<u32>().wrapping_add(piece.start),
                n: piece.len(),
            };
            // SAFETY: the piece lies inside the arrays; with a fault it extends at most to the extra key.
            unsafe { (self.timed)(&call) };
        }
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        check::poison(pool, &self.out, 4, cancel)
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let n = self.spec.keys as usize;
        let mistake = check::find(pool, n, cancel, |block| {
            // SAFETY: nobody writes while this is checked.
            let found = unsafe { self.out.read::<u32>(block.clone()) };
            block.zip(found).find_map(|(q, &found)| self.searches.mistake(q as u64, found))
        })?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        // SAFETY: nobody writes after the execution.
        Ok(unsafe { self.out.read::<u8>(0..4 * self.spec.keys as usize) }.to_vec())
    }

    fn memory(&self) -> u64 {
        (self.table.slots().bytes() + self.keys.bytes() + self.out.bytes()) as u64
    }
}
