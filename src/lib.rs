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
//! | module | what it knows |
//! |---|---|
//! | [`units`] | parses and formats quantities; nothing else does |
//! | [`recipe`] | the YAML as written, with the place of every key |
//! | [`plan`] | what it means: axes, and cases with every parameter fixed |
//! | [`patterns`] | index generators and inputs as integer functions of (seed, i) |
//! | [`primitives`] | definitions, parameters, accesses, oracles (pure); beside them the implementations |
//! | [`backend`] | what a backend offers: pools, buffers, timing; [`backend::Prepared`] |
//! | [`measure`] | statistics |
//! | [`model`] | what a case will take, from a device's profile and the case's accesses (pure) |
//! | [`calibrate`] | which cases tell a device's characteristics, and what follows from their times (pure) |
//! | [`profiles`] | the profiles of devices: read, written, and which is a device's |
//! | [`indices`] | reads index arrays from files |
//! | [`engine`] | the process that runs a plan; its protocol, server and client |
//! | [`ranks`] | the processes of a parallel job, and their meetings |
//! | [`run`] | a run's folder, its records, and what drives a plan through an engine |
//! | [`judge`] | whether two runs of the same cases tell the same (pure) |
//! | [`report`] | CSV and SVG, from records |
//! | [`tui`] | the terminal user interface: event → action → update → view |
//! | [`spatter`] | Spatter's command line: what it means, and what it prints (pure) |
//! | [`doctor`] | what of a machine disturbs measurements, and how much the user interface does |
//! | [`cli`] | the command line |
//!
//! # What holds everywhere
//!
//! - `recipe`, `plan`, `model`, `judge`, `report` and `tui` use only the pure half of a primitive. The
//!   implementations are imported by the engine alone, only `backend::cuda` names `cust`,
//!   and only `ranks::mpi` names `mpi`.
//! - The engine is a child process: one JSON object a line, versioned. (A rank of an MPI job
//!   is an engine itself, without a screen and without a folder.) A result is on
//!   disk before it is acknowledged, and acknowledged before the next case begins;
//!   nothing is written while a sample is timed.
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
