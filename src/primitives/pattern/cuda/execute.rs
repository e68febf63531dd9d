//! What a case launches: timed, and for its certificate.

use super::Patterns;
use super::kernels::{Launch, Pattern, Side};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr};
use crate::primitives::cuda::length;
use crate::primitives::pattern::spec::{Kernel, Method};
use crate::primitives::pattern::walk::{KEPT, Steps};
use crate::primitives::range::Range;

impl Patterns {
    /// max(p) − min(p) + 1.
    pub(super) fn span(&self) -> u64 {
        self.largest - self.smallest + 1
    }

    /// The side of S.
    pub(super) fn side(&self) -> Side {
        self.moved(&self.pattern)
    }

    /// The side that is executed, right or wrong.
    pub(super) fn executed(&self) -> Side {
        self.moved(self.wrong_pattern.as_ref().unwrap_or(&self.pattern))
    }

    pub(super) fn moved(&self, pattern: &Pattern) -> Side {
        self.starts.as_ref().map_or(pattern.side(), |starts| starts.of(pattern.side()))
    }

    /// The side of S_g, of kernels other than gs that of S.
    pub(super) fn source_side(&self) -> Side {
        let Some(pattern) = &self.source_pattern else { return self.side() };
        self.source_starts.as_ref().map_or(pattern.side(), |starts| starts.of(pattern.side()))
    }

    /// S as it is executed on, misplaced or not.
    pub(super) fn base(&self) -> Result<DevicePtr<u64>, Failure> {
        self.sparse.pointer_at(length(self.plan.shift)?)
    }

    /// A launch over some iterations without a dense side.
    pub(super) fn launch(&self, range: Range, steps: Steps) -> Launch {
        let walk = self.shape.walk(range, steps, self.gpu.device().sms);
        Launch { walk, threads: self.shape.threads(), shared: 0 }
    }

    /// A launch of the timed kernel over some iterations.
    pub(super) fn timed_launch(&self, range: Range) -> Launch {
        let launch = self.launch(range, self.steps);
        match self.dense {
            Some(dense) => Launch { walk: launch.walk.with(dense), shared: dense.bytes, ..launch },
            None if self.spec.global => Launch { walk: launch.walk.sharing(self.spec.wrap), ..launch },
            None => launch,
        }
    }

    /// Queues one execution.
    pub(super) fn execute_planned(&self) -> Result<(), Failure> {
        self.plan.ranges.iter().try_for_each(|&range| self.execute_range(range))
    }

    pub(super) fn execute_range(&self, range: Range) -> Result<(), Failure> {
        let (gpu, launch, side, base) = (&self.gpu, self.timed_launch(range), self.executed(), self.base()?);
        match (self.spec.kernel, self.spec.method) {
            (Kernel::Gs, _) => self.execute_gs(range),
            (Kernel::Scatter | Kernel::Multiscatter, _) => {
                self.kernels.scatter(gpu, &launch, &side, base, (self.spec.seed, false))
            }
            (_, Method::ReadOnly) => self.kernels.read_only(gpu, &launch, &side, base, &self.partials),
            (_, Method::Direct) => {
                let to = self.shared.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer);
                self.kernels.gather(gpu, &launch, &side, base, to)
            }
        }
    }

    pub(super) fn execute_gs(&self, range: Range) -> Result<(), Failure> {
        let Some(source) = &self.source else {
            return Err(Failure::Failed("gs without a source".to_owned()));
        };
        let sides = (&self.source_side(), &self.executed());
        self.kernels.gs(&self.gpu, &self.launch(range, self.steps), sides, source.pointer(), self.base()?)
    }

    /// Queues the gather of a window's iterations that keeps every word: the word of
    /// (i, j) at (i − window.first)·P + j.
    pub(super) fn keep(&self, kept: &DeviceBuffer<u64>, window: Range) -> Result<(), Failure> {
        let (begin, end) = (window.first, window.first + window.count);
        for range in self.plan.ranges.iter().map(|r| r.within(begin, end)).filter(|r| r.count > 0) {
            let to = kept.pointer_at(length((range.first - begin) * self.spec.length())?)?;
            let (launch, side) = (self.launch(range, KEPT), self.executed());
            self.kernels.gather_keep(&self.gpu, &launch, &side, self.base()?, to)?;
        }
        Ok(())
    }

    /// Queues the scatter or gs of a window's iterations; `keep`: the instantiation with a
    /// word of its own for each (i, j).
    pub(super) fn scatter(&self, window: Range, keep: bool) -> Result<(), Failure> {
        let (begin, end) = (window.first, window.first + window.count);
        for range in self.plan.ranges.iter().map(|r| r.within(begin, end)).filter(|r| r.count > 0) {
            if !keep {
                self.execute_range(range)?;
                continue;
            }
            let (launch, side) = (self.launch(range, KEPT), self.executed());
            self.kernels.scatter(&self.gpu, &launch, &side, self.base()?, (self.spec.seed, true))?;
        }
        Ok(())
    }
}
