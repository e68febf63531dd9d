//! Styles that distinguish the lines of several runs on one chart.

use std::collections::HashSet;

use super::{RUN, letter};
use crate::report::series::ChartData;
use crate::run::Record;

/// Letter and backend of each run, if every run has only one backend: lines then correspond to each other
/// regardless of the backend.
pub(super) fn only_backends(records: &[Record]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for record in records {
        let run = record.case.params.text(RUN).unwrap_or_default().to_owned();
        let pair = (run, record.case.backend().to_owned());
        if !found.contains(&pair) {
            found.push(pair);
        }
    }
    let runs: HashSet<&String> = found.iter().map(|(run, _)| run).collect();
    if runs.len() == found.len() { found } else { Vec::new() }
}

/// Gives corresponding lines the same colour and marker in every run; runs differ by dash and by whether
/// markers are filled.
pub(super) fn styled(mut data: ChartData, runs: usize, backends: &[(String, String)]) -> ChartData {
    let parts: Vec<(usize, String)> = data.labels.iter().map(|label| parts(label, runs, backends)).collect();
    let mut lines: Vec<&String> = Vec::new();
    for (_, line) in &parts {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let style = |(run, line): &(usize, String)| {
        run * lines.len() + lines.iter().position(|l| *l == line).unwrap_or(0)
    };
    let styles: Vec<usize> = parts.iter().map(style).collect();
    let mut labels = vec![String::new(); runs * lines.len()];
    for (label, style) in std::mem::take(&mut data.labels).into_iter().zip(&styles) {
        labels[*style] = label;
    }
    data.labels = labels;
    data.lines_per_run = Some(lines.len());
    for panel in &mut data.panels {
        panel.lines.iter_mut().for_each(|line| line.style = styles[line.style]);
        // A printed value is the same beside each run, and some runs lack the case.
        for line in std::mem::take(&mut panel.published) {
            let of = styles[line.of] % lines.len();
            line.points.into_iter().for_each(|point| panel.publish(of, point));
        }
        panel.published.iter_mut().for_each(|line| {
            line.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            line.points.dedup_by_key(|point| point.x);
        });
        panel.references.iter_mut().for_each(|reference| reference.style = styles[reference.style]);
    }
    data
}

/// The run of a label and the rest of it, without a run's only backend: `B, cpu, random` is the second run's
/// `random` if that run has no other backend.
fn parts(label: &str, runs: usize, backends: &[(String, String)]) -> (usize, String) {
    let (first, rest) = label.split_once(", ").unwrap_or((label, ""));
    let known = |word: &&str| backends.iter().any(|(run, backend)| run == first && backend == word);
    let line: Vec<&str> = rest.split(", ").filter(|word| !known(word)).collect();
    ((0..runs).find(|run| letter(*run) == first).unwrap_or(0), line.join(", "))
}

#[cfg(test)]
mod tests {
    use super::super::marked;
    use super::*;
    use crate::report::series::tests::passes;
    use crate::report::series::{PublishedPoint, series};

    fn both() -> Vec<Record> {
        let (_, records) = passes();
        (0..2).flat_map(|run| records.iter().map(move |r| marked(r, run)).collect::<Vec<_>>()).collect()
    }

    #[test]
    fn a_line_has_its_place_in_every_run() {
        let (plan, _) = passes();
        let mut merged = plan.clone();
        merged.experiments[0].chart.lines.insert(0, RUN.to_owned());
        let data = styled(series(&merged, 0, &both()), 2, &only_backends(&both()));
        let lines = data.lines_per_run.expect("several runs");
        let style = |label: &str| data.labels.iter().position(|l| l == label).expect(label);
        for line in ["cpu", "cuda", "cpu, direct"] {
            let (a, b) = (style(&format!("A, {line}")), style(&format!("B, {line}")));
            assert_eq!((a < lines, b), (true, a + lines), "{line}");
        }
        let of =
            |style: usize| data.panels[0].lines.iter().find(|l| l.style == style).map(|l| l.points.len());
        assert_eq!(of(style("B, cuda")), Some(3));
    }

    #[test]
    fn a_printed_value_is_drawn_once_whichever_run_has_its_case() {
        let (plan, _) = passes();
        let mut merged = plan.clone();
        merged.experiments[0].chart.lines.insert(0, RUN.to_owned());
        let mut data = series(&merged, 0, &both());
        let style = |data: &ChartData, label: &str| data.labels.iter().position(|l| l == label).expect(label);
        for (label, x) in [("A, cuda", 2.0), ("B, cuda", 1.0), ("B, cuda", 2.0)] {
            let of = style(&data, label);
            data.panels[0].publish(of, PublishedPoint { x, y: 1.0 });
        }
        let data = styled(data, 2, &only_backends(&both()));
        let [line] = data.panels[0].published.as_slice() else { panic!("{:?}", data.panels[0].published) };
        assert_eq!(line.of, style(&data, "A, cuda"));
        assert_eq!(line.points.iter().map(|point| point.x).collect::<Vec<_>>(), [1.0, 2.0]);
    }

    #[test]
    fn the_only_backend_of_a_run_does_not_make_another_line() {
        let backends = [("A", "scalar"), ("B", "cpu")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        for (label, expected) in [
            ("A, scalar, random", (0, "random")),
            ("B, cpu, random", (1, "random")),
            ("B, cpu", (1, "")),
            ("B, scalar, random", (1, "scalar, random")),
        ] {
            assert_eq!(parts(label, 2, &backends), (expected.0, expected.1.to_owned()), "{label}");
        }
        assert!(only_backends(&both()).is_empty(), "two backends a run");
    }
}
