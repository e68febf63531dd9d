//! The primitives: their definitions, parameters and accesses (pure), and next to them their implementations,
//! which only the engine imports.
//!
//! A primitive is one row in each of two lists: [`registry()`] has its definition, which is all that recipes,
//! models and reports see of it; [`implementations`] has the code that computes it.

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

/// Fetches the stored array of indices with a given hash.
pub type Stored<'a> = &'a dyn Fn(&str) -> Result<Vec<u64>, String>;

/// A case of a primitive, typed: it describes the case's data, but never holds them. Pure.
pub trait Problem {
    /// The memory accesses of the case. Never allocates in proportion to the case.
    fn work(&self) -> Work;

    /// Compares an implementation's whole output, as returned by
    /// [`Prepared::read_back`](crate::device::Prepared::read_back), with the sequential oracle. For small
    /// cases: it uses host memory and one thread.
    ///
    /// # Errors
    /// Describes the first mistake.
    fn check(&self, output: &[u8]) -> Result<(), String>;

    /// Whether the case's method is still to be chosen.
    fn open(&self) -> bool {
        false
    }

    /// The values chosen for open parameters, for the record: full keys and values.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// The number of thread blocks that an execution starts on a GPU one after another, in address order.
    /// `None` on processors, for several launches, and if no more blocks are launched than are resident at
    /// once. Open tunables have the values that the kernels would choose.
    fn blocks(&self) -> Option<u64> {
        None
    }

    /// On-chip work of the blocks of each pass on a GPU, in the order of [`work`](Problem::work)'s passes.
    /// Empty on processors, and if streams and requests already describe the case completely.
    ///
    /// # Errors
    /// States what is unknown about a method, so that no model may predict it; the text follows `n/a: `.
    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(Vec::new())
    }

    /// Whether this fault can show in the result at all. Where several writers meet, any of their values is
    /// right, and a missing one hides behind the others.
    fn fault_is_detectable(&self, _fault: Fault) -> bool {
        true
    }

    /// Additional columns that this primitive adds to a record (a pattern's class …).
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// The index sequences of the case, each of at most `most` indices; none for a primitive without indices.
    ///
    /// # Errors
    /// Indices that would take too long to generate, or that are not stored.
    fn walks(&self, _most: u64, _stored: Stored) -> Result<Vec<Walk>, String> {
        Ok(Vec::new())
    }
}

/// An operation with a mathematical definition: its cases and its names.
pub trait Definition: Problem + Sized + 'static {
    /// The rows in the registry: one, or several if primitives share most of their definition.
    const PRIMITIVES: &'static [Primitive];

    /// Reads a case of the primitive called `name`, and checks the constraints between parameters.
    ///
    /// # Errors
    /// Names the key and what is wrong with it, or marks a case that does not exist.
    fn read(name: &str, params: &Params, seed: u64) -> Result<Self, Refusal>;

    /// Refuses tunables that the kernels of a GPU do not offer.
    ///
    /// # Errors
    /// `n/a`, with the tunables that they do offer.
    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &Offered::FETCH).map(drop)
    }

    /// The typed case of a plan's case.
    ///
    /// # Errors
    /// Those of [`read`](Definition::read).
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

/// Reads a case of the primitive with the given name.
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

    /// Adds the traffic of the primitive's own parallel model, if a paper gives one: a ceiling for all its
    /// methods.
    pub const fn with_speed_of_light(self, speed_of_light: SpeedOfLight) -> Primitive {
        Primitive { speed_of_light: Some(speed_of_light), ..self }
    }

    /// Declares that cases go through indices, so that they have [`walks`](Problem::walks).
    pub const fn with_walks(self) -> Primitive {
        Primitive { walks: true, ..self }
    }

    /// Sets the maximum number of a file's indices that a case carries in its parameters, as `….file.indices`;
    /// the engine opens longer files itself.
    pub const fn carrying(self, longest: u64) -> Primitive {
        Primitive { longest_carried: Some(longest), ..self }
    }

    /// Sets the function that adds the parameters that follow from others and that a recipe may omit.
    pub const fn completed_by(self, completed: fn(Params) -> Params) -> Primitive {
        Primitive { completed, ..self }
    }

    /// Sets the candidates for an open method: the parameters with each method in its place, the simplest
    /// first; empty if the method is not open.
    pub const fn choosing(self, alternatives: fn(&str, &Params) -> Vec<Params>) -> Primitive {
        Primitive { alternatives, ..self }
    }

    /// The primitive's name in recipes and in the registry.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The primitive's definition in one line.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// The accepted parameters.
    pub fn params(&self) -> &'static [Param] {
        self.params
    }

    /// The names of the primitive's methods.
    pub fn methods(&self) -> Vec<&'static str> {
        let method = self.params.iter().find(|param| param.name == "method");
        match method.map(|param| param.kind) {
            Some(Kind::Choice(variants)) => variants.iter().map(|variant| variant.name).collect(),
            _ => Vec::new(),
        }
    }

    /// Adds the parameters that follow from others and that a recipe may omit.
    pub fn completed(&self, params: Params) -> Params {
        (self.completed)(params)
    }

    /// The maximum number of a file's indices that a case carries in its parameters; `None` if the engine opens
    /// the file itself.
    pub fn longest_carried(&self) -> Option<u64> {
        self.longest_carried
    }

    /// Whether the primitive's cases go through indices.
    pub fn has_walks(&self) -> bool {
        self.walks
    }

    /// The candidates for a method that is still to be chosen.
    pub fn alternatives(&self, params: &Params) -> Vec<Params> {
        (self.alternatives)(self.name, params)
    }

    /// The traffic of the primitive's own parallel model.
    pub fn speed_of_light(&self) -> Option<SpeedOfLight> {
        self.speed_of_light
    }

    /// The case with these parameters.
    ///
    /// # Errors
    /// Names the key and what is wrong with it, or marks a case that does not exist.
    pub fn case(&self, params: &Params, seed: u64) -> Result<Box<dyn Problem>, Refusal> {
        (self.read)(self.name, params, seed)
    }

    /// The memory accesses of the case with these parameters.
    ///
    /// # Errors
    /// Those of [`case`](Primitive::case).
    pub fn work(&self, params: &Params) -> Result<Work, Refusal> {
        self.case(params, 0).map(|case| case.work())
    }
}

/// The typed case of a plan's case.
///
/// # Errors
/// Those of [`Primitive::case`], as text, and a primitive that does not exist.
pub fn problem(case: &Case) -> Result<Box<dyn Problem>, String> {
    let primitive = find(&case.primitive).ok_or_else(|| format!("no primitive {}", case.primitive))?;
    primitive.case(&case.params, case.seed).map_err(|refused| refused.to_string())
}
