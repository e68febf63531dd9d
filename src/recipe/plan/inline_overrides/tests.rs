use super::*;
use crate::recipe::plan::{form, resolve};

fn overrides(pairs: &[(&str, &str)]) -> Overrides {
    let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Overrides { set, ..Overrides::default() }
}

/// The folded text, checked to be equivalent to the recipe with its overrides.
fn folded(text: &str, pairs: &[(&str, &str)]) -> String {
    let (recipe, overrides) = (parse("a.yaml", text).expect("a recipe"), overrides(pairs));
    let plan = resolve(&recipe, &overrides).unwrap_or_else(|e| panic!("{pairs:?}: {e}"));
    let folded = with_overrides(&recipe, &overrides, &plan).unwrap_or_else(|e| panic!("{pairs:?}: {e}"));
    let again = parse("a.yaml", &folded).unwrap_or_else(|e| panic!("{pairs:?}: {e}\n{folded}"));
    let again = resolve(&again, &Overrides::default()).unwrap_or_else(|e| panic!("{pairs:?}: {e}\n{folded}"));
    assert!(measures_the_same(&plan, &again), "{pairs:?}\n{folded}");
    folded
}

const PASSES: &str = "# Head\ntitle: Passes # named\nexperiments:\n\
    \x20 # first\n\
    \x20 - title: Small\n    scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 16Ki, locations: random}\n\
    \x20 - title: Large\n    scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 64Ki, locations: random}\n\
    \x20   measure: {samples: 2}\n\
    backend: [cpu, cuda] # both\nchart: {x: passes, y: time, lines: backend}\nmeasure: {rounds: 3, samples: 3}\n";

#[test]
fn values_change_in_their_places_and_comments_stay_unless_they_are_behind_one() {
    let text = folded(PASSES, &[("passes", "[1, 4]"), ("measure.rounds", "2"), ("backend", "cpu")]);
    let wanted = PASSES
        .replace("1..64 x2", "[1, 4]")
        .replace("rounds: 3", "rounds: 2")
        .replace("[cpu, cuda] # both", "cpu");
    assert_eq!(text, wanted);
}

#[test]
fn a_title_is_changed_or_added_and_the_rest_stays() {
    let retitled = with_title(PASSES, "Passes: \"few\" # of them").expect("a text");
    assert_eq!(parse("a.yaml", &retitled).expect("a recipe").title(), "Passes: \"few\" # of them");
    assert_eq!(retitled.lines().count(), PASSES.lines().count());
    assert!(retitled.ends_with(PASSES.split_once(" # named").expect("a comment").1), "{retitled}");
    let named =
        with_title("gather: {tuples: 1Ki, locations: random}\nbackend: cpu\nchart: {x: tuples}\n", "Small")
            .expect("a text");
    assert_eq!(parse("a.yaml", &named).expect("a recipe").title(), "Small");
    assert_eq!(with_title(PASSES, "Passes").as_deref(), Ok(PASSES), "it is that already");
}

#[test]
fn what_the_recipe_does_not_say_is_added() {
    let text = folded(
        PASSES,
        &[("tuple", "16B"), ("measure.budget", "2s"), ("seed", "7"), ("backend.cpu.threads", "1")],
    );
    assert!(text.contains("tuples: 16Ki, locations: random, tuple: 16B}"), "{text}");
    assert!(text.contains("measure: {rounds: 3, samples: 3, budget: 2s}"), "{text}");
    assert!(text.contains("backend: [{cpu: {threads: 1}}, cuda]\n"), "{text}");
    assert!(text.contains("\nseed: 7\n") && text.starts_with("# Head\n"), "{text}");
}

#[test]
fn an_axis_that_an_override_makes_is_assigned_in_the_chart() {
    let text = folded(PASSES, &[("tuples", "[1Ki, 2Ki]")]);
    assert!(text.contains("lines: [backend, tuples]"), "{text}");
}

#[test]
fn whole_choices_are_exchanged_and_their_parts_set_after() {
    let text = folded(
        PASSES,
        &[("method", "{segmented: {segments: [2, 4], passes: 2}}"), ("passes", "4"), ("chart.x", "segments")],
    );
    assert!(text.contains("method: {segmented: {segments: [2, 4], passes: 4}}"), "{text}");
    let pattern = "backend: cpu\npattern: {kernel: gather, uniform: {length: 8, stride: 1..4 x2}, count: 64}\n\
        chart: {x: stride}\n";
    let text = folded(pattern, &[("source", "{custom: [0, 4]}"), ("chart.x", "count"), ("delta", "8")]);
    assert!(text.contains("{kernel: gather, custom: [0, 4], count: 64, delta: 8}"), "{text}");
}

#[test]
fn null_takes_away_what_may_be_unset() {
    let text = "backend: {cpu: {isa: [scalar, avx2]}}\npattern: {kernel: gather, uniform: {length: 8, stride: [1, 2]}, \
        count: 64}\nchart: {x: stride, lines: isa, relative-to: {isa: scalar}}\n";
    let text = folded(text, &[("chart.relative-to", "null")]);
    assert!(!text.contains("relative-to"), "{text}");
}

#[test]
fn every_line_of_every_shipped_recipe_can_be_folded() {
    for shipped in crate::recipe::shipped::shipped() {
        let recipe = parse(shipped.path, shipped.text).expect("a recipe");
        let lines = form(&recipe, &Overrides::default()).expect("a form");
        for line in lines.iter().filter(|l| !l.value.is_empty() && !l.differs) {
            let overrides = overrides(&[(&line.key, &line.value)]);
            let Ok(plan) = resolve(&recipe, &overrides) else { continue };
            let text = with_overrides(&recipe, &overrides, &plan)
                .unwrap_or_else(|e| panic!("{}: {e}", shipped.path));
            let again = parse(shipped.path, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
            let again = resolve(&again, &Overrides::default()).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert!(measures_the_same(&plan, &again), "{}: {}\n{text}", shipped.path, line.key);
            let comments = |text: &str| text.lines().filter(|l| l.trim_start().starts_with('#')).count();
            assert_eq!(comments(&text), comments(shipped.text), "{}: {}", shipped.path, line.key);
        }
    }
}

#[test]
fn a_saved_recipe_says_in_its_titles_what_was_changed() {
    let text = PASSES.replace("title: Small", "title: 'Over {tuples x tuple}'");
    let set = overrides(&[("tuples", "1Ki"), ("locations", "sequential")]);
    let recipe = parse("a.yaml", &text).expect("a recipe");
    let plan = resolve(&recipe, &set).expect("a plan");
    let folded = with_overrides(&recipe, &set, &plan).expect("a text");
    let again = parse("a.yaml", &folded).expect("a recipe");
    let means = resolve(&again, &Overrides::default()).expect("a plan");
    let saved = with_changes_in_titles(&again, &plan, &means).expect("a text");
    let saved = resolve(&parse("a.yaml", &saved).expect("a recipe"), &Overrides::default()).expect("a plan");
    let titles = |plan: &Plan| plan.experiments.iter().map(|one| one.title.clone()).collect::<Vec<_>>();
    assert_eq!(
        titles(&saved),
        ["Over 8 KiB (locations sequential)", "Large (tuples 1Ki, locations sequential)"]
    );
    assert_eq!(titles(&saved), titles(&plan));
}
