//! Compilation of kernels ahead of their use.
//!
//! The driver takes about a tenth of a second per kernel, on one host CPU, and a case needs about ten kernels. While
//! the current case generates its inputs or is certified, separate threads compile the kernels of upcoming cases, but
//! never while anything is [timed](timing_lock::timing). A case waits only for the kernels that it requests: it compiles
//! them itself, unless one of these threads is already doing so. These threads ignore errors, because the case that
//! needs the kernel will report them.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::gpu::Gpu;
use crate::device::timing_lock;

/// Maximum number of threads: each takes a CPU from the generation of inputs.
const MOST: usize = 4;

/// Compiler threads. They end when no kernels are left, or when this is dropped, which waits for the kernels in
/// progress. Must not be dropped while the same thread is timing.
pub struct Ahead {
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// The upcoming kernels, as GPU, module and name.
type Coming = Mutex<Box<dyn Iterator<Item = (Gpu, &'static str, String)> + Send>>;

impl Ahead {
    /// Starts compiling these kernels in order. The iterator is evaluated by the compiler threads.
    pub fn new(kernels: impl Iterator<Item = (Gpu, &'static str, String)> + Send + 'static) -> Ahead {
        let coming: Arc<Coming> = Arc::new(Mutex::new(Box::new(kernels)));
        let ended = Arc::new(AtomicBool::new(false));
        let spare = thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1);
        let begun = || {
            let (coming, ended) = (coming.clone(), ended.clone());
            thread::Builder::new().name("compiler".into()).spawn(move || compile(&coming, &ended)).ok()
        };
        // If no thread can be started, each case compiles its own kernels.
        let threads = (0..spare.clamp(1, MOST)).map_while(|_| begun()).collect();
        Ahead { ended, threads }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

/// The loop of a compiler thread.
fn compile(coming: &Coming, ended: &AtomicBool) {
    loop {
        let _working = timing_lock::working();
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let next = coming.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((gpu, module, kernel)) = next else { return };
        let _ = gpu.module(module).and_then(|module| module.compile(&kernel));
    }
}
