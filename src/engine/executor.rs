//! A backend as the engine sees it.

use std::sync::Arc;

use crate::case::{Cancel, Case, Device, Failure, Fault};
use crate::device::Prepared;
use crate::inputs::indices::Store;
use crate::stats::noise::GpuConditions;

/// A backend as the engine sees it.
pub trait Executor {
    /// `scalar`, `cpu` or `cuda`.
    fn backend(&self) -> &'static str;

    /// What it runs on, or why it cannot; of several devices the one that it turned to last,
    /// at first 0.
    fn device(&self) -> Device;

    /// All that it may run on. Of several none is opened, which may be another's: what is free
    /// on them is missing.
    fn devices(&self) -> Vec<Device> {
        vec![self.device()]
    }

    /// Turns to the device of this number, as the preparation of a case does.
    fn select_device(&self, _device: u64) {}

    /// Allocates and generates the inputs of a case, where they will be used.
    /// `fault` asks for a deliberately wrong implementation.
    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure>;

    /// Takes the cases that will be prepared, about in their order, so that what they need of a compiler can be
    /// had before it is needed; never while anything is [timed](crate::device::alone::timing). With no cases,
    /// or other ones, an earlier call ends. Not to be called while something is timed.
    fn compile_ahead(&self, _cases: &[&Case]) {}

    /// Takes the index arrays of the cases that follow.
    fn set_index_store(&mut self, _indices: &Arc<Store>) {}

    /// GB/s of a plain copy in memory (both ways counted), the median of several: for
    /// estimates, and for the machine's own pace beside a run. Holds nothing afterwards.
    fn copy_probe(&self) -> Result<f64, Failure>;

    /// Fills the caches of the device of the case prepared last with other data, so that the next execution finds
    /// none of its own there. Returns the bytes that it holds for that, which stay held
    /// between calls.
    fn evict(&self) -> Result<u64, Failure>;

    /// Waits until nothing of its own goes on any more on the device that it turned to last,
    /// for another program that is timed there.
    fn wait_for_own_work(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Clocks, power, temperature and throttling right now, of the GPU of the case prepared
    /// last, with what it does not tell missing; `None` for processors.
    fn gpu_conditions(&self) -> Option<GpuConditions> {
        None
    }
}
