use super::scene::Shape;
use super::*;
use crate::case::Value;
use crate::recipe::plan::{Ceiling, Experiment, Paper, Plan, Quantity, Scale};
use crate::report::series::tests::{axis, case, passes, plan, record, text, without_result};
use crate::report::series::{ChartData, Copies, charted, series};
use crate::run::{Record, Status};

fn caption() -> Caption {
    Caption {
        changes: None,
        paper: Some("he2007, figure 9".to_owned()),
        lines: vec!["cpu: A processor".to_owned()],
        ..Caption::default()
    }
}

fn draw(plan: &Plan, records: &[Record]) -> String {
    let data = series(plan, 0, records);
    let document = render(&data, &caption()).expect("a chart");
    keep(plan, &document);
    document
}

/// Saves charts for inspection: `SCATTERLAB_CHARTS=/tmp/charts cargo test svg`.
fn keep(plan: &Plan, document: &str) {
    if let Some(folder) = std::env::var_os("SCATTERLAB_CHARTS") {
        let name = format!("{}.svg", plan.experiments[0].slug);
        std::fs::write(std::path::Path::new(&folder).join(name), document).expect("written");
    }
}

fn named(mut plan: Plan, title: &str) -> Plan {
    let e: &mut Experiment = &mut plan.experiments[0];
    e.title = title.to_owned();
    e.slug = title.to_lowercase().replace(|c: char| !c.is_alphanumeric(), "-");
    plan
}

/// A sweep over three backends; cuda has no results for the last two values.
fn strides() -> (Plan, Vec<Record>) {
    let strides: Vec<Value> = (0..8).map(|i| Value::Int(1 << i)).collect();
    let backends = ["scalar", "cpu", "cuda"];
    let axes = vec![
        axis("source.uniform.stride", "stride", strides.clone(), Scale::Log),
        axis("backend", "backend", backends.map(text).to_vec(), Scale::Category),
    ];
    let mut records = Vec::new();
    for (backend, base) in backends.into_iter().zip([0.12, 0.03, 0.0004]) {
        for (i, stride) in strides.iter().enumerate() {
            let c = case(&[("backend", text(backend)), ("source.uniform.stride", stride.clone())]);
            let slow = base * 2f64.powi(i.min(3) as i32) * (1.0 + 0.1 * i as f64);
            let missing = backend == "cuda" && i > 5;
            let status = || Status::NotApplicable("needs 162 GiB, 138 GiB free".to_owned());
            records.push(if missing { without_result(c, status()) } else { record(c, slow) });
        }
    }
    (named(plan(axes, "source.uniform.stride", &["backend"]), "Uniform stride, gather"), records)
}

const APPS: [(&str, usize); 4] = [("PENNANT-G", 16), ("LULESH-G", 8), ("NEKBONE-G", 3), ("AMG-G", 2)];

fn applications() -> (Plan, Vec<Record>) {
    let mut names: Vec<Value> =
        APPS.iter().flat_map(|(stem, n)| (0..*n).map(move |i| text(&format!("{stem}{i}")))).collect();
    names.extend((0..5).map(|i| text(&format!("PENNANT-S{i}"))));
    let backends = ["scalar", "cpu", "cuda"];
    let axes = vec![
        axis("source.app.name", "app", names.clone(), Scale::Category),
        axis("backend", "backend", backends.map(text).to_vec(), Scale::Category),
    ];
    let mut records = Vec::new();
    for (backend, base) in backends.into_iter().zip([0.12, 0.08, 0.0004]) {
        for (i, name) in names.iter().enumerate() {
            let c = case(&[("backend", text(backend)), ("source.app.name", name.clone())]);
            let status = || Status::Failed("wrong result: word 17 holds 3, not 4".to_owned());
            let slow = base * (1.0 + (i * 7 % 11) as f64);
            records.push(if backend == "cuda" && i == 9 {
                without_result(c, status())
            } else {
                record(c, slow)
            });
        }
    }
    (named(plan(axes, "source.app.name", &["backend"]), "The application patterns"), records)
}

/// Tuple sizes by method, with one panel for each kind of locations.
fn panels() -> (Plan, Vec<Record>) {
    let tuples: Vec<Value> = [4, 8, 16, 32].map(Value::Int).to_vec();
    let (methods, locations) = (["direct", "multipass"], ["sequential", "random", "partitions"]);
    let axes = vec![
        axis("tuple", "tuple", tuples.clone(), Scale::Log),
        axis("method", "method", methods.map(text).to_vec(), Scale::Category),
        axis("locations", "locations", locations.map(text).to_vec(), Scale::Category),
    ];
    let mut plan = plan(axes, "tuple", &["method", "backend"]);
    plan.experiments[0].chart.panels = vec!["locations".to_owned()];
    plan.experiments[0].chart.y = Quantity::Time;
    let mut records = Vec::new();
    for (l, place) in locations.into_iter().enumerate() {
        for (m, method) in methods.into_iter().enumerate() {
            for (t, tuple) in tuples.iter().enumerate() {
                let c = case(&[
                    ("backend", text("cpu")),
                    ("locations", text(place)),
                    ("method", text(method)),
                    ("tuple", tuple.clone()),
                ]);
                records.push(record(c, 0.01 * (1 + l * 3 + t) as f64 / (1.0 + m as f64 * 0.4)));
            }
        }
    }
    (named(plan, "Tuple size, panels"), records)
}

fn per_cent() -> (Plan, Vec<Record>) {
    let kernels = ["gather", "scatter"];
    let (isas, strides) = (["scalar", "avx2", "avx512"], [1u64, 2, 4, 8]);
    let axes = vec![
        axis("source.uniform.stride", "stride", strides.map(Value::Int).to_vec(), Scale::Log),
        axis("backend.cpu.isa", "isa", isas.map(text).to_vec(), Scale::Category),
        axis("kernel", "kernel", kernels.map(text).to_vec(), Scale::Category),
    ];
    let mut plan = plan(axes, "source.uniform.stride", &["kernel", "backend.cpu.isa"]);
    plan.experiments[0].chart.relative_to = Some(("backend.cpu.isa".to_owned(), text("scalar")));
    let mut records = Vec::new();
    for (k, kernel) in kernels.into_iter().enumerate() {
        for (i, isa) in isas.into_iter().enumerate() {
            for (s, stride) in strides.into_iter().enumerate() {
                let c = case(&[
                    ("backend", text("cpu")),
                    ("backend.cpu.isa", text(isa)),
                    ("kernel", text(kernel)),
                    ("source.uniform.stride", Value::Int(stride)),
                ]);
                let gain = 1.0 + 0.3 * i as f64 - 0.12 * s as f64 * i as f64 - 0.1 * (k * i) as f64;
                records.push(record(c, 0.05 * (s + 1) as f64 / gain));
            }
        }
    }
    (named(plan, "Change by SIMD"), records)
}

#[test]
fn a_line_sweep_shows_its_lines_its_notes_and_its_caption() {
    let (plan, records) = strides();
    let document = draw(&plan, &records);
    assert!(document.starts_with("<svg"));
    for words in [
        "Uniform stride, gather",
        "he2007, figure 9",
        ">\nscalar\n<",
        ">\ncuda\n<",
        ">\n128\n<",
        "stride",
        "Effective bandwidth (GB/s), log scale",
        "n/a: cuda: needs 162 GiB, 138 GiB free (2 cases)",
        "cpu: A processor",
    ] {
        assert!(document.contains(words), "{words:?} is not in\n{document}");
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (plan, records) = applications();
    assert_eq!(draw(&plan, &records), draw(&plan, &records));
}

/// A stored run may be another machine's, with any text in it.
#[test]
fn a_chart_is_xml_whatever_its_texts_hold() {
    // Production 2 of XML 1.0; what else is unseen is not wanted either.
    let is_seen =
        |c: char| c == '\n' || !crate::case::units::is_unseen(c) && !matches!(c, '\u{fffe}' | '\u{ffff}');
    for unseen in ["\u{1b}[2J", "\0", "\u{7}\u{8}", "\u{9f}", "\u{202e}", "\u{fffe}\u{ffff}"] {
        let (plan, records) = strides();
        let document = draw(&named(plan, &format!("<a> & {unseen}b")), &records);
        assert!(document.chars().all(is_seen), "{unseen:?}");
        assert!(document.contains("&lt;a&gt; &amp; \\u{"), "{unseen:?} is shown as an escape");
    }
}

#[test]
fn each_of_many_names_has_a_row_of_its_own() {
    let (plan, records) = applications();
    let document = draw(&plan, &records);
    assert!(document.contains("failed: cuda: wrong result: word 17 holds 3, not 4 (PENNANT-G9)"));
    let scene = layout::scene(&series(&plan, 0, &records), &caption());
    let mut rows: Vec<f64> = scene
        .shapes
        .iter()
        .filter_map(|s| match s {
            Shape::Text(t) if t.text.contains("-G") || t.text.contains("-S") => Some(t.y),
            _ => None,
        })
        .take(34)
        .collect();
    assert_eq!(rows.len(), 34);
    rows.sort_by(f64::total_cmp);
    assert!(rows.windows(2).all(|w| w[1] - w[0] >= 18.0), "{rows:?}");
}

#[test]
fn panels_share_their_axes() {
    let (plan, records) = panels();
    let document = draw(&plan, &records);
    assert_eq!(document.matches(">\n16 B\n<").count(), 3);
    assert!(document.contains("Time of one execution"));
}

#[test]
fn changes_stand_around_a_zero_line() {
    let (plan, records) = per_cent();
    let document = draw(&plan, &records);
    assert!(document.contains(">\n0 %\n<") && document.contains(">\n+20 %\n<"), "{document}");
    assert!(document.contains("change against isa scalar"));
}

#[test]
fn references_are_drawn_across() {
    let (plan, records) = passes();
    let plan = named(plan, "Passes with references");
    assert!(draw(&plan, &records).contains("cuda, direct"));
}

/// Three backends of a sweep, two of them with copies.
fn ceilings() -> ChartData {
    let (plan, records) = strides();
    let mut plan = named(plan, "Uniform stride under ceilings");
    plan.experiments[0].chart.ceiling = Some(Ceiling::Copy);
    let copies =
        Copies::from([("cpu".to_owned(), vec![61.0, 64.0, 60.0]), ("cuda".to_owned(), vec![4100.0])]);
    charted(&plan, 0, &records, Some(&copies))
}

#[test]
fn ceilings_are_grey_lines_with_their_values_in_the_legend() {
    let document = render(&ceilings(), &caption()).expect("a chart");
    let (mut plan, _) = strides();
    plan = named(plan, "Uniform stride under ceilings");
    keep(&plan, &document);
    for words in
        [">\ncopy, cpu 61.0 GB/s\n<", ">\ncopy, cpu\n<", "read and written bytes; copy, scalar n/a: none"]
    {
        assert!(document.contains(words), "{words:?} is not in\n{document}");
    }
    insta::assert_snapshot!("ceilings", document);
}

/// The legend must not cover points: it ends above the first panel.
#[test]
fn the_legend_stands_outside_the_plot() {
    for (plan, records) in [strides(), applications(), panels(), per_cent(), passes()] {
        let data = series(&plan, 0, &records);
        let scene = layout::scene(&data, &caption());
        let y_of = |label: &str| {
            scene.shapes.iter().find_map(|s| match s {
                Shape::Text(t) if t.text == label => Some(t.y),
                _ => None,
            })
        };
        let frame = |s: &Shape| match s {
            Shape::Path { points, color, .. } if *color == scene::FRAME => Some(points[0].1),
            _ => None,
        };
        let top = scene.shapes.iter().find_map(frame).expect("a frame");
        for label in &data.labels {
            assert!(y_of(label).is_some_and(|y| y < top - 6.0), "{label}: {:?} {top}", y_of(label));
        }
    }
}

#[test]
fn every_shape_lies_on_the_page() {
    for (plan, records) in [strides(), applications(), panels(), per_cent(), passes()] {
        let scene = layout::scene(&series(&plan, 0, &records), &caption());
        let inside =
            |(x, y): (f64, f64)| (0.0..=scene.width).contains(&x) && (0.0..=scene.height).contains(&y);
        for shape in &scene.shapes {
            match shape {
                Shape::Text(t) => assert!(inside((t.x, t.y)), "{t:?}"),
                Shape::Path { points, .. } | Shape::Polygon { points, .. } => {
                    assert!(points.iter().all(|p| inside(*p)), "{shape:?}");
                }
                Shape::Circle { center, .. } | Shape::Ring { center, .. } => {
                    assert!(inside(*center), "{shape:?}")
                }
                Shape::Mosaic { corner, .. } => assert!(inside(*corner), "{shape:?}"),
            }
        }
    }
}

/// Pairs of overlapping texts.
pub fn covered(scene: &scene::Scene) -> Vec<(String, String)> {
    // `text_width` is rather too large, because the reader's font is not known.
    const TIGHT: f64 = 0.88;
    let bounds = |text: &scene::Text| {
        let (long, high) = (scene::text_width(&text.text, text.size) * TIGHT, text.size * 0.8);
        let (width, height) = if text.upright { (high, long) } else { (long, high) };
        let left = match text.anchor {
            scene::Anchor::Start => text.x,
            scene::Anchor::Middle => text.x - width / 2.0,
            scene::Anchor::End => text.x - width,
        };
        (left, text.y - height / 2.0, left + width, text.y + height / 2.0)
    };
    let texts = scene.shapes.iter().filter_map(|s| if let Shape::Text(t) = s { Some(t) } else { None });
    let texts: Vec<_> = texts.map(|text| (&text.text, bounds(text))).collect();
    let mut found = Vec::new();
    for (at, (one, a)) in texts.iter().enumerate() {
        for (other, b) in &texts[at + 1..] {
            if a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3 {
                found.push(((*one).clone(), (*other).clone()));
            }
        }
    }
    found
}

#[test]
fn texts_on_texts_are_found() {
    let text = |x: f64, words: &str| Shape::Text(scene::Text::new(x, 10.0, words, 12.0, scene::INK));
    let scene =
        |x| scene::Scene { shapes: vec![text(0.0, "PENNANT"), text(x, "LULESH")], ..Default::default() };
    assert_eq!(covered(&scene(30.0)).len(), 1);
    assert_eq!(covered(&scene(80.0)), []);
}

/// Degenerate runs: nothing, one point, equal points, odd times, an x of 0 on a log axis, a name instead of a
/// number. Each still gives a chart.
#[test]
fn degenerate_runs_still_make_a_chart() {
    let at = |stride: Value| case(&[("backend", text("cpu")), ("source.uniform.stride", stride)]);
    let (plan, _) = strides();
    let runs: Vec<Vec<Record>> = vec![
        vec![],
        vec![record(at(Value::Int(1)), 0.1)],
        vec![record(at(Value::Int(1)), 0.1), record(at(Value::Int(2)), 0.1)],
        vec![record(at(Value::Int(0)), 0.1), record(at(Value::Int(4)), 1e-300)],
        vec![record(at(Value::Int(u64::MAX)), 1e300), record(at(Value::Int(2)), -1.0)],
        vec![record(at(Value::Float(f64::NAN)), f64::NAN), record(at(Value::Int(2)), f64::INFINITY)],
        vec![record(at(text("no-reuse")), 0.1), record(at(Value::Int(2)), 0.2)],
        vec![without_result(at(Value::Int(1)), Status::Pending)],
    ];
    for records in runs {
        for scale in [Scale::Linear, Scale::Log, Scale::Category] {
            for quantity in [Quantity::Bandwidth, Quantity::Time, Quantity::Throughput] {
                let mut plan = plan.clone();
                plan.experiments[0].axes[0].scale = scale;
                plan.experiments[0].chart.y = quantity;
                let document = render(&series(&plan, 0, &records), &caption()).expect("a chart");
                assert!(!document.contains("NaN") && !document.contains("inf"), "{document}");
            }
        }
    }
}

/// Times that vary by a hash of the case.
fn scattered(case: &crate::case::Case) -> f64 {
    let digits = u32::from_str_radix(&case.id[..4], 16).expect("hexadecimal");
    let work = crate::primitives::find(&case.primitive).and_then(|p| p.work(&case.params).ok());
    let speed = if case.backend() == "cuda" { 1e12 } else { 5e9 };
    work.map_or(1.0, |w| w.effective_bytes as f64) / speed * (1.0 + f64::from(digits) / 16384.0)
}

#[test]
fn every_shipped_recipe_has_a_chart_with_all_its_labels() {
    for recipe in crate::recipe::shipped::shipped() {
        let ledger = crate::report::csv::tests::finished_in(recipe.path, scattered);
        let (plan, records) = (ledger.plan(), ledger.records());
        let copies =
            [("scalar", 9.0), ("cpu", 12.0), ("cuda", 2900.0)].map(|(b, rate)| (b.to_owned(), vec![rate]));
        for (i, experiment) in plan.experiments.iter().enumerate() {
            let data = charted(plan, i, records, Some(&Copies::from(copies.clone())));
            let caption = Caption::new(&origin(plan, &environment(), &[]), i, records);
            let document = render(&data, &caption).expect("a chart");
            let shown: usize = records.iter().filter(|r| r.case.experiment == i).count();
            assert!(data.measured().count() > 0 && data.measured().count() <= shown, "{}", recipe.path);
            let missing: Vec<&String> =
                data.labels.iter().filter(|l| !document.contains(&format!(">\n{l}\n<"))).collect();
            assert!(missing.is_empty(), "{}: {missing:?}", recipe.path);
            let mut only = plan.clone();
            only.experiments = vec![experiment.clone()];
            keep(&only, &document);
        }
    }
}

#[test]
fn captions_name_paper_machine_recipe_and_date() {
    let (mut plan, records) = strides();
    plan.experiments[0].paper = Some(Paper {
        key: "lavin2020".to_owned(),
        figure: Some("3".to_owned()),
        table: None,
        claim: Some("bandwidth halves with each doubling".to_owned()),
    });
    let environment = environment();
    let devices =
        vec![device("scalar", "A processor"), device("cpu", "A processor"), device("cuda", "NVIDIA H200")];
    let caption = Caption::new(&origin(&plan, &environment, &devices), 0, &records);
    assert_eq!(
        caption.paper.as_deref(),
        Some("lavin2020, figure 3 claims: bandwidth halves with each doubling")
    );
    assert_eq!(caption.recipe.as_deref(), Some("Recipe"));
    assert_eq!(caption.lines[1], "scalar, cpu: A processor · cuda: NVIDIA H200");
    assert_eq!(caption.lines[2], "Recipe 0123456789ab · 2026-11-20 · scatterlab 0.0.7");
}

/// An origin with a version other than this one.
pub fn origin<'a>(
    plan: &'a Plan,
    environment: &'a crate::engine::protocol::Environment,
    devices: &'a [crate::case::Device],
) -> crate::report::Origin<'a> {
    crate::report::Origin { plan, version: "0.0.7", date: "2026-11-20", environment, devices }
}

pub fn environment() -> crate::engine::protocol::Environment {
    crate::engine::protocol::Environment {
        host: "host".to_owned(),
        os: "Linux".to_owned(),
        kernel: "6.1".to_owned(),
        cpu: "A processor".to_owned(),
        affinity: vec![0, 1],
        memory: 24 << 30,
        transparent_huge_pages: None,
        facts: Vec::new(),
    }
}

pub fn device(backend: &str, name: &str) -> crate::case::Device {
    crate::case::Device {
        backend: backend.to_owned(),
        name: name.to_owned(),
        facts: vec![],
        memory: None,
        availability: crate::case::Availability::Available,
    }
}

/// Six matrices in one place each on x, beside two peers: four lines instead of a line for each matrix and peer.
pub(crate) fn matrices() -> (Plan, Vec<Record>) {
    let text = "\
title: Six matrices beside two peers
spmv:
  matrix:
    - {laplace5: 128}
    - {laplace5: 512}
    - {random: {rows: 64Ki, entries: 4}}
    - {random: {rows: 64Ki, entries: 32}}
    - {rmat: {scale: 14, entries: 16}}
    - {banded: {rows: 64Ki, half: 8}}
  method: [row, balanced]
backend: cpu
peers: [sprs, faer]
chart: {x: matrix, y: throughput, lines: method}
measure: {rounds: 1, samples: 3}
";
    let recipe = crate::recipe::parse("matrices.yaml", text).expect("a recipe");
    let plan = crate::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let result = |(at, case): (usize, &crate::case::Case)| record(case.clone(), 0.01 + 0.002 * at as f64);
    let records = plan.cases.iter().enumerate().map(result).collect();
    (plan, records)
}

#[test]
fn matrices_of_different_sizes_are_one_axis() {
    let (plan, records) = matrices();
    let data = series(&plan, 0, &records);
    assert_eq!(data.labels, ["row, cpu", "peer:sprs", "peer:faer", "balanced, cpu"]);
    assert_eq!(
        data.x.categories,
        ["laplace5 128", "laplace5 512", "random entries 4", "random entries 32", "rmat", "banded"]
    );
    insta::assert_snapshot!("matrices", draw(&plan, &records));
}
