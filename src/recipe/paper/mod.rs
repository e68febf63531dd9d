//! Papers: `paper.yaml` of a paper's folder states what the paper claims, what it misprints, and on which machines it
//! measured. `docs/papers.md` describes the file.

mod statement;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
pub use statement::{Expression, Fold, Selection, Statement, Subject, Test, Unit, number};

use super::error::{ErrorKind, Mistake, Place, RecipeError};
use super::node::{Content, Key, Node, locate_place, only, read};

/// The name of the file in a paper's folder.
pub const FILE: &str = "paper.yaml";

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/claims.rs"));

/// A paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Paper {
    /// The name of its folder.
    pub key: String,
    /// The file's name in messages, and its text.
    pub file: String,
    pub text: String,
    pub title: String,
    pub authors: Vec<String>,
    pub year: u32,
    pub bibtex: Option<String>,
    pub platforms: Vec<Platform>,
    pub errata: Vec<Erratum>,
    /// In the paper's order.
    pub claims: Vec<Claim>,
}

/// A machine of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Platform {
    /// As in the column `platform` of printed tables.
    pub name: String,
    /// The name that a driver or a processor gives.
    pub device: Option<String>,
    /// Its peak bandwidth, as written.
    pub peak: Option<String>,
}

/// What a paper prints, and what is right.
#[derive(Clone, Debug, PartialEq)]
pub struct Erratum {
    pub at: String,
    pub says: String,
    pub is: String,
    pub why: Option<String>,
}

/// A sentence of a paper that a measurement could decide.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Unique in its paper.
    pub id: String,
    /// Where the paper says it.
    pub at: String,
    /// What it says, paraphrased.
    pub says: String,
    /// Why no statement decides it.
    pub none: Option<String>,
    /// What the lab lacks to decide it.
    pub needs: Option<String>,
    pub from: Vec<Source>,
    pub printed: Vec<String>,
    /// Whose printed rows and measurements the size is about.
    pub platform: Option<String>,
    /// The finding, which may hold on any machine.
    pub shape: Vec<Placed<Statement>>,
    /// The magnitude that the paper prints.
    pub size: Vec<Placed<Statement>>,
    /// Why the printed table contradicts it.
    pub erratum: Option<String>,
    /// Cases that the sentence itself leaves out.
    pub except: Option<Selection>,
    place: Place,
}

/// A recipe of the paper's folder, and an experiment of it if not all are meant.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub recipe: String,
    pub experiment: Option<String>,
    place: Place,
}

/// The claims of a paper that a run knew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "claims: a hash, or the hash of each claim by its id")]
pub enum Known {
    /// The hash of each by its id ([`Paper::hash`]).
    Each(BTreeMap<String, String>),
    /// Runs of older versions have one hash of all together, which no claim can be compared with.
    Together(String),
}

/// What is written at a place of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed<T> {
    pub what: T,
    place: Place,
}

/// The papers that come with the program.
pub fn shipped() -> &'static [Paper] {
    static PAPERS: LazyLock<Vec<Paper>> = LazyLock::new(|| {
        let paper = |&(at, text): &(&str, &str)| {
            let key = Path::new(at).parent().and_then(Path::file_name).unwrap_or_default();
            // A test reads each of them.
            parse(&key.to_string_lossy(), at, text).ok()
        };
        FOUND.iter().filter_map(paper).collect()
    });
    &PAPERS
}

/// The shipped paper with this key.
pub fn find(key: &str) -> Option<&'static Paper> {
    shipped().iter().find(|paper| paper.key == key)
}

/// Reads a paper's file.
///
/// # Errors
/// The first mistake, with its line, its key, and what is accepted.
pub fn parse(key: &str, file: &str, text: &str) -> Result<Paper, RecipeError> {
    let root = read(file, text).map_err(|mut error| {
        if let ErrorKind::DuplicateKey { at, .. } = error.problem.as_mut()
            && at == "the recipe"
        {
            "the paper".clone_into(at);
        }
        error
    })?;
    let paper = Paper {
        key: key.to_owned(),
        file: file.to_owned(),
        text: text.to_owned(),
        title: String::new(),
        authors: Vec::new(),
        year: 0,
        bibtex: None,
        platforms: Vec::new(),
        errata: Vec::new(),
        claims: Vec::new(),
    };
    paper.filled(&root).map_err(|mistake| error_in(file, text, mistake))
}

fn error_in(file: &str, text: &str, mistake: Mistake) -> RecipeError {
    RecipeError {
        origin: file.to_owned(),
        place: locate_place(text, mistake.place),
        problem: Box::new(mistake.problem),
    }
}

/// The entries of a map of the file, with the map's name for messages.
struct Entries<'n> {
    at: String,
    place: Place,
    entries: &'n [(Key, Node)],
}

impl<'n> Entries<'n> {
    fn of(node: &'n Node, at: &str, accepted: &[&str]) -> Result<Entries<'n>, Mistake> {
        let entries = node.map(at, &format!("a map of {}", accepted.join(", ")))?;
        only(entries, at, accepted)?;
        Ok(Entries { at: at.to_owned(), place: node.place, entries })
    }

    fn get(&self, key: &str) -> Option<&'n Node> {
        self.entries.iter().find(|(found, _)| found.text == key).map(|(_, node)| node)
    }

    fn text(&self, key: &str) -> Result<Option<String>, Mistake> {
        let text = |node: &Node| match node.written() {
            Some(text) if !text.trim().is_empty() => Ok(text.trim().to_owned()),
            _ => Err(Mistake::wrong_type(node.place, &self.path(key), "a text", node.describe())),
        };
        self.get(key).map(text).transpose()
    }

    fn needed(&self, key: &str) -> Result<String, Mistake> {
        self.text(key)?.ok_or_else(|| Mistake::missing_key(self.place, &self.at, key))
    }

    /// The items of a list; none if the key is missing. A single text is a list of one where `alone`.
    fn list(&self, key: &str, alone: bool) -> Result<&'n [Node], Mistake> {
        match self.get(key).map(|node| (&node.content, node)) {
            None => Ok(&[]),
            Some((Content::List(items), _)) => Ok(items),
            Some((Content::Text(_), node)) if alone => Ok(std::slice::from_ref(node)),
            Some((_, node)) => {
                let expected = if alone { "a text or a list of texts" } else { "a list" };
                Err(Mistake::wrong_type(node.place, &self.path(key), expected, node.describe()))
            }
        }
    }

    fn texts(&self, key: &str, alone: bool) -> Result<Vec<(String, Place)>, Mistake> {
        let text = |node: &Node| match &node.content {
            Content::Text(text) => Ok((text.trim().to_owned(), node.place)),
            _ => Err(Mistake::wrong_type(node.place, &self.path(key), "a text", node.describe())),
        };
        self.list(key, alone)?.iter().map(text).collect()
    }

    fn statements(&self, key: &str) -> Result<Vec<Placed<Statement>>, Mistake> {
        let statement = |(text, place): (String, Place)| match Statement::parse(&text) {
            Ok(what) => Ok(Placed { what, place }),
            Err(problem) => Err(Mistake::invalid(place, &self.path(key), problem)),
        };
        self.texts(key, true)?.into_iter().map(statement).collect()
    }

    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.at)
    }
}

impl Paper {
    fn filled(self, root: &Node) -> Result<Paper, Mistake> {
        // The peers are read with the recipes that name them.
        const KEYS: [&str; 8] =
            ["title", "authors", "year", "bibtex", "platforms", "errata", "claims", "peers"];
        let own = Entries::of(root, "the paper", &KEYS)?;
        let year = own.needed("year")?;
        let year = year.parse().ok().filter(|year| (1900..2200).contains(year)).ok_or_else(|| {
            let place = own.get("year").map_or(own.place, |node| node.place);
            Mistake::new(
                place,
                ErrorKind::OutOfRange { at: "year".into(), value: year, accepted: "1900 to 2199".into() },
            )
        })?;
        let platforms = match own.get("platforms") {
            Some(node) => platforms(node)?,
            None => Vec::new(),
        };
        let errata = own.list("errata", false)?.iter().map(erratum).collect::<Result<_, _>>()?;
        let mut claims: Vec<Claim> = Vec::new();
        for node in own.list("claims", false)? {
            let claim = claim(node, &platforms)?;
            if claims.iter().any(|other| other.id == claim.id) {
                return Err(Mistake::invalid(
                    claim.place,
                    "claims",
                    format!("two claims are called `{}`", claim.id),
                ));
            }
            claims.push(claim);
        }
        let authors = own.texts("authors", true)?.into_iter().map(|(name, _)| name).collect();
        Ok(Paper {
            title: own.needed("title")?,
            authors,
            year,
            bibtex: own.text("bibtex")?,
            platforms,
            errata,
            claims,
            ..self
        })
    }

    /// A hash of each claim by its id.
    pub fn hashes(&self) -> BTreeMap<String, String> {
        self.claims.iter().map(|claim| (claim.id.clone(), self.hash(claim))).collect()
    }

    /// The beginning of the BLAKE3 hash, hexadecimal, of all that decides a claim, with the numbers of its tests, whatever the
    /// paraphrase. A run keeps it, so that a claim which was changed after the run is told from others.
    pub fn hash(&self, claim: &Claim) -> String {
        const DIGITS: usize = 16;
        let statements = |key: &str, all: &[Placed<Statement>]| {
            all.iter().map(|one| format!("{key} {} {:?}\n", one.what.text, one.what.test)).collect::<String>()
        };
        let sources = claim.from.iter().map(|source| format!("{source}\n")).collect::<String>();
        let text = format!(
            "scatterlab claim 3\n{:?}\n{sources}{}{}{:?} {:?} {:?}",
            self.device(claim),
            statements("shape", &claim.shape),
            statements("size", &claim.size),
            claim.except,
            claim.none,
            claim.needs
        );
        blake3::hash(text.as_bytes()).to_hex()[..DIGITS].to_owned()
    }

    /// The device that the claim's size is about.
    fn device(&self, claim: &Claim) -> Option<&str> {
        let platform = self.platforms.iter().find(|platform| Some(&platform.name) == claim.platform.as_ref());
        platform?.device.as_deref()
    }

    /// Whether all of these devices are the one that the claim's size is about.
    pub fn is_named(&self, claim: &Claim, devices: &[String]) -> bool {
        self.device(claim).is_some_and(|named| devices.iter().all(|device| device == named))
    }

    /// A mistake that shows only beside a recipe or a table: in a statement of a claim.
    pub fn error_at<T>(&self, claim: &Claim, part: &str, placed: &Placed<T>, problem: String) -> RecipeError {
        let at = format!("claims.{}.{part}", claim.id);
        error_in(&self.file, &self.text, Mistake::invalid(placed.place, &at, problem))
    }

    /// A mistake in the sources of a claim.
    pub fn error_of_source(&self, claim: &Claim, source: &Source, problem: String) -> RecipeError {
        let at = format!("claims.{}.from", claim.id);
        error_in(&self.file, &self.text, Mistake::invalid(source.place, &at, problem))
    }

    /// A mistake in another key of a claim.
    pub fn error_of(&self, claim: &Claim, part: &str, problem: String) -> RecipeError {
        let at = format!("claims.{}.{part}", claim.id);
        error_in(&self.file, &self.text, Mistake::invalid(claim.place, &at, problem))
    }
}

fn platforms(node: &Node) -> Result<Vec<Platform>, Mistake> {
    let platform = |(key, node): &(Key, Node)| {
        let at = format!("platforms.{}", key.text);
        if node.content == Content::Null {
            return Ok(Platform { name: key.text.clone(), device: None, peak: None });
        }
        let own = Entries::of(node, &at, &["device", "peak"])?;
        Ok(Platform { name: key.text.clone(), device: own.text("device")?, peak: own.text("peak")? })
    };
    node.map("platforms", "a map of machines")?.iter().map(platform).collect()
}

fn erratum(node: &Node) -> Result<Erratum, Mistake> {
    let own = Entries::of(node, "errata", &["at", "says", "is", "why"])?;
    Ok(Erratum {
        at: own.needed("at")?,
        says: own.needed("says")?,
        is: own.needed("is")?,
        why: own.text("why")?,
    })
}

fn claim(node: &Node, platforms: &[Platform]) -> Result<Claim, Mistake> {
    const KEYS: [&str; 12] = [
        "id", "at", "says", "none", "needs", "from", "printed", "platform", "shape", "size", "erratum",
        "except",
    ];
    let own = Entries::of(node, "claims", &KEYS)?;
    let id = own.needed("id")?;
    if !id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)) {
        let accepted = "accepted: lower-case letters, digits, hyphens and points";
        return Err(Mistake::invalid(node.place, "claims.id", format!("`{id}`: {accepted}")));
    }
    let own = Entries { at: format!("claims.{id}"), ..own };
    let from = own.texts("from", true)?.into_iter().map(|(text, place)| Source::of(&text, place)).collect();
    let platform = own.text("platform")?;
    if let Some(name) =
        platform.as_deref().filter(|name| !platforms.iter().any(|platform| platform.name == *name))
    {
        let names: Vec<&str> = platforms.iter().map(|platform| platform.name.as_str()).collect();
        let place = own.get("platform").map_or(node.place, |node| node.place);
        return Err(Mistake::unknown_word(place, &own.path("platform"), name, &names));
    }
    let except = own.text("except")?.map(|text| {
        let place = own.get("except").map_or(node.place, |node| node.place);
        Selection::parse(&text).map_err(|problem| Mistake::invalid(place, &own.path("except"), problem))
    });
    let claim = Claim {
        at: own.needed("at")?,
        says: own.needed("says")?,
        none: own.text("none")?,
        needs: own.text("needs")?,
        from,
        printed: printed(&own)?,
        platform,
        shape: own.statements("shape")?,
        size: own.statements("size")?,
        erratum: own.text("erratum")?,
        except: except.transpose()?,
        place: node.place,
        id,
    };
    claim.checked(&own)
}

/// The names of the printed tables; none for `none: WHY`.
fn printed(own: &Entries) -> Result<Vec<String>, Mistake> {
    match own.get("printed") {
        Some(node @ Node { content: Content::Map(_), .. }) => {
            Entries::of(node, &own.path("printed"), &["none"])?.needed("none").map(|_| Vec::new())
        }
        _ => Ok(own.texts("printed", true)?.into_iter().map(|(name, _)| name).collect()),
    }
}

impl Claim {
    /// All statements, each with the name of its part.
    pub fn statements(&self) -> impl Iterator<Item = (&'static str, &Placed<Statement>)> {
        let shape = self.shape.iter().map(|one| ("shape", one));
        shape.chain(self.size.iter().map(|one| ("size", one)))
    }

    fn checked(self, own: &Entries) -> Result<Claim, Mistake> {
        let wrong = |key: &str, why: &str| Err(Mistake::invalid(own.place, &own.path(key), why));
        let decided = !self.shape.is_empty() || !self.size.is_empty();
        match (&self.none, decided) {
            (Some(_), true) => {
                return wrong("none", "a claim with statements is decided by them; accepted: either");
            }
            (None, false) => {
                return wrong("shape", "missing; accepted: shape or size with statements, or none: WHY");
            }
            (None, true) if self.from.is_empty() => {
                return Err(Mistake::missing_key(own.place, &own.at, "from"));
            }
            (None, true) if own.get("printed").is_none() => {
                return wrong("printed", "missing; accepted: a table of published/, or {none: figure}");
            }
            _ => {}
        }
        let unnamed =
            self.platform.is_none().then(|| self.size.iter().find(|size| size.what.test.unit.is_some()));
        if let Some(size) = unnamed.flatten() {
            let why = "a size with a unit holds on one machine only; name it with the key `platform`";
            return Err(Mistake::invalid(size.place, &own.path("size"), why));
        }
        Ok(self)
    }
}

impl Source {
    fn of(text: &str, place: Place) -> Source {
        let text = text.trim_end_matches(".yaml");
        let (recipe, experiment) =
            text.split_once('/').map_or((text, None), |(recipe, slug)| (recipe, Some(slug)));
        Source { recipe: recipe.to_owned(), experiment: experiment.map(str::to_owned), place }
    }
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.recipe)?;
        self.experiment.as_ref().map_or(Ok(()), |slug| write!(f, "/{slug}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "title: A paper\nyear: 2020\nplatforms: {G80: {device: NVIDIA GeForce 8800 GTX}}\nclaims:\n";

    fn read(claims: &str) -> Result<Paper, RecipeError> {
        parse("it", "it/paper.yaml", &format!("{HEAD}{claims}"))
    }

    #[test]
    fn the_shipped_papers_are_read() {
        for (at, text) in FOUND {
            let paper = parse("it", at, text).unwrap_or_else(|error| panic!("{error}"));
            assert!(paper.claims.len() > 10 && !paper.authors.is_empty() && paper.bibtex.is_some(), "{at}");
        }
        assert_eq!(shipped().len(), FOUND.len());
    }

    #[test]
    fn a_mistake_is_one_line_with_its_place() {
        let claim = |rest: &str| format!("  - {{id: a, at: 1, says: b, {rest}}}\n");
        for (claims, part) in [
            (claim("from: r, printed: {none: figure}, shape: time a=b > 1"), "it/paper.yaml:5:"),
            (
                claim("from: r, printed: {none: figure}, shape: [time of a=b]"),
                "claims.a.shape: it has no test",
            ),
            (claim("from: r, printed: {none: figure}, size: [time of a=b > 1 s]"), "`platform`"),
            (claim("from: r, shape: [time of a=b over c=d > 1]"), "claims.a.printed: missing"),
            (claim("shape: [time of a=b over c=d > 1], printed: x"), "missing key `from`"),
            (claim("from: r, printed: x"), "claims.a.shape: missing"),
            (claim("from: r, printed: x, none: y, shape: [time of a=b over c=d > 1]"), "accepted: either"),
            (claim("platform: G81, none: y"), "unknown word `G81`; accepted: G80"),
            (claim("none: y, reserved: 1"), "unknown key `reserved`"),
            (claim("none: ''"), "claims.a.none: expected a text"),
            ("  - {id: A b, at: 1, says: b, none: c}".into(), "lower-case"),
            (claim("none: c") + &claim("none: c"), "two claims are called `a`"),
            ("  - 5".into(), "expected a map"),
        ] {
            let error = read(&claims).expect_err(&claims).to_string();
            assert!(error.contains(part) && !error.contains('\n'), "{claims}: {error}");
        }
        let year = parse("it", "p", "title: a\nyear: 20\n").expect_err("no year").to_string();
        assert!(year.starts_with("p:2:7: year: 20 is out of range"), "{year}");
    }

    #[test]
    fn a_claim_is_another_one_once_a_statement_changes() {
        let of = |bound: &str, words: &str| {
            let claim = format!(
                "  - {{id: a, at: 1, says: {words}, from: r, printed: {{none: figure}}, shape: [time of a=b over c=d > {bound}]}}"
            );
            let paper = read(&claim).expect("it parses");
            paper.hash(&paper.claims[0])
        };
        assert_eq!(of("1", "b"), of("1", "c"));
        assert_ne!(of("1", "b"), of("2", "b"));
    }
}
