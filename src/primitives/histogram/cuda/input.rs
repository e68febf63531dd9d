//! The values on the device, and what the certificate needs to make them again.

use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Module, Plain};
use crate::inputs::Permutation;
use crate::inputs::mix::key64;
use crate::primitives::cuda::{ZipfTable, launch_over, length};
use crate::primitives::histogram::oracle;
use crate::primitives::histogram::spec::{DOMAIN, Spec};
use crate::primitives::histogram::values::Values;

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

/// The values, and one more, which only a deliberate mistake reads.
pub struct Input {
    pub values: DeviceBuffer<f32>,
    pub closed: ClosedForm,
    table: Option<ZipfTable>,
}

/// The kernel that makes them.
pub const FILL: &str = "histogram_fill";

impl Input {
    /// Makes the values of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Input, Failure> {
        let source = Values::new(spec).ok_or_else(|| Failure::Failed("no such distribution".to_owned()))?;
        let table = match &source {
            Values::Zipf { cells, .. } => Some(ZipfTable::new(gpu, cells)?),
            Values::Uniform { .. } | Values::Skewed { .. } => None,
        };
        let closed = closed_form(&source, table.as_ref())?;
        let values = gpu.alloc(length(spec.elements + 1)?)?;
        let (n, behind) = (spec.elements, behind(spec, &source));
        let fill = module.kernel(FILL)?;
        // Of no values one thread sets what lies behind them.
        let args = [(&values).into(), (&closed).into(), (&n).into(), (&behind).into()];
        launch_over(gpu, &fill, n.max(1), &args)?;
        Ok(Input { values, closed, table })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.values.bytes() + self.table.as_ref().map_or(0, ZipfTable::bytes)
    }
}

/// A value in another bin than the first one.
fn behind(spec: &Spec, source: &Values) -> f32 {
    match oracle::bin(spec, &spec.splitters(), source.at(0)) {
        0 => DOMAIN.next_down(),
        _ => 0.0,
    }
}

fn closed_form(source: &Values, table: Option<&ZipfTable>) -> Result<ClosedForm, Failure> {
    let none = || Failure::Failed("no permutation of one element".to_owned());
    let plain = ClosedForm {
        kind: UNIFORM,
        hot: 0,
        key: 0,
        draws: 0,
        cumulative: DevicePtr::null(),
        start: DevicePtr::null(),
        guide: DevicePtr::null(),
        spread: Permutation::new(1, 0).ok_or_else(none)?,
    };
    Ok(match (source, table) {
        (Values::Uniform { seed }, _) => ClosedForm { key: key64(*seed), ..plain },
        (Values::Skewed { seed, hot }, _) => {
            ClosedForm { kind: SKEWED, hot: *hot, key: key64(*seed), ..plain }
        }
        (Values::Zipf { seed, cells }, Some(table)) => ClosedForm {
            kind: ZIPF,
            key: key64(*seed),
            draws: key64(cells.seed),
            cumulative: table.cumulative.pointer(),
            start: table.start.pointer(),
            guide: table.guide.pointer(),
            spread: cells.spread,
            ..plain
        },
        (Values::Zipf { .. }, None) => return Err(Failure::Failed("no Zipf table".to_owned())),
    })
}
