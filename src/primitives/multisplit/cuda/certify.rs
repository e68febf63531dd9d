//! The certificate: the definition once more, by warps that count their parts of the keys and
//! then look for each of them where it belongs.

use super::input::{Input, words};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu, Kernel, Module, Plain};
use crate::primitives::cuda::finding::find;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::multisplit::Spec;

/// Most counters, one for each bucket and warp.
const COUNTERS: u64 = 1 << 22;
/// Most warps: enough to fill a device.
const WARPS: u64 = 1 << 13;

/// `Parts` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
struct Parts {
    n: u64,
    size: u64,
    warps: u64,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Parts {}

impl Parts {
    fn new(spec: &Spec) -> Parts {
        let most = (COUNTERS / spec.buckets).min(WARPS);
        let size = spec.keys.div_ceil(most).next_multiple_of(32).max(32);
        Parts { n: spec.keys, size, warps: spec.keys.div_ceil(size).max(1) }
    }
}

/// Bytes that the certificate of a case needs at its peak.
pub fn bytes(spec: &Spec) -> u64 {
    4 * spec.buckets * Parts::new(spec).warps
}

/// Its kernels and counters.
pub struct Certificate {
    parts: Parts,
    count: Kernel,
    sum: Kernel,
    offsets: Kernel,
    certify: Kernel,
    next: DeviceBuffer<u32>,
}

/// What an execution leaves.
pub struct Output {
    /// With room for one key or value more.
    pub keys: DeviceBuffer<u32>,
    pub values: DeviceBuffer<u32>,
    /// m + 1 of them.
    pub offsets: DeviceBuffer<u32>,
}

impl Certificate {
    /// Their names.
    pub const KERNELS: [&str; 4] =
        ["multisplit_count", "multisplit_sum", "multisplit_offsets", "multisplit_certify"];

    /// That of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Certificate, Failure> {
        let parts = Parts::new(spec);
        let [count, sum, offsets, certify] = module.kernels(Certificate::KERNELS)?;
        Ok(Certificate {
            parts,
            count,
            sum,
            offsets,
            certify,
            next: gpu.alloc(length(spec.buckets * parts.warps)?)?,
        })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.next.bytes()
    }

    /// The first mistake in words, `None` without one.
    pub fn judge(
        &mut self,
        gpu: &Gpu,
        spec: &Spec,
        input: &Input,
        output: &Output,
    ) -> Result<Option<String>, Failure> {
        let (n, m, words) = (spec.keys, spec.buckets as u32, words(spec));
        let counters = self.next.len() as u64;
        let blocks = grid(32 * self.parts.warps, u64::from(BLOCK));
        let finding = find(gpu, |report| {
            let Certificate { parts, count, sum, offsets, certify, next } = self;
            gpu.memset32(next, 0)?;
            let next = &*next;
            let claim = [(&input.source).into(), (&input.function).into(), (&*parts).into(), next.into()];
            gpu.launch(count, blocks, BLOCK, 0, &claim)?;
            gpu.launch(sum, 1, 1024, 0, &[next.into(), (&counters).into()])?;
            let begins =
                [next.into(), (&*parts).into(), (&m).into(), (&output.offsets).into(), report.into()];
            launch_over(gpu, offsets, u64::from(m) + 1, &begins)?;
            let found = [(&output.keys).into(), (&output.values).into(), (&words).into(), report.into()];
            gpu.launch(certify, blocks, BLOCK, 0, &[&claim[..], &found].concat())
        })?;
        if finding.checked != n {
            return Ok(Some(format!("{} of {n} keys were checked", finding.checked)));
        }
        Ok(finding.mistake("keys"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::tests::spec;
    use proptest::prelude::*;

    proptest! {
        /// Parts cover the keys, and their counters are few.
        #[test]
        fn parts_cover_the_keys(keys in 0u64..=1 << 31, buckets in 2u64..=65_536) {
            let parts = Parts::new(&spec(&format!("keys={keys} buckets={buckets}")));
            prop_assert!(parts.warps * parts.size >= keys && parts.size.is_multiple_of(32));
            prop_assert!((parts.warps - 1) * parts.size <= keys && parts.warps * buckets <= COUNTERS);
        }
    }
}
