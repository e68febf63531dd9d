//! A sort by one multisplit per digit, the lowest first (ashkiani2017 §7.1). Each costs the launches and passes of its
//! multisplit; digits of the same width share kernels and counts.

use super::{Arrays, Sorter};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu, KernelList};
use crate::primitives::cuda::array;
use crate::primitives::multisplit;
use crate::primitives::multisplit::cuda::input::Function;
use crate::primitives::multisplit::cuda::{Split, Stages};
use crate::primitives::sort::digits::Digit;
use crate::primitives::sort::spec::{Found, Splits};
use crate::primitives::sort::{Spec, multisplits};

/// The multisplits of the digits: of those with all bits, and of the highest if it has fewer.
fn specs(spec: &Spec, radix: u64, by: Splits) -> Result<Vec<multisplit::Spec>, Failure> {
    let all = multisplits::specs(spec, radix, by).map_err(|why| Failure::Failed(why.to_string()))?;
    Ok(all.into_iter().map(|(split, _)| split).collect())
}

/// The kernels of a case, with bulk copies or without.
pub fn kernels(spec: &Spec, radix: u64, by: Splits, bulk: bool) -> Result<KernelList, Failure> {
    let (splits, mut all) = (specs(spec, radix, by)?, KernelList::default());
    for split in &splits {
        let digits = spec.digits(radix as u32).all().filter(|digit| digit.bits == split.bits()).count();
        all = all.and(multisplit::methods::cuda::kernels(split, bulk)?, digits as u64);
    }
    Ok(all)
}

/// The multisplits of digits of one width.
struct OfWidth {
    bits: u32,
    stages: Stages,
    /// Where buckets begin, which no sort reads.
    offsets: DeviceBuffer<u32>,
}

impl OfWidth {
    fn new(gpu: &Gpu, spec: &multisplit::Spec) -> Result<OfWidth, Failure> {
        let (bits, offsets) = (spec.bits(), array(gpu, spec.buckets + 1)?);
        Ok(OfWidth { bits, stages: multisplit::methods::cuda::method(gpu, spec)?, offsets })
    }
}

/// The multisplits of a case.
pub struct Multisplits {
    digits: Vec<Digit>,
    found: Found,
    splits: Vec<OfWidth>,
}

impl Multisplits {
    /// Allocates their counts.
    pub fn new(gpu: &Gpu, spec: &Spec, radix: u64, by: Splits, found: Found) -> Result<Multisplits, Failure> {
        let splits = specs(spec, radix, by)?.into_iter().map(|spec| OfWidth::new(gpu, &spec));
        let digits = spec.digits(radix as u32).all().collect();
        Ok(Multisplits { digits, found, splits: splits.collect::<Result<_, _>>()? })
    }
}

impl Sorter for Multisplits {
    /// The arrays between and the output take turns, so that the highest digit goes to the output.
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        let (count, mut from) = (self.digits.len(), arrays.from);
        for (d, &Digit { shift, bits }) in self.digits.iter().enumerate() {
            let to = if (count - d) % 2 == 1 { arrays.to } else { arrays.between };
            if let Some(OfWidth { stages, offsets, .. }) =
                self.splits.iter_mut().find(|splits| splits.bits == bits)
            {
                let function = match self.found {
                    Found::Division => Function::quotient(shift, bits),
                    Found::Shift => Function::field(shift, bits, 1 << bits),
                };
                let offsets = offsets.pointer();
                stages.split(gpu, &Split { from, n: arrays.n, to, offsets, function })?;
            }
            from = to;
        }
        Ok(())
    }
}
