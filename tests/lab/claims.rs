//! Every figure of `docs/claims.md`, computed anew from the committed runs that it names. The page says what its
//! expressions mean.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use scatterlab::report::{Origin, csv};
use scatterlab::run::stored::Stored;

/// A case with a result: its run, and the cells of its row that are not empty, by column.
#[derive(Clone)]
struct Row {
    run: String,
    cells: HashMap<String, String>,
}

/// The finished cases of a run, and the columns that hold parameters.
type Run = (Vec<Row>, Vec<String>);

fn read(run: &str) -> Run {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports").join(run);
    let stored = Stored::open(&folder).expect("a committed run");
    let origin = Origin::from(&stored.manifest);
    let table = csv::table(&origin, stored.ledger.records(), stored.ledger.references());
    let named = |row| {
        let cells = table.columns.iter();
        let cells = cells.filter_map(|column| Some((column.name.to_string(), column.cell(row)?.to_string())));
        Row { run: run.to_owned(), cells: cells.collect() }
    };
    let done = |row: &Row| row.cells["status"] == "done";
    let rows = table.rows.iter().map(named).filter(done).collect();
    let names = table.columns.iter().map(|column| column.name.to_string());
    let own = names.skip_while(|name| name != "backend").take_while(|name| name != "samples");
    let own = own.filter(|name| !name.starts_with("resolved."));
    (rows, ["experiment", "primitive"].map(str::to_owned).into_iter().chain(own).collect())
}

fn number(text: &str) -> Option<f64> {
    let power = text.strip_prefix("2^").and_then(|power| power.parse::<i32>().ok());
    power.map(|power| 2f64.powi(power)).or_else(|| text.parse().ok())
}

struct Condition<'a> {
    column: &'a str,
    operator: &'a str,
    value: &'a str,
}

impl Condition<'_> {
    fn holds(&self, row: &Row) -> bool {
        let cell = row.cells.get(self.column).map(String::as_str);
        let numbers = || Some((number(cell?)?, number(self.value)?));
        let is =
            |one: &str| cell == Some(one) || (number(one).is_some() && cell.and_then(number) == number(one));
        match self.operator {
            "=" => self.value.split('|').any(is),
            "!=" => !self.value.split('|').any(is),
            ">=" => numbers().is_some_and(|(cell, least)| cell >= least),
            _ => numbers().is_some_and(|(cell, most)| cell <= most),
        }
    }
}

fn selection(text: &str) -> Vec<Condition<'_>> {
    text.split_whitespace().map(condition).collect()
}

fn condition(word: &str) -> Condition<'_> {
    let found =
        ["!=", ">=", "<=", "="].iter().find_map(|operator| Some((*operator, word.split_once(operator)?)));
    let (operator, (column, value)) = found.unwrap_or_else(|| panic!("{word}: not a condition"));
    Condition { column, operator, value }
}

/// The values that an expression is about: cells of a column, or quotients of pairs.
fn values(runs: &[&Run], column: &str, selections: &str) -> Vec<f64> {
    let all: Vec<&Row> = runs.iter().flat_map(|(rows, _)| rows).collect();
    let parameters: Vec<&String> = runs.iter().flat_map(|(_, own)| own).collect();
    let (pair, both) = selections.split_once(" where ").unwrap_or((selections, ""));
    let (first, second) = pair.split_once(" over ").map_or((pair, None), |(a, b)| (a, Some(b)));
    let pick = |text: &str| -> Vec<&Row> {
        let conditions: Vec<Condition> = selection(text).into_iter().chain(selection(both)).collect();
        all.iter().copied().filter(|row| conditions.iter().all(|condition| condition.holds(row))).collect()
    };
    let value = |row: &Row| -> f64 {
        let cell = row.cells.get(column).unwrap_or_else(|| panic!("{}: no {column}", row.cells["case"]));
        cell.parse().expect("a number")
    };
    let above = pick(first);
    let Some(second) = second else { return above.into_iter().map(value).collect() };
    let below = pick(second);
    let named: Vec<&str> = selection(first).iter().chain(&selection(second)).map(|c| c.column).collect();
    let agree = |a: &Row, b: &Row| {
        let free = |name: &str| named.contains(&name);
        let same = |name: &str| match (a.cells.get(name), b.cells.get(name)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        a.run == b.run && parameters.iter().all(|name| free(name) || same(name))
    };
    let alone = |row: &&&Row, others: &[&Row]| !others.iter().any(|other| agree(row, other));
    let left = above.iter().find(|row| alone(row, &below)).or(below.iter().find(|row| alone(row, &above)));
    assert!(left.is_none(), "no pair for {:?}", left.map(|row| &row.cells["case"]));
    let pairs = above.iter().flat_map(|a| below.iter().filter(|b| agree(a, b)).map(|b| (*a, *b)));
    pairs.map(|(a, b)| value(a) / value(b)).collect()
}

/// What an expression gives: the numbers of its figure, and how many cases or pairs are behind them.
fn computed(runs: &[&Run], expression: &str) -> (Vec<f64>, usize) {
    let (head, selections) = expression.split_once(" of ").expect("… of …");
    let (fold, column) = head.split_once(' ').expect("a word and a column");
    let values = values(runs, column, selections);
    assert!(!values.is_empty(), "nothing is selected");
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let figure = match fold {
        "only" if values.len() == 1 => vec![least],
        "least" => vec![least],
        "greatest" => vec![greatest],
        "range" => vec![least, greatest],
        "mean" => vec![values.iter().sum::<f64>() / values.len() as f64],
        _ => panic!("{} values: {expression}", values.len()),
    };
    (figure, values.len())
}

/// The numbers as the page writes them: in its unit, and with as many digits as it has.
fn written(figure: &[f64], page: &str) -> String {
    const UNITS: [(&str, f64); 6] =
        [(" %", 1e-2), (" ms", 1e-3), (" µs", 1e-6), (" GB/s", 1.0), (" G/s", 1e9), ("", 1.0)];
    let ends = |(unit, _): &&(&str, f64)| page.ends_with(unit);
    let (unit, scale) = UNITS.iter().find(ends).expect("the last always fits");
    let first = page.split(' ').next().unwrap_or_default();
    let digits = first.split_once('.').map_or(0, |(_, digits)| digits.len());
    let numbers: Vec<String> = figure.iter().map(|value| format!("{:.digits$}", value / scale)).collect();
    format!("{}{unit}", numbers.join(" to "))
}

/// The cells of a table's row, in which `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// How the page follows runs that have been measured anew.
const ANEW: &str = "rewrite the figures: SCATTERLAB_WRITE_DOCS=1 cargo test --test lab claims";

#[test]
fn every_figure_follows_from_its_run() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/claims.md");
    let page = fs::read_to_string(&path).expect("it");
    let mut rewritten = page.clone();
    let claims = page.lines().filter(|line| line.starts_with("| ") && line.contains("](../reports/"));
    let (mut wrong, mut count, mut stored) = (Vec::new(), 0, HashMap::new());
    for line in claims {
        let row = cells(line);
        let [claim, runs, expression, of, figure] = &row[..] else { panic!("not five cells: {line}") };
        let names = runs.split(", ").filter_map(|link| Some(link.strip_prefix('[')?.split_once(']')?.0));
        let names: Vec<String> = names.map(str::to_owned).collect();
        for name in &names {
            stored.entry(name.clone()).or_insert_with(|| read(name));
        }
        let runs: Vec<&Run> = names.iter().map(|name| &stored[name]).collect();
        let (found, cases) = computed(&runs, expression.trim_matches('`'));
        let found = written(&found, figure);
        if (&found, &cases.to_string()) != (figure, of) {
            wrong.push(format!("{claim}: the page says {figure} of {of} cases, the run {found} of {cases}"));
            let behind = |of: &str, figure: &str| format!("| {of} | {figure} |");
            let anew = line.replace(&behind(of, figure), &behind(&cases.to_string(), &found));
            rewritten = rewritten.replace(line, &anew);
        }
        count += 1;
    }
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        return fs::write(path, rewritten).expect("written");
    }
    assert!(wrong.is_empty(), "{}\n{ANEW}", wrong.join("\n"));
    assert!(count > 80, "{count} claims were found");
}

/// Figures of measurements have one page, where they are computed anew.
#[test]
fn the_readme_claims_no_figures_of_its_own() {
    let readme = include_str!("../../README.md");
    let units = ["GB/s", "G/s", " ms", " µs", " %", "times as fast"];
    let found: Vec<&str> =
        readme.lines().filter(|line| units.iter().any(|unit| line.contains(unit))).collect();
    assert!(found.is_empty(), "{found:?}");
}
