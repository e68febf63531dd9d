//! Hand-made plans and records, also used by other tests of the report.

use super::*;
use crate::case::{Case, Measure, Params, Value, Verdict, Work};
use crate::engine::protocol::{Event, Ranked, RoundResult};
use crate::recipe::plan::{Axis, Ceiling, Chart, ChartScale, Experiment, Plan, Statistic};
use crate::run::{Record, Status};
use crate::stats::noise::Flag;
use crate::stats::statistics;

pub fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

pub fn axis(key: &str, name: &str, values: Vec<Value>, scale: Scale) -> Axis {
    Axis {
        key: key.to_owned(),
        name: name.to_owned(),
        values,
        scale,
        bytes: name == "tuple",
        maps: Vec::new(),
    }
}

pub fn plan(axes: Vec<Axis>, x: &str, lines: &[&str]) -> Plan {
    let lines = lines.iter().map(|s| s.to_string()).collect();
    let (x, y, panels) = (x.to_owned(), Quantity::Bandwidth, vec![]);
    let chart = Chart {
        x,
        y,
        lines,
        panels,
        statistic: Default::default(),
        best_of: Vec::new(),
        scale: Default::default(),
        relative_to: None,
        ratio: false,
        ceiling: None,
        models: None,
        bars: None,
        overlay: None,
    };
    let experiment = Experiment {
        title: "A sweep".to_owned(),
        slug: "a-sweep".to_owned(),
        primitive: "scatter".to_owned(),
        paper: None,
        axes,
        chart,
        measure: Measure::fixed(1, 3),
    };
    let recipe_hash = "0123456789abcdef0123456789abcdef".to_owned();
    Plan { title: "Recipe".to_owned(), recipe_hash, experiments: vec![experiment], ..Plan::default() }
}

/// A certified record of 1 GB of traffic (10^8 elements) in about `seconds`.
pub fn record(case: Case, seconds: f64) -> Record {
    let samples = vec![seconds * 0.9, seconds, seconds * 1.2];
    let verdict = Some(Verdict::Certified { checked: 100_000_000 });
    let round = RoundResult {
        case: case.id.clone(),
        round: 0,
        samples,
        batch: 1,
        verdict: verdict.clone(),
        memory: 3 << 30,
        resolved: vec![],
        started: 1_760_000_000.25,
        ..RoundResult::default()
    };
    let work = Work {
        passes: vec![],
        elements: 100_000_000,
        effective_bytes: 1_000_000_000,
        system_bytes: 1_500_000_000,
        footprint: 0,
        scratch: 0,
    };
    let statistics = statistics([round.samples.as_slice()].into_iter());
    let (rounds, status) = (vec![round], Status::Done);
    let set_aside = Vec::new();
    let (work, annotations, stop) = (Some(work), Vec::new(), None);
    let (wanted, forecasts, ranked) = (0, Vec::new(), Vec::new());
    Record {
        case,
        repeats: None,
        work,
        rounds,
        set_aside,
        superseded: Vec::new(),
        verdict,
        status,
        stop,
        wanted,
        statistics,
        annotations,
        forecasts,
        ranked,
    }
}

/// A record without a result.
pub fn without_result(case: Case, status: Status) -> Record {
    Record { status, statistics: None, verdict: None, rounds: vec![], ..record(case, 1.0) }
}

pub fn case(params: &[(&str, Value)]) -> Case {
    let params = params.iter().fold(Params::default(), |p, (k, v)| p.with(k, v.clone()));
    let id = format!("{:012x}", params.0.iter().map(|(k, v)| format!("{k}{v}").len()).sum::<usize>());
    let primitive = "scatter".to_owned();
    Case { id, experiment: 0, primitive, params, seed: 1, not_applicable: None }
}

/// Passes 1, 2, 4 on two backends, and the direct method once per backend.
pub fn passes() -> (Plan, Vec<Record>) {
    let backends = || vec![text("cpu"), text("cuda")];
    let passes: Vec<Value> = [1, 2, 4].map(Value::Int).to_vec();
    let axes = vec![
        axis("method.multipass.passes", "passes", passes, Scale::Log),
        axis("backend", "backend", backends(), Scale::Category),
    ];
    let plan = plan(axes, "method.multipass.passes", &["backend"]);
    let mut records = Vec::new();
    for (backend, slow) in [("cpu", 0.1), ("cuda", 0.01)] {
        let with = |method: &str| vec![("backend", text(backend)), ("method", text(method))];
        for n in [4, 1, 2] {
            let mut params = with("multipass");
            params.push(("method.multipass.passes", Value::Int(n)));
            records.push(record(case(&params), slow * n as f64));
        }
        records.push(record(case(&with("direct")), slow));
    }
    (plan, records)
}

#[test]
fn a_line_per_backend_ascending_in_x() {
    let (plan, records) = passes();
    let data = series(&plan, 0, &records);
    assert_eq!(data.panels.len(), 1);
    let lines = &data.panels[0].lines;
    assert_eq!(lines.iter().map(|l| l.label.as_str()).collect::<Vec<_>>(), ["cpu", "cuda"]);
    let xs: Vec<f64> = lines[0].points.iter().map(|p| p.x).collect();
    assert_eq!(xs, [1.0, 2.0, 4.0]);
    let first = lines[0].points[0].value;
    assert_eq!((first.y, first.case, first.certified), (10.0, 1, true));
    assert!((first.y_min - 1.0 / 0.12).abs() < 1e-9 && (first.y_max - 1.0 / 0.09).abs() < 1e-9);
}

/// The fastest of samples is no mean of rounds, so it has no interval; a change is against the fastest of the baseline, too.
#[test]
fn points_may_be_the_fastest_samples() {
    let (mut plan, records) = passes();
    plan.experiments[0].chart.statistic = Statistic::Fastest;
    let data = series(&plan, 0, &records);
    assert_eq!(data.y.title(), "Effective bandwidth (GB/s), best of samples");
    let first = data.panels[0].lines[0].points[0].value;
    assert!((first.y - 1.0 / 0.09).abs() < 1e-9 && first.y == first.y_max && first.interval.is_none());
    assert_eq!(data.panels[0].lines[0].label, "cpu");
    let slower = Record { statistics: statistics([[0.5, 0.9].as_slice()].into_iter()), ..records[1].clone() };
    let changed: Vec<Record> =
        records.iter().take(1).chain([&slower]).chain(&records[2..]).cloned().collect();
    plan.experiments[0].chart.relative_to = Some(("method".to_owned(), text("direct")));
    plan.experiments[0].chart.ratio = true;
    let data = series(&plan, 0, &changed);
    let ratio = data.panels[0].lines[0].points[0].value.y;
    assert!((ratio - 0.09 / 0.5).abs() < 1e-9, "{ratio}");
}

#[test]
fn a_method_without_the_x_key_is_a_reference() {
    let (plan, records) = passes();
    let data = series(&plan, 0, &records);
    let references = &data.panels[0].references;
    let labels: Vec<&str> = references.iter().map(|r| r.label.as_str()).collect();
    assert_eq!(labels, ["cpu, direct", "cuda, direct"]);
    assert_eq!(references[1].value.y, 100.0);
    assert_eq!(data.labels[references[1].style], "cuda, direct");
}

#[test]
fn what_did_not_work_is_a_note_and_never_a_point() {
    let (plan, mut records) = passes();
    for (at, record) in records.iter_mut().enumerate() {
        if record.case.backend() == "cuda" {
            let status = Status::NotApplicable("no CUDA driver".to_owned());
            *record = without_result(record.case.clone(), status);
        } else if at == 0 {
            *record = without_result(record.case.clone(), Status::Failed("wrong result: 3".to_owned()));
        }
    }
    let data = series(&plan, 0, &records);
    let notes: Vec<String> = data.notes.iter().map(Note::to_string).collect();
    assert_eq!(notes, ["n/a: cuda: no CUDA driver (4 cases)", "failed: cpu: wrong result: 3 (passes 4)"]);
    assert_eq!(data.measured().map(|m| m.case).collect::<Vec<_>>(), [1, 2, 3]);
    let absent = |line: &Line| line.absent.iter().map(|a| (a.x, a.case, a.kind)).collect::<Vec<_>>();
    assert_eq!(absent(&data.panels[0].lines[0]), [(4.0, 0, NoteKind::Failed)]);
    let cuda = [(1.0, 5), (2.0, 6), (4.0, 4)].map(|(x, case)| (x, case, NoteKind::NotApplicable));
    assert_eq!(absent(&data.panels[0].lines[1]), cuda);
    assert_eq!(data.note_of(5).map(|n| n.reason.as_str()), Some("no CUDA driver"));
    assert_eq!(data.note_of(1), None);
    // The range of the sweep and the styles of lines do not depend on the results so far.
    assert_eq!(data.labels, series(&plan, 0, &passes().1).labels);
    assert_eq!(data.x.values, [1.0, 2.0, 4.0]);
}

#[test]
fn panels_split_by_their_key() {
    let (mut plan, records) = passes();
    plan.experiments[0].chart.panels = vec!["backend".to_owned()];
    plan.experiments[0].chart.lines = vec!["method".to_owned()];
    let data = series(&plan, 0, &records);
    let titles: Vec<&str> = data.panels.iter().map(|p| p.title.as_str()).collect();
    assert_eq!(titles, ["backend = cpu", "backend = cuda"]);
    assert_eq!(data.labels, ["multipass", "direct"]);
    assert_eq!(data.panels[1].references[0].label, "direct");
}

#[test]
fn changes_are_against_the_case_that_shares_the_rest() {
    let (mut plan, records) = passes();
    plan.experiments[0].chart.relative_to = Some(("method".to_owned(), text("direct")));
    let data = series(&plan, 0, &records);
    assert_eq!(data.y.title(), "Effective bandwidth: change against method direct");
    let lines = &data.panels[0].lines;
    let ys: Vec<f64> = lines[1].points.iter().map(|p| p.value.y).collect();
    assert_eq!(ys.iter().map(|y| y.round()).collect::<Vec<_>>(), [0.0, -50.0, -75.0]);
    assert!(data.panels[0].references.is_empty(), "the baseline is the zero line");
    assert_eq!(data.y_scale().unit, Unit::Percent);
}

#[test]
fn without_a_baseline_there_is_no_change() {
    let (mut plan, mut records) = passes();
    plan.experiments[0].chart.relative_to = Some(("method".to_owned(), text("direct")));
    let status = Status::Failed("lost".to_owned());
    records[3] = without_result(records[3].case.clone(), status);
    let data = series(&plan, 0, &records);
    let notes: Vec<String> = data.notes.iter().map(Note::to_string).collect();
    assert_eq!(notes, ["failed: cpu: lost (1 case)", "no baseline: cpu (3 cases)"]);
    assert_eq!(data.panels[0].lines[0].points, []);
    let kinds: Vec<NoteKind> = data.panels[0].lines[0].absent.iter().map(|a| a.kind).collect();
    assert_eq!(kinds, [NoteKind::NoBaseline; 3]);
}

#[test]
fn what_is_not_measured_yet_is_not_absent() {
    let (plan, mut records) = passes();
    records[2] = without_result(records[2].case.clone(), Status::Pending);
    let data = series(&plan, 0, &records);
    assert_eq!(data.panels[0].lines[0].points.len(), 2);
    assert!(data.panels[0].lines.iter().all(|l| l.absent.is_empty()));
}

#[test]
fn an_interval_is_in_the_unit_of_y_and_a_change_has_none() {
    let (mut plan, mut records) = passes();
    let interval = |r: &mut Record, ends| r.statistics.as_mut().expect("measured").interval = Some(ends);
    interval(&mut records[1], [0.08, 0.125]);
    interval(&mut records[2], [-0.01, 0.5]);
    let ends = |data: &ChartData| -> Vec<Option<[f64; 2]>> {
        data.panels[0].lines[0].points.iter().map(|p| p.value.interval).collect()
    };
    assert_eq!(ends(&series(&plan, 0, &records)), [Some([8.0, 12.5]), None, None]);
    plan.experiments[0].chart.relative_to = Some(("method".to_owned(), text("direct")));
    let data = series(&plan, 0, &records);
    assert!(data.measured().all(|m| m.interval.is_none()));
}

#[test]
fn uncertified_results_are_marked() {
    let (plan, mut records) = passes();
    records[2].verdict = None;
    records[2].status = Status::Partial;
    let data = series(&plan, 0, &records);
    assert!(!data.panels[0].lines[0].points[1].value.certified);
    assert_eq!(data.notes[0].to_string(), "not certified (hollow): cpu (passes 2)");
}

#[test]
fn names_keep_the_order_of_the_recipe() {
    let names = ["PENNANT-G0", "AMG-G1"];
    let axes = vec![axis("source.app.name", "app", names.map(text).to_vec(), Scale::Category)];
    let plan = plan(axes, "source.app.name", &["backend"]);
    let of = |name: &str| case(&[("backend", text("cpu")), ("source.app.name", text(name))]);
    let records = vec![record(of("AMG-G1"), 1.0), record(of("PENNANT-G0"), 2.0)];
    let data = series(&plan, 0, &records);
    assert_eq!(data.x_scale().names(), names);
    let points = &data.panels[0].lines[0].points;
    assert_eq!(
        points.iter().map(|p| (p.x, p.label.as_str())).collect::<Vec<_>>(),
        [(0.0, "PENNANT-G0"), (1.0, "AMG-G1")]
    );
}

#[test]
fn the_y_axis_is_logarithmic_where_that_reads_better() {
    use crate::report::scale::Spacing;
    let (plan, mut records) = passes();
    assert_eq!(series(&plan, 0, &records).y_scale().spacing, Spacing::Log10);
    records.truncate(3);
    let same: Vec<Record> = records.iter().map(|r| record(r.case.clone(), 0.1)).collect();
    assert_eq!(series(&plan, 0, &same).y_scale().spacing, Spacing::Linear);
}

#[test]
fn an_experiment_that_sweeps_nothing_has_one_place_for_all() {
    let plan = plan(vec![], "", &["backend"]);
    let data = series(&plan, 0, &[record(case(&[("backend", text("cpu"))]), 1.0)]);
    assert_eq!(data.panels[0].lines[0].points[0].x, 0.0);
    assert_eq!(data.x_scale().position(0.0), Some(0.5));
    assert!(series(&plan, 7, &[]).is_empty());
}

#[test]
fn a_ceiling_is_the_median_copy_of_each_backend_of_a_panel() {
    let (mut plan, records) = passes();
    let copies = Copies::from([("cpu".to_owned(), vec![20.0, 30.0, 22.0]), ("scalar".to_owned(), vec![9.0])]);
    let guides = |plan: &Plan| charted(plan, 0, &records, Some(&copies)).panels[0].guides.clone();
    assert_eq!(guides(&plan), [], "nobody asked for one");
    plan.experiments[0].chart.ceiling = Some(Ceiling::Copy);
    assert_eq!(series(&plan, 0, &records).guides().len(), 0, "nobody knows the copies");
    let data = charted(&plan, 0, &records, Some(&copies));
    let words: Vec<String> = data.guides().into_iter().map(Guide::words).collect();
    assert_eq!(words, ["copy, cpu 22.0 GB/s", "copy, cuda n/a: none on file"], "scalar has no case here");
    let lines = data.labels.len();
    assert_eq!(guides(&plan).iter().map(|g| g.style).collect::<Vec<_>>(), [lines, lines + 1]);
    assert_eq!(data.guides().last().map(|guide| guide.style), Some(lines + 1));
    plan.experiments[0].chart.panels = vec!["backend".to_owned()];
    let panels = charted(&plan, 0, &records, Some(&copies)).panels;
    let labels = panels.iter().map(|p| p.guides.iter().map(|g| g.label.as_str()).collect::<Vec<_>>());
    assert_eq!(labels.collect::<Vec<_>>(), [["copy, cpu"], ["copy, cuda"]]);
}

/// 100 M elements that move `system_bytes` of [`record`], under 22 GB/s of copies, the caches of a profile, and
/// its random accesses.
#[test]
fn a_roofline_has_cases_by_intensity_under_roofs_of_bytes_and_of_accesses() {
    let (plan, records) = passes();
    let copies = Copies::from([("cpu".to_owned(), vec![20.0, 30.0, 22.0])]);
    let profiles = crate::model::Profiles::given(vec![crate::model::processors_fixture()]);
    let data = roofline(&plan, 0, &records, &copies, &profiles);
    let of_case = |case: usize| {
        let work = records[case].work.as_ref().expect("work");
        work.elements as f64 / work.system_bytes as f64
    };
    let points: Vec<&Point> = data.panels[0].lines.iter().flat_map(|line| &line.points).collect();
    assert!(
        !points.is_empty() && data.panels[0].references.is_empty(),
        "the direct cases have an intensity, too"
    );
    for point in points {
        assert_eq!(point.x, of_case(point.value.case));
        let copy = data.guides()[0].at(point.x).expect("a rate");
        let (share, system) =
            (point.value.y / copy, records[point.value.case].quantity(Quantity::SystemBandwidth));
        assert!((share - system.expect("measured") / 22.0).abs() < 1e-9, "y/roof is the bandwidth's share");
    }
    let labels: Vec<&str> = data.guides().iter().map(|guide| guide.label.as_str()).collect();
    assert_eq!(labels[..1], ["copy, cpu"]);
    assert!(labels.iter().any(|label| label.ends_with(" copy, cpu") && label.starts_with('L')), "{labels:?}");
    let random = data.guides().into_iter().find(|guide| guide.label == "random reads, cpu").expect("a roof");
    assert_eq!(random.at(0.01), random.at(1.0));
    assert_eq!(data.guides()[0].at(0.5), Some(11e9));
    let labelled = labels.len();
    let bare = roofline(&plan, 0, &records, &copies, &crate::model::Profiles::default());
    assert!(bare.guides().len() < labelled, "roofs of a profile need one");
    assert!(data.x_scale().spacing.is_log() && data.y_scale().spacing.is_log());
}

/// The device of a copy on file is ambiguous.
#[test]
fn several_devices_have_no_ceiling() {
    let (mut plan, records) = passes();
    plan.experiments[0].chart.ceiling = Some(Ceiling::Copy);
    plan.cases = [0, 1]
        .map(|device| case(&[("backend", text("cuda")), ("backend.cuda.device", Value::Int(device))]))
        .to_vec();
    let copies = Copies::from([("cpu".to_owned(), vec![22.0]), ("cuda".to_owned(), vec![4100.0])]);
    let words = |plan: &Plan| {
        let data = charted(plan, 0, &records, Some(&copies));
        data.guides().into_iter().map(Guide::words).collect::<Vec<_>>()
    };
    assert_eq!(words(&plan), ["copy, cpu 22.0 GB/s", "copy, cuda n/a: several devices"]);
    plan.cases.truncate(1);
    assert_eq!(words(&plan), ["copy, cpu 22.0 GB/s", "copy, cuda 4100 GB/s"]);
    plan.cases[0].params = plan.cases[0].params.clone().with("backend.cuda.gpus", Value::Int(2));
    assert_eq!(words(&plan)[1], "copy, cuda n/a: several devices", "one GPU's is no ceiling for two");
}

/// 320 GB/s over 12 and 20 bytes, as on the paper's GTX 1080 (ashkiani2017 §6.2.2), with one guide per panel.
#[test]
fn the_speed_of_light_is_a_rate_for_each_size_of_an_element() {
    let drawn = |words: &str, copies: &Copies| {
        let recipe = format!(
            "title: Light\nmultisplit: {{keys: 32Mi, values: [none, 4B], buckets: [2, 4], method: [dms, bms]}}\n\
             backend: cuda\npeers: cub-sort\nchart: {{x: buckets, ceiling: speed-of-light, {words}}}\n"
        );
        let recipe = crate::recipe::parse("a.yaml", &recipe).expect("a recipe");
        let plan = crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default())
            .expect("a plan");
        let done = |case: &Case| {
            let work = crate::primitives::find("multisplit").and_then(|p| p.work(&case.params).ok());
            Record { work, ..record(case.clone(), 0.01) }
        };
        let records: Vec<Record> = plan.cases.iter().map(done).collect();
        charted(&plan, 0, &records, Some(copies))
    };
    let words = |data: &ChartData| data.guides().into_iter().map(Guide::words).collect::<Vec<_>>();
    let copies = Copies::from([("cuda".to_owned(), vec![310.0, 320.0, 330.0])]);
    let data = drawn("y: throughput, lines: method, panels: values", &copies);
    assert_eq!(words(&data), ["speed of light, cuda, 12 B 26.67 G/s", "speed of light, cuda, 20 B 16 G/s"]);
    for (panel, bytes) in data.panels.iter().zip([12.0, 20.0]) {
        let [guide] = panel.guides.as_slice() else { panic!("one a panel") };
        assert!((guide.level.expect("a copy is on file") / (320e9 / bytes) - 1.0).abs() < 1e-12, "{guide:?}");
    }
    let data = drawn("y: throughput, lines: values, panels: method", &copies);
    assert!(data.panels.iter().all(|panel| panel.guides.len() == 2), "both sizes are in every panel");
    let data = drawn("y: bandwidth, lines: method, panels: values", &copies);
    // 8 of 12 bytes count as effective, and 16 of 20.
    assert_eq!(words(&data), ["speed of light, cuda, 12 B 213 GB/s", "speed of light, cuda, 20 B 256 GB/s"]);
    let data = drawn("y: throughput, lines: method, panels: values", &Copies::new());
    assert_eq!(words(&data)[0], "speed of light, cuda, 12 B n/a: none on file");
}

/// 36 and 68 bytes at 3600 GB/s, and four digits at the median rate of ranking, where one is on file.
#[test]
fn a_sort_has_two_roofs() {
    let recipe = "title: Roofs\nsort: {keys: [1Mi, 2Mi], values: [none, 4B]}\nbackend: [scalar, cuda]\npeers: cub-radix-sort\n\
        chart: {x: keys, y: throughput, lines: backend, panels: values, ceiling: speed-of-light}\n";
    let recipe = crate::recipe::parse("a.yaml", recipe).expect("a recipe");
    let plan =
        crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default()).expect("a plan");
    let mut ledger = crate::run::Ledger::new(plan);
    let words = |ledger: &crate::run::Ledger| {
        let data = charted(ledger.plan(), 0, ledger.records(), Some(ledger.references()));
        let words = |panel: &Panel| panel.guides.iter().map(Guide::words).collect::<Vec<_>>();
        data.panels.iter().map(words).collect::<Vec<_>>()
    };
    let mut copied = |ranked: &[(&str, f64)]| {
        let ranked = ranked.iter().map(|(kind, rate)| Ranked { kind: (*kind).to_owned(), rate: *rate });
        let (backend, ranked) = ("cuda".to_owned(), ranked.collect());
        ledger.apply(&Event::Reference { pass: 0, backend, copy: 3600.0, ranked });
        words(&ledger)
    };
    let none = |bytes| format!("speed of light, scalar, {bytes} n/a: none on file");
    let (light, of_pairs) = ("speed of light, cuda, 36 B 100 G/s", "speed of light, cuda, 68 B 52.94 G/s");
    assert_eq!(copied(&[]), [[none("36 B"), light.to_owned()], [none("68 B"), of_pairs.to_owned()]]);
    for rate in [300e9, 200e9] {
        copied(&[("u32", rate), ("u64", 1e9)]);
    }
    let ranking = "ranking, cuda, 4 digits of u32 60 G/s".to_owned();
    let drawn = copied(&[("u32", 240e9)]);
    assert_eq!(drawn[0], [none("36 B"), light.to_owned(), ranking]);
    assert_eq!(drawn[1], [none("68 B"), of_pairs.to_owned()], "no rate of pairs is on file");
}

#[test]
fn the_axis_reaches_for_a_guide_that_is_near() {
    let (mut plan, records) = passes();
    plan.experiments[0].chart.ceiling = Some(Ceiling::Copy);
    let axis = |copy: f64| {
        let copies = Copies::from([("cuda".to_owned(), vec![copy])]);
        charted(&plan, 0, &records, Some(&copies)).y_scale()
    };
    let alone = series(&plan, 0, &records).y_scale();
    // The values lie between 2.1 and 111 GB/s.
    assert!(axis(440.0).position(440.0).is_some() && alone.position(440.0).is_none());
    assert_eq!((axis(460.0), axis(0.4)), (alone.clone(), alone));
}

/// Our cases with two methods, and a peer's, which have none.
fn beside_a_peer() -> (Plan, Vec<Record>) {
    let plan = planned(
        "title: Beside a peer\ngather: {method: [direct, {multipass: {passes: 2}}], tuples: [1Ki, 4Ki]}\n\
         backend: cuda\npeers: plain\nchart: {x: tuples, lines: method, ceiling: copy}\n",
    );
    let records = plan.cases.iter().map(|case| match case.peer() {
        Some(_) => Record { verdict: None, ..record(case.clone(), 0.01) },
        None => record(case.clone(), 0.02),
    });
    let records = records.collect();
    (plan, records)
}

#[test]
fn a_peer_has_a_line_of_its_own_and_is_not_certified() {
    let (plan, records) = beside_a_peer();
    let copies = Copies::from([("cuda".to_owned(), vec![200.0])]);
    let data = charted(&plan, 0, &records, Some(&copies));
    let line = |line: &Line| {
        let points = line.points.iter().map(|p| {
            let mark = if p.value.certified { "certified" } else { "hollow" };
            format!("  {}: {} GB/s, {mark}", p.label, p.value.y)
        });
        [vec![line.label.clone()], points.collect()].concat().join("\n")
    };
    let lines = data.panels[0].lines.iter().map(line);
    let guides = data.guides().into_iter().map(|guide| guide.words());
    let notes = data.notes.iter().map(|note| note.to_string());
    insta::assert_snapshot!(lines.chain(guides).chain(notes).collect::<Vec<_>>().join("\n"));
}

fn planned(recipe: &str) -> Plan {
    let recipe = crate::recipe::parse("a.yaml", recipe).expect("a recipe");
    crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default()).expect("a plan")
}

/// A method's number stands for the method: no `he2007, he2007 4`.
#[test]
fn a_method_is_not_said_twice() {
    let labels = |plan: &Plan| -> Vec<String> {
        plan.cases.iter().map(|case| plan.experiments[0].label(case)).collect()
    };
    let plan = planned(
        "title: A product\nspmv: {matrix: {laplace5: 8}, method: [{he2007: [1, 4]}, best]}\n\
         backend: cpu\nchart: {x: matrix, y: time, lines: [method, he2007]}\n",
    );
    assert_eq!(labels(&plan), ["he2007 1", "he2007 4", "best"]);
    let records: Vec<Record> = plan.cases.iter().map(|case| record(case.clone(), 0.01)).collect();
    assert_eq!(charted(&plan, 0, &records, None).labels, labels(&plan));
    // A word is not told behind the name of its parameter.
    let sorts = planned(
        "title: Sorts\nsort: {keys: 1Ki, method: [auto, {onesweep: [auto, small]}]}\nbackend: cuda\n\
         chart: {x: method, y: time, lines: onesweep}\n",
    );
    assert_eq!(labels(&sorts), ["auto", "onesweep · auto", "onesweep · small"]);
}

/// A main parameter is called like its variant; an axis tells what it counts.
#[test]
fn an_axis_tells_what_it_counts() {
    let named = |x: &str, lines: &str| {
        let plan = planned(&format!(
            "title: A product\nspmv: {{matrix: {{random: {{rows: 64, entries: [1, 4]}}}}, \
             method: {{he2007: [1, 4]}}}}\nbackend: cpu\nchart: {{x: {x}, lines: {lines}}}\n"
        ));
        charted(&plan, 0, &[], None).x.name
    };
    assert_eq!([named("passes", "entries"), named("entries", "passes")], ["he2007 passes", "entries"]);
}

/// A sweep of passes 1, 2, 4 on the CPU alone.
fn sweep() -> (Plan, Vec<Record>) {
    let (mut plan, records) = passes();
    plan.experiments[0].axes.truncate(1);
    plan.experiments[0].chart.lines.clear();
    (plan, records.into_iter().take(3).collect())
}

#[test]
fn doubt_is_marked_point_by_point_and_counted() {
    let (plan, mut records) = sweep();
    records[0].rounds[0].flags = vec![Flag::Steal, Flag::Throttle];
    if let Some(statistics) = &mut records[1].statistics {
        statistics.spread = Some(0.2);
    }
    let data = series(&plan, 0, &records);
    let doubts: Vec<Doubt> = data.panels[0].lines[0].points.iter().map(|point| point.value.doubt).collect();
    let unsteady = Doubt { unsteady: true, ..Doubt::default() };
    let disturbed = Doubt { doubtful: true, throttled: true, unsteady: false };
    assert_eq!(doubts, [unsteady, Doubt::default(), disturbed]);
    assert_eq!(
        data.doubt_notes(),
        [
            "doubtful: 1 of 3 points (noise while they were measured: steal)",
            "unsteady: 1 of 3 points (rounds more than 10 % apart)",
            "throttled: 1 of 3 points (the driver held the GPU's clocks down)",
        ]
    );
    assert_eq!((data.doubtful_points(), data.doubts().len()), ((2, 3), 3));
    let calm = series(&plan, 0, &sweep().1);
    assert!(calm.doubt_notes().is_empty() && calm.doubts().is_empty());
}

#[test]
fn a_case_without_a_value_is_a_gap_in_its_line() {
    let (plan, mut records) = sweep();
    let lengths = |records: &[Record]| -> Vec<usize> {
        series(&plan, 0, records).panels[0].lines[0].stretches().map(<[Point]>::len).collect()
    };
    assert_eq!(lengths(&records), [3]);
    let skipped = Status::NotApplicable("skipped".to_owned());
    records[2] = without_result(records[2].case.clone(), skipped);
    assert_eq!(lengths(&records), [1, 1]);
}

#[test]
fn a_slow_sample_is_cut_and_does_not_decide_the_axis() {
    let (plan, mut records) = sweep();
    let ends = |records: &[Record]| series(&plan, 0, records).y_scale().ends();
    let calm = ends(&records);
    if let Some(statistics) = &mut records[0].statistics {
        statistics.max *= 1000.0;
    }
    let now = ends(&records);
    assert!(now.0 >= calm.0 && now.1 <= calm.1, "{now:?}, {calm:?}");
    let data = series(&plan, 0, &records);
    let bar = data.panels[0].lines[0].points[2].value.bar.expect("a bar");
    assert!(bar[0] < calm.0, "the bar leaves the axis: {bar:?}, {calm:?}");
    assert_eq!(
        within_reach(&[1.0, 2.0], [2.4, 2.6, -0.4, -0.6].into_iter(), Spacing::Linear),
        [1.0, 2.0, 2.4, -0.4]
    );
    assert_eq!(within_reach(&[1.0], [0.5, 0.8, 0.0].into_iter(), Spacing::Log10), [1.0, 0.8]);
}

/// Plans of older runs called such an axis linear.
#[test]
fn a_wide_x_is_logarithmic_and_the_recipe_may_say_otherwise() {
    let sizes = [64 << 10, 1 << 20, 8 << 20];
    let axes = vec![axis("tuples", "tuples", sizes.map(Value::Int).to_vec(), Scale::Linear)];
    let mut plan = plan(axes, "tuples", &[]);
    let cases = sizes.map(|size| case(&[("backend", text("cpu")), ("tuples", Value::Int(size))]));
    let records: Vec<Record> =
        cases.into_iter().zip(1..).map(|(case, n)| record(case, f64::from(n))).collect();
    let spacings = |plan: &Plan| {
        let data = series(plan, 0, &records);
        (data.x_scale().spacing, data.y_scale().spacing)
    };
    assert_eq!(spacings(&plan), (Spacing::Log2, Spacing::Linear));
    plan.experiments[0].chart.scale = ChartScale { x: Some(Scale::Linear), y: Some(Scale::Log) };
    assert_eq!(spacings(&plan), (Spacing::Linear, Spacing::Log10));
}
