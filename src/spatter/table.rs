//! The table of options. The command line, JSON, the help text and the messages are all derived from this one
//! table.

use super::output::column;

/// Identifies an option to the code that acts on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    Aggregate,
    AtomicThreadFence,
    AtomicWrites,
    Backend,
    Boundary,
    ColdCache,
    Compress,
    Count,
    Delta,
    DeltaGather,
    DeltaScatter,
    DenseBuffers,
    Device,
    File,
    Format,
    Help,
    Kernel,
    LocalWorkSize,
    Name,
    NoVerify,
    Op,
    Order,
    Out,
    Pattern,
    PatternGather,
    PatternScatter,
    PatternSize,
    Random,
    Rounds,
    Runs,
    SharedMemory,
    Stats,
    Threads,
    ToRecipe,
    Verbosity,
    Wrap,
}

/// The value that an option takes on the command line and in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value.
    Flag,
    /// No value, or an attached `=0` or `=1`.
    Switch,
    /// An integer no smaller than this.
    Count(u64),
    /// An integer no smaller than this that fits an `int` of C.
    Int(u64),
    /// An integer, or this word in any case.
    CountOr(&'static str),
    /// An integer attached to the option, or no value, for a seed from the time of day.
    Seed,
    /// An integer of at least 0, or several in turn.
    Deltas,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// A generator such as `UNIFORM:8:1`, or a list of indices.
    Pattern,
    Text,
}

/// The effect of an option in scatterlab.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Acts,
    /// The value is echoed and has no other effect, as in Spatter.
    Echoed,
    /// The option has no effect, in Spatter or here; the text explains why.
    Nothing(&'static str),
}

/// An option.
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    pub key: Key,
    /// Name after `--`.
    pub long: &'static str,
    /// Letter after `-`.
    pub short: Option<char>,
    /// Key of a configuration in a JSON file. An option with such a key is ignored on the command line if a
    /// file is given.
    pub json: Option<&'static str>,
    pub kind: Kind,
    /// The default value, as a user would write it.
    pub default: &'static str,
    pub effect: Effect,
    /// Whether the option is ours, absent from Spatter.
    pub ours: bool,
    /// One line of help.
    pub doc: &'static str,
}

/// Spatter's kernels.
pub const KERNELS: [&str; 5] = ["gather", "scatter", "gs", "multigather", "multiscatter"];

/// Spatter's backends.
pub const BACKENDS: [&str; 3] = ["serial", "openmp", "cuda"];

const fn option(key: Key, long: &'static str, short: char, kind: Kind, doc: &'static str) -> Opt {
    let short = Some(short);
    Opt { key, long, short, json: None, kind, default: "", effect: Effect::Acts, ours: false, doc }
}

const fn long(key: Key, long: &'static str, kind: Kind, doc: &'static str) -> Opt {
    Opt { key, long, short: None, json: None, kind, default: "", effect: Effect::Acts, ours: false, doc }
}

impl Opt {
    const fn json(self, key: &'static str) -> Opt {
        Opt { json: Some(key), ..self }
    }

    const fn default(self, default: &'static str) -> Opt {
        Opt { default, ..self }
    }

    const fn echoed(self) -> Opt {
        Opt { effect: Effect::Echoed, ..self }
    }

    const fn nothing(self, why: &'static str) -> Opt {
        Opt { effect: Effect::Nothing(why), ..self }
    }

    const fn ours(self) -> Opt {
        Opt { ours: true, ..self }
    }

    /// `-l (--count)`, or `--stats`.
    pub fn names(&self) -> String {
        match self.short {
            Some(short) => format!("-{short} (--{})", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// All options: Spatter's in the order of their letters, then its long-only ones, then ours.
pub static OPTIONS: [Opt; 36] = [
    option(Key::Aggregate, "aggregate", 'a', Kind::Flag, "say so in the output").echoed(),
    option(
        Key::Backend,
        "backend",
        'b',
        Kind::Word(&BACKENDS),
        "default: cuda if there is a GPU, openmp if not",
    ),
    option(Key::Compress, "compress", 'c', Kind::Flag, "renumber the 4 KiB pages that a pattern touches"),
    option(
        Key::Delta,
        "delta",
        'd',
        Kind::Deltas,
        "elements from one use of the pattern to the next; several deltas are used in turn",
    )
    .json("delta")
    .default("8"),
    option(
        Key::Boundary,
        "boundary",
        'e',
        Kind::Count(0),
        "take indices modulo this; 0: leave them as they are",
    )
    .json("boundary")
    .default("0"),
    option(Key::File, "file", 'f', Kind::Text, "JSON file of configurations"),
    option(
        Key::PatternGather,
        "pattern-gather",
        'g',
        Kind::Pattern,
        "pattern of the reads (gs) or inner pattern (multigather)",
    )
    .json("pattern-gather"),
    option(Key::Help, "help", 'h', Kind::Flag, "print this and end with status 255"),
    option(Key::PatternSize, "pattern-size", 'j', Kind::Count(1), "keep this many indices of each pattern")
        .json("pattern-size"),
    option(Key::Kernel, "kernel", 'k', Kind::Word(&KERNELS), "what to run").json("kernel").default("gather"),
    option(Key::Count, "count", 'l', Kind::Count(1), "number of uses of the pattern")
        .json("count")
        .default("1024"),
    option(Key::SharedMemory, "shared-memory", 'm', Kind::Count(0), "nothing")
        .nothing("no kernel uses shared memory"),
    option(Key::Name, "name", 'n', Kind::Text, "name of the configuration").json("name").echoed(),
    option(Key::Op, "op", 'o', Kind::Count(0), "nothing").nothing("there is only one operation"),
    option(
        Key::Pattern,
        "pattern",
        'p',
        Kind::Pattern,
        "UNIFORM:N:STRIDE[:DELTA|:NR], MS1:N:BREAKS:GAPS, LAPLACIAN:D:L:N, or indices",
    )
    .json("pattern"),
    option(Key::Runs, "runs", 'r', Kind::Count(1), "timed runs").json("nruns").default("10"),
    option(
        Key::Random,
        "random",
        's',
        Kind::Seed,
        "seed, echoed in the output; used with --order random only",
    )
    .json("seed")
    .echoed(),
    option(
        Key::Threads,
        "omp-threads",
        't',
        Kind::Int(1),
        "threads of openmp; default: OMP_NUM_THREADS, or all CPUs",
    ),
    option(
        Key::PatternScatter,
        "pattern-scatter",
        'u',
        Kind::Pattern,
        "pattern of the writes (gs) or inner pattern (multiscatter)",
    )
    .json("pattern-scatter"),
    option(
        Key::Verbosity,
        "verbosity",
        'v',
        Kind::Count(0),
        "0: the table, and errors; 1: what runs where, and remarks; 2: configurations; 3: sizes",
    )
    .default("1"),
    option(
        Key::Wrap,
        "wrap",
        'w',
        Kind::Count(1),
        "tiles of the dense array, which the uses of the pattern take in turn",
    )
    .json("wrap")
    .default("1"),
    option(Key::DeltaGather, "delta-gather", 'x', Kind::Count(0), "delta of the reads of gs")
        .json("delta-gather")
        .default("8"),
    option(Key::DeltaScatter, "delta-scatter", 'y', Kind::Count(0), "delta of the writes of gs")
        .json("delta-scatter")
        .default("8"),
    option(Key::LocalWorkSize, "local-work-size", 'z', Kind::Count(0), "nothing")
        .json("local-work-size")
        .default("1024")
        .nothing("blocks of threads have the size that suits the kernel"),
    long(Key::AtomicWrites, "atomic-writes", Kind::Switch, "store with atomic exchanges on GPUs"),
    long(
        Key::AtomicThreadFence,
        "atomic-thread-fence",
        Kind::Flag,
        "end each thread's part with a release fence on CPUs",
    ),
    long(Key::DenseBuffers, "dense-buffers", Kind::Flag, "nothing")
        .nothing("every thread already has a dense buffer of its own"),
    long(Key::ColdCache, "cold-cache", Kind::Flag, "empty the caches before each run").ours(),
    long(Key::Device, "device", Kind::CountOr("all"), "number of the GPU; all: every GPU at the same time")
        .default("0")
        .ours(),
    long(
        Key::Format,
        "format",
        Kind::Word(&["csv", "json"]),
        "write rows with statistics and the time of every run",
    )
    .ours(),
    long(Key::NoVerify, "no-verify", Kind::Flag, "leave out the certificates").ours(),
    long(Key::Order, "order", Kind::Word(&["sequential", "random"]), "order of the uses of a pattern")
        .default("sequential")
        .ours(),
    long(Key::Out, "out", Kind::Text, "keep the run in this folder").ours(),
    long(
        Key::Rounds,
        "rounds",
        Kind::Count(1),
        "rounds of -r runs, each with its own buffers; the fastest run counts",
    )
    .default("1")
    .ours(),
    long(
        Key::Stats,
        "stats",
        Kind::Flag,
        "print quartiles, the harmonic mean and its standard error below the table",
    )
    .ours(),
    long(Key::ToRecipe, "to-recipe", Kind::Flag, "print the recipe that would be run, and run nothing")
        .ours(),
];

/// The option with this letter.
pub fn by_short(letter: char) -> Option<&'static Opt> {
    OPTIONS.iter().find(|option| option.short == Some(letter))
}

/// The option with this JSON key.
pub fn by_json(key: &str) -> Option<&'static Opt> {
    OPTIONS.iter().find(|option| option.json == Some(key))
}

/// The keys of a configuration in JSON.
pub fn json_keys() -> Vec<&'static str> {
    OPTIONS.iter().filter_map(|option| option.json).collect()
}

/// The options that `--word` may mean: the one with exactly this name, otherwise Spatter's that begin with it,
/// otherwise ours, so that none of ours breaks an abbreviation of Spatter's. Of options without a letter
/// getopt_long takes the first, because to it they are alike.
pub fn by_long(word: &str) -> Vec<&'static Opt> {
    if let Some(exact) = OPTIONS.iter().find(|option| option.long == word) {
        return vec![exact];
    }
    let begin = |ours: bool| OPTIONS.iter().filter(move |o| o.ours == ours && o.long.starts_with(word));
    let mut theirs: Vec<&Opt> = begin(false).collect();
    if theirs.iter().all(|option| option.short.is_none()) {
        theirs.truncate(1);
    }
    if theirs.is_empty() { begin(true).collect() } else { theirs }
}

/// The default number of an option; 0 if it has none.
pub fn default(key: Key) -> u64 {
    let option = OPTIONS.iter().find(|option| option.key == key);
    option.and_then(|option| option.default.parse().ok()).unwrap_or(0)
}

/// The text that `--help` prints.
pub fn help(program: &str) -> String {
    let lines = |ours: bool| {
        OPTIONS.iter().filter(move |option| option.ours == ours).map(help_line).collect::<String>()
    };
    format!("Spatter\nUsage: {program} [options]\n{}\nBeyond Spatter 2.1.0:\n{}", lines(false), lines(true))
}

fn help_line(option: &Opt) -> String {
    let value = match option.kind {
        Kind::Flag => "",
        Kind::Switch => "[=0|1]",
        Kind::Seed => "[N]",
        Kind::Count(_) | Kind::Int(_) => " N",
        Kind::CountOr(_) => " N|all",
        Kind::Deltas => " N[,N…]",
        Kind::Word(_) => " WORD",
        Kind::Pattern => " PATTERN",
        Kind::Text => " TEXT",
    };
    let words = match option.kind {
        Kind::Word(words) => format!(": {}", words.join(", ")),
        _ => String::new(),
    };
    let default =
        if option.default.is_empty() { String::new() } else { format!(" (default {})", option.default) };
    let indent = if option.short.is_some() { "" } else { "    " };
    let names = column(&format!("{indent}{}{value}", option.names()), 30);
    format!("{names} {}{words}{default}\n", option.doc)
}
