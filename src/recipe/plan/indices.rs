//! Index files of a plan. Pure; the caller of `resolve` provides the access to files ([`IndexFiles`]).

use std::collections::HashMap;

use crate::case::{IndexFile, IndexFiles, IndexPattern, Params, Value, WHOLE_GRAPH, WHOLE_MATRIX};
use crate::primitives::Primitive;

/// Suffix of keys that hold a file's path; the file's properties are stored next to it.
const PATH: &str = ".file.path";

/// The parameters whose file is a whole matrix or graph.
const WHOLES: [(&str, &str); 2] = [("matrix.file", WHOLE_MATRIX), ("graph.file", WHOLE_GRAPH)];

/// A file's path, and the column if it is a table.
type Name = (String, Option<String>);
/// Properties of a file, and its indices if cases carry them.
type Found = (IndexFile, Option<IndexPattern>);

/// The index files of a plan, each inspected once.
pub(super) struct Brought<'a> {
    files: &'a dyn IndexFiles,
    known: HashMap<Name, Found>,
    /// Files in the order in which cases name them.
    pub order: Vec<IndexFile>,
}

impl<'a> Brought<'a> {
    pub fn new(files: &'a dyn IndexFiles) -> Brought<'a> {
        Brought { files, known: HashMap::new(), order: Vec::new() }
    }

    /// Adds the contents of its files to the parameters of a case.
    ///
    /// # Errors
    /// The key of the invalid file, and the reason.
    pub fn add(&mut self, primitive: &Primitive, mut params: Params) -> Result<Params, (String, String)> {
        let keys: Vec<String> = params.0.keys().filter(|key| key.ends_with(PATH)).cloned().collect();
        for key in keys {
            let Some(owner) = key.strip_suffix(".path") else { continue };
            let path = params.text(&key).unwrap_or_default().to_owned();
            let whole = WHOLES.iter().find(|(whole, _)| *whole == owner).map(|(_, name)| *name);
            let column = whole.or_else(|| params.text(&format!("{owner}.column"))).map(str::to_owned);
            let refused = |why: String| (key.clone(), why);
            let (file, list) = self.look(path, column, primitive.inline_index_limit()).map_err(refused)?;
            params = params
                .with(&format!("{owner}.hash"), Value::Text(file.hash.clone()))
                .with(&format!("{owner}.length"), Value::Int(file.length))
                .with(&format!("{owner}.largest"), Value::Int(file.largest));
            if let Some(whole) = whole {
                params = params.with(&format!("{owner}.column"), Value::Text(whole.to_owned()));
            }
            if let Some([rows, columns, entries]) = file.matrix {
                params = params
                    .with(&format!("{owner}.rows"), Value::Int(rows))
                    .with(&format!("{owner}.columns"), Value::Int(columns))
                    .with(&format!("{owner}.entries"), Value::Int(entries));
            }
            if let Some(list) = list {
                params = params.with(&format!("{owner}.indices"), Value::Indices(list));
            }
        }
        Ok(params)
    }

    fn look(&mut self, path: String, column: Option<String>, carried: Option<u64>) -> Result<Found, String> {
        let key = (path, column);
        if let Some((file, list)) = self.known.get(&key)
            && (carried.is_none() || list.is_some())
        {
            return Ok((file.clone(), list.clone().filter(|_| carried.is_some())));
        }
        let file = self.files.look(&key.0, key.1.as_deref())?;
        let list = match carried {
            Some(most) if file.length > most => {
                return Err(format!("{} holds {} indices; accepted: at most {most}", key.0, file.length));
            }
            Some(_) => Some(self.files.indices(&file)?.into()),
            None => None,
        };
        if !self.order.contains(&file) {
            self.order.push(file.clone());
        }
        self.known.insert(key, (file.clone(), list.clone()));
        Ok((file, list))
    }
}

/// Whether a case's parameters name a file.
pub(super) fn is_used(file: &IndexFile, params: &Params) -> bool {
    let owners = params.0.keys().filter_map(|key| key.strip_suffix(".path").filter(|_| key.ends_with(PATH)));
    let text = |owner: &str, word: &str| params.text(&format!("{owner}.{word}"));
    owners.into_iter().any(|owner| {
        text(owner, "path") == Some(file.path.as_str()) && text(owner, "column") == file.column.as_deref()
    })
}

/// Whether a parameter specifies the location of a file rather than its content. It is then not part of a
/// case's identity.
pub(super) fn is_whereabouts(params: &Params, key: &str) -> bool {
    let owner = key.strip_suffix(".path").or_else(|| key.strip_suffix(".column"));
    owner.is_some_and(|owner| owner.ends_with(".file") && params.get(&format!("{owner}.hash")).is_some())
}

/// True of parameters that only describe the words in which a whole matrix or graph is kept, which say nothing to a reader.
pub fn is_of_words(key: &str) -> bool {
    let of = |(owner, word): (&str, &str)| {
        WHOLES.iter().any(|(whole, _)| *whole == owner) && ["column", "length", "largest"].contains(&word)
    };
    key.rsplit_once('.').is_some_and(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::arrays;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, Plan, resolve, resolve_with};

    /// In-memory files by name.
    struct Shelf(Vec<(&'static str, Vec<u64>)>);

    impl IndexFiles for Shelf {
        fn look(&self, path: &str, column: Option<&str>) -> Result<IndexFile, String> {
            let (_, all) =
                self.0.iter().find(|(name, _)| *name == path).ok_or(format!("{path}: no such file"))?;
            Ok(IndexFile {
                path: path.to_owned(),
                column: column.map(str::to_owned),
                hash: arrays::hash(all),
                length: all.len() as u64,
                largest: all.iter().copied().max().unwrap_or(0),
                matrix: None,
                source: None,
                copy: None,
            })
        }

        fn indices(&self, file: &IndexFile) -> Result<Vec<u64>, String> {
            Ok(self
                .0
                .iter()
                .find(|(name, _)| *name == file.path)
                .map(|(_, all)| all.clone())
                .unwrap_or_default())
        }
    }

    fn shelf() -> Shelf {
        Shelf(vec![
            ("a.npy", vec![5, 1, 3]),
            ("b.csv", vec![5, 1, 3]),
            ("c.u64", vec![5, 1, 4]),
            ("long", vec![9; 1_100_000]),
        ])
    }

    fn plan(primitive: &str) -> Result<Plan, String> {
        let text = format!("{primitive}\nbackend: [scalar, cuda]\nchart: {{x: file, lines: backend}}\n");
        let recipe = recipe::parse("r.yaml", &text).map_err(|e| e.to_string())?;
        resolve_with(&recipe, &Overrides::default(), &shelf()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_case_is_known_by_what_its_file_holds() {
        let plan = plan("gather: {locations: {file: [a.npy, b.csv, c.u64]}}").expect("a plan");
        let ids: Vec<&str> = plan.cases.iter().map(|c| c.id.split('-').next().unwrap_or("")).collect();
        assert_eq!(ids.len(), 6, "each file has its place on the chart");
        assert_eq!((ids[0], ids[1]), (ids[2], ids[3]), "the same indices in another file");
        assert_ne!(ids[0], ids[4]);
        let first = &plan.cases[0].params;
        assert_eq!((first.int("tuples"), first.int("locations.file.length")), (Some(6), Some(3)));
        assert_eq!(first.text("locations.file.hash"), Some(arrays::hash(&[5, 1, 3]).as_str()));
        assert_eq!(
            plan.indices.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(),
            ["a.npy", "b.csv", "c.u64"]
        );
        let unique: std::collections::HashSet<&String> = plan.cases.iter().map(|c| &c.id).collect();
        assert_eq!(unique.len(), 6);
    }

    #[test]
    fn a_plan_of_some_cases_names_their_files_only() {
        let text = "gather: {locations: [{file: a.npy}, {file: {path: a.npy, column: x}}, {file: c.u64}]}\n\
             backend: scalar\nchart: {x: file, lines: column}\n";
        let recipe = recipe::parse("r.yaml", text).expect("a recipe");
        let files = |only: &[&str]| {
            let only = only.iter().map(|id| (*id).to_owned()).collect();
            let plan = resolve_with(&recipe, &Overrides { only, ..Overrides::default() }, &shelf());
            let plan = plan.expect("a plan");
            let names = |file: &IndexFile| (file.path.clone(), file.column.is_some());
            (plan.indices.iter().map(names).collect::<Vec<_>>(), plan.cases)
        };
        let (all, cases) = files(&[]);
        assert_eq!((all.len(), cases.len()), (3, 3));
        for (at, case) in cases.iter().enumerate() {
            assert_eq!(files(&[&case.id]).0, [all[at].clone()]);
        }
    }

    #[test]
    fn patterns_carry_their_indices() {
        let plan = plan("pattern: {file: a.npy, count: 10, kernel: gather}").expect("a plan");
        assert_eq!(plan.cases[0].params.indices("source.file.indices"), Some(&vec![5, 1, 3].into()));
        let both = "pattern: {kernel: gs, gather: {file: a.npy}, scatter: {file: [c.u64, b.csv]}, count: 4}";
        let text = format!("{both}\nbackend: scalar\nchart: {{x: scatter.file, lines: backend}}\n");
        let recipe = recipe::parse("r.yaml", &text).expect("a recipe");
        let plan = resolve_with(&recipe, &Overrides::default(), &shelf()).expect("a plan");
        assert_eq!(plan.cases[0].params.indices("scatter.file.indices"), Some(&vec![5, 1, 4].into()));
        assert_eq!((plan.cases.len(), plan.indices.len()), (2, 3));
    }

    #[test]
    fn the_words_of_a_whole_matrix_are_not_its_readers_business() {
        assert!(is_of_words("matrix.file.largest") && is_of_words("graph.file.column"));
        assert!(!is_of_words("matrix.file.rows") && !is_of_words("locations.file.largest"));
    }

    #[test]
    fn files_that_are_wrong_are_named_with_their_place() {
        let missing = plan("gather: {locations: {file: x.npy}}").expect_err("missing");
        assert_eq!(missing, "r.yaml:1:28: gather.locations.file: x.npy: no such file");
        let long = plan("pattern: {file: long, count: 1}").expect_err("too long");
        assert_eq!(long, "r.yaml:1:17: pattern.file: long holds 1100000 indices; accepted: at most 1048576");
        let few = plan("scatter: {tuples: 5, locations: {file: a.npy}}").expect_err("too few");
        assert_eq!(few, "r.yaml:1:19: scatter.tuples: 5 is too few: the largest location is 5");
        let text = "gather: {locations: {file: a.npy}}\nbackend: cpu\nchart: {x: file}\n";
        let nobody = resolve(&recipe::parse("r.yaml", text).expect("a recipe"), &Overrides::default());
        assert!(
            nobody.expect_err("no files").to_string().ends_with("a.npy: index files cannot be read here")
        );
    }
}
