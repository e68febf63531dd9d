use super::*;
use crate::recipe::parse;

const PASSES: &str = "title: Passes\nexperiments:\n\
    \x20 - title: Small\n    scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 16Mi, locations: random}\n\
    \x20 - title: Large\n    scatter: {method: {multipass: {passes: 1..64 x2}}, tuples: 256Mi, locations: random}\n\
    \x20   measure: {samples: 2}\n\
    backend: [cpu, cuda]\nchart: {x: passes, y: time, lines: backend}\nmeasure: {rounds: 3, samples: 3}\n";

fn overrides(pairs: &[(&str, &str)]) -> Overrides {
    let set = pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Overrides { set, ..Overrides::default() }
}

fn lines(text: &str, pairs: &[(&str, &str)]) -> Vec<Line> {
    let recipe = parse("a.yaml", text).expect("a recipe");
    form(&recipe, &overrides(pairs)).unwrap_or_else(|e| panic!("{e}"))
}

fn line<'l>(lines: &'l [Line], name: &str) -> &'l Line {
    let names: Vec<&str> = lines.iter().map(|l| l.name.as_str()).collect();
    lines.iter().find(|l| l.name == name).unwrap_or_else(|| panic!("no {name} in {names:?}"))
}

#[test]
fn values_are_as_they_are_written() {
    let lines = lines(PASSES, &[]);
    let table = [
        ("method", "{multipass: {passes: 1..64 x2}}", Origin::Recipe),
        ("passes", "1..64 x2", Origin::Recipe),
        ("tuples", "16Mi / 256Mi", Origin::Recipe),
        ("tuple", "8B", Origin::Default),
        ("backend", "[cpu, cuda]", Origin::Recipe),
        ("threads", "auto", Origin::Default),
        ("seed", "1", Origin::Default),
        ("measure.rounds", "3", Origin::Recipe),
        ("measure.samples", "3 / 2", Origin::Recipe),
        ("measure.budget", "10s", Origin::Default),
        ("chart.y", "time", Origin::Recipe),
        ("chart.panels", "", Origin::Default),
    ];
    for (name, value, origin) in table {
        let line = line(&lines, name);
        assert_eq!((line.value.as_str(), line.origin), (value, origin), "{name}");
    }
    assert!(line(&lines, "passes").accepts.contains("a range such as"), "{:?}", line(&lines, "passes"));
    assert!(line(&lines, "backend").accepts.contains("cuda"));
}

#[test]
fn a_change_stands_in_its_line_and_in_those_below_it() {
    let lines = lines(PASSES, &[("passes", "[1, 4]"), ("measure.rounds", "2"), ("tuples", "4Ki")]);
    for (name, value) in [("passes", "[1, 4]"), ("measure.rounds", "2"), ("tuples", "4Ki")] {
        assert_eq!((line(&lines, name).value.as_str(), line(&lines, name).origin), (value, Origin::Changed));
    }
    let whole = self::lines(PASSES, &[("method", "{segmented: {segments: 4, passes: 2}}")]);
    assert_eq!(line(&whole, "segments").value, "4");
    assert_eq!(line(&whole, "passes").key, "method.segmented.passes", "another method's");
}

#[test]
fn every_line_can_be_set_to_what_it_says() {
    for shipped in crate::recipe::shipped::shipped() {
        let recipe = parse(shipped.path, shipped.text).expect("a recipe");
        for line in form(&recipe, &Overrides::default()).expect("a form") {
            // Values that differ between experiments, `cases`, and unset values have no single text.
            if line.value.is_empty() || line.differs {
                continue;
            }
            let again = form(&recipe, &overrides(&[(&line.key, &line.value)]));
            let again = again.unwrap_or_else(|e| panic!("{}: {e}", shipped.path));
            let same = again.iter().find(|l| l.key == line.key).expect("the same line");
            assert_eq!(same.value, line.value, "{}: {}", shipped.path, line.key);
        }
    }
}

#[test]
fn primitives_that_share_a_key_have_lines_of_their_own() {
    let text = "backend: cpu\nexperiments:\n\
        \x20 - stream: {kernel: read, elements: 1Mi}\n    chart: {x: backend}\n\
        \x20 - pattern: {kernel: gather, uniform: {length: 8, stride: 1}, footprint: 1MiB}\n    chart: {x: backend}\n";
    let found = lines(text, &[("pattern.kernel", "scatter")]);
    assert_eq!(line(&found, "stream.kernel").value, "read");
    assert_eq!(line(&found, "pattern.kernel").value, "scatter");
    assert_eq!(line(&found, "source").value, "{uniform: {length: 8, stride: 1}}");
}

#[test]
fn a_bad_value_is_an_error_with_what_would_be_accepted() {
    let recipe = parse("a.yaml", PASSES).expect("a recipe");
    let error = form(&recipe, &overrides(&[("passes", "0")])).expect_err("out of range");
    assert_eq!(error.origin, "--set passes=0");
    assert!(error.problem.to_string().contains("accepted: "), "{error}");
}
