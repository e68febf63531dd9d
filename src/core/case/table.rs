//! Tables of a primitive's parameters. Each row is written once and defines the schema for recipes, error
//! messages and documentation, the typed field for implementations, and its reader.
//!
//! ```text
//! words! { pub enum By { Even = "even", Range = "range" } }         one of these words
//! choice! {                                                         a word, some with parameters of their own
//!     pub enum Method {
//!         /// ours
//!         Best = "best",
//!         /// warps vote on each bit
//!         Ballot = "ballot" main "ending" {
//!             /// how the counts come together
//!             ending: Ending = "atomics",
//!         },
//!     }
//! }
//! parameters! {                                                     the table of a primitive
//!     pub struct Histogram {
//!         /// f32 values (n)
//!         elements: u64 [count(1, 1 << 45)],                        required
//!         /// even: bins of equal width; range: bins delimited by random splitters
//!         by: By = "even",                                          as if a recipe said this
//!         /// of the keys; unset: what measured best
//!         warps: Option<u64> [count(2, 32)] = unset,
//!     }
//! }
//! ```
//!
//! The doc comment of a row serves both as Rust documentation and as recipe help. `name as "key"` sets a
//! different key. [`Definition::read`](crate::primitives::Definition::read) checks constraints that involve
//! several keys.

use super::params;
use super::schema::{Kind, Param, ParamDefault, Variant};
use super::units::{parse_bytes, parse_count};
use super::{IndexPattern, Params, Refusal};

/// A type that a parameter may have.
pub trait Field: Sized {
    /// Reads the value under `key`, or the row's default if the key is absent.
    ///
    /// # Errors
    /// When the row does not accept the value, or when a required key is missing.
    fn read(params: &Params, key: &str, row: &Param) -> Result<Self, Refusal>;
}

/// A type that determines its accepted values.
pub trait Described {
    /// The values accepted in recipes.
    const KIND: Kind;
}

/// An integer from `min` to `max`.
pub const fn count(min: u64, max: u64) -> Kind {
    Kind::Count { min, max }
}

/// An integer from `min` to `max`, or one of these words.
pub const fn count_or(min: u64, max: u64, words: &'static [&'static str]) -> Kind {
    Kind::CountOr { min, max, words, list: 0 }
}

/// One of these sizes, ascending.
pub const fn sizes(accepted: &'static [u64]) -> Kind {
    Kind::Bytes { min: accepted[0], max: accepted[accepted.len() - 1], accepted }
}

/// Any size from `min` to `max`.
pub const fn bytes(min: u64, max: u64) -> Kind {
    Kind::Bytes { min, max, accepted: &[] }
}

/// A number from `min` to `max`.
pub const fn float(min: f64, max: f64) -> Kind {
    Kind::Float { min, max }
}

/// A count or a size. The problem size, at least 1 in a recipe, may be 0 here, because `verify` runs such
/// cases.
impl Field for u64 {
    fn read(params: &Params, key: &str, row: &Param) -> Result<u64, Refusal> {
        let value = match (params.get(key), row.default) {
            (None, ParamDefault::Is(text)) => unset(key, row, text)?,
            _ => params::int(params, key)?,
        };
        let (min, max) = match row.kind {
            Kind::Bytes { accepted, .. } if !accepted.is_empty() => {
                let known = accepted.contains(&value);
                return known.then_some(value).ok_or_else(|| none_of(key, value, accepted));
            }
            Kind::Count { min: 1, max } if !key.contains('.') => (0, max),
            Kind::Count { min, max } | Kind::Bytes { min, max, .. } | Kind::CountOr { min, max, .. } => {
                (min, max)
            }
            _ => (0, u64::MAX),
        };
        match value {
            0 if min == 1 => Err(Refusal::invalid(key, "must be at least 1")),
            _ if (min..=max).contains(&value) => Ok(value),
            _ => Err(Refusal::invalid(key, format!("{value} is not from {min} to {max}"))),
        }
    }
}

fn unset(key: &str, row: &Param, text: &str) -> Result<u64, Refusal> {
    let parse = if matches!(row.kind, Kind::Bytes { .. }) { parse_bytes } else { parse_count };
    parse(text).map_err(|error| Refusal::invalid(key, error.to_string()))
}

fn none_of(key: &str, value: u64, accepted: &[u64]) -> Refusal {
    Refusal::invalid(key, format!("{value} is not one of {accepted:?}"))
}

impl Field for u32 {
    fn read(params: &Params, key: &str, row: &Param) -> Result<u32, Refusal> {
        let value = u64::read(params, key, row)?;
        u32::try_from(value).map_err(|_| Refusal::invalid(key, format!("{value} does not fit in 32 bits")))
    }
}

impl Field for f64 {
    fn read(params: &Params, key: &str, row: &Param) -> Result<f64, Refusal> {
        let value = match (params.get(key), row.default) {
            (None, ParamDefault::Is(text)) => text.parse().ok(),
            (None, _) => return Err(Refusal::Missing { key: key.to_owned() }),
            (Some(_), _) => params.float(key),
        };
        let Kind::Float { min, max } = row.kind else { return Err(Refusal::invalid(key, "is not a number")) };
        match value {
            Some(value) if (min..=max).contains(&value) => Ok(value),
            Some(value) => Err(Refusal::invalid(key, format!("{value} is not from {min} to {max}"))),
            None => Err(Refusal::invalid(key, format!("is not a number from {min} to {max}"))),
        }
    }
}

/// A list of indices.
impl Field for IndexPattern {
    fn read(params: &Params, key: &str, _row: &Param) -> Result<IndexPattern, Refusal> {
        params.indices(key).cloned().ok_or_else(|| Refusal::Missing { key: key.to_owned() })
    }
}

/// `None` if the key is absent or holds the row's default word, such as `auto`.
impl<T: Field> Field for Option<T> {
    fn read(params: &Params, key: &str, row: &Param) -> Result<Option<T>, Refusal> {
        match (params.text(key), row.default) {
            (Some(word), ParamDefault::Is(own)) if word == own => Ok(None),
            _ => params.get(key).map(|_| T::read(params, key, row)).transpose(),
        }
    }
}

impl<T: Described> Described for Option<T> {
    const KIND: Kind = T::KIND;
}

/// The word under `key`, which must be one of `words`, or the row's default.
pub fn word<'a>(
    params: &'a Params,
    key: &str,
    row: &Param,
    words: &'static [&'static str],
) -> Result<&'a str, Refusal> {
    let names: Vec<(&str, &'static str)> = words.iter().map(|word| (*word, *word)).collect();
    match (params.get(key), row.default) {
        (None, ParamDefault::Is(word)) => Ok(word),
        _ => params::word(params, key, &names),
    }
}

/// Selects the rows with these names, in this order, for a primitive that shares a table with others.
pub const fn select<const N: usize>(table: &[Param], names: [&str; N]) -> [Param; N] {
    let mut rows = [table[0]; N];
    let mut at = 0;
    while at < N {
        rows[at] = find(table, names[at]);
        at += 1;
    }
    rows
}

const fn find(table: &[Param], name: &str) -> Param {
    let mut at = 0;
    while !same(table[at].name, name) {
        at += 1;
    }
    table[at]
}

/// Selects the variants of a choice with these names.
#[expect(clippy::panic, reason = "evaluated at compile time")]
pub const fn variants<const N: usize>(kind: Kind, names: [&str; N]) -> [Variant; N] {
    let Kind::Choice(all) = kind else { panic!("no choice") };
    let mut some = [all[0]; N];
    let mut at = 0;
    while at < N {
        let mut of = 0;
        while !same(all[of].name, names[at]) {
            of += 1;
        }
        some[at] = all[of];
        at += 1;
    }
    some
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// One row as a `Param`.
macro_rules! row {
    ([$($doc:literal)+] $field:ident [$($key:literal)?] $ty:ty, [$($kind:expr)?] [$($default:tt)?]) => {
        $crate::case::schema::Param {
            name: $crate::case::table::key!($field $($key)?),
            kind: $crate::case::table::kind!($ty $(, $kind)?),
            default: $crate::case::table::default!($($default)?),
            doc: concat!($($doc),+).trim_ascii(),
        }
    };
}

macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

macro_rules! kind {
    ($ty:ty) => {
        <$ty as $crate::case::table::Described>::KIND
    };
    ($ty:ty, $kind:expr) => {
        $kind
    };
}

macro_rules! default {
    () => {
        $crate::case::schema::ParamDefault::Required
    };
    (unset) => {
        $crate::case::schema::ParamDefault::Unset
    };
    ($text:literal) => {
        $crate::case::schema::ParamDefault::Is($text)
    };
    (($other:expr)) => {
        $other
    };
}

/// Defines an enum of words.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$of:meta])* $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $( $(#[$of])* $variant ),+ }

        #[allow(dead_code, reason = "not every enum needs all of these")]
        impl $name {
            /// All variants with their names in recipes.
            pub const NAMES: &'static [(&'static str, $name)] = &[$(($word, $name::$variant)),+];

            /// The name in recipes.
            pub const fn name(self) -> &'static str {
                match self { $( $name::$variant => $word ),+ }
            }
        }

        impl $crate::case::table::Described for $name {
            const KIND: $crate::case::schema::Kind = $crate::case::schema::Kind::Word(&[$($word),+]);
        }

        impl $crate::case::table::Field for $name {
            fn read(
                params: &$crate::case::Params,
                key: &str,
                row: &$crate::case::schema::Param,
            ) -> Result<$name, $crate::case::Refusal> {
                Ok(match $crate::case::table::word(params, key, row, &[$($word),+])? {
                    $( $word => $name::$variant, )+
                    other => return Err($crate::case::Refusal::invalid(key, format!("`{other}` is unknown"))),
                })
            }
        }
    };
}

/// Defines an enum of variants, some with their own parameters. It is `Copy` unless prefixed with `owned`,
/// which is needed if a parameter is a list.
macro_rules! choice {
    (
        @of [$($derived:ident),+]
        $(#[$meta:meta])*
        pub enum $name:ident { $(
            $(#[doc = $doc:literal])+
            $variant:ident = $word:literal $(main $main:literal)? $({ $(
                $(#[doc = $of:literal])+
                $field:ident $(as $key:literal)? : $ty:ty $([$kind:expr])? $(= $default:tt)?,
            )+ })?
        ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags, reason = "the texts are recipes' documentation, too")]
        #[derive($($derived),+)]
        pub enum $name { $(
            $(#[doc = $doc])+
            $variant $({ $( $(#[doc = $of])+ $field: $ty, )+ })?
        ),+ }

        #[allow(dead_code, reason = "not every enum needs all of these")]
        impl $name {
            /// The name in recipes.
            pub const fn name(&self) -> &'static str {
                match self { $( $name::$variant { .. } => $word ),+ }
            }
        }

        impl $crate::case::table::Described for $name {
            const KIND: $crate::case::schema::Kind = $crate::case::schema::Kind::Choice(&[$(
                $crate::case::schema::Variant {
                    name: $word,
                    params: &[$($( $crate::case::table::row!(
                        [$($of)+] $field [$($key)?] $ty, [$($kind)?] [$($default)?]
                    ) ),+)?],
                    main: $crate::case::table::main!($($main)?),
                    doc: concat!($($doc),+).trim_ascii(),
                }
            ),+]);
        }

        impl $crate::case::table::Field for $name {
            fn read(
                params: &$crate::case::Params,
                key: &str,
                row: &$crate::case::schema::Param,
            ) -> Result<$name, $crate::case::Refusal> {
                Ok(match $crate::case::table::word(params, key, row, &[$($word),+])? {
                    $( $word => $name::$variant $({ $(
                        $field: {
                            const ROW: $crate::case::schema::Param = $crate::case::table::row!(
                                [$($of)+] $field [$($key)?] $ty, [$($kind)?] [$($default)?]
                            );
                            $crate::case::table::Field::read(params, &format!("{key}.{}.{}", $word, ROW.name), &ROW)?
                        },
                    )+ })?, )+
                    other => return Err($crate::case::Refusal::invalid(key, format!("`{other}` is unknown"))),
                })
            }
        }
    };
    (owned $($rest:tt)+) => {
        $crate::case::table::choice! { @of [Clone, Debug, PartialEq] $($rest)+ }
    };
    ($($rest:tt)+) => {
        $crate::case::table::choice! { @of [Clone, Copy, Debug, PartialEq] $($rest)+ }
    };
}

macro_rules! main {
    () => {
        None
    };
    ($main:literal) => {
        Some($main)
    };
}

/// Defines the parameter table of a primitive and the struct of a case. Fields under `with` are not parameters:
/// they have the given initial value and are set when the case is checked.
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        pub struct $name:ident { $(
            $(#[doc = $doc:literal])+
            $field:ident $(as $key:literal)? : $ty:ty $([$kind:expr])? $(= $default:tt)?,
        )+ }
        $(with { $( $(#[$of:meta])* $extra:ident : $further:ty = $begin:expr, )+ })?
    ) => {
        $(#[$meta])*
        #[allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags, reason = "the texts are recipes' documentation, too")]
        pub struct $name {
            $( $(#[doc = $doc])+ pub $field: $ty, )+
            $($( $(#[$of])* pub $extra: $further, )+)?
            /// Seed of all inputs.
            pub seed: u64,
            /// The backend of the case.
            pub backend: $crate::case::Backend,
            /// Tunables of the CUDA kernels.
            pub tuning: $crate::case::tuning::Tuning,
        }

        impl $name {
            /// The parameter table.
            pub const TABLE: &'static [$crate::case::schema::Param] = &[$(
                $crate::case::table::row!([$($doc)+] $field [$($key)?] $ty, [$($kind)?] [$($default)?])
            ),+];

            /// Reads each parameter according to its row, without checking constraints between keys.
            fn of_table(params: &$crate::case::Params, seed: u64) -> Result<$name, $crate::case::Refusal> {
                Ok($name {
                    $( $field: {
                        const ROW: $crate::case::schema::Param =
                            $crate::case::table::row!([$($doc)+] $field [$($key)?] $ty, [$($kind)?] [$($default)?]);
                        $crate::case::table::Field::read(params, ROW.name, &ROW)?
                    }, )+
                    $($( $extra: $begin, )+)?
                    seed,
                    backend: $crate::case::Backend::of(params),
                    tuning: $crate::case::tuning::Tuning::of(params)?,
                })
            }
        }
    };
}

pub(crate) use {choice, default, key, kind, main, parameters, row, words};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    words! { pub enum Side { Left = "left", Right = "right" } }

    choice! {
        pub enum Method {
            /// at once
            Direct = "direct",
            /// in
            /// passes
            Multipass = "multipass" main "passes" {
                /// how many
                passes: u64 [count(1, 8)],
                /// their part
                share: f64 [float(0.0, 1.0)] = "0.5",
            },
        }
    }

    parameters! {
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub struct Move {
            /// tuples
            tuples: u64 [count(1, 1 << 20)],
            /// bytes
            /// of a tuple
            tuple: u64 [sizes(&[4, 8])] = "8B",
            /// where
            side: Side = "left",
            /// how
            method: Method = "direct",
            /// threads
            threads as "threads-of-it": Option<u64> [count(2, 32)] = unset,
        }
        with {
            /// True if it was checked.
            checked: bool = false,
        }
    }

    fn read(words: &[(&str, Value)]) -> Result<Move, String> {
        let params = words.iter().fold(Params::default(), |p, (key, value)| p.with(key, value.clone()));
        Move::of_table(&params, 7).map_err(|refusal| refusal.to_string())
    }

    fn text(word: &str) -> Value {
        Value::Text(word.to_owned())
    }

    #[test]
    fn a_row_is_schema_and_field() {
        let names: Vec<&str> = Move::TABLE.iter().map(|row| row.name).collect();
        assert_eq!(names, ["tuples", "tuple", "side", "method", "threads-of-it"]);
        assert_eq!(Move::TABLE[1].doc, "bytes of a tuple");
        let Kind::Choice([direct, multipass]) = Move::TABLE[3].kind else { panic!("a choice") };
        assert_eq!((direct.doc, multipass.doc, multipass.main), ("at once", "in passes", Some("passes")));
        assert_eq!(multipass.params.len(), 2);
        let case = read(&[("tuples", Value::Int(0))]).expect("a case");
        assert_eq!((case.tuples, case.tuple, case.side, case.threads), (0, 8, Side::Left, None));
        assert_eq!((case.method.name(), case.checked, case.seed), ("direct", false, 7));
        let passes = [("method", text("multipass")), ("method.multipass.passes", Value::Int(3))];
        let case = read(&[&passes[..], &[("tuples", Value::Int(9))]].concat()).expect("a case");
        assert_eq!(case.method, Method::Multipass { passes: 3, share: 0.5 });
    }

    #[test]
    fn what_is_wrong_is_said_at_its_key() {
        let refused = |key: &str, value: Value| {
            read(&[("tuples", Value::Int(9)), ("method", text("multipass")), (key, value)])
                .expect_err("refused")
        };
        assert_eq!(read(&[]).expect_err("refused"), "tuples: is missing");
        assert_eq!(refused("tuple", Value::Int(5)), "tuple: 5 is not one of [4, 8]");
        assert_eq!(refused("tuples", Value::Int(1 << 21)), "tuples: 2097152 is not from 0 to 1048576");
        assert_eq!(refused("side", text("up")), "side: `up` is not one of left, right");
        assert_eq!(refused("method", text("up")), "method: `up` is not one of direct, multipass");
        assert_eq!(refused("tuple", Value::Int(4)), "method.multipass.passes: is missing");
        let passes = "method.multipass.passes";
        assert_eq!(refused(passes, Value::Int(0)), format!("{passes}: must be at least 1"));
        assert_eq!(refused("threads-of-it", Value::Int(1)), "method.multipass.passes: is missing");
    }

    #[test]
    fn several_primitives_share_a_table() {
        const SOME: [Param; 2] = select(Move::TABLE, ["method", "tuples"]);
        assert_eq!(SOME.map(|row| row.name), ["method", "tuples"]);
        const PASSES: [Variant; 1] = variants(Method::KIND, ["multipass"]);
        assert_eq!(PASSES[0].name, "multipass");
    }
}
