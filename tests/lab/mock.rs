//! A backend without a device: its times come from a script, so that scheduling, files and screens can be
//! tested exactly. The library's own tests include this file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use scatterlab::case::{
    Availability, Cancel, Case, Device, Failure, Fault, HostMemory, Snapshot, Transfer, Value, Verdict,
};
use scatterlab::device::Prepared;
use scatterlab::engine::{Executor, Preparation};

/// The behaviour of a mock case.
#[derive(Clone, Debug, PartialEq)]
pub enum Script {
    /// Every execution takes this many seconds.
    Seconds(f64),
    /// Preparation fails like this.
    Fails(Failure),
    /// Samples succeed, but the certificate finds a mistake.
    Wrong,
    /// Samples succeed and the certificate holds, but the output of the last sample is wrong in preparations from
    /// this one on, counted from 0.
    WrongOutputs { from: u32 },
    /// Each execution really sleeps for this long. The case has a picture, a field of the number of executions so far, and a
    /// disturbance adds a hundred.
    Disturbable(Duration),
    /// Samples succeed, but there is no picture because of this.
    NoPicture(Failure),
    /// Each sample really sleeps for this long before it returns (or reports a cancellation).
    Sleeps(Duration),
}

/// Implements the backend `name`; `script` decides each case.
pub struct Mock {
    pub name: &'static str,
    pub script: fn(&Case) -> Script,
    /// Number of evictions so far.
    pub evictions: Arc<AtomicU32>,
    /// Number of preparations so far.
    pub preparations: Arc<AtomicU32>,
}

/// Bytes that a mock reports for eviction.
pub const EVICTOR: u64 = 1 << 20;

impl Mock {
    pub fn new(name: &'static str, script: fn(&Case) -> Script) -> Mock {
        Mock { name, script, evictions: Arc::default(), preparations: Arc::default() }
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

    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation {
        let nth = self.preparations.fetch_add(1, Ordering::Relaxed);
        match (self.script)(case) {
            Script::Fails(failure) => Err(failure),
            script => Ok(Box::new(Scripted { script, fault, nth, cancel: cancel.clone(), height: 0 })),
        }
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        Ok(10.0)
    }

    /// A case that fails ranks nothing; any other, one key in the time of an execution.
    fn ranking_probe(&self, case: &Case) -> Result<f64, Failure> {
        match (self.script)(case) {
            Script::Fails(failure) => Err(failure),
            Script::Seconds(seconds) => Ok(1.0 / seconds),
            _ => Ok(1.0),
        }
    }

    fn evict(&self) -> Result<u64, Failure> {
        self.evictions.fetch_add(1, Ordering::Relaxed);
        Ok(EVICTOR)
    }
}

struct Scripted {
    script: Script,
    fault: Option<Fault>,
    /// How many preparations came before this one.
    nth: u32,
    cancel: Cancel,
    /// The executions so far, and a hundred for each disturbance.
    height: u32,
}

impl Scripted {
    fn verdict(&self, wrong: bool) -> Verdict {
        match wrong || self.script == Script::Wrong || self.fault.is_some() {
            true => Verdict::Wrong { mistake: "out[0]: expected 1, found 2".to_owned() },
            false => Verdict::Certified { checked: 1 },
        }
    }
}

impl Prepared for Scripted {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        match self.script {
            Script::Sleeps(time) => {
                std::thread::sleep(time);
                self.cancel.check()?;
                Ok(time.as_secs_f64())
            }
            Script::Disturbable(time) => {
                self.height += batch;
                std::thread::sleep(time * batch);
                Ok((time * batch).as_secs_f64())
            }
            Script::Seconds(seconds) => Ok(seconds * f64::from(batch)),
            _ => Ok(1e-3 * f64::from(batch)),
        }
    }

    fn clear(&mut self, _cancel: &Cancel) -> Result<(), Failure> {
        Ok(())
    }

    fn judge(&mut self, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let wrong = matches!(self.script, Script::WrongOutputs { from } if self.nth >= from);
        Ok(self.verdict(wrong))
    }

    fn certify(&mut self, _cancel: &Cancel) -> Result<Verdict, Failure> {
        Ok(self.verdict(false))
    }

    fn memory(&self) -> u64 {
        4096
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// A millisecond each way.
    fn transfer(&mut self, declared: [u64; 2], _: HostMemory) -> Result<Option<Transfer>, Failure> {
        let [in_bytes, out_bytes] = declared;
        Ok(Some(Transfer { in_bytes, out_bytes, in_seconds: 1e-3, out_seconds: 1e-3 }))
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        let (what, when) = ("executions".to_owned(), String::new());
        match &self.script {
            Script::Disturbable(_) => {
                let values = vec![self.height as f32; 6];
                Ok(Some(Snapshot::Field { what, when, columns: 3, rows: 2, values }))
            }
            Script::NoPicture(failure) => Err(failure.clone()),
            _ => Ok(None),
        }
    }

    fn disturb(&mut self, _: (f64, f64)) -> Result<bool, Failure> {
        let disturbable = matches!(self.script, Script::Disturbable(_));
        self.height += if disturbable { 100 } else { 0 };
        Ok(disturbable)
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        Ok(Vec::new())
    }
}
