//! The numbers of the table.

use anyhow::Result;

use crate::inputs::applications::{Application, TABLE_5, Use};
use crate::report::figures::lookup::{Missing, Subject};
use crate::report::figures::platform::{Kind, Platform};
use crate::report::figures::published;
use crate::stats::{LEAST_PAIRS, harmonic_mean, pearson};

/// An application, or its gathers or scatters alone; the first four are the columns of the paper.
pub struct Column {
    pub head: &'static str,
    stem: &'static str,
    side: Option<Use>,
}

const fn column(head: &'static str, stem: &'static str, side: Option<Use>) -> Column {
    Column { head, stem, side }
}

pub const COLUMNS: [Column; 8] = [
    column("AMG", "AMG-", None),
    column("Nekbone", "NEKBONE-", None),
    column("LULESH", "LULESH-", None),
    column("PENNANT", "PENNANT-", None),
    column("LULESH gathers", "LULESH-", Some(Use::Gather)),
    column("LULESH scatters", "LULESH-", Some(Use::Scatter)),
    column("PENNANT gathers", "PENNANT-", Some(Use::Gather)),
    column("PENNANT scatters", "PENNANT-", Some(Use::Scatter)),
];

impl Column {
    fn patterns(&self) -> impl Iterator<Item = &'static Application> {
        let own = |app: &&Application| self.side.is_none_or(|side| app.kernel == side);
        TABLE_5.iter().filter(|app| app.name.starts_with(self.stem)).filter(own)
    }
}

/// A number, or the reason why there is none.
pub type Cell = Result<f64, String>;

/// A row of the table: one platform.
pub struct Row {
    pub platform: String,
    /// Harmonic means by column, GB/s.
    pub means: [Cell; COLUMNS.len()],
    /// STREAM bandwidth, GB/s.
    pub stream: Cell,
}

/// Platforms over which a correlation is computed.
pub struct Group {
    /// `measured`, or the table of the paper.
    pub source: &'static str,
    pub kind: Kind,
    pub rows: Vec<Row>,
    /// Pearson's R of each column with STREAM.
    pub pearson: [Cell; COLUMNS.len()],
    /// The R printed in the paper, which is not Pearson's.
    pub printed: Option<[Cell; COLUMNS.len()]>,
}

pub const MEASURED: &str = "measured";
pub const PUBLISHED: &str = "lavin2020, table 4";

impl Group {
    fn new(source: &'static str, kind: Kind, rows: Vec<Row>) -> Group {
        let pearson = std::array::from_fn(|at| correlation(&rows, at));
        Group { source, kind, rows, pearson, printed: None }
    }

    pub fn is_measured(&self) -> bool {
        self.source == MEASURED
    }

    /// Number of platforms in the correlation: those with both numbers.
    pub fn platforms(&self, column: usize) -> usize {
        pairs(&self.rows, column).len()
    }
}

fn pairs(rows: &[Row], column: usize) -> Vec<(f64, f64)> {
    let pair = |row: &Row| Some((*row.means[column].as_ref().ok()?, *row.stream.as_ref().ok()?));
    rows.iter().filter_map(pair).collect()
}

fn correlation(rows: &[Row], column: usize) -> Cell {
    let pairs = pairs(rows, column);
    let enough = pairs.len() >= LEAST_PAIRS;
    let few = || format!("it takes {LEAST_PAIRS} platforms with both numbers");
    let why = || if enough { "one of the two does not vary".to_owned() } else { few() };
    pearson(&pairs).ok_or_else(why)
}

/// The stored runs' platforms, with CPUs and GPUs separate.
pub fn measured(platforms: &[Platform], stream: &'static str) -> Vec<Group> {
    let group = |kind| {
        let own = platforms.iter().filter(|p| p.kind == kind);
        let rows: Vec<Row> = own.map(|p| row(p, stream)).collect();
        (!rows.is_empty()).then(|| Group::new(MEASURED, kind, rows))
    };
    [Kind::Cpu, Kind::Gpu].into_iter().filter_map(group).collect()
}

fn row(platform: &Platform, stream: &'static str) -> Row {
    let means = std::array::from_fn(|at| mean(platform, &COLUMNS[at]));
    let why = |missing: Missing| format!("STREAM {stream}: {}", reason(&missing));
    let stream = platform.find(Subject::Stream(stream)).map(|value| value.y).map_err(why);
    Row { platform: platform.label.clone(), means, stream }
}

/// Never the mean of a part of the patterns, which would be a different quantity.
fn mean(platform: &Platform, column: &Column) -> Cell {
    let found: Vec<_> = column.patterns().map(|app| (app.name, platform.find(Subject::App(app)))).collect();
    let missing: Vec<_> = found.iter().filter_map(|(name, f)| Some((name, f.as_ref().err()?))).collect();
    if let Some((first, why)) = missing.first() {
        let (lacking, of) = (missing.len(), found.len());
        return Err(format!("{lacking} of {of} patterns have no result, such as {first}: {}", reason(why)));
    }
    let values: Vec<f64> = found.iter().filter_map(|(_, f)| Some(f.as_ref().ok()?.y)).collect();
    harmonic_mean(&values).ok_or_else(|| "a bandwidth is not positive".to_owned())
}

fn reason(missing: &Missing) -> String {
    if missing.reason.is_empty() { missing.kind.word().to_owned() } else { missing.reason.clone() }
}

/// The values printed in the paper, and Pearson's R of the same columns.
pub fn published() -> Result<Vec<Group>> {
    let (rows, printed) = published::table_4()?;
    let not = || Err("the paper does not separate gathers and scatters".to_owned());
    let cells = |row: &published::Row| -> [Cell; COLUMNS.len()] {
        let values = row.applications();
        std::array::from_fn(|at| values.get(at).copied().map_or_else(not, Ok))
    };
    let group = |kind| {
        let own = rows.iter().filter(|row| row.kind() == kind);
        let row = |row: &published::Row| Row {
            platform: row.platform.clone(),
            means: cells(row),
            stream: row.stream.ok_or_else(|| "not printed".to_owned()),
        };
        let group = Group::new(PUBLISHED, kind, own.map(row).collect());
        Group { printed: printed.iter().find(|row| row.kind() == kind).map(&cells), ..group }
    };
    Ok([Kind::Cpu, Kind::Gpu].map(group).into())
}
