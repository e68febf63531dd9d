use crate::recipe;
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::recipe::shipped;

fn planned(text: &str, set: &[(&str, &str)], backends: &[&str]) -> Result<Plan, String> {
    let set = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let backends = backends.iter().map(|name| name.to_string()).collect();
    let recipe = recipe::parse("a.yaml", text).map_err(|error| error.to_string())?;
    resolve(&recipe, &Overrides { set, backends, ..Overrides::default() }).map_err(|error| error.to_string())
}

fn titles(text: &str, set: &[(&str, &str)], backends: &[&str]) -> Vec<String> {
    let plan = planned(text, set, backends).expect("a plan");
    plan.experiments.into_iter().map(|experiment| experiment.title).collect()
}

fn gathers(title: &str) -> String {
    format!(
        "gather: {{tuples: [1Mi, 2Mi, 4Mi, 32Mi], locations: random}}\nbackend: cpu\nchart: {{x: tuples}}\ntitle: '{title}'\n"
    )
}

#[test]
fn a_placeholder_says_what_is_measured() {
    let title = |title: &str, tuples: &str| titles(&gathers(title), &[("tuples", tuples)], &[]).remove(0);
    for (written, tuples, filled) in [
        ("Over {tuples x tuple}", "1Mi", "Over 8 MiB"),
        ("Over {tuples x tuple}", "1Mi..32Mi x2", "Over 8 to 256 MiB"),
        ("Over {tuples x tuple}", "1Ki..1Mi x2", "Over 8 KiB to 8 MiB"),
        ("Up to {largest tuples x 8B}", "1Mi..32Mi x2", "Up to 256 MiB"),
        ("{tuples} tuples", "[512, 16Ki, 16Mi]", "512, 16384 and 16 Mi tuples"),
        ("{locations} locations", "1Mi", "random locations (tuples 1Mi)"),
        ("No { placeholder", "1Mi", "No { placeholder (tuples 1Mi)"),
    ] {
        assert_eq!(title(written, tuples), filled, "{written}, {tuples}");
    }
}

#[test]
fn an_unknown_placeholder_is_refused_where_it_stands() {
    let refused = planned(&gathers("Over {tuples x tupels}"), &[], &[]).expect_err("a mistake");
    assert!(refused.starts_with("a.yaml:4:8: title: no parameter `tupels`; accepted: "), "{refused}");
    assert!(refused.contains("tuples, ") && refused.ends_with("(did you mean `tuples`?)"), "{refused}");
}

#[test]
fn a_title_without_placeholders_names_what_was_changed() {
    let title =
        |set: &[(&str, &str)], backends: &[&str]| titles(&gathers("Over 8 MiB"), set, backends).remove(0);
    assert_eq!(title(&[], &[]), "Over 8 MiB");
    assert_eq!(title(&[("measure.rounds", "5"), ("seed", "7"), ("chart.y", "time")], &["cpu"]), "Over 8 MiB");
    let both = title(&[("tuples", "1Ki"), ("locations", "sequential")], &["scalar"]);
    assert_eq!(both, "Over 8 MiB (backend scalar, tuples 1Ki, locations sequential)");
    let computed =
        titles(&gathers("Over {tuples x tuple}"), &[("tuples", "1Ki"), ("locations", "sequential")], &[]);
    assert_eq!(computed, ["Over 8 KiB (locations sequential)"], "a placeholder tells the tuples");
    let index = titles(&gathers("Over {tuples x tuple}"), &[("index", "8B")], &[]);
    assert_eq!(index, ["Over 8 to 256 MiB (index 8B)"], "no placeholder tells the index");
}

#[test]
fn the_title_of_several_experiments_says_what_they_all_measure() {
    let title = |of: &str| {
        let text = format!(
            "title: {of}\nbackend: cpu\nchart: {{x: tuples}}\nexperiments:\n- gather: {{tuples: 1Mi, locations: random}}\n\
             - gather: {{tuples: 4Mi, locations: random}}\n"
        );
        planned(&text, &[], &[]).expect("a plan").title
    };
    assert_eq!(title("Two sizes"), "Two sizes");
    assert_eq!(title("'Over {tuples x tuple}'"), "Over 8 MiB and Over 32 MiB");
}

#[test]
fn changed_recipes_keep_the_names_of_their_experiments() {
    let mut computed = 0;
    for shipped in shipped::shipped() {
        let plan = planned(shipped.text, &[], &[]).expect(shipped.path);
        for experiment in &plan.experiments {
            assert!(!experiment.title.contains(['{', '}']), "{}: {}", shipped.path, experiment.title);
        }
        let Ok(changed) = planned(shipped.text, &[("tuples", "1Ki")], &[]) else { continue };
        let slugs = |plan: &Plan| plan.experiments.iter().map(|one| one.slug.clone()).collect::<Vec<_>>();
        assert_eq!(slugs(&changed), slugs(&plan), "{}", shipped.path);
        let large =
            changed.experiments.iter().filter(|one| one.title.contains(" MiB") || one.title.contains(" GiB"));
        assert_eq!(
            large.map(|one| &one.title).collect::<Vec<_>>(),
            Vec::<&String>::new(),
            "{}",
            shipped.path
        );
        computed += changed.experiments.iter().filter(|one| one.title.contains("8 KiB")).count();
    }
    assert!(computed > 20, "{computed}");
}
