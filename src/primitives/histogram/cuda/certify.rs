//! The certificate: the values counted again, as the integers that they are made of, and
//! compared bin by bin; all together are as many as there are values.

use super::input::Input;
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, Gpu, Kernel, Module};
use crate::primitives::cuda::finding::find;
use crate::primitives::cuda::{launch_over, length};
use crate::primitives::histogram::Spec;
use crate::primitives::histogram::spec::By;

/// Its kernels and arrays.
pub struct Certificate {
    recount: Kernel,
    compare: Kernel,
    /// The splitters in units of 2^-14; even bins follow from their number.
    splitters: DeviceBuffer<u32>,
    expected: DeviceBuffer<u64>,
}

impl Certificate {
    /// Their names.
    pub const KERNELS: [&str; 2] = ["histogram_recount", "histogram_certify"];

    /// That of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Certificate, Failure> {
        let [recount, compare] = module.kernels(Certificate::KERNELS)?;
        Ok(Certificate {
            recount,
            compare,
            splitters: gpu.upload(&spec.splitters())?,
            expected: gpu.alloc(length(spec.bins)?)?,
        })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.expected.bytes() + self.splitters.bytes()
    }

    /// The first mistake in words, `None` without one.
    pub fn judge(
        &mut self,
        gpu: &Gpu,
        spec: &Spec,
        input: &Input,
        counts: &DeviceBuffer<u64>,
    ) -> Result<Option<String>, Failure> {
        let Certificate { recount, compare, splitters, expected } = self;
        let (n, m, range) = (spec.elements, spec.bins as u32, u32::from(spec.by == By::Range));
        let finding = find(gpu, |report| {
            gpu.memset32(expected, 0)?;
            let expected = &*expected;
            let claim =
                [(&input.closed).into(), (&n).into(), (&*splitters).into(), (&range).into(), (&m).into()];
            launch_over(gpu, recount, n, &[&claim[..], &[expected.into(), report.into()]].concat())?;
            let compared = [counts.into(), expected.into(), (&m).into(), report.into()];
            launch_over(gpu, compare, spec.bins, &compared)
        })?;
        if finding.checked != n {
            return Ok(Some(format!("{} of {n} values were checked", finding.checked)));
        }
        if let Some(mistake) = finding.mistake("counts") {
            return Ok(Some(mistake));
        }
        Ok((finding.sum != n).then(|| format!("the counts of {n} values add up to {}", finding.sum)))
    }
}
