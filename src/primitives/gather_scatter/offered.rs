//! The tunables that the CUDA kernels of gather and scatter are built for.

use super::spec::Kernel;
use crate::backend::tuning::{Grid, Hint, Offered, Tuning};
use crate::plan::Params;
use crate::primitives::Refusal;

const GATHER: Offered = Offered {
    block: 1024,
    items: &[1, 2, 4, 8],
    grids: &[Grid::Tiles, Grid::Resident],
    hints: &[Hint::None, Hint::Streaming, Hint::NoL1],
    vectors: &[],
    fetch: &[32, 64, 128],
    persist: true,
};

/// What a scatter loads, it loads in order.
const SCATTER: Offered = Offered { hints: &[Hint::None, Hint::Streaming], ..GATHER };

/// Refuses what the kernels are not built for.
///
/// # Errors
/// `n/a`, with what they are built for.
pub fn check(kernel: Kernel, params: &Params) -> Result<(), Refusal> {
    let offered = match kernel {
        Kernel::Gather => &GATHER,
        Kernel::Scatter => &SCATTER,
    };
    let tuning = Tuning::of(params)?.within(kernel.name(), offered)?;
    match (tuning.hint, tuning.items) {
        (Some(hint), Some(items)) if hint != Hint::None && items > 1 => {
            let reason = format!("{} takes hint {} with items 1, not {items}", kernel.name(), hint.name());
            Err(Refusal::NotApplicable(reason))
        }
        _ => Ok(()),
    }
}
