//! tridiagonal on processors: each worker has a share of the systems. By `thomas`, systems side by side are solved together, one
//! in each lane; those of a strided batch are transposed on the way, a few rows at a time. A batch with fewer systems than
//! lanes is solved one system after another.

pub mod thomas;

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Layout, Residual, Spec, Type, methods};
use crate::case::Value;
use crate::device::Held;
use crate::device::cpu::fence;
use crate::primitives::cpu::prelude::*;
use crate::primitives::real::{Real, for_type};

/// The arrays of a batch, as kernels see them: row i of system s at i·row + s·system.
#[derive(Clone, Copy)]
pub struct Batch<T> {
    pub a: *const T,
    pub b: *const T,
    pub c: *const T,
    pub d: *const T,
    pub x: *mut T,
    pub rows: usize,
    pub row: usize,
    system: usize,
}

impl<T> Batch<T> {
    /// The batch from a system on.
    pub fn from(self, system: usize) -> Batch<T> {
        let at = system * self.system;
        let moved = |array: *const T| array.wrapping_add(at);
        Batch {
            a: moved(self.a),
            b: moved(self.b),
            c: moved(self.c),
            d: moved(self.d),
            x: self.x.wrapping_add(at),
            ..self
        }
    }
}

/// Solves so many systems with the memory that a worker has beside the arrays.
///
/// # Safety
/// The arrays hold these systems, nobody else writes their x, `scratch` holds as many elements as the [`Solver`] says, and the
/// processor has the instruction set.
pub type Kernel<T> = unsafe fn(Batch<T>, systems: usize, scratch: *mut T);

/// A kernel, and the elements of the memory that it has for each worker.
pub type Solver<T> = (Kernel<T>, usize);

/// A case with its arrays.
pub struct Tridiagonal {
    spec: Spec,
    method: PoolMethod<Tridiagonal>,
    /// a, b, c and d, each with an element behind its last one, which only a deliberate mistake reads.
    inputs: [Buffer; 4],
    x: Buffer,
    /// The bits of the size of each system, which have the order of the number.
    sizes: Vec<AtomicU64>,
    _held: Held,
    fault: Option<Fault>,
    found: Mutex<Vec<(String, Value)>>,
}

impl PoolJob for Tridiagonal {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Tridiagonal, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let job = for_type!(spec.ty, T => Tridiagonal::new::<T>(spec, isa, context));
        Ok((job?, isa))
    }

    fn execute(&self, worker: Worker) {
        if self.spec.rows > 0 {
            (self.method)(self, worker);
        }
        fence();
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.x, self.spec.element())]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.inputs[3]).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        for_type!(self.spec.ty, T => self.certify::<T>(pool, cancel))
    }

    fn tolerance(&self) -> f64 {
        self.spec.bound()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.lock().map_or_else(|_| Vec::new(), |found| found.clone())
    }
}

/// The findings of the certificate in a worker's rows.
#[derive(Clone, Copy, Default)]
struct Seen {
    mistake: Option<(usize, f64)>,
    largest: f64,
    wrong: u64,
    flagged: u64,
}

impl Tridiagonal {
    fn new<T: Real>(spec: Spec, isa: Isa, context: &Context) -> Result<Tridiagonal, Failure> {
        let (pool, n) = (&context.pool, spec.count() as usize);
        let input = |which: usize| -> Result<Buffer, Failure> {
            let mut array = Buffer::new(size_of::<T>() * (n + 1))?;
            let element = |place: usize| T::of(spec.elements_at(place as u64)[which]);
            pool.fill(&mut array, n + 1, context.cancel, element)?;
            Ok(array)
        };
        Ok(Tridiagonal {
            inputs: [input(0)?, input(1)?, input(2)?, input(3)?],
            x: Buffer::new(size_of::<T>() * n)?,
            method: Tridiagonal::method::<T>(&spec, isa, pool.threads())?,
            _held: Held::new(8 * spec.systems),
            sizes: (0..spec.systems).map(|_| AtomicU64::new(0)).collect(),
            fault: context.fault,
            found: Mutex::default(),
            spec,
        })
    }

    /// Solves the systems of a worker.
    fn method<T: Real>(spec: &Spec, isa: Isa, workers: usize) -> Result<PoolMethod<Tridiagonal>, Failure> {
        let (kernel, elements) = methods::cpu::solver::<T>(spec, isa)?;
        let scratch = (0..workers).map(|_| Buffer::new(size_of::<T>() * elements));
        let scratch = scratch.collect::<Result<Vec<Buffer>, Failure>>()?;
        // Whole lines of interleaved rows.
        let grain = if spec.layout == Layout::Interleaved { 64 / size_of::<T>() } else { 1 };
        Ok(Box::new(move |job, worker| {
            for systems in pieces(job.spec.systems as usize, grain, worker, job.fault) {
                let batch = job.batch::<T>().from(systems.start);
                // SAFETY: the arrays hold these systems, no other worker writes them, and the processor has the instruction set.
                unsafe { kernel(batch, systems.len(), scratch[worker.index].ptr()) };
            }
        }))
    }

    fn batch<T>(&self) -> Batch<T> {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| self.inputs[k].ptr::<T>().cast_const());
        let [row, system] = self.spec.strides().map(|stride| stride as usize);
        let off = usize::from(self.fault == Some(Fault::OffByOne));
        Batch { a, b, c, d: d.wrapping_add(off), x: self.x.ptr(), rows: self.spec.rows as usize, row, system }
    }

    fn x<T: Real>(&self, place: usize) -> f64 {
        // SAFETY: the workers are done, and the array has this element.
        unsafe { self.x.ptr::<T>().add(place).read() }.wide()
    }

    fn residual<T: Real>(&self, place: usize) -> Residual {
        // SAFETY: nobody writes the inputs, and they have this element.
        let row = [0, 1, 2, 3].map(|k| unsafe { self.inputs[k].ptr::<T>().add(place).read() }.wide());
        self.spec.residual(place, row, |place| self.x::<T>(place))
    }

    /// Finds the sizes of all systems. Rows that hold a value that is not a number have none, and few exceed what is there: to
    /// read first saves most atomic operations.
    fn measure<T: Real>(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let (systems, n) = (self.sizes.len(), self.spec.count() as usize);
        pool.fold(systems, cancel, (), |(), s| self.sizes[s].store(0, Relaxed))?;
        pool.fold(n, cancel, (), |(), place| {
            let most = &self.sizes[self.spec.at(place as u64).0 as usize];
            let size = self.residual::<T>(place).size;
            if size.is_finite() && size.to_bits() > most.load(Relaxed) {
                most.fetch_max(size.to_bits(), Relaxed);
            }
        })?;
        Ok(())
    }

    fn certify<T: Real>(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, n) = (&self.spec, self.spec.count() as usize);
        self.measure::<T>(pool, cancel)?;
        let seen = pool.fold(n, cancel, Seen::default(), |mut seen, place| {
            let (s, _) = spec.at(place as u64);
            let size = f64::from_bits(self.sizes[s as usize].load(Relaxed));
            let error = self.residual::<T>(place).relative_to(size);
            let within = error <= spec.bound();
            if within {
                seen.largest = seen.largest.max(error);
            }
            if spec.planted() == Some(s) {
                seen.wrong += u64::from(!within);
                seen.flagged += u64::from(!self.x::<T>(place).is_finite());
            } else if !within {
                seen.mistake = seen.mistake.or(Some((place, error)));
            }
            seen
        })?;
        let sum = |count: fn(&Seen) -> u64| seen.iter().map(count).sum::<u64>();
        let (wrong, flagged) = (sum(|seen| seen.wrong), sum(|seen| seen.flagged));
        let largest = seen.iter().fold(0.0, |most: f64, seen| most.max(seen.largest));
        if let Ok(mut found) = self.found.lock() {
            *found = spec.found(largest, flagged);
        }
        let first = seen.iter().find_map(|seen| seen.mistake).map(|(place, error)| {
            let (s, i) = spec.at(place as u64);
            format!("row {i} of system {s}: its residual is {error:e} of the system's largest terms")
        });
        Ok(Verdict::of(first.or_else(|| spec.silent(wrong, flagged)), n as u64))
    }
}
