//! shallow-water: waves on a rectangle of water by an implicit scheme, one tridiagonal system for each row and each column of
//! cells (Kass and Miller: Rapid, stable fluid dynamics for computer graphics, SIGGRAPH 1990; sengupta2007 §4.3).
//!
//! ```text
//! ∂²η/∂t² = ∇·(g·d·∇η)          η: height above rest, d = 1 + η: depth, in units of the depth at rest; walls reflect
//! ```
//!
//! With w the change of η by a step and κ = g·dt²/dx² = courant², a step is
//!
//! ```text
//!                  F[i + ½] = κ·(1 + (η[i] + η[i+1])/2)·(y[i+1] − y[i])
//! along rows       y − F[i + ½] + F[i − ½] = η + w      δ = F[i + ½] − F[i − ½]      w += δ      η += w
//! along columns    y − F[i + ½] + F[i − ½] = η          δ = F[i + ½] − F[i − ½]      w += δ      η += δ
//! ```
//!
//! which is (1 − κ·Lx)(1 − κ·Ly)·η' = η + w for small waves: Kass and Miller's implicit step, by alternating directions. The
//! solution y enters by its flows alone, one for the cells on both sides of a face, so that Σ w stays 0 and Σ η what it was, up to
//! the rounding of both sums in f32: the certificate demands that the mean height changes by no more than u·size·(16 + 8·√steps +
//! steps/4), u = 2^−24, size: the largest height. (Kass and Miller's own form, 2·η − η before, has no such property.)
//!
//! For a small wave along one direction with wave number k, the scheme is backward Euler's: with s = 2·courant·sin(k·dx/2) its
//! frequency is atan(s)/dt, and a step multiplies it by (1 + s²)^(−½). That of the water is √(g·d)·k.
//!
//! The effective bytes are η and w, read and written by both sweeps: 32 bytes a cell and step. The elements of the throughput are
//! cells times steps. An execution continues where the last one ended, but one that is judged begins anew, with ripples in every
//! cell ([`Spec::rippled`]); the certificate computes all its steps in f64, by elimination with a thread for each line. Waves die
//! away, and what many steps leave tells little of them, so that the first [`LIVELY`] steps are certified as well
//! by an execution of their own. Water that falls dry fails the case.

pub mod cpu;
pub mod cuda;
mod oracle;
mod scene;

use super::real::Real;
use super::tridiagonal::Layout;
use super::tridiagonal::tiles::{Levels, TileKernel, Tiles, of_tiles};
use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, float, parameters};
use crate::case::{Access, BlockCost, Params, Pass, Refusal, Value, Work, params};

/// Most cells along a side.
const MOST: u64 = 1 << 16;

/// Steps in which ripples still move, whatever the Courant number: those of the certificate's own execution.
pub const LIVELY: u64 = 2;

/// Amplitude of what is judged, at least: whatever the scene is, f32 holds ripples of this size and all that becomes of them.
const LEAST_JUDGED: f64 = 1e-6;

/// Least Courant number of water that moves: κ times a difference of ripples is then far from the least number of f32.
const LEAST_COURANT: f64 = 1e-6;

/// The largest relative error of a rounding to f32.
const ROUNDING: f64 = <f32 as Real>::EPSILON;

choice! {
    /// The water at the beginning, at rest but for its height.
    pub enum Scene {
        /// a drop: a smooth hill with a radius of an eighth of the shorter side
        Drop = "drop",
        /// a standing wave along the rows
        Wave = "wave" main "halves" {
            /// number of half-waves between the walls
            halves: u64 [count(1, MOST)] = "1",
        },
        /// a dam in the middle that breaks: the water is as high on the left as it is low on the right
        Dam = "dam",
    }
}

choice! {
    /// How lines are solved.
    #[derive(Eq)]
    pub enum Method {
        /// sweeps along rows and along columns; on GPUs one launch for each, or three if a line does not fit in a block
        Sweeps = "sweeps",
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// cells of each row
        columns: u64 [count(1, MOST)],
        /// rows of cells; unset: as many as columns
        rows: Option<u64> [count(1, MOST)] = unset,
        /// steps of an execution
        steps: u64 [count(1, 1 << 20)] = "1",
        /// the water at the beginning
        scene: Scene = "drop",
        /// height of the scene, in units of the depth at rest
        amplitude: f64 [float(0.0, 10.0)] = "0.1",
        /// cells that a small wave crosses in a step
        courant: f64 [float(0.0, 16.0)] = "0.5",
        /// how lines are solved
        method: Method = "sweeps",
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "shallow-water",
        "waves on shallow water, computed from tridiagonal systems along rows and columns (sengupta2007 §4.3)",
        Spec::TABLE,
    )];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let spec = Spec::of_table(params, seed)?;
        params::bytes("rows", &[spec.columns, spec.rows(), 4])?;
        let lowest = match spec.scene {
            Scene::Drop => None,
            Scene::Wave { .. } => Some("in troughs"),
            Scene::Dam => Some("behind the dam"),
        };
        if let Some(place) = lowest.filter(|_| spec.amplitude >= 1.0) {
            let dry = format!("{} leaves no water {place}; accepted: less than 1", spec.amplitude);
            return Err(Refusal::invalid("amplitude", dry));
        }
        if spec.courant > 0.0 && spec.courant < LEAST_COURANT {
            let lost = format!(
                "f32 does not hold what a step of {} changes; accepted: 0, or {LEAST_COURANT} and more",
                spec.courant
            );
            return Err(Refusal::invalid("courant", lost));
        }
        Ok(spec)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let cells = self.cells();
        let read = |array: &str| Access::reads(array, 4, cells);
        let written = |array: &str| Access::writes(array, 4, cells);
        let sweep = |from: [&str; 2], to: [&str; 2], sweep: &Sweep, own: &[&str]| {
            let moves = Pass::once(from.map(read)).and(to.map(written));
            let tiles = sweep.tiles.tiles * sweep.lines;
            if sweep.tiles.tiles == 1 {
                return vec![moves];
            }
            vec![
                Pass::once(own.iter().copied().map(read)).and([Access::writes("edges", 28, tiles)]),
                Pass::once([Access::reads("edges", 28, tiles), Access::writes("ends", 4, tiles)]),
                moves.and([Access::reads("ends", 4, tiles)]),
            ]
        };
        let [rows, columns] = self.sweeps();
        let first = sweep(["η", "w"], ["η*", "w*"], &rows, &["η", "w"]);
        let second = sweep(["η*", "w*"], ["η", "w"], &columns, &["η*"]);
        let passes = first.into_iter().chain(second).map(|pass| pass.times(self.steps));
        Work::of(cells * self.steps, 32 * cells * self.steps, passes)
            .footprint(16 * cells + 4 * self.scratch())
            // The state at the last clearing, and that of the certificate with its systems in f64.
            .scratch(40 * cells)
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        if self.backend.is_cpu() {
            return Ok(Vec::new());
        }
        let [rows, columns] = self.sweeps();
        Ok([rows.block_costs(true), columns.block_costs(false)].concat())
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

/// The lines of a direction, and how a GPU divides them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sweep {
    pub lines: u64,
    /// Cells of a thread.
    pub each: u64,
    pub tiles: Tiles,
}

impl Sweep {
    /// On-chip work of the blocks in each pass of the sweep: the machine code of its kernels. The cells beside those of a thread are
    /// loaded when it has its own.
    fn block_costs(&self, along_rows: bool) -> Vec<BlockCost> {
        let (registers, instructions) = match (along_rows, self.each) {
            (true, 8) => (104, [1010.0, 460.0]),
            (true, _) => (128, [1710.0, 710.0]),
            (false, 8) => (64, [1080.0, 480.0]),
            (false, _) => (128, [1870.0, 890.0]),
        };
        let kernel = TileKernel {
            rows: self.each,
            words: 1,
            exchanged: if along_rows { 4 } else { 0 },
            loads: 2.0,
            registers,
            instructions,
        };
        let solved = of_tiles(&self.tiles, self.lines, kernel);
        if self.tiles.tiles == 1 {
            return vec![solved];
        }
        let (registers, instructions) = if along_rows { (96, [1030.0, 420.0]) } else { (48, [570.0, 240.0]) };
        let edges = of_tiles(&self.tiles, self.lines, TileKernel { registers, instructions, ..kernel });
        // Blocks of 128 threads, each with a line.
        let (blocks, tiles) = (self.lines.div_ceil(128), self.tiles.tiles);
        let ends = BlockCost::of(blocks, 16).blocks(blocks).looks(tiles as f64).steps(4.0 * tiles as f64);
        // The ends of eight tiles at a time, then tile by tile.
        let ends = ends.loads(tiles.div_ceil(8) as f64);
        vec![edges, ends, solved]
    }
}

impl Spec {
    /// Rows of cells.
    pub fn rows(&self) -> u64 {
        self.rows.unwrap_or(self.columns)
    }

    /// Cells.
    pub fn cells(&self) -> u64 {
        self.columns * self.rows()
    }

    /// g·dt²/dx², with the depth at rest as unit of lengths along the vertical.
    pub fn kappa(&self) -> f64 {
        self.courant * self.courant
    }

    /// The sweeps along rows and along columns. Long lines have 16 cells in each thread of a GPU, unless tiles of columns are
    /// needed in any case.
    pub fn sweeps(&self) -> [Sweep; 2] {
        let along_rows = if self.columns > 512 { 16 } else { 8 };
        let along_columns = if (513..=1024).contains(&self.rows()) { 16 } else { 8 };
        [
            Sweep {
                lines: self.rows(),
                each: along_rows,
                tiles: Tiles::of(self.columns, along_rows, Layout::Strided),
            },
            Sweep {
                lines: self.columns,
                each: along_columns,
                tiles: Tiles::of(self.rows(), along_columns, Layout::Interleaved),
            },
        ]
    }

    /// Elements of 4 bytes that the edges of tiles take on a GPU.
    pub fn scratch(&self) -> u64 {
        let of = |sweep: Sweep| Levels(vec![sweep.tiles]).scratch(sweep.lines);
        self.sweeps().map(of).into_iter().max().unwrap_or(0)
    }

    /// The largest differences that rounding to f32 makes in so many steps from heights of this size: a flow is κ times the depth
    /// times a difference of rounded heights, and errors of steps have either sign. They die away like the longest wave, which a
    /// step multiplies by (1 + s²)^(−½), s ≥ 2·courant/(longest side); but what the mean height drifts stays, and where the mean
    /// change of water at rest is not 0, it does so by a part of a rounding of it in every step.
    pub fn bounds(&self, size: f64, steps: u64) -> Bounds {
        let flow = (1.0 + self.courant + self.kappa()) * (1.0 + size).powi(2);
        let remembered = self.columns.max(self.rows()) as f64 / (2.0 * self.courant);
        let remembered = (steps as f64).min(1.0 + remembered * remembered);
        let drift = ROUNDING * size * (16.0 + 8.0 * (steps as f64).sqrt() + steps as f64 / 4.0);
        let height = ROUNDING * size * flow * (64.0 + 32.0 * remembered.sqrt()) + drift;
        Bounds { height, change: height * (4.0 * self.kappa() * steps as f64).min(1.0), drift }
    }

    /// The largest error of a height that the certificate lets pass, relative to the amplitude.
    fn tolerance(&self) -> f64 {
        self.bounds(self.judged_size(), self.steps).height / self.judged_size()
    }

    /// The size of the water with which an execution that is judged begins.
    fn judged_size(&self) -> f64 {
        self.amplitude.max(LEAST_JUDGED)
    }

    /// The record of a state: how far it is from that of the certificate, and the change of the mean height in
    /// its steps, in units of the depth.
    fn found(&self, error: f64, drift: f64) -> Vec<(String, Value)> {
        let all = [("height-error", error), ("mass-drift", drift)];
        let numbers = all.into_iter().filter(|(_, number)| number.is_finite());
        numbers.map(|(key, number)| (key.to_owned(), Value::Float(number))).collect()
    }
}

/// What rounding explains, in units of the depth at rest.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Of a height.
    pub height: f64,
    /// Of a height's change by a step: each step adds differences of heights times κ to it.
    pub change: f64,
    /// Of the mean height.
    pub drift: f64,
}

#[cfg(test)]
mod tests {
    use super::super::words::params;
    use super::*;

    fn spec(words: &str) -> Spec {
        Spec::read("shallow-water", &params(words), 7).expect("a case")
    }

    #[test]
    fn dry_scenes_are_refused() {
        for scene in ["dam", "wave"] {
            let words = params(&format!("columns=8 scene={scene} amplitude=1"));
            let refused = Spec::read("shallow-water", &words, 1).expect_err("refused").to_string();
            assert!(refused.starts_with("amplitude: 1 leaves no water"), "{refused}");
        }
    }

    /// Water that f32 does not let move would be right and certified without a kernel.
    #[test]
    fn steps_too_small_for_f32_are_refused() {
        for (courant, told) in [
            ("0.0000000000000000000000001", Some("courant: f32 does not hold what a step of ")),
            ("0.0000009", Some("accepted: 0, or 0.000001 and more")),
            ("0.000001", None),
            ("0", None),
        ] {
            let read = Spec::read("shallow-water", &params(&format!("columns=8 courant={courant}")), 1);
            let refused = read.err().map(|refusal| refusal.to_string());
            let is_told = |told: &str| refused.as_ref().is_some_and(|refused| refused.contains(told));
            assert!(told.map_or(refused.is_none(), is_told), "{courant}: {refused:?}");
        }
    }

    /// The mean height along the first row, weighted by the wave.
    fn amplitude_of(spec: &Spec, state: &oracle::State) -> f64 {
        let wave: Vec<f64> = spec.heights().iter().map(|height| f64::from(*height)).collect();
        let along = |heights: &[f64]| heights.iter().zip(&wave).map(|(a, b)| a * b).sum::<f64>();
        along(&state.eta) / along(&wave)
    }

    /// Re((1 + is)/(1 + s²))ⁿ: the scheme's own frequency atan(s)/dt, and its decay by (1 + s²)^(−½) a step.
    #[test]
    fn a_standing_wave_has_the_frequency_and_decay_of_the_scheme() {
        for (courant, halves) in [(0.5, 2), (1.0, 3), (4.0, 1)] {
            let spec = spec(&format!(
                "columns=64 rows=3 scene=wave scene.wave.halves={halves} amplitude=0.0000001 courant={courant}"
            ));
            let half = std::f64::consts::PI * f64::from(halves) / 128.0;
            let s = 2.0 * courant * half.sin();
            let mut state = oracle::State::begin(spec.heights());
            let (mut before, mut crossings) = (1.0, Vec::new());
            for step in 1..=200 {
                state.step(&spec);
                let found = amplitude_of(&spec, &state);
                let size = (1.0 + s * s).powf(-0.5 * f64::from(step));
                let wanted = size * (f64::from(step) * s.atan()).cos();
                assert!((found - wanted).abs() <= 1e-4 * size, "{spec:?}: {found} is not {wanted} at {step}");
                if found * before < 0.0 {
                    // Where the decaying cosine is 0, between two steps, if both are freed of the decay.
                    let [a, b] = [before * (1.0 + s * s).sqrt().recip(), found];
                    crossings.push(f64::from(step) - 1.0 + a / (a - b));
                }
                before = found;
            }
            // The water's own √(g·d)·k, in radians a step, of waves that steps resolve.
            if s <= 0.24 {
                let periods = crossings.len() - 1;
                let span = crossings[periods] - crossings[0];
                let frequency = std::f64::consts::PI * periods as f64 / span;
                let own = 2.0 * courant * half;
                assert!((frequency / own - 1.0).abs() < 0.02, "{frequency} is not {own}");
            }
        }
    }

    #[test]
    fn a_dam_break_stays_between_its_heights() {
        let spec = spec("columns=96 rows=4 scene=dam amplitude=0.3 courant=0.5");
        let mut state = oracle::State::begin(spec.heights());
        for step in 0..2000 {
            state.step(&spec);
            let most = state.eta.iter().fold(0.0, |most: f64, height| most.max(height.abs()));
            assert!(most <= 0.33, "{most} after {step} steps");
        }
    }

    #[test]
    fn a_step_moves_32_bytes_a_cell() {
        let work = spec("columns=512 rows=100 steps=3").work();
        assert_eq!((work.effective_bytes, work.declared_bytes()), (32 * 51_200 * 3, 32 * 51_200 * 3));
        let work = spec("columns=512 rows=4096 backend=cuda").work();
        assert!(work.declared_bytes() > 36 * 512 * 4096 && work.declared_bytes() < 37 * 512 * 4096);
    }
}
