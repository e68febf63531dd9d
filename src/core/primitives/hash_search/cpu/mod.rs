//! Hash tables on the CPU: building ([`build`]), what the methods of searches share, and their method `direct`, with
//! which each worker searches for its part of the keys.

pub mod build;
mod he2007;
pub mod kernels;
mod partitioned;
pub mod table;

use crate::device::cpu::check::{Bitmap, find};
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::{Method, Search};
use he2007::He2007;
use kernels::{Call, Timed};
use partitioned::Partitioned;
use table::Table;

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

    /// The arrays that an execution writes, in the order in which the oracle reads them.
    fn outputs(&self) -> Vec<OutputArray<'_>>;

    /// What is wrong with the result at a place. If the order is free, `seen` has a bit for each search, and those of
    /// the results that were looked at are set.
    fn mistake(&self, searches: &Searches, at: usize, seen: &Bitmap) -> Option<String>;
}

/// Result `at` of an array of one for each search.
fn result(out: &Buffer, at: usize) -> u32 {
    // SAFETY: nobody writes while results are checked.
    unsafe { out.read::<u32>(at..at + 1)[0] }
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

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.out, 4)]
    }

    fn mistake(&self, searches: &Searches, at: usize, _seen: &Bitmap) -> Option<String> {
        searches.mistake(at as u64, result(&self.out, at))
    }
}

/// A case with its keys.
pub struct HashSearch {
    searches: Searches,
    keys: Keys,
    /// Whether results come in another order than the keys.
    order_is_free: bool,
    searcher: Box<dyn Searcher>,
}

impl PoolJob for HashSearch {
    type Case = Search;

    fn prepare(spec: Search, context: &Context) -> Result<(HashSearch, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let n = spec.keys as usize;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        let lookup = || Lookup::new(&spec, &searches, isa, context);
        let searcher: Box<dyn Searcher> = match spec.method {
            Method::He2007 { .. } => Box::new(He2007::new(&spec, &searches, context)?),
            Method::Partitioned { .. } => Box::new(Partitioned::new(&spec, lookup()?)?),
            _ => Box::new(Direct { lookup: lookup()?, out: Buffer::new(4 * n)? }),
        };
        let (keys, order_is_free) = (Keys::new(&searches, n, context)?, spec.order_is_free());
        Ok((HashSearch { keys, order_is_free, searches, searcher }, isa))
    }

    fn execute(&self, worker: Worker) {
        self.searcher.search(&self.keys, worker);
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        self.searcher.outputs()
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let seen = Bitmap::new(if self.order_is_free { self.keys.n } else { 0 })?;
        let wrong = |at| self.searcher.mistake(&self.searches, at, &seen);
        let mistake = find(pool, self.keys.n, cancel, |mut block| block.find_map(wrong))?;
        Ok(Verdict::of(mistake, self.keys.n as u64))
    }
}
