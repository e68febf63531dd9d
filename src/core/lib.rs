//! The lower rooms of scatterlab: what is timed and how it is certified, and the words that all rooms share. `src/lib.rs`
//! has the architecture of the whole program and lists these rooms first.
//!
//! They are a crate of their own because tests run real kernels, and so compile this crate optimised and the rest of the
//! program not; a change of a screen compiles none of it.

// Tests and the build script may open files, start threads, print and panic as they like; `clippy.toml` says why the
// program may not.
#![cfg_attr(
    not(test),
    deny(
        clippy::disallowed_methods,
        clippy::print_stdout,
        clippy::print_stderr,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::undocumented_unsafe_blocks,
        clippy::allow_attributes_without_reason,
    )
)]

pub mod case;
pub mod device;
pub mod files;
pub mod inputs;
pub mod memory;
pub mod primitives;
pub mod stats;
