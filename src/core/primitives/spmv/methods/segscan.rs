//! Products, a backward segmented scan of them, and the first of each row (sengupta2007 §4.2). Four passes: the products,
//! a head for each row that has entries, the scan, and the results.

use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::work::{products, results, starts};

pub fn costs(spec: &Spec) -> Costs<'_> {
    let own_bytes = spec.shape.entries * spec.element() + 4 * spec.shape.entries.div_ceil(32);
    Costs::of_sampled(|| passes(spec)).beside(own_bytes)
}

fn passes(spec: &Spec) -> Vec<Pass> {
    let (rows, entries, element) = (spec.shape.rows, spec.shape.entries, spec.element());
    let (firsts, words) = (rows.min(entries), entries.div_ceil(32));
    let heads = Access::reads("heads", 4, words);
    let cleared = Access::writes("heads", 4, words);
    // An atomic operation for each row that has entries.
    let set = Access { count: firsts, ..cleared.clone() }.ordered(Order::Given).indexed();
    let all = Access::reads("products", element, entries);
    let last = Access { count: firsts, ..all.clone() };
    vec![
        products(spec, 1).and([cleared]),
        Pass::once([starts(spec), set]),
        Pass::once([all, heads, Access::writes("products", element, entries)]),
        Pass::once([starts(spec), last]).and(results(spec)),
    ]
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::{Made, Products, Spmv};

    pub fn method(made: &Made) -> Result<PoolMethod<Spmv>, Failure> {
        let products = Products::new(made)?;
        Ok(Box::new(move |product, worker| {
            let call = products.make(product, worker);
            product.in_shares(worker, &call, &product.timed.scanned, None);
        }))
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::scan::cuda as scan;
    use crate::primitives::scan::cuda::one_pass::{Launch, OnePass, Variant};
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, Products, named};

    /// The scan of products.
    fn variant(spec: &Spec) -> Variant {
        let family = if spec.element() == 4 { "add_f32" } else { "add_f64" };
        Variant { spine: true, segmented: true, short: false, family, element: spec.element() }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        let names = ["products", "heads", "first"].map(|word| (named(spec, word), 1));
        KernelList::default().timed_all(MODULE, names).timed(scan::MODULE, variant(spec).name(), 1)
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let entries = made.spec.shape.entries;
        let (products, set, first) = (Products::new(made)?, made.kernel("heads")?, made.kernel("first")?);
        let heads: DeviceBuffer<u32> = array(made.gpu, entries.div_ceil(32))?;
        let mut scan = OnePass::new(made.gpu, variant(made.spec), entries)?;
        Ok(Box::new(move |gpu, call| {
            let heads = heads.pointer();
            let Call { a, z, y, rows, .. } = products.make(gpu, call, heads)?;
            launch_over(gpu, &set, rows.into(), args![a, heads, rows])?;
            let all = Launch::new(a.values, a.values, entries);
            scan.execute(gpu, Launch { heads, backward: 1, inclusive: 1, ..all })?;
            launch_over(gpu, &first, rows.into(), args![a, z, y, rows])
        }))
    }
}
