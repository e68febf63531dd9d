//! The certificate evaluates the definition independently: warps count their parts of the keys and then look
//! for each key in its place.

use super::input::Input;
use crate::primitives::cuda::prelude::*;
use crate::primitives::multisplit::Spec;

/// Upper limit on the counters, one per bucket and warp.
const COUNTERS: u64 = 1 << 22;
/// Upper limit on the warps: enough to fill a device.
const WARPS: u64 = 1 << 13;

device_struct! {
    /// `Parts` in the kernels.
    struct Parts: 24 {
        n: u64,
        size: u64,
        warps: u64,
    }
}

impl Parts {
    fn new(spec: &Spec) -> Parts {
        let most = (COUNTERS / spec.buckets).min(WARPS);
        let size = spec.keys.div_ceil(most).next_multiple_of(32).max(32);
        Parts { n: spec.keys, size, warps: spec.keys.div_ceil(size).max(1) }
    }
}

/// The kernels and counters of the certificate.
pub struct Certificate {
    parts: Parts,
    kernels: [Kernel; 4],
    next: DeviceBuffer<u32>,
}

/// The arrays that an execution writes.
pub struct Output {
    /// The n keys.
    pub keys: DeviceBuffer<u32>,
    pub values: DeviceBuffer<u32>,
    /// The m + 1 offsets.
    pub offsets: DeviceBuffer<u32>,
}

impl Certificate {
    /// The names of the kernels.
    pub const KERNELS: [&str; 4] =
        ["multisplit_count", "multisplit_sum", "multisplit_offsets", "multisplit_certify"];

    /// Allocates the certificate of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Certificate, Failure> {
        let parts = Parts::new(spec);
        let next = array(gpu, spec.buckets * parts.warps)?;
        Ok(Certificate { parts, kernels: module.kernels(Certificate::KERNELS)?, next })
    }

    /// Describes the first mistake; `None` if there is none.
    pub fn judge(
        &mut self,
        gpu: &Gpu,
        spec: &Spec,
        input: &Input,
        output: &Output,
    ) -> Result<Option<String>, Failure> {
        let (n, m, words) = (spec.keys, spec.buckets as u32, (spec.value / 4) as u32);
        let (counters, parts) = (self.next.len() as u64, self.parts);
        let blocks = grid(32 * parts.warps, u64::from(BLOCK));
        let Input { source, function, .. } = *input;
        let Output { keys, values, offsets: begins } = output;
        let [count, sum, offsets, certify] = &self.kernels;
        let finding = find(gpu, |report| {
            gpu.memset32(&mut self.next, 0)?;
            let next = &self.next;
            gpu.launch(count, blocks, BLOCK, 0, args![source, function, parts, next])?;
            gpu.launch(sum, 1, 1024, 0, args![next, counters])?;
            launch_over(gpu, offsets, u64::from(m) + 1, args![next, parts, m, begins, report])?;
            let found = args![source, function, parts, next, keys, values, words, report];
            gpu.launch(certify, blocks, BLOCK, 0, found)
        })?;
        Ok(finding.unchecked(n, "keys").or_else(|| finding.mistake("keys")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::tests::spec;
    use proptest::prelude::*;

    proptest! {
        /// Parts cover all keys, and their counters stay within the limit.
        #[test]
        fn parts_cover_the_keys(keys in 0u64..=1 << 31, buckets in 2u64..=65_536) {
            let parts = Parts::new(&spec(&format!("keys={keys} buckets={buckets}")));
            prop_assert!(parts.warps * parts.size >= keys && parts.size.is_multiple_of(32));
            prop_assert!((parts.warps - 1) * parts.size <= keys && parts.warps * buckets <= COUNTERS);
        }
    }
}
