//! Compares the JSON Schema of the recipe language with the parser: each must accept the recipes that the other
//! accepts, as far as a schema can tell.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use scatterlab::case::BACKENDS;
use scatterlab::case::schema::{Kind, Param, ParamDefault, Variant};
use scatterlab::primitives::registry;
use scatterlab::recipe::json_schema::json_schema;
use scatterlab::recipe::parse;
use serde_json::Value as Json;

fn validator() -> &'static Validator {
    static VALIDATOR: OnceLock<Validator> = OnceLock::new();
    VALIDATOR.get_or_init(|| jsonschema::draft202012::new(&json_schema()).expect("a valid schema"))
}

/// Whether the schema accepts a text; `None` if the text is not YAML that JSON can represent, which an editor
/// reports by itself.
fn accepted(text: &str) -> Option<bool> {
    let recipe: Json = serde_yaml::from_str(text).ok()?;
    Some(validator().is_valid(&recipe))
}

/// The schema's complaints, for messages of this test.
fn complaints(text: &str) -> String {
    let recipe: Json = serde_yaml::from_str(text).unwrap_or(Json::Null);
    validator().iter_errors(&recipe).map(|e| format!("{}: {e}\n", e.instance_path())).collect()
}

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path))
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

#[test]
fn the_schema_is_one_of_its_draft() {
    assert!(jsonschema::draft202012::meta::is_valid(&json_schema()));
}

/// `SCATTERLAB_WRITE_DOCS=1 cargo test --test lab json_schema` regenerates the copy.
#[test]
fn the_committed_copy_is_fresh() {
    let fresh = serde_json::to_string_pretty(&json_schema()).expect("JSON") + "\n";
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recipe.schema.json");
        return std::fs::write(path, fresh).expect("written");
    }
    assert!(
        file("docs/recipe.schema.json") == fresh,
        "rewrite it: SCATTERLAB_WRITE_DOCS=1 cargo test --test lab json_schema"
    );
}

/// The paths of the recipes of `scatterlab verify`.
fn suites() -> Vec<String> {
    let folders =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/primitives")).expect("a folder");
    let names = folders.map(|folder| folder.expect("an entry").file_name().into_string().expect("a name"));
    let files = |folder: String| {
        ["verify", "verify-cuda", "verify-large"]
            .map(|file| format!("src/core/primitives/{folder}/{file}.yaml"))
    };
    let there = |path: &String| Path::new(env!("CARGO_MANIFEST_DIR")).join(path).is_file();
    names.flat_map(files).filter(there).collect()
}

/// The texts between a start and an end marker, such as the recipes in a document or a test.
fn between<'t>(text: &'t str, start: &str, end: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(start).skip(1).filter_map(move |rest| rest.split(end).next()).collect::<Vec<_>>().into_iter()
}

#[test]
fn every_recipe_that_ships_or_is_documented_is_accepted() {
    let mut texts: Vec<(String, String)> = scatterlab::recipe::shipped::shipped()
        .iter()
        .map(|s| (s.path.to_owned(), s.text.to_owned()))
        .collect();
    for page in ["docs/recipes.md", "README.md"] {
        texts.extend(between(&file(page), "```yaml\n", "```").map(|t| (page.to_owned(), t.to_owned())));
    }
    let suites = suites();
    assert!(suites.len() >= 8, "{suites:?}");
    for suite in suites {
        let text = file(&suite).replace("BACKEND_AXES", "threads").replace("BACKEND", "{cpu: {threads: 2}}");
        texts.push((suite, text));
    }
    for (name, text) in texts {
        assert_eq!(accepted(&text), Some(true), "{name}:\n{}", complaints(&text));
    }
}

/// Mistakes that a schema cannot detect, by the parser's messages.
const SEMANTIC: [(&str, &str); 28] = [
    ("is ambiguous", "which parameters an experiment has depends on the variants that it chooses"),
    ("but chart assigns it to neither", "axes against the chart"),
    ("is in more than one of x, lines, panels and best-of", "places of the chart against each other"),
    ("so it has no scale", "a scale against the values of x"),
    ("which has no logarithm", "a scale against the values of x, or against the kind of y"),
    ("a copy's rate is in GB/s", "what is on y against what lies over it"),
    ("the speed of light is a rate", "what is on y against what lies over it"),
    ("no case has", "the baseline against the cases"),
    ("chart.ratio-to", "the baseline against the peers, and one key against another"),
    ("chart.overlay", "tables against the paper, and machines against the table"),
    ("peers: unknown word", "peers against those that ship and those of the folder"),
    ("runs beside cases on", "peers against the backends"),
    ("give only one of", "a primitive's own rule"),
    ("this kernel needs this pattern", "a primitive's own rule"),
    ("repeats an item of the list", "items against each other, whatever their notation"),
    ("every item sets the same parameters", "items against each other"),
    ("is set in the items and beside them", "items against what stands beside them"),
    ("it ends before it starts", "the ends of a range against each other"),
    ("it has more than 4096 values", "the length of a range"),
    ("the sweeps multiply to more than", "the number of cases"),
    ("% is out of range", "limits of a number within a text"),
    ("s is out of range", "limits of a number within a text"),
    ("overflows 64 bits", "JSON numbers have no such limit of their own"),
    ("not YAML", "an editor's YAML parser says so"),
    ("more than one YAML document", "an editor takes each for a recipe of its own"),
    ("YAML tags", "gone before a schema looks"),
    ("duplicate key", "an editor's YAML parser says so"),
    ("a key must be a plain word", "gone before a schema looks"),
];

/// Among the malformed recipes, the schema rejects all that are structurally wrong, misspelt, without a unit,
/// or outside of a numeric range.
#[test]
fn malformed_recipes_are_refused_unless_only_their_meaning_is_wrong() {
    let (mut refused, mut semantic) = (0, 0);
    for block in file("tests/lab/malformed.txt").trim_end().split("\n====\n") {
        let (recipe, message) = block.rsplit_once("\n--> ").expect("a recipe and its message");
        match (accepted(recipe), SEMANTIC.iter().find(|(part, _)| message.contains(part))) {
            (Some(false), None) => refused += 1,
            (_, Some(_)) => semantic += 1,
            (seen, None) => panic!("{seen:?} although {message}:\n{recipe}"),
        }
    }
    println!("of {} malformed recipes {refused} are refused", refused + semantic);
    assert!(refused >= 65 && semantic <= 50, "{refused} refused, {semantic} semantic");
}

/// A recipe's key with a minimal valid value, as YAML.
fn least(param: &Param) -> String {
    match param.kind {
        Kind::Count { min, .. } | Kind::CountOr { min, .. } => min.to_string(),
        Kind::Bytes { min, accepted, .. } => format!("{}B", accepted.first().unwrap_or(&min)),
        Kind::Float { min, .. } => min.to_string(),
        Kind::Word(words) => words[0].to_owned(),
        Kind::Choice(variants) | Kind::Inline(variants) => format!("{{{}}}", least_variant(&variants[0])),
        Kind::Indices { .. } => "[0]".to_owned(),
        Kind::Text => "x.npy".to_owned(),
    }
}

fn least_variant(variant: &Variant) -> String {
    format!("{}: {{{}}}", variant.name, least_params(variant.params, None))
}

/// The required entries among some parameters, except the one with this name.
fn least_params(params: &[Param], without: Option<&str>) -> String {
    let needs =
        |p: &&Param| matches!(p.default, ParamDefault::Required | ParamDefault::RequiredUnless { .. });
    let needed = params.iter().filter(needs).filter(|p| Some(p.name) != without);
    needed.map(|p| format!("{}: {}", p.name, least(p))).collect::<Vec<_>>().join(", ")
}

/// Every parameter, with a recipe that has the placeholder `@` for its value.
fn holes() -> Vec<(Kind, String)> {
    let mut holes = Vec::new();
    for primitive in registry() {
        let around = format!("{}: {{@}}\nbackend: cpu\nchart: {{x: backend}}\n", primitive.name());
        dig(primitive.params(), &around, &mut holes);
    }
    let text = "stream: {kernel: copy, elements: 1}\nbackend: @\nchart: {x: backend}\n";
    holes.push((BACKENDS.kind, text.to_owned()));
    if let Kind::Choice(variants) = BACKENDS.kind {
        variants
            .iter()
            .for_each(|v| dig(v.params, &text.replace('@', &format!("{{{}: {{@}}}}", v.name)), &mut holes));
    }
    holes
}

/// Collects the parameters of a map whose place in the text is `@`.
fn dig(params: &[Param], around: &str, holes: &mut Vec<(Kind, String)>) {
    for param in params {
        let rest = least_params(params, Some(param.name));
        let comma = if rest.is_empty() { "" } else { ", " };
        let (variants, inline) = match param.kind {
            Kind::Inline(variants) => (variants, true),
            Kind::Choice(variants) => (variants, false),
            _ => (&[][..], false),
        };
        for variant in variants {
            let body = if inline {
                format!("{}: {{@}}", variant.name)
            } else {
                format!("{}: {{{}: {{@}}}}", param.name, variant.name)
            };
            dig(variant.params, &around.replace('@', &format!("{rest}{comma}{body}")), holes);
        }
        if !inline {
            holes.push((param.kind, around.replace('@', &format!("{rest}{comma}{}: @", param.name))));
        }
    }
}

const COUNT_UNITS: [&str; 7] = ["", "k", "M", "G", "Ki", "Mi", "Gi"];
const BYTE_UNITS: [&str; 7] = ["B", "kB", "MB", "GB", "KiB", "MiB", "GiB"];

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        (0u64..70).prop_map(|n| n.to_string()),
        any::<u64>().prop_map(|n| (n >> (n % 64)).to_string())
    ]
}

/// Quantities and near-quantities, and ranges of them.
fn quantity() -> impl Strategy<Value = String> {
    let unit = || {
        select(
            [COUNT_UNITS, BYTE_UNITS]
                .concat()
                .into_iter()
                .chain(["s", "%", "Kib", "ki", "b", " "])
                .collect::<Vec<_>>(),
        )
    };
    let one = || (number(), unit()).prop_map(|(number, unit)| number + unit);
    let space = || select(vec!["", "", " "]);
    let step = select(vec!["x", "+", "", "*"]);
    let parts = (one(), one(), step, one(), space(), space());
    let range = parts.prop_map(|(a, b, step, k, s, t)| format!("{a}{s}..{s}{b} {step}{t}{k}"));
    let geometric = (1u64..5, unit(), 5u64..70, 0u64..6)
        .prop_map(|(first, unit, last, factor)| format!("{first}{unit}..{last}{unit} x{factor}"));
    let float = (-2.0..20.0f64).prop_map(|v| format!("{v:.2}"));
    let floats = (0.0..3.0f64, 0.0..9.0f64, select(vec!["x2", "x1.5", "+0.25", "+0", "x"]))
        .prop_map(|(a, b, step)| format!("{a:.1}..{b:.1} {step}"));
    prop_oneof![one(), range, geometric, float, floats]
}

/// A word that some parameter accepts, or nearly.
fn word() -> impl Strategy<Value = String> {
    let mut words: Vec<String> =
        ["~", "true", "direkt", "{}", "[]", "[[]]", "{a: 1}", "''", "no-reuse"].map(str::to_owned).to_vec();
    for (kind, _) in holes() {
        match kind {
            Kind::Word(known) => words.extend(known.iter().take(4).map(|w| (*w).to_owned())),
            Kind::CountOr { words: known, .. } => words.extend(known.iter().map(|w| (*w).to_owned())),
            Kind::Choice(variants) | Kind::Inline(variants) => {
                words.extend(variants.iter().flat_map(|v| {
                    [
                        v.name.to_owned(),
                        format!("{{{}}}", least_variant(v)),
                        format!("{{{}: ~}}", v.name),
                        format!("{{{}: 3}}", v.name),
                    ]
                }));
            }
            _ => {}
        }
    }
    select(words)
}

/// A value as a recipe may contain it: quoted or not, alone or in lists.
fn value() -> impl Strategy<Value = String> {
    let one = || prop_oneof![quantity(), word(), quantity().prop_map(|q| format!("'{q}'"))];
    let list = || prop::collection::vec(one(), 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
    let lists = prop::collection::vec(list(), 1..3).prop_map(|items| format!("[{}]", items.join(", ")));
    prop_oneof![4 => one(), 2 => list(), 1 => lists]
}

/// Mistakes beyond a schema: numbers in strings checked against limits and against each other, and whole
/// numbers with a decimal point, which are integers in JSON.
fn beyond(message: &str) -> bool {
    const PARTS: [&str; 9] = [
        "repeats an item of the list",
        "geometric range must start above 0",
        "step must be more than 0",
        "factor must be more than 1",
        "out of range",
        "overflows 64 bits",
        "ends before it starts",
        "more than 4096 values",
        "multiply to more than",
    ];
    const WHOLE: [&str; 3] = ["expected a count", "expected a list of indices", "the language's version"];
    let whole = message.contains("found the number `") && WHOLE.iter().any(|part| message.contains(part));
    whole || PARTS.iter().any(|part| message.contains(part))
}

/// Both accept the recipe or both reject it, apart from mistakes beyond a schema.
fn agree(text: &str) -> Result<(), TestCaseError> {
    let Some(accepted) = accepted(text) else { return Ok(()) };
    match parse("r.yaml", text) {
        Ok(_) => prop_assert!(accepted, "the schema refuses\n{text}{}", complaints(text)),
        Err(error) if accepted => {
            prop_assert!(beyond(&error.to_string()), "the schema accepts\n{text}{error}")
        }
        Err(_) => {}
    }
    Ok(())
}

/// Values that a kind accepts, and values that it rejects.
fn right_and_wrong(kind: &Kind) -> (Vec<String>, Vec<String>) {
    let strings = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    let quantities = |least: String, step: &str| {
        let range = format!("{least}..{least} {step}");
        vec![format!("[{range}, {least}]"), format!("[{least}]"), range, least]
    };
    let variants = |variants: &[Variant]| {
        let forms = variants.iter().flat_map(|v| {
            let bare = v.params.iter().all(|p| !matches!(p.default, ParamDefault::Required));
            let bare =
                bare.then(|| [v.name.to_owned(), format!("{{{}: ~}}", v.name), format!("[{}]", v.name)]);
            bare.into_iter().flatten().chain([format!("{{{}}}", least_variant(v))]).collect::<Vec<_>>()
        });
        forms.collect::<Vec<_>>()
    };
    let mut wrong = strings(&["true", "[]", "{}", "{nonsense: 1}", "nonsense", "-1", "1Q", "''", "[[], 1]"]);
    let mut right = match kind {
        Kind::Count { min, .. } => quantities(min.to_string(), "+1"),
        Kind::CountOr { min, list, .. } => {
            let list =
                if *list > 0 { &["{list: [8, 2Ki]}", "{list: 8}", "[{list: [8]}, 9]"][..] } else { &[] };
            wrong.extend(strings(&["{list: []}", "{list: [no]}", "{list: [8], more: 1}"]));
            [quantities(min.to_string(), "+1Ki"), strings(list)].concat()
        }
        Kind::Bytes { accepted, min, .. } => {
            wrong.push("8".to_owned());
            quantities(format!("{}B", accepted.first().unwrap_or(min)), "x2")
        }
        Kind::Float { .. } => strings(&["0", "0.5", "[0, 0.5]", "0..1 +0.25", "[.25..1 x2, 0]"]),
        Kind::Word(_) => Vec::new(),
        Kind::Choice(list) | Kind::Inline(list) => variants(list),
        Kind::Indices { .. } => strings(&["0", "[0, 8, 2Ki]", "[[0], [8, 16]]"]),
        Kind::Text => {
            wrong.retain(|value| !["nonsense", "-1", "1Q"].contains(&value.as_str()));
            wrong.extend(strings(&["' '", "\"a\\nb\""]));
            strings(&["x.npy", "a/b c.csv", "[x.npy, y.npy]", "'3'", "3", "-1.50"])
        }
    };
    if let Kind::Word(words) | Kind::CountOr { words, .. } = kind {
        right.extend(words.iter().flat_map(|word| [(*word).to_owned(), format!("[{word}]")]));
        wrong.extend(words.iter().map(|word| format!("{word}x")));
    }
    (right, wrong)
}

#[test]
fn what_each_parameter_accepts_is_accepted_by_both() {
    let mut checked = 0;
    for (kind, around) in holes() {
        let (right, wrong) = right_and_wrong(&kind);
        let texts = right.into_iter().map(|t| (t, true)).chain(wrong.into_iter().map(|t| (t, false)));
        for (value, expected) in texts {
            let text = around.replace('@', &value);
            let parsed = parse("r.yaml", &text);
            assert_eq!(parsed.is_ok(), expected, "{text}{:?}", parsed.err().map(|e| e.to_string()));
            assert_eq!(accepted(&text), Some(expected), "{text}{}", complaints(&text));
            checked += 1;
        }
    }
    assert!(checked > 500, "{checked}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_schema_and_the_parser_agree_on_every_parameter(hole: Index, value in value()) {
        static HOLES: OnceLock<Vec<(Kind, String)>> = OnceLock::new();
        let holes = HOLES.get_or_init(holes);
        agree(&hole.get(holes).1.replace('@', &value))?;
    }

    #[test]
    fn they_agree_on_the_sampling(key in select(vec!["rounds", "max-rounds", "samples", "warm-up", "ci", "budget", "limit", "order", "cache", "second-look", "certify", "snapshots", "round"]),
            value in prop_oneof![value(), "[0-9]{0,2}[.]?[0-9]{0,2}(%|s|ms|us|µs|ns|m)?", select(vec!["none", "hot", "cold", "random"]).prop_map(str::to_owned)]) {
        agree(&format!("stream: {{kernel: copy, elements: 1}}\nbackend: cpu\nchart: {{x: backend}}\nmeasure: {{{key}: {value}}}\n"))?;
    }

    #[test]
    fn they_agree_on_what_stands_around(keys in prop::collection::vec((select(vec![
        "version", "title", "paper", "seed", "backend", "peers", "chart", "measure", "experiments", "stream", "gather", "scatter"]), 0..8usize), 0..7),
        items in prop::collection::vec(0..16usize, 0..3),
    ) {
        agree(&around(&keys, &items))?;
    }
}

/// A recipe with these keys, each with one of its values, and with items of `experiments`.
fn around(keys: &[(&str, usize)], items: &[usize]) -> String {
    let mut text = String::new();
    for (at, (key, which)) in keys.iter().enumerate() {
        // Repeated keys are left to the YAML parser.
        if keys[..at].iter().any(|(other, _)| other == key) {
            continue;
        }
        let values: &[&str] = match *key {
            "version" => &["1", "2", "x"],
            "title" => &["T", "3", "''", "[a]", "\"a\\eb\""],
            "paper" => &["{key: he2007}", "{figure: 1}", "{key: x}", "{key: he2007, page: 1}"],
            "seed" => &["1", "7k", "-1"],
            "peers" => &["plain", "[spatter, plain]", "null", "cub", "{}"],
            "backend" => &["cpu", "[cpu, cuda]", "gpu"],
            "chart" => &[
                "{x: backend}",
                "{x: backend, y: time}",
                "{y: time}",
                "{x: backend, z: 1}",
                "{x: [backend]}",
            ],
            "measure" => &["{rounds: 2}", "{}", "{round: 2}"],
            "experiments" => &["@"],
            "stream" => &["{kernel: copy, elements: 4}", "{kernel: copy}"],
            _ => &[
                "{tuples: 4}",
                "{tuples: 4, tuple: 8B}",
                "{cases: [{tuples: 4}]}",
                "{tuple: 8B}",
                "{locations: {file: x.npy}}",
                "{locations: [{list: [1]}, {file: x}]}",
                "{locations: [{list: 1}, random]}",
                "{cases: [{locations: {list: 1}}, {locations: {file: y}}]}",
                "{cases: [{locations: {list: 1}}, {locations: random}]}",
            ],
        };
        text += &format!("{key}: {}\n", values[which % values.len()]);
    }
    const ITEMS: [&str; 16] = [
        "{gather: {tuples: 4}}",
        "{gather: {tuples: 4}, backend: cpu, chart: {x: backend}}",
        "{}",
        "{gather: {tuples: 4}, scatter: {tuples: 4}}",
        "{gather: {tuples: 4}, paper: {key: he2007}, backend: cpu, chart: {x: backend}}",
        "{gather: {tuples: 4}, paper: {claim: c}}",
        "{gather: {tuples: 4}, version: 1}",
        "{gather: {tuples: 4}, chart: {x: backend}}",
        "{gather: {tuples: 4}, backend: cpu}",
        "{gather: {tuples: 4}, backend: cpu, chart: {y: time}}",
        "3",
        "{scatter: {tuples: 4}, title: S, backend: cpu, chart: {x: backend}}",
        "{gather: {tuples: 4}, experiments: []}",
        "{gather: {tuples: 4}, paper: {key: he2007}}",
        "{gather: {tuples: 4}, measure: {samples: 2}}",
        "{gather: {tuple: 8B}}",
    ];
    let items: Vec<&str> = items.iter().map(|at| ITEMS[*at]).collect();
    text.replace('@', &format!("[{}]", items.join(", ")))
}
