//! One multisplit of all keys for each digit, the lowest first (ashkiani2017 §7.1). On GPUs each costs the launches and
//! passes of its multisplit, and digits of the same width share kernels and counts; on processors it reads the keys to
//! count them, and then moves keys and values with combined writes.

use super::{Found, Splits};
use crate::case::Refusal;
use crate::case::work::Pass;
use crate::primitives::multisplit::block_costs::{DIVISION, looking};
use crate::primitives::sort::Spec;
use crate::primitives::sort::work::{by_way_of_arrays, combined, moved, read_keys};
use crate::primitives::{Costs, Problem, multisplit};

/// The multisplits of GPUs for the digits with all bits, and that of the highest digit if it has fewer; each with the number of
/// digits that it splits by.
///
/// # Errors
/// Those of a multisplit's parameters.
fn specs(spec: &Spec, radix: u64, by: Splits) -> Result<Vec<(multisplit::Spec, u64)>, Refusal> {
    let mut bits: Vec<(u32, u64)> = Vec::new();
    for digit in spec.digits(radix as u32).all() {
        match bits.last_mut() {
            Some((of, times)) if *of == digit.bits => *times += 1,
            _ => bits.push((digit.bits, 1)),
        }
    }
    let of = |(bits, times): (u32, u64)| {
        Ok((multisplit::Spec::of_field(spec.keys, spec.values, bits, by.name())?, times))
    };
    bits.into_iter().map(of).collect()
}

/// The costs of the multisplits; an integer division takes further instructions than a shift.
pub fn costs(spec: &Spec, radix: u64, by: Splits, found: Found) -> Costs<'_> {
    if !spec.backend.is_cuda() {
        let times = spec.digits(radix as u32).count().into();
        let split = moved(spec, combined(1 << radix)).times(times);
        return by_way_of_arrays(spec, vec![read_keys(spec).times(times), split]);
    }
    let splits = match specs(spec, radix, by) {
        Ok(splits) => splits,
        Err(refusal) => return by_way_of_arrays(spec, Vec::new()).unknown(refusal.to_string()),
    };
    let passes = |(split, times): &(multisplit::Spec, u64)| {
        let times = *times;
        split.work().passes.into_iter().map(move |pass| pass.times(times))
    };
    let passes: Vec<Pass> = splits.iter().flat_map(passes).collect();
    by_way_of_arrays(spec, passes).blocks_sampled(move || {
        let further = if found == Found::Division { DIVISION } else { [0.0; 2] };
        let blocks = splits.iter().map(|(split, _)| looking(split, further));
        Ok(blocks.collect::<Result<Vec<_>, _>>()?.concat())
    })
}

pub mod cpu {
    use super::super::lsd::cpu::by_digits;
    use crate::primitives::sort::cpu::prelude::*;

    pub fn method(made: &Made, radix: u64) -> Result<PoolMethod<Sort>, Failure> {
        by_digits(made, made.spec.digits(radix as u32))
    }
}

pub mod cuda {
    use super::{Found, Splits, specs};
    use crate::primitives::multisplit;
    use crate::primitives::multisplit::cuda::Split;
    use crate::primitives::multisplit::cuda::fused::bulk;
    use crate::primitives::multisplit::cuda::input::Function;
    use crate::primitives::sort::cuda::prelude::*;

    pub fn kernels(
        spec: &Spec,
        radix: u64,
        by: Splits,
        capability: ComputeCapability,
    ) -> Result<KernelList, Failure> {
        let splits = specs(spec, radix, by).map_err(|why| Failure::Failed(why.to_string()))?;
        splits.into_iter().try_fold(KernelList::default(), |all, (split, digits)| {
            Ok(all.and(multisplit::methods::cuda::kernels(&split, bulk(capability))?, digits))
        })
    }

    /// The arrays between and the output take turns, so that the highest digit goes to the output. No sort reads where
    /// buckets begin.
    pub fn method(
        gpu: &Gpu,
        spec: &Spec,
        radix: u64,
        by: Splits,
        found: Found,
    ) -> Result<GpuMethod<Call>, Failure> {
        let (digits, mut splitters) = (spec.digits(radix as u32), Vec::new());
        for (split, times) in specs(spec, radix, by).map_err(|why| Failure::Failed(why.to_string()))? {
            let offsets: DeviceBuffer<u32> = array(gpu, split.buckets + 1)?;
            splitters.push((multisplit::methods::cuda::method(gpu, &split)?, offsets, times as usize));
        }
        Ok(Box::new(move |gpu, call| {
            let (mut left, mut from, mut digits) = (digits.count(), call.from, digits.all());
            for (splitter, offsets, times) in &mut splitters {
                for Digit { shift, bits } in digits.by_ref().take(*times) {
                    let to = if left % 2 == 1 { call.to } else { call.between };
                    let function = match found {
                        Found::Division => Function::quotient(shift, bits),
                        Found::Shift => Function::field(shift, bits, 1 << bits),
                    };
                    let offsets = offsets.pointer();
                    splitter.split(gpu, &Split { from, n: call.n, to, offsets, function })?;
                    (left, from) = (left - 1, to);
                }
            }
            Ok(())
        }))
    }
}
