//! The words that narrow the list of recipes.

use crate::tui::field::Field;
use crate::tui::recipes::Recipes;

/// The text typed after the slash.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    pub field: Field,
    /// Whether keys go into the filter.
    pub typing: bool,
}

impl Filter {
    /// Whether the filter occupies a row of the list.
    pub fn shows(&self) -> bool {
        self.typing || !self.field.is_empty()
    }

    /// Keeps the recipes that contain every word.
    pub fn apply(&self, recipes: &mut Recipes) {
        let text = self.field.text().to_lowercase();
        recipes.keep(|haystack| text.split_whitespace().all(|word| haystack.contains(word)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::shipped::shipped;
    use crate::tui::recipes::RecipeEntry;

    fn recipes() -> Recipes {
        let entry = |path: &str, text: &str| RecipeEntry {
            group: path.split_once('/').map_or("", |(group, _)| group).to_owned(),
            path: path.trim_end_matches(".yaml").to_owned(),
            title: String::new(),
            text: text.to_owned(),
            problem: None,
        };
        Recipes::new(shipped().iter().map(|r| entry(r.path, r.text)).collect())
    }

    fn found(text: &str) -> Vec<String> {
        let mut recipes = recipes();
        Filter { field: Field::new(text), typing: true }.apply(&mut recipes);
        recipes.shown().iter().map(|at| recipes.entries()[*at].path.clone()).collect()
    }

    #[test]
    fn recipes_are_found_by_what_they_say_and_by_what_they_are_called() {
        assert_eq!(found("fig09-p"), ["he2007/fig09-passes"], "the file's name");
        let nines = [
            "he2007/fig09-passes",
            "he2007/fig19-conjugate-gradients",
            "he2007/auto",
            "lavin2020/fig09-references",
        ];
        assert_eq!(found("figure 9"), nines, "the figure");
        let passes = ["he2007/fig09-passes", "he2007/fig11-partitions", "he2007/gpu-passes"];
        assert_eq!(found("Multi-Pass number"), passes, "the title, both words");
        assert_eq!(found("lavin2020 fig3"), ["lavin2020/fig03-cpu-stride"]);
        let fives = ["ashkiani2017/table05-speedups", "ashkiani2017/multisplit", "lavin2020/app-patterns"];
        assert_eq!(found("table 5"), fives, "the table");
        let beside = [
            "several-gpus",
            "sengupta2007/gpu-peers",
            "ashkiani2017/gpu-radix",
            "lavin2020/fig09-references",
        ];
        assert_eq!(found("stream")[4..], beside, "a primitive");
        assert!(found("stream he2007").is_empty(), "every word must be there");
    }

    #[test]
    fn an_empty_filter_keeps_all() {
        assert_eq!(found("  ").len(), shipped().len());
    }
}
