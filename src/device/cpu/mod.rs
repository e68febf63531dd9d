//! The machine's own processors: a pinned pool, aligned buffers, instruction sets.
//!
//! The backends `scalar` and `cpu` both run here; `scalar` is one thread of it without
//! SIMD. What they execute lives with the primitives (`primitives/*/cpu`).

pub mod affinity;
mod barrier;
mod buffer;
pub mod caches;
pub mod check;
mod evict;
pub mod facts;
mod isa;
mod job;
mod launch;
pub mod memory;
mod pool;
pub mod simd;

pub use barrier::Barrier;
pub use buffer::{Buffer, POISON};
pub use evict::Evictor;
pub use isa::Isa;
pub use job::{Context, PoolJob, Slot, fence, on_pool};
pub use launch::{part, pieces};
pub use pool::{Blocks, Pool, Worker};
