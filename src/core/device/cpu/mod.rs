//! The host's CPUs: a pool of threads pinned to CPUs, aligned buffers, and the SIMD instruction sets.
//!
//! Both backends, `scalar` and `cpu`, use this module; `scalar` has one thread without SIMD. The timed loops are with
//! their primitives (`primitives/*/cpu`), which implement [`PoolJob`].

pub mod affinity;
mod buffer;
pub mod caches;
pub mod check;
mod evict;
pub mod facts;
mod isa;
mod job;
pub mod memory;
mod pool;
pub mod simd;

pub use buffer::{Buffer, POISON};
pub use evict::Evictor;
pub use isa::Isa;
pub(crate) use isa::of_isa;
pub use job::{CacheLineSlot, Context, OutputArray, PoolJob, PoolMethod, fence, on_pool};
pub use pool::{Barrier, Blocks, Pool, Worker, part, pieces};
