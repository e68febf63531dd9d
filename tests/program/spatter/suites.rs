//! Spatter's own input files: the bytes that each configuration moves.

use std::fs;
use std::path::Path;

use scatterlab::case::Case;
use scatterlab::primitives::pattern::spec::Kernel;
use scatterlab::recipe::plan::{self, Overrides};
use scatterlab::spatter::pattern::Delta;
use scatterlab::spatter::{self, Job, Suite};
use scatterlab::{primitives, recipe};

use super::job_with;

fn read(name: &str) -> Job {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/spatter").join(name);
    let text = fs::read_to_string(path).expect("a fixture");
    job_with("-b serial -f suite.json", Some(&text)).unwrap_or_else(|refused| panic!("{name}: {refused}"))
}

fn bytes(job: &Job) -> Vec<u64> {
    job.configs.iter().map(|config| config.bytes()).collect()
}

/// The expected values are P · count · 8, computed by hand.
#[test]
fn bytes_of_every_configuration() {
    // 16 · 1,454,647 · 8
    assert_eq!(bytes(&read("amg.json")), [186_194_816, 186_194_816]);
    // 16 · count · 8
    let lulesh = [
        73_959_168, 29_593_344, 21_479_040, 16_384_256, 12_334_080, 12_334_080, 12_311_808, 11_265_408,
        9_829_632, 9_829_632, 9_829_632, 9_250_560,
    ];
    assert_eq!(bytes(&read("lulesh.json")), lulesh);
    // 8 · count · 8: 2 GB over the stride
    let cpu = [
        2_000_000_000,
        1_000_000_000,
        500_000_000,
        250_000_000,
        125_000_000,
        62_499_968,
        31_249_984,
        15_624_960,
    ];
    assert_eq!(bytes(&read("cpu-ustride.json")), [cpu, cpu].concat());
    // 256 · count · 8: 8 GB over the stride
    let gpu = [
        8_000_000_000,
        4_000_000_000,
        1_999_998_976,
        999_999_488,
        499_998_720,
        249_999_360,
        124_999_680,
        62_498_816,
    ];
    assert_eq!(bytes(&read("gpu-ustride.json")), [gpu, gpu].concat());
}

/// Kernels, deltas and the sizes of the arrays.
#[test]
fn they_mean_what_they_say() {
    let lulesh = read("lulesh.json");
    let kernels: String =
        lulesh.configs.iter().map(|c| if c.kernel == Kernel::Scatter { 'S' } else { 'G' }).collect();
    assert_eq!(kernels, "SGSSGGGSGGGG");
    let deltas: Vec<Delta> = lulesh.configs.iter().map(|config| config.delta.clone()).collect();
    assert_eq!(deltas, [0, 1, 1, 8, 4, 8, 8, 1, 8, 41, 1, 1].map(Delta::One));
    assert_eq!(lulesh.configs[0].sparse(&lulesh.configs[0].pattern, &lulesh.configs[0].delta), Some(361));
    for (name, length) in [("cpu-ustride.json", 8), ("gpu-ustride.json", 256)] {
        let job = read(name);
        for (at, config) in job.configs.iter().enumerate() {
            let stride = 1 << (at % 8);
            assert_eq!(config.delta, Delta::One(length * stride), "no reuse: length · stride");
            assert_eq!(config.pattern[1], stride);
        }
    }
    assert_eq!(
        read("gpu-ustride.json").notes,
        [
            "configurations 0-15: local-work-size does nothing: blocks of threads have the size that suits the kernel"
        ]
    );
}

/// A suite becomes a recipe, and the recipe a plan that moves the same bytes in the same order.
#[test]
fn the_plan_moves_what_the_table_says() {
    for name in ["amg.json", "lulesh.json", "cpu-ustride.json", "gpu-ustride.json"] {
        let job = read(name);
        let text = spatter::to_recipe(&job);
        let recipe = recipe::parse(name, &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let plan =
            plan::resolve(&recipe, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let work = |case: &Case| {
            let primitive = primitives::find(&case.primitive).expect("a primitive");
            primitive.work(&case.params).expect("it can be done").effective_bytes
        };
        assert_eq!(plan.cases.iter().map(work).collect::<Vec<_>>(), bytes(&job), "{name}");
    }
}

/// Equal configurations keep separate rows. The suite is also read as a single line: this would take minutes if
/// places were counted from the beginning each time.
#[test]
fn thousands_of_configurations_are_read_at_once() {
    let item = r#"{"pattern": [0, 8], "count": 3, "nruns": 2}"#;
    let suite = |between: &str| {
        let items = vec![item; 10_000];
        Suite::read("s.json", &format!("[{}]", items.join(between))).expect("a suite")
    };
    let last = |suite: Suite| suite.configurations.last().map(|last| last.place.clone());
    assert_eq!(last(suite(",\n")), Some("s.json:10000:1".to_owned()));
    assert_eq!(last(suite(",")), Some(format!("s.json:1:{}", 9_999 * (item.len() + 1) + 2)));
}

#[test]
fn a_configuration_may_come_again() {
    let text =
        r#"[{"pattern": [0, 8]}, {"pattern": [0, 8]}, {"pattern": [0, 8], "nruns": 3}, {"pattern": [0, 8]}]"#;
    let job = job_with("-b serial -f suite.json", Some(text)).expect("a job");
    let text = spatter::to_recipe(&job);
    let recipe = recipe::parse("recipe", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let plan =
        plan::resolve(&recipe, &Overrides::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let samples = |case: &Case| plan.experiments[case.experiment].measure.samples;
    assert_eq!(plan.cases.iter().map(samples).collect::<Vec<_>>(), [10, 10, 3, 10]);
}
