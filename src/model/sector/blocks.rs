//! Blocks of threads that start one after another, one for each tile.
//!
//! Equation: T = blocks · τ + Σ bytes / (8 w) · cost(1), where w accesses form a group and cost(1) is that of
//! a group of contiguous words. A processor holds as many blocks as its threads allow, and each block has to
//! be placed, find its tile and load its indices before its first access. With little work per block this
//! bounds the rate, whatever memory could deliver (Little's law applied to blocks). The issue of the accesses
//! is added to τ, each group at its lowest cost; while their misses are pending, other blocks proceed.
//! Source: the profile's `blocks`, calibrated with one word per thread. The term vanishes if all blocks are
//! resident at once.

use super::issue::{self, Groups};
use super::machine::Machine;
use crate::case::work::Order;
use crate::case::{Access, Direction, Pass};

/// Bytes of the elements for which the profile has strided rates.
const WORD: f64 = 8.0;

/// Seconds in which the blocks of a pass start and issue its accesses.
///
/// # Errors
/// A profile without start rates of blocks.
pub fn starting(machine: &Machine, pass: &Pass, blocks: u64) -> Result<f64, String> {
    let scatters =
        pass.accesses.iter().any(|a| a.direction == Direction::Write && a.order != Order::Sequential);
    let direction = if scatters { Direction::Write } else { Direction::Read };
    let each = machine.rates.blocks.iter().find(|start| start.direction == direction);
    let each = each.ok_or("the profile does not say how fast blocks start; calibrate anew")?.seconds;
    let issued: Result<f64, String> = pass.accesses.iter().map(|access| issued(machine, access)).sum();
    Ok(blocks as f64 * each + issued?)
}

/// Seconds to issue an access at the most bytes per wavefront.
fn issued(machine: &Machine, access: &Access) -> Result<f64, String> {
    let words = access.bytes() as f64 / WORD / machine.group() as f64;
    Ok(words * issue::seconds(machine, access.direction, &Groups::EASY)?)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;

    /// 1000 blocks at 1 ns, or 2 ns if they scatter, and 32,000 accesses in groups of 32 at 0.1 ns.
    #[test]
    fn blocks_start_and_issue() {
        on_toy(|toy| {
            let pass = |direction, order| Pass {
                times: 1,
                accesses: vec![access(direction, 32_000, 1 << 20, order)],
            };
            let of = |direction, order| starting(toy, &pass(direction, order), 1000);
            assert!(close(of(Direction::Read, Order::Random).expect("a start"), 1e-6 + 1e-7));
            assert!(close(of(Direction::Write, Order::Sequential).expect("a start"), 1e-6 + 1e-7));
            assert!(close(of(Direction::Write, Order::Random).expect("a start"), 2e-6 + 1e-7));
        });
    }
}
