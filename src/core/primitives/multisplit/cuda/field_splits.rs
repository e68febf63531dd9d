//! Multisplits by a field of the keys, for sorts: each may be by another field of as many bits.

use super::input::Function;
use super::{Pair, Split, Splitter, splitter};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu};
use crate::primitives::cuda::length;
use crate::primitives::multisplit::Spec;

/// A multisplit by fields of one width.
pub struct FieldSplits {
    bits: u32,
    splitter: Box<dyn Splitter>,
    offsets: DeviceBuffer<u32>,
}

impl FieldSplits {
    /// Allocates the temporary arrays of a case's method.
    ///
    /// # Errors
    /// The errors of the method.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<FieldSplits, Failure> {
        let function = Function::field(0, spec.bits(), spec.buckets);
        let offsets = gpu.alloc(length(spec.buckets + 1)?)?;
        Ok(FieldSplits { bits: spec.bits(), splitter: splitter(gpu, spec, function)?, offsets })
    }

    /// Bits of a field.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Queues a stable split of `n` keys, and values if there are any, by the field from bit `shift` on, which is found by
    /// shifting or, in the paper's methods, by `division`.
    ///
    /// # Errors
    /// Errors reported by the driver.
    pub fn split(
        &mut self,
        gpu: &Gpu,
        from: Pair,
        to: Pair,
        n: u64,
        shift: u32,
        division: bool,
    ) -> Result<(), Failure> {
        let field = match division {
            true => Function::quotient(shift, self.bits),
            false => Function::field(shift, self.bits, 1 << self.bits),
        };
        self.splitter.turn_to(field);
        self.splitter.split(gpu, &Split { from, n, to, offsets: self.offsets.pointer() })
    }
}
