//! One by one: each key looks into its buckets, and `atomics` puts each record into one of its own. On GPUs a warp looks for
//! some keys, and a thread puts in a record.

use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::hash_search::work::{emptied, looked, order, put};
use crate::primitives::hash_search::{Build, Search};

pub fn costs(spec: &Search) -> Costs<'_> {
    let n = spec.keys;
    let all = [Access::reads("keys", 4, n), looked(spec, order(spec)), Access::writes("out", 4, n)];
    Costs::of(vec![Pass::once(all)]).beside(spec.layout().bytes() + 4 * n)
}

pub fn build_costs(spec: &Build) -> Costs<'_> {
    Costs::of(vec![emptied(spec), put(spec, ["keys", "ids"], Order::Random)])
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::hash_search::cpu::build::HashBuild;
    use crate::primitives::hash_search::cpu::{HashSearch, Lookup, Made};

    pub fn method(made: &Made) -> Result<PoolMethod<HashSearch>, Failure> {
        let lookup = Lookup::new(made)?;
        Ok(Box::new(move |search, worker| {
            for piece in search.keys.pieces(worker) {
                // SAFETY: workers have disjoint pieces.
                let out = unsafe { search.results.out.write::<u32>(piece.clone()) };
                lookup.search(search.keys.some(piece), out);
            }
        }))
    }

    pub fn build() -> PoolMethod<HashBuild> {
        Box::new(|build, worker| {
            build.pieces(worker).into_iter().for_each(|piece| build.insert(build.some(piece)));
        })
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::hash_search::cuda::build::{Insert, Put};
    use crate::primitives::hash_search::cuda::{Call, Lookup};
    use crate::primitives::hash_search::{Build, Search};

    pub fn kernels(spec: &Search) -> KernelList {
        Lookup::kernels(spec)
    }

    pub fn method(gpu: &Gpu, spec: &Search) -> Result<GpuMethod<Call>, Failure> {
        let lookup = Lookup::new(gpu, spec)?;
        Ok(Box::new(move |gpu, call| lookup.queue(gpu, call.keys, call.out, call.n)))
    }

    pub fn build(gpu: &Gpu, spec: &Build) -> Result<GpuMethod<Put>, Failure> {
        let insert = Insert::new(gpu, spec)?;
        Ok(Box::new(move |gpu, put| insert.queue(gpu, put)))
    }
}
