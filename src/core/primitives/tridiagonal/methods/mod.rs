//! The methods of tridiagonal, each in a file that states what it does, its passes over memory and its code for each device.

mod cyclic_reduction;
mod parallel_cyclic_reduction;
mod partition;
mod thomas;

use super::{Layout, Spec, Type};
use crate::case::table::{choice, count};
use crate::case::{Access, BlockCost, Pass, Refusal};
use crate::primitives::Costs;

/// Rows of all interleaved systems up to which more threads are worth more than loads in flight in each of them.
const MANY: u64 = 1 << 20;

/// The arrays of a system, and of what reductions leave of it.
const INPUTS: [&str; 4] = ["a", "b", "c", "d"];
const REDUCED: [&str; 4] = ["a'", "b'", "c'", "d'"];

/// Why nothing is known of the blocks of a case in which lanes of a warp read rows far apart.
const APART: &str = "no model covers how much of the rows that threads walk along stays in the caches";

choice! {
    /// How the systems are solved.
    #[derive(Eq)]
    pub enum Method {
        /// partition on GPUs, thomas on processors
        Best = "best",
        /// each step halves the number of rows (sengupta2007 §4.3); GPUs keep up to 512 rows in shared memory and
        /// reduce longer systems in global memory
        CyclicReduction = "cyclic-reduction",
        /// on GPUs: each step eliminates every row's neighbours; up to 1024 rows in shared memory, more in global
        /// memory
        ParallelCyclicReduction = "parallel-cyclic-reduction",
        /// on GPUs: each thread eliminates some rows in registers; the one row left per thread is solved by parallel
        /// cyclic reduction
        Partition = "partition" main "rows" {
            /// rows per thread: 8, or 16 for f32; unset: 16 for f32 in strided systems of more than 512 rows and in
            /// interleaved systems of more than 1 Mi rows in total; 8 in all other cases
            rows: Option<u64> [count(8, 16)] = unset,
        },
        /// elimination from the first row to the last and back; one system per thread, or per lane of a processor
        Thomas = "thomas",
    }
}

/// The method that is executed.
///
/// # Errors
/// A method that the backend does not have, and rows that a thread cannot hold.
pub fn chosen(spec: &Spec) -> Result<Method, Refusal> {
    let asked = match spec.asked {
        Method::Best if spec.backend.is_cuda() => Method::Partition { rows: None },
        Method::Best => Method::Thomas,
        asked => asked,
    };
    let on_cpus = matches!(asked, Method::ParallelCyclicReduction | Method::Partition { .. });
    if on_cpus && spec.backend.is_cpu() {
        return Err(Refusal::NotApplicable(format!("{} is a method of GPUs", asked.name())));
    }
    match asked {
        Method::Partition { rows: None } => {
            let long = match spec.layout {
                Layout::Strided => spec.rows > 512,
                Layout::Interleaved => spec.count() > MANY,
            };
            Ok(Method::Partition { rows: Some(if spec.ty == Type::F32 && long { 16 } else { 8 }) })
        }
        Method::Partition { rows: Some(rows) } if rows != 8 && rows != 16 => {
            Err(Refusal::invalid("method.partition.rows", format!("{rows} is not 8 or 16")))
        }
        Method::Partition { rows: Some(16) } if spec.ty == Type::F64 => {
            Err(Refusal::NotApplicable("registers hold at most 8 rows of f64".to_owned()))
        }
        asked => Ok(asked),
    }
}

/// The costs of a case by its method.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match spec.method {
        Method::CyclicReduction => cyclic_reduction::costs(spec),
        Method::ParallelCyclicReduction => parallel_cyclic_reduction::costs(spec),
        Method::Partition { .. } => partition::costs(spec),
        Method::Best | Method::Thomas => thomas::costs(spec),
    }
}

/// Reads of so many elements of each array.
fn reads<const N: usize>(spec: &Spec, arrays: [&str; N], count: u64) -> [Access; N] {
    arrays.map(|array| Access::reads(array, spec.element(), count))
}

/// Writes of so many elements of each array.
fn writes<const N: usize>(spec: &Spec, arrays: [&str; N], count: u64) -> [Access; N] {
    arrays.map(|array| Access::writes(array, spec.element(), count))
}

/// A pass over all systems, each of which is solved on chip.
fn solved(spec: &Spec) -> Pass {
    Pass::once(reads(spec, INPUTS, spec.count())).and(writes(spec, ["x"], spec.count()))
}

/// Passes across memory that the accesses alone describe.
fn across_memory<'a>(passes: Vec<Pass>) -> Costs<'a> {
    let blocks = vec![BlockCost::default(); passes.len()];
    Costs::of(passes).blocks(blocks)
}

/// A pass in which each system has a block, whose lanes read neighbours in memory if systems are strided.
fn by_blocks(spec: &Spec, [resident, steps]: [f64; 2], times: f64, each: [f64; 3]) -> Costs<'_> {
    let costs = Costs::of(vec![solved(spec)]);
    if spec.layout == Layout::Interleaved {
        return costs.unknown(APART);
    }
    let cost = BlockCost::of(spec.systems, resident as u64).blocks(spec.systems).loads(1.0).steps(steps);
    costs.blocks([cost.with(times, each)])
}

/// The methods on processors.
pub mod cpu {
    use super::{Method, cyclic_reduction, thomas};
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::of_gpus;
    use crate::primitives::real::Real;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cpu::Solver;

    /// The kernel of a case, and the elements of the memory that it has for each worker.
    ///
    /// # Errors
    /// A method of GPUs.
    pub fn solver<T: Real>(spec: &Spec, isa: Isa) -> Result<Solver<T>, Failure> {
        match spec.method {
            Method::CyclicReduction => Ok(cyclic_reduction::cpu::solver(spec)),
            Method::Best | Method::Thomas => Ok(thomas::cpu::solver(spec, isa)),
            Method::ParallelCyclicReduction | Method::Partition { .. } => Err(of_gpus()),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, cyclic_reduction, parallel_cyclic_reduction, partition, thomas};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cuda::{Batch, Made};

    methods_of_gpus! { Spec, Made, Batch:
        Method::CyclicReduction => cyclic_reduction,
        Method::ParallelCyclicReduction => parallel_cyclic_reduction,
        Method::Partition { .. } => partition,
        Method::Best | Method::Thomas => thomas,
    }
}
