//! The definition of a primitive: a case's meaning ([`Problem`]), how its parameters are read ([`Definition`]), and its entry
//! in the registry ([`Primitive`]).

use std::fmt;

use crate::case::schema::{Kind, Param};
use crate::case::table::{Described, Field};
use crate::case::tuning::{Offered, Tuning};
use crate::case::work::Pass;
use crate::case::{
    BlockCost, Case, Failure, Fault, Params, Ranking, Refusal, SpeedOfLight, Value, Walk, Work,
};
use crate::inputs::sparse::Positions;

/// Looks up an index array of the user by its [`hash`](crate::inputs::arrays::hash).
pub type IndexLookup<'a> = &'a dyn Fn(&str) -> Result<Vec<u64>, String>;

/// A [`Case`] whose parameters are read into a primitive's own type and checked. It describes the case's arrays,
/// but never holds them. Pure.
pub trait Problem {
    /// The memory accesses of the case. Never allocates memory in proportion to the size of the case's arrays.
    fn work(&self) -> Work;

    /// Compares an implementation's whole output, as returned by
    /// [`Prepared::read_back`](crate::device::Prepared::read_back), with the sequential oracle. For small
    /// cases: it uses host memory and, but for the making of a matrix, one thread.
    ///
    /// # Errors
    /// Describes the first mistake.
    fn check(&self, output: &[u8]) -> Result<(), String>;

    /// Bytes of host memory that the oracle examines, where that is more than the case's arrays.
    fn examined(&self) -> u64 {
        0
    }

    /// True if the case's method is `auto`, so that it must be chosen before the case can run.
    fn open(&self) -> bool {
        false
    }

    /// The values chosen for open parameters, for the record: full keys and values.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// The number of thread blocks of an execution's only kernel launch, if a GPU starts them one after another,
    /// in address order. `None` on CPUs, for several launches, and if no more blocks are launched than are
    /// resident at once. Open tunables count with the values that the kernels would choose.
    fn blocks(&self) -> Option<u64> {
        None
    }

    /// On-chip work of the thread blocks in each pass on a GPU (instructions, shared memory), in the order of
    /// [`work`](Problem::work)'s passes. Empty on CPUs, and if the memory accesses alone describe the case.
    ///
    /// # Errors
    /// States what is unknown about a method, so that no model may predict it; the text follows `n/a: `.
    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(Vec::new())
    }

    /// The keys that the case ranks on chip, if a kernel of its method can measure that alone. `None` for inputs of which a
    /// rate measured with random keys says nothing.
    fn ranking(&self) -> Option<Ranking> {
        None
    }

    /// True if the elements are visited in an order other than their sequence, which certificates then prove.
    fn is_ordered(&self) -> bool {
        false
    }

    /// Why what timed executions leave cannot show this fault; the certificate must, by executions of its own. `None`: it
    /// must show.
    fn unjudged(&self, _fault: Fault) -> Option<&'static str> {
        None
    }

    /// Why nothing at all can show this fault, although the oracle's output has more than the case's own result; `None`: the
    /// certificate must.
    fn uncertified(&self, _fault: Fault) -> Option<&'static str> {
        None
    }

    /// Names and values of columns that this primitive adds to a case's record, such as the class of a pattern.
    fn annotations(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }

    /// Findings of executions beside their times, in words for a case that is finished, such as an eigenvalue and whether
    /// a benchmark accepts it.
    fn findings(&self, _found: &[(String, Value)]) -> Option<String> {
        None
    }

    /// The name of the input in host memory that cases share ([`Shared`](crate::inputs::shared::Shared)); `None` for a case
    /// that has none, because its inputs are made where they are used.
    fn shared_input(&self) -> Option<String> {
        None
    }

    /// The index sequences of the case, each cut after `most` indices; none for a primitive without indices.
    ///
    /// # Errors
    /// Indices that would take too long to generate, or that `stored` does not find.
    fn walks(&self, _most: u64, _stored: IndexLookup) -> Result<Vec<Walk>, String> {
        Ok(Vec::new())
    }

    /// Where the case's sparse matrix, or the adjacency matrix of its graph, has entries; `None` for a primitive without
    /// one.
    ///
    /// # Errors
    /// A matrix that would take too long to look at, or that `stored` does not find.
    fn positions(&self, _stored: IndexLookup) -> Result<Option<Positions>, String> {
        Ok(None)
    }
}

/// A value that is computed when it is asked for.
type Deferred<'a, T> = Box<dyn FnOnce() -> T + 'a>;

/// The costs of a case by its method. What takes a sample of the inputs, and with it milliseconds, is computed when it is asked
/// for (`of_sampled`, `blocks_sampled`).
pub struct Costs<'a> {
    passes: Deferred<'a, Vec<Pass>>,
    /// Bytes of the arrays, as large as a part of the input, that the method uses beside the inputs and the results. Tables of a
    /// few counts are left out.
    pub own_bytes: u64,
    blocks: Deferred<'a, Result<Vec<BlockCost>, String>>,
}

impl<'a> Costs<'a> {
    /// Passes without arrays of the method's own, which the accesses to memory describe.
    pub fn of(passes: Vec<Pass>) -> Costs<'a> {
        Costs::of_sampled(|| passes)
    }

    /// Passes that are computed from a sample of the inputs, without arrays of the method's own.
    pub fn of_sampled(passes: impl FnOnce() -> Vec<Pass> + 'a) -> Costs<'a> {
        Costs { passes: Box::new(passes), own_bytes: 0, blocks: Box::new(|| Ok(Vec::new())) }
    }

    /// Adds arrays of the method's own, of so many bytes.
    pub fn beside(self, own_bytes: u64) -> Costs<'a> {
        Costs { own_bytes, ..self }
    }

    /// Adds the work of blocks in each pass.
    pub fn blocks(self, blocks: impl IntoIterator<Item = BlockCost, IntoIter: 'a>) -> Costs<'a> {
        let blocks = blocks.into_iter();
        self.blocks_sampled(|| Ok(blocks.collect()))
    }

    /// Adds the work of blocks in each pass, which takes a sample of the inputs, or what is unknown about it.
    pub fn blocks_sampled(self, blocks: impl FnOnce() -> Result<Vec<BlockCost>, String> + 'a) -> Costs<'a> {
        Costs { blocks: Box::new(blocks), ..self }
    }

    /// States what is unknown about the work of blocks.
    pub fn unknown(self, why: impl Into<String>) -> Costs<'a> {
        let why = why.into();
        self.blocks_sampled(|| Err(why))
    }

    /// Puts passes before those of the method. Their accesses to memory alone describe the passes in front.
    pub fn after(self, first: Vec<Pass>) -> Costs<'a> {
        let (Costs { passes, own_bytes, blocks }, none) = (self, vec![BlockCost::default(); first.len()]);
        Costs {
            passes: Box::new(|| [first, passes()].concat()),
            own_bytes,
            blocks: Box::new(|| {
                let blocks = blocks()?;
                Ok(if blocks.is_empty() { blocks } else { [none, blocks].concat() })
            }),
        }
    }

    /// The passes over memory, in order.
    pub fn passes(self) -> Vec<Pass> {
        (self.passes)()
    }

    /// On-chip work of blocks in each pass on a GPU, or in none ([`Problem::block_costs`]).
    ///
    /// # Errors
    /// States what is unknown about the method.
    pub fn block_costs(self) -> Result<Vec<BlockCost>, String> {
        (self.blocks)()
    }
}

/// Reasons why a backend does not have a method.
pub const OF_CPUS: &str = "a method of CPUs";
pub const OF_GPUS: &str = "a method of GPUs";

/// The refusal of a method that only CPUs have.
pub fn of_cpus() -> Failure {
    Failure::NotApplicable(OF_CPUS.to_owned())
}

/// The refusal of a method that only GPUs have.
pub fn of_gpus() -> Failure {
    Failure::NotApplicable(OF_GPUS.to_owned())
}

/// The type of the cases of one primitive, or of several that share most of their definition.
pub trait Definition: Problem + Sized + 'static {
    /// The entries in the registry, one per primitive.
    const PRIMITIVES: &'static [Primitive];

    /// Reads a case of the primitive called `name`, and checks the constraints between parameters.
    ///
    /// # Errors
    /// Names the key and what is wrong with it, or states that this combination does not exist
    /// ([`Refusal::NotApplicable`]).
    fn read(name: &str, params: &Params, seed: u64) -> Result<Self, Refusal>;

    /// Checks that the primitive's CUDA kernels have the tunables ([`Tuning`]) that the parameters set.
    ///
    /// # Errors
    /// [`Refusal::NotApplicable`], with the tunables that they do have.
    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &Offered::FETCH).map(drop)
    }

    /// Reads the parameters of a plan's case into this type.
    ///
    /// # Errors
    /// Those of [`tunables`](Definition::tunables) and [`read`](Definition::read).
    fn of(case: &Case) -> Result<Self, Refusal> {
        read(&case.primitive, &case.params, case.seed)
    }
}

/// A parameter that a recipe states and a case has otherwise or not at all, as the path of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elsewhere;

impl Described for Elsewhere {
    const KIND: Kind = Kind::Text;
}

impl Field for Elsewhere {
    fn read(_params: &Params, _key: &str, _row: &Param) -> Result<Elsewhere, Refusal> {
        Ok(Elsewhere)
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

/// A primitive's entry in the registry.
pub struct Primitive {
    name: &'static str,
    summary: &'static str,
    params: &'static [Param],
    read: Read,
    speed_of_light: Option<SpeedOfLight>,
    walks: bool,
    matrix: bool,
    flops_per_element: Option<u64>,
    inline_index_limit: Option<u64>,
    completed: fn(Params) -> Params,
    method_candidates: fn(&str, &Params) -> Vec<Params>,
    version: fn(&Params) -> u32,
}

impl fmt::Debug for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Primitive {
    /// The primitive of this name in recipes, its definition in one line, and its parameters, `method` among
    /// them.
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
            matrix: false,
            flops_per_element: None,
            inline_index_limit: None,
            completed: |params| params,
            method_candidates: |_, _| Vec::new(),
            version: |_| 1,
        }
    }

    /// Adds the bytes that an ideal parallel method of the primitive moves, according to a paper: at the copy
    /// rate they give an upper limit for all its methods.
    pub const fn with_speed_of_light(self, speed_of_light: SpeedOfLight) -> Primitive {
        Primitive { speed_of_light: Some(speed_of_light), ..self }
    }

    /// Declares that cases access memory through indices, so that they have [`walks`](Problem::walks).
    pub const fn with_walks(self) -> Primitive {
        Primitive { walks: true, ..self }
    }

    /// Declares that cases have a sparse matrix, with [`positions`](Problem::positions).
    pub const fn with_matrix(self) -> Primitive {
        Primitive { matrix: true, ..self }
    }

    /// Declares how many floating-point operations count for each of the elements of a case's work.
    pub const fn with_flops_per_element(self, flops: u64) -> Primitive {
        Primitive { flops_per_element: Some(flops), ..self }
    }

    /// Lets a case carry the indices of a user's file in its parameters, as `….file.indices`, up to this number;
    /// longer files are opened by the engine.
    pub const fn with_inline_index_limit(self, longest: u64) -> Primitive {
        Primitive { inline_index_limit: Some(longest), ..self }
    }

    /// Sets the function behind [`completed`](Primitive::completed).
    pub const fn with_derived_params(self, completed: fn(Params) -> Params) -> Primitive {
        Primitive { completed, ..self }
    }

    /// Sets the function behind [`method_candidates`](Primitive::method_candidates). It returns the parameters once for
    /// each candidate method, the simplest first, and nothing if the method is not `auto`.
    pub const fn with_method_candidates(
        self,
        method_candidates: fn(&str, &Params) -> Vec<Params>,
    ) -> Primitive {
        Primitive { method_candidates, ..self }
    }

    /// Sets the function behind [`version`](Primitive::version).
    pub const fn with_version(self, version: fn(&Params) -> u32) -> Primitive {
        Primitive { version, ..self }
    }

    /// The version of these cases' definition, which is part of their identities: counted on when the meaning of a
    /// parameter, the inputs or the result change.
    pub fn version(&self, params: &Params) -> u32 {
        (self.version)(params)
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

    /// Adds the parameters that a recipe may omit because others determine them: `tuples`, for example, follows
    /// from the largest of the user's indices.
    pub fn completed(&self, params: Params) -> Params {
        (self.completed)(params)
    }

    /// The most indices of a user's file that a case carries in its parameters; `None` if the engine opens files
    /// of any length.
    pub fn inline_index_limit(&self) -> Option<u64> {
        self.inline_index_limit
    }

    /// True if the primitive's cases access memory through indices.
    pub fn has_walks(&self) -> bool {
        self.walks
    }

    /// Floating-point operations that count for each element; `None` if the primitive counts none.
    pub fn flops_per_element(&self) -> Option<u64> {
        self.flops_per_element
    }

    /// True if the primitive's cases have a sparse matrix.
    pub fn has_matrix(&self) -> bool {
        self.matrix
    }

    /// The parameters once for each method that `auto` may become; empty if the method is not `auto`.
    pub fn method_candidates(&self, params: &Params) -> Vec<Params> {
        (self.method_candidates)(self.name, params)
    }

    /// The bytes that an ideal parallel method moves, if a paper states them.
    pub fn speed_of_light(&self) -> Option<SpeedOfLight> {
        self.speed_of_light
    }

    /// Reads and checks the parameters of a case of this primitive.
    ///
    /// # Errors
    /// Those of [`Definition::tunables`] and [`Definition::read`].
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
