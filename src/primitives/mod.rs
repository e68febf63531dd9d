//! The primitives: their definitions, parameters and accesses (pure), and beside
//! them their implementations, which the engine alone imports.
//!
//! A primitive is one row in each of two lists: [`registry()`] has its definition, all that recipes, models and
//! reports see of it; [`implementations`] what computes it.

#[cfg(test)]
mod any_tests;
pub mod compaction;
mod cpu;
pub mod cuda;
pub mod gather_scatter;
mod groups;
pub mod histogram;
pub mod implementations;
pub mod multisplit;
mod oracle;
pub mod pattern;
pub mod random_access;
pub mod range;
pub mod reduce;
mod registry;
mod replicas;
pub mod scan;
pub mod stream;
mod walk;
#[cfg(test)]
mod words;

use std::fmt;

use crate::case::schema::{Kind, Param};
use crate::case::tuning::{Offered, Tuning};
use crate::case::{BlockCost, Case, Fault, Params, Refusal, SpeedOfLight, Value, Walk, Work};
pub use registry::{find, registry};
pub use replicas::{alternatives, bytes_per_device, check, work};
pub use walk::walks;

/// The array of indices with a hash, from whoever keeps it.
pub type Stored<'a> = &'a dyn Fn(&str) -> Result<Vec<u64>, String>;

/// A case of a primitive, typed: descriptions of its data, never the data. Pure.
pub trait Problem {
    /// What the case does to memory. Never allocates in proportion to the case.
    fn work(&self) -> Work;

    /// Compares an implementation's whole output, as
    /// [`Prepared::read_back`](crate::device::Prepared::read_back) returns it, with
    /// the sequential oracle. For small cases: host memory, one thread.
    ///
    /// # Errors
    /// The first mistake, in words.
    fn check(&self, output: &[u8]) -> Result<(), String>;

    /// Whether its method is still to be chosen.
    fn open(&self) -> bool {
        false
    }

    /// What open parameters became, for the record: full keys and values.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Blocks of threads that an execution starts on a GPU, one after another in the order of
    /// addresses; `None` where there are no more than are at work at once, where it takes several
    /// launches, and on processors. What is open is what the kernels would choose.
    fn blocks(&self) -> Option<u64> {
        None
    }

    /// What the blocks of each pass do near the processor on a GPU, in the order of
    /// [`work`](Problem::work)'s passes; nothing on processors, and where streams and requests say all.
    ///
    /// # Errors
    /// What is not known of a method, so that no model may speak of it: to follow `n/a: `.
    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(Vec::new())
    }

    /// Whether this mistake can show in the result at all. Where several writers meet, any
    /// of their values is right, and one that is missing hides behind the others.
    fn fault_is_detectable(&self, _fault: Fault) -> bool {
        true
    }

    /// Further columns that this primitive adds to a record (a pattern's class …).
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// The ways through memory of the case, each of at most `most` indices; none for a
    /// primitive without indices.
    ///
    /// # Errors
    /// Indices that would take too long to make, or that are not stored.
    fn walks(&self, _most: u64, _stored: Stored) -> Result<Vec<Walk>, String> {
        Ok(Vec::new())
    }
}

/// An operation with a mathematical definition: its cases, and the names that it has.
pub trait Definition: Problem + Sized + 'static {
    /// Its rows in the registry: one, or several where primitives have most of their definition in common.
    const PRIMITIVES: &'static [Primitive];

    /// Reads a case of the primitive of this name, and checks what no single parameter can know.
    ///
    /// # Errors
    /// What is wrong with which key, and cases that do not exist.
    fn read(name: &str, params: &Params, seed: u64) -> Result<Self, Refusal>;

    /// Refuses tunables that the kernels of a GPU do not offer.
    ///
    /// # Errors
    /// `n/a`, with what they offer.
    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &Offered::FETCH).map(drop)
    }

    /// The case that a plan says.
    ///
    /// # Errors
    /// As [`read`](Definition::read).
    fn of(case: &Case) -> Result<Self, Refusal> {
        read(&case.primitive, &case.params, case.seed)
    }
}

fn read<D: Definition>(name: &str, params: &Params, seed: u64) -> Result<D, Refusal> {
    D::tunables(name, params)?;
    D::read(name, params, seed)
}

fn boxed<D: Definition>(name: &str, params: &Params, seed: u64) -> Result<Box<dyn Problem>, Refusal> {
    read::<D>(name, params, seed).map(|case| Box::new(case) as Box<dyn Problem>)
}

/// Reads a case of the primitive of a name.
type Read = fn(&str, &Params, u64) -> Result<Box<dyn Problem>, Refusal>;

/// A primitive's row in the registry.
pub struct Primitive {
    name: &'static str,
    summary: &'static str,
    params: &'static [Param],
    read: Read,
    speed_of_light: Option<SpeedOfLight>,
    walks: bool,
    longest_carried: Option<u64>,
    completed: fn(Params) -> Params,
    alternatives: fn(&str, &Params) -> Vec<Params>,
}

impl fmt::Debug for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Primitive {
    /// The primitive of this name in recipes, its definition in one line, and its parameters, `method` among them.
    pub const fn of<D: Definition>(
        name: &'static str,
        summary: &'static str,
        params: &'static [Param],
    ) -> Primitive {
        Primitive {
            name,
            summary,
            params,
            read: boxed::<D>,
            speed_of_light: None,
            walks: false,
            longest_carried: None,
            completed: |params| params,
            alternatives: |_, _| Vec::new(),
        }
    }

    /// With what its own parallel model moves, where a paper has one: a ceiling of all its methods.
    pub const fn with_speed_of_light(self, speed_of_light: SpeedOfLight) -> Primitive {
        Primitive { speed_of_light: Some(speed_of_light), ..self }
    }

    /// Whose cases go through indices, so that there are [`walks`](Problem::walks).
    pub const fn with_walks(self) -> Primitive {
        Primitive { walks: true, ..self }
    }

    /// Whose cases carry so many indices of a file in their parameters at most, as `….file.indices`; the engine
    /// opens the others itself.
    pub const fn carrying(self, longest: u64) -> Primitive {
        Primitive { longest_carried: Some(longest), ..self }
    }

    /// Whose parameters are completed by those that follow from them and that a recipe may leave out.
    pub const fn completed_by(self, completed: fn(Params) -> Params) -> Primitive {
        Primitive { completed, ..self }
    }

    /// What a method that is still to be chosen may become: the parameters with each method in
    /// its place, the simplest first; nothing where the method is not open.
    pub const fn choosing(self, alternatives: fn(&str, &Params) -> Vec<Params>) -> Primitive {
        Primitive { alternatives, ..self }
    }

    /// Name in recipes and in the registry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The definition in one line.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// Accepted parameters.
    pub fn params(&self) -> &'static [Param] {
        self.params
    }

    /// The names of its methods.
    pub fn methods(&self) -> Vec<&'static str> {
        let method = self.params.iter().find(|param| param.name == "method");
        match method.map(|param| param.kind) {
            Some(Kind::Choice(variants)) => variants.iter().map(|variant| variant.name).collect(),
            _ => Vec::new(),
        }
    }

    /// The parameters with those that follow from them and that a recipe may leave out.
    pub fn completed(&self, params: Params) -> Params {
        (self.completed)(params)
    }

    /// Most indices of a file that a case carries in its parameters; `None` where the engine opens the file itself.
    pub fn longest_carried(&self) -> Option<u64> {
        self.longest_carried
    }

    /// Whether its cases go through indices.
    pub fn has_walks(&self) -> bool {
        self.walks
    }

    /// What a method that is still to be chosen may become.
    pub fn alternatives(&self, params: &Params) -> Vec<Params> {
        (self.alternatives)(self.name, params)
    }

    /// What its own parallel model moves.
    pub fn speed_of_light(&self) -> Option<SpeedOfLight> {
        self.speed_of_light
    }

    /// The case with these parameters.
    ///
    /// # Errors
    /// What is wrong with which key, and cases that do not exist.
    pub fn case(&self, params: &Params, seed: u64) -> Result<Box<dyn Problem>, Refusal> {
        (self.read)(self.name, params, seed)
    }

    /// What the case with these parameters does to memory.
    ///
    /// # Errors
    /// As [`case`](Primitive::case).
    pub fn work(&self, params: &Params) -> Result<Work, Refusal> {
        self.case(params, 0).map(|case| case.work())
    }
}

/// A plan's case, typed.
///
/// # Errors
/// As [`Primitive::case`], and a primitive that does not exist, in words.
pub fn problem(case: &Case) -> Result<Box<dyn Problem>, String> {
    let primitive = find(&case.primitive).ok_or_else(|| format!("no primitive {}", case.primitive))?;
    primitive.case(&case.params, case.seed).map_err(|refused| refused.to_string())
}
