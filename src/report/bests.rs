//! The best of each: for whatever else an experiment sweeps, which of its methods was the best; without several methods, which
//! line of its chart.

use super::quantities;
use super::series::Doubt;
use super::table::{Column, NO_UNIT, OWN_UNIT, Table};
use crate::case::units;
use crate::recipe::plan::{Axis, Experiment, Statistic};
use crate::run::Record;

/// The best of the cases that agree in everything but what is compared.
pub struct Best<'a> {
    /// What the cases agree in: `tuples 16Mi`.
    agree: String,
    /// `multipass · passes 4`.
    best: String,
    record: &'a Record,
    /// The next best, and the change of the quantity from the best to it.
    next: (String, f64),
}

/// The best of each comparison between at least two results that stand, in the plan's order.
pub fn of<'a>(experiment: &Experiment, number: usize, records: &'a [Record]) -> Vec<Best<'a>> {
    let y = experiment.chart.y;
    let (compared, others) = compared(experiment);
    let own = records.iter().filter(|record| record.case.experiment == number && record.stands());
    let mut groups: Vec<(String, Vec<(f64, &Record)>)> = Vec::new();
    for record in own {
        let Some(value) = record.drawn(&experiment.chart).filter(|value| *value > 0.0) else { continue };
        let agree = others.label(&record.case);
        match groups.iter_mut().find(|(known, _)| *known == agree) {
            Some((_, members)) => members.push((value, record)),
            None => groups.push((agree, vec![(value, record)])),
        }
    }
    let best = |(agree, mut members): (String, Vec<(f64, &'a Record)>)| {
        members.sort_by(|(a, _), (b, _)| if y.is_time() { a.total_cmp(b) } else { b.total_cmp(a) });
        let [(value, record), (next, second), ..] = members[..] else { return None };
        let next = (compared.label(&second.case), next / value - 1.0);
        Some(Best { agree, best: compared.label(&record.case), record, next })
    };
    groups.into_iter().filter_map(best).collect()
}

/// The experiment with the axes that are compared, and with the others.
fn compared(experiment: &Experiment) -> (Experiment, Experiment) {
    let method = |axis: &&Axis| axis.key == "method" || axis.key.starts_with("method.");
    let line = |axis: &&Axis| experiment.chart.lines.contains(&axis.key);
    let several = experiment.axes.iter().any(|axis| method(&axis));
    let is_compared = |axis: &&Axis| if several { method(axis) } else { line(axis) };
    let (compared, others) = experiment.axes.iter().partition::<Vec<_>, _>(is_compared);
    let with =
        |axes: Vec<&Axis>| Experiment { axes: axes.into_iter().cloned().collect(), ..experiment.clone() };
    (with(compared), with(others))
}

/// The table for people. The last column holds what speaks against the figure.
pub fn table<'a>(experiment: &'a Experiment, bests: &'a [Best<'a>]) -> Table<'a, &'a Best<'a>> {
    let y = experiment.chart.y;
    let name = match (y.is_time(), experiment.chart.statistic) {
        (true, Statistic::Median) => "median",
        (true, Statistic::Fastest) => "fastest",
        (false, _) => "rate",
    };
    let columns = [
        Column::new("for", NO_UNIT, |best: &&Best| best.agree.clone()),
        Column::new("best", NO_UNIT, |best: &&Best| best.best.clone()),
        Column::new(name, OWN_UNIT, move |best: &&Best| {
            Some(quantities::value(y, best.record.drawn(&experiment.chart)?))
        }),
        Column::new("next best", NO_UNIT, |best: &&Best| {
            format!("{} ({})", best.next.0, units::fmt_change(best.next.1))
        }),
        Column::new("", NO_UNIT, |best: &&Best| Doubt::of(best.record).words()),
    ];
    Table::new(columns, bests)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;
    use crate::recipe::plan::{Quantity, Scale};
    use crate::report::series::tests::{axis, passes, text, without_result};
    use crate::run::Status;

    fn lines(experiment: &Experiment, records: &[Record]) -> Vec<String> {
        table(experiment, &of(experiment, 0, records)).lines()
    }

    #[test]
    fn the_best_method_of_each_backend_and_the_next() {
        let (mut plan, mut records) = passes();
        let experiment = &mut plan.experiments[0];
        experiment
            .axes
            .insert(0, axis("method", "method", ["multipass", "direct"].map(text).to_vec(), Scale::Category));
        experiment.chart.y = Quantity::Time;
        records[1] = without_result(records[1].case.clone(), Status::Failed("lost".to_owned()));
        let wanted = [
            "for   best                 median  next best",
            "cpu   direct               100 ms  multipass · passes 2 (+100.0 %)",
            "cuda  multipass · passes 1  10.0 ms  direct (+0.0 %)",
        ];
        let found = lines(experiment, &records);
        for (wanted, found) in wanted.iter().zip(&found) {
            let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(found), words(wanted));
        }
        assert_eq!(found.len(), wanted.len());
    }

    #[test]
    fn without_several_methods_lines_are_compared_and_one_is_not() {
        let (plan, records) = passes();
        let points: Vec<Record> =
            records.iter().filter(|r| r.case.params.text("method") != Some("direct")).cloned().collect();
        let mut experiment = plan.experiments[0].clone();
        experiment.axes[0].key = "passes".to_owned();
        let rename = |record: &Record| {
            let mut record = record.clone();
            let passes = record.case.params.0.remove("method.multipass.passes");
            record.case.params = record.case.params.clone().with("passes", passes.unwrap_or(Value::Int(0)));
            record
        };
        let points: Vec<Record> = points.iter().map(rename).collect();
        let found = of(&experiment, 0, &points);
        assert!(found.iter().all(|best| best.best == "cuda" && (best.next.1 + 0.9).abs() < 1e-9));
        assert_eq!(found.len(), 3);
        assert!(of(&experiment, 0, &points[..3]).is_empty(), "nothing is compared with one backend");
    }
}
