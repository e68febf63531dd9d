//! Shortens the words of a name so that it still differs from its neighbours' names. Numbers are left whole: words are
//! cut before them, and left out before them.

use super::{fit, value_in_list, width};
use crate::recipe::plan::Axis;
use crate::tui::theme::Theme;

/// Words of at most `WHOLE` columns, such as a backend's name, are not cut until all longer words are cut to `SHORT`
/// columns.
const WHOLE: usize = 6;
const SHORT: usize = 4;
/// Columns of a word that is cut in its middle.
const SHORTEST: usize = 3;
/// Longer words are not numbers, even if they begin with a digit.
const LONGEST_NUMBER: usize = 8;

/// The words that stand in one place of several names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kin {
    words: Vec<String>,
    /// The characters that all of them begin and end with.
    head: usize,
    tail: usize,
}

impl Kin {
    pub fn of(words: Vec<String>) -> Kin {
        let letters: Vec<Vec<char>> = words.iter().map(|word| word.chars().collect()).collect();
        let Some((first, others)) = letters.split_first().filter(|(_, others)| !others.is_empty()) else {
            return Kin { words, ..Kin::default() };
        };
        let shortest = letters.iter().map(Vec::len).min().unwrap_or(0);
        let alike = |at: &dyn Fn(&Vec<char>) -> Option<char>| others.iter().all(|word| at(word) == at(first));
        let head = (0..shortest).take_while(|i| alike(&|w| w.get(*i).copied())).count();
        let tail = (0..shortest - head).take_while(|i| alike(&|w| w.get(w.len() - 1 - i).copied())).count();
        Kin { words, head, tail }
    }

    /// The words of each axis, the values of which stand in one place of all names.
    pub fn of_axes(axes: &[Axis]) -> Vec<Kin> {
        axes.iter()
            .map(|axis| Kin::of(axis.values.iter().map(|value| value_in_list(axis, value)).collect()))
            .collect()
    }

    /// One of the words. A number is never cut, and needs no comparison with the others, of which there may be thousands.
    pub fn word(&self, text: &str) -> Word {
        let begins = |word: &str, letters: usize| word.chars().take(letters).eq(text.chars().take(letters));
        let others = || self.words.iter().filter(|word| *word != text);
        let tells = |letters: &usize| others().all(|word| !begins(word, *letters));
        let word = Word { text: text.to_owned(), head: self.head, tail: self.tail, letters: None };
        if word.is_number() {
            return word;
        }
        let letters = (1..=SHORTEST).find(|letters| others().next().is_some() && tells(letters));
        Word { letters, ..word }
    }
}

/// A word of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    text: String,
    /// The characters that it shares with its kin at its beginning and end.
    head: usize,
    tail: usize,
    /// So many of its first letters tell it from its kin; `None` if that takes more than a few.
    letters: Option<usize>,
}

impl From<&str> for Word {
    fn from(text: &str) -> Word {
        Kin::default().word(text)
    }
}

impl Word {
    fn is_number(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_digit()) && width(&self.text) <= LONGEST_NUMBER
    }

    /// The columns without the middle of the longer shared part, whose first character stays.
    fn without_shared(&self) -> usize {
        let spared = self.head.saturating_sub(1).max(self.tail.saturating_sub(1));
        (width(&self.text) + 1).saturating_sub(spared.max(1))
    }

    /// The columns to which it is cut in each of the steps.
    fn steps(&self) -> [usize; 4] {
        let whole = width(&self.text);
        if self.is_number() {
            return [whole; 4];
        }
        let least = self.letters.unwrap_or(SHORTEST);
        [self.without_shared(), if whole > WHOLE { SHORT } else { WHOLE }, SHORTEST, least]
    }

    /// The word cut to `columns`: to its first letters if these tell it from others, or in the part that it shares, or
    /// else in its middle.
    fn cut(&self, columns: usize, theme: Theme) -> String {
        let count = self.text.chars().count();
        let removed = (count + 1).saturating_sub(columns);
        if width(&self.text) <= columns {
            return self.text.clone();
        }
        if self.letters.is_some_and(|letters| letters <= columns) && width(&self.text) == count {
            return self.text.chars().take(columns).collect();
        }
        if columns < self.without_shared() {
            return without_middle(&self.text, columns, theme);
        }
        // Half of what is kept of the shared part stands on either side of the sign.
        let from = match self.head >= self.tail {
            true => self.head.saturating_sub(removed).div_ceil(2),
            false => count.saturating_sub(self.tail) + self.tail.saturating_sub(removed) / 2,
        };
        let begin: String = self.text.chars().take(from).collect();
        let end: String = self.text.chars().skip(from + removed).collect();
        format!("{begin}{}{end}", theme.symbol("…", "~"))
    }
}

/// Shortens words to fit `columns`: first those that share a part with their neighbours lose its middle, then the
/// longest are cut, and in the end the last ones are left out, numbers last.
pub fn squeeze(words: &[Word], columns: usize, theme: Theme) -> String {
    let steps: Vec<[usize; 4]> = words.iter().map(Word::steps).collect();
    let mut rooms: Vec<usize> = words.iter().map(|word| width(&word.text)).collect();
    for _ in columns..rooms.iter().sum::<usize>() + words.len().saturating_sub(1) {
        let longest = |step: usize| {
            (0..words.len()).filter(|at| rooms[*at] > steps[*at][step]).max_by_key(|at| rooms[*at])
        };
        let Some(at) = (0..4).find_map(longest) else { break };
        rooms[at] -= 1;
    }
    let mut kept: Vec<(&Word, String)> =
        words.iter().zip(rooms).map(|(word, room)| (word, word.cut(room, theme))).collect();
    let joined = |kept: &[(&Word, String)]| {
        let texts: Vec<&str> = kept.iter().map(|(_, text)| text.as_str()).collect();
        texts.join(" ")
    };
    while kept.len() > 1 && width(&joined(&kept)) > columns {
        let last = kept.iter().rposition(|(word, _)| !word.is_number());
        kept.remove(last.unwrap_or(kept.len() - 1));
    }
    fit(&joined(&kept), columns, theme)
}

/// A word cut in its middle to `columns`. If the rest is odd, the end gets the additional character, because
/// similar names differ there.
fn without_middle(word: &str, columns: usize, theme: Theme) -> String {
    let count = word.chars().count();
    let (head, tail) = (columns.saturating_sub(1) / 2, columns / 2);
    let begin: String = word.chars().take(head).collect();
    let end: String = word.chars().skip(count.saturating_sub(tail)).collect();
    format!("{begin}{}{end}", theme.symbol("…", "~"))
}

/// The words of a name that has no neighbours.
pub fn split(name: &str) -> Vec<Word> {
    name.split(' ').map(Word::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UTF8: Theme = Theme::PLAIN;

    #[test]
    fn the_longest_words_are_squeezed_first() {
        let squeezed = |columns| squeeze(&split("segmented-sort 16 scalar"), columns, UTF8);
        assert_eq!(squeezed(24), "segmented-sort 16 scalar");
        assert_eq!(squeezed(20), "segm…-sort 16 scalar");
        assert_eq!(squeezed(14), "s…rt 16 scalar");
        assert_eq!(squeezed(10), "s…t 16 s…r");
        assert_eq!([squeezed(6), squeezed(3)], ["s…t 16", "16"], "there is no room for all");
        assert_eq!(squeeze(&split("LULESH-S30 cpu"), 8, Theme { utf8: false, ..UTF8 }), "L~30 cpu");
        let fits = |columns| width(&squeeze(&split("帯域幅 cpu 1024"), columns, UTF8)) <= columns;
        assert!((0..20).all(fits), "by columns and not by characters");
    }

    /// A list makes the names of its rows for every frame.
    #[test]
    fn a_word_among_thousands_is_made_without_a_look_at_each() {
        let numbers: Vec<String> = (0..100_000).map(|n| (1000 + 10 * n).to_string()).collect();
        let kin = Kin::of(numbers.clone());
        let began = std::time::Instant::now();
        let words: Vec<Word> = numbers.iter().map(|number| kin.word(number)).collect();
        assert!(began.elapsed().as_secs() < 5, "10^10 comparisons take longer");
        assert!(words.iter().all(|word| word.letters.is_none() && word.is_number()));
        assert_eq!(squeeze(&[words[7].clone(), Word::from("scalar")], 8, UTF8), "1070 s…r");
    }

    #[test]
    fn first_letters_stand_for_words_that_they_tell_from_the_others() {
        let kin = |words: &[&str]| Kin::of(words.iter().map(|word| (*word).to_owned()).collect());
        let (order, backend) =
            (kin(&["random", "sequential"]), kin(&["scalar", "cpu", "cuda", "peer:a", "peer:b"]));
        let name = [Word::from("128Ki"), order.word("random"), backend.word("scalar")];
        let cut = [19, 15, 12, 9, 7, 5].map(|columns| squeeze(&name, columns, UTF8));
        assert_eq!(
            cut,
            ["128Ki random scalar", "128Ki rand scal", "128Ki ran sc", "128Ki r s", "128Ki r", "128Ki"]
        );
        let letters = ["cpu", "cuda", "peer:b"].map(|word| backend.word(word).letters);
        assert_eq!(letters, [Some(2), Some(2), None]);
        assert_eq!(kin(&["scan", "scan-by-key"]).word("scan").letters, None, "one begins the other");
        let long =
            kin(&["segmented-scan-inclusive", "segmented-scan-exclusive"]).word("segmented-scan-exclusive");
        assert_eq!((long.head, long.tail, long.letters), ("segmented-scan-".len(), "clusive".len(), None));
    }
}
