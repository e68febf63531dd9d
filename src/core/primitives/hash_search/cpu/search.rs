//! hash-search on the CPU: what the methods share, and the method `direct`, with which each worker searches for its
//! part of the keys.

use std::ops::Range;

use super::he2007::He2007;
use super::kernels::{self, Call, Timed};
use super::partitioned::Partitioned;
use super::table::Table;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{Buffer, Context, Isa, Pool, PoolJob, Worker, check, pieces};
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::{Method, Search};

/// The search keys of an execution.
pub struct Keys {
    /// The keys, and an extra one, which is read only with a fault.
    keys: Buffer,
    pub n: usize,
    pub fault: Option<Fault>,
}

impl Keys {
    fn new(searches: &Searches, n: usize, context: &Context) -> Result<Keys, Failure> {
        let mut keys = Buffer::new(4 * (n + 1))?;
        context.pool.fill(&mut keys, n + 1, context.cancel, |q| searches.key(q as u64))?;
        Ok(Keys { keys, n, fault: context.fault })
    }

    /// Some of the keys; with a fault, of which each is the one after its own.
    pub fn some(&self, range: Range<usize>) -> &[u32] {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        // SAFETY: nobody writes to the keys, and there is an extra one.
        unsafe { self.keys.read::<u32>(range.start + beside..range.end + beside) }
    }

    /// A worker's keys.
    pub fn pieces(&self, worker: Worker) -> [Range<usize>; 2] {
        pieces(self.n, 64, worker, self.fault)
    }
}

/// A method with its table, its output and its temporary arrays.
pub trait Searcher: Send + Sync {
    /// A worker's share of an execution.
    fn search(&self, keys: &Keys, worker: Worker);

    /// Poisons the output.
    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure>;

    /// The first mistake in the results of `n` searches.
    fn mistake(
        &self,
        searches: &Searches,
        n: usize,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Option<String>, Failure>;

    /// The whole output.
    fn output(&self) -> Vec<u8>;
}

/// A table, and the loop that searches it.
pub struct Lookup {
    table: Table,
    timed: Timed,
}

impl Lookup {
    pub fn new(spec: &Search, searches: &Searches, isa: Isa, context: &Context) -> Result<Lookup, Failure> {
        let layout = spec.layout();
        let table = Table::filled(layout, &searches.records, &context.pool, context.cancel)?;
        Ok(Lookup { table, timed: kernels::timed(&layout, isa) })
    }

    /// Searches for some keys.
    pub fn search(&self, keys: &[u32], out: &mut [u32]) {
        let (table, layout, n) = (self.table.start(), self.table.layout, keys.len().min(out.len()));
        let reach = self.table.reach();
        let call = Call { table, layout, reach, keys: keys.as_ptr(), out: out.as_mut_ptr(), n };
        // SAFETY: the table has the layout's slots, and the processor the instruction set of the loop.
        unsafe { (self.timed)(&call) };
    }
}

/// Each key looks into its buckets.
struct Direct {
    lookup: Lookup,
    out: Buffer,
}

impl Searcher for Direct {
    fn search(&self, keys: &Keys, worker: Worker) {
        for piece in keys.pieces(worker) {
            // SAFETY: workers have disjoint pieces.
            let out = unsafe { self.out.write::<u32>(piece.clone()) };
            self.lookup.search(keys.some(piece), out);
        }
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        check::poison(pool, &self.out, 4, cancel)
    }

    fn mistake(
        &self,
        searches: &Searches,
        n: usize,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Option<String>, Failure> {
        check::find(pool, n, cancel, |block| {
            // SAFETY: nobody writes while this is checked.
            let found = unsafe { self.out.read::<u32>(block.clone()) };
            block.zip(found).find_map(|(q, &found)| searches.mistake(q as u64, found))
        })
    }

    fn output(&self) -> Vec<u8> {
        // SAFETY: nobody writes after the execution.
        unsafe { self.out.to_vec() }
    }
}

/// A case with its keys.
pub struct Searching {
    searches: Searches,
    keys: Keys,
    searcher: Box<dyn Searcher>,
}

impl PoolJob for Searching {
    type Case = Search;

    fn prepare(spec: Search, context: &Context) -> Result<(Searching, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let n = spec.keys as usize;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        let lookup = || Lookup::new(&spec, &searches, isa, context);
        let searcher: Box<dyn Searcher> = match spec.method {
            Method::He2007 { .. } => Box::new(He2007::new(&spec, &searches, context)?),
            Method::Partitioned { .. } => Box::new(Partitioned::new(&spec, lookup()?)?),
            _ => Box::new(Direct { lookup: lookup()?, out: Buffer::new(4 * n)? }),
        };
        Ok((Searching { keys: Keys::new(&searches, n, context)?, searches, searcher }, isa))
    }

    fn execute(&self, worker: Worker) {
        self.searcher.search(&self.keys, worker);
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.searcher.clear(pool, cancel)
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.searcher.mistake(&self.searches, self.keys.n, pool, cancel)?;
        Ok(Verdict::of(mistake, self.keys.n as u64))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(self.searcher.output())
    }
}
