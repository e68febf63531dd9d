//! The table as Markdown, as text and as CSV.

use anyhow::Result;

use super::rows::{COLUMNS, Cell, Column as HeadedColumn, Group, Row};
use crate::case::units::number_of;
use crate::report::cell::Cell as Field;
use crate::report::figures::mark;
use crate::report::figures::platform::Platform;
use crate::report::figures::published;
use crate::report::table::{Column, NO_UNIT, OWN_UNIT, Table};
use crate::report::unit;

/// Cells of a row: platform, source, the columns, STREAM.
const CELLS: usize = COLUMNS.len() + 3;
/// The columns that the paper prints; the others stand in a table of their own for a terminal.
const PRINTED: usize = 4;
const TITLE: &str = "Harmonic means over the applications' patterns, GB/s, and R against STREAM";
const CLAIM: &str = "lavin2020, table 4 claims: STREAM says little about Nekbone and PENNANT on CPUs (R near 0) and more \
                     about all four applications on GPUs (R near 1)";

/// The lines of the table as text.
pub struct Sheet {
    head: [String; CELLS],
    lines: Vec<[String; CELLS]>,
    notes: Vec<String>,
}

impl Sheet {
    pub fn new(groups: &[Group], platforms: &[Platform], stream: &str) -> Result<Sheet> {
        let mut head = COLUMNS.iter().map(|column| column.head.to_owned());
        let head = std::array::from_fn(|at| match at {
            0 => "Platform".to_owned(),
            1 => "Source".to_owned(),
            _ => head.next().unwrap_or_else(|| "STREAM".to_owned()),
        });
        let lines = groups.iter().flat_map(lines).collect();
        Ok(Sheet { head, lines, notes: notes(groups, platforms, stream)? })
    }

    pub fn markdown(&self) -> String {
        let notes: String = self.notes.iter().map(|note| format!("- {}\n", escaped(note))).collect();
        format!("# {TITLE}\n\n{CLAIM}\n\n{}\n{notes}", self.table().markdown())
    }

    pub fn text(&self) -> String {
        let (paper, split) = COLUMNS.split_at(PRINTED);
        let heads = |columns: &'static [HeadedColumn], around: [&[&'static str]; 2]| {
            let heads = columns.iter().map(|column| column.head);
            around[0].iter().copied().chain(heads).chain(around[1].iter().copied()).collect::<Vec<_>>()
        };
        let first = self.table().only(&heads(paper, [&["Platform", "Source"], &["STREAM"]]));
        let mut second = self.table();
        second.rows.retain(|line| line[2 + PRINTED..CELLS - 1].iter().any(|cell| cell != "n/a"));
        let second = second.only(&heads(split, [&["Platform"], &[]]));
        let empty = || vec![String::new()];
        let head = vec![TITLE.to_owned(), CLAIM.to_owned()];
        let parts = [head, empty(), first.lines(), empty(), second.lines(), empty(), self.notes.clone()];
        parts.concat().join("\n")
    }

    fn table(&self) -> Table<'_, &[String; CELLS]> {
        let column = |at: usize| {
            let unit = if at < 2 { NO_UNIT } else { OWN_UNIT };
            Column::new(self.head[at].as_str(), unit, move |line: &&[String; CELLS]| line[at].clone())
        };
        Table::new((0..CELLS).map(column).collect::<Vec<_>>(), &self.lines)
    }
}

/// Escapes `|`, which would end a Markdown cell.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}

fn lines(group: &Group) -> Vec<[String; CELLS]> {
    let source = group.source.to_owned();
    let line = |name: String, cells: &[Cell], stream: String, form: fn(f64) -> String| {
        let shown = |cell: &Cell| cell.as_ref().map_or_else(|_| "n/a".to_owned(), |v| form(*v));
        std::array::from_fn(|at| match at {
            0 => name.clone(),
            1 => source.clone(),
            _ => cells.get(at - 2).map_or_else(|| stream.clone(), shown),
        })
    };
    let stream = |row: &Row| row.stream.as_ref().map_or_else(|_| "n/a".to_owned(), |v| unit::number(*v));
    let mut lines: Vec<_> = group
        .rows
        .iter()
        .map(|row| line(row.platform.clone(), &row.means, stream(row), unit::number))
        .collect();
    let n = (0..COLUMNS.len()).map(|at| group.platforms(at)).max().unwrap_or(0);
    let kind = group.kind.words();
    let of = if n > 0 { number_of(n, kind.trim_end_matches('s')) } else { kind.to_owned() };
    let name = format!("Pearson's R, {of}");
    lines.push(line(name, &group.pearson, String::new(), coefficient));
    if let Some(printed) = &group.printed {
        lines.push(line("R as printed".to_owned(), printed, String::new(), coefficient));
    }
    lines
}

fn coefficient(r: f64) -> String {
    format!("{r:.2}").replace('-', "−")
}

fn notes(groups: &[Group], platforms: &[Platform], stream: &str) -> Result<Vec<String>> {
    let mut notes: Vec<String> = groups.iter().flat_map(missing).collect();
    notes.push(format!("STREAM here: {stream}; the paper does not say which kernel its numbers are of"));
    notes.push(
        "The paper's printed R is (n − 1)/n of Pearson's R over its own columns, with n platforms".to_owned(),
    );
    notes.extend(contradictions(groups)?);
    let threads = published::threads()?.into_iter().map(|(cpu, threads)| format!("{cpu} {threads}"));
    notes.push(format!("Threads in the paper's table 3: {}", threads.collect::<Vec<_>>().join(", ")));
    notes.extend(platforms.iter().map(|p| format!("{}: {}", p.label, p.origin())));
    Ok(notes)
}

/// `n/a: NVIDIA H200: PENNANT: 8 of 17 patterns …`, for measured groups.
fn missing(group: &Group) -> Vec<String> {
    let mut found = Vec::new();
    for row in group.rows.iter().filter(|_| group.is_measured()) {
        let cells = COLUMNS.iter().map(|column| column.head).zip(&row.means);
        let why = cells.filter_map(|(head, cell)| Some((head, cell.as_ref().err()?)));
        found.extend(why.map(|(head, why)| format!("n/a: {}: {head}: {why}", row.platform)));
        found.extend(row.stream.as_ref().err().map(|why| format!("n/a: {}: {why}", row.platform)));
    }
    let mut reasons: Vec<&String> = group.pearson.iter().filter_map(|cell| cell.as_ref().err()).collect();
    reasons.sort();
    reasons.dedup();
    let reasons = reasons.into_iter().filter(|_| group.is_measured());
    found.extend(reasons.map(|why| format!("n/a: R of the measured {}: {why}", group.kind.words())));
    found
}

/// Platforms for which the paper's two tables differ by more than a tenth.
fn contradictions(groups: &[Group]) -> Result<Option<String>> {
    let mut found = Vec::new();
    for row in groups.iter().filter(|group| !group.is_measured()).flat_map(|group| &group.rows) {
        let (Ok(here), Some(there)) = (&row.stream, published::table_3(&row.platform)?) else { continue };
        if (there / here - 1.0).abs() > 0.1 {
            found.push(format!("{} {} and {}", row.platform, unit::number(*here), unit::number(there)));
        }
    }
    let words = || format!("STREAM in the paper's tables 4 and 3, GB/s: {}", found.join("; "));
    Ok((!found.is_empty()).then(words))
}

/// One row for each line of the table; the column `row` tells its kind.
pub fn csv(groups: &[Group], stream: &str) -> Result<String> {
    let heads = COLUMNS.iter().map(|column| column.head.to_lowercase().replace(' ', "_"));
    let first = ["source", "kind", "row", "platform"].map(str::to_owned);
    let last = ["stream".to_owned(), "stream_kernel".to_owned()];
    let columns = first.into_iter().chain(heads).chain(last);
    mark::csv(columns, groups.iter().flat_map(|group| rows(group, stream)))
}

fn rows(group: &Group, stream: &str) -> Vec<Vec<Option<Field>>> {
    let number = |cell: &Cell| cell.as_ref().ok().and_then(|v| Field::number(*v));
    let row = |what: &str, platform: Option<&str>, cells: &[Cell], rate: Option<&Cell>| {
        let first = [Some(group.source), Some(group.kind.words()), Some(what), platform];
        let kernel = rate.filter(|_| group.is_measured()).map(|_| Field::text(stream));
        let first = first.into_iter().map(|word| word.map(Field::text));
        first.chain(cells.iter().map(number)).chain([rate.and_then(number), kernel]).collect()
    };
    let platforms = group.rows.iter().map(|r| row("platform", Some(&r.platform), &r.means, Some(&r.stream)));
    let pearson = std::iter::once(row("pearson", None, &group.pearson, None));
    let printed = group.printed.iter().map(|cells| row("r as printed", None, cells, None));
    platforms.chain(pearson).chain(printed).collect()
}
