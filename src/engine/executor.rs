//! The interface of a backend to the engine.

use std::sync::Arc;

use crate::case::{Cancel, Case, Device, Failure, Fault};
use crate::device::Prepared;
use crate::inputs::indices::Store;
use crate::stats::noise::GpuConditions;

/// A prepared case, or why there is none.
pub type Preparation = Result<Box<dyn Prepared>, Failure>;

/// A backend, as the engine uses it.
pub trait Executor {
    /// `scalar`, `cpu` or `cuda`.
    fn backend(&self) -> &'static str;

    /// The current device, or why it is unavailable. With several devices, the one selected last; initially 0.
    fn device(&self) -> Device;

    /// All devices of this backend. If there are several, none is opened, because they may be in use by others;
    /// their free memory is therefore missing.
    fn devices(&self) -> Vec<Device> {
        vec![self.device()]
    }

    /// Selects the device with this number, as the preparation of a case does.
    fn select_device(&self, _device: u64) {}

    /// Allocates and generates the inputs of a case on the device where they will be used. `fault` requests a
    /// deliberately wrong implementation.
    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation;

    /// Starts compiling kernels for upcoming cases, given roughly in order of preparation. Compilation pauses
    /// while anything is [timed](crate::device::timing_lock::timing). A later call, also with an empty list, ends an
    /// earlier one. Must not be called while a sample is timed.
    fn compile_ahead(&self, _cases: &[&Case]) {}

    /// Sets the index arrays for subsequent cases.
    fn set_index_store(&mut self, _indices: &Arc<Store>) {}

    /// Median bandwidth of several plain copies in memory, GB/s (reads plus writes): used for estimates, and as
    /// a reference for the machine's performance during a run. Frees its memory.
    fn copy_probe(&self) -> Result<f64, Failure>;

    /// Keys that the current device ranks in a second, by one digit each, in the way of the case's method, where nothing
    /// else takes time: the roof of a case with a [`Ranking`](crate::case::Ranking). The result is certified. Frees its
    /// memory.
    fn ranking_probe(&self, _case: &Case) -> Result<f64, Failure> {
        Err(Failure::NotApplicable(format!("{} ranks nothing", self.backend())))
    }

    /// Fills the caches of the current case's device with other data, so that the next execution finds none of
    /// its own there. Returns the bytes allocated for that, which stay allocated between calls.
    fn evict(&self) -> Result<u64, Failure>;

    /// Waits until the current device has finished all of this executor's own work, so that another program can
    /// be timed on it.
    fn wait_for_own_work(&self) -> Result<(), Failure> {
        Ok(())
    }

    /// Current clocks, power, temperature and throttling of the GPU of the case prepared last; values that it
    /// does not report are missing. `None` for CPUs.
    fn gpu_conditions(&self) -> Option<GpuConditions> {
        None
    }
}
