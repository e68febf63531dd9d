//! `verify --mutants`: what became of each fault, in each method of each primitive.

use std::collections::BTreeMap;

use crate::case::Fault;
use crate::engine::verify::{CaseOutcome, Checked};
use crate::report::table::{Column, NO_UNIT, Table};

/// The outcomes of a fault in the cases of a method.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    backend: String,
    primitive: String,
    method: String,
    fault: String,
    caught: u64,
    right: u64,
    not_certified: u64,
    missed: u64,
    not_applicable: u64,
    /// What is missed or not certified, the first reason of each.
    why: Vec<String>,
}

impl Row {
    fn add(&mut self, finding: &CaseOutcome) {
        let (count, why) = match finding {
            CaseOutcome::Passed => (&mut self.caught, None),
            CaseOutcome::Right => (&mut self.right, None),
            CaseOutcome::NotCertified(why) => (&mut self.not_certified, Some(why)),
            CaseOutcome::NotApplicable(why) => (&mut self.not_applicable, Some(why)),
            CaseOutcome::Wrong(why) => (&mut self.missed, Some(why)),
        };
        if let Some(why) = why.filter(|_| *count == 0) {
            self.why.push(why.clone());
        }
        *count += 1;
    }

    fn join(&mut self, other: &Row) {
        self.caught += other.caught;
    }

    /// Cases in which the fault was tried.
    fn cases(&self) -> u64 {
        self.caught + self.right + self.not_certified + self.missed + self.not_applicable
    }

    /// Whether every one of them was caught.
    fn is_caught(&self) -> bool {
        self.caught == self.cases()
    }
}

/// The rows so far, in the order of backend, primitive, method and fault.
#[derive(Default)]
pub struct Faults(BTreeMap<(String, String, String, usize), Row>);

impl Faults {
    /// Counts a check; one without a fault does not count.
    pub fn add(&mut self, checked: &Checked) {
        let Some(fault) = checked.fault else { return };
        let place = Fault::ALL.iter().position(|other| *other == fault).unwrap_or(Fault::ALL.len());
        let (backend, primitive) = (checked.case.backend().to_owned(), checked.case.primitive.clone());
        let method = checked.case.params.text("method").unwrap_or_default().to_owned();
        let row = self.0.entry((backend.clone(), primitive.clone(), method.clone(), place));
        let new = || Row { backend, primitive, method, fault: format!("{fault:?}"), ..Row::default() };
        row.or_insert_with(new).add(&checked.finding);
    }

    /// All rows.
    pub fn table(self) -> Table<'static, Row> {
        Table::new(columns(), self.0.into_values())
    }

    /// The lines for people: the faults of a method that were always caught share one.
    pub fn lines(self) -> Vec<String> {
        let mut rows: Vec<Row> = Vec::new();
        let mut caught: BTreeMap<[String; 3], Row> = BTreeMap::new();
        for row in self.0.into_values() {
            let method = [&row.backend, &row.primitive, &row.method].map(Clone::clone);
            if row.is_caught() {
                let all = Row { fault: "all others".to_owned(), caught: 0, ..row.clone() };
                caught.entry(method).or_insert(all).join(&row);
            } else {
                rows.push(row);
            }
        }
        rows.extend(caught.into_values());
        let method = |row: &Row| [&row.backend, &row.primitive, &row.method].map(Clone::clone);
        rows.sort_by_key(method);
        Table::new(columns(), rows).lines()
    }
}

fn columns() -> [Column<'static, Row>; 11] {
    [
        Column::new("backend", NO_UNIT, |row: &Row| row.backend.clone()),
        Column::new("primitive", NO_UNIT, |row: &Row| row.primitive.clone()),
        Column::new("method", NO_UNIT, |row: &Row| row.method.clone()),
        Column::new("fault", NO_UNIT, |row: &Row| row.fault.clone()),
        Column::new("cases", "cases", Row::cases),
        Column::new("caught", "cases", |row: &Row| row.caught),
        Column::new("right", "cases", |row: &Row| row.right),
        Column::new("not_certified", "cases", |row: &Row| row.not_certified).headed("not certified"),
        Column::new("missed", "cases", |row: &Row| row.missed),
        Column::new("not_applicable", "cases", |row: &Row| row.not_applicable).headed("n/a"),
        Column::new("why", NO_UNIT, |row: &Row| Some(row.why.join("; ")).filter(|why| !why.is_empty())),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::engine::verify::{Suite, suite};
    use crate::report::table::tests::documented;

    fn counted(case: &Case) -> Faults {
        let mut faults = Faults::default();
        for (fault, finding) in [
            (None, CaseOutcome::Passed),
            (Some(Fault::Null), CaseOutcome::Passed),
            (Some(Fault::Null), CaseOutcome::Passed),
            (Some(Fault::Zeros), CaseOutcome::Right),
            (Some(Fault::Zeros), CaseOutcome::Wrong("it holds".to_owned())),
            (Some(Fault::Zeros), CaseOutcome::Wrong("it holds again".to_owned())),
            (Some(Fault::OffByOne), CaseOutcome::Passed),
            (Some(Fault::LastSample), CaseOutcome::NotCertified("it is gone".to_owned())),
        ] {
            faults.add(&Checked { case, fault, finding, computed: None });
        }
        faults
    }

    #[test]
    fn each_fault_of_a_method_has_a_row_with_what_became_of_it() {
        documented("verify --mutants", &columns());
        let plan = suite(Suite::Mutants, "scalar", None, 7).expect("a suite");
        let case = &plan.cases[0];
        let of = format!("scalar,{},{}", case.primitive, case.params.text("method").expect("a method"));
        let mut csv = Vec::new();
        counted(case).table().csv(&mut csv).expect("written");
        let csv = String::from_utf8(csv).expect("text");
        let rows: Vec<&str> = csv.lines().skip(1).collect();
        let row = |rest: &str| format!("{of},{rest}");
        let wanted = [
            row("OffByOne,1,1,0,0,0,0,"),
            row("LastSample,1,0,0,1,0,0,it is gone"),
            row("Zeros,3,0,1,0,2,0,it holds"),
            row("Null,2,2,0,0,0,0,"),
        ];
        assert_eq!(rows, wanted);
        let lines = counted(case).lines();
        let faults = ["LastSample", "Zeros", "all others"];
        assert_eq!(lines.len(), 1 + faults.len(), "{lines:?}");
        assert!(lines[1..].iter().zip(faults).all(|(line, fault)| line.contains(fault)), "{lines:?}");
        assert!(
            lines[3].ends_with("all others      3       3      0              0       0    0"),
            "{lines:?}"
        );
    }
}
