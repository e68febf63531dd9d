//! Kernels compiled before a case asks for them.
//!
//! The driver takes about a tenth of a second for a kernel, on one of the host's processors, and a case
//! asks for some ten of them. Those of the cases to come are compiled by threads of their own while the
//! case at hand makes its inputs or is certified, and never while anything is [timed](alone::timing).
//! A case that asks for a kernel waits for nothing but that kernel: it compiles it at once, unless one
//! of these threads already does. What fails here is for the case to report that asks for it again.

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::gpu::Gpu;
use crate::device::alone;

/// Most threads. Each takes a processor from whoever makes inputs there.
const MOST: usize = 4;

/// Threads that compile. They end when there is nothing left, and when this is dropped, which waits for
/// the kernels that are being compiled. Not to be dropped by who times something.
pub struct Ahead {
    ended: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Kernels to come: their GPU, their module and their name.
type Coming = Mutex<Box<dyn Iterator<Item = (Gpu, &'static str, String)> + Send>>;

impl Ahead {
    /// Begins with the first of these kernels. The threads run the iterator, too.
    pub fn new(kernels: impl Iterator<Item = (Gpu, &'static str, String)> + Send + 'static) -> Ahead {
        let coming: Arc<Coming> = Arc::new(Mutex::new(Box::new(kernels)));
        let ended = Arc::new(AtomicBool::new(false));
        let spare = thread::available_parallelism().map_or(1, NonZero::get).saturating_sub(1);
        let begun = || {
            let (coming, ended) = (coming.clone(), ended.clone());
            thread::Builder::new().name("compiler".into()).spawn(move || compile(&coming, &ended)).ok()
        };
        // Without a thread, each case compiles its own kernels.
        let threads = (0..spare.clamp(1, MOST)).map_while(|_| begun()).collect();
        Ahead { ended, threads }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // One that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

/// What a thread does: one kernel after another.
fn compile(coming: &Coming, ended: &AtomicBool) {
    loop {
        let _working = alone::working();
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let next = coming.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some((gpu, module, kernel)) = next else { return };
        let _ = gpu.module(module).and_then(|module| module.compile(&kernel));
    }
}
