//! shallow-water on processors: each worker sweeps its share of the rows, then, when all have, of the columns.

mod sweep;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::oracle::Line;
use super::oracle::ReferenceRun;
use super::{LIVELY, Spec, scene};
use crate::case::{Snapshot, Value};
use crate::device::cpu::check;
use crate::primitives::cpu::prelude::*;
use sweep::{Kernel, LANES, Water};

/// Cells of the sums of the mean height.
const CHUNK: usize = 1 << 14;

/// A case with its arrays.
pub struct ShallowWater {
    spec: Spec,
    kernels: [Kernel; 2],
    kappa: f32,
    /// Steps of an execution.
    steps: AtomicU64,
    /// η and w, with an element more, which only a deliberate mistake reads; those between the sweeps; and those with which the
    /// certificate begins.
    state: [Buffer; 2],
    between: [Buffer; 2],
    kept: [Buffer; 2],
    /// The arrays of each worker, for its lines.
    scratch: Vec<Buffer>,
    /// The heights with which an execution that is judged begins.
    beginning: Vec<f32>,
    /// True once a worker has found a place without water.
    dry: AtomicBool,
    course: Mutex<ReferenceRun>,
    fault: Option<Fault>,
    found: Mutex<Vec<(String, Value)>>,
}

impl PoolJob for ShallowWater {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(ShallowWater, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (cells, longest) = (spec.cells() as usize, spec.columns.max(spec.rows()) as usize);
        let pool = &context.pool;
        let of_worker = 4 * sweep::ARRAYS * LANES * longest;
        let array = || Buffer::new(4 * (cells + 1));
        let scratch = || Buffer::new(of_worker);
        let mut job = ShallowWater {
            kernels: [sweep::kernel(isa, true), sweep::kernel(isa, false)],
            kappa: spec.kappa() as f32,
            steps: AtomicU64::new(spec.steps),
            state: [array()?, array()?],
            between: [array()?, array()?],
            kept: [array()?, array()?],
            scratch: (0..pool.threads()).map(|_| scratch()).collect::<Result<_, Failure>>()?,
            beginning: spec.rippled(),
            dry: AtomicBool::new(false),
            course: Mutex::default(),
            fault: context.fault,
            found: Mutex::default(),
            spec,
        };
        let (heights, [eta, w]) = (spec.heights(), &mut job.state);
        pool.fill(eta, cells + 1, context.cancel, |i| heights.get(i).copied().unwrap_or(1.0))?;
        pool.fill(w, cells + 1, context.cancel, |_| 0f32)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let steps = self.steps.load(Ordering::Relaxed);
        for _ in 0..steps {
            for rows in pieces(self.spec.rows() as usize, LANES, worker, self.fault) {
                self.sweep(worker, true, rows);
            }
            worker.meet();
            for columns in pieces(self.spec.columns as usize, LANES, worker, None) {
                self.sweep(worker, false, columns);
            }
            worker.meet();
        }
        if worker.index == 0 {
            self.course().step += steps;
        }
        worker.meet();
    }

    /// Begins anew, and poisons what lies between the sweeps, on which the next state depends everywhere.
    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        pool.for_blocks(self.beginning.len(), cancel, |block| {
            // SAFETY: blocks are disjoint, and the workers are done.
            let [eta, w] = [0, 1].map(|k| unsafe { self.state[k].write::<f32>(block.clone()) });
            eta.copy_from_slice(&self.beginning[block]);
            w.fill(0.0);
        })?;
        self.dry.store(false, Ordering::Relaxed);
        *self.course() = ReferenceRun::default();
        self.between.iter().try_for_each(|array| check::poison(pool, array, 4, cancel))?;
        self.keep(pool, cancel)
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        self.state.iter().map(|array| OutputArray::new(array, 4)).collect()
    }

    /// Certifies the first steps by themselves, unless an execution has no more.
    fn prove(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        if self.spec.steps <= LIVELY {
            return Ok(None);
        }
        self.clear(pool, cancel)?;
        self.steps.store(LIVELY, Ordering::Relaxed);
        pool.run(|worker| self.execute(worker));
        self.steps.store(self.spec.steps, Ordering::Relaxed);
        Ok(match self.judge(pool, cancel)? {
            Verdict::Wrong { mistake } => Some(format!("in the first {LIVELY} steps: {mistake}")),
            Verdict::Certified { .. } => None,
        })
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, cells) = (&self.spec, self.beginning.len());
        let wide = |from: &Buffer| -> Result<Buffer, Failure> {
            let mut to = Buffer::new(8 * cells)?;
            // SAFETY: the workers are done.
            let from = unsafe { from.read::<f32>(0..cells) };
            pool.fill(&mut to, cells, cancel, |i| f64::from(from[i]))?;
            Ok(to)
        };
        let [eta, w] = [wide(&self.kept[0])?, wide(&self.kept[1])?];
        let course = *self.course();
        for _ in 0..course.steps(spec) {
            for (along_rows, lines) in [(true, spec.rows()), (false, spec.columns)] {
                cancel.check()?;
                pool.for_blocks(lines as usize, cancel, |block| {
                    for k in block {
                        let line = Line::of(spec, along_rows, k);
                        // SAFETY: lines are disjoint, and each is swept by one worker.
                        unsafe { line.sweep(eta.ptr(), w.ptr(), spec.kappa()) };
                    }
                })?;
            }
        }
        let bounds = course.bounds(spec);
        // SAFETY: the workers are done.
        let [heights, speeds] = [0, 1].map(|k| unsafe { self.state[k].read::<f32>(0..cells) });
        // SAFETY: as above.
        let [eta, w] = [&eta, &w].map(|array| unsafe { array.read::<f64>(0..cells) });
        let apart = |found: &[f32], wanted: &[f64], i: usize| (f64::from(found[i]) - wanted[i]).abs();
        let off = |i: usize| [apart(heights, eta, i), apart(speeds, w, i)];
        let wrong = |i: usize| {
            let [height, change] = off(i);
            // Also a NaN.
            let near = [height <= bounds.height, change <= bounds.change];
            match near {
                [true, true] => None,
                [false, _] => {
                    Some(format!("the water of cell {i} is {:e} high instead of {:e}", heights[i], eta[i]))
                }
                _ => {
                    Some(format!("the change of cell {i} by a step is {:e} instead of {:e}", speeds[i], w[i]))
                }
            }
        };
        let mistake = check::find(pool, cells, cancel, |mut block| block.find_map(wrong))?;
        let largest = |most: f64, i: usize| off(i).into_iter().fold(most, f64::max);
        let errors = pool.fold(cells, cancel, 0.0, largest)?;
        let mean = |heights: &[f32]| {
            let sums =
                heights.chunks(CHUNK).map(|part| part.iter().map(|height| f64::from(*height)).sum::<f64>());
            sums.sum::<f64>() / cells.max(1) as f64
        };
        // SAFETY: as above.
        let drift = mean(heights) - mean(unsafe { self.kept[0].read::<f32>(0..cells) });
        if let Ok(mut found) = self.found.lock() {
            *found = spec.found(errors.into_iter().fold(0.0, f64::max), drift);
        }
        Ok(course.verdict(spec, self.dry.load(Ordering::Relaxed), mistake, drift))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        let bytes = 4 * self.beginning.len();
        // SAFETY: the workers are done.
        let [eta, w] = [0, 1].map(|k| unsafe { self.state[k].read::<u8>(0..bytes) });
        Ok([eta, w].concat())
    }

    fn tolerance(&self) -> f64 {
        self.spec.tolerance()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.lock().map_or_else(|_| Vec::new(), |found| found.clone())
    }

    fn snapshot(&mut self, _pool: &Pool) -> Result<Option<Snapshot>, Failure> {
        let [across, down] = scene::picture_size(&self.spec).map(|parts| parts as usize);
        let [columns, rows] = [self.spec.columns, self.spec.rows()].map(|cells| cells as usize);
        // SAFETY: the workers are done.
        let heights = unsafe { self.state[0].read::<f32>(0..self.beginning.len()) };
        let range = |k: usize, cells: usize, parts: usize| k * cells / parts..(k + 1) * cells / parts;
        let mean = |x: usize, y: usize| {
            let cells =
                range(y, rows, down).flat_map(|j| range(x, columns, across).map(move |i| j * columns + i));
            let (sum, count) =
                cells.fold((0.0, 0), |(sum, count), at| (sum + f64::from(heights[at]), count + 1));
            (sum / f64::from(count)) as f32
        };
        let values = (0..down).flat_map(|y| (0..across).map(move |x| (x, y))).map(|(x, y)| mean(x, y));
        Ok(scene::picture(&self.spec, self.course().step, values.collect()))
    }

    /// A drop falls into the water, and the certificate begins with what is there then.
    fn disturb(&mut self, pool: &Pool, at: (f64, f64)) -> Result<bool, Failure> {
        let [x, y, radius, size] = scene::drop_at(&self.spec, at);
        let columns = self.spec.columns as usize;
        // SAFETY: the workers are done.
        let heights = unsafe { self.state[0].write::<f32>(0..self.beginning.len()) };
        for (i, height) in heights.iter_mut().enumerate() {
            let [dx, dy] =
                [(i % columns, x), (i / columns, y)].map(|(cell, at)| (cell as f64 + 0.5 - at) / radius);
            *height = (f64::from(*height) + size * scene::hill(dx, dy)) as f32;
        }
        self.course().disturb();
        self.keep(pool, &Cancel::default())?;
        Ok(true)
    }
}

impl ShallowWater {
    /// The course, which one thread at a time looks at.
    fn course(&self) -> MutexGuard<'_, ReferenceRun> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps the state for the certificate.
    fn keep(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.state.iter().zip(&self.kept).try_for_each(|(from, to)| {
            pool.for_blocks(self.beginning.len() + 1, cancel, |block| {
                // SAFETY: blocks are disjoint, and the workers are done.
                unsafe { to.write::<f32>(block.clone()).copy_from_slice(from.read(block)) };
            })
        })
    }

    /// Sweeps some rows or columns.
    fn sweep(&self, worker: Worker, along_rows: bool, lines: Range<usize>) {
        let ([eta, w], [eta_to, w_to]) =
            if along_rows { (&self.state, &self.between) } else { (&self.between, &self.state) };
        let off = usize::from(along_rows && self.fault == Some(Fault::OffByOne));
        let columns = self.spec.columns as usize;
        let water = Water {
            eta: eta.ptr::<f32>().wrapping_add(off).cast_const(),
            w: w.ptr::<f32>().cast_const(),
            eta_to: eta_to.ptr(),
            w_to: w_to.ptr(),
            line: if along_rows { columns } else { 1 },
            cell: if along_rows { 1 } else { columns },
            count: if along_rows { columns } else { self.spec.rows() as usize },
            kappa: self.kappa,
        };
        let kernel = self.kernels[usize::from(!along_rows)];
        // SAFETY: the arrays hold these lines, no other worker writes them before all have met, and the processor has the
        // instruction set.
        let dry = unsafe { kernel(water, lines, self.scratch[worker.index].ptr()) };
        if dry {
            self.dry.store(true, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::inputs::shared::Shared;
    use crate::primitives::Definition;
    use crate::primitives::words::params;

    /// A case whose water has come to rest, as it has before a sample of many steps is judged.
    struct AtRest {
        job: ShallowWater,
        pool: Arc<Pool>,
    }

    impl AtRest {
        fn new(words: &str) -> AtRest {
            let spec = Spec::read("shallow-water", &params(words), 7).expect("a case");
            let pool = Arc::new(Pool::new(Some(1)).expect("a pool"));
            let stored = |_: &str| Err(Failure::Failed("no arrays".to_owned()));
            let cancel = &Cancel::default();
            let (fault, shared) = (None, &Shared::default());
            let context = Context {
                pool: pool.clone(),
                isa: None,
                fault,
                cancel,
                open: false,
                stored: &stored,
                shared,
            };
            let (job, _) = ShallowWater::prepare(spec, &context).expect("memory");
            let case = AtRest { job, pool };
            case.execute();
            case
        }

        fn execute(&self) {
            self.pool.run(|worker| self.job.execute(worker));
        }

        /// What becomes of a sample that does this, judged as the last of a round.
        fn judged(&self, sample: impl Fn(&AtRest)) -> Result<(), String> {
            self.job.clear(&self.pool, &Cancel::default()).expect("cleared");
            sample(self);
            match self.job.judge(&self.pool, &Cancel::default()).expect("judged") {
                Verdict::Certified { .. } => Ok(()),
                Verdict::Wrong { mistake } => Err(mistake),
            }
        }

        fn zeros(&self) {
            for array in &self.job.state {
                check::fill(&self.pool, array, 4, 0, &Cancel::default()).expect("filled");
            }
        }

        fn proved(&self) -> Option<String> {
            self.job.prove(&self.pool, &Cancel::default()).expect("proved")
        }
    }

    /// Water that was high once, water that was never so, that f32 hardly or not at all holds, and that had the time for it: what is
    /// right is certified, and nothing, zeros, a part that is lost and waves of another speed are not.
    #[test]
    fn water_at_rest_is_certified_and_what_leaves_it_at_rest_is_not() {
        for words in [
            "columns=32 rows=24 steps=10000 scene=drop courant=0.5",
            "columns=24 rows=24 steps=10000 scene=dam courant=2",
            "columns=24 rows=24 steps=10000 scene=wave courant=16",
            "columns=24 rows=16 steps=1000 scene=drop amplitude=0 courant=0.5",
            "columns=24 rows=16 steps=3 scene=dam amplitude=0 courant=4",
            "columns=24 rows=16 steps=1000 scene=wave amplitude=0.00000000000000000000000000000000000001 courant=4",
            "columns=40 rows=3 steps=500 scene=wave scene.wave.halves=7 amplitude=0.00001 courant=8",
            "columns=7 rows=5 steps=100000 scene=dam amplitude=0.5 courant=1",
        ] {
            let mut case = AtRest::new(words);
            assert_eq!((case.proved(), case.judged(AtRest::execute)), (None, Ok(())), "{words}");
            assert!(case.judged(|_| {}).is_err(), "{words}: nothing is done");
            assert!(case.judged(AtRest::zeros).is_err(), "{words}: zeros");
            case.job.fault = Some(Fault::MissingTail);
            assert!(case.judged(AtRest::execute).is_err(), "{words}: a part is lost");
            case.job.fault = None;
            // What an execution of more steps begins with is proved by itself.
            for factor in [1.1, 4.0].into_iter().filter(|_| case.job.spec.steps > LIVELY) {
                case.job.kappa = factor * case.job.spec.kappa() as f32;
                assert!(case.proved().is_some(), "{words}: κ is {factor} times as large");
            }
        }
    }
}
