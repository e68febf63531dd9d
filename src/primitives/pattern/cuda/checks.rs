//! The kernels of `kernels/pattern.cu` that certify a case, typed.

use super::kernels::{Launch, Side};
use super::starts::Form;
use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, Gpu, Module};
use crate::inputs::mix::key64;
use crate::primitives::cuda::launch_over;
use crate::primitives::pattern::walk::Walk;

/// What a scatter's certificate expects: the codes of `pattern_mark`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// The timed scatter: the dense word j + P·(i mod wrap).
    Dense,
    /// The keeping scatter: word i·P + j.
    Computed,
    /// gs: the word of its sparse source.
    Sparse,
}

/// Part of a scatter's destination and the bitmaps of its words.
pub struct Region<'a> {
    pub destination: &'a DeviceBuffer<u64>,
    pub begin: u64,
    pub words: u64,
    pub touched: &'a DeviceBuffer<u32>,
    pub explained: &'a DeviceBuffer<u32>,
}

/// The kernels of the certificates.
pub struct Checks {
    check_kept: cuda::Kernel,
    check_left: cuda::Kernel,
    mark_left: cuda::Kernel,
    check_starts: cuda::Kernel,
    expected_fold: cuda::Kernel,
    mark: cuda::Kernel,
    check_region: cuda::Kernel,
}

impl Checks {
    /// Their names.
    pub const KERNELS: [&str; 7] = [
        "pattern_check_kept",
        "pattern_check_left",
        "pattern_mark_left",
        "pattern_check_starts",
        "pattern_expected_fold",
        "pattern_mark",
        "pattern_check_region",
    ];

    /// Finds them in the module.
    pub fn new(module: &Module) -> Result<Checks, Failure> {
        let [check_kept, check_left, mark_left, check_starts, expected_fold, mark, check_region] =
            module.kernels(Checks::KERNELS)?;
        Ok(Checks { check_kept, check_left, mark_left, check_starts, expected_fold, mark, check_region })
    }

    /// Queues the check of what the keeping gather kept.
    pub fn check_kept(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        seed: u64,
        kept: &DeviceBuffer<u64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let key = key64(seed);
        let args = [(&launch.walk).into(), side.into(), (&key).into(), kept.into(), report.into()];
        launch.start(gpu, &self.check_kept, &args)
    }

    /// Queues the check of what the timed gather's blocks left; `walk` was theirs.
    pub fn check_left(
        &self,
        gpu: &Gpu,
        walk: &Walk,
        side: &Side,
        seed: u64,
        left: &DeviceBuffer<u64>,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (key, n) = (key64(seed), walk.left_words());
        let args = [walk.into(), side.into(), (&key).into(), left.into(), (&n).into(), report.into()];
        launch_over(gpu, &self.check_left, n, &args)
    }

    /// Queues the marks of what the timed gather's blocks store to where uses start anywhere,
    /// and their comparison with what is left there; the launch was theirs. `shared`: it is one
    /// dense side for all blocks.
    pub fn marked_left(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        (seed, shared): (u64, bool),
        region: &Region,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (key, shared) = (key64(seed), u32::from(shared));
        let (left, touched, explained) = (region.destination, region.touched, region.explained);
        let args = [
            (&launch.walk).into(),
            side.into(),
            (&key).into(),
            left.into(),
            touched.into(),
            explained.into(),
            (&shared).into(),
        ];
        launch.start(gpu, &self.mark_left, &args)?;
        self.check_region(gpu, region, report)
    }

    /// Queues the comparison of an array of starts with the function that it follows.
    pub fn starts(
        &self,
        gpu: &Gpu,
        starts: &DeviceBuffer<u32>,
        bytes: u32,
        form: &Form,
        n: u64,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let args = [starts.into(), (&bytes).into(), form.into(), (&n).into(), report.into()];
        launch_over(gpu, &self.check_starts, n, &args)
    }

    /// Queues the sum of all words of a gather.
    pub fn expected_fold(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        side: &Side,
        seed: u64,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let key = key64(seed);
        launch.start(
            gpu,
            &self.expected_fold,
            &[(&launch.walk).into(), side.into(), (&key).into(), report.into()],
        )
    }

    /// Queues the marks of a scatter's words; `sides` are the destination's and gs's
    /// source's.
    pub fn mark(
        &self,
        gpu: &Gpu,
        launch: &Launch,
        sides: (&Side, &Side),
        (expect, seed): (Expect, u64),
        region: &Region,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let (kind, key) = (expect as u32, key64(seed));
        let args = [
            (&launch.walk).into(),
            sides.0.into(),
            sides.1.into(),
            (&kind).into(),
            (&key).into(),
            region.destination.into(),
            (&region.begin).into(),
            region.touched.into(),
            region.explained.into(),
            report.into(),
        ];
        launch.start(gpu, &self.mark, &args)
    }

    /// Queues the check of a region against its marks.
    pub fn check_region(
        &self,
        gpu: &Gpu,
        region: &Region,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let args = [
            region.destination.into(),
            (&region.begin).into(),
            (&region.words).into(),
            region.touched.into(),
            region.explained.into(),
            report.into(),
        ];
        launch_over(gpu, &self.check_region, region.words, &args)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_are_the_kernels() {
        assert_eq!([Expect::Dense, Expect::Computed, Expect::Sparse].map(|e| e as u32), [0, 1, 2]);
    }
}
