//! Pictures of what a case computes, to be looked at while it runs. They are taken between samples, never while one is
//! timed, and nothing is measured or judged by them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most columns and rows of a field in a message or a file.
pub const MOST_COLUMNS: u32 = 160;
pub const MOST_ROWS: u32 = 96;

/// The most values of a curve in a message or a file.
pub const MOST_VALUES: usize = 1024;

/// A picture of a case's computation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "coded::Coded", try_from = "coded::Coded")]
pub enum Snapshot {
    /// Values along a line, such as the size of the frontier by step.
    Curve {
        /// The quantity by which the values are ordered: `step`.
        x: String,
        /// The quantity that the values count or measure: `vertices in the frontier`.
        y: String,
        /// How far two neighbours are apart on x; the first value lies at 0.
        spacing: f64,
        values: Vec<f64>,
    },
    /// Values over a plane, such as the height of water. Row 0 is drawn at the top.
    Field {
        /// The quantity that the values measure, with its unit: `height of the water, m`.
        what: String,
        /// The moment of the computation that the picture shows: `step 1200`. May be empty.
        when: String,
        columns: u32,
        rows: u32,
        /// `rows` times `columns` values, row by row; a NaN is a place without a value, such as dry land.
        values: Vec<f32>,
    },
}

mod coded;

impl Snapshot {
    /// A curve whose neighbours are one apart.
    pub fn curve(x: &str, y: &str, values: Vec<f64>) -> Snapshot {
        Snapshot::Curve { x: x.to_owned(), y: y.to_owned(), spacing: 1.0, values }
    }

    /// A snapshot that fits into a message: several neighbours of a larger one become their mean.
    #[must_use]
    pub fn bounded(self) -> Snapshot {
        self.within(MOST_COLUMNS, MOST_ROWS)
    }

    /// The same with bounds of one's own for a field.
    #[must_use]
    pub fn within(self, most_columns: u32, most_rows: u32) -> Snapshot {
        match self {
            Snapshot::Curve { x, y, spacing, values } if values.len() > MOST_VALUES => {
                let each = values.len().div_ceil(MOST_VALUES);
                let values = values.chunks(each).map(|part| part.iter().sum::<f64>() / part.len() as f64);
                Snapshot::Curve { x, y, spacing: spacing * each as f64, values: values.collect() }
            }
            Snapshot::Field { what, when, columns, rows, values }
                if columns > most_columns || rows > most_rows =>
            {
                let (smaller, lower) = (columns.min(most_columns), rows.min(most_rows));
                let values = thinned(&values, [columns, rows], [smaller, lower]);
                Snapshot::Field { what, when, columns: smaller, rows: lower, values }
            }
            fits => fits,
        }
    }

    /// True if the numbers of values agree with each other and with the bounds of a message.
    ///
    /// # Errors
    /// The mistake, in one line.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Snapshot::Curve { spacing, values, .. } => {
                if values.len() > MOST_VALUES {
                    return Err(format!("a curve has {} values, at most {MOST_VALUES}", values.len()));
                }
                let finite = spacing.is_finite() && values.iter().all(|value| value.is_finite());
                if finite { Ok(()) } else { Err("a curve has finite values only".to_owned()) }
            }
            Snapshot::Field { columns, rows, values, .. } => {
                if *columns > MOST_COLUMNS || *rows > MOST_ROWS {
                    return Err(format!(
                        "a field has {columns}×{rows} values, at most {MOST_COLUMNS}×{MOST_ROWS}"
                    ));
                }
                let wanted = u64::from(*columns) * u64::from(*rows);
                if values.len() as u64 == wanted { Ok(()) } else { Err(mismatch(values.len(), wanted)) }
            }
        }
    }
}

fn mismatch(values: usize, wanted: u64) -> String {
    format!("a field has {values} values where its columns and rows make {wanted}")
}

/// The means of the values in each cell of a coarser grid; places without a value do not count. Values that are missing
/// at the end are without a value.
fn thinned(values: &[f32], [columns, rows]: [u32; 2], [smaller, lower]: [u32; 2]) -> Vec<f32> {
    let range = |at: u32, of: u32, cells: u32| {
        let edge = |at: u32| u64::from(at) * u64::from(of) / u64::from(cells.max(1));
        edge(at)..edge(at + 1)
    };
    let cell = |row: u32, column: u32| {
        let places = range(row, rows, lower).flat_map(|y| {
            range(column, columns, smaller).map(move |x| (y * u64::from(columns) + x) as usize)
        });
        mean(places.filter_map(|at| values.get(at)).copied())
    };
    (0..lower)
        .flat_map(|row| (0..smaller).map(move |column| (row, column)))
        .map(|(y, x)| cell(y, x))
        .collect()
}

/// NaN for none.
fn mean(values: impl Iterator<Item = f32>) -> f32 {
    let (sum, count) = values
        .filter(|value| value.is_finite())
        .fold((0.0, 0_u32), |(sum, count), value| (sum + f64::from(value), count + 1));
    (sum / f64::from(count)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(columns: u32, rows: u32, values: Vec<f32>) -> Snapshot {
        Snapshot::Field { what: "height, m".to_owned(), when: "step 3".to_owned(), columns, rows, values }
    }

    fn again(snapshot: &Snapshot) -> Snapshot {
        serde_json::from_str(&serde_json::to_string(snapshot).expect("JSON")).expect("what was written")
    }

    #[test]
    fn a_curve_is_written_as_it_is() {
        let curve = Snapshot::curve("step", "vertices in the frontier", vec![1.0, 5.5, 1e7]);
        assert_eq!(again(&curve), curve);
        let text = serde_json::to_string(&curve).expect("JSON");
        assert!(text.contains("\"kind\":\"curve\"") && text.contains("[1.0,5.5,10000000.0]"), "{text}");
    }

    #[test]
    fn a_field_keeps_its_range_and_its_gaps() {
        let written = field(3, 2, vec![-1.0, 0.25, 2.0, f32::NAN, -1.0, 1.0]);
        let Snapshot::Field { values, what, when, columns, rows } = again(&written) else { panic!() };
        assert_eq!((what.as_str(), when.as_str(), columns, rows), ("height, m", "step 3", 3, 2));
        let close = |at: usize, value: f32| (values[at] - value).abs() <= 3.0 / 254.0 / 2.0 + 1e-6;
        assert!(close(0, -1.0) && close(1, 0.25) && close(2, 2.0) && close(5, 1.0), "{values:?}");
        assert!(values[3].is_nan());
        let flat = again(&field(2, 1, vec![7.0, 7.0]));
        assert_eq!(flat, field(2, 1, vec![7.0, 7.0]));
        let none = again(&field(1, 1, vec![f32::NAN]));
        assert!(matches!(none, Snapshot::Field { values, .. } if values[0].is_nan()));
    }

    #[test]
    fn a_field_that_was_read_is_written_the_same() {
        let values = (0..97 * 31).map(|i| (i as f32 * 0.37).sin()).collect();
        let once = again(&field(97, 31, values));
        assert_eq!(again(&once), once);
    }

    #[test]
    fn larger_ones_become_means() {
        let curve = Snapshot::curve("step", "y", (0..3000).map(f64::from).collect()).bounded();
        let Snapshot::Curve { spacing, ref values, .. } = curve else { panic!() };
        assert_eq!((spacing, values.len(), values[0]), (3.0, 1000, 1.0));
        let large = field(320, 192, (0..192).flat_map(|y| (0..320).map(move |x| (x + y) as f32)).collect());
        let Snapshot::Field { columns, rows, ref values, .. } = large.bounded() else { panic!() };
        assert_eq!((columns, rows, values.len()), (160, 96, 160 * 96));
        assert_eq!((values[0], values[1], values[160]), (1.0, 3.0, 3.0));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert!(field(161, 1, vec![0.0; 161]).check().is_err());
        assert!(field(2, 2, vec![0.0; 3]).check().is_err());
        assert!(field(2, 2, vec![0.0; 4]).check().is_ok());
        assert!(Snapshot::curve("x", "y", vec![f64::NAN]).check().is_err());
        assert!(Snapshot::curve("x", "y", vec![0.0; 1025]).check().is_err());
        let wrong = [
            r#"{"kind":"field","what":"","columns":2,"rows":2,"low":0,"high":1,"codes":"AAA="}"#,
            r#"{"kind":"field","what":"","columns":2,"rows":1,"low":0,"high":1,"codes":"A*=="}"#,
            r#"{"kind":"field","what":"","columns":4000000000,"rows":4000000000,"low":0,"high":1,"codes":""}"#,
            r#"{"kind":"surface"}"#,
        ];
        for text in wrong {
            assert!(serde_json::from_str::<Snapshot>(text).is_err(), "{text}");
        }
    }
}
