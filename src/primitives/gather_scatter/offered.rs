//! The tunables that the CUDA kernels of gather and scatter are built for.

use super::spec::Kernel;
use crate::case::tuning::{Grid, Hint, Offered, Tuning};
use crate::case::{Params, Refusal};

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

/// The blocks of a partitioned scatter are sized by what shared memory holds.
const PARTITIONED: Offered = Offered { fetch: &[32, 64, 128], ..Offered::NOTHING };

/// Refuses what the kernels are not built for.
///
/// # Errors
/// `n/a`, with what they are built for.
pub fn check(kernel: Kernel, params: &Params) -> Result<(), Refusal> {
    let (whose, offered) = match kernel {
        Kernel::Gather => ("gather", &GATHER),
        Kernel::Scatter if params.text("method") == Some("partitioned") => ("partitioned", &PARTITIONED),
        Kernel::Scatter => ("scatter", &SCATTER),
    };
    let tuning = Tuning::of(params)?.within(whose, offered)?;
    match (tuning.hint, tuning.items) {
        (Some(hint), Some(items)) if hint != Hint::None && items > 1 => {
            let reason = format!("{} takes hint {} with items 1, not {items}", kernel.name(), hint.name());
            Err(Refusal::NotApplicable(reason))
        }
        _ => Ok(()),
    }
}
