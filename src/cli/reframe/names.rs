//! Names in tests for ReFrame: of the classes, and of the performance variables.

use std::collections::{HashMap, HashSet};

use crate::case::Case;
use crate::cli::run::numbered;
use crate::recipe::plan::Plan;

/// Longest name of a variable, without the identity that follows a longer one.
const LONGEST: usize = 120;

/// A variable for each case of the plan, in its order: the label that distinguishes the case within its
/// experiment, and before it the experiment's name if there are several. A name that is too long, or that
/// another case would have, too, ends with the identity, so that no name depends on the order of the cases.
pub fn variables(plan: &Plan) -> Vec<String> {
    let names: Vec<String> = plan.cases.iter().map(|case| variable(plan, case)).collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *uses.entry(name).or_default() += 1);
    let unique = |(name, case): (&String, &Case)| match uses.get(name.as_str()) {
        Some(1) if name.len() <= LONGEST && !name.is_empty() => name.clone(),
        _ => format!("{}_{}", &name[..name.len().min(LONGEST)], case.id).trim_start_matches('_').to_owned(),
    };
    names.iter().zip(&plan.cases).map(unique).collect()
}

fn variable(plan: &Plan, case: &Case) -> String {
    let Some(experiment) = plan.experiments.get(case.experiment) else { return String::new() };
    let label = experiment.label(case);
    match plan.experiments.len() {
        1 => words(&label),
        _ => words(&format!("{} {label}", experiment.slug)),
    }
}

/// The letters, digits, hyphens and full stops of a text, with an underscore for all that stands between them.
fn words(text: &str) -> String {
    let parts = text.split(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c)));
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

/// A class for each recipe; a repeated name gets a number.
pub fn class_names<'a>(recipes: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    let free = |recipe: &str| {
        let word = recipe.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
        let name = format!("scatterlab_{}", word.collect::<Vec<_>>().join("_"));
        numbered(&mut taken, &name, '_')
    };
    recipes.map(free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    fn named(text: &str) -> Vec<String> {
        let recipe = recipe::parse("named.yaml", text).expect("it parses");
        variables(&resolve(&recipe, &Overrides::default()).expect("it resolves"))
    }

    const ONE: &str = "title: One\nstream: {kernel: [copy, triad], elements: 1Ki}\nbackend: scalar\n\
                       chart: {x: elements, lines: kernel}\n";

    #[test]
    fn variables_say_what_distinguishes_the_cases() {
        assert_eq!(named(ONE), ["copy", "triad"]);
        let two = "title: Two\nexperiments:\n- title: First part\n  stream: {kernel: copy, elements: [1Ki, 2Ki]}\n  \
                   backend: scalar\n  chart: {x: elements}\n- title: Second part\n  \
                   gather: {tuples: 1Ki, tuple: [4B, 8B], locations: random}\n  backend: cpu\n  chart: {x: tuple}\n";
        assert_eq!(
            named(two),
            [
                "first-part_elements_1Ki",
                "first-part_elements_2Ki",
                "second-part_tuple_4B",
                "second-part_tuple_8B"
            ]
        );
    }

    #[test]
    fn a_name_that_is_long_or_not_the_only_one_ends_with_the_identity() {
        let list =
            |from: usize| (from..from + 64).map(|n| (n * n).to_string()).collect::<Vec<_>>().join(", ");
        let text = format!(
            "title: Lists\ngather: {{locations: [{{list: [{}]}}, {{list: [{}]}}]}}\nbackend: scalar\n\
             chart: {{x: locations}}\n",
            list(1),
            list(2)
        );
        let names = named(&text);
        let ends = |name: &String| {
            name.len() == LONGEST + 13 && name.rsplit('_').next().is_some_and(|id| id.len() == 12)
        };
        assert!(names.len() == 2 && names[0] != names[1] && names.iter().all(ends), "{names:?}");
        let recipe = recipe::parse("one.yaml", ONE).expect("it parses");
        let mut plan = resolve(&recipe, &Overrides::default()).expect("it resolves");
        plan.cases[1].params = plan.cases[0].params.clone();
        let ids = [0, 1].map(|at| format!("copy_{}", plan.cases[at].id));
        assert_eq!(variables(&plan), ids);
    }

    #[test]
    fn classes_are_identifiers_that_differ() {
        let names = class_names(["he2007/fig09-passes", "class", "class", "1 ä"].into_iter());
        assert_eq!(
            names,
            ["scatterlab_he2007_fig09_passes", "scatterlab_class", "scatterlab_class_2", "scatterlab_1"]
        );
    }
}
