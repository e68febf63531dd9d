//! Edits of a recipe's text that preserve the rest of it, including comments.
//!
//! Each change is made twice: to the tree of nodes, which is simple, and to the text, which looks better. The
//! new text is used only if it reads as the changed tree. If YAML's more exotic forms (anchors, multi-line
//! scalars) defeat the change to the text, the changed tree is written from scratch, and comments below the
//! head of the text are lost, which [`loses_comments`] detects.

use super::flow::{flow, word};
use super::node::{Content, Key, Node, locate_place, read};
use super::yaml::without_mark;
use super::{Place, RecipeError};

/// A change to a tree of nodes. Nodes are identified by their numbers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Edit {
    /// Replaces the value of a node.
    Replace { node: u32, by: Node },
    /// Replaces the entry with this key, including its key.
    Exchange { key: u32, name: String, value: Node },
    /// Adds an entry to a map.
    Insert { map: u32, name: String, value: Node },
    /// Removes the entry with this value.
    Remove { value: u32 },
}

/// The text with these changes, which must not overlap.
///
/// # Errors
/// If the text is not YAML.
pub(crate) fn patch(text: &str, edits: &[Edit]) -> Result<String, RecipeError> {
    let root = read("the recipe", text)?;
    let wanted = changed(&root, edits).placed(Place::Nowhere);
    let reads_as = |text: &String| read("", text).is_ok_and(|node| node.placed(Place::Nowhere) == wanted);
    let patched = cuts(text, &root, edits).and_then(|mut cuts| {
        let kept = cut(text, &cuts);
        cuts.extend(outdated(text, &cuts));
        [cut(text, &cuts), kept].into_iter().find(reads_as)
    });
    Ok(patched.unwrap_or_else(|| afresh(text, &wanted)))
}

/// The comments behind values that change, on the same line: they may state what was true of the old value.
fn outdated(text: &str, cuts: &[Cut]) -> Vec<Cut> {
    let behind = |((start, end), _): &Cut| {
        let rest = text.get(*end..)?.lines().next()?;
        let comment = comments(rest).first()?.len();
        let kept = rest.trim_end().len().checked_sub(comment)?;
        let from = end + rest.get(..kept)?.trim_end().len();
        // An entry that is added changes no value.
        (start < end).then(|| ((from, end + rest.len()), String::new()))
    };
    let mut found: Vec<Cut> = cuts.iter().filter_map(behind).collect();
    found.dedup();
    found
}

/// Whether a comment of the old text is missing in the new one.
pub(crate) fn loses_comments(old: &str, new: &str) -> bool {
    let mut kept = comments(new);
    !comments(old).iter().all(|comment| {
        let at = kept.iter().position(|other| other == comment);
        at.map(|at| kept.swap_remove(at)).is_some()
    })
}

/// The comments: text after a `#` that begins one. A `#` within quotes is also taken for a comment.
fn comments(text: &str) -> Vec<&str> {
    let begins = |line: &str, at: usize| at == 0 || line[..at].ends_with(char::is_whitespace);
    let comment = |line| {
        let line: &str = line;
        line.match_indices('#').find(|(at, _)| begins(line, *at)).map(|(at, _)| line[at..].trim_end())
    };
    without_mark(text).lines().filter_map(comment).collect()
}

fn numbered(place: Place, number: u32) -> bool {
    place == Place::Recipe(number)
}

/// The tree with the changes applied.
fn changed(node: &Node, edits: &[Edit]) -> Node {
    let replaced = edits.iter().find_map(|edit| match edit {
        Edit::Replace { node: number, by } if numbered(node.place, *number) => Some(by.clone()),
        _ => None,
    });
    if let Some(by) = replaced {
        return by;
    }
    let content = match &node.content {
        Content::List(items) => Content::List(items.iter().map(|item| changed(item, edits)).collect()),
        Content::Map(entries) => Content::Map(changed_entries(node.place, entries, edits)),
        other => other.clone(),
    };
    Node { place: node.place, content, spelling: node.spelling.clone() }
}

fn changed_entries(map: Place, entries: &[(Key, Node)], edits: &[Edit]) -> Vec<(Key, Node)> {
    let new = |name: &str| Key { place: Place::Nowhere, text: name.to_owned() };
    let mut result = Vec::new();
    for (key, node) in entries {
        let removed =
            edits.iter().any(|e| matches!(e, Edit::Remove { value } if numbered(node.place, *value)));
        let exchanged = edits.iter().find_map(|edit| match edit {
            Edit::Exchange { key: number, name, value } if numbered(key.place, *number) => {
                Some((new(name), value.clone()))
            }
            _ => None,
        });
        if !removed {
            result.push(exchanged.unwrap_or_else(|| (key.clone(), changed(node, edits))));
        }
    }
    let inserted = edits.iter().filter_map(|edit| match edit {
        Edit::Insert { map: number, name, value } if numbered(map, *number) => {
            Some((new(name), value.clone()))
        }
        _ => None,
    });
    result.extend(inserted);
    result
}

/// A node of the text, with its context.
struct Spot<'n> {
    node: &'n Node,
    /// Whether the node is in flow style (within brackets).
    flow: bool,
}

/// The changes as replacements of parts of the text; `None` if that is not possible.
fn cuts(text: &str, root: &Node, edits: &[Edit]) -> Option<Vec<Cut>> {
    let page = Page { text };
    let mut cuts = Vec::new();
    for edit in edits {
        cuts.push(match edit {
            Edit::Replace { node, by } => {
                let spot = page.find(root, *node, false)?;
                (page.span(&spot)?, flow(by))
            }
            Edit::Exchange { key, name, value } => {
                let spot = page.find(root, *key, false)?;
                let (start, end) = (page.offset(Place::Recipe(*key))?, page.span(&spot)?.1);
                ((start, end), format!("{}: {}", word(name), flow(value)))
            }
            Edit::Insert { map, name, value } => {
                page.insertion(&page.find(root, *map, false)?, &format!("{}: {}", word(name), flow(value)))?
            }
            // Removing an entry cleanly would involve its neighbours too.
            Edit::Remove { .. } => return None,
        });
    }
    Some(cuts)
}

/// The text with these parts replaced, which must not overlap.
fn cut(text: &str, cuts: &[Cut]) -> String {
    let mut cuts: Vec<&Cut> = cuts.iter().collect();
    cuts.sort_by_key(|((start, _), _)| std::cmp::Reverse(*start));
    let mut text = text.to_owned();
    for ((start, end), new) in cuts {
        text.replace_range(*start..*end, new);
    }
    text
}

/// A text with look-up of nodes.
struct Page<'t> {
    text: &'t str,
}

type Cut = ((usize, usize), String);

impl Page<'_> {
    /// The node with this number, or the value of the key with this number.
    fn find<'n>(&self, node: &'n Node, number: u32, flow: bool) -> Option<Spot<'n>> {
        if numbered(node.place, number) {
            return Some(Spot { node, flow });
        }
        let inside = || self.offset(node.place).is_some_and(|at| self.text[at..].starts_with(['{', '[']));
        match &node.content {
            Content::List(items) => {
                let flow = flow || inside();
                items.iter().find_map(|item| self.find(item, number, flow))
            }
            Content::Map(entries) => {
                let flow = flow || inside();
                let own = entries.iter().find(|(key, _)| numbered(key.place, number));
                own.map(|(_, node)| Spot { node, flow })
                    .or_else(|| entries.iter().find_map(|(_, node)| self.find(node, number, flow)))
            }
            _ => None,
        }
    }

    /// The byte offset of a node.
    fn offset(&self, place: Place) -> Option<usize> {
        let (line, column) = locate_place(self.text, place)?;
        let bare = without_mark(self.text);
        let mark = self.text.len() - bare.len();
        let start: usize = bare.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
        let row = bare.get(start..)?;
        let (within, _) = row.char_indices().nth(column.checked_sub(1)?).unwrap_or((row.len(), ' '));
        Some(mark + start + within)
    }

    /// The byte range of a node.
    fn span(&self, spot: &Spot<'_>) -> Option<(usize, usize)> {
        let start = self.offset(spot.node.place)?;
        let rest = self.text.get(start..)?;
        let length = match (rest.chars().next()?, &spot.node.content) {
            ('{' | '[', _) => bracketed(rest)?,
            (quote @ ('\'' | '"'), _) => quoted(rest, quote)?,
            ('&' | '*' | '!' | '|' | '>', _) | (_, Content::Map(_) | Content::List(_)) => return None,
            _ => plain(rest, spot.flow),
        };
        let same = read("", rest.get(..length)?).ok()?;
        let same = same.placed(Place::Nowhere) == spot.node.clone().placed(Place::Nowhere);
        same.then_some((start, start + length))
    }

    /// The position and the text to insert for a new entry of a map.
    fn insertion(&self, spot: &Spot<'_>, entry: &str) -> Option<Cut> {
        let Content::Map(entries) = &spot.node.content else { return None };
        let start = self.offset(spot.node.place)?;
        let rest = self.text.get(start..)?;
        if rest.starts_with('{') {
            let close = start + bracketed(rest)? - 1;
            let inner = self.text.get(start + 1..close)?.trim_end();
            let at = start + 1 + inner.len();
            let comma = if entries.is_empty() || inner.ends_with(',') { "" } else { ", " };
            return Some(((at, at), format!("{comma}{entry}")));
        }
        // On a line of its own, below the last line of the map.
        let last = self.offset(entries.last()?.0.place)?;
        let line = self.text.get(..last)?.rfind('\n').map_or(0, |at| at + 1);
        let indent = " ".repeat(self.text.get(line..last)?.chars().count());
        let end = self.end(spot)?;
        let at = self.text.get(end..)?.find('\n').map_or(self.text.len(), |more| end + more);
        Some(((at, at), format!("\n{indent}{entry}")))
    }

    /// The byte after a node; for a node without brackets, the byte after its last part.
    fn end(&self, spot: &Spot<'_>) -> Option<usize> {
        let last = match &spot.node.content {
            Content::List(items) => items.last(),
            Content::Map(entries) => entries.last().map(|(_, node)| node),
            _ => None,
        };
        let start = self.offset(spot.node.place)?;
        match last {
            Some(node) if !self.text.get(start..)?.starts_with(['{', '[']) => {
                self.end(&Spot { node, flow: spot.flow })
            }
            _ => Some(self.span(spot)?.1),
        }
    }
}

/// Length in bytes of a list or a map in brackets, including comments and quotes.
fn bracketed(text: &str) -> Option<usize> {
    let (mut depth, mut at, mut before) = (0usize, 0, ' ');
    while let Some(c) = text[at..].chars().next() {
        let mut step = c.len_utf8();
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.checked_sub(1)?,
            '\'' | '"' if !before.is_alphanumeric() => step = quoted(&text[at..], c)?,
            '#' if before.is_whitespace() => step = text[at..].find('\n').unwrap_or(text.len() - at),
            _ => {}
        }
        at += step;
        before = c;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// Length in bytes of a quoted text; a doubled single quote and an escaped double quote do not end it.
fn quoted(text: &str, quote: char) -> Option<usize> {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = characters.next() {
        match c {
            '\\' if quote == '"' => drop(characters.next()),
            c if c == quote && quote == '\'' && characters.peek().is_some_and(|(_, c)| *c == '\'') => {
                characters.next();
            }
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Length in bytes of a plain scalar on its line.
fn plain(text: &str, flow: bool) -> usize {
    let line = text.lines().next().unwrap_or_default();
    let ends = [line.find(" #"), flow.then(|| line.find([',', '}', ']'])).flatten()];
    let end = ends.into_iter().flatten().min().unwrap_or(line.len());
    line[..end].trim_end().len()
}

/// The whole tree as new text, after the leading comments of the old one.
fn afresh(old: &str, root: &Node) -> String {
    let head = without_mark(old).lines().take_while(|line| line.starts_with('#'));
    let mut text: String = head.flat_map(|line| [line, "\n"]).collect();
    let Content::Map(entries) = &root.content else { return text + &flow(root) + "\n" };
    for (key, node) in entries {
        match &node.content {
            Content::List(items) if key.text == "experiments" => {
                text += "experiments:\n";
                items.iter().for_each(|item| text += &experiment(item));
            }
            _ => text += &format!("{}: {}\n", word(&key.text), flow(node)),
        }
    }
    text
}

fn experiment(item: &Node) -> String {
    let Content::Map(entries) = &item.content else { return format!("  - {}\n", flow(item)) };
    let line = |(at, (key, node)): (usize, &(Key, Node))| {
        let lead = if at == 0 { "  - " } else { "    " };
        format!("{lead}{}: {}\n", word(&key.text), flow(node))
    };
    entries.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests;
