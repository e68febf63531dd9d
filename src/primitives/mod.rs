//! The primitives: their definitions, parameters and accesses (pure), and beside
//! them their implementations, which the engine alone imports.

pub mod atop_scan;
mod copies;
mod cpu;
pub mod cuda;
pub mod gather_scatter;
mod groups;
pub mod histogram;
pub mod multisplit;
mod oracle;
pub mod pattern;
pub mod random_access;
pub mod range;
mod registry;
pub mod scan;
pub mod stream;
mod walk;
#[cfg(test)]
mod words;

use crate::case::schema::Param;
use crate::case::{Fault, Light, Near, Params, Refusal, Value, Walk, Work};
pub use copies::{alternatives, check, held, work};
pub use registry::{find, registry};
pub use walk::walks;

/// An operation with a mathematical definition: its pure half.
pub trait Primitive: Sync {
    /// Name in recipes and in the registry.
    fn name(&self) -> &'static str;

    /// The definition in one line.
    fn summary(&self) -> &'static str;

    /// Accepted parameters, `method` among them where there is more than one.
    fn params(&self) -> &'static [Param];

    /// Full keys of the methods' names, for the registry's completeness test.
    fn methods(&self) -> &'static [&'static str];

    /// The parameters with those that follow from them and that a recipe may leave out.
    fn completed(&self, params: Params) -> Params {
        params
    }

    /// Most indices of a file that a case carries in its parameters, as
    /// `….file.indices`; `None` where the engine opens the file itself.
    fn longest_carried(&self) -> Option<u64> {
        None
    }

    /// Whether its cases go through indices, so that there are [`walks`](Primitive::walks).
    fn has_walks(&self) -> bool {
        false
    }

    /// The ways through memory of a case, each of at most `most` indices; none for a
    /// primitive without indices. `stored` gives the array with a hash.
    ///
    /// # Errors
    /// A case that does not exist, and indices that would take too long to make.
    fn walks(
        &self,
        _params: &Params,
        _seed: u64,
        _most: u64,
        _stored: &dyn Fn(&str) -> Result<Vec<u64>, String>,
    ) -> Result<Vec<Walk>, String> {
        Ok(Vec::new())
    }

    /// What a method that is still to be chosen may become: the parameters with each method in
    /// its place, the simplest first. Nothing where the method is not open.
    fn alternatives(&self, _params: &Params) -> Vec<Params> {
        Vec::new()
    }

    /// Checks what no single parameter can know, and says what the case does to
    /// memory. Never allocates in proportion to the case.
    fn work(&self, params: &Params) -> Result<Work, Refusal>;

    /// What its own parallel model moves, where a paper has one: a ceiling of all its methods.
    fn light(&self) -> Option<Light> {
        None
    }

    /// Blocks of threads that an execution starts on a GPU, one after another in the order of
    /// addresses; `None` where there are no more than are at work at once, where it takes several
    /// launches, and on processors. Pure; what is open is what the kernels would choose.
    fn blocks(&self, _params: &Params) -> Option<u64> {
        None
    }

    /// What the blocks of each pass do near the processor on a GPU, in the order of
    /// [`work`](Primitive::work)'s passes; nothing on processors, and where streams and requests say all.
    ///
    /// # Errors
    /// What is not known of a method, so that no model may speak of it: to follow `n/a: `.
    fn near(&self, _params: &Params) -> Result<Vec<Near>, String> {
        Ok(Vec::new())
    }

    /// Compares an implementation's whole output, as
    /// [`Prepared::read_back`](crate::device::Prepared::read_back) returns it, with
    /// the sequential oracle. For small cases: host memory, one thread.
    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String>;

    /// Whether this mistake can show in the result at all. Where several writers meet, any
    /// of their values is right, and one that is missing hides behind the others.
    fn shows(&self, _params: &Params, _fault: Fault) -> bool {
        true
    }

    /// Further columns that this primitive adds to a record (a pattern's class …).
    fn annotations(&self, _params: &Params) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}
