//! Any input is either refused in one line or becomes a plan; nothing panics.
//!
//! `SCATTERLAB_FUZZ_SECONDS=600 cargo test --test program spatter::fuzz` runs for ten minutes.

use std::time::{Duration, Instant};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};
use scatterlab::recipe;
use scatterlab::recipe::plan::{self, Overrides};
use scatterlab::spatter::table::{Kind, OPTIONS, Opt};
use scatterlab::spatter::{CommandLine, Job, Suite, to_recipe};

use super::MACHINE;

/// Checks that the input is refused in one line, or becomes a recipe that resolves to equally many cases.
fn settled(arguments: &[String], suite: Option<&str>) -> Result<(), TestCaseError> {
    let job = CommandLine::read(arguments).and_then(|line| {
        let suite = suite.map(|text| Suite::read("s.json", text)).transpose()?;
        Job::of(&line, suite, &MACHINE)
    });
    let text = match job.as_ref().map(to_recipe) {
        Ok(text) => text,
        Err(refused) => {
            prop_assert!(!refused.message.is_empty() && [1, 255].contains(&refused.status));
            return Ok(());
        }
    };
    let recipe = recipe::parse("recipe", &text);
    let plan = recipe.and_then(|recipe| plan::resolve(&recipe, &Overrides::default()));
    let plan = plan.map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
    prop_assert_eq!(plan.cases.len(), job.map_or(0, |job| job.configs.len()));
    Ok(())
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => (0u64..40).prop_map(|number| number.to_string()),
        1 => any::<u64>().prop_map(|number| number.to_string()),
        1 => select(vec!["-1", "1e3", "", "+5", "00", "9223372036854775807", "1.5", "x"]).prop_map(str::to_owned),
    ]
}

fn pattern() -> impl Strategy<Value = String> {
    let list = || vec(number(), 1..5).prop_map(|numbers| numbers.join(","));
    prop_oneof![
        list(),
        (select(vec!["UNIFORM", "MS1", "LAPLACIAN", "RANDOM"]), vec(list(), 0..5))
            .prop_map(|(name, fields)| format!("{name}:{}", fields.join(":"))),
        (1u64..40, 1u64..40).prop_map(|(length, stride)| format!("UNIFORM:{length}:{stride}:NR")),
        "[A-Z0-9:,]{0,12}",
    ]
}

fn value(option: &'static Opt) -> BoxedStrategy<String> {
    match option.kind {
        Kind::Word(words) => {
            prop_oneof![4 => select(words.to_vec()).prop_map(str::to_owned), 1 => "[a-z]{0,5}"].boxed()
        }
        Kind::Pattern => pattern().boxed(),
        Kind::Deltas => {
            prop_oneof![number(), vec(number(), 1..4).prop_map(|numbers| numbers.join(","))].boxed()
        }
        Kind::Text => "\\PC{0,6}".boxed(),
        _ => number().boxed(),
    }
}

/// An option as a user may write it: long, abbreviated, short, attached or not.
fn option() -> impl Strategy<Value = Vec<String>> {
    (0..OPTIONS.len()).prop_flat_map(|at| {
        let option = &OPTIONS[at];
        (value(option), 0usize..6, 1..=option.long.len()).prop_map(move |(value, form, end)| {
            match (form, option.short) {
                (0, _) => vec![format!("--{}={value}", option.long)],
                (1, _) => vec![format!("--{}", &option.long[..end]), value],
                (2 | 3, Some(short)) => vec![format!("-{short}{value}")],
                (4, Some(short)) => vec![format!("-{short}"), value],
                _ => vec![format!("--{}", option.long)],
            }
        })
    })
}

fn arguments() -> impl Strategy<Value = Vec<String>> {
    prop_oneof![
        4 => vec(option(), 0..8).prop_map(|options| options.concat()),
        1 => vec("\\PC{0,8}", 0..6),
        2 => (pattern(), vec(option(), 0..4)).prop_map(|(pattern, options)| [vec!["-p".to_owned(), pattern], options.concat()].concat()),
    ]
}

fn json_value() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => number(),
        2 => pattern().prop_map(|pattern| format!("{pattern:?}")),
        2 => vec(number(), 0..6).prop_map(|numbers| format!("[{}]", numbers.join(", "))),
        1 => select(vec!["\"gs\"", "\"Scatter\"", "\"multigather\"", "null", "true", "{}", "\"\\u0000\"", "\"µ'\\\"\""]).prop_map(str::to_owned),
    ]
}

fn suite() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        8 => select(scatterlab::spatter::table::json_keys()).prop_map(str::to_owned),
        1 => "[a-z-]{0,8}",
    ];
    let entry = (key, json_value()).prop_map(|(key, value)| format!("{key:?}: {value}"));
    let whole = (vec(number(), 1..6), vec(entry, 0..4)).prop_map(|(pattern, entries)| {
        format!(
            "{{\"pattern\": [{}]{}}}",
            pattern.join(","),
            entries.iter().map(|e| format!(", {e}")).collect::<String>()
        )
    });
    prop_oneof![
        6 => vec(whole, 0..4).prop_map(|items| format!("[{}]", items.join(",\n"))),
        1 => "\\PC{0,40}",
        1 => "[\\[\\]{}\",:0-9 pattern]{0,40}",
    ]
}

/// Repeats the test until the time is up, at least once.
fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let seconds =
        std::env::var("SCATTERLAB_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let end = Instant::now() + Duration::from_secs(seconds);
    loop {
        let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::with_cases(2000) });
        runner.run(&strategy, &test).unwrap_or_else(|error| panic!("{error}"));
        if Instant::now() >= end {
            return;
        }
    }
}

#[test]
fn fuzz_command_lines() {
    check(arguments(), |arguments| settled(&arguments, None));
}

#[test]
fn fuzz_suites() {
    check(suite(), |text| settled(&["-b".to_owned(), "serial".to_owned()], Some(&text)));
}
