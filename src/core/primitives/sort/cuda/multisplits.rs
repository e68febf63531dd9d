//! A sort by one multisplit per digit (ashkiani2017 §7.1).

use super::{Arrays, Sorter};
use crate::case::Failure;
use crate::device::cuda::{Gpu, KernelList};
use crate::primitives::multisplit;
use crate::primitives::multisplit::cuda::FieldSplits;
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
        all = all.and(multisplit::cuda::kernels(split, bulk)?, digits as u64);
    }
    Ok(all)
}

/// The multisplits of a case.
pub struct Multisplits {
    digits: Vec<Digit>,
    division: bool,
    splits: Vec<FieldSplits>,
}

impl Multisplits {
    /// Allocates their counts.
    pub fn new(gpu: &Gpu, spec: &Spec, radix: u64, by: Splits, found: Found) -> Result<Multisplits, Failure> {
        let splits = specs(spec, radix, by)?
            .iter()
            .map(|spec| FieldSplits::new(gpu, spec))
            .collect::<Result<_, _>>()?;
        let digits = spec.digits(radix as u32).all().collect();
        Ok(Multisplits { digits, division: found == Found::Division, splits })
    }
}

impl Sorter for Multisplits {
    /// The arrays between and the output take turns, so that the highest digit goes to the output.
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        let (count, mut from) = (self.digits.len(), arrays.from);
        for (d, digit) in self.digits.iter().enumerate() {
            let to = if (count - d) % 2 == 1 { arrays.to } else { arrays.between };
            if let Some(splits) = self.splits.iter_mut().find(|splits| splits.bits() == digit.bits) {
                splits.split(gpu, from, to, arrays.n, digit.shift, self.division)?;
            }
            from = to;
        }
        Ok(())
    }
}
