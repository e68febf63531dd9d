//! scatterlab: a laboratory in a terminal for memory-bound parallel primitives.
//!
//! A *recipe* (YAML) says which primitive to measure, with which parameters swept, on
//! which backends. The lab runs it, certifies every result on the device that computed
//! it, and draws measured bandwidth while it arrives.
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
//! Each module uses only those of its row, and a row names only what stands above it, so that there are no
//! circles. `tests/architecture.rs` reads both tables and holds the code to them; tests may use whatever they
//! like. A primitive's *implementations* are its modules `cpu` and `cuda`, what these share in `primitives::cpu` and
//! `primitives::cuda`, and their list, `primitives::implementations`; what else is in [`primitives`] is pure.
//!
//! | module | what it knows | uses |
//! |---|---|---|
//! | [`case`] | the vocabulary: cases, parameters, accesses, verdicts and failures, units (pure) | nothing |
//! | [`stats`] | intervals, the stopping rule, flags of noise, the rule that compares two runs (pure) | `case` |
//! | [`inputs`] | index generators and data as integer functions of (seed, i); index files | `case` |
//! | [`device`] | pools, SIMD, the CUDA driver, buffers, launches, timing; [`device::Prepared`] | `case`, `stats` |
//! | [`primitives`] | definitions, parameters, accesses, oracles (pure) | `case`, `inputs` |
//! | implementations | the primitives on processors and on GPUs, with their certificates | `case`, `stats`, `inputs`, `device`, `primitives` |
//! | [`recipe`] | YAML with the place of every key; [`recipe::plan`]: axes, and cases with every parameter fixed (pure) | `case`, `primitives` |
//! | [`model`] | what a case will take, from a device's profile and the case's accesses; calibration (pure); the files of profiles | `case`, `stats`, `primitives`, `recipe` |
//! | [`engine`] | the process that runs a plan; its protocol, server, client and ranks | `case`, `stats`, `inputs`, `device`, `primitives`, implementations, `recipe`, `model` |
//! | shell | words for a POSIX shell, and the programs that it would find | nothing |
//! | [`run`] | a run's folder, its records, and what drives a plan through an engine | `case`, `stats`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `shell` |
//! | [`report`] | tables, charts and the papers' figures, from records; whether two runs tell the same | `case`, `stats`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `run` |
//! | [`spatter`] | Spatter's command line: what it means, and what it prints (pure) | `case`, `stats`, `inputs`, `primitives`, `recipe` |
//! | [`tui`] | the terminal user interface: event → action → update → view | `case`, `stats`, `inputs`, `primitives`, `recipe`, `model`, `engine`, `run`, `report`, `shell` |
//! | [`doctor`] | what of a machine disturbs measurements, and how much the user interface does | `case`, `stats`, `device`, `recipe`, `engine`, `shell`, `tui` |
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
//! | `serde_yaml` | `recipe`, `model` |
//! | `plotters` | `report::svg` |
//! | `ratatui` | `tui` |
//! | `clap` | `cli` |
//!
//! # What holds everywhere
//!
//! - The engine is a child process: one JSON object a line, versioned. (A rank of an MPI job
//!   is an engine itself, without a screen and without a folder.) A result is on
//!   disk before it is acknowledged, and acknowledged before the next case begins;
//!   nothing is written, and no kernel compiled, while a sample is timed.
//! - Every timed case is certified once by each engine that times it, outside the timed
//!   region, with poisoned outputs, on the device. A case that fails is shown as failed, never as a point.
//! - Screen, CSV and SVG are drawn from the same [`run::Record`]s.
//! - What is missing (a driver, an instruction set, memory) is data: `n/a: reason`.

pub mod case;
pub mod cli;
pub mod device;
pub mod doctor;
pub mod engine;
pub mod inputs;
pub mod model;
pub mod primitives;
pub mod recipe;
pub mod report;
pub mod run;
mod shell;
pub mod spatter;
pub mod stats;
pub mod tui;

/// This build's version.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The git revision that this build was made from, or `unknown`.
pub const REVISION: &str = env!("SCATTERLAB_REVISION");

/// The version of the Rust compiler that made this build, or `unknown`.
pub const COMPILER: &str = env!("SCATTERLAB_RUSTC");
