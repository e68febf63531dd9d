//! spmv on the CPU: each worker computes the rows that end in its share. The sum of the row that its share cuts is added
//! when all are done.

pub mod kernels;

use std::sync::atomic::Ordering;

use super::oracle::RowSum;
use super::tiles::{Share, share};
use super::{Spec, matrix, methods};
use crate::device::Counted;
use crate::device::cpu::{CacheLineSlot, check};
use crate::inputs::shared::{Contents, Shared};
use crate::inputs::sparse::Csr;
use crate::primitives::cpu::prelude::*;
use kernels::{Call, Sum, Timed};

/// A case with its arrays. x has one element more, which is read only with a fault.
pub struct Spmv {
    spec: Spec,
    starts: Buffer,
    columns: Buffer,
    values: Buffer,
    x: Buffer,
    z: Option<Buffer>,
    y: Buffer,
    pub timed: Timed,
    pub fault: Option<Fault>,
    /// The share of each worker by rows and entries.
    shares: Vec<Share>,
    /// The bits of the sum that each worker has for a row of the next one.
    carries: Vec<CacheLineSlot>,
    method: PoolMethod<Spmv>,
    tolerance: f64,
    /// What the arrays are copies of.
    _matrix: Counted<Csr<f64>>,
}

/// The case and the matrix from which a method is made.
pub struct Made<'a> {
    pub spec: &'a Spec,
    pub matrix: &'a Csr<f64>,
    pub pool: &'a Pool,
    pub cancel: &'a Cancel,
    pub fault: Option<Fault>,
    shared: &'a Shared,
}

impl Made<'_> {
    /// Another form of the matrix, which cases share; it takes so many bytes to make.
    pub fn form<T: Contents>(
        &self,
        form: &str,
        needs: u64,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<Counted<T>, Failure> {
        Counted::of(self.shared.get(&matrix::name(self.spec), form, needs, make)?)
    }

    /// The share of each worker.
    fn shares(&self) -> Vec<Share> {
        let workers = self.pool.threads();
        (0..workers).map(|index| share(&self.matrix.starts, index, workers)).collect()
    }

    /// The rows of which a worker has all entries, but for those that a deliberate mistake leaves out.
    pub fn whole_rows(&self, worker: usize) -> [Range<usize>; 2] {
        let starts = &self.matrix.starts;
        let share = share(starts, worker, self.pool.threads());
        stored(share.whole(starts), omitted(self.spec.shape.rows as usize, self.fault))
    }
}

/// The products of all entries, made before they are summed.
pub struct Products(Buffer);

impl Products {
    /// Room for them.
    pub fn new(made: &Made) -> Result<Products, Failure> {
        let (entries, element) = (made.matrix.values.len(), made.spec.element());
        let mut products = Buffer::new(entries * element as usize)?;
        made.pool.fill_words(&mut products, element, entries, made.cancel, |_| 0)?;
        Ok(Products(products))
    }

    /// Makes a worker's part of them, one chunk of x after another, and waits for the others; they are the values of the
    /// call that is returned.
    pub fn make(&self, product: &Spmv, worker: Worker) -> Call {
        let call = product.call();
        let entries = part(product.spec.shape.entries as usize, worker.index, worker.count);
        for chunk in product.spec.chunks() {
            let columns = chunk.start as usize..chunk.end as usize;
            // SAFETY: parts of workers are disjoint and inside the arrays.
            unsafe { (product.timed.products)(&call, entries.clone(), columns, self.0.ptr()) };
        }
        worker.meet();
        Call { values: self.0.ptr(), ..call }
    }
}

impl PoolJob for Spmv {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Spmv, Isa), Failure> {
        // Gathers also on AMD processors: of rows of 399 entries the scalar loop takes 1.2 times as long (Zen 4, AVX-512).
        let isa = context.isa_or(|| if spec.fills_vectors() { Isa::widest() } else { Isa::Scalar })?;
        // The matrix is made elsewhere before it is copied.
        context.require(2 * super::Problem::work(&spec).footprint + 8 * spec.shape.entries)?;
        let matrix = Counted::of(matrix::matrix(&spec, context.stored, context.shared)?)?;
        context.cancel.check()?;
        let (pool, element, rows) = (&context.pool, spec.element(), spec.shape.rows as usize);
        let Context { cancel, fault, shared, .. } = *context;
        let made = Made { spec: &spec, matrix: &matrix, pool, cancel, fault, shared };
        let numbers = |n: usize, number: &(dyn Fn(usize) -> f64 + Sync)| {
            let mut buffer = Buffer::new(n * element as usize)?;
            pool.fill_words(&mut buffer, element, n, context.cancel, |i| spec.bits(number(i)))?;
            Ok::<Buffer, Failure>(buffer)
        };
        let words = |words: &[u32]| {
            let mut buffer = Buffer::new(words.len() * 4)?;
            pool.fill(&mut buffer, words.len(), context.cancel, |i| words[i])?;
            Ok::<Buffer, Failure>(buffer)
        };
        let job = Spmv {
            method: methods::cpu::method(&made)?,
            starts: words(&matrix.starts)?,
            columns: words(&matrix.indices)?,
            values: numbers(matrix.values.len(), &|at| matrix.values[at])?,
            x: numbers(spec.shape.columns as usize + 1, &|j| spec.x(j as u64))?,
            z: (spec.beta == 1).then(|| numbers(rows, &|i| spec.z(i as u64))).transpose()?,
            y: Buffer::new(rows * element as usize)?,
            timed: kernels::timed(spec.ty, isa),
            fault: context.fault,
            shares: made.shares(),
            tolerance: matrix::errors(&spec, &matrix, context.shared)?.tolerance,
            carries: (0..pool.threads()).map(|_| CacheLineSlot::default()).collect(),
            spec,
            _matrix: matrix,
        };
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        (self.method)(self, worker);
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.y, self.spec.element())]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.x).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let rows = self.rows();
        let wrong = |row: usize| self.expected(row).judge(&self.spec, row, self.number(&self.y, row)).err();
        let mistake = check::find(pool, rows, cancel, |mut block| block.find_map(wrong))?;
        Ok(Verdict::of(mistake, rows as u64))
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }
}

/// Rows, of so many, that a deliberate mistake leaves out.
fn omitted(n: usize, fault: Option<Fault>) -> Range<usize> {
    match fault {
        Some(Fault::MissingTail) => n.saturating_sub(1)..n,
        Some(Fault::SkippedStore) => n / 2..(n / 2 + 1).min(n),
        Some(Fault::WrongChunk) => n / 2..n,
        _ => n..n,
    }
}

/// Some rows without those that are left out.
fn stored(rows: Range<usize>, omitted: Range<usize>) -> [Range<usize>; 2] {
    let before = rows.start..rows.end.min(omitted.start.max(rows.start));
    [before, rows.start.max(omitted.end).min(rows.end)..rows.end]
}

impl Spmv {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.spec.shape.rows as usize
    }

    /// The arrays.
    pub fn call(&self) -> Call {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.element() as usize } else { 0 };
        Call {
            starts: self.starts.ptr(),
            columns: self.columns.ptr(),
            values: self.values.ptr(),
            x: self.x.ptr::<u8>().wrapping_add(beside),
            z: self.z.as_ref().map_or(std::ptr::null(), |z| z.ptr::<u8>().cast_const()),
            y: self.y.ptr(),
        }
    }

    /// Computes the rows of a worker's share, and adds what it has of the row behind them when all are done. `whole`
    /// computes those of which it has all entries, if `sum` does not.
    pub fn in_shares(&self, worker: Worker, call: &Call, sum: &Sum, whole: Option<&dyn Fn()>) {
        // SAFETY: rows end in one share only, and nobody else stores them.
        let carry = unsafe { self.share(call, sum, worker.index, whole) };
        if worker.count == 1 {
            return;
        }
        self.carries[worker.index].0.store(carry.to_bits(), Ordering::Relaxed);
        worker.meet();
        if worker.index == 0 {
            self.add_carries(call);
        }
        worker.meet();
    }

    /// Computes the rows of a worker's share, and returns the sum of what it has of the row behind them.
    ///
    /// # Safety
    /// Nobody else uses the rows' elements of y.
    unsafe fn share(&self, call: &Call, sum: &Sum, worker: usize, whole: Option<&dyn Fn()>) -> f64 {
        let (share, omitted) = (&self.shares[worker], self.omitted());
        let Share { rows, entries } = share.clone();
        let all = share.whole(self.starts());
        // SAFETY: by the caller's promise; the share lies inside the arrays.
        unsafe {
            if all.start > rows.start {
                let first = (sum.part)(call, entries.start..self.start(all.start));
                if !omitted.contains(&rows.start) {
                    (self.timed.put)(call, rows.start, first, false);
                }
            }
            match whole {
                Some(whole) => whole(),
                None => stored(all, omitted).into_iter().for_each(|rows| (sum.rows)(call, rows)),
            }
            (sum.part)(call, self.start(rows.end).max(entries.start)..entries.end)
        }
    }

    /// Adds what workers have left for rows of later ones.
    fn add_carries(&self, call: &Call) {
        for (share, carry) in self.shares.iter().zip(&self.carries) {
            let (row, sum) = (share.rows.end, f64::from_bits(carry.0.load(Ordering::Relaxed)));
            let left = self.start(row).max(share.entries.start) < share.entries.end;
            if left && !self.omitted().contains(&row) {
                // SAFETY: the row is inside the array, and all other workers wait.
                unsafe { (self.timed.put)(call, row, sum, true) };
            }
        }
    }

    /// Where each row begins, and the number of entries.
    fn starts(&self) -> &[u32] {
        // SAFETY: executions only read row starts.
        unsafe { self.starts.read::<u32>(0..self.starts.holds::<u32>()) }
    }

    /// Where a row begins; behind the last, the number of entries.
    fn start(&self, row: usize) -> usize {
        self.starts()[row] as usize
    }

    fn omitted(&self) -> Range<usize> {
        omitted(self.rows(), self.fault)
    }

    fn number(&self, array: &Buffer, at: usize) -> f64 {
        // SAFETY: no execution is in progress; every bit pattern is a number.
        unsafe {
            match self.spec.element() {
                4 => array.read::<f32>(at..at + 1)[0].into(),
                _ => array.read::<f64>(at..at + 1)[0],
            }
        }
    }

    /// A row in f64, from the arrays.
    fn expected(&self, row: usize) -> RowSum {
        let z = self.z.as_ref().map_or(0.0, |z| self.number(z, row));
        let terms = (self.start(row)..self.start(row + 1)).map(|at| {
            // SAFETY: executions only read columns.
            let column = unsafe { self.columns.read::<u32>(at..at + 1) };
            self.number(&self.values, at) * self.number(&self.x, column[0] as usize)
        });
        terms.fold(RowSum::default().plus(z), RowSum::plus)
    }
}
