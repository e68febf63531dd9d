//! Tables that ship with the program as reference data: Tables 3 and 4 of lavin2020, Table 5 of ashkiani2017.

use anyhow::{Context, Result};
use serde::Deserialize;

use super::platform::Kind;

const TABLE_3: &str = include_str!("../../../experiments/lavin2020/table03.csv");
const TABLE_4: &str = include_str!("../../../experiments/lavin2020/table04.csv");
const MULTISPLITS: &str = include_str!("../../../experiments/ashkiani2017/table05.csv");
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

/// A cell of ashkiani2017's Table 5.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Multisplit {
    pub platform: String,
    /// The name in recipes: `none`, `4B`.
    pub values: String,
    /// The name of the line in Figs. 6 and 7.
    pub method: String,
    pub buckets: u64,
    /// 1e9 keys or pairs per second.
    pub g_per_s: f64,
    /// Speed-up over a radix sort of the whole keys.
    pub speed_up: f64,
}

/// ashkiani2017's Table 5.
pub fn multisplits() -> Result<Vec<Multisplit>> {
    rows(MULTISPLITS)
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

    /// Table 3's radix sorts of 2^25 keys and pairs: milliseconds, and G per second.
    const SORTS: [(&str, [(f64, f64); 2]); 3] = [
        ("K40c, ECC on", [(25.99, 1.29), (43.70, 0.77)]),
        ("K40c, ECC off", [(19.41, 1.73), (28.60, 1.17)]),
        ("GTX 1080", [(9.84, 3.40), (17.59, 1.90)]),
    ];

    /// All but two speed-ups agree with Table 3's times or rates within the printed precision; and the
    /// erratum.
    #[test]
    fn speed_ups_are_those_of_the_rates() {
        let rows = multisplits().expect("readable");
        let apart = |row: &&Multisplit| {
            let (_, [keys, pairs]) =
                SORTS.iter().find(|(name, _)| *name == row.platform).expect("a platform");
            let (milliseconds, rate) = if row.values == "none" { keys } else { pairs };
            let by_times = row.g_per_s * milliseconds * 1e6 / f64::from(1 << 25);
            [by_times, row.g_per_s / rate].iter().all(|found| (found - row.speed_up).abs() > 0.051)
        };
        let found: Vec<(&str, &str, u64)> =
            rows.iter().filter(apart).map(|r| (r.platform.as_str(), r.method.as_str(), r.buckets)).collect();
        assert_eq!(found, [("K40c, ECC on", "DMS", 16), ("K40c, ECC off", "RB-sort", 2)]);
        assert_eq!(rows.len(), 3 * 2 * (5 + 5 + 8 + 8));
        let pairs = |buckets| {
            let is =
                |r: &&Multisplit| (r.values.as_str(), r.method.as_str(), r.buckets) == ("4B", "DMS", buckets);
            rows.iter().find(is).expect("a cell").g_per_s
        };
        assert_eq!(pairs(8), pairs(16), "as printed for the K40c with ECC");
    }

    /// Statements of the text about the table (§6.2.1, §6.2.2).
    #[test]
    fn the_text_quotes_the_table() {
        let rows = multisplits().expect("readable");
        let most = |values: &str| {
            let own = rows.iter().filter(|row| row.values == values);
            own.map(|row| row.speed_up).fold(0.0, f64::max)
        };
        assert_eq!((most("none"), most("4B")), (9.7, 10.8));
        let peak = |platform: &str| {
            let own = rows.iter().filter(|row| row.platform == platform && row.values == "none");
            own.max_by(|a, b| a.g_per_s.total_cmp(&b.g_per_s)).map(|row| (row.method.as_str(), row.g_per_s))
        };
        let peaks = ["K40c, ECC on", "K40c, ECC off", "GTX 1080"].map(peak);
        assert_eq!(peaks, [Some(("WMS", 12.48)), Some(("WMS", 14.15)), Some(("WMS", 18.93))]);
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
