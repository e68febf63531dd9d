//! The words of the lab, explained by the page that the documentation shares.

use std::sync::LazyLock;

/// The words that concern a panel, under its title.
pub struct Section {
    pub title: &'static str,
    pub words: Vec<Entry>,
}

pub struct Entry {
    pub word: &'static str,
    pub text: String,
}

/// The sections of the page: `## TITLE`, below it `- **WORD** TEXT`.
pub static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| {
    let page = include_str!("../../docs/glossary.md");
    page.split("\n## ").skip(1).filter_map(section).collect()
});

fn section(text: &'static str) -> Option<Section> {
    let (title, rest) = text.split_once('\n')?;
    Some(Section { title, words: rest.split("\n- **").skip(1).filter_map(entry).collect() })
}

fn entry(text: &'static str) -> Option<Entry> {
    let (word, rest) = text.split_once("** ")?;
    let text = rest.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(Entry { word, text: text.replace('`', "") })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::tui::focus::Focus;

    #[test]
    fn each_section_is_of_a_panel_and_each_word_is_explained_once() {
        let mut seen = HashSet::new();
        for section in SECTIONS.iter() {
            let titles = Focus::ALL.iter().map(|panel| panel.title());
            assert_eq!(titles.filter(|title| *title == section.title).count(), 1, "{}", section.title);
            for Entry { word, text } in &section.words {
                assert!(word.split(", ").all(|word| seen.insert(word)), "{word} stands twice");
                assert!(
                    text.ends_with('.') && text.len() < 330 && !text.contains(['*', '|']),
                    "{word}: {text}"
                );
            }
        }
        for word in
            ["scalar", "cpu", "case", "round", "sample", "certified", "doubtful", "unsteady", "sector", "n"]
        {
            assert!(seen.contains(word), "{word}");
        }
    }

    /// What the model calls a limit has its line.
    #[test]
    fn the_limits_are_among_the_words() {
        let entries = SECTIONS.iter().flat_map(|section| &section.words);
        let words: Vec<&str> = entries.flat_map(|entry| entry.word.split(", ")).collect();
        let memory =
            ["streams", "requests", "random reads", "random writes", "strides", "patterns", "partitions"];
        let others = ["first cache", "cache", "latency", "blocks", "arithmetic", "turns", "misses", "hits"];
        for limit in memory.into_iter().chain(others) {
            assert!(words.contains(&limit), "{limit}");
        }
    }
}
