//! Memory touched with gaps: strides, patterns and thin passes.
//!
//! Reads: a miss fetches a granule of `fetch` bytes, and neighbouring granules are included as far as
//! bandwidth allows: T = max(runs of neighbours / strided(spacing of the runs), granules·fetch / read). The
//! runs are too short for a processor's prefetcher, so it waits for each granule: T = max(granules /
//! strided(spacing of the granules), granules·fetch / read).
//!
//! Writes: memory is written a line at a time; partial sectors of a line are read first. T = lines · c(k) ·
//! strided(l) / strided(spacing), where c(k) is the cost of a line with k partial sectors if every line is
//! touched: strided writes of one word per line, half line and sector give it for 1, 2 and more. A line of
//! whole sectors belongs to a stream.
//!
//! If the written lines are random, a line's neighbour is written with some probability: with that probability a
//! line costs as much as contiguous lines do, otherwise as much as lines further apart.
//!
//! Both: far apart, they are random accesses, because fewer memory rows are open. Source: the profile's
//! `strided` over the greatest footprint; without it, random accesses to memory.

use super::machine::Machine;
use crate::case::Direction;
use crate::model::Strided;

/// Granules read within a footprint.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    pub granules: f64,
    /// Runs of neighbouring granules.
    pub runs: f64,
    pub footprint: f64,
}

impl Reads {
    /// Seconds to fetch the granules.
    ///
    /// # Errors
    /// A profile without random accesses.
    pub fn seconds(&self, machine: &Machine) -> Result<f64, String> {
        let stream = self.granules * machine.fetch() * machine.per_byte(&machine.rates.read, f64::MAX);
        // A processor waits for each line.
        let alone = if machine.group() > 1 { self.runs } else { self.granules };
        let spacing = self.footprint / alone.max(1.0);
        if spacing <= machine.fetch() {
            return Ok(stream);
        }
        Ok(stream.max(alone * strided(machine, Direction::Read, spacing)?))
    }
}

/// Lines written within a footprint.
#[derive(Clone, Copy, Debug)]
pub struct Writes {
    pub lines: f64,
    /// Written sectors of these lines, and those that are written as a whole.
    pub sectors: f64,
    pub whole: f64,
    pub footprint: f64,
    /// The probability that the line behind a written one is written, too, if the lines are random; else none is.
    pub beside: Option<f64>,
}

impl Writes {
    /// Seconds to write the lines.
    ///
    /// # Errors
    /// A profile without random accesses.
    pub fn seconds(&self, machine: &Machine) -> Result<f64, String> {
        if self.lines <= 0.0 {
            return Ok(0.0);
        }
        let spacing = (self.footprint / self.lines).max(machine.line);
        let near = strided(machine, Direction::Write, machine.line)?;
        let far = self.apart(machine, spacing)? / near;
        let whole = (self.whole / self.sectors.max(1.0)).clamp(0.0, 1.0);
        let stream = machine.line * machine.per_byte(&machine.rates.write, f64::MAX);
        let parts = in_part(machine, self.sectors / self.lines)?;
        Ok(self.lines * (whole * stream + (1.0 - whole) * parts.max(stream)) * far.max(1.0))
    }

    /// Seconds of a word written in each line.
    fn apart(&self, machine: &Machine, spacing: f64) -> Result<f64, String> {
        let Some(both) = self.beside else { return strided(machine, Direction::Write, spacing) };
        let alone = strided(machine, Direction::Write, spacing.max(2.0 * machine.line))?;
        Ok(both * strided(machine, Direction::Write, machine.line)? + (1.0 - both) * alone)
    }
}

/// Seconds of a line with `k` partial sectors, among others like it.
fn in_part(machine: &Machine, k: f64) -> Result<f64, String> {
    let most = (machine.line / machine.sector).max(1.0);
    let of = |k: f64| Ok::<f64, String>(k * strided(machine, Direction::Write, machine.line / k)?);
    if k <= 1.0 || most <= 1.0 {
        return of(1.0);
    }
    let (low, high) = if k < 2.0 || most <= 2.0 { (1.0, 2.0) } else { (2.0, most) };
    let share = ((k - low) / (high - low)).min(1.0);
    Ok((1.0 - share) * of(low)? + share * of(high)?)
}

/// Seconds of a word read or written every `spacing` bytes.
fn strided(machine: &Machine, direction: Direction, spacing: f64) -> Result<f64, String> {
    match curve(machine, direction) {
        Some(strided) => Ok(1.0 / strided.rate.at(spacing)),
        None => Ok(machine.miss(machine.random(direction, 8)?)),
    }
}

fn curve<'a>(machine: &Machine<'a>, direction: Direction) -> Option<&'a Strided> {
    let of_direction = machine.rates.strided.iter().filter(|s| s.direction == direction);
    of_direction.max_by_key(|s| s.footprint).filter(|s| s.footprint as f64 > 4.0 * machine.capacity)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{close, on_toy};
    use super::*;

    fn reads(granules: f64, runs: f64, footprint: f64) -> f64 {
        let mut seconds = 0.0;
        on_toy(|toy| seconds = Reads { granules, runs, footprint }.seconds(toy).expect("rates"));
        seconds
    }

    fn writes(lines: f64, sectors: f64, whole: f64, footprint: f64) -> f64 {
        let mut seconds = 0.0;
        on_toy(|toy| {
            seconds = Writes { lines, sectors, whole, footprint, beside: None }.seconds(toy).expect("rates")
        });
        seconds
    }

    #[test]
    fn granules_side_by_side_are_a_stream() {
        assert!(close(reads(1e6, 1.0, 64e6), 64e6 / 1e11));
        assert!(close(reads(1e6, 1e6, 128e6), 1e6 / 1.25e9));
        // Two granules per run cost the greater of their bandwidth and the cost of a single granule.
        assert!(close(reads(2e6, 1e6, 1024e6), 2e6 * 64.0 / 1e11));
        assert!(close(reads(1e6, 1e6, 1024e6), 1e6 / 1e9));
    }

    #[test]
    fn a_line_costs_by_its_sectors_in_part() {
        let lines = 128e6;
        assert!(close(writes(1e6, 4e6, 4e6, lines), 128e6 / 1e11));
        assert!(close(writes(1e6, 1e6, 0.0, lines), 1e6 * 2e-9));
        assert!(close(writes(1e6, 2e6, 0.0, lines), 1e6 * 2.5e-9));
        assert!(close(writes(1e6, 4e6, 0.0, lines), 1e6 * 4e-9));
        assert!(close(writes(1e6, 3e6, 0.0, lines), 1e6 * 3.25e-9));
        // Eight times as far apart: half the rate.
        assert!(close(writes(1e6, 1e6, 0.0, 8.0 * lines), 1e6 / 2.5e8));
        assert_eq!(writes(0.0, 0.0, 0.0, lines), 0.0);
    }

    /// Every second line: half of the randomly written lines have a neighbour, which costs 2 ns; the others
    /// cost as much as lines with one line between them.
    #[test]
    fn chance_makes_neighbours() {
        on_toy(|toy| {
            let of = |beside| {
                let lines = Writes { lines: 1e6, sectors: 1e6, whole: 0.0, footprint: 256e6, beside };
                lines.seconds(toy).expect("rates")
            };
            let apart = 2e-9 * 2f64.cbrt();
            assert!(close(of(None), 1e6 * apart));
            assert!(close(of(Some(0.5)), 1e6 * (0.5 * 2e-9 + 0.5 * apart)));
        });
    }
}
