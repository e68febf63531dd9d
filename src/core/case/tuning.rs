//! Tuning of the CUDA kernels: parameters of the backend `cuda`, all unset by default. Each primitive declares
//! which of them it has ([`Offered`]); the values actually used are recorded.

use std::fmt::Display;

use crate::case::schema::{Kind, Param, ParamDefault as Unless};
use crate::case::units::label_bytes;
use crate::case::{Params, Refusal, Value, params};

/// Threads per block unless chosen otherwise.
pub const DEFAULT_BLOCK: u32 = 256;

/// Threads per warp; a block is a multiple of this.
const WARP: u64 = 32;

const fn param(name: &'static str, kind: Kind, doc: &'static str) -> Param {
    Param { name, kind, default: Unless::Unset, doc }
}

const fn sizes(accepted: &'static [u64]) -> Kind {
    Kind::Bytes { min: accepted[0], max: accepted[accepted.len() - 1], accepted }
}

/// Parameter of the backend `cuda`.
pub const BLOCK: Param = param(
    "block",
    Kind::Count { min: WARP, max: 1024 },
    "threads per block, a multiple of 32; unset: the value that measured best",
);
/// See [`BLOCK`].
pub const ITEMS: Param = param(
    "items",
    Kind::Count { min: 1, max: 16 },
    "tuples, words or vectors that a thread has in flight, a power of two; unset: the value that measured best",
);
/// See [`BLOCK`].
pub const GRID: Param = param(
    "grid",
    Kind::Word(&["tiles", "resident"]),
    "tiles: one block per tile, in the order of addresses; resident: as many blocks as can run at once, each of which \
     goes on to further tiles; unset: the value that measured best",
);
/// See [`BLOCK`].
pub const HINT: Param = param(
    "hint",
    Kind::Word(&["none", "streaming", "no-l1"]),
    "cache hint: streaming for data accessed in order (ld.cs, st.cs); no-l1 for random loads (L1::no_allocate); unset: \
     the value that measured best",
);
/// See [`BLOCK`].
pub const VECTOR: Param = param(
    "vector",
    sizes(&[4, 8, 16]),
    "width of a load or store of stream; unset: the value that measured best",
);
/// See [`BLOCK`].
pub const FETCH: Param =
    param("fetch", sizes(&[32, 64, 128]), "L2 fetch granularity on a miss; unset: the driver's default");
/// See [`BLOCK`].
pub const PERSIST: Param = param(
    "persist",
    Kind::Bytes { min: 1, max: 1 << 40, accepted: &[] },
    "size of the part of L2 set aside for the array that is accessed at random; unset: none",
);

/// Choice of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grid {
    /// One block per tile, in address order.
    Tiles,
    /// As many blocks as are resident, each looping over further tiles.
    Resident,
}

/// Cache hints of loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// No hint.
    None,
    /// Data streamed in order is not needed again.
    Streaming,
    /// Random loads are not worth caching in L1.
    NoL1,
}

impl Grid {
    const NAMES: [(&'static str, Grid); 2] = [("tiles", Grid::Tiles), ("resident", Grid::Resident)];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        name_of(&Grid::NAMES, self)
    }
}

impl Hint {
    const NAMES: [(&'static str, Hint); 3] =
        [("none", Hint::None), ("streaming", Hint::Streaming), ("no-l1", Hint::NoL1)];

    /// The name in recipes.
    pub fn name(self) -> &'static str {
        name_of(&Hint::NAMES, self)
    }
}

fn name_of<T: PartialEq>(names: &[(&'static str, T)], value: T) -> &'static str {
    names.iter().find(|(_, named)| *named == value).map_or("", |(name, _)| name)
}

/// The tunables; `None` if left open by the recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tuning {
    /// Threads per block.
    pub block: Option<u32>,
    /// Elements in flight per thread, in the primitive's own units.
    pub items: Option<u32>,
    pub grid: Option<Grid>,
    pub hint: Option<Hint>,
    /// Bytes per load or store.
    pub vector: Option<u32>,
    /// Bytes fetched by L2 on a miss.
    pub fetch: Option<u32>,
    /// Bytes of L2 set aside.
    pub persist: Option<u64>,
}

/// The tunables supported by a primitive's kernels. An empty list means that they lack the tunable.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Largest number of threads per block; 0: not tunable.
    pub block: u32,
    pub items: &'static [u32],
    pub grids: &'static [Grid],
    pub hints: &'static [Hint],
    pub vectors: &'static [u32],
    pub fetch: &'static [u32],
    /// True if a part of L2 can be set aside.
    pub persist: bool,
}

impl Offered {
    /// No tunable.
    pub const NOTHING: Offered =
        Offered { block: 0, items: &[], grids: &[], hints: &[], vectors: &[], fetch: &[], persist: false };

    /// The tunable that the driver provides for any kernel: the L2 fetch granularity.
    pub const FETCH: Offered = Offered { fetch: &[32, 64, 128], ..Offered::NOTHING };
}

impl Tuning {
    /// The tunables set in a case.
    ///
    /// # Errors
    /// When a value is invalid; the error names the key.
    pub fn of(params: &Params) -> Result<Tuning, Refusal> {
        let small = |name| Ok(number(params, name)?.and_then(|n| u32::try_from(n).ok()));
        let tuning = Tuning {
            block: small("block")?,
            items: small("items")?,
            grid: word(params, "grid", &Grid::NAMES)?,
            hint: word(params, "hint", &Hint::NAMES)?,
            vector: small("vector")?,
            fetch: small("fetch")?,
            persist: number(params, "persist")?,
        };
        match tuning.block {
            Some(block) if block == 0 || !u64::from(block).is_multiple_of(WARP) => {
                Err(Refusal::invalid(key("block"), format!("{block} is not a multiple of {WARP}")))
            }
            _ => Ok(tuning),
        }
    }

    /// Returns `self` if the kernels of `whose` support everything that is set.
    ///
    /// # Errors
    /// `n/a`, with the values that they do support.
    pub fn within(self, whose: &str, offered: &Offered) -> Result<Tuning, Refusal> {
        let sizes = |all: &[u32]| all.iter().map(|&bytes| label_bytes(bytes.into())).collect::<Vec<_>>();
        let size = |bytes: Option<u32>| bytes.map(|bytes| label_bytes(bytes.into()));
        let grids: Vec<&str> = offered.grids.iter().map(|grid| grid.name()).collect();
        let hints: Vec<&str> = offered.hints.iter().map(|hint| hint.name()).collect();
        one_of(whose, "items", self.items, offered.items)?;
        one_of(whose, "grid", self.grid.map(Grid::name), &grids)?;
        one_of(whose, "hint", self.hint.map(Hint::name), &hints)?;
        one_of(whose, "vector", size(self.vector), &sizes(offered.vectors))?;
        one_of(whose, "fetch", size(self.fetch), &sizes(offered.fetch))?;
        match (self.block, self.persist) {
            (Some(_), _) if offered.block == 0 => Err(no_choice(whose, "block")),
            (Some(block), _) if block > offered.block => {
                let reason = format!("{whose} has blocks of up to {} threads, not {block}", offered.block);
                Err(Refusal::NotApplicable(reason))
            }
            (_, Some(_)) if !offered.persist => Err(no_choice(whose, "persist")),
            _ => Ok(self),
        }
    }

    /// The tunables that are set, as full keys and values, for the record.
    pub fn resolved(&self) -> Vec<(String, Value)> {
        let word = |name: &str| Value::Text(name.to_owned());
        let all = [
            ("block", self.block.map(|n| Value::Int(n.into()))),
            ("items", self.items.map(|n| Value::Int(n.into()))),
            ("grid", self.grid.map(|grid| word(grid.name()))),
            ("hint", self.hint.map(|hint| word(hint.name()))),
            ("vector", self.vector.map(|n| Value::Int(n.into()))),
            ("fetch", self.fetch.map(|n| Value::Int(n.into()))),
            ("persist", self.persist.map(Value::Int)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((key(name), value?))).collect()
    }
}

fn key(name: &str) -> String {
    format!("backend.cuda.{name}")
}

fn number(params: &Params, name: &str) -> Result<Option<u64>, Refusal> {
    let key = key(name);
    params.get(&key).map(|_| params::int(params, &key)).transpose()
}

fn word<T: Copy>(params: &Params, name: &str, names: &[(&str, T)]) -> Result<Option<T>, Refusal> {
    let key = key(name);
    params.get(&key).map(|_| params::word(params, &key, names)).transpose()
}

fn one_of<T: PartialEq + Display>(
    whose: &str,
    name: &str,
    wanted: Option<T>,
    offered: &[T],
) -> Result<(), Refusal> {
    match wanted {
        Some(_) if offered.is_empty() => Err(no_choice(whose, name)),
        Some(value) if !offered.contains(&value) => {
            let all: Vec<String> = offered.iter().map(T::to_string).collect();
            let reason = format!("{whose} takes {name} {}, not {value}", all.join(", "));
            Err(Refusal::NotApplicable(reason))
        }
        _ => Ok(()),
    }
}

fn no_choice(whose: &str, name: &str) -> Refusal {
    Refusal::NotApplicable(format!("{whose} has no {name} to choose: leave it unset"))
}

#[cfg(test)]
#[path = "tuning_tests.rs"]
mod tests;
