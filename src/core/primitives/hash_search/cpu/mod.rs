//! Hash tables on the CPU: building ([`build`]), and what the methods of searches share.

pub mod build;
pub mod kernels;
pub mod table;

use super::methods;
use crate::device::cpu::check::{Bitmap, find};
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::{Form, Search};
use kernels::{Call, Timed};
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

    /// The keys of a range of searches; with a fault each has the key of the next one.
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

/// The arrays that searches write, as in [`Search::written`].
pub struct Results {
    pub form: Form,
    pub beside: Buffer,
    pub between: Buffer,
    pub out: Buffer,
}

impl Results {
    fn new(spec: &Search) -> Result<Results, Failure> {
        let [beside, between, out] = spec.written().map(|elements| Buffer::new(4 * elements as usize));
        Ok(Results { form: spec.form(), beside: beside?, between: between?, out: out? })
    }

    /// The records that the last execution has found, as far as there is room for them.
    fn found(&self) -> u64 {
        let last = self.beside.holds::<u32>() - 1;
        (self.out.holds::<u64>() as u64).min(word(&self.beside, last).into())
    }
}

/// A word of an array.
fn word(array: &Buffer, at: usize) -> u32 {
    // SAFETY: nobody writes while results are checked.
    unsafe { array.read::<u32>(at..at + 1)[0] }
}

/// The case from which a method is made.
pub struct Made<'a> {
    pub spec: &'a Search,
    pub context: &'a Context<'a>,
    isa: Isa,
}

/// A table, and the loop that searches it.
pub struct Lookup {
    table: Table,
    timed: Timed,
}

impl Lookup {
    pub fn new(made: &Made) -> Result<Lookup, Failure> {
        let (layout, context) = (made.spec.layout(), made.context);
        let table = Table::filled(layout, &made.spec.records(), &context.pool, context.cancel)?;
        Ok(Lookup { table, timed: kernels::timed(&layout, made.isa) })
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

/// A case with its keys.
pub struct HashSearch {
    pub keys: Keys,
    pub results: Results,
    searches: Searches,
    method: PoolMethod<HashSearch>,
}

impl PoolJob for HashSearch {
    type Case = Search;

    fn prepare(spec: Search, context: &Context) -> Result<(HashSearch, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        let method = methods::cpu::method(&Made { spec: &spec, context, isa })?;
        let (keys, results) = (Keys::new(&searches, spec.keys as usize, context)?, Results::new(&spec)?);
        Ok((HashSearch { keys, results, searches, method }, isa))
    }

    fn execute(&self, worker: Worker) {
        (self.method)(self, worker);
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let Results { form, beside, between, out } = &self.results;
        let out = match form {
            Form::Matches => OutputArray::new(out, 8).first(self.results.found()),
            _ => OutputArray::new(out, 4),
        };
        vec![OutputArray::new(beside, 4), OutputArray::new(between, 4).first(0), out]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.keys.keys).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let numbered = self.results.form == Form::Numbered;
        let seen = Bitmap::new(if numbered { self.keys.n } else { 0 })?;
        let wrong = |at| match self.results.form {
            Form::InOrder | Form::Restored => self.searches.mistake(at as u64, word(&self.results.out, at)),
            Form::Numbered => self.wrong_number(at, &seen),
            Form::Matches => self.wrong_matches(at),
        };
        let mistake = find(pool, self.keys.n, cancel, |mut block| block.find_map(wrong))?;
        Ok(Verdict::of(mistake, self.keys.n as u64))
    }
}

impl HashSearch {
    /// Describes a mistake in a result or in the number of its search beside it: `seen` has a bit for each search,
    /// and those of the results that were looked at are set.
    fn wrong_number(&self, at: usize, seen: &Bitmap) -> Option<String> {
        let q = word(&self.results.beside, at) as usize;
        if q >= self.keys.n || seen.set(q) {
            return Some(format!("result {at} is of search {q:#x}, which is another's or none"));
        }
        self.searches.mistake(q as u64, word(&self.results.out, at))
    }

    /// Describes a mistake in the records of a key or in their place.
    fn wrong_matches(&self, q: usize) -> Option<String> {
        let searches = &self.searches;
        let wanted = searches.records.matches(searches.number(q as u64));
        // SAFETY: nobody writes while this is checked.
        let bounds = unsafe { self.results.beside.read::<u32>(q..q + 2) };
        let (begin, end) = (bounds[0] as usize, bounds[1] as usize);
        let there = (wanted.end - wanted.start) as usize;
        if end.wrapping_sub(begin) != there || end > self.results.out.holds::<u64>() || (q == 0 && begin != 0)
        {
            return Some(format!("the results of search {q} are from {begin} to {end}, not {there}"));
        }
        // SAFETY: the same.
        let found = unsafe { self.results.out.read::<u64>(begin..end) };
        let right = |&word: &u64| {
            wanted.contains(&(word >> 32)) && word as u32 == searches.records.key_of_record(word >> 32)
        };
        let all = found
            .iter()
            .fold(0u32, |all, word| all | 1u32.unbounded_shl((word >> 32).wrapping_sub(wanted.start) as u32));
        let complete = found.iter().all(right) && all.count_ones() as usize == there;
        (!complete).then(|| format!("search {q} has found {found:x?} instead of records {wanted:?}"))
    }
}
