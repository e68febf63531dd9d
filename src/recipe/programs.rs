//! The peers that a paper's folder names: the list `peers` of its `paper.yaml`.

use super::draft::{is_name, items};
use super::error::{ErrorKind, Mistake, RecipeError};
use super::node::{Content, Node, locate_place, only, read};
use super::value;
use crate::case::peers::{HOSTS, Program, named};
use crate::case::schema::Kind;

/// The keys of a peer.
const KEYS: [&str; 4] = ["name", "program", "arguments", "beside"];
/// Most peers of a folder, and arguments of a peer.
const MOST: usize = 64;

/// The peers that the text of a `paper.yaml` names; `file` is its name in messages. Other keys are not looked at.
///
/// # Errors
/// The first mistake in the list, with its place.
pub fn programs(file: &str, text: &str) -> Result<Vec<Program>, RecipeError> {
    let root = read(file, text)?;
    let located = |mistake: Mistake| RecipeError {
        origin: file.to_owned(),
        place: locate_place(text, mistake.place),
        problem: Box::new(mistake.problem),
    };
    let entries = root.map("the paper", "a map of keys").map_err(located)?;
    match entries.iter().find(|(key, _)| key.text == "peers") {
        Some((_, node)) => list(node).map_err(located),
        None => Ok(Vec::new()),
    }
}

fn list(node: &Node) -> Result<Vec<Program>, Mistake> {
    let mut all: Vec<Program> = Vec::new();
    for item in items(node, "peers", MOST)? {
        let program = program(item)?;
        if named(&program.name).is_some() || all.iter().any(|other| other.name == program.name) {
            let message =
                format!("{} is the name of another peer; accepted: a name of its own", program.name);
            return Err(Mistake::invalid(item.place, "peers.name", message));
        }
        all.push(program);
    }
    Ok(all)
}

fn program(node: &Node) -> Result<Program, Mistake> {
    let entries = node.map("peers", &format!("a map of {}", KEYS.join(", ")))?;
    only(entries, "peers", &KEYS)?;
    let get = |key: &str| entries.iter().find(|(k, _)| k.text == key).map(|(_, node)| node);
    let need = |key: &str| get(key).ok_or_else(|| Mistake::missing_key(node.place, "peers", key));
    let text = |node: &Node, at: &str| Ok::<_, Mistake>(value::scalar(&Kind::Text, node, at)?.to_string());
    let name = text(need("name")?, "peers.name")?;
    if !is_name(&name) {
        let message = format!("`{name}` is no name; accepted: letters, digits, `-`, `_` and `.`");
        return Err(Mistake::invalid(node.place, "peers.name", message));
    }
    let beside = match get("beside") {
        Some(node) => value::scalar(&Kind::Word(&HOSTS), node, "peers.beside")?.to_string(),
        None => HOSTS[0].to_owned(),
    };
    let arguments = match get("arguments") {
        None => Vec::new(),
        Some(node) => {
            let words = items(node, "peers.arguments", MOST)?.iter();
            let written = |word: &Node| match (&word.content, word.written()) {
                (Content::List(_) | Content::Map(_), _) | (_, None) => {
                    let problem = ErrorKind::WrongType {
                        at: "peers.arguments".to_owned(),
                        expected: "a text".to_owned(),
                        found: word.describe().to_string(),
                    };
                    Err(Mistake::new(word.place, problem))
                }
                (_, Some(text)) => Ok(text.to_string()),
            };
            words.map(written).collect::<Result<_, _>>()?
        }
    };
    let program = text(need("program")?, "peers.program")?;
    Ok(Program { name, beside, program, arguments, folder: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(peers: &str) -> Result<Vec<Program>, String> {
        let text = format!(
            "title: A paper\nplatforms:\n  8800 GTX: {{peak: 86.4 GB/s}}\nbibtex: |\n  @x{{y}}\npeers:\n{peers}"
        );
        programs("paper.yaml", &text).map_err(|error| error.to_string())
    }

    #[test]
    fn a_peer_has_a_name_a_program_and_arguments() {
        let found = read("  - {name: hrs, program: ./hrs-peer, arguments: [--fast, 3]}\n  - {name: b, program: python3, beside: cpu}\n")
            .expect("two");
        let hrs = Program {
            name: "hrs".to_owned(),
            beside: "cuda".to_owned(),
            program: "./hrs-peer".to_owned(),
            arguments: vec!["--fast".to_owned(), "3".to_owned()],
            folder: None,
        };
        assert_eq!(found[0], hrs);
        assert_eq!((found[1].beside.as_str(), found[1].arguments.len()), ("cpu", 0));
        assert_eq!(programs("paper.yaml", "title: A paper\n"), Ok(Vec::new()));
    }

    #[test]
    fn a_mistake_is_told_with_its_place() {
        let error = |peers: &str| read(peers).expect_err("a mistake");
        assert!(error("  - {name: hrs}\n").starts_with("paper.yaml:7:5: missing key `program` in peers"));
        assert!(error("  - {name: a b, program: x}\n").contains("`a b` is no name"));
        assert!(error("  - {name: plain, program: x}\n").contains("plain is the name of another peer"));
        let twice = "  - {name: a, program: x}\n  - {name: a, program: y}\n";
        assert!(error(twice).starts_with("paper.yaml:8:5: peers.name"));
        assert!(error("  - {name: a, program: x, beside: scalar}\n").contains("accepted: cuda, cpu"));
        assert!(error("  - {name: a, program: x, arguments: [[1]]}\n").contains("expected a text"));
        assert!(error("  - {name: a, program: x, shell: y}\n").contains("unknown key `shell` in peers"));
    }
}
