//! Malformed recipes and overrides, each with the one-line message that a user sees.

use std::time::{Duration, Instant};

use scatterlab::case::peers;
use scatterlab::primitives::registry;
use scatterlab::recipe::parse;
use scatterlab::recipe::plan::{Overrides, resolve};

/// Recipes and their messages: the recipe, a line `--> message`, a line `====`. PRIMITIVES and PEERS stand for
/// all names.
const TABLE: &str = include_str!("malformed.txt");

/// The error of a recipe, or the number of its cases.
fn outcome(text: &str, overrides: &Overrides) -> String {
    match parse("r.yaml", text).and_then(|r| resolve(&r, overrides)) {
        Ok(plan) => format!("{} cases", plan.cases.len()),
        Err(error) => error.to_string(),
    }
}

fn plain(text: &str) -> String {
    outcome(text, &Overrides::default())
}

fn named(message: &str) -> String {
    let primitives: Vec<&str> = registry().iter().map(|primitive| primitive.name()).collect();
    let peers: Vec<&str> = peers::ALL.iter().map(|peer| peer.name).collect();
    message.replace("PRIMITIVES", &primitives.join(", ")).replace("PEERS", &peers.join(", "))
}

#[test]
fn each_malformed_recipe_gets_one_useful_line() {
    let mut rows = 0;
    for block in TABLE.trim_end().split("\n====\n") {
        let (recipe, message) = block.rsplit_once("\n--> ").expect("a recipe and its message");
        let message = named(message);
        assert_eq!(plain(recipe), message, "of this recipe:\n{recipe}");
        assert!(message.starts_with("r.yaml:") && !message.contains('\n'), "{message}");
        rows += 1;
    }
    assert!(rows >= 88, "{rows} rows");
}

#[test]
fn columns_are_characters_whatever_the_line_ends_and_styles() {
    let crlf = "title: é\r\nscatter: {tuples: 1Q}\r\nbackend: cpu\r\nchart: {x: tuples}\r\n";
    assert!(plain(crlf).starts_with("r.yaml:2:19: scatter.tuples: `1Q`"), "{}", plain(crlf));
    let marked = "\u{feff}scatter: {tuples: 1Ki, 'é': 2, tuple: 9B}\nbackend: cpu\nchart: {x: tuples}\n";
    assert!(plain(marked).starts_with("r.yaml:1:24: unknown key `é`"), "{}", plain(marked));
    let block = "scatter:\n  tuples: 1Ki\n  method:\n    - direct\n    - segmented:\n        segments: 8\n        \
                 passes: 1..8\nbackend: cpu\nchart: {x: tuples}\n";
    assert!(
        plain(block).starts_with("r.yaml:7:17: scatter.method.segmented.passes: bad range"),
        "{}",
        plain(block)
    );
    let text = "title: >-\n  a title\n  in two lines\nscatter: {tuples: 1Ki, locations: \"ran\\\n  dm\"}\n\
                backend: cpu\nchart: {x: tuples}\n";
    assert!(
        plain(text).starts_with("r.yaml:4:35: scatter.locations: unknown word `randm`"),
        "{}",
        plain(text)
    );
    let alias = "scatter: {tuples: &n 1Q}\nbackend: cpu\nchart: {x: tuples}\nseed: *n\n";
    assert!(plain(alias).starts_with("r.yaml:1:19: "), "{}", plain(alias));
}

#[test]
fn long_words_and_control_characters_stay_out_of_messages() {
    let long = format!(
        "scatter: {{tuples: 1Ki, locations: {}}}\nbackend: cpu\nchart: {{x: tuples}}\n",
        "a".repeat(999)
    );
    assert!(plain(&long).len() < 250, "{}", plain(&long));
    let escape = "scatter: {tuples: 1Ki, \"\\e[31m\": 1}\nbackend: cpu\nchart: {x: tuples}\n";
    let message = outcome(escape, &Overrides::default());
    assert!(message.contains("unknown key `\\u{1b}[31m`") && !message.contains('\u{1b}'), "{message}");
}

const BASE: &str = "\
scatter: {method: [direct, {multipass: {passes: 1..8 x2}}], tuples: 1Ki}
backend: [scalar, {cpu: {threads: 2}}]
chart: {x: passes, lines: [method, backend]}
";

/// Keys and values for `--set` on [`BASE`], with their messages.
const OVERRIDES: &[(&str, &str, &str)] = &[
    (
        "tupels",
        "1Mi",
        "--set tupels=1Mi: --set: no parameter `tupels`; accepted: method, passes, tuples, tuple, index, locations, backend, threads, isa, seed, peers, measure.rounds, measure.max-rounds, measure.samples, measure.warm-up, measure.ci, measure.budget, measure.limit, measure.max-time, measure.order, measure.cache, measure.transfer, measure.second-look, measure.certify, measure.snapshots, chart.x, chart.y, chart.statistic, chart.lines, chart.panels, chart.best-of, chart.scale, chart.relative-to, chart.ratio-to, chart.ceiling, chart.model, chart.bars, chart.overlay (did you mean `tuples`?)",
    ),
    (
        "tuples",
        "1Q",
        "--set tuples=1Q: scatter.tuples: `1Q` has no known unit; accepted: k, M, G (1000), Ki, Mi, Gi (1024)",
    ),
    (
        "tuples",
        "[1",
        "--set tuples=[1: not YAML: did not find expected ',' or ']' (is a bracket still open, or a comma missing?)",
    ),
    ("tuples", "", "--set tuples=: scatter.tuples: expected a count such as `4096` or `16Mi`, found nothing"),
    (
        "segments",
        "4",
        "--set segments=4: scatter.method.segmented.segments: the recipe does not select the variant to which this parameter belongs; set that first",
    ),
    ("seed", "x", "--set seed=x: seed: `x` is not a number; write a count such as `4096` or `16Mi`"),
    ("peers", "cub", "--set peers=cub: peers: unknown word `cub`; accepted: PEERS"),
    ("measure.rounds", "0", "--set measure.rounds=0: measure.rounds: 0 is out of range; accepted: 1 to 1k"),
    ("measure.ci", "2", "--set measure.ci=2: measure.ci: `2` has no unit; write a share such as `3%`"),
    (
        "measure.budget",
        "2d",
        "--set measure.budget=2d: measure.budget: `2d` has no known unit; accepted: h, min, s, ms, us, ns",
    ),
    (
        "measure.order",
        "randm",
        "--set measure.order=randm: measure.order: unknown word `randm`; accepted: interleaved, sequential, random (did you mean `random`?)",
    ),
    (
        "measure.max-round",
        "9",
        "--set measure.max-round=9: --set: no parameter `measure.max-round`; accepted: method, passes, tuples, tuple, index, locations, backend, threads, isa, seed, peers, measure.rounds, measure.max-rounds, measure.samples, measure.warm-up, measure.ci, measure.budget, measure.limit, measure.max-time, measure.order, measure.cache, measure.transfer, measure.second-look, measure.certify, measure.snapshots, chart.x, chart.y, chart.statistic, chart.lines, chart.panels, chart.best-of, chart.scale, chart.relative-to, chart.ratio-to, chart.ceiling, chart.model, chart.bars, chart.overlay (did you mean `measure.max-rounds`?)",
    ),
    (
        "measure",
        "{rounds: 1}",
        "--set measure={rounds: 1}: measure: set one of its keys: measure.rounds, measure.max-rounds, measure.samples, measure.warm-up, measure.ci, measure.budget, measure.limit, measure.max-time, measure.order, measure.cache, measure.transfer, measure.second-look, measure.certify, measure.snapshots",
    ),
    (
        "chart.x",
        "nope",
        "--set chart.x=nope: chart.x: no parameter `nope`; accepted: method, passes, tuples, tuple, index, locations, backend, threads, isa",
    ),
    (
        "title",
        "T",
        "--set title=T: --set: no parameter `title`; accepted: method, passes, tuples, tuple, index, locations, backend, threads, isa, seed, peers, measure.rounds, measure.max-rounds, measure.samples, measure.warm-up, measure.ci, measure.budget, measure.limit, measure.max-time, measure.order, measure.cache, measure.transfer, measure.second-look, measure.certify, measure.snapshots, chart.x, chart.y, chart.statistic, chart.lines, chart.panels, chart.best-of, chart.scale, chart.relative-to, chart.ratio-to, chart.ceiling, chart.model, chart.bars, chart.overlay",
    ),
];

#[test]
fn each_malformed_override_says_which() {
    for (key, value, message) in OVERRIDES {
        let overrides =
            Overrides { set: vec![((*key).to_owned(), (*value).to_owned())], ..Overrides::default() };
        assert_eq!(outcome(BASE, &overrides), named(message));
    }
    let overrides = Overrides { backends: vec!["cpu".to_owned(), "cdua".to_owned()], ..Overrides::default() };
    let message = "--backend cpu,cdua: backend: unknown word `cdua`; accepted: scalar, cpu, cuda (did you mean `cuda`?)";
    assert_eq!(outcome(BASE, &overrides), message);
}

/// Inputs designed to take long or to overflow something; all must end quickly with a message.
#[test]
fn hostile_inputs_end_quickly() {
    let bomb = (1..9).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned(), |text, i| {
        let alias = format!("*a{}", i - 1);
        text + &format!("a{i}: &a{i} [{}]\n", [alias.as_str(); 10].join(","))
    });
    let wide = format!(
        "scatter: {{method: [{}], tuples: 1}}\n",
        "{multipass: {passes: 1..4000 +1}},".repeat(20_000)
    );
    let hostile = [
        ("alias bomb", bomb),
        ("recursive alias", "a: &a [*a, *a]\n".to_owned()),
        ("open brackets", "[".repeat(1 << 20)),
        ("open braces", "{a: ".repeat(1 << 18)),
        ("block sequences", "- ".repeat(1 << 19)),
        ("block keys", (0..700).map(|i| format!("{}a:\n", " ".repeat(i))).collect()),
        ("complex keys", "? ".repeat(1 << 19)),
        ("too large", "#".repeat((1 << 20) + 1)),
        ("long scalar", format!("title: {}", "x".repeat(1 << 19))),
        ("long list", format!("scatter: {{tuples: [{}]}}\n", "1,".repeat(1 << 19))),
        ("many keys", (0..100_000).map(|i| format!("k{i}: 1\n")).collect()),
        ("many anchors", (0..100_000).map(|i| format!("- &k{i} 1\n")).collect()),
        ("many documents", "---\n".repeat(1 << 18)),
        ("ranges in a list", wide),
        ("huge lists shared", format!("a: &a [{}]\nb: [{}]\n", "1,".repeat(1 << 17), "*a,".repeat(1 << 17))),
        ("quotes", "\"".repeat(1 << 20)),
        ("tags", "!a ".repeat(1 << 18)),
        ("null bytes", "\0".repeat(1 << 20)),
        ("tabs", "\t".repeat(1 << 20)),
    ];
    for (name, text) in hostile {
        let start = Instant::now();
        let message = plain(&text);
        println!("{name}: {:?}: {message}", start.elapsed());
        assert!(message.starts_with("r.yaml:") && !message.contains('\n'), "{name}: {message}");
        assert!(start.elapsed() < Duration::from_secs(5), "{name} took {:?}", start.elapsed());
    }
}

#[test]
fn a_long_file_name_is_given_in_full() {
    let name = format!("{}/r.yaml", "folder".repeat(20));
    let error = parse(&name, "a: 1\n").map(|_| ()).expect_err("an unknown key");
    assert!(error.to_string().starts_with(&format!("{name}:1:1: unknown key `a`")), "{error}");
}
