//! Handmade recipes and plans.

use crate::case::{Case, Measure, Params, Value};
use crate::recipe::plan::{Axis, Chart, Experiment, Overrides, Paper, Plan, Quantity, Scale, case_id};
use crate::tui::RecipeEntry;
use crate::tui::home::jobs::Wanted;

pub const DEVICES: &str = "cpu: 2 threads, AVX-512; cuda: no CUDA driver";

pub fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

fn recipe(group: &str, path: &str, title: &str, text: &str) -> RecipeEntry {
    let [group, path, title, text] = [group, path, title, text].map(str::to_owned);
    RecipeEntry { group, path, title, text, problem: None }
}

pub fn recipes() -> Vec<RecipeEntry> {
    let passes = "title: Multi-pass scatter, by number of passes\n\
        paper: {key: he2007, figure: 9, claim: 16 passes suit a G80 best}\n\
        scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 16Mi, tuple: 8B, locations: random}\n\
        backend: [cpu, cuda]\nchart: {x: passes, y: bandwidth, lines: backend}\n";
    let stream = "stream: {kernel: copy, elements: 16Mi}\nbackend: cpu\nchart: {x: elements, y: time}\n";
    let shipped = |path| crate::recipe::shipped::find(path).expect("shipped").text;
    vec![
        recipe("", "quickstart", "Stream kernels and array sizes", stream),
        recipe("he2007", "he2007/fig09-passes", "Multi-pass scatter, by number of passes", passes),
        recipe("he2007", "he2007/fig10-segments", "A recipe with a mistake", "scatter: {method: segmentd}\n"),
        recipe(
            "lavin2020",
            "lavin2020/app-patterns",
            "Application patterns",
            shipped("lavin2020/app-patterns"),
        ),
    ]
}

/// Resolver of the tests: overrides only add their words to the plan.
pub fn changed(entry: &RecipeEntry, overrides: &Overrides, _: Wanted) -> Result<Plan, String> {
    Ok(Plan { overrides: overrides.words(), ..resolve(entry)? })
}

pub fn resolve(entry: &RecipeEntry) -> Result<Plan, String> {
    match entry.name() {
        "quickstart" => Ok(stream()),
        "fig09-passes" => Ok(passes()),
        "app-patterns" => Ok(applications()),
        "matrices" => Ok(matrices()),
        _ => Err("1:20: scatter.method: `segmentd` is not a method; accepted: direct, multipass, segmented \
                  (nearest: segmented)"
            .to_owned()),
    }
}

fn axis(key: &str, name: &str, values: Vec<Value>, scale: Scale) -> Axis {
    let bytes = name == "tuple";
    Axis { key: key.to_owned(), name: name.to_owned(), values, scale, bytes, maps: Vec::new() }
}

fn words(words: &[&str]) -> Vec<Value> {
    words.iter().map(|w| text(w)).collect()
}

fn powers(last: u32, unit: u64) -> Vec<Value> {
    (0..=last).map(|p| Value::Int(unit << p)).collect()
}

struct Sweep<'a> {
    title: &'a str,
    primitive: &'a str,
    fixed: Params,
    axes: Vec<Axis>,
    x: &'a str,
    lines: &'a [&'a str],
    panels: &'a [&'a str],
    rounds: u32,
}

impl Sweep<'_> {
    fn experiment(&self) -> Experiment {
        let keys = |keys: &[&str]| keys.iter().map(|k| k.to_string()).collect();
        Experiment {
            title: self.title.to_owned(),
            slug: self.title.to_lowercase().replace(' ', "-"),
            primitive: self.primitive.to_owned(),
            paper: None,
            axes: self.axes.clone(),
            chart: Chart {
                x: self.x.to_owned(),
                y: Quantity::Bandwidth,
                lines: keys(self.lines),
                panels: keys(self.panels),
                statistic: Default::default(),
                best_of: Vec::new(),
                scale: Default::default(),
                relative_to: None,
                ratio: false,
                ceiling: None,
                models: None,
                bars: None,
                overlay: None,
            },
            measure: Measure::fixed(self.rounds, 5),
        }
    }

    /// The product of the axes; cases on `cuda` cannot run.
    fn cases(&self, experiment: usize) -> Vec<Case> {
        let mut all = vec![self.fixed.clone()];
        for axis in &self.axes {
            let with = |p: Params| axis.values.iter().map(move |v| p.clone().with(&axis.key, v.clone()));
            all = all.into_iter().flat_map(with).collect();
        }
        let case = |params: Params| {
            let reason = (params.text("backend") == Some("cuda")).then(|| "no CUDA driver".to_owned());
            let (id, primitive) = (case_id(self.primitive, &params, 1), self.primitive.to_owned());
            Case { id, experiment, primitive, params, seed: 1, not_applicable: reason }
        };
        all.into_iter().map(case).collect()
    }
}

fn plan(title: &str, sweeps: &[Sweep]) -> Plan {
    let mut cases = Vec::new();
    for (experiment, sweep) in sweeps.iter().enumerate() {
        for mut case in sweep.cases(experiment) {
            if cases.iter().any(|known: &Case| known.id == case.id) {
                case.id = format!("{}-{}", case.id, experiment + 1);
            }
            cases.push(case);
        }
    }
    let experiments = sweeps.iter().map(Sweep::experiment).collect();
    Plan { title: title.to_owned(), recipe_hash: "00112233".repeat(8), experiments, cases, ..Plan::default() }
}

fn cpu() -> Params {
    let threads = ("backend.cpu.threads", "auto");
    let isa = ("backend.cpu.isa", "auto");
    [threads, isa].into_iter().fold(Params::default(), |p, (k, v)| p.with(k, text(v)))
}

fn tuples() -> Params {
    let params = cpu().with("tuples", Value::Int(16 << 20)).with("tuple", Value::Int(8));
    params.with("index", Value::Int(4)).with("locations", text("random"))
}

/// Passes 1 to 64 on cpu and cuda, two rounds.
pub fn passes() -> Plan {
    let x = "method.multipass.passes";
    let sweep = Sweep {
        title: "Multi-pass scatter, by number of passes",
        primitive: "scatter",
        fixed: tuples().with("method", text("multipass")),
        axes: vec![
            axis(x, "passes", powers(6, 1), Scale::Log),
            axis("backend", "backend", words(&["cpu", "cuda"]), Scale::Category),
        ],
        x,
        lines: &["backend"],
        panels: &[],
        rounds: 2,
    };
    let mut plan = plan("Multi-pass scatter", &[sweep]);
    plan.experiments[0].paper = Some(Paper {
        key: "he2007".to_owned(),
        figure: Some("9".to_owned()),
        table: None,
        claim: Some("16 passes suit a G80 best".to_owned()),
    });
    plan
}

/// The 34 application patterns on two backends, one round.
pub fn applications() -> Plan {
    let name = "source.app.name";
    let sweep = Sweep {
        title: "Application patterns",
        primitive: "pattern",
        fixed: cpu()
            .with("source", text("app"))
            .with("count", Value::Int(1 << 20))
            .with("delta", text("default"))
            .with("wrap", Value::Int(1))
            .with("index", Value::Int(4))
            .with("method", text("direct")),
        axes: vec![
            axis(name, "app", words(&crate::inputs::applications::NAMES), Scale::Category),
            axis("backend", "backend", words(&["scalar", "cpu"]), Scale::Category),
        ],
        x: name,
        lines: &["backend"],
        panels: &[],
        rounds: 1,
    };
    plan("Application patterns", &[sweep])
}

/// Two experiments, the second in two panels.
pub fn stream() -> Plan {
    let kernels = axis("kernel", "kernel", words(&["read", "copy", "triad"]), Scale::Category);
    let backends = axis("backend", "backend", words(&["scalar", "cpu"]), Scale::Category);
    let fixed = cpu().with("method", text("direct"));
    let sizes = axis("elements", "elements", powers(5, 1 << 20), Scale::Log);
    let common = Sweep {
        title: "Kernels",
        primitive: "stream",
        fixed: fixed.clone().with("elements", Value::Int(1 << 24)),
        axes: vec![kernels.clone(), backends.clone()],
        x: "kernel",
        lines: &["backend"],
        panels: &[],
        rounds: 1,
    };
    let by_size = Sweep {
        title: "Sizes",
        primitive: "stream",
        fixed,
        axes: vec![kernels, sizes, backends],
        x: "elements",
        lines: &["backend"],
        panels: &["kernel"],
        rounds: 1,
    };
    plan("Stream", &[common, by_size])
}

/// The recipe of [`matrices`], which is not among [`recipes`].
pub fn of_matrices() -> RecipeEntry {
    let text = "title: Sparse matrices\n\
        spmv: {matrix: [{rmat: {scale: 10}}, {laplace5: 8}, {banded: {rows: 2Mi, half: 0}}]}\n\
        backend: cpu\nchart: {x: matrix, y: time}\n";
    recipe("", "matrices", "Sparse matrices", text)
}

/// Three matrices; the last is large.
pub fn matrices() -> Plan {
    let recipe = crate::recipe::parse("matrices.yaml", &of_matrices().text).expect("a recipe");
    crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default()).expect("a plan")
}
