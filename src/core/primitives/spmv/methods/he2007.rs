//! Products, gathered in passes over chunks of x, then sums of the products of each row (he2007 §4.3). A pass reads all
//! columns, and the values of the entries whose columns are in its chunk.

use super::balanced;
use crate::case::BlockCost;
use crate::case::work::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::work::{products, results, starts};

pub fn costs(spec: &Spec) -> Costs<'_> {
    let passes = || {
        let all = Access::reads("products", spec.element(), spec.shape.entries);
        let sums = Pass::once([starts(spec), all]).and(results(spec));
        vec![products(spec, spec.chunks().count() as u64), sums]
    };
    Costs::of_sampled(passes)
        .beside(spec.shape.entries * spec.element())
        .blocks([BlockCost::default(), balanced::tiles(spec)])
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::{Made, Products, Spmv};

    pub fn method(made: &Made) -> Result<PoolMethod<Spmv>, Failure> {
        let products = Products::new(made)?;
        Ok(Box::new(move |product, worker| {
            let call = products.make(product, worker);
            product.in_shares(worker, &call, &product.timed.summed, None);
        }))
    }
}

pub mod cuda {
    use super::balanced::cuda::in_tiles;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, Products, named};

    pub fn kernels(spec: &Spec) -> KernelList {
        let names = [("sums", 1), ("carry", 1), ("products", spec.chunks().count() as u64)];
        KernelList::default().timed_all(MODULE, names.map(|(word, launches)| (named(spec, word), launches)))
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let (products, mut sums) = (Products::new(made)?, in_tiles(made, "sums")?);
        Ok(Box::new(move |gpu, call| sums(gpu, &products.make(gpu, call, DevicePtr::null())?)))
    }
}
