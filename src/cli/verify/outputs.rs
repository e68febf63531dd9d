//! `verify --outputs`: a CSV with a row for each check and a hash of the computed output.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::words;
use crate::engine::verify::{CaseOutcome, Checked, Suite};
use crate::report::table::{Column, Document, Format, NO_UNIT};

/// The table being written.
pub struct Outputs<W: Write = BufWriter<File>> {
    path: PathBuf,
    document: Document<W>,
    /// The first error in writing a row, reported at the end.
    failed: Option<anyhow::Error>,
}

impl Outputs {
    /// Creates the file, before anything is verified.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn create(path: &Path) -> anyhow::Result<Outputs> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Outputs::new(path, BufWriter::new(file)))
    }
}

impl<W: Write> Outputs<W> {
    fn new(path: &Path, out: W) -> Outputs<W> {
        let mut document = Document::new(out, Format::Csv);
        let failed = document.head(&columns()).err();
        Outputs { path: path.to_owned(), document, failed }
    }

    /// Adds the row of a check.
    pub fn add(&mut self, part: Suite, checked: &Checked) {
        if self.failed.is_none() {
            self.failed = self.document.row(&columns(), &Check { part, checked }).err();
        }
    }

    /// # Errors
    /// A row could not be written.
    pub fn end(self) -> anyhow::Result<()> {
        let written = self.failed.map_or_else(|| self.document.end().map(drop), Err);
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// A row: a check of a suite.
struct Check<'a> {
    part: Suite,
    checked: &'a Checked<'a>,
}

type CheckColumn<'a> = Column<'a, Check<'a>>;

fn columns<'a>() -> [CheckColumn<'a>; 10] {
    [
        CheckColumn::new("suite", NO_UNIT, |check| suite_name(check.part)),
        CheckColumn::new("backend", NO_UNIT, |check| check.checked.case.backend().to_owned()),
        CheckColumn::new("case", NO_UNIT, |check| check.checked.case.id.clone()),
        CheckColumn::new("primitive", NO_UNIT, |check| check.checked.case.primitive.clone()),
        CheckColumn::new("label", NO_UNIT, |check| check.checked.label()),
        CheckColumn::new("finding", NO_UNIT, |check| {
            let (good, bad) = words(check.checked.fault.is_some());
            match &check.checked.finding {
                CaseOutcome::Passed => good,
                CaseOutcome::Right => "right",
                CaseOutcome::NotCertified(_) => "not certified",
                CaseOutcome::NotApplicable(_) => "n/a",
                CaseOutcome::Wrong(_) => bad,
            }
        }),
        CheckColumn::new("detail", NO_UNIT, |check| match &check.checked.finding {
            CaseOutcome::Passed | CaseOutcome::Right => None,
            CaseOutcome::NotCertified(why) | CaseOutcome::NotApplicable(why) | CaseOutcome::Wrong(why) => {
                Some(why.clone())
            }
        }),
        CheckColumn::new("resolved", NO_UNIT, |check| {
            let resolved = check.checked.computed.as_ref()?.resolved.iter();
            Some(resolved.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" "))
        }),
        CheckColumn::new("bytes", "B", |check| Some(check.checked.computed.as_ref()?.output.len())),
        CheckColumn::new("blake3", NO_UNIT, |check| {
            Some(blake3::hash(&check.checked.computed.as_ref()?.output).to_hex().to_string())
        }),
    ]
}

fn suite_name(part: Suite) -> &'static str {
    match part {
        Suite::Small => "oracle",
        Suite::Large => "large",
        Suite::Mutants => "mutants",
        Suite::Recipes { .. } => "recipes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Fault;
    use crate::case::Value;
    use crate::engine::verify::{Computed, suite};
    use crate::report::table::tests::documented;

    fn text(parts: &[(Suite, Checked)]) -> String {
        let mut bytes = Vec::new();
        let mut outputs = Outputs::new(Path::new("outputs.csv"), &mut bytes);
        parts.iter().for_each(|(part, checked)| outputs.add(*part, checked));
        outputs.end().expect("written");
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_row_has_what_was_found_and_the_hash_of_what_was_computed() {
        let plan = suite(Suite::Small, "scalar", None, 7).expect("a suite");
        let case = &plan.cases[0];
        let resolved = vec![("method".to_owned(), Value::Text("direct".into())), ("n".into(), Value::Int(2))];
        let of = |fault, finding, computed| Checked { case, fault, finding, computed };
        let table = text(&[
            (
                Suite::Small,
                of(None, CaseOutcome::Passed, Some(Computed { resolved, output: b"abc".to_vec() })),
            ),
            (Suite::Mutants, of(Some(Fault::OffByOne), CaseOutcome::Passed, None)),
            (Suite::Large, of(None, CaseOutcome::NotApplicable("too large, here".into()), None)),
            (Suite::Mutants, of(Some(Fault::MissingTail), CaseOutcome::Wrong("it holds".into()), None)),
            (Suite::Mutants, of(Some(Fault::Zeros), CaseOutcome::Right, None)),
            (
                Suite::Mutants,
                of(Some(Fault::LastSample), CaseOutcome::NotCertified("it is gone".into()), None),
            ),
        ]);
        let rows: Vec<&str> = table.lines().collect();
        let label = of(None, CaseOutcome::Passed, None).label();
        let name = &case.primitive;
        let head = |part: &str| format!("{part},scalar,{},{name},{label}", case.id);
        let begin = format!("{name}: backend=scalar ");
        assert!(label.starts_with(&begin) && label.ends_with(" seed=7"), "{label}");
        documented("verify --outputs", &columns());
        // BLAKE3's own test vector for "abc".
        let hash = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
        assert_eq!(rows[1], format!("{},passed,,method=direct n=2,3,{hash}", head("oracle")));
        assert_eq!(rows[2], format!("{} with OffByOne,caught,,,,", head("mutants")));
        assert_eq!(rows[3], format!("{},n/a,\"too large, here\",,,", head("large")));
        assert_eq!(rows[4], format!("{} with MissingTail,missed,it holds,,,", head("mutants")));
        assert_eq!(rows[5], format!("{} with Zeros,right,,,,", head("mutants")));
        assert_eq!(rows[6], format!("{} with LastSample,not certified,it is gone,,,", head("mutants")));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        let error = Outputs::create(Path::new("/nowhere/outputs.csv")).err().expect("no such folder");
        assert!(error.to_string().starts_with("cannot write /nowhere/outputs.csv"), "{error}");
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let error = Outputs::new(Path::new("full.csv"), Full).end().expect_err("a full disk");
        assert_eq!(error.to_string(), "cannot write full.csv");
    }
}
