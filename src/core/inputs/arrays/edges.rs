//! Graphs as text, in the words of [`graph::listed`](crate::inputs::graph::listed): DIMACS's `.gr` files, lists of edges, as
//! the GAP benchmark suite's `.el` and `.wel` and SNAP's, and adjacency matrices in Matrix Market's format.

use super::{ArrayError, MAX_COUNT, Place, push};
use crate::case::units::shown;
use crate::inputs::graph::MAX_VERTICES;
use crate::inputs::graph::listed::{OFFSET, OPEN};
use crate::inputs::lines::lines;
use crate::inputs::sparse::{matrix_market, most_rows};

/// Most arcs of a file, whose words an array holds.
const MAX_LISTED: u64 = (MAX_COUNT - 1) / 3;

/// Bytes of the shortest line of an arc in a `.gr` file.
const SHORTEST: u64 = "a 1 1 0\n".len() as u64;

/// The words of an array that is being read, and the line with its number.
#[derive(Default)]
struct Reader<'a> {
    words: Vec<u64>,
    number: u64,
    line: &'a [u8],
}

impl<'a> Reader<'a> {
    /// The words of the next line, if there are any.
    fn next(&mut self, line: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        (self.number, self.line) = (self.number + 1, line.trim_ascii_end());
        line.split(|byte| b" \t\r,".contains(byte)).filter(|part| !part.is_empty())
    }

    fn mistake<T>(&self, message: impl Into<String>) -> Result<T, ArrayError> {
        self.mistake_at(self.line, message)
    }

    /// A mistake at a word of the line.
    fn mistake_at<T>(&self, word: &[u8], message: impl Into<String>) -> Result<T, ArrayError> {
        let column = word.as_ptr().addr() - self.line.as_ptr().addr() + 1;
        Err(ArrayError::new(Place::Line(self.number, column as u64), message))
    }

    /// A number of the line, from `least` to `most`.
    fn number(&self, word: Option<&[u8]>, what: &str, least: u64, most: u64) -> Result<u64, ArrayError> {
        let Some(word) = word else {
            let end = &self.line[self.line.len()..];
            let message = format!("there is no {what}; accepted: an integer from {least} to {most}");
            return self.mistake_at(end, message);
        };
        let text = super::word(word);
        match text.parse::<u64>() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => self.mistake_at(
                word,
                format!("the {what} `{}` is not accepted: an integer from {least} to {most}", shown(&text)),
            ),
        }
    }

    fn arc(&mut self, tail: u64, head: u64, weight: u64) -> Result<(), ArrayError> {
        if self.words.len() as u64 / 3 == MAX_LISTED {
            return self.mistake(format!("there are more than {MAX_LISTED} arcs, which is the maximum"));
        }
        [tail + OFFSET, head + OFFSET, weight].into_iter().try_for_each(|word| push(&mut self.words, word))
    }

    fn end(mut self, vertices: u64) -> Result<Vec<u64>, ArrayError> {
        match vertices {
            0 => Err(ArrayError::new(Place::Whole, "lists no vertex; accepted: at least one")),
            _ => push(&mut self.words, vertices - 1 + OFFSET).map(|()| self.words),
        }
    }
}

/// Refuses more vertices than so many arcs can meet: a few bytes of text must not fill the memory.
fn within(vertices: u64, arcs: u64, place: Place) -> Result<(), ArrayError> {
    let most = most_rows(arcs).min(MAX_VERTICES);
    if vertices <= most {
        return Ok(());
    }
    let message =
        format!("a graph of {vertices} vertices and {arcs} arcs; accepted: at most {most} vertices");
    Err(ArrayError::new(place, message))
}

/// Parses `.gr`: comments (`c …`), one line `p sp VERTICES ARCS`, and as many lines `a TAIL HEAD WEIGHT`, from vertex 1 on.
pub fn dimacs(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let mut reader = Reader::default();
    let mut stated = None;
    for (_, line) in lines(bytes) {
        let mut parts = reader.next(line);
        match (parts.next(), stated) {
            (None | Some(b"c"), _) => continue,
            (Some(b"p"), None) => {
                let word = parts.next();
                if word != Some(b"sp") {
                    let message =
                        "this is not a problem line for shortest paths; accepted: p sp VERTICES ARCS";
                    return reader.mistake_at(word.unwrap_or(line), message);
                }
                let vertices = reader.number(parts.next(), "number of vertices", 1, MAX_VERTICES)?;
                let arcs = reader.number(parts.next(), "number of arcs", 0, MAX_LISTED)?;
                let place = Place::Line(reader.number, 1);
                within(vertices, arcs.min(bytes.len() as u64 / SHORTEST), place)?;
                stated = Some((vertices, arcs, place));
            }
            (Some(b"a"), Some((vertices, arcs, _))) => {
                let before = reader.words.len() as u64 / 3;
                if before == arcs {
                    return reader
                        .mistake(format!("this is arc {}, but the file declares {arcs}", before + 1));
                }
                let tail = reader.number(parts.next(), "tail", 1, vertices)?;
                let head = reader.number(parts.next(), "head", 1, vertices)?;
                let weight = reader.number(parts.next(), "weight", 0, OPEN - 1)?;
                reader.arc(tail - 1, head - 1, weight)?;
            }
            (Some(word), _) => {
                let (text, lines) = (super::word(word), "c, one p and then a");
                let message = format!("no line here begins with `{}`; accepted: {lines}", shown(&text));
                return reader.mistake_at(word, message);
            }
        }
        if let Some(word) = parts.next() {
            return reader
                .mistake_at(word, "the line goes on; accepted: p sp VERTICES ARCS, a TAIL HEAD WEIGHT");
        }
    }
    let listed = reader.words.len() as u64 / 3;
    match stated {
        None => Err(ArrayError::new(Place::Whole, "has no line p sp VERTICES ARCS")),
        Some((_, arcs, place)) if arcs != listed => {
            Err(ArrayError::new(place, format!("the file declares {arcs} arcs, but ends after {listed}")))
        }
        Some((vertices, ..)) => reader.end(vertices),
    }
}

/// Parses a list of edges: lines `TAIL HEAD` or `TAIL HEAD WEIGHT`, from vertex 0 on; lines that begin with `#` or `%` are
/// comments. There are as many vertices as the largest needs, which few arcs must not make too many. All lines have a weight,
/// or none has: one without it beside others is torn.
pub fn list(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let mut reader = Reader::default();
    // The number of vertices, and the line that says so.
    let (mut vertices, mut largest) = (0, 0);
    let mut first = None;
    for (_, line) in lines(bytes) {
        let mut parts = reader.next(line).peekable();
        if parts.peek().is_none_or(|part| matches!(part[0], b'#' | b'%')) {
            continue;
        }
        let tail = reader.number(parts.next(), "tail", 0, MAX_VERTICES - 1)?;
        let head = reader.number(parts.next(), "head", 0, MAX_VERTICES - 1)?;
        let weight = parts.next().map(|part| reader.number(Some(part), "weight", 0, OPEN - 1)).transpose()?;
        if let Some(word) = parts.next() {
            return reader.mistake_at(word, "the line goes on; accepted: TAIL HEAD, TAIL HEAD WEIGHT");
        }
        let (weighted, number) = *first.get_or_insert((weight.is_some(), reader.number));
        if weighted != weight.is_some() {
            let (own, other) = if weighted { ("no weight", "one") } else { ("a weight", "none") };
            let message = format!("this line has {own}, but line {number} has {other}");
            return reader.mistake(format!("{message}; accepted: a weight in each line, or in none"));
        }
        reader.arc(tail, head, weight.unwrap_or(OPEN))?;
        if tail.max(head) >= vertices {
            (vertices, largest) = (tail.max(head) + 1, reader.number);
        }
    }
    within(vertices, reader.words.len() as u64 / 3, Place::Line(largest, 1))?;
    reader.end(vertices)
}

/// Parses the adjacency matrix of a graph: each entry is an arc from its row to its column, whose value is the weight; in a
/// matrix of positions the weights are open. The entries of a symmetric matrix are edges.
pub fn matrix(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let mut reader = Reader::default();
    let (vertices, undirected) = matrix_market::graph(bytes, OPEN - 1, |tail, head, weight| {
        reader.arc(tail, head, weight.unwrap_or(OPEN))
    })?;
    if vertices > MAX_VERTICES {
        let message = format!("a graph of {vertices} vertices; accepted: at most {MAX_VERTICES}");
        return Err(ArrayError::new(Place::Whole, message));
    }
    if undirected {
        push(&mut reader.words, OFFSET)?;
    }
    reader.end(vertices)
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: u64 = OFFSET;

    #[test]
    fn graphs_are_their_arcs_and_the_last_vertex() {
        let gr = b"c a road\n\np sp 4 2\na 1 3 7\r\nc another\na 3 3 0\n";
        assert_eq!(dimacs(gr), Ok(vec![V, V + 2, 7, V + 2, V + 2, 0, V + 3]));
        let edges = b"# SNAP\n0\t2\n% GAP\n2 1\n";
        assert_eq!(list(edges), Ok(vec![V, V + 2, OPEN, V + 2, V + 1, OPEN, V + 2]));
        assert_eq!(list(b"0,2,7\n2 1 9"), Ok(vec![V, V + 2, 7, V + 2, V + 1, 9, V + 2]));
        assert_eq!(dimacs(b"p sp 1 0"), Ok(vec![V]));
    }

    #[test]
    fn a_matrix_is_the_graph_of_its_entries() {
        let read = |head: &str, rest: &str| {
            matrix(format!("%%MatrixMarket matrix coordinate {head}\n{rest}").as_bytes())
        };
        let arcs = |words: &[u64]| Ok(words.to_vec());
        let directed = read("integer general", "4 4 3\n1 3 7\n3 1 0\n2 2 5\n");
        assert_eq!(directed, arcs(&[V, V + 2, 7, V + 2, V, 0, V + 1, V + 1, 5, V + 3]));
        let edges = read("pattern symmetric", "3 3 2\n3 1\n2 2\n");
        assert_eq!(edges, arcs(&[V + 2, V, OPEN, V + 1, V + 1, OPEN, V, V + 2]));
        assert_eq!(read("real general", "1 1 1\n1 1 2.5e1\n"), arcs(&[V, V, 25, V]));
        for (head, rest, message) in [
            (
                "real general",
                "2 2 1\n1 2 0.5",
                "x:3:5: `0.5` is out of place; accepted: a weight, an integer from 0 to",
            ),
            ("real general", "2 2 1\n1 2 -1", "x:3:5: `-1` is out of place; accepted: a weight"),
            ("integer general", "2 2 1\n1 2 2.0", "x:3:5: `2.0` is out of place; accepted: a weight"),
            (
                "integer general",
                "2 2 1\n1 2 4294967295",
                "x:3:5: `4294967295` is out of place; accepted: a weight",
            ),
            ("real general", "2 2 1\n1 2 1e300", "x:3:5: `1e300` is out of place"),
            ("real general", "2 2 1\n1 2 nan", "x:3:5: `nan` is out of place"),
            (
                "pattern general",
                "2 3 1\n1 2",
                "x:2:3: `3` is out of place; accepted: as many columns as rows",
            ),
            ("pattern symmetric", "2 2 1\n1 2", "x:3:1: (1, 2) is above the diagonal"),
            (
                "real skew-symmetric",
                "2 2 1\n2 1 4",
                "x:1:39: `skew-symmetric` is out of place; accepted: general, symmetric",
            ),
            ("pattern general", "0 0 0", "x: lists no vertex"),
            ("pattern general", "2 2 2\n1 2", "x:2:5: the file declares 2 entries, but ends after 1"),
        ] {
            let told = read(head, rest).expect_err("refused").of("x");
            assert!(told.starts_with(message), "{rest}: {told}");
        }
    }

    #[test]
    fn a_wrong_file_is_one_line_with_the_place() {
        let told = |parsed: Result<Vec<u64>, ArrayError>| parsed.expect_err("refused").of("x");
        for (text, message) in [
            ("", "x: has no line p sp"),
            ("a 1 2 3", "x:1:1: no line here begins with `a`"),
            ("p sp 2", "x:1:7: there is no number of arcs"),
            ("p max 2 1", "x:1:3: this is not a problem line"),
            ("p sp 2 1\np sp 2 1", "x:2:1: no line here begins with `p`"),
            ("p sp 2 1\na 1 3 4", "x:2:5: the head `3` is not accepted: an integer from 1 to 2"),
            ("p sp 2 1\na 0 1 4", "x:2:3: the tail `0`"),
            ("p sp 2 1\na 1 2 -4", "x:2:7: the weight `-4`"),
            ("p sp 2 1\na 1 2 4 5", "x:2:9: the line goes on"),
            ("c\np sp 2 2\na 1 2 4", "x:2:1: the file declares 2 arcs, but ends after 1"),
            ("p sp 2 1\na 1 2 4\na 1 2 4", "x:3:1: this is arc 2, but the file declares 1"),
            (
                "p sp 2 1\na 1 2 2.0",
                "x:2:7: the weight `2.0` is not accepted: an integer from 0 to 4294967294",
            ),
            ("p sp 99999999999 2", "x:1:6: the number of vertices"),
            (
                "c\np sp 1000000000 99999999",
                "x:2:1: a graph of 1000000000 vertices and 3 arcs; accepted: at most",
            ),
        ] {
            assert!(
                told(dimacs(text.as_bytes())).starts_with(message),
                "{text}: {}",
                told(dimacs(text.as_bytes()))
            );
        }
        for (text, message) in [
            ("# nothing", "x: lists no vertex"),
            ("0", "x:1:2: there is no head"),
            ("0 1 2 3", "x:1:7: the line goes on"),
            ("0 1\n0 a", "x:2:3: the head `a`"),
            ("0 4294967296", "x:1:3: the head"),
            ("0 1 1.5", "x:1:5: the weight `1.5` is not accepted: an integer from 0 to 4294967294"),
            ("0 1 4294967295", "x:1:5: the weight `4294967295` is not accepted: an integer"),
            ("# a\n0 1 5\n1 2", "x:3:1: this line has no weight, but line 2 has one"),
            ("0 1\n1 2 5", "x:2:1: this line has a weight, but line 1 has none"),
            ("0 1 5\n\n1 2 6\n2 3", "x:4:1: this line has no weight, but line 1 has one"),
            (
                "0 1\n0 999999999\n3 4",
                "x:2:1: a graph of 1000000000 vertices and 3 arcs; accepted: at most 4194304",
            ),
        ] {
            assert!(
                told(list(text.as_bytes())).starts_with(message),
                "{text}: {}",
                told(list(text.as_bytes()))
            );
        }
    }
}
