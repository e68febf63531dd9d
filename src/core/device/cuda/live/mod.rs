//! The CUDA backend, based on `cust`, with the driver loaded at run time.

mod ahead;
mod buffer;
mod driver;
mod error;
mod gate;
mod gpu;
mod kernel;
mod library;
mod limits;
mod management;
mod packed;
mod ptx;
mod span;
mod transfer;
mod wait_until_cleared;

pub use ahead::Ahead;
pub use buffer::DeviceBuffer;
pub use gpu::Gpu;
pub use kernel::{Arg, Kernel, Module};
pub use limits::{Limit, Persisting};
