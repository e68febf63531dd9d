//! Declarations of the parameters that a primitive, a method or a backend accepts. From these the recipe
//! language, its JSON schema, the error messages and the documentation are derived.

/// The values that a parameter accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An integer such as `16Mi` or `4096`; in a sweep, also a range of integers.
    Count { min: u64, max: u64 },
    /// A size such as `8B`, `128MiB` or `2GB`; if `accepted` is not empty, only one of those.
    Bytes { min: u64, max: u64, accepted: &'static [u64] },
    /// A decimal number.
    Float { min: f64, max: f64 },
    /// An integer, or one of these words (`threads: auto`, `delta: no-reuse`). If `list` is not 0, also a list
    /// of at most that many integers as a single value: `{list: [8, 8, 16]}`.
    CountOr { min: u64, max: u64, words: &'static [&'static str], list: usize },
    /// One of these words.
    Word(&'static [&'static str]),
    /// One of these variants, each with its own parameters: `direct`, `{multipass: {passes: 4}}`, or
    /// `{partitions: 32}` if the variant has a main parameter.
    Choice(&'static [Variant]),
    /// Like [`Kind::Choice`], but the variants are keys beside the other parameters (`uniform: {length: 8,
    /// stride: 4}` directly inside `pattern:`).
    Inline(&'static [Variant]),
    /// A list of indices, `[0, 8, 16]`. Several lists form a sweep.
    Indices { max_length: usize },
    /// A single line of text: the path of a file, the name of a column.
    Text,
}

/// The value of a parameter that a recipe omits.
#[derive(Clone, Copy, Debug)]
pub enum ParamDefault {
    /// The recipe must specify the parameter.
    Required,
    /// The recipe must specify the parameter, unless the parameter `key` has only these variants as its values:
    /// they determine this one.
    RequiredUnless { key: &'static str, variants: &'static [&'static str] },
    /// The parameter stays unset: the case has no value for it.
    Unset,
    /// The given value, in recipe syntax: `8B`, `random`, `16Mi`.
    Is(&'static str),
}

/// Declaration of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Key in the recipe.
    pub name: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Value if the recipe omits the parameter.
    pub default: ParamDefault,
    /// One line for help and documentation.
    pub doc: &'static str,
}

/// Declaration of one variant of a [`Kind::Choice`] or [`Kind::Inline`].
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// Name in the recipe.
    pub name: &'static str,
    /// Parameters in the variant's own map.
    pub params: &'static [Param],
    /// The parameter that is meant if a value follows the variant's name directly, as in `{partitions: 32}`.
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
