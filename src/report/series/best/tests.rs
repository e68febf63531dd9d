use super::*;
use crate::model::{Forecast, Prediction};
use crate::recipe::plan::Plan;
use crate::report::series::series;
use crate::report::series::tests::{passes, text, without_result};
use crate::run::Status;
use crate::stats::noise::Flag;

/// Passes 4, 1 and 2 and the direct method of `cpu`, 0 to 3, and of `cuda`, 4 to 7: a line over the backends.
fn best() -> (Plan, Vec<Record>) {
    let (mut plan, records) = passes();
    let chart = &mut plan.experiments[0].chart;
    chart.x = "backend".to_owned();
    chart.lines = Vec::new();
    chart.best_of = ["method.multipass.passes", "method"].map(str::to_owned).to_vec();
    (plan, records)
}

fn points(data: &ChartData) -> Vec<(f64, f64, usize)> {
    let lines = data.panels.iter().flat_map(|panel| &panel.lines);
    lines.flat_map(|line| line.points.iter().map(|p| (p.x, p.value.y, p.value.case))).collect()
}

#[test]
fn the_best_case_is_drawn_with_what_is_its_own() {
    let (mut plan, mut records) = best();
    (records[0].rounds[0].flags, records[1].rounds[0].flags) = (vec![Flag::Background], vec![Flag::Steal]);
    let data = series(&plan, 0, &records);
    // Of equal ones the first: one pass, and the direct method.
    assert_eq!(points(&data), [(0.0, 10.0, 1), (1.0, 100.0, 5)]);
    assert_eq!(data.labels, ["best of passes and method"]);
    assert_eq!(data.y.title(), "Effective bandwidth (GB/s), best of passes and method");
    let choices = "best of passes and method: passes 1, multipass at cpu, cuda";
    assert_eq!(data.choices().as_deref(), Some(choices));
    assert_eq!([0, 3, 4, 5].map(|case| data.drawn(case)), [1, 1, 5, 5]);
    let [cpu, _] = &data.panels[0].lines[0].points[..] else { panic!("two points") };
    assert!(cpu.value.doubt.doubtful && data.noise == ["steal"], "{:?}", data.noise);
    let own = records[1].statistics.as_ref().expect("measured");
    let [low, high] = [own.max, own.min].map(|seconds| records[1].quantity_at(Quantity::Bandwidth, seconds));
    assert_eq!(cpu.value.bar, low.zip(high).map(|(low, high)| [low, high]));
    plan.experiments[0].chart.best_of.clear();
    plan.experiments[0].chart.lines = vec!["method".to_owned(), "method.multipass.passes".to_owned()];
    let every = series(&plan, 0, &records);
    assert_eq!((every.measured().count(), every.choices(), every.drawn(0)), (8, None, 0));
}

#[test]
fn of_times_the_least_is_best() {
    let (mut plan, records) = best();
    plan.experiments[0].chart.y = Quantity::Time;
    assert_eq!(points(&series(&plan, 0, &records)), [(0.0, 0.1, 1), (1.0, 0.01, 5)]);
}

/// Only what is drawn can be hollow, doubtful, or a bar.
#[test]
fn a_case_is_missing_only_if_all_are() {
    let (plan, mut records) = best();
    records[1] = without_result(records[1].case.clone(), Status::Failed("wrong result: 3".to_owned()));
    records[0].verdict = None;
    for record in &mut records[4..] {
        let reason = Status::NotApplicable("no CUDA driver".to_owned());
        *record = without_result(record.case.clone(), reason);
    }
    let absent = |records: &[Record]| {
        let data = series(&plan, 0, records);
        data.panels[0].lines[0].absent.iter().map(|a| (a.x, a.case, a.kind)).collect::<Vec<_>>()
    };
    let data = series(&plan, 0, &records);
    assert_eq!(points(&data), [(0.0, 10.0, 3)], "the direct method is next");
    assert_eq!(absent(&records), [(1.0, 4, NoteKind::NotApplicable)]);
    let notes: Vec<String> = data.notes.iter().map(ToString::to_string).collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(notes[0].starts_with("n/a: cuda: no CUDA driver (4 cases)"), "{notes:?}");
    assert!(notes[1].starts_with("failed: cpu: wrong result: 3"), "{notes:?}");
    let failed = Status::Failed("lost".to_owned());
    records[6] = without_result(records[6].case.clone(), failed);
    assert_eq!(absent(&records), [(1.0, 6, NoteKind::Failed)]);
    records[7] = without_result(records[7].case.clone(), Status::Pending);
    assert_eq!(absent(&records), [], "it may still be measured");
}

#[test]
fn the_baseline_is_the_best_of_its_own_cases() {
    let (mut plan, mut records) = best();
    // The processor's best is with two passes, the GPU's with one.
    records.swap(1, 2);
    (records[1].case, records[2].case) = (records[2].case.clone(), records[1].case.clone());
    records[3] = without_result(records[3].case.clone(), Status::Failed("lost".to_owned()));
    let chart = &mut plan.experiments[0].chart;
    (chart.relative_to, chart.ratio) = (Some(("backend".to_owned(), text("cpu"))), true);
    let data = series(&plan, 0, &records);
    let [(_, ratio, 5)] = points(&data)[..] else { panic!("one point: {:?}", points(&data)) };
    assert!((ratio - 10.0).abs() < 1e-9, "{ratio}");
    assert_eq!(data.y.title(), "Effective bandwidth: ratio to backend cpu, best of passes and method");
}

/// The model is asked for its best, and the best measured case is compared with that.
#[test]
fn the_model_has_a_best_case_of_its_own() {
    let (mut plan, mut records) = best();
    plan.experiments[0].chart.models = Some(vec!["sector".to_owned()]);
    for (at, seconds) in [0.05, 0.2, 0.3, 0.4].into_iter().enumerate() {
        let prediction = Prediction::of("sector", seconds, vec![("all", seconds)]);
        let (profile, outcome) = (Some("here".to_owned()), Ok(prediction));
        records[at].forecasts =
            vec![Forecast { model: "sector", profile, doubt: None, chosen: None, outcome }];
    }
    let data = series(&plan, 0, &records);
    let predicted: Vec<_> = data.predicted(|_| true).map(|p| (p.x, p.y, p.case)).collect();
    assert_eq!(predicted, [(Some(0.0), 20.0, 0)]);
    assert_eq!(data.prediction(0, 1), Some(20.0));
    assert_eq!(data.models[0].accuracies.len(), 1, "of the point alone");
    let residual = data.residual().expect("measured and predicted");
    assert_eq!(points(&residual), [(0.0, -50.0, 1)]);
}
