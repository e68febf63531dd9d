//! The values on the device, and what the certificate needs to make them again.

use crate::backend::Failure;
use crate::backend::cuda::{DeviceBuffer, DevicePtr, Gpu, Module, Plain};
use crate::patterns::mix::key64;
use crate::patterns::{Permutation, Zipf};
use crate::primitives::cuda::{launch_over, length};
use crate::primitives::histogram::spec::{DOMAIN, Spec};
use crate::primitives::histogram::{oracle, values::Values};

/// The values as a function of i: `Values` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct ClosedForm {
    kind: u32,
    hot: u32,
    key: u64,
    draws: u64,
    cumulative: DevicePtr<u64>,
    start: DevicePtr<u64>,
    guide: DevicePtr<u32>,
    spread: Permutation,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for ClosedForm {}

const UNIFORM: u32 = 0;
const SKEWED: u32 = 1;
const ZIPF: u32 = 2;

/// A Zipf table on the device; of one element each where a case needs none.
struct Table {
    cumulative: DeviceBuffer<u64>,
    start: DeviceBuffer<u64>,
    guide: DeviceBuffer<u32>,
}

/// The values, and one more, which only a deliberate mistake reads.
pub struct Input {
    pub values: DeviceBuffer<f32>,
    pub closed: ClosedForm,
    table: Table,
}

impl Input {
    /// Makes the values of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Input, Failure> {
        let source = Values::new(spec).ok_or_else(|| Failure::Failed("no such distribution".to_owned()))?;
        let table = Table::new(gpu, &source)?;
        let closed = table.closed_form(&source)?;
        let values = gpu.alloc(length(spec.elements + 1)?)?;
        let (n, behind) = (spec.elements, behind(spec, &source));
        let fill = module.kernel("histogram_fill")?;
        // Of no values one thread sets what lies behind them.
        let args = [(&values).into(), (&closed).into(), (&n).into(), (&behind).into()];
        launch_over(gpu, &fill, n.max(1), &args)?;
        Ok(Input { values, closed, table })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        let Table { cumulative, start, guide } = &self.table;
        self.values.bytes() + cumulative.bytes() + start.bytes() + guide.bytes()
    }
}

/// A value in another bin than the first one.
fn behind(spec: &Spec, source: &Values) -> f32 {
    match oracle::bin(spec, &spec.splitters(), source.at(0)) {
        0 => DOMAIN.next_down(),
        _ => 0.0,
    }
}

impl Table {
    fn new(gpu: &Gpu, source: &Values) -> Result<Table, Failure> {
        let of = |cumulative: &[u64], start: &[u64], guide: &[u32]| -> Result<Table, Failure> {
            Ok(Table {
                cumulative: gpu.upload(cumulative)?,
                start: gpu.upload(start)?,
                guide: gpu.upload(guide)?,
            })
        };
        match source {
            Values::Zipf { cells, .. } => of(&cells.cumulative, &cells.start, &cells.guide),
            _ => of(&[0], &[0], &[0]),
        }
    }

    fn closed_form(&self, source: &Values) -> Result<ClosedForm, Failure> {
        let none = || Failure::Failed("no permutation of one element".to_owned());
        let plain = ClosedForm {
            kind: UNIFORM,
            hot: 0,
            key: 0,
            draws: 0,
            cumulative: self.cumulative.pointer(),
            start: self.start.pointer(),
            guide: self.guide.pointer(),
            spread: Permutation::new(1, 0).ok_or_else(none)?,
        };
        Ok(match source {
            Values::Uniform { seed } => ClosedForm { key: key64(*seed), ..plain },
            Values::Skewed { seed, hot } => {
                ClosedForm { kind: SKEWED, hot: *hot, key: key64(*seed), ..plain }
            }
            Values::Zipf { seed, cells } => {
                let Zipf { seed: draws, spread, .. } = **cells;
                ClosedForm { kind: ZIPF, key: key64(*seed), draws: key64(draws), spread, ..plain }
            }
        })
    }
}
