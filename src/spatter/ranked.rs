//! The output of Spatter 2.1.0, built with MPI, for all ranks together.

use super::output::bandwidth;
use super::output::{column, general};

/// A configuration's fastest run over all ranks: the one with the smallest sum of their times.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    /// The run's number, from 0.
    pub run: usize,
    /// Bytes that each rank moves.
    pub bytes: u64,
    /// Seconds of each rank.
    pub times: Vec<f64>,
}

impl Together {
    /// Selects the run from the times of each rank's runs. `None` if no run exists on all ranks.
    pub fn of(bytes: u64, ranks: &[&[f64]]) -> Option<Together> {
        let means = means(ranks);
        let (run, _) = means.iter().enumerate().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        Some(Together { run, bytes, times: ranks.iter().map(|times| times[run]).collect() })
    }

    pub fn average_time(&self) -> f64 {
        self.times.iter().sum::<f64>() / self.times.len() as f64
    }

    pub fn total_bytes(&self) -> u64 {
        self.bytes * self.times.len() as u64
    }

    /// MB/s of each rank.
    pub fn bandwidths(&self) -> Vec<f64> {
        self.times.iter().map(|seconds| bandwidth(self.bytes, *seconds)).collect()
    }

    /// MB/s of all ranks.
    pub fn total_bandwidth(&self) -> f64 {
        self.bandwidths().iter().sum()
    }

    /// The configuration's line in the table.
    pub fn row(&self, id: usize) -> String {
        let total = self.total_bandwidth();
        line(
            &id.to_string(),
            [
                general(self.bytes as f64, 6),
                self.total_bytes().to_string(),
                general(self.average_time(), 6),
                general(total / self.times.len() as f64, 6),
                general(total, 6),
            ],
        )
    }

    /// The lists of values per rank that `-v 3` prints below the row.
    pub fn each(&self) -> String {
        let list = |values: Vec<String>| values.into_iter().map(|value| value + " ").collect::<String>();
        let numbers = |values: &[f64]| list(values.iter().map(|value| general(*value, 6)).collect());
        format!(
            "\nBytes per rank\n{}\nMinimum time per rank(s)\n{}\nMaximum bandwidth per rank(MB/s)\n{}\n",
            list(vec![self.bytes.to_string(); self.times.len()]),
            numbers(&self.times),
            numbers(&self.bandwidths()),
        )
    }
}

/// The mean time of each run over the ranks, in seconds, for the runs that all ranks have.
pub fn means(ranks: &[&[f64]]) -> Vec<f64> {
    let runs = ranks.iter().map(|times| times.len()).min().unwrap_or(0);
    let mean = |run: usize| ranks.iter().map(|times| times[run]).sum::<f64>() / ranks.len() as f64;
    (0..runs).map(mean).collect()
}

/// The table's first line.
pub fn header() -> String {
    line(
        "config",
        [
            "average bytes per rank",
            "total bytes",
            "average time per rank(s)",
            "average bw per rank(MB/s)",
            "total bw(MB/s)",
        ]
        .map(str::to_owned),
    )
}

fn line(id: &str, cells: [String; 5]) -> String {
    let cells = cells.map(|cell| column(&cell, 30)).concat();
    format!("{}{cells}\n", column(id, 15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_run_with_the_smallest_sum_counts() {
        // The first rank alone was fastest in its second run, the second rank in its first.
        let together = Together::of(1000, &[&[3.0, 1.0, 2.0], &[1.0, 9.0, 1.5]]).expect("three runs");
        assert_eq!((together.run, together.times.as_slice()), (2, &[2.0, 1.5][..]));
        assert_eq!((together.total_bytes(), together.average_time()), (2000, 1.75));
        assert_eq!(together.total_bandwidth(), 1000.0 / 2.0 / 1e6 + 1000.0 / 1.5 / 1e6);
        assert_eq!(Together::of(1000, &[&[1.0], &[]]), None);
        assert_eq!(Together::of(1000, &[]), None);
    }

    #[test]
    fn the_table_is_spatters() {
        let together = Together { run: 0, bytes: 1 << 30, times: vec![0.25, 0.5] };
        insta::assert_snapshot!(header() + &together.row(7) + &together.each());
    }
}
