//! Mutated recipes with overrides assembled from words of the language, and quantities.

use std::fs;
use std::path::Path;

use scatterlab::case::units::{parse_bytes, parse_count, parse_seconds};
use scatterlab::recipe;
use scatterlab::recipe::plan::{Overrides, resolve, with_overrides};

use super::mutate::Random;
use super::{Outcome, Target};

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

/// The shipped recipes, the documentation's recipes and the malformed ones.
fn corpus() -> Vec<Vec<u8>> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "yaml") {
                found.push(fs::read_to_string(&path).expect("a text"));
            }
        }
    }
    let mut texts = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments"), &mut texts);
    let documentation = include_str!("../../../docs/recipes.md").split("```yaml\n").skip(1);
    texts.extend(documentation.filter_map(|block| block.split("```").next()).map(str::to_owned));
    // Balances the number of correct and malformed recipes.
    let mut texts = [&texts[..]; 4].concat();
    texts.extend(include_str!("../malformed.txt").split("\n====\n").map(str::to_owned));
    texts.into_iter().map(String::into_bytes).collect()
}

/// Overrides assembled from words of the language.
fn overrides(random: &mut Random) -> Overrides {
    let words = |random: &mut Random, most| {
        (0..=random.below(most)).map(|_| *random.pick(TOKENS)).collect::<String>()
    };
    let key = |random: &mut Random| {
        let parts: Vec<&str> = (0..=random.below(3)).map(|_| *random.pick(TOKENS)).collect();
        parts.join(".")
    };
    let pair = |random: &mut Random| match random.below(3) {
        0 => (key(random), words(random, 3)),
        1 => ((*random.pick(TOKENS)).to_owned(), (*random.pick(TOKENS)).to_owned()),
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

/// Parses the recipe, alone and with overrides; where both can be resolved, writes the overrides into its text, which
/// is then understood.
fn parse(input: &[u8], random: &mut Random) -> Outcome {
    let (text, overrides, number) = (String::from_utf8_lossy(input), overrides(random), quantity(random));
    let _ = (parse_count(&number), parse_bytes(&number), parse_seconds(&number));
    let recipe = match recipe::parse("r.yaml", &text) {
        Ok(recipe) => recipe,
        Err(error) => return Ok(Some(error.to_string())),
    };
    if let Err(error) = resolve(&recipe, &Overrides::default()) {
        return Ok(Some(error.to_string()));
    }
    let plan = match resolve(&recipe, &overrides) {
        Ok(plan) => plan,
        Err(error) => return Ok(Some(error.to_string())),
    };
    let Ok(patched) = with_overrides(&recipe, &overrides, &plan) else { return Ok(None) };
    match recipe::parse("r.yaml", &patched) {
        Ok(_) => Ok(None),
        Err(error) => Err(format!("with {overrides:?} in its text it is refused: {error}")),
    }
}

#[test]
fn recipe_and_patch() {
    Target { name: "recipe", corpus: corpus(), tokens: TOKENS, parse }.fuzz();
}
