//! What statements are about: the cases of runs, and the rows of printed tables, by the names of their columns.

use std::collections::HashMap;

use crate::case::{Transfer, published};
use crate::model::accuracy;
use crate::recipe::paper::{Selection, number};
use crate::recipe::plan::Quantity;
use crate::report::copies::{self, Copies};
use crate::report::csv;
use crate::report::judge::Side;
use crate::report::origin::Origin;
use crate::report::svg::device_name;
use crate::run::{Record, Status};
use crate::stats::comparison::FEWEST;
use crate::stats::median;

/// A case of a run, or a row of a printed table.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// Pairs are of one source: a run, a machine, or a platform of a table.
    pub source: usize,
    /// Pairs are of one experiment, unless it is named or the rows are of several runs.
    experiment: Option<usize>,
    /// The run among those that are judged together, and the experiment.
    pub place: (usize, usize),
    /// How messages call it.
    pub name: String,
    /// The device that measured it.
    pub device: String,
    /// Parameters by their full keys.
    parameters: Vec<Parameter>,
    /// All columns of the case's table.
    cells: HashMap<String, String>,
    measured: Measured<'a>,
}

/// A parameter of a row.
#[derive(Clone, Debug)]
struct Parameter {
    /// `multisplit.method.multipass.passes`.
    key: String,
    value: String,
}

impl Parameter {
    /// The key without the primitive, or the whole key of a printed table's column.
    fn own(&self) -> &str {
        self.key.split_once('.').map_or(&self.key, |(_, own)| own)
    }
}

/// Where a row's values come from.
#[derive(Clone, Debug)]
enum Measured<'a> {
    Rounds(&'a Record, Roofs),
    /// Exactly what its cells say.
    Printed,
    /// The case did not end with a result that can be judged.
    Undecided(String),
    /// The case cannot run on this machine.
    NotApplicable(String),
}

/// What does not depend on a round.
#[derive(Clone, Copy, Debug)]
struct Roofs {
    /// GB/s of the run's own copies.
    copy: Option<f64>,
    /// Seconds at the speed of light, and at the ranking roof.
    light: Option<f64>,
    ranking: Option<f64>,
}

/// The values of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// At the median time.
    pub typical: f64,
    /// Of each round; empty if the value is exact.
    pub rounds: Vec<f64>,
    /// Whether every round is in doubt.
    pub doubtful: bool,
    /// Why there is no interval.
    pub few: Option<String>,
}

/// Why a row has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    Undecided(String),
    NotApplicable(String),
    /// Neither a quantity nor a column.
    Unknown(String),
}

/// Quantities by name, besides the columns.
pub const QUANTITIES: [&str; 7] =
    ["time", "rate", "bandwidth", "fastest", "with-transfer", "transfer-share", "copy-share"];

/// The cases of a run's experiments that `is_wanted`. `run` is its number; `together` makes pairs of cases of several runs
/// and experiments of one machine.
pub fn of_run(side: Side<'_>, run: usize, together: bool, is_wanted: impl Fn(usize) -> bool) -> Vec<Row<'_>> {
    let origin = Origin::from(side.manifest);
    of_records(&origin, side.ledger.records(), side.ledger.references(), (run, together), is_wanted)
}

/// The same of records.
pub fn of_records<'a>(
    origin: &Origin<'a>,
    records: &'a [Record],
    references: &Copies,
    (run, together): (usize, bool),
    is_wanted: impl Fn(usize) -> bool,
) -> Vec<Row<'a>> {
    let table = csv::table(origin, records, references);
    let mut rows = Vec::new();
    let mut copies_of = HashMap::new();
    for (record, of) in records.iter().zip(&table.rows) {
        if !is_wanted(record.case.experiment) {
            continue;
        }
        let cell = |column: &crate::report::table::Column<_>| {
            Some((column.name.to_string(), column.cell(of)?.to_string()))
        };
        let cells: HashMap<String, String> = table.columns.iter().filter_map(cell).collect();
        let seconds = |name: &str| cells.get(name).and_then(|text| text.parse().ok());
        let backend = record.case.place().0;
        let experiment = origin.plan.experiments.get(record.case.experiment);
        let roofs = Roofs {
            copy: *copies_of
                .entry(backend)
                .or_insert_with(|| copies::rate(origin.plan, references, backend).ok()),
            light: seconds("speed_of_light_s"),
            ranking: seconds("ranking_s"),
        };
        let prefix = &record.case.primitive;
        let parameter = |(key, value): (&String, &crate::case::Value)| Parameter {
            key: if key == "backend" || key.starts_with("backend.") {
                key.clone()
            } else {
                format!("{prefix}.{key}")
            },
            value: value.to_string(),
        };
        rows.push(Row {
            source: if together { 0 } else { run },
            experiment: (!together).then_some(record.case.experiment),
            place: (run, record.case.experiment),
            name: experiment.map_or_else(|| record.case.id.clone(), |one| one.label(&record.case)),
            device: device_name(record.case.place(), origin.environment, origin.devices).to_owned(),
            parameters: record.case.params.0.iter().map(parameter).collect(),
            measured: measured(record, roofs),
            cells,
        });
    }
    rows
}

fn measured<'a>(record: &'a Record, roofs: Roofs) -> Measured<'a> {
    match &record.status {
        Status::NotApplicable(why) => Measured::NotApplicable(why.clone()),
        Status::Failed(why) => Measured::Undecided(format!("a case failed: {why}")),
        Status::Pending => Measured::Undecided("a case was not measured".to_owned()),
        Status::Partial => Measured::Undecided("a case is partial".to_owned()),
        Status::Done if !record.stands() => Measured::Undecided("a case is not certified".to_owned()),
        Status::Done => Measured::Rounds(record, roofs),
    }
}

/// The rows of a printed table. The source is the number of the platform among `platforms`.
pub fn of_table(table: &published::Table, platforms: &[String]) -> Vec<Row<'static>> {
    let row = |row: &published::Row| {
        let source = platforms.iter().position(|name| *name == row.platform)?;
        let own = row.parameters().filter(|(key, _)| *key != "primitive");
        let parameters = own.map(|(key, value)| Parameter { key: key.to_owned(), value: value.to_owned() });
        let name: Vec<&str> = row.parameters().map(|(_, value)| value).collect();
        Some(Row {
            source,
            experiment: None,
            place: (source, 0),
            name: name.join(" "),
            device: row.platform.clone(),
            parameters: parameters.collect(),
            cells: row.cells.iter().cloned().collect(),
            measured: Measured::Printed,
        })
    };
    table.rows.iter().filter_map(row).collect()
}

impl Row<'_> {
    /// The cell of a column: of a fixed one such as `backend`, of a parameter by its full key or by its last words, or of
    /// any other column of the table.
    ///
    /// # Errors
    /// Last words that several parameters of the row end with; the error names them.
    pub fn cell(&self, name: &str) -> Result<Option<&str>, String> {
        match self.parameter(name)? {
            Some(parameter) => Ok(Some(&parameter.value)),
            None => Ok(self.cells.get(name).map(String::as_str)),
        }
    }

    fn parameter(&self, name: &str) -> Result<Option<&Parameter>, String> {
        // A fixed column hides a parameter of the same name.
        if ["primitive", "experiment", "case", "status", "cache"].contains(&name) {
            return Ok(None);
        }
        let whole = |parameter: &&Parameter| parameter.key == name || parameter.own() == name;
        if let Some(found) = self.parameters.iter().find(whole) {
            return Ok(Some(found));
        }
        let ends = |key: &str| key.strip_suffix(name).is_some_and(|before| before.ends_with('.'));
        let without_last =
            |key: &str| key.rsplit_once('.').map_or(String::new(), |(first, _)| first.to_owned());
        let mut found: Vec<&Parameter> = self.parameters.iter().filter(|one| ends(&one.key)).collect();
        if found.is_empty() {
            // The main parameter of a variant is also called by the variant's name.
            found = self.parameters.iter().filter(|one| ends(&without_last(&one.key))).collect();
            // Of several parameters of a variant, the table says which one is the main one.
            found.truncate(if found.len() > 1 { 0 } else { 1 });
        }
        match found.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(one)),
            several => {
                let keys: Vec<&str> = several.iter().map(|one| one.key.as_str()).collect();
                Err(format!("`{name}` is ambiguous; accepted: {}", keys.join(", ")))
            }
        }
    }

    /// Whether the row meets all conditions.
    ///
    /// # Errors
    /// As for [`cell`](Self::cell).
    pub fn is_selected(&self, selection: &Selection) -> Result<bool, String> {
        for condition in &selection.0 {
            if !condition.holds(self.cell(&condition.column)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether two rows are of one source and agree in every parameter that both have, except those that `free` names. Parameters
    /// of two primitives are the same if they are called the same: the `tuples` of a gather and of a scatter.
    pub fn agrees(&self, other: &Row, free: &[&str]) -> bool {
        let is_free = |own: &str| {
            let named = |row: &Row| {
                free.iter().any(|name| row.parameter(name).ok().flatten().is_some_and(|one| one.own() == own))
            };
            named(self) || named(other)
        };
        // Hot cases lack the parameter `cache`; the column says what they are.
        let fixed =
            |column: &str| free.contains(&column) || self.cells.get(column) == other.cells.get(column);
        let same = |one: &Parameter| {
            let theirs = other.parameters.iter().find(|theirs| theirs.own() == one.own());
            theirs.is_none_or(|theirs| theirs.value == one.value) || is_free(one.own())
        };
        let apart = self.experiment.is_some() && self.experiment != other.experiment;
        self.source == other.source
            && (!apart || free.contains(&"experiment"))
            && fixed("primitive")
            && fixed("cache")
            && self.parameters.iter().all(same)
    }

    /// Whether the row has such a column, parameter or quantity.
    pub fn knows(&self, name: &str) -> bool {
        QUANTITIES.contains(&name)
            || self.cells.contains_key(name)
            || !matches!(self.parameter(name), Ok(None))
    }

    /// The names of the row's parameters, by their last words, and of what is no parameter but may be selected by.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let last = |one: &'_ Parameter| one.key.rfind('.').map_or(0, |at| at + 1);
        ["primitive", "experiment"]
            .into_iter()
            .chain(self.parameters.iter().map(move |one| &one.key[last(one)..]))
    }

    /// The values of a quantity or of a column.
    ///
    /// # Errors
    /// Why there are none.
    pub fn series(&self, name: &str) -> Result<Series, Missing> {
        match &self.measured {
            Measured::Printed => self.exact(name),
            Measured::Undecided(why) => Err(Missing::Undecided(why.clone())),
            Measured::NotApplicable(why) => Err(Missing::NotApplicable(why.clone())),
            Measured::Rounds(record, roofs) => self.of_rounds(name, record, roofs),
        }
    }

    /// What a cell says, without an interval.
    fn exact(&self, name: &str) -> Result<Series, Missing> {
        let column = match name {
            "fastest" if self.cells.contains_key("min_s") => "min_s",
            "time" | "fastest" => "median_s",
            "rate" => "throughput_elem_s",
            "bandwidth" => "effective_gb_s",
            other => other,
        };
        let cell = |column: &str| number(self.cells.get(column)?);
        // A table may print times instead of rates, or the other way round.
        let elements = || ["keys", "elements", "tuples"].into_iter().find_map(cell);
        let typical = cell(column).or_else(|| match column {
            "median_s" => Some(elements()? / cell("throughput_elem_s")?),
            "throughput_elem_s" => Some(elements()? / cell("median_s")?),
            _ => None,
        });
        let typical = typical.ok_or_else(|| match self.knows(name) {
            true => Missing::Undecided(format!("a row has no number in `{name}`")),
            false => Missing::Unknown(name.to_owned()),
        })?;
        Ok(Series { typical, rounds: Vec::new(), doubtful: false, few: None })
    }

    fn of_rounds(&self, name: &str, record: &Record, roofs: &Roofs) -> Result<Series, Missing> {
        let at = |round: &crate::engine::protocol::RoundResult| -> Option<f64> {
            let seconds = median(&round.samples)?;
            let transfer = || match record.case.place().0 {
                "cuda" => round.transfer.as_ref().map(Transfer::seconds),
                _ => Some(0.0),
            };
            let resolved = |key: &str| {
                let found =
                    round.resolved.iter().find(|(own, _)| own == key || own.ends_with(&format!(".{key}")));
                number(&found?.1.to_string())
            };
            match name {
                "time" | "median_s" => Some(seconds),
                "rate" | "throughput_elem_s" => record.quantity_at(Quantity::Throughput, seconds),
                "bandwidth" | "effective_gb_s" => record.quantity_at(Quantity::Bandwidth, seconds),
                "system_gb_s" => record.quantity_at(Quantity::SystemBandwidth, seconds),
                "gflops" => Some(record.quantity_at(Quantity::Flops, seconds)? / 1e9),
                "fastest" | "min_s" => round.samples.iter().copied().reduce(f64::min),
                "with-transfer" => Some(seconds + transfer()?),
                "transfer-share" => transfer().map(|transfer| transfer / (seconds + transfer)),
                "copy-share" => Some(record.quantity_at(Quantity::SystemBandwidth, seconds)? / roofs.copy?),
                "speed_of_light_share" => Some(roofs.light? / seconds),
                "ranking_share" => Some(roofs.ranking? / seconds),
                name => match (name.strip_suffix(".accuracy"), name.strip_prefix("resolved.")) {
                    (Some(model), _) => Some(accuracy(seconds, record.prediction(model)?.seconds)),
                    (_, Some(key)) => resolved(key),
                    _ => None,
                },
            }
        };
        let rounds: Vec<f64> = record.rounds.iter().filter_map(at).collect();
        let few = (record.rounds.len() < FEWEST).then(|| {
            format!("a case has {} of the {FEWEST} rounds that an interval needs", record.rounds.len())
        });
        if rounds.len() < record.rounds.len() || rounds.is_empty() {
            return match (self.exact(name), QUANTITIES.contains(&name)) {
                // What the table says of all rounds has no interval.
                (Ok(series), false) => Ok(Series { few, ..series }),
                (Err(Missing::Unknown(name)), _) => Err(Missing::Undecided(format!("there is no `{name}`"))),
                _ => Err(Missing::Undecided(format!("a case has no `{name}`"))),
            };
        }
        let doubtful = record.rounds.iter().all(|round| !round.flags.is_empty());
        // What the table says of all samples is not what the median round says.
        let typical = self.exact(name).map(|all| all.typical).ok().or(median(&rounds)).unwrap_or_default();
        Ok(Series { typical, rounds, doubtful, few })
    }
}
