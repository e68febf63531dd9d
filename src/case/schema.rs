//! The parameters that a primitive, a method or a backend accepts, as data: the
//! recipe language, the error messages and the documentation all read it.

/// What a parameter's value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer such as `16Mi`, `4096` or a range of them.
    Count { min: u64, max: u64 },
    /// A size such as `8B`, `128MiB` or `2GB`. Where `accepted` is not empty, only
    /// those sizes.
    Bytes { min: u64, max: u64, accepted: &'static [u64] },
    /// A real number.
    Float { min: f64, max: f64 },
    /// An integer, or one of these words (`threads: auto`, `delta: no-reuse`). Where `list` is
    /// not 0, also at most so many integers that are one value: `{list: [8, 8, 16]}`.
    CountOr { min: u64, max: u64, words: &'static [&'static str], list: usize },
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these variants, each with parameters of its own: `direct`,
    /// `{multipass: {passes: 4}}`, or `{partitions: 32}` where the variant has a
    /// main parameter.
    Choice(&'static [Variant]),
    /// Like [`Kind::Choice`], but the variants stand as keys beside the other
    /// parameters (`uniform: {length: 8, stride: 4}` right inside `pattern:`).
    Inline(&'static [Variant]),
    /// A list of indices, `[0, 8, 16]`. Several lists sweep.
    Indices { max_length: usize },
    /// A text in one line: a file's path, a column's name.
    Text,
}

/// What holds when a recipe does not mention a parameter.
#[derive(Clone, Copy, Debug)]
pub enum Default {
    /// The recipe must give it.
    Required,
    /// The recipe must give it, unless the choice `key` beside it takes only these variants,
    /// from which the value follows.
    RequiredUnless { key: &'static str, variants: &'static [&'static str] },
    /// It stays unset.
    Unset,
    /// As if the recipe said this (in recipe syntax: `8B`, `random`, `16Mi`).
    Is(&'static str),
}

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key in the recipe.
    pub name: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Value when it is absent.
    pub default: Default,
    /// One line for help and documentation.
    pub doc: &'static str,
}

/// One variant of a choice.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Its name in the recipe.
    pub name: &'static str,
    /// Parameters that stand in its own map.
    pub params: &'static [Param],
    /// The parameter that a bare value sets: `{partitions: 32}`.
    pub main: Option<&'static str>,
    /// One line for help and documentation.
    pub doc: &'static str,
}

impl Variant {
    /// A variant without parameters.
    pub const fn plain(name: &'static str, doc: &'static str) -> Variant {
        Variant { name, params: &[], main: None, doc }
    }
}
