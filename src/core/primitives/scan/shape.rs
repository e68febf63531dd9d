//! The tiles of a pass on GPUs. Pure.

/// Threads of a block and 16-byte vectors per thread, as in `kernels/scan/scan.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub threads: u32,
    pub vectors: u32,
}

impl Shape {
    pub const TILE: Shape = Shape { threads: 256, vectors: 5 };
    pub const SHORT: Shape = Shape { threads: 512, vectors: 1 };

    /// Tiles of so many bytes of elements.
    pub fn tiles(self, bytes: u64) -> u64 {
        bytes.div_ceil(16 * u64::from(self.threads * self.vectors))
    }
}
