//! scatterlab: a terminal laboratory for memory-bound parallel primitives.
//!
//! A *recipe* (YAML) states which primitive to measure, which parameters to sweep, and on which backends. The
//! lab runs it, certifies every result on the device that computed it, and draws measured bandwidth as it
//! arrives.
//!
//! # How data flows
//!
//! ```text
//! recipe ─parse─► Recipe ─resolve─► Plan[Case…] ─► engine ─► Event stream ─┬─► Ledger ─► screen
//!                                                    │                     ├─► run folder (events, manifest)
//!                                        backend × primitive               └─► report (CSV, SVG)
//!                                        samples ─► certificate
//!              profile ─► model ─► prediction of a case, beside its samples in the record
//! ```
//!
//! # Rooms
//!
//! Each module uses only the modules that its row names, and a row names only modules above it, so there are no
//! cycles; inside a room, too, no folder uses another one in a circle. `tests/architecture.rs` reads both tables and enforces them; tests may use anything. A primitive's
//! *implementations* are its modules `cpu` and `cuda`, the code that these share in `primitives::cpu` and
//! `primitives::cuda`, and their list, `primitives::implementations`; everything else in [`primitives`] is
//! pure. The first seven modules of the table and the implementations are the crate `scatterlab-core` in `src/core`,
//! which tests compile optimised; this crate makes their names its own.
//!
//! | module | what it knows | uses |
//! |---|---|---|
//! | [`case`] | the vocabulary: cases, parameters, accesses, verdicts and failures, units (pure) | nothing |
//! | [`stats`] | intervals, the stopping rule, flags of noise, the rule that compares two runs (pure) | `case` |
//! | memory | memory that is free, and arrays that ask for it | `case` |
//! | files | opening files that users name: regular, of bounded length, without waiting | `case`, `memory` |
//! | [`inputs`] | index generators and data as integer functions of (seed, i); index files; inputs that cases share | `case`, `memory`, `files` |
//! | [`device`] | pools, SIMD, the CUDA driver, buffers, launches, timing; [`device::Prepared`] | `case`, `stats`, `memory`, `files`, `inputs` |
//! | [`primitives`] | definitions, parameters, accesses, oracles (pure) | `case`, `memory`, `inputs` |
//! | implementations | the primitives on processors and on GPUs, with their certificates | `case`, `stats`, `memory`, `inputs`, `device`, `primitives` |
//! | [`recipe`] | YAML with the place of every key; [`recipe::plan`]: axes, and cases with every parameter fixed (pure) | `case`, `primitives` |
//! | [`model`] | predicted times of cases, from a device's profile and the case's accesses; calibration (pure); the files of profiles | `case`, `stats`, `files`, `primitives`, `recipe` |
//! | [`engine`] | the process that runs a plan; its protocol, server and ranks | `case`, `stats`, `files`, `inputs`, `device`, `primitives`, implementations, `recipe`, `model` |
//! | shell | quoting for a shell, and programs on the `PATH` | `case` |
//! | [`run`] | the client of an engine, the loop that drives a plan through it, a run's folder and its records | `case`, `stats`, `files`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `shell` |
//! | [`report`] | tables, charts and the papers' figures, from records; whether two runs agree | `case`, `stats`, `files`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `run`, `shell` |
//! | [`spatter`] | Spatter's command line: its meaning, and its output (pure) | `case`, `stats`, `inputs`, `primitives`, `recipe` |
//! | [`tui`] | the terminal user interface: event → input → update → view | `case`, `stats`, `files`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `run`, `report`, `shell` |
//! | [`doctor`] | disturbances of measurements on a machine | `case`, `files`, `device`, `engine`, `shell`, `run` |
//! | [`cli`] | the command line | everything but implementations |
//!
//! | name | only in |
//! |---|---|
//! | implementations | `engine::executors` |
//! | `cust` | `device::cuda` |
//! | `libloading` | `device::cuda` |
//! | `nvml_wrapper` | `device::cuda`, `doctor::checks` |
//! | `rayon` | `device::cpu` |
//! | `mpi` | `engine::ranks` |
//! | `serde_yaml` | `recipe::yaml` |
//! | `plotters` | `report::svg` |
//! | `svg2pdf` | `report::pdf` |
//! | `maud` | `report::html` |
//! | `ratatui` | `tui` |
//! | `clap` | `cli` |
//!
//! # Invariants
//!
//! - The engine is a child process that speaks one JSON object per line, versioned.
//!   (A rank of an MPI job is itself an engine, without a screen and without a folder.)
//!   A result is on disk before it is acknowledged, and acknowledged before the next case begins;
//!   nothing is written, and no kernel compiled, while a sample is timed.
//! - Every timed case is certified once by each engine that times it: outside the timed region,
//!   with poisoned outputs, on the device. What the last sample of a round leaves is judged, too, always or with
//!   a stated chance. A failed case is shown as failed, never as a point.
//! - Screen, CSV and SVG are drawn from the same [`run::Record`]s.
//! - Anything missing (a driver, an instruction set, memory) is data: `n/a: reason`.

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

// Tests of this crate and of others include the same files.
#[cfg(test)]
extern crate self as scatterlab;

pub mod cli;
pub mod doctor;
pub mod engine;
pub mod model;
pub mod recipe;
pub mod report;
pub mod run;
mod shell;
pub mod spatter;
pub mod tui;

use scatterlab_core::files;
pub use scatterlab_core::{case, device, inputs, primitives, stats};

/// The version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The git revision of this build, or `unknown`.
pub const REVISION: &str = env!("SCATTERLAB_REVISION");

/// The version of the Rust compiler that made this build, or `unknown`.
pub const COMPILER: &str = env!("SCATTERLAB_RUSTC");
