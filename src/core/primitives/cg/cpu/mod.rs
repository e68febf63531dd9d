//! cg on the CPU: each worker has a share of the rows with as many entries as every other's, and the same rows of all
//! vectors. A dot product is summed by chunks of rows, and the chunks in order by every worker, so that results depend on
//! neither the number of threads nor the instruction set.

mod kernels;

use std::ops::Range;

use super::certificate::{Required, Sums, total};
use super::{Real, STEPS, Spec, Type, inverse, quotient};
use crate::case::{Fault, Value};
use crate::device::Held;
use crate::inputs::shared::Contents;
use crate::inputs::sparse::SparseError;
use crate::memory;
use crate::primitives::cpu::prelude::*;
use crate::primitives::real::for_type;
use crate::primitives::spmv::chunks;
use kernels::{Kernels, Lanes, Rows};

/// Dot products whose chunks are kept apart, because one is read while the next is written.
const DOTS: usize = 5;
const PQ: usize = 0;
const RR: usize = 1;
const RESIDUAL: usize = 2;
const XZ: usize = 3;
const ZZ: usize = 4;

/// A case with its arrays. The matrix has one entry more, whose value only a deliberate mistake reads.
pub struct Cg {
    spec: Spec,
    isa: Isa,
    starts: Vec<u32>,
    _held: Held,
    /// Counts the matrix of which the arrays are copies and the x that is required, which are kept for others.
    _shared: Held,
    columns: Buffer,
    values: Buffer,
    /// The product of each entry, if products are apart from sums.
    products: Option<Buffer>,
    required: Required,
    shares: Shares,
    /// x of this solution and of the next one, in turn.
    x: [Buffer; 2],
    z: Buffer,
    r: Buffer,
    p: Buffer,
    q: Buffer,
    /// The sum of each chunk of each dot product.
    chunks: Buffer,
    /// ζ, ‖x − A·z‖ and ‖z‖ of each solution.
    report: Buffer,
    /// Entries by which the values are off.
    shift: usize,
}

impl PoolJob for Cg {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Cg, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        // The matrix is made elsewhere, in f64, before it is copied.
        context.require(2 * super::work(&spec).footprint + 8 * spec.entries())?;
        let job = for_type!(spec.ty, T => Cg::new::<T>(spec, isa, context));
        Ok((job?, isa))
    }

    fn execute(&self, worker: Worker) {
        for_type!(self.spec.ty, T => self.run::<T>(worker))
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let vector = |vector| OutputArray::new(vector, self.spec.element());
        let [x, next] = self.last_x();
        vec![OutputArray::new(&self.report, 8), vector(next), vector(x).first(0), vector(&self.z).first(0)]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.values).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let sums = for_type!(self.spec.ty, T => self.sums::<T>(pool, cancel));
        let x = || for_type!(self.spec.ty, T => self.x_left::<T>());
        let mistake = self.required.mistake(&self.spec, &self.report(), sums?, x)?;
        Ok(Verdict::of(mistake, self.spec.n()))
    }

    fn tolerance(&self) -> f64 {
        self.required.tolerance
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.required.found(&self.spec, &self.report())
    }
}

impl Cg {
    fn new<T: Lanes>(spec: Spec, isa: Isa, context: &Context) -> Result<Cg, Failure> {
        let matrix = spec.matrix(context.stored, context.shared)?;
        context.cancel.check()?;
        let required = Required::of(&spec, &matrix, context.shared)?;
        let shared = Held::in_host_memory(matrix.bytes() + required.bytes())?;
        let (starts, indices, values) = (matrix.starts.clone(), &matrix.indices, &matrix.values);
        let (entries, n, pool) = (indices.len(), spec.n() as usize, &context.pool);
        let vector = || Buffer::new(n * size_of::<T>());
        let mut job = Cg {
            isa,
            required,
            shares: Shares::new(&starts, pool.threads(), context.fault),
            _held: Held::new(4 * starts.len() as u64),
            _shared: shared,
            starts,
            columns: Buffer::new(4 * entries)?,
            values: Buffer::new(size_of::<T>() * (entries + 1))?,
            products: spec.passes().map(|_| Buffer::new(size_of::<T>() * entries)).transpose()?,
            x: [vector()?, vector()?],
            z: vector()?,
            r: vector()?,
            p: vector()?,
            q: vector()?,
            chunks: Buffer::new(8 * DOTS * n.div_ceil(CHUNK))?,
            report: Buffer::new(24 * spec.solutions() as usize)?,
            shift: usize::from(context.fault == Some(Fault::OffByOne)),
            spec,
        };
        pool.fill(&mut job.columns, entries, context.cancel, |k| indices[k])?;
        let beyond = T::of(2.0);
        pool.fill(&mut job.values, entries + 1, context.cancel, |k| {
            values.get(k).map_or(beyond, |value| T::of(*value))
        })?;
        // Touched first by the thread that will use it, and not by the one that reads them first.
        for vector in [&mut job.r, &mut job.p, &mut job.q] {
            pool.fill(vector, n, context.cancel, |_| T::default())?;
        }
        if let Some(products) = &mut job.products {
            pool.fill(products, entries, context.cancel, |_| T::default())?;
        }
        Ok(job)
    }

    /// x of the last solution, and the one that follows it.
    fn last_x(&self) -> [&Buffer; 2] {
        let last = (self.spec.solutions() as usize + 1) % 2;
        [&self.x[last], &self.x[1 - last]]
    }

    /// The x that the last solution has left.
    fn x_left<T: Real>(&self) -> Result<Vec<f64>, Failure> {
        let n = self.spec.n() as usize;
        // SAFETY: the workers are done.
        let x = unsafe { self.last_x()[1].read::<T>(0..n) };
        Ok(memory::collected(n, x.iter().map(|x| x.wide())).map_err(SparseError::from)?)
    }

    fn report(&self) -> Vec<f64> {
        // SAFETY: the workers are done.
        unsafe { self.report.read(0..self.report.holds::<f64>()) }.to_vec()
    }

    /// The sums of the certificate, in f64.
    fn sums<T: Real>(&self, pool: &Pool, cancel: &Cancel) -> Result<Sums, Failure> {
        let n = self.spec.n() as usize;
        let ([x, next], report) = (self.last_x(), self.report());
        // SAFETY: the workers are done, and the arrays have these elements.
        let read = |of: &Buffer, at: usize| unsafe { of.ptr::<T>().add(at).read() }.wide();
        let scale = inverse(report.last().copied().unwrap_or(f64::NAN));
        let shares = pool.fold(n, cancel, [0.0; 5], |mut sums, row| {
            let (xi, zi) = (read(x, row), read(&self.z, row));
            let own = self.spec.diagonal() * zi;
            let (mut left, mut size) = (xi - own, xi.abs() + own.abs());
            for k in self.starts[row] as usize..self.starts[row + 1] as usize {
                // SAFETY: the workers are done, and the arrays have these entries.
                let column = unsafe { self.columns.ptr::<u32>().add(k).read() } as usize;
                let term = read(&self.values, k) * read(&self.z, column);
                left -= term;
                size += term.abs();
            }
            let off = read(next, row) - zi * scale;
            let terms = [left * left, size * size, xi * zi, zi * zi, off * off];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
            sums
        })?;
        Ok(total(shares))
    }

    /// A worker's part of the solutions.
    fn run<T: Lanes>(&self, worker: Worker) {
        let part = Part::<T> { job: self, worker, kernels: kernels::kernels(self.isa) };
        for solution in 0..self.spec.solutions() as usize {
            part.solve(solution);
        }
    }
}

/// The work of one worker, phase by phase; all workers meet at the end of each.
struct Part<'a, T> {
    job: &'a Cg,
    worker: Worker<'a>,
    kernels: Kernels<T>,
}

impl<T: Lanes> Part<'_, T> {
    /// Handles the worker's rows, chunk by chunk.
    fn phase(&self, work: impl Fn(usize, Range<usize>)) {
        self.job.shares.chunks(self.worker.index).for_each(|(chunk, rows)| work(chunk, rows));
        self.worker.meet();
    }

    fn keep(&self, dot: usize, chunk: usize, sum: f64) {
        let all = self.job.chunks.holds::<f64>() / DOTS;
        // SAFETY: only this worker has this chunk.
        unsafe { self.job.chunks.ptr::<f64>().add(dot * all + chunk).write(sum) };
    }

    /// A dot product: its chunks in order, in lanes.
    fn total(&self, dot: usize) -> f64 {
        let all = self.job.chunks.holds::<f64>() / DOTS;
        // SAFETY: the workers have met since the chunks were written, and meet before they are written again.
        let chunks = unsafe { self.job.chunks.read::<f64>(dot * all..(dot + 1) * all) };
        let mut lanes = [0.0; 8];
        for group in chunks.chunks(lanes.len()) {
            lanes.iter_mut().zip(group).for_each(|(lane, chunk)| *lane += chunk);
        }
        lanes.into_iter().sum()
    }

    /// q = A·vector in the worker's rows, of which each chunk is handled as soon as it is there. Products of all rows come first
    /// if they are apart from sums.
    fn product(&self, vector: *const T, also: impl Fn(usize, Range<usize>)) {
        let job = self.job;
        let a = Rows {
            starts: job.starts.as_ptr(),
            columns: job.columns.ptr::<u32>().cast_const(),
            values: job.values.ptr::<T>().wrapping_add(job.shift).cast_const(),
            diagonal: T::of(job.spec.diagonal()),
        };
        let products = job.products.as_ref().map(|products| products.ptr::<T>());
        if let (Some(products), Some(passes)) = (products, job.spec.passes()) {
            for columns in chunks(job.spec.n(), passes) {
                let columns = columns.start as usize..columns.end as usize;
                for rows in job.shares.of(self.worker.index) {
                    let entries = job.starts[rows.start] as usize..job.starts[rows.end] as usize;
                    // SAFETY: only this worker has these rows, and with them their products.
                    unsafe { kernels::gather(a, vector, entries, columns.clone(), products) };
                }
            }
        }
        let q = job.q.ptr::<T>();
        self.phase(|chunk, rows| {
            // SAFETY: workers write their own rows alone, and read others' only of vectors that no one writes before they
            // have met again.
            unsafe {
                match products {
                    Some(products) => kernels::sums(Rows { values: products, ..a }, vector, q, rows.clone()),
                    None => (self.kernels.product)(a, vector, q, rows.clone()),
                }
            }
            also(chunk, rows);
        });
    }

    fn solve(&self, solution: usize) {
        let (job, kernels) = (self.job, &self.kernels);
        let [x, next] = [solution % 2, 1 - solution % 2].map(|k| job.x[k].ptr::<T>());
        let [z, r, p, q] = [&job.z, &job.r, &job.p, &job.q].map(|vector| vector.ptr::<T>());
        // SAFETY: as in `product`.
        self.phase(|chunk, rows| unsafe {
            for row in rows.clone() {
                if solution == 0 {
                    *x.add(row) = T::of(1.0);
                }
                (*z.add(row), *r.add(row), *p.add(row)) = (T::default(), *x.add(row), *x.add(row));
            }
            self.keep(RR, chunk, (kernels.dot)(r, r, rows));
        });
        let mut rho = self.total(RR);
        for _ in 0..STEPS {
            // SAFETY: as above.
            self.product(p, |chunk, rows| unsafe { self.keep(PQ, chunk, (kernels.dot)(p, q, rows)) });
            let alpha = quotient(rho, self.total(PQ));
            // SAFETY: as above.
            self.phase(|chunk, rows| unsafe {
                (kernels.combine)(alpha, p, 1.0, z, rows.clone());
                (kernels.combine)(-alpha, q, 1.0, r, rows.clone());
                self.keep(RR, chunk, (kernels.dot)(r, r, rows));
            });
            let before = std::mem::replace(&mut rho, self.total(RR));
            let beta = quotient(rho, before);
            // SAFETY: as above.
            self.phase(|_, rows| unsafe { (kernels.combine)(1.0, r, beta, p, rows) });
        }
        // SAFETY: as above.
        self.product(z, |chunk, rows| unsafe {
            (kernels.combine)(1.0, x, -1.0, q, rows.clone());
            self.keep(RESIDUAL, chunk, (kernels.dot)(q, q, rows.clone()));
            self.keep(XZ, chunk, (kernels.dot)(x, z, rows.clone()));
            self.keep(ZZ, chunk, (kernels.dot)(z, z, rows));
        });
        let norm = self.total(ZZ).sqrt();
        let scale = inverse(norm);
        // SAFETY: as above.
        self.phase(|_, rows| unsafe {
            for row in rows {
                *next.add(row) = T::of((*z.add(row)).wide() * scale);
            }
        });
        if self.worker.index == 0 {
            let numbers = [job.spec.zeta_of(self.total(XZ)), self.total(RESIDUAL).sqrt(), norm];
            for (column, number) in numbers.into_iter().enumerate() {
                let at = column * job.spec.solutions() as usize + solution;
                // SAFETY: this worker alone writes the report.
                unsafe { job.report.ptr::<f64>().add(at).write(number) };
            }
        }
    }
}

/// Rows whose part of a dot product is one sum, whoever makes it.
pub const CHUNK: usize = 32;

/// Two ranges of rows for each worker.
pub struct Shares(Vec<[Range<usize>; 2]>);

impl Shares {
    /// Whole chunks, with about as many rows and entries in each share.
    pub fn new(starts: &[u32], workers: usize, fault: Option<Fault>) -> Shares {
        let n = starts.len() - 1;
        let weight = |row: usize| row as u64 + u64::from(starts[row]);
        let ends: Vec<usize> = (0..=workers as u64)
            .map(|worker| {
                let wanted = weight(n) * worker / workers as u64;
                let chunks = (0..n.div_ceil(CHUNK)).collect::<Vec<_>>();
                (chunks.partition_point(|chunk| weight(chunk * CHUNK) < wanted) * CHUNK).min(n)
            })
            .collect();
        let mut shares: Vec<_> = ends.windows(2).map(|ends| [ends[0]..ends[1], n..n]).collect();
        let busy = |share: &[Range<usize>; 2]| !share[0].is_empty();
        if let (Some(fault), Some(last)) = (fault, shares.iter().rposition(busy)) {
            let neighbour = shares[..last].iter().rfind(|share| busy(share)).cloned();
            shares[last] = wrong(fault, shares[last][0].clone(), neighbour);
        }
        Shares(shares)
    }

    /// The rows of a worker.
    pub fn of(&self, worker: usize) -> impl Iterator<Item = &Range<usize>> {
        self.0[worker].iter().filter(|range| !range.is_empty())
    }

    /// The chunks of a worker, with their rows.
    pub fn chunks(&self, worker: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        self.of(worker).flat_map(|range| {
            let rows = |chunk: usize| (chunk * CHUNK).max(range.start)..((chunk + 1) * CHUNK).min(range.end);
            (range.start / CHUNK..range.end.div_ceil(CHUNK)).map(move |chunk| (chunk, rows(chunk)))
        })
    }
}

/// The share of the last worker that has one, by a mistake of rows: without its last row, without one in its middle, or
/// its neighbour's (its first half, if it has none).
fn wrong(fault: Fault, own: Range<usize>, neighbour: Option<[Range<usize>; 2]>) -> [Range<usize>; 2] {
    let (middle, nothing) = (own.start + own.len() / 2, own.end..own.end);
    match fault {
        Fault::MissingTail => [own.start..own.end - 1, nothing],
        Fault::SkippedStore => [own.start..middle, middle + 1..own.end],
        Fault::WrongChunk => neighbour.unwrap_or([own.start..middle, nothing]),
        _ => [own, nothing],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(n: usize, workers: usize, fault: Option<Fault>) -> Vec<u32> {
        let starts: Vec<u32> = (0..=n as u32).map(|row| row * row / 2).collect();
        let shares = Shares::new(&starts, workers, fault);
        let mut times = vec![0; n];
        for (chunk, rows) in (0..workers).flat_map(|worker| shares.chunks(worker)) {
            assert!(rows.start / CHUNK == chunk && rows.end <= (chunk + 1) * CHUNK);
            rows.for_each(|row| times[row] += 1);
        }
        times
    }

    #[test]
    fn each_row_is_handled_once_and_a_mistake_leaves_one_out() {
        for (n, workers) in [0, 1, 31, 32, 33, 1000].into_iter().flat_map(|n| [1, 2, 3, 16].map(|w| (n, w))) {
            assert!(handled(n, workers, None).iter().all(|times| *times == 1), "{n} rows, {workers} workers");
            for fault in [Fault::MissingTail, Fault::SkippedStore, Fault::WrongChunk] {
                assert!(
                    n == 0 || handled(n, workers, Some(fault)).contains(&0),
                    "{fault:?} of {n}, {workers}"
                );
            }
        }
    }

    #[test]
    fn shares_have_as_many_entries_as_rows_of_one_chunk_allow() {
        let starts: Vec<u32> = (0..=100_000u32).map(|row| 50 * row).collect();
        let shares = Shares::new(&starts, 7, None);
        for worker in 0..7 {
            let rows: usize = shares.chunks(worker).map(|(_, rows)| rows.len()).sum();
            assert!(rows.abs_diff(100_000 / 7) <= CHUNK, "{rows}");
        }
    }
}
