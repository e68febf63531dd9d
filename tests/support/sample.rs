//! How many of its cases a suite runs. A plain `cargo test` runs those that meet something for the first time and a
//! few of the others, the same ones each time; with `SCATTERLAB_TESTS=all` every suite runs all of its cases.

use std::collections::BTreeSet;
use std::io::Write;

/// Whether every case of every suite runs.
pub fn all() -> bool {
    let asked = std::env::var("SCATTERLAB_TESTS").ok();
    assert!(
        matches!(asked.as_deref(), None | Some("all")),
        "SCATTERLAB_TESTS={asked:?}: it may be `all` or unset"
    );
    asked.is_some()
}

/// One after another, the cases of a suite: whether each of them runs.
pub struct Sample {
    /// One of so many of those that meet nothing new runs, too.
    every: usize,
    all: bool,
    met: BTreeSet<String>,
    offered: usize,
    taken: usize,
}

impl Sample {
    /// With all cases where all are asked for.
    pub fn new(every: usize) -> Sample {
        Sample { all: all(), ..Sample::of(every) }
    }

    /// A sample even where all cases are asked for.
    pub fn of(every: usize) -> Sample {
        Sample { every, all: false, met: BTreeSet::new(), offered: 0, taken: 0 }
    }

    /// Whether a case runs, of which is said what it meets: its method, say, and the kernels that it launches.
    pub fn takes(&mut self, meets: impl IntoIterator<Item = String>) -> bool {
        let before = self.met.len();
        self.met.extend(meets);
        let takes = self.all || self.met.len() > before || self.offered.is_multiple_of(self.every);
        self.offered += 1;
        self.taken += usize::from(takes);
        takes
    }

    /// How many cases run, past the capture of what tests print.
    pub fn tell(&self, suite: &str) {
        tell(suite, self.taken, self.offered);
    }
}

/// Says how many cases of how many a suite runs, past the capture of what tests print; nothing where there are none.
pub fn tell(suite: &str, taken: usize, offered: usize) {
    let hint = if all() || taken == offered { "" } else { "; SCATTERLAB_TESTS=all runs more" };
    if offered > 0 {
        let _ = writeln!(std::io::stderr(), "{suite}: {taken} of {offered} cases{hint}");
    }
}
