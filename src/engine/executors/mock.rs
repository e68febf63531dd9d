//! A backend without a device: its times come from a script, so that scheduling, files and screens can be
//! tested exactly.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::case::{Availability, Cancel, Case, Device, Failure, Fault, Value, Verdict};
use crate::device::Prepared;
use crate::engine::Executor;

/// The behaviour of a mock case.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// Every execution takes this many seconds.
    Seconds(f64),
    /// Preparation fails like this.
    Fails(Failure),
    /// Samples succeed, but the certificate finds a mistake.
    Wrong,
    /// Each sample really sleeps for this long before it returns (or reports a cancellation).
    Sleeps(Duration),
}

/// Implements the backend `name`; `script` decides each case.
pub struct Mock {
    pub name: &'static str,
    pub script: fn(&Case) -> Script,
    /// Number of evictions so far.
    pub evictions: Arc<AtomicU32>,
}

/// Bytes that a mock reports for eviction.
pub const EVICTOR: u64 = 1 << 20;

impl Mock {
    pub fn new(name: &'static str, script: fn(&Case) -> Script) -> Mock {
        Mock { name, script, evictions: Arc::default() }
    }
}

impl Executor for Mock {
    fn backend(&self) -> &'static str {
        self.name
    }

    fn device(&self) -> Device {
        Device {
            backend: self.name.to_owned(),
            name: "Mock 3000".to_owned(),
            facts: Vec::new(),
            memory: Some(1 << 30),
            availability: Availability::Available,
        }
    }

    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure> {
        match (self.script)(case) {
            Script::Fails(failure) => Err(failure),
            script => Ok(Box::new(Scripted { script, fault, cancel: cancel.clone() })),
        }
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        Ok(10.0)
    }

    fn evict(&self) -> Result<u64, Failure> {
        self.evictions.fetch_add(1, Ordering::Relaxed);
        Ok(EVICTOR)
    }
}

struct Scripted {
    script: Script,
    fault: Option<Fault>,
    cancel: Cancel,
}

impl Prepared for Scripted {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        match self.script {
            Script::Sleeps(time) => {
                std::thread::sleep(time);
                self.cancel.check()?;
                Ok(time.as_secs_f64())
            }
            Script::Seconds(seconds) => Ok(seconds * f64::from(batch)),
            _ => Ok(1e-3 * f64::from(batch)),
        }
    }

    fn certify(&mut self, _cancel: &Cancel) -> Result<Verdict, Failure> {
        if self.script == Script::Wrong || self.fault.is_some() {
            return Ok(Verdict::Wrong { mistake: "out[0]: expected 1, found 2".to_owned() });
        }
        Ok(Verdict::Certified { checked: 1 })
    }

    fn memory(&self) -> u64 {
        4096
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }
}
