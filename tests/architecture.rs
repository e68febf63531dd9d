//! The architecture: each module uses only what the tables in `src/lib.rs` allow it to use, and no folder of a room uses
//! another one in a circle.
//!
//! Code under `#[cfg(test)]` is skipped. Tokens in macros and attributes count if they name `crate::`,
//! `super::`, an import of the file, or a crate of the second table. No module may glob-import the whole crate
//! or a whole primitive.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Item, ItemUse, Macro, UseTree};

const IMPLEMENTATIONS: &str = "implementations";
/// The crate of the lower rooms, whose modules `src/lib.rs` makes its own.
const CORE: &str = "scatterlab_core";

/// Path segments after `crate`.
type Module = Vec<String>;

/// A name in use: a path after `crate`, or one from another crate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Name {
    Ours(Module),
    Theirs(String),
}

/// A use of a name by a module, with its place in the source.
struct Use {
    by: Module,
    name: Name,
    place: String,
}

/// The room to which a module or a name belongs; `None` for the crate itself and its constants.
fn room(path: &[String]) -> Option<&str> {
    let implements = |word: &String| ["cpu", "cuda", "implementations"].contains(&word.as_str());
    match path.first()?.as_str() {
        constant if constant.starts_with(char::is_uppercase) => None,
        "primitives" if path.iter().any(implements) => Some(IMPLEMENTATIONS),
        other => Some(other),
    }
}

/// A module below `cpu` or `cuda` of a file, as a module of the primitive's folder of that name, where it could as well be:
/// `primitives::sort::methods::lsd::cpu` is `primitives::sort::cpu::methods::lsd`.
fn device_half(path: &[String]) -> Option<Module> {
    let at = path.iter().position(|word| ["cpu", "cuda"].contains(&word.as_str()))?;
    (path[0] == "primitives" && at > 2).then(|| {
        let (before, after) = (&path[2..at], &path[at + 1..]);
        [&path[..2], std::slice::from_ref(&path[at]), before, after].concat()
    })
}

// ---- tables ----------------------------------------------------------------------------------------

/// The tables of the architecture page.
struct Rules {
    /// Each room with those it may use, in the order of the page.
    rooms: Vec<(String, BTreeSet<String>)>,
    /// Names that only the listed modules may use.
    only: BTreeMap<String, Vec<Module>>,
}

/// The words of a cell without markup: `[`case`], `stats`` yields two.
fn words(cell: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|c| "[]` ".contains(c)).to_owned();
    cell.split(',').map(bare).filter(|word| !word.is_empty() && word != "nothing").collect()
}

fn rules(page: &str) -> Rules {
    let (mut rooms, mut only): (Vec<(String, BTreeSet<String>)>, BTreeMap<_, _>) = Default::default();
    for line in page.lines().filter_map(|line| line.strip_prefix("//! |")) {
        let cells: Vec<&str> = line.trim_end_matches('|').split('|').collect();
        let name = words(cells[0]).concat();
        match cells.as_slice() {
            _ if ["module", "name"].contains(&name.as_str()) || name.starts_with("--") => {}
            [_, _, uses] => {
                let uses: BTreeSet<String> = match words(uses) {
                    all if all == ["everything but implementations"] => rooms
                        .iter()
                        .map(|(room, _)| room.clone())
                        .filter(|room| room != IMPLEMENTATIONS)
                        .collect(),
                    some => some.into_iter().collect(),
                };
                rooms.push((name, uses));
            }
            [_, places] => {
                let module = |word: &String| word.split("::").map(str::to_owned).collect();
                only.insert(name, words(places).iter().map(module).collect());
            }
            _ => panic!("a row of {} cells: {line}", cells.len()),
        }
    }
    Rules { rooms, only }
}

impl Rules {
    /// Crates that only some modules may use.
    fn theirs(&self) -> BTreeSet<String> {
        self.only.keys().filter(|name| *name != IMPLEMENTATIONS).cloned().collect()
    }

    /// Why this use is forbidden; `None` if it is allowed.
    fn forbids(&self, used: &Use) -> Option<String> {
        if let Name::Ours(path) = &used.name
            && let Some((all, module)) = path.split_last()
            && all == "*"
            && (module.is_empty()
                || module[0] == "primitives" && module.len() <= 2 && !used.by.starts_with(module))
        {
            return Some(format!("nobody imports all of {module:?}"));
        }
        let by = room(&used.by)?;
        let name = match &used.name {
            Name::Ours(path) => room(path)?,
            // The name came through a glob import of another module.
            Name::Theirs(name) if ["cpu", "cuda"].contains(&name.as_str()) => IMPLEMENTATIONS,
            Name::Theirs(name) => name.as_str(),
        };
        let inside = |module: &Module| used.by.starts_with(module);
        if by != name && self.only.get(name).is_some_and(|places| !places.iter().any(inside)) {
            return Some(format!("{name} only in {:?}", self.only[name]));
        }
        let row = self.rooms.iter().find(|(room, _)| room == by);
        let is_room = |name: &str| self.rooms.iter().any(|(room, _)| room == name);
        let ours = by != name && (matches!(used.name, Name::Ours(_)) || is_room(name));
        match row {
            None => Some(format!("{by} has no row")),
            Some((_, allowed)) if ours && !allowed.contains(name) => Some(format!("{by} may not use {name}")),
            Some(_) => None,
        }
    }

    /// The distinct violations, each with its place.
    fn violations(&self, uses: &[Use]) -> BTreeSet<String> {
        let told = |used: &Use| Some(format!("{}: {}", used.place, self.forbids(used)?));
        uses.iter().filter_map(told).collect()
    }
}

// ---- code ------------------------------------------------------------------------------------------

/// Collects the uses in one file.
struct Reader<'a> {
    file: &'a str,
    module: Module,
    /// Modules declared by the file.
    children: BTreeSet<String>,
    /// Imported names, by their local names.
    imported: HashMap<String, Name>,
    /// Crates that only some modules may use.
    theirs: &'a BTreeSet<String>,
    uses: Vec<Use>,
    /// Our names that a module imports, by the paths under which it hands them on.
    handed_on: BTreeMap<Module, Module>,
    /// Files of the modules declared here without a body.
    further: Vec<(Module, Option<String>)>,
    /// Modules with a body that are the half of a file for a device.
    inline: Vec<Module>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(i) => &i.attrs,
        Item::Enum(i) => &i.attrs,
        Item::Fn(i) => &i.attrs,
        Item::Impl(i) => &i.attrs,
        Item::Mod(i) => &i.attrs,
        Item::Static(i) => &i.attrs,
        Item::Struct(i) => &i.attrs,
        Item::Trait(i) => &i.attrs,
        Item::Type(i) => &i.attrs,
        Item::Use(i) => &i.attrs,
        _ => &[],
    }
}

impl Reader<'_> {
    fn note(&mut self, path: &[String], span: Span) {
        let place = format!("{}:{}", self.file, span.start().line);
        if let Some(name) = self.resolved(path) {
            self.uses.push(Use { by: self.module.clone(), name, place });
        }
    }

    /// The name that a path denotes here; `None` for a local path.
    fn resolved(&self, path: &[String]) -> Option<Name> {
        let first = path.first()?.as_str();
        let above = path.iter().take_while(|word| *word == "super").count();
        let below = |module: &[String], rest: &[String]| Some(Name::Ours([module, rest].concat()));
        match first {
            "crate" | CORE => below(&[], &path[1..]),
            "self" => below(&self.module, &path[1..]),
            "super" => below(&self.module[..self.module.len().checked_sub(above)?], &path[above..]),
            _ if self.children.contains(first) => below(&self.module, path),
            _ => match self.imported.get(first).filter(|_| path.len() > 1) {
                Some(Name::Ours(module)) => below(module, &path[1..]),
                Some(theirs) => Some(theirs.clone()),
                None if path.len() > 1 || self.theirs.contains(first) => Some(Name::Theirs(first.to_owned())),
                None => None,
            },
        }
    }

    fn import(&mut self, tree: &UseTree, before: &[String], span: Span) {
        let with = |word: String| [before, &[word]].concat();
        match tree {
            UseTree::Path(path) => self.import(&path.tree, &with(path.ident.to_string()), span),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before, span)),
            // The names that a glob import brings in cannot be determined from here.
            UseTree::Glob(_) => self.note(&[before, &["*".to_owned()]].concat(), span),
            UseTree::Name(name) if name.ident == "self" => {
                self.imported_as(before.to_vec(), before.last(), span)
            }
            UseTree::Name(name) => {
                let word = name.ident.to_string();
                self.imported_as(with(word.clone()), Some(&word), span);
            }
            UseTree::Rename(renamed) => {
                let word = renamed.ident.to_string();
                let path = if word == "self" { before.to_vec() } else { with(word) };
                self.imported_as(path, Some(&renamed.rename.to_string()), span);
            }
        }
    }

    fn imported_as(&mut self, path: Module, called: Option<&String>, span: Span) {
        self.note(&path, span);
        if let (Some(name), Some(called)) = (self.resolved(&path), called) {
            if let Name::Ours(path) = &name {
                self.handed_on
                    .insert([&self.module[..], std::slice::from_ref(called)].concat(), path.clone());
            }
            self.imported.insert(called.clone(), name);
        }
    }

    /// Collects the paths in a macro's tokens.
    fn scan(&mut self, tokens: TokenStream) {
        let mut path: Module = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        path.clear();
                    }
                    path.push(word.to_string());
                    let first = path[0].as_str();
                    let known = ["crate", "super", CORE].contains(&first)
                        || self.imported.contains_key(first)
                        || self.theirs.contains(first);
                    if path.len() > 1 && known {
                        self.note(&path.clone(), word.span());
                    }
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                TokenTree::Group(group) => {
                    self.scan(group.stream());
                    path.clear();
                }
                _ => path.clear(),
            }
        }
    }
}

impl Reader<'_> {
    /// Reads the items of a module, which has no other imports and children.
    fn items(&mut self, items: &[Item]) {
        let children = items.iter().filter_map(|item| match item {
            Item::Mod(declared) => Some(declared.ident.to_string()),
            _ => None,
        });
        (self.children, self.imported) = (children.collect(), HashMap::new());
        // Imports are read first, because a path may precede the import that it relies on.
        let is_import = |item: &&Item| matches!(item, Item::Use(_));
        items.iter().filter(is_import).for_each(|item| self.visit_item(item));
        items.iter().filter(|item| !is_import(item)).for_each(|item| self.visit_item(item));
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        if is_test(attributes(item)) {
            return;
        }
        if let Item::Mod(declared) = item {
            let module = [self.module.clone(), vec![declared.ident.to_string()]].concat();
            if declared.content.is_none() {
                let path = declared.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
                let path = path.and_then(|attribute| attribute.meta.require_name_value().ok());
                let path = path.and_then(|path| match &path.value {
                    syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
                    _ => None,
                });
                self.further.push((module, path));
                return;
            }
            self.inline.extend(device_half(&module).map(|_| module.clone()));
            let outer = std::mem::replace(&mut self.module, module);
            let (children, imported) = (self.children.clone(), self.imported.clone());
            self.items(declared.content.as_ref().map_or(&[], |(_, items)| items));
            (self.module, self.children, self.imported) = (outer, children, imported);
            return;
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        self.import(&item.tree, &[], item.span());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Module = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1 {
            self.note(&words, path.span());
        }
        visit::visit_path(self, path);
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.scan(list.tokens.clone());
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        let called = item.rename.as_ref().map_or(item.ident.to_string(), |(_, name)| name.to_string());
        self.imported_as(vec![item.ident.to_string()], Some(&called), item.span());
    }

    fn visit_macro(&mut self, called: &'ast Macro) {
        self.scan(called.tokens.clone());
        visit::visit_macro(self, called);
    }
}

/// The modules of both crates, which have the same names in either, and the names in them.
#[derive(Default)]
struct Source {
    modules: BTreeSet<Module>,
    uses: Vec<Use>,
    /// Names that modules import, by the paths under which they hand them on.
    handed_on: BTreeMap<Module, Module>,
}

impl Source {
    fn of_tree(rules: &Rules) -> Source {
        let mut source = Source::default();
        for root in ["src/core/lib.rs", "src/lib.rs"] {
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(root);
            source.read(&root, Vec::new(), &rules.theirs());
        }
        source
    }

    /// Reads a file and those of its modules.
    fn read(&mut self, file: &Path, module: Module, theirs: &BTreeSet<String>) {
        let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let name = file.strip_prefix(env!("CARGO_MANIFEST_DIR")).unwrap_or(file).display().to_string();
        let further = self.read_text(&name, &text, module, theirs);
        let folder = file.parent().expect("a folder");
        let stem = file.file_stem().expect("a name");
        let own = ["mod", "lib"].iter().any(|name| stem == *name);
        let below = if own { folder.to_owned() } else { folder.join(stem) };
        for (module, path) in further {
            let name = module.last().expect("a name");
            let places: Vec<PathBuf> = match path {
                Some(path) => vec![folder.join(path)],
                None => vec![below.join(format!("{name}.rs")), below.join(name).join("mod.rs")],
            };
            let file = places.iter().find(|file| file.is_file()).unwrap_or_else(|| panic!("{places:?}"));
            self.read(file, module, theirs);
        }
    }

    /// Reads the text of a file; returns its modules without a body, with their `#[path]`.
    fn read_text(
        &mut self,
        file: &str,
        text: &str,
        module: Module,
        theirs: &BTreeSet<String>,
    ) -> Vec<(Module, Option<String>)> {
        let tree = syn::parse_file(text).unwrap_or_else(|error| panic!("{file}: {error}"));
        self.modules.insert(module.clone());
        let (children, imported, uses, handed_on, further, inline) = Default::default();
        let mut reader =
            Reader { file, module, children, imported, theirs, uses, handed_on, further, inline };
        reader.items(&tree.items);
        self.modules.extend(reader.inline);
        self.uses.extend(reader.uses);
        self.handed_on.extend(reader.handed_on);
        reader.further
    }

    /// The module in which a name is defined, whatever modules hand it on.
    fn home(&self, name: &Module) -> Module {
        let mut path = name.clone();
        // A name is handed on a few times at most.
        for _ in 0..8 {
            let handed_on = |n: usize| Some((n, self.handed_on.get(&path[..n])?));
            // A function may have the name of a module.
            let known =
                (1..=path.len()).rev().filter(|n| !self.modules.contains(&path[..*n])).find_map(handed_on);
            match known {
                Some((n, target)) if !target.starts_with(&path[..n]) => path = [target, &path[n..]].concat(),
                _ => break,
            }
        }
        let known = (1..=path.len()).rev().find(|n| self.modules.contains(&path[..*n]));
        path.truncate(known.unwrap_or(0));
        path
    }

    /// Arrows between modules that stand beside each other in a room, each with a place: `a::b::c` uses `a::d::E` is one
    /// from `a::b` to `a::d`.
    fn arrows(&self) -> BTreeMap<Module, BTreeMap<Module, String>> {
        let mut arrows: BTreeMap<Module, BTreeMap<Module, String>> = BTreeMap::new();
        for used in &self.uses {
            let Name::Ours(name) = &used.name else { continue };
            let halved = |module: Module| device_half(&module).unwrap_or(module);
            let (by, home) = (halved(used.by.clone()), halved(self.home(name)));
            let shared = by.iter().zip(&home).take_while(|(a, b)| a == b).count();
            if shared > 0 && shared < by.len().min(home.len()) {
                let (from, to) = (by[..=shared].to_vec(), home[..=shared].to_vec());
                arrows.entry(from).or_default().entry(to).or_insert_with(|| used.place.clone());
            }
        }
        arrows
    }

    /// The circles among sibling modules, at least one of which is a folder, each with its arrows.
    fn circles(&self) -> Vec<Vec<String>> {
        let arrows = self.arrows();
        let reached = |from: &Module| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = next.pop() {
                let further = arrows.get(&module).into_iter().flat_map(BTreeMap::keys);
                next.extend(further.filter(|further| seen.insert((*further).clone())).cloned());
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<Module>> =
            arrows.keys().map(|module| (module, reached(module))).collect();
        let circle =
            |a: &Module, b: &Module| reach[a].contains(b) && reach.get(b).is_some_and(|r| r.contains(a));
        let folders: BTreeSet<&[String]> =
            self.modules.iter().filter_map(|module| Some(module.split_last()?.1)).collect();
        let with_folder = |module: &Module| {
            reach[module].iter().any(|other| folders.contains(&other[..]) && circle(module, other))
        };
        let mut circles: BTreeMap<&Module, Vec<String>> = BTreeMap::new();
        for (from, targets) in &arrows {
            for (to, place) in targets.iter().filter(|(to, _)| circle(from, to) && with_folder(from)) {
                let first = arrows.keys().find(|first| circle(first, from)).expect("itself at least");
                let told = format!("{} uses {} ({place})", from.join("::"), to.join("::"));
                circles.entry(first).or_default().push(told);
            }
        }
        circles.into_values().collect()
    }
}

fn page() -> String {
    fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/lib.rs")).expect("the page")
}

// ---- tests -----------------------------------------------------------------------------------------

#[test]
fn each_module_uses_what_its_row_allows() {
    let rules = rules(&page());
    let uses = Source::of_tree(&rules).uses;
    assert!(uses.len() > 5_000, "{} uses were found", uses.len());
    let wrong = rules.violations(&uses);
    assert!(wrong.is_empty(), "against the tables in src/lib.rs: {wrong:#?}");
}

/// Tests, too, read YAML by the module whose limits hold for all of it.
#[test]
fn one_file_names_the_parser_of_yaml() {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut naming = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(end) if end == "rs" => {
                    let text = fs::read_to_string(&path).expect("a source");
                    let is_code = |line: &str| !line.trim_start().starts_with("//");
                    let names = |line: &str| line.contains("serde_yaml") && is_code(line);
                    naming.extend(text.lines().any(names).then(|| path.clone()));
                }
                _ => {}
            }
        }
    }
    let names: Vec<_> =
        naming.iter().filter_map(|path| path.strip_prefix(env!("CARGO_MANIFEST_DIR")).ok()).collect();
    assert_eq!(names, [Path::new("src/recipe/yaml.rs")]);
}

/// A row names only rows above it, so there are no cycles.
#[test]
fn rows_name_only_rows_above_them() {
    let rooms = rules(&page()).rooms;
    assert!(rooms.len() > 10);
    for (at, (room, uses)) in rooms.iter().enumerate() {
        let above: BTreeSet<&String> = rooms[..at].iter().map(|(room, _)| room).collect();
        let below: Vec<&String> = uses.iter().filter(|used| !above.contains(used)).collect();
        assert!(below.is_empty(), "{room} uses {below:?}, which do not stand above it");
    }
}

/// No row names a room that its module does not need.
#[test]
fn rows_name_nothing_in_vain() {
    let rules = rules(&page());
    let uses = Source::of_tree(&rules).uses;
    let needed: BTreeSet<(&str, &str)> = uses
        .iter()
        .filter_map(|used| match &used.name {
            Name::Ours(path) => Some((room(&used.by)?, room(path)?)),
            Name::Theirs(_) => None,
        })
        .collect();
    for (by, allowed) in rules.rooms.iter().filter(|(room, _)| room != "cli") {
        for used in allowed {
            assert!(needed.contains(&(by.as_str(), used.as_str())), "{by} does not use {used}");
        }
    }
    for (name, places) in &rules.only {
        for place in places {
            let names = |used: &&Use| match &used.name {
                Name::Ours(path) => room(path) == Some(name),
                Name::Theirs(theirs) => theirs == name,
            };
            let by = uses.iter().filter(names).find(|used| used.by.starts_with(place));
            assert!(by.is_some(), "{} does not use {name}", place.join("::"));
        }
    }
}

/// Every way to write a forbidden use is found, and tests are exempt.
#[test]
fn a_forbidden_use_is_found_however_it_is_written() {
    let rules = rules(&page());
    let wrong = |module: &str, text: &str| {
        let module = module.split("::").map(str::to_owned).collect();
        let mut source = Source::default();
        source.read_text("planted.rs", text, module, &rules.theirs());
        rules.violations(&source.uses)
    };
    for text in [
        "use crate::report::series;",
        "use crate::{case::Case, report::series};",
        "use super::super::report;",
        "fn f() { crate::report::write_all(); }",
        "fn f() -> Option<crate::report::Origin> { None }",
        "use crate::{self as all}; fn f() { all::report::write_all(); }",
        "fn f() { println!(\"{}\", crate::report::NAME); }",
        "mod inner { use crate::report::series; }",
        "mod inner { use crate::report; fn f() { report::write_all(); } }",
        "use scatterlab_core::report::series;",
        "fn f() { println!(\"{}\", scatterlab_core::report::NAME); }",
    ] {
        assert_eq!(wrong("model::sector", text).len(), 1, "{text}");
        assert!(wrong("cli", text).is_empty() || text.contains("super"), "{text}");
    }
    for text in [
        "use crate::primitives::scan::cuda::Scan;",
        "use crate::primitives::{self}; fn f() { primitives::cuda::length(); }",
    ] {
        assert_eq!(wrong("cli::counters", text).len(), 1, "{text}");
        assert_eq!(wrong("engine::server", text).len(), 1, "{text}");
        assert_eq!(wrong("primitives::scan::work", text).len(), 1, "{text}");
        assert!(wrong("engine::executors::cuda", text).is_empty(), "{text}");
    }
    assert_eq!(wrong("primitives::scan", "pub mod cuda; fn f() { cuda::blocks(); }").len(), 1);
    for text in [
        "use cust::context::Context;",
        "use cust as driver; fn f() { driver::init(); }",
        "use cust::*;",
        "extern crate cust as driver;",
        "fn f() { println!(\"{}\", cust::NAME); }",
        "use crate::*; fn f() { report::write_all(); }",
        "use crate::primitives::scan::*;",
        "use super::*; fn f() { cuda::launch(); }",
        "#[derive(clap::Args)] struct A;",
    ] {
        assert!(!wrong("primitives::stream::work", text).is_empty(), "{text}");
    }
    assert_eq!(wrong("tui", "use cust::context::Context;").len(), 1);
    assert_eq!(wrong("report", "fn f() { ratatui::init(); }").len(), 1);
    assert!(wrong("somewhere", "use crate::case::Case;").contains("planted.rs:1: somewhere has no row"));
    assert!(wrong("case", "#[cfg(test)] mod tests { use crate::report::series; }").is_empty());
    assert!(wrong("case", "#[cfg(test)] use crate::report::series;").is_empty());
}

/// Inside a room, too, folders use what stands beside them in one direction only.
#[test]
fn no_circle_is_in_a_room() {
    let circles = Source::of_tree(&rules(&page())).circles();
    assert!(circles.is_empty(), "{} circles: {circles:#?}", circles.len());
}

#[test]
fn a_circle_is_found_though_a_name_is_handed_on() {
    let circles = |texts: [(&str, &str); 4]| {
        let mut source = Source::default();
        for (module, text) in texts {
            let module = module.split("::").map(str::to_owned).collect();
            source.read_text("planted.rs", text, module, &BTreeSet::new());
        }
        source.circles()
    };
    let room = ("room", "mod one; mod two; pub use one::Name;");
    let one = ("room::one", "mod inner; use super::two::Other;");
    let inner = ("room::one::inner", "use crate::room::two::Other;");
    let found = circles([room, one, inner, ("room::two", "fn f(name: super::Name) {}")]);
    assert_eq!((found.len(), found[0].len()), (1, 2), "{found:?}");
    assert!(circles([room, one, inner, ("room::two", "fn f(name: crate::other::Name) {}")]).is_empty());
    // The halves of a file for devices are beside the folders of their names.
    let method = "pub mod cpu { use crate::primitives::p::cpu::Job; fn f() { super::work(); } }";
    let job = ("primitives::p::cpu", "use super::methods::one::cpu::run; pub struct Job;");
    let (primitive, half) = (("primitives::p", ""), |text| ("primitives::p::methods::one", text));
    assert!(circles([primitive, half(method), job, ("primitives::p::cpu::loops", "")]).is_empty());
    let pure = "use crate::primitives::p::cpu::Job;";
    let job = ("primitives::p::cpu", "use super::methods::one::work; pub struct Job;");
    assert_eq!(circles([primitive, half(pure), job, ("primitives::p::methods", "")]).len(), 1);
    // A circle of single files is allowed.
    assert!(circles([room, one, ("other", ""), ("room::two", "fn f(name: super::Name) {}")]).is_empty());
}
