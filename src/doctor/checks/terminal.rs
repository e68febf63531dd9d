//! The terminal that the user interface would run in.

use std::io::{IsTerminal, stdout};

use crate::case::units::escaped;
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "terminal",
    about: "type, size, colours and locale, tmux and ssh; warns if there is no room for the user interface",
    of: About::Screen,
    examine: |_| judge(&Terminal::here()),
};

/// The smallest size that the user interface accepts, and a size at which it shows a run's chart beside its
/// cases.
const SMALLEST: (u16, u16) = (40, 10);
const ROOMY: (u16, u16) = (80, 24);

#[derive(Clone, Debug, Default)]
struct Terminal {
    kind: Option<String>,
    /// `None` where standard output is not a terminal.
    size: Option<(u16, u16)>,
    colours: bool,
    no_color: bool,
    utf8: bool,
    tmux: bool,
    ssh: bool,
}

impl Terminal {
    fn here() -> Terminal {
        let set = |key: &str| std::env::var(key).ok().filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_uppercase();
        let kind = set("TERM");
        let many = |kind: &String| kind.contains("256color") || kind.contains("direct");
        Terminal {
            size: stdout().is_terminal().then(|| crossterm::terminal::size().ok()).flatten(),
            colours: set("COLORTERM").is_some() || kind.as_ref().is_some_and(many),
            no_color: set("NO_COLOR").is_some(),
            utf8: locale.contains("UTF-8") || locale.contains("UTF8"),
            tmux: set("TMUX").is_some() || set("STY").is_some(),
            ssh: set("SSH_CONNECTION").is_some() || set("SSH_TTY").is_some(),
            kind,
        }
    }

    fn words(&self) -> String {
        let kind = self.kind.as_deref().map_or("no TERM".to_owned(), escaped);
        let Some((columns, rows)) = self.size else {
            return "none: standard output is not a terminal".to_owned();
        };
        let size = format!("{columns}×{rows}");
        let colours = match (self.no_color, self.colours) {
            (true, _) => "NO_COLOR",
            (_, true) => "256 colours",
            _ => "few colours",
        };
        let locale = if self.utf8 { "UTF-8" } else { "no UTF-8 locale" };
        let mut parts = vec![kind, size, colours.to_owned(), locale.to_owned()];
        parts.extend(
            [(self.tmux, "in tmux or screen"), (self.ssh, "over ssh")]
                .iter()
                .filter(|f| f.0)
                .map(|f| f.1.to_owned()),
        );
        parts.join(", ")
    }
}

fn judge(terminal: &Terminal) -> Finding {
    let words = terminal.words();
    let below = |size: (u16, u16), least: (u16, u16)| size.0 < least.0 || size.1 < least.1;
    match terminal.size {
        None => Finding::note(words).advice("without a terminal: scatterlab run RECIPE"),
        Some(size) if below(size, SMALLEST) => Finding::warning(words).advice("make it at least 40×10"),
        Some(_) if terminal.kind.is_none() || terminal.kind.as_deref() == Some("dumb") => {
            Finding::warning(words).advice("set TERM to the terminal's type, such as xterm-256color")
        }
        Some(_) if !terminal.utf8 => {
            Finding::note(words).advice("export LC_ALL=C.UTF-8 for finer charts, if the terminal shows UTF-8")
        }
        Some(size) if below(size, ROOMY) => Finding::note(words).advice("80×24 shows a whole run"),
        Some(_) if !terminal.colours && !terminal.no_color => {
            Finding::note(words).advice("set TERM to a type with 256 colours, if the terminal has them")
        }
        Some(_) => Finding::ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn what_is_missing_is_said() {
        let good = Terminal {
            kind: Some("xterm-256color".into()),
            size: Some((120, 40)),
            colours: true,
            utf8: true,
            ..Terminal::default()
        };
        let table = [
            (good.clone(), Level::Ok),
            (Terminal { no_color: true, colours: false, ..good.clone() }, Level::Ok),
            (Terminal { size: None, ..good.clone() }, Level::Note),
            (Terminal { size: Some((39, 40)), ..good.clone() }, Level::Warning),
            (Terminal { size: Some((60, 15)), ..good.clone() }, Level::Note),
            (Terminal { kind: None, ..good.clone() }, Level::Warning),
            (Terminal { utf8: false, ..good.clone() }, Level::Note),
        ];
        for (terminal, level) in table {
            assert_eq!(judge(&terminal).level, level, "{}", terminal.words());
        }
        assert_eq!(good.words(), "xterm-256color, 120×40, 256 colours, UTF-8");
        let none = Terminal { size: None, ..good };
        assert_eq!(none.words(), "none: standard output is not a terminal");
    }
}
