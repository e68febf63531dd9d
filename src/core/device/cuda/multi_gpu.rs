//! A case on several GPUs concurrently, each with its own arrays: weak scaling.

use super::{OneGpu, run_concurrently};
use crate::case::gpus::COUNT_KEY;
use crate::case::{Cancel, Failure, Snapshot, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::Gpu;

/// The same case prepared on each of several GPUs.
pub struct Several(Vec<(Gpu, OneGpu)>);

impl Several {
    /// Joins the parts of a case; at least one is required.
    pub fn new(parts: Vec<(Gpu, OneGpu)>) -> Several {
        Several(parts)
    }

    /// Judges the GPUs one after another; returns their common verdict.
    fn one_by_one(
        &mut self,
        mut verdict: impl FnMut(&mut OneGpu) -> Result<Verdict, Failure>,
    ) -> Result<Verdict, Failure> {
        let mut all = 0;
        for (nth, (_, part)) in self.0.iter_mut().enumerate() {
            match verdict(part)? {
                Verdict::Certified { checked } => all += checked,
                Verdict::Wrong { mistake } => {
                    return Ok(Verdict::Wrong { mistake: format!("GPU {} of the case: {mistake}", nth + 1) });
                }
            }
        }
        Ok(Verdict::Certified { checked: all })
    }
}

impl Prepared for Several {
    /// Seconds from the first start to the last end.
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let parts = self.0.iter_mut();
        run_concurrently(parts.map(|(gpu, part)| (gpu.clone(), move || part.sample(batch))).collect())
    }

    fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        self.0.iter_mut().try_for_each(|(_, part)| part.clear(cancel))
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.one_by_one(|part| part.judge(cancel))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.one_by_one(|part| part.certify(cancel))
    }

    fn memory(&self) -> u64 {
        self.0.iter().map(|(_, part)| part.memory()).sum()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let first = self.0.first().map(|(_, part)| part.resolved()).unwrap_or_default();
        let count = (COUNT_KEY.to_owned(), Value::Int(self.0.len() as u64));
        first.into_iter().chain([count]).collect()
    }

    /// The picture of the first GPU: all of them compute the same.
    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        self.0.first_mut().map_or(Ok(None), |(_, part)| part.snapshot())
    }

    /// Disturbs the case on every GPU in the same place.
    fn disturb(&mut self, at: (f64, f64)) -> Result<bool, Failure> {
        self.0.iter_mut().try_fold(false, |disturbed, (_, part)| Ok(part.disturb(at)? || disturbed))
    }

    /// The concatenated outputs of all GPUs.
    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        let outputs: Vec<Vec<u8>> =
            self.0.iter_mut().map(|(_, part)| part.read_back()).collect::<Result<_, _>>()?;
        Ok(outputs.concat())
    }
}
