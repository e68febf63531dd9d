//! Step two, experiments: the keys besides the primitive.

use std::borrow::Cow;

use super::chart::{ChartDraft, Name};
use super::error::{ErrorKind, Mistake, Place, listed};
use super::measure;
use super::node::{Content, Key, Node, only};
use super::setting::{Alternative, ParamSlot, Setting, cases, complete, entry, second_variant};
use super::value::{self, Once, count};
use super::{MAX_CASES, too_many};
use crate::case::chart::Paper;
use crate::case::peers::PEERS;
use crate::case::schema::{Kind, Param, ParamDefault};
use crate::case::{BACKENDS, Measure};
use crate::primitives::Primitive;

/// One interpreted experiment: every setting is known, but sweeps are not expanded yet.
#[derive(Clone)]
pub(crate) struct Draft {
    /// The title as written, with the placeholders that a plan fills in.
    pub title: Name,
    pub paper: Option<Paper>,
    /// Place of the paper's key, or of the recipe.
    pub key: Place,
    pub seed: u64,
    pub primitive: &'static Primitive,
    /// Place of the primitive's key.
    pub place: Place,
    /// Settings of the primitive and the backend, in the recipe's order.
    pub settings: Vec<Setting>,
    /// Names of peer programs to run beside the cases, with their places in the recipe.
    pub peers: Vec<(String, Place)>,
    pub chart: ChartDraft,
    pub measure: Measure,
    /// Parameters that the command line has set, and their values as written there.
    pub changes: Vec<(String, String)>,
}

/// The keys of an experiment, besides the primitive.
const KEYS: [&str; 8] = ["version", "title", "paper", "seed", "backend", "peers", "chart", "measure"];
/// Most experiments in one recipe.
pub(super) const MAX_EXPERIMENTS: usize = 256;
const ROOT: &str = "the recipe";
/// Version of the recipe language. A recipe may state the version it is written for.
pub(crate) const LANGUAGE: u32 = 1;

/// Interprets the keys around and inside experiments.
pub(crate) struct Interpreter {
    pub registry: &'static [&'static Primitive],
    /// Title of a recipe without one.
    pub fallback: String,
}

type Entry = (Key, Node);
/// Entries of an experiment, its own and inherited ones.
type Entries<'e> = Vec<(&'e Key, Cow<'e, Node>)>;

impl Interpreter {
    /// Reads the recipe's title and its experiments.
    pub fn recipe(&self, root: &Node) -> Result<(String, Vec<Draft>), Mistake> {
        let entries = root.map(ROOT, "a map of keys")?;
        self.known(entries, true, ROOT)?;
        find(entries, "version").map_or(Ok(()), |(_, node)| version(node))?;
        let title = match find(entries, "title") {
            Some((_, node)) => text(node, "title")?,
            None => self.fallback.clone(),
        };
        let Some((_, list)) = find(entries, "experiments") else {
            let draft = self.draft(&inherit(entries, &[]), &title, root.place, ROOT)?;
            return Ok((title, vec![draft]));
        };
        if let Some((key, _)) = entries.iter().find(|(key, _)| self.primitive(&key.text).is_some()) {
            let message = "a primitive belongs either here or inside the experiments, not in both";
            return Err(Mistake::invalid(key.place, &key.text, message));
        }
        let mut drafts = Vec::new();
        let mut total = 0usize;
        for item in items(list, "experiments", MAX_EXPERIMENTS)? {
            let own = item.map("experiments", "a map of keys")?;
            self.known(own, false, "experiments")?;
            let draft = self.draft(&inherit(own, entries), &title, item.place, "experiments")?;
            total = total.saturating_add(cases(&draft.settings));
            if total > MAX_CASES {
                return Err(too_many(item.place, "experiments"));
            }
            drafts.push(draft);
        }
        unread(entries)?;
        Ok((title, drafts))
    }

    fn primitive(&self, name: &str) -> Option<&'static Primitive> {
        self.registry.iter().copied().find(|p| p.name() == name)
    }

    /// Rejects unknown keys.
    fn known(&self, entries: &[Entry], outer: bool, at: &str) -> Result<(), Mistake> {
        let mut names = KEYS.to_vec();
        // The language version applies to the whole recipe.
        names.retain(|name| outer || *name != "version");
        names.extend(outer.then_some("experiments"));
        names.extend(self.registry.iter().map(|p| p.name()));
        match entries.iter().find(|(key, _)| !names.contains(&key.text.as_str())) {
            Some((key, _)) => Err(Mistake::unknown_key(key.place, at, &key.text, &names)),
            None => Ok(()),
        }
    }

    fn draft(&self, entries: &Entries<'_>, title: &str, place: Place, at: &str) -> Result<Draft, Mistake> {
        let get = |key: &str| entries.iter().find(|(k, _)| k.text == key).map(|(_, n)| n.as_ref());
        let need = |key: &str| get(key).ok_or_else(|| Mistake::missing_key(place, at, key));
        let (primitive, key, node) = self.only_primitive(entries, place, at)?;
        let mut settings = primitive_settings(primitive, key, node)?;
        let backend = Setting::read(ParamSlot::top(&BACKENDS, ""), need("backend")?)?;
        let first = entries.iter().find(|(k, _)| k.text == "backend" || k.place == key.place);
        let at_front = first.is_some_and(|(k, _)| k.text == "backend");
        settings.insert(if at_front { 0 } else { settings.len() }, backend);
        if cases(&settings) > MAX_CASES {
            return Err(too_many(key.place, primitive.name()));
        }
        Ok(Draft {
            title: match get("title") {
                Some(node) => Name { text: text(node, "title")?, place: node.place },
                None => Name { text: title.to_owned(), place },
            },
            paper: get("paper").map(paper).transpose()?,
            key: get("paper").and_then(key_of).map_or(place, |key| key.place),
            seed: get("seed").map_or(Ok(1), |n| count(n, "seed"))?,
            primitive,
            place: key.place,
            settings,
            peers: get("peers").map_or(Ok(Vec::new()), peers)?,
            chart: ChartDraft::read(need("chart")?)?,
            measure: get("measure").map_or(Ok(Measure::default()), measure::read)?,
            changes: Vec::new(),
        })
    }

    fn only_primitive<'e>(
        &self,
        entries: &'e Entries<'_>,
        place: Place,
        at: &str,
    ) -> Result<(&'static Primitive, &'e Key, &'e Node), Mistake> {
        let mut found = entries.iter().filter_map(|(k, n)| Some((self.primitive(&k.text)?, *k, n.as_ref())));
        let Some(first) = found.next() else {
            let names: Vec<&str> = self.registry.iter().map(|p| p.name()).collect();
            let problem = ErrorKind::NoPrimitive { at: at.to_owned(), accepted: listed(&names) };
            return Err(Mistake::new(place, problem));
        };
        if let Some((_, second, _)) = found.next() {
            let (first, at) = (first.1.text.clone(), at.to_owned());
            let problem = ErrorKind::TwoPrimitives { at, first, second: second.text.clone() };
            return Err(Mistake::new(second.place, problem));
        }
        Ok(first)
    }
}

/// Checks the keys outside of `experiments`: no experiment reads a key that every item overrides.
fn unread(entries: &[Entry]) -> Result<(), Mistake> {
    for (key, node) in entries {
        match key.text.as_str() {
            "paper" => paper_fields(node).map(|_| ())?,
            "seed" => count(node, "seed").map(|_| ())?,
            "backend" => Setting::read(ParamSlot::top(&BACKENDS, ""), node).map(|_| ())?,
            "peers" => peers(node).map(|_| ())?,
            "chart" => ChartDraft::read(node).map(|_| ())?,
            "measure" => measure::read(node).map(|_| ())?,
            _ => {}
        }
    }
    Ok(())
}

/// Rejects a recipe written for a newer version of the language.
fn version(node: &Node) -> Result<(), Mistake> {
    match node.content {
        Content::Int(number) if (1..=i128::from(LANGUAGE)).contains(&number) => Ok(()),
        Content::Int(number) if number > i128::from(LANGUAGE) => {
            let message =
                format!("{number} is newer than the {LANGUAGE} that this program reads; update scatterlab");
            Err(Mistake::invalid(node.place, "version", message))
        }
        _ => {
            let expected = format!("the language's version, a number such as `{LANGUAGE}`");
            Err(Mistake::wrong_type(node.place, "version", &expected, node.describe()))
        }
    }
}

fn find<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().find(|(k, _)| k.text == key)
}

/// The items of a list that is neither empty nor too long.
pub(super) fn items<'n>(node: &'n Node, at: &str, most: usize) -> Result<&'n [Node], Mistake> {
    match &node.content {
        Content::List(items) if items.len() > most => Err(Mistake::invalid(
            node.place,
            at,
            format!("{} items are too many; accepted: at most {most}", items.len()),
        )),
        Content::List(items) if !items.is_empty() => Ok(items),
        _ => Err(Mistake::wrong_type(node.place, at, "a list of maps", node.describe())),
    }
}

/// An experiment's own entries and inherited ones; `paper` and `measure` are inherited key by key.
fn inherit<'e>(own: &'e [Entry], outer: &'e [Entry]) -> Entries<'e> {
    let mut entries: Entries<'e> = own.iter().map(|(k, n)| (k, Cow::Borrowed(n))).collect();
    for (key, node) in outer.iter().filter(|(k, _)| k.text != "experiments") {
        match entries.iter_mut().find(|(k, _)| k.text == key.text) {
            None => entries.push((key, Cow::Borrowed(node))),
            Some((_, own)) if matches!(key.text.as_str(), "paper" | "measure") => fill(own, node),
            Some(_) => {}
        }
    }
    entries
}

/// Adds to `own` the keys that only `outer` has.
fn fill(own: &mut Cow<'_, Node>, outer: &Node) {
    let (Content::Map(mine), Content::Map(theirs)) = (&own.content, &outer.content) else { return };
    let missing: Vec<Entry> = theirs.iter().filter(|(k, _)| find(mine, &k.text).is_none()).cloned().collect();
    if let Content::Map(mine) = &mut own.to_mut().content {
        mine.extend(missing);
    }
}

/// A text on one line; a number counts as text, as it is written (`figure: 3.10`).
fn text(node: &Node, at: &str) -> Result<String, Mistake> {
    let line = match node.written() {
        Some(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        None => return Err(Mistake::wrong_type(node.place, at, "a text", node.describe())),
    };
    if line.is_empty() || line.chars().any(char::is_control) {
        return Err(Mistake::wrong_type(
            node.place,
            at,
            "a text without control characters",
            node.describe(),
        ));
    }
    Ok(line)
}

/// The peers of a name or a list of names; none for `null`. Which names there are is known with the recipe's folder.
pub(crate) fn peers(node: &Node) -> Result<Vec<(String, Place)>, Mistake> {
    if node.content == Content::Null {
        return Ok(Vec::new());
    }
    // What is no text is answered with the names that there are.
    let of_names = |wrong| value::sweep(&PEERS.kind, node, PEERS.name).err().unwrap_or(wrong);
    let (names, _) = value::sweep(&Kind::Text, node, PEERS.name).map_err(of_names)?;
    Ok(names.into_iter().map(|(name, place)| (name.to_string(), place)).collect())
}

/// The node of a paper's key.
fn key_of(paper: &Node) -> Option<&Node> {
    let Content::Map(entries) = &paper.content else { return None };
    find(entries, "key").map(|(_, node)| node)
}

/// Most characters of a name of a paper or a peer.
pub(super) const LONGEST_NAME: usize = 64;

/// Such a name as a regular expression.
pub(super) const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";

/// Whether a text may be the name of a paper or a peer.
pub(super) fn is_name(text: &str) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.len() <= LONGEST_NAME
        && text.chars().all(word)
}

fn paper(node: &Node) -> Result<Paper, Mistake> {
    let [key, figure, table, claim] = paper_fields(node)?;
    let key = key.ok_or_else(|| Mistake::missing_key(node.place, "paper", "key"))?;
    Ok(Paper { key, figure, table, claim })
}

/// The keys of a paper. Each may be missing, because it may be inherited.
fn paper_fields(node: &Node) -> Result<[Option<String>; 4], Mistake> {
    const ACCEPTED: [&str; 4] = ["key", "figure", "table", "claim"];
    let entries = node.map("paper", "a map of key, figure, table, claim")?;
    only(entries, "paper", &ACCEPTED)?;
    let get = |key: &str| find(entries, key).map(|(_, n)| text(n, &format!("paper.{key}"))).transpose();
    if let Some((_, node)) = find(entries, "key")
        && !is_name(&text(node, "paper.key")?)
    {
        let expected = format!("a name of at most {LONGEST_NAME} letters, digits, `-`, `_` and `.`");
        return Err(Mistake::wrong_type(node.place, "paper.key", &expected, node.describe()));
    }
    Ok([get("key")?, get("figure")?, get("table")?, get("claim")?])
}

/// The key `cases`, whose items zip parameters.
const CASES: Param = Param {
    name: "cases",
    kind: Kind::Word(&[]),
    default: ParamDefault::Unset,
    doc: "a list of maps; each item sets the same parameters together",
};

fn primitive_settings(
    primitive: &'static Primitive,
    key: &Key,
    node: &Node,
) -> Result<Vec<Setting>, Mistake> {
    let (name, params) = (primitive.name(), primitive.params());
    let slot = |param: &Param| ParamSlot::top(param, name);
    let entries: &[Entry] = match &node.content {
        Content::Null => &[],
        _ => node.map(name, "a map of parameters")?,
    };
    let mut given: Vec<Setting> = Vec::new();
    for (key, node) in entries {
        let setting = match key.text.as_str() {
            "cases" => Some(group(params, &slot, name, key, node)?),
            _ => entry(params, key, node, &slot, name, &["cases"])?,
        };
        let Some(setting) = setting else { continue };
        if given.iter().any(|s| s.slot.key == setting.slot.key) {
            return Err(second_variant(&given, &setting, key, name));
        }
        given.push(setting);
    }
    not_twice(&given, name)?;
    complete(params, given, &slot, name, key.place)
}

/// Rejects a parameter that is set both in `cases` and beside it.
fn not_twice(given: &[Setting], name: &str) -> Result<(), Mistake> {
    let Some(group) = given.iter().find(|s| s.group) else { return Ok(()) };
    let inside = group.alternatives.first().map(|a| a.inner.as_slice()).unwrap_or_default();
    match inside.iter().find(|s| given.iter().any(|g| g.slot.key == s.slot.key)) {
        Some(s) => {
            let message = format!("`{}` is set in the items and beside them", s.slot.param.name);
            Err(Mistake::invalid(group.place, &format!("{name}.cases"), message))
        }
        None => Ok(()),
    }
}

fn group(
    params: &[Param],
    slot: &dyn Fn(&Param) -> ParamSlot,
    name: &str,
    key: &Key,
    node: &Node,
) -> Result<Setting, Mistake> {
    let slot_of_group = slot(&CASES);
    let at = slot_of_group.path.clone();
    let mut alternatives: Vec<Alternative> = Vec::new();
    let mut once = Once::default();
    for item in items(node, &at, MAX_CASES)? {
        let mut inner = Vec::new();
        for (key, node) in item.map(&at, "a map of parameters")? {
            let Some(setting) = entry(params, key, node, slot, name, &[])? else { continue };
            if setting.cases() != 1 {
                let message = "an item of cases gives each parameter one value; this one gives several";
                return Err(Mistake::invalid(node.place, &setting.slot.path, message));
            }
            inner.push(setting);
        }
        same_parameters(alternatives.first(), &inner, item.place, &at)?;
        let alternative = Alternative { value: None, place: item.place, inner };
        once.take(alternative.says(), item.place, "this map", &at)?;
        alternatives.push(alternative);
    }
    let setting = Setting { slot: slot_of_group, place: key.place, alternatives, scale: None, group: true };
    if setting.cases() > MAX_CASES { Err(too_many(key.place, &at)) } else { Ok(setting) }
}

fn same_parameters(
    first: Option<&Alternative>,
    inner: &[Setting],
    place: Place,
    at: &str,
) -> Result<(), Mistake> {
    fn keys(settings: &[Setting]) -> Vec<&str> {
        let mut keys: Vec<&str> = settings.iter().map(|s| s.slot.key.as_str()).collect();
        keys.sort_unstable();
        keys
    }
    let own = keys(inner);
    if own.is_empty() || own.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Mistake::invalid(place, at, "an item sets at least one parameter, and none twice"));
    }
    let expected = first.map(|a| keys(&a.inner)).unwrap_or_else(|| own.clone());
    if own == expected {
        return Ok(());
    }
    let message = format!(
        "every item sets the same parameters; the first sets {}, this one {}",
        listed(&expected),
        listed(&own)
    );
    Err(Mistake::invalid(place, at, message))
}
