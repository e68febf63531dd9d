//! Selects the kernel of a case, and values for its open tunables. Pure.

use super::Kernel;
use crate::case::tuning::DEFAULT_BLOCK as BLOCK;
use crate::case::tuning::{Grid, Hint, Tuning};

/// The tunables of a case, with no open value among those that stream offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned(pub Tuning);

/// Bytes that a thread of a read has in flight: on an H200, 64 and 128 performed alike, 16 worse.
const READ_BYTES: u32 = 128;

impl Tuned {
    /// Open tunables get the values that measured best on an H200 with 8 GiB per array: 16-byte vectors, one
    /// block of 256 per tile, the smallest tile except for read (the figures are in the kernels; with 128 bytes
    /// in flight a copy is 4 % slower). Hints made no difference.
    pub fn new(kernel: Kernel, asked: Tuning) -> Tuned {
        let vector = asked.vector.unwrap_or(16);
        let items = if kernel == Kernel::Read { (READ_BYTES / vector).min(8) } else { 1 };
        Tuned(Tuning {
            block: asked.block.or(Some(BLOCK)),
            items: asked.items.or(Some(items)),
            grid: asked.grid.or(Some(Grid::Tiles)),
            hint: asked.hint.or(Some(Hint::None)),
            vector: Some(vector),
            ..Tuning::default()
        })
    }

    /// f64 elements of a load or store.
    pub fn lanes(&self) -> u64 {
        u64::from(self.0.vector.unwrap_or(8)) / 8
    }

    /// The timed kernel's name in the PTX.
    pub fn kernel_name(&self, kernel: Kernel) -> String {
        let hint = if self.0.hint == Some(Hint::Streaming) { "_cs" } else { "" };
        let items = self.0.items.unwrap_or(1);
        format!("stream_{}_v{}_n{items}{hint}", kernel.name(), 8 * self.lanes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_tunables_are_chosen_and_set_ones_kept() {
        let name = |kernel, asked| Tuned::new(kernel, asked).kernel_name(kernel);
        assert_eq!(name(Kernel::Read, Tuning::default()), "stream_read_v16_n8");
        assert_eq!(name(Kernel::Write, Tuning::default()), "stream_write_v16_n1");
        let asked = Tuning {
            vector: Some(8),
            items: Some(4),
            hint: Some(Hint::Streaming),
            block: Some(64),
            grid: Some(Grid::Resident),
            ..Tuning::default()
        };
        assert_eq!(name(Kernel::Triad, asked), "stream_triad_v8_n4_cs");
        assert_eq!(Tuned::new(Kernel::Triad, asked).0, asked);
    }
}
