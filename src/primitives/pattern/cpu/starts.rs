//! The arrays that say where uses start, and the choice between them and δ·i.

use super::kernels::visited::{self, Visits};
use super::kernels::{self, Uses};
use crate::case::{Cancel, Failure};
use crate::device::cpu::{Buffer, Isa, Pool};
use crate::primitives::pattern::spec::Kernel;
use crate::primitives::pattern::{Spec, Starts};

/// A timed kernel, by where the starts of its uses come from.
#[derive(Clone, Copy)]
pub enum Timed {
    Moved(kernels::Timed),
    Visited(visited::Timed),
}

/// The timed kernel of a case; `None` where the instruction set cannot scatter.
pub fn timed(spec: &Spec, isa: Isa) -> Option<Timed> {
    match spec.based() {
        true => visited::timed(spec, isa).map(Timed::Visited),
        false => kernels::timed(spec, isa).map(Timed::Moved),
    }
}

/// Where every use starts in the sparse array and, for gs, in the destination.
pub struct Arrays {
    sparse: Buffer,
    target: Option<Buffer>,
    wide: bool,
}

impl Arrays {
    /// Of a case that needs them.
    pub fn new(spec: &Spec, pool: &Pool, cancel: &Cancel) -> Result<Option<Arrays>, Failure> {
        if !spec.based() {
            return Ok(None);
        }
        let array = |starts: &Starts| array(starts, spec, pool, cancel);
        let gs = spec.kernel == Kernel::Gs;
        let sparse = array(&if gs { spec.source_starts() } else { spec.starts() })?;
        let target = if gs { Some(array(&spec.starts())?) } else { None };
        Ok(Some(Arrays { sparse, target, wide: spec.base_bytes() == 8 }))
    }

    /// A launch whose first use is visit `first`.
    pub fn visits(&self, uses: Uses, first: usize) -> Visits {
        let bytes = if self.wide { 8 } else { 4 };
        let from = |starts: &Buffer| starts.ptr::<u8>().wrapping_add(first * bytes).cast_const();
        let target = self.target.as_ref().unwrap_or(&self.sparse);
        Visits { uses, starts: [from(&self.sparse), from(target)], wide: self.wide }
    }

    pub fn bytes(&self) -> u64 {
        [Some(&self.sparse), self.target.as_ref()].into_iter().flatten().map(|b| b.bytes() as u64).sum()
    }
}

fn array(starts: &Starts, spec: &Spec, pool: &Pool, cancel: &Cancel) -> Result<Buffer, Failure> {
    let (count, bytes) = (spec.count as usize, spec.base_bytes());
    let buffer = Buffer::new(count * bytes as usize)?;
    pool.for_blocks(count, cancel, |block| {
        // SAFETY: blocks are disjoint, and only workers of this call touch the buffer.
        unsafe {
            match bytes {
                4 => buffer.write::<u32>(block.clone()).iter_mut().zip(block).for_each(|(start, i)| {
                    *start = starts.at(i as u64) as u32;
                }),
                _ => buffer.write::<u64>(block.clone()).iter_mut().zip(block).for_each(|(start, i)| {
                    *start = starts.at(i as u64);
                }),
            }
        }
    })?;
    Ok(buffer)
}
