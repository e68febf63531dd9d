//! The table of measurements, row by row.

use std::fs;
use std::io;
use std::path::Path;

use crate::program::Program;
use crate::suite::{Configuration, Suite};

/// GB/s of each program (ours first) in each round.
#[derive(Debug)]
pub struct Measured {
    pub rounds: Vec<Vec<f64>>,
}

/// A configuration's position and bandwidths.
#[derive(Debug)]
pub struct Row {
    pub suite: String,
    pub kernel: String,
    pub id: usize,
    pub measured: Measured,
}

impl Measured {
    /// The best bandwidth of a program over all rounds, from its fastest run, as Spatter counts.
    pub fn best(&self, program: usize) -> f64 {
        self.rounds.iter().map(|round| round[program]).fold(0.0, f64::max)
    }

    /// Our best bandwidth over that of Spatter's fastest setting.
    pub fn ratio(&self) -> f64 {
        self.best(0) / self.fastest().1
    }

    /// The fastest of Spatter's settings, and its bandwidth.
    pub fn fastest(&self) -> (usize, f64) {
        let programs = self.rounds.first().map_or(0, Vec::len);
        (1..programs).map(|p| (p, self.best(p))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, f64::NAN))
    }

    /// The ratio within each round, in ascending order.
    pub fn ratios(&self) -> Vec<f64> {
        let of = |round: &Vec<f64>| round[0] / round[1..].iter().copied().fold(0.0, f64::max);
        let mut ratios: Vec<f64> = self.rounds.iter().map(of).collect();
        ratios.sort_by(f64::total_cmp);
        ratios
    }
}

/// Prints rows as they arrive, and keeps them.
#[derive(Debug)]
pub struct Table<'a> {
    programs: &'a [Program],
    rows: Vec<Row>,
}

impl<'a> Table<'a> {
    pub fn new(programs: &'a [Program]) -> Table<'a> {
        Table { programs, rows: Vec::new() }
    }

    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn head(&self, suite: &str) {
        println!("\n{suite}: GB/s of the fastest run; ratio: ours over Spatter's fastest setting");
        let names: String = self.programs.iter().map(|p| format!("{:>9}", p.name)).collect();
        println!(
            "{:>3} {:<8} {:<28}{names} {:>7}  within rounds: least, median, most",
            "id", "kernel", "pattern", "ratio"
        );
    }

    pub fn row(&mut self, suite: &Suite, configuration: &Configuration, measured: Measured) {
        let cells: String = (0..self.programs.len()).map(|p| format!("{:>9.2}", measured.best(p))).collect();
        let within = measured.ratios();
        println!(
            "{}{cells} {:>7.2}  {:.2} {:.2} {:.2}",
            place(configuration),
            measured.ratio(),
            within[0],
            within[within.len() / 2],
            within[within.len() - 1]
        );
        let (suite, kernel, id) = (suite.name.clone(), configuration.kernel(), configuration.id);
        self.rows.push(Row { suite, kernel, id, measured });
    }

    /// Prints the reason if a program could not run the configuration.
    pub fn skip(&self, configuration: &Configuration, why: &anyhow::Error) {
        println!("{}   skipped: {why:#}", place(configuration));
    }

    /// Writes a CSV file with a line for each run.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        let mut text = "suite,config,kernel,round,program,gb_s\n".to_owned();
        for row in &self.rows {
            for (round, bandwidths) in row.measured.rounds.iter().enumerate() {
                for (program, bandwidth) in self.programs.iter().zip(bandwidths) {
                    let Row { suite, id, kernel, .. } = row;
                    text += &format!("{suite},{id},{kernel},{round},{},{bandwidth}\n", program.name);
                }
            }
        }
        fs::write(file, text)
    }
}

fn place(configuration: &Configuration) -> String {
    format!("{:>3} {:<8} {:<28}", configuration.id, configuration.kernel(), configuration.pattern())
}
