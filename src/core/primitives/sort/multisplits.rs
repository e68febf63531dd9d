//! The multisplits of a sort on GPUs, one per digit (ashkiani2017 §7.1): their traffic and their blocks are those of the
//! multisplits themselves. Pure.

use super::Spec;
use super::spec::{Found, Splits};
use crate::case::{BlockCost, Pass, Refusal};
use crate::primitives::multisplit::block_costs::looking;
use crate::primitives::{Problem, multisplit};

/// Instructions, and integer instructions among them, that an integer division by an unknown divisor takes over a shift.
const DIVISION: [f64; 2] = [20.0, 12.0];

/// The multisplits of the digits with all bits, and that of the highest digit if it has fewer; each with the number of
/// digits that it splits by.
///
/// # Errors
/// Those of a multisplit's parameters.
pub fn specs(spec: &Spec, radix: u64, by: Splits) -> Result<Vec<(multisplit::Spec, u64)>, Refusal> {
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

/// The passes of all digits.
pub fn passes(spec: &Spec, radix: u64, by: Splits) -> Vec<Pass> {
    let all = specs(spec, radix, by).unwrap_or_default();
    let of = |(split, times): (multisplit::Spec, u64)| {
        split.work().passes.into_iter().map(move |pass| pass.times(times))
    };
    all.into_iter().flat_map(of).collect()
}

/// Block costs for each of the passes.
///
/// # Errors
/// Those of the multisplits.
pub fn block_costs(spec: &Spec, radix: u64, by: Splits, found: Found) -> Result<Vec<BlockCost>, String> {
    let splits = specs(spec, radix, by).map_err(|refusal| refusal.to_string())?;
    let further = if found == Found::Division { DIVISION } else { [0.0; 2] };
    let all: Result<Vec<_>, String> = splits.iter().map(|(split, _)| looking(split, further)).collect();
    Ok(all?.concat())
}
