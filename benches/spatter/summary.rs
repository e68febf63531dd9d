//! Means over groups of configurations.

use scatterlab::stats::harmonic_mean;

use crate::program::{DEFAULT, Program};
use crate::table::Row;

/// Prints, for the gathers and for the scatters of each suite, the least ratio and the geometric mean of the
/// ratios, and each program's harmonic mean of bandwidths, which reflects the time of the whole group.
pub fn print(rows: &[Row], programs: &[Program]) {
    let names: String = programs.iter().map(|p| format!("{:>9}", p.name)).collect();
    println!(
        "\nharmonic means in GB/s; ratios to Spatter's fastest setting: least, geometric mean;\n\
              ours/openmp: of the harmonic means"
    );
    println!("{:<24}{:>4}{names} {:>7} {:>7}  ours/openmp", "", "n", "least", "mean");
    let mut groups: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        for group in [(row.suite.as_str(), row.kernel.as_str()), (&row.suite, "all")] {
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
    }
    groups.sort();
    for (suite, kernel) in groups {
        let of_suite = rows.iter().filter(|row| row.suite == suite);
        let group: Vec<&Row> = of_suite.filter(|row| kernel == "all" || row.kernel == kernel).collect();
        line(&format!("{suite} {kernel}"), &group, programs.len());
    }
    let all: Vec<&Row> = rows.iter().collect();
    if !all.is_empty() {
        line("all", &all, programs.len());
    }
}

fn line(name: &str, group: &[&Row], programs: usize) {
    let n = group.len() as f64;
    let bests = |p: usize| group.iter().map(|row| row.measured.best(p)).collect::<Vec<_>>();
    let means: Vec<f64> = (0..programs).map(|p| harmonic_mean(&bests(p)).unwrap_or(f64::NAN)).collect();
    let cells: String = means.iter().map(|mean| format!("{mean:>9.2}")).collect();
    let ratios = group.iter().map(|row| row.measured.ratio());
    let least = ratios.clone().fold(f64::INFINITY, f64::min);
    let geometric = (ratios.map(f64::ln).sum::<f64>() / n).exp();
    let default = means[0] / means[DEFAULT];
    println!("{name:<24}{:>4}{cells} {least:>7.2} {geometric:>7.2}  {default:.1}", group.len());
}
