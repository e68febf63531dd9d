//! Names of cases in a list: the values that tell a case from the others. A value that all of them share stands once,
//! in the heading; where a name is too long, the part that all values of its axis share is cut, and only then what
//! differs. Numbers are never cut.

use crate::case::Case;
use crate::recipe::plan::{Axis, Experiment};
use crate::tui::theme::Theme;
use crate::tui::words::{self, Kin, Word};

/// The names of some cases of an experiment.
pub struct CaseNames<'p> {
    /// The axes whose values differ, with what all their values share.
    told: Vec<(&'p Axis, &'p Kin)>,
    /// The values that all cases share.
    shared: Vec<String>,
    primitive: &'p str,
}

impl<'p> CaseNames<'p> {
    /// `kins` are those of the experiment's axes ([`Kin::of_axes`]): an axis may have thousands of values, and names are
    /// made for every frame.
    pub fn among<'c>(
        experiment: &'p Experiment,
        kins: &'p [Kin],
        cases: impl Iterator<Item = &'c Case> + Clone,
    ) -> CaseNames<'p> {
        let several = cases.clone().nth(1).is_some();
        let (mut told, mut shared) = (Vec::new(), Vec::new());
        for (axis, kin) in experiment.axes.iter().zip(kins) {
            let mut values = cases.clone().map(|case| axis.value(case));
            let first = values.next().flatten();
            match first.filter(|_| several && values.all(|value| value == first)) {
                Some(value) => shared.push(words::value_in_list(axis, value)),
                None => told.push((axis, kin)),
            }
        }
        CaseNames { told, shared, primitive: &experiment.primitive }
    }

    /// The names of the axes, and the values that all cases share: `passes (cpu)`.
    pub fn head(&self) -> String {
        let axes: Vec<&str> = self.told.iter().map(|(axis, _)| axis.name.as_str()).collect();
        match self.shared.as_slice() {
            [] => axes.join(" "),
            shared if axes.is_empty() => shared.join(" "),
            shared => format!("{} ({})", axes.join(" "), shared.join(" ")),
        }
    }

    /// The name of a case in at most this many columns.
    pub fn of(&self, case: &Case, columns: usize, theme: Theme) -> String {
        let word =
            |(axis, kin): &(&Axis, &Kin)| Some(kin.word(&words::value_in_list(axis, axis.value(case)?)));
        let mut all: Vec<Word> = self.told.iter().filter_map(word).collect();
        if all.is_empty() {
            all.push(Word::from(self.primitive));
        }
        words::squeeze(&all, columns, theme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;
    use crate::recipe::plan::Scale;
    use crate::tui::tests::fixture;

    #[test]
    fn what_all_rows_share_stands_in_the_heading() {
        let plan = fixture::passes();
        let on =
            |backend: &str| plan.cases.iter().filter(|case| case.backend() == backend).collect::<Vec<_>>();
        let kins = Kin::of_axes(&plan.experiments[0].axes);
        let names = CaseNames::among(&plan.experiments[0], &kins, on("cpu").into_iter());
        assert_eq!(names.head(), "passes (cpu)");
        assert_eq!(names.of(on("cpu")[3], 20, Theme::PLAIN), "8");
        let names = CaseNames::among(&plan.experiments[0], &kins, plan.cases.iter());
        assert_eq!(names.head(), "passes backend");
        assert_eq!(names.of(on("cpu")[3], 20, Theme::PLAIN), "8 cpu");
        let one = CaseNames::among(&plan.experiments[0], &kins, plan.cases.iter().take(1));
        assert_eq!(one.of(&plan.cases[0], 20, Theme::PLAIN), "1 cpu", "a single row keeps its name");
    }

    #[test]
    fn what_differs_is_cut_last() {
        let values = ["segmented-scan-inclusive", "segmented-scan-exclusive"];
        let axis = |values: &[&str]| Axis {
            key: "method".to_owned(),
            name: "method".to_owned(),
            values: values.iter().map(|value| Value::Text((*value).to_owned())).collect(),
            scale: Scale::Category,
            bytes: false,
            maps: Vec::new(),
        };
        let kin = Kin::of_axes(&[axis(&values)]).remove(0);
        let cut =
            |text: &str, columns| words::squeeze(&[kin.word(text), Word::from("cpu")], columns, Theme::PLAIN);
        for columns in [16, 18, 22, 28] {
            let both = values.map(|value| cut(value, columns));
            assert!(both.iter().all(|name| words::width(name) <= columns), "{both:?}");
            assert!(both[0].contains("in") && both[1].contains("ex") && both[0] != both[1], "{both:?}");
        }
    }
}
