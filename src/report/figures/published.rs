//! Tables that ship with the program as reference data: Tables 3 and 4 of lavin2020.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::platform::Kind;

const TABLE_3: &str = include_str!("../../../experiments/lavin2020/table03.csv");
const TABLE_4: &str = include_str!("../../../experiments/lavin2020/table04.csv");
/// The "platform" of the rows of Table 4 that hold correlations.
const R: &str = "R";

/// A row of Table 4: harmonic means and STREAM, GB/s; or the printed correlations.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Row {
    pub platform: String,
    kind: String,
    pub amg: f64,
    pub nekbone: f64,
    pub lulesh: f64,
    pub pennant: f64,
    pub stream: Option<f64>,
}

impl Row {
    pub fn kind(&self) -> Kind {
        if self.kind == "GPU" { Kind::Gpu } else { Kind::Cpu }
    }

    /// AMG, Nekbone, LULESH, PENNANT.
    pub fn applications(&self) -> [f64; 4] {
        [self.amg, self.nekbone, self.lulesh, self.pennant]
    }
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct System {
    platform: String,
    stream_mb_s: f64,
    threads: Option<u32>,
}

/// Table 4's platforms, and its printed correlations.
pub fn table_4() -> Result<(Vec<Row>, Vec<Row>)> {
    Ok(rows::<Row>(TABLE_4)?.into_iter().partition(|row| row.platform != R))
}

/// STREAM bandwidth of a platform in Table 3, GB/s.
pub fn table_3(platform: &str) -> Result<Option<f64>> {
    let found = rows::<System>(TABLE_3)?.into_iter().find(|system| system.platform == platform);
    Ok(found.map(|system| system.stream_mb_s / 1e3))
}

/// CPUs of Table 3 with their threads.
pub fn threads() -> Result<Vec<(String, u32)>> {
    let threads = |system: System| Some((system.platform, system.threads?));
    Ok(rows::<System>(TABLE_3)?.into_iter().filter_map(threads).collect())
}

fn rows<T: for<'a> Deserialize<'a>>(text: &str) -> Result<Vec<T>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().context("a table that ships with the program is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::pearson;

    fn correlations(kind: Kind) -> [f64; 4] {
        let (rows, _) = table_4().expect("readable");
        let of = |application: usize| {
            let rows = rows.iter().filter(|row| row.kind() == kind);
            let pairs: Vec<(f64, f64)> =
                rows.map(|row| (row.applications()[application], row.stream.expect("a platform"))).collect();
            pearson(&pairs).expect("enough platforms")
        };
        [0, 1, 2, 3].map(of)
    }

    #[test]
    fn the_tables_columns_give_the_erratums_correlations() {
        let rounded = |kind| correlations(kind).map(|r| (r * 100.0).round() / 100.0);
        assert_eq!(rounded(Kind::Cpu), [0.18, -0.05, 0.60, -0.12]);
        assert_eq!(rounded(Kind::Gpu), [1.00, 0.93, 0.93, 0.85]);
    }

    #[test]
    fn cpus_have_threads() {
        let found = threads().expect("readable");
        let found: Vec<String> = found.iter().map(|(cpu, threads)| format!("{cpu} {threads}")).collect();
        assert_eq!(found, ["KNL 272", "BDW 16", "SKX 16", "CLX 12", "TX2 112"]);
    }

    #[test]
    fn what_is_printed_is_less_by_one_platform() {
        let (rows, printed) = table_4().expect("readable");
        for row in &printed {
            let n = rows.iter().filter(|r| r.kind() == row.kind()).count() as f64;
            for (r, printed) in correlations(row.kind()).into_iter().zip(row.applications()) {
                assert!((r * (n - 1.0) / n - printed).abs() < 0.011, "{r} {printed}");
            }
        }
        assert_eq!((rows.len(), printed.len()), (9, 2));
    }

    #[test]
    fn stream_contradicts_itself_for_two_platforms() {
        let (rows, _) = table_4().expect("readable");
        let apart = |row: &&Row| {
            let other = table_3(&row.platform).expect("readable")?;
            let stream = row.stream?;
            Some((other / stream - 1.0).abs() > 0.1)
        };
        let found: Vec<&str> =
            rows.iter().filter(|r| apart(r) == Some(true)).map(|r| r.platform.as_str()).collect();
        assert_eq!(found, ["CLX", "TX2"]);
    }
}
