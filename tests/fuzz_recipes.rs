//! Mutated recipes, overrides and quantities: nothing may panic or take long. The short run is an ordinary
//! test; the long one is
//! `SCATTERLAB_FUZZ_SECONDS=600 cargo test --release --test fuzz_recipes -- --ignored`.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use scatterlab::case::units::{parse_bytes, parse_count, parse_seconds};
use scatterlab::inputs::notation;
use scatterlab::recipe::parse;
use scatterlab::recipe::plan::{Overrides, resolve};

/// Longest time that a single input may take.
const LIMIT: Duration = Duration::from_secs(2);

/// Pieces of the language, for splicing into recipes and for overrides.
#[rustfmt::skip]
const TOKENS: &[&str] = &[
    "1..64 x2", "1..4096 +1", "0..1 +0.1", "8B..32B x2", "1..", "..", "x2", "+1", "16Mi",
    "18446744073709551615", "18446744073709551616", "-1", "1e308", ".nan", "0x10", "8B", "2GB", "true", "null",
    "~", "[", "]", "{", "}", ",", ": ", "\n", "\n  ", "- ", "&a ", "*a", "!t ", "? ", "| ", "> ", "\"", "'",
    "#", "---\n", "é", "\u{feff}", "\0", "\t", "scatter", "gather", "stream", "pattern", "method", "multipass",
    "passes", "segmented", "segments", "tuples", "tuple", "index", "locations", "partitions", "zipf", "random",
    "backend", "cpu", "cuda", "threads", "isa", "auto", "chart", "x", "y", "lines", "panels", "relative-to", "ceiling", "copy",
    "measure", "rounds", "samples", "seed", "cases", "experiments", "title", "paper", "kernel", "uniform",
    "length", "stride", "ms1", "breaks", "gaps", "laplacian", "dimensions", "size", "custom", "app",
    "PENNANT-G0", "delta", "no-reuse", "wrap", "count", "footprint", "traffic", "gs", "elements", "seed: 7",
    "[1, 2, 4]", "[[0], [8]]", "{multipass: {passes: 4}}", "{partitions: 32}", "{cpu: {threads: [1, 2]}}",
];

/// Overrides that many recipes accept.
const PAIRS: &[(&str, &str)] = &[
    ("tuples", "1Ki..4Ki x2"),
    ("method", "[direct, {multipass: {passes: [1, 2]}}]"),
    ("locations", "{partitions: 1..64 x2}"),
    ("app", "[PENNANT-G0, AMG-G0]"),
    ("uniform", "{length: 8, stride: 1..4 x2}"),
    ("footprint", "null"),
    ("threads", "[1, auto]"),
    ("seed", "9"),
    ("measure.rounds", "2"),
    ("chart.x", "backend"),
    ("chart.lines", "[]"),
];

/// A small generator of our own (SplitMix64), so that a failing seed determines the whole input.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }

    fn token(&mut self) -> &'static str {
        self.pick::<&str>(TOKENS)
    }
}

/// The shipped recipes, the documentation's recipes and the malformed ones.
fn corpus() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for path in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "yaml") {
                found.push(fs::read_to_string(&path).expect("a text"));
            }
        }
    }
    let mut texts = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments"), &mut texts);
    let documentation = include_str!("../docs/recipes.md").split("```yaml\n").skip(1);
    texts.extend(documentation.filter_map(|b| b.split("```").next()).map(str::to_owned));
    // Balances the number of correct and malformed recipes.
    let mut texts = [&texts[..]; 4].concat();
    texts.extend(include_str!("malformed.txt").split("\n====\n").map(str::to_owned));
    texts
}

/// A recipe after one to eight small accidents.
fn mutated(corpus: &[String], random: &mut Random) -> String {
    let mut bytes = random.pick(corpus).clone().into_bytes();
    let most = *random.pick(&[1, 2, 8]);
    for _ in 0..=random.below(most) {
        let (from, to) = span(&bytes, random);
        match random.below(7) {
            0 => bytes[from..to].iter_mut().take(1).for_each(|b| *b ^= 1 << random.below(8)),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, random.token().bytes())),
            3 => drop(bytes.splice(from..to, random.token().bytes())),
            4 => {
                let copy = bytes[from..to].to_vec();
                drop(bytes.splice(from..from, copy));
            }
            5 => {
                let other = random.pick(corpus).as_bytes();
                let (a, b) = span(other, random);
                drop(bytes.splice(from..from, other[a..b].iter().copied()));
            }
            _ => drop(
                bytes
                    .splice(from..to, (0..random.below(6)).map(|_| b"0123456789.xkMGiB+-"[random.below(19)])),
            ),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A short span of a text, or occasionally a long one.
fn span(bytes: &[u8], random: &mut Random) -> (usize, usize) {
    let from = random.below(bytes.len() + 1);
    let longest = if random.below(8) == 0 { bytes.len() } else { 12 };
    (from, (from + random.below(longest + 1)).min(bytes.len()))
}

/// Overrides assembled from words of the language.
fn overrides(random: &mut Random) -> Overrides {
    let words =
        |random: &mut Random, most| (0..=random.below(most)).map(|_| random.token()).collect::<String>();
    let key = |random: &mut Random| {
        let parts: Vec<&str> = (0..=random.below(3)).map(|_| random.token()).collect();
        parts.join(".")
    };
    let pair = |random: &mut Random| match random.below(3) {
        0 => (key(random), words(random, 3)),
        1 => (random.token().to_owned(), random.token().to_owned()),
        _ => {
            let (key, value) = *random.pick(PAIRS);
            (key.to_owned(), value.to_owned())
        }
    };
    let set = (0..random.below(3)).map(|_| pair(random)).collect();
    let backends = (0..random.below(3)).map(|_| (*random.pick(&["scalar", "cpu", "cuda", "gpu"])).to_owned());
    Overrides { set, backends: backends.collect(), ..Overrides::default() }
}

/// A quantity, or a text that resembles one.
fn quantity(random: &mut Random) -> String {
    (0..random.below(24))
        .map(|_| *random.pick(&['0', '1', '9', '.', 'k', 'M', 'G', 'i', 'B', 's', 'm', 'u', 'µ', ' ', '-']))
        .collect()
}

/// A pattern in Spatter's notation, or a text that resembles one.
fn pattern(random: &mut Random) -> String {
    let words =
        ["UNIFORM", "MS1", "LAPLACIAN", ":", ":", ":", ",", "NR", "-", " ", "18446744073709551615", "2"];
    (0..random.below(12))
        .map(|_| match random.below(2) {
            0 => (*random.pick(&words)).to_owned(),
            _ => (random.next() >> random.below(64)).to_string(),
        })
        .collect()
}

/// Whether the recipe was accepted, without and with the overrides. Fails on a panic or on an input that takes
/// too long.
fn one_input(corpus: &[String], seed: u64) -> (bool, bool) {
    let mut random = Random(seed);
    let (text, overrides, number) =
        (mutated(corpus, &mut random), overrides(&mut random), quantity(&mut random));
    let pattern = pattern(&mut random);
    let start = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(|| {
        let _ = (parse_count(&number), parse_bytes(&number), parse_seconds(&number));
        let _ = notation::parse(&pattern);
        let recipe = parse("r.yaml", &text);
        [Overrides::default(), overrides.clone()].map(|overrides| {
            let plan = recipe.clone().and_then(|recipe| resolve(&recipe, &overrides));
            plan.map(|_| ()).map_err(|error| error.to_string())
        })
    }));
    let took = start.elapsed();
    let input = || {
        format!(
            "seed {seed}, overrides {overrides:?}, quantity {number:?}, pattern {pattern:?}, recipe:\n{text}"
        )
    };
    let Ok(results) = result else { panic!("a panic with {}", input()) };
    assert!(took < LIMIT, "{took:?} with {}", input());
    for message in results.iter().filter_map(|r| r.as_ref().err()) {
        assert!(!message.chars().any(char::is_control), "message {message:?} with {}", input());
    }
    (results[0].is_ok(), results[1].is_ok())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_recipes_never_panic_and_end_quickly(seed: u64) {
        one_input(&corpus(), seed);
    }

    #[test]
    fn no_pattern_panics(text in "(UNIFORM|MS1|LAPLACIAN)?(:?[0-9,]{0,22}){0,5}(:NR)?") {
        let _ = notation::parse(&text);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,200}") {
        let _ = parse("r.yaml", &text).map(|recipe| resolve(&recipe, &Overrides::default()));
    }
}

#[test]
#[ignore = "runs for SCATTERLAB_FUZZ_SECONDS (default 60)"]
fn fuzz_for_a_while() {
    let seconds = std::env::var("SCATTERLAB_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let (corpus, start) = (corpus(), Instant::now());
    let first = std::env::var("SCATTERLAB_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0u64);
    let (mut inputs, mut plain, mut changed) = (0u64, 0u64, 0u64);
    while start.elapsed() < Duration::from_secs(seconds) {
        let understood = one_input(&corpus, first.wrapping_add(inputs));
        plain += u64::from(understood.0);
        changed += u64::from(understood.1);
        inputs += 1;
    }
    println!(
        "{inputs} inputs from seed {first}: {plain} understood, {changed} with overrides, {:?}",
        start.elapsed()
    );
    assert!(
        plain * 100 > inputs && changed * 100 > inputs,
        "too few are understood: the mutations are too wild"
    );
}
