//! The checksum chain of an event log. Each line ends with two short hashes: of its own bytes, and of these together
//! with the line before. Together they tell a line that changed from one that is missing. They detect accidents; who
//! edits a run on purpose can compute them.

use std::path::Path;

/// The member that ends a line: `,"chain":"0123456789abcdef"}` and a newline.
const MEMBER: &[u8] = b",\"chain\":\"";
const END: &[u8] = b"\"}\n";

/// Digits of both hashes together; half of them are the line's own.
const DIGITS: usize = 16;
const OWN: usize = DIGITS / 2;
const HEX: &[u8; 16] = b"0123456789abcdef";

type Seal = [u8; DIGITS];

/// The chain up to some line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The hashes of the last line that has some.
    last: Option<Seal>,
}

/// What the hashes of a line say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The line is what was written, and follows the line that it was written after.
    Whole,
    /// The line has no hashes, and none before it has any: an older version wrote it.
    Unchecked,
    /// The line has no hashes, although one before it has some: it was not written here.
    Foreign,
    /// The line's bytes are not those that were written.
    Changed,
    /// The line is whole, but the one before it is not the one that it was written after.
    Gap,
}

impl Chain {
    /// Adds the hashes to a line, one JSON object and a newline, and continues the chain with it.
    pub fn seal(&mut self, line: &mut Vec<u8>) {
        // A line is an object with members: anything else has no place for another one.
        if !line.ends_with(b"}\n") {
            return;
        }
        line.truncate(line.len() - 2);
        let seal = self.after(line);
        line.extend_from_slice(MEMBER);
        line.extend_from_slice(&seal);
        line.extend_from_slice(END);
        self.last = Some(seal);
    }

    /// Checks a line with its newline, and continues the chain with the hashes that it states.
    pub fn check(&mut self, line: &[u8]) -> Finding {
        let Some((content, stated)) = parts(line) else {
            return if self.last.is_some() { Finding::Foreign } else { Finding::Unchecked };
        };
        let found = self.after(content);
        self.last = Some(stated);
        if stated[..OWN] != found[..OWN] {
            Finding::Changed
        } else if stated != found {
            Finding::Gap
        } else {
            Finding::Whole
        }
    }

    /// The hashes of a line that follows.
    fn after(&self, content: &[u8]) -> Seal {
        let own = blake3::hash(content);
        let mut both = blake3::Hasher::new();
        both.update(self.last.as_ref().map_or(&[][..], |last| &last[..]));
        both.update(own.as_bytes());
        let mut seal = [0; DIGITS];
        let both = both.finalize();
        let bytes = own.as_bytes()[..OWN / 2].iter().chain(&both.as_bytes()[..OWN / 2]);
        for (pair, byte) in seal.chunks_exact_mut(2).zip(bytes) {
            pair.copy_from_slice(&[HEX[usize::from(*byte >> 4)], HEX[usize::from(*byte & 15)]]);
        }
        seal
    }
}

/// A line without its hashes, and the hashes; `None` if it has none.
fn parts(line: &[u8]) -> Option<(&[u8], Seal)> {
    let line = line.strip_suffix(END)?;
    let (rest, digits) = line.split_at_checked(line.len().checked_sub(DIGITS)?)?;
    Some((rest.strip_suffix(MEMBER)?, digits.try_into().ok()?))
}

/// What the chain says of a whole event log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Integrity {
    /// Number of lines.
    pub lines: u64,
    /// Lines without hashes: all of them in runs of older versions.
    pub unchecked: u64,
    /// Those of them that stand among lines with hashes, which only another program writes.
    pub foreign: u64,
    /// Lines that changed, or before which a line is missing.
    pub broken: u64,
    /// The number of the first foreign or broken line, counted from 1, and what is wrong with it.
    pub first: Option<(u64, Finding)>,
}

impl Integrity {
    /// Counts the next line.
    pub fn count(&mut self, finding: Finding) {
        self.lines += 1;
        match finding {
            Finding::Whole => {}
            Finding::Unchecked => self.unchecked += 1,
            Finding::Foreign => {
                self.unchecked += 1;
                self.foreign += 1;
            }
            Finding::Changed | Finding::Gap => self.broken += 1,
        }
        if !matches!(finding, Finding::Whole | Finding::Unchecked) {
            self.first = self.first.or(Some((self.lines, finding)));
        }
    }

    /// Whether no line of the log has a hash.
    pub fn is_unchecked(&self) -> bool {
        self.lines > 0 && self.unchecked == self.lines
    }

    /// One line about a log that is not as it was written; `None` if nothing is known against it.
    pub fn warning(&self, file: &Path) -> Option<String> {
        let (line, finding) = self.first?;
        let others = match self.broken + self.foreign {
            0 | 1 => String::new(),
            several => format!(" ({several} such lines)"),
        };
        let said = match finding {
            Finding::Changed | Finding::Foreign => format!(
                "{}{others}: a case whose result it holds fails; run --resume measures it again",
                finding.reproach()?
            ),
            _ => format!("{}{others}: results may be missing", finding.reproach()?),
        };
        Some(format!("{}:{line}: {said}", file.display()))
    }
}

impl Finding {
    /// What is wrong with the line, in words; `None` if nothing is known against it.
    pub fn reproach(self) -> Option<&'static str> {
        match self {
            Finding::Whole | Finding::Unchecked => None,
            Finding::Foreign => Some("the line has no checksum, unlike others of this log"),
            Finding::Changed => Some("the line was changed after it was written"),
            Finding::Gap => Some("the line before it is missing, moved or changed"),
        }
    }

    /// Whether what the line says must not count.
    pub fn is_distrusted(self) -> bool {
        matches!(self, Finding::Changed | Finding::Foreign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(count: usize) -> Vec<Vec<u8>> {
        let mut chain = Chain::default();
        (0..count)
            .map(|number| {
                let mut line = format!("{{\"event\":\"log\",\"text\":\"{number}\"}}\n").into_bytes();
                chain.seal(&mut line);
                line
            })
            .collect()
    }

    fn findings(lines: &[Vec<u8>]) -> Vec<Finding> {
        let mut chain = Chain::default();
        lines.iter().map(|line| chain.check(line)).collect()
    }

    #[test]
    fn a_sealed_line_is_an_object_with_one_more_member() {
        let line = &written(1)[0];
        let json: serde_json::Value = serde_json::from_slice(line).expect("JSON");
        assert_eq!(json["chain"].as_str().map(str::len), Some(DIGITS));
        assert_eq!(parts(line).map(|(content, _)| content), Some(&b"{\"event\":\"log\",\"text\":\"0\""[..]));
    }

    #[test]
    fn every_changed_byte_is_found_at_its_line() {
        let lines = written(4);
        assert_eq!(findings(&lines), [Finding::Whole; 4]);
        for at in 0..lines[1].len() - MEMBER.len() - DIGITS - END.len() {
            let mut damaged = lines.clone();
            damaged[1][at] ^= 4;
            assert_eq!(
                findings(&damaged),
                [Finding::Whole, Finding::Changed, Finding::Whole, Finding::Whole]
            );
        }
        // In the hashes themselves, it may show at the next line.
        for at in lines[1].len() - END.len() - DIGITS..lines[1].len() - END.len() {
            let mut damaged = lines.clone();
            damaged[1][at] ^= 4;
            assert_ne!(findings(&damaged), [Finding::Whole; 4], "{at}");
        }
    }

    #[test]
    fn missing_moved_and_foreign_lines_are_told_apart_from_changed_ones() {
        use Finding::{Foreign, Gap, Whole};
        let lines = written(4);
        let some = |places: &[usize]| places.iter().map(|at| lines[*at].clone()).collect::<Vec<_>>();
        assert_eq!(findings(&some(&[0, 2, 3])), [Whole, Gap, Whole]);
        assert_eq!(findings(&some(&[1, 2, 3])), [Gap, Whole, Whole]);
        assert_eq!(findings(&some(&[0, 2, 1, 3])), [Whole, Gap, Gap, Gap]);
        assert_eq!(findings(&some(&[0, 1, 1, 2])), [Whole, Whole, Gap, Whole]);
        let mut foreign = lines.clone();
        foreign.insert(2, b"{\"event\":\"paused\"}\n".to_vec());
        assert_eq!(findings(&foreign), [Whole, Whole, Foreign, Whole, Whole]);
    }

    #[test]
    fn old_lines_are_unchecked_and_the_chain_begins_after_them() {
        let mut lines = vec![b"{\"event\":\"paused\"}\n".to_vec(); 2];
        lines.extend(written(2));
        let mut integrity = Integrity::default();
        findings(&lines).into_iter().for_each(|finding| integrity.count(finding));
        assert_eq!(integrity, Integrity { lines: 4, unchecked: 2, ..Integrity::default() });
        assert!(!integrity.is_unchecked() && integrity.warning(Path::new("e")).is_none());
        integrity.count(Finding::Foreign);
        assert!(!integrity.is_unchecked() && integrity.foreign == 1);
        assert!(
            integrity.warning(Path::new("e")).is_some_and(|told| told.starts_with("e:5: the line has no"))
        );
        let mut old = Integrity::default();
        old.count(Finding::Unchecked);
        assert!(old.is_unchecked() && old.warning(Path::new("e")).is_none());
    }

    #[test]
    fn what_is_found_is_one_line_with_the_place() {
        let mut integrity = Integrity::default();
        for finding in [Finding::Whole, Finding::Changed, Finding::Gap] {
            integrity.count(finding);
        }
        let told = integrity.warning(Path::new("a/events.ndjson")).expect("a warning");
        assert!(told.starts_with("a/events.ndjson:2: the line was changed") && told.contains("2 such lines"));
    }
}
