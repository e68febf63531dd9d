//! The methods of sort, each in a file that states what it does, its passes over memory and its code for each device.

mod bitonic;
mod block;
pub mod he2007_msd;
mod library;
mod lsd;
mod msd;
mod multisplit_lsd;
pub mod onesweep;
mod quicksort;
pub(crate) mod split_radix;

use super::{Key, Spec};
use crate::case::table::{choice, count, words};
use crate::case::{Params, Refusal, Value};
use crate::primitives::{Costs, OF_CPUS, OF_GPUS, auto_candidates};

choice! {
    /// How the keys are sorted.
    #[derive(Eq)]
    pub enum Method {
        /// ours: on GPUs block for at most 2^13 keys, if it takes at most 64 KiB of shared memory, and onesweep otherwise; on
        /// CPUs msd
        Best = "best",
        /// GPUs: one histogram of all digits, then one pass per digit of 8 bits, which reads and writes each key once;
        /// a digit that is the same in all keys takes no pass; with 2^22 keys or more, blocks have 128 KiB of shared
        /// memory
        Onesweep = "onesweep" main "tile" {
            /// keys that a block orders at once: 2,048 (small), about 4,096 to 8,192 (medium), up to 16,384 (large);
            /// auto: the more keys, the larger
            tile: Tile = "auto",
        },
        /// GPUs: one block reads all keys, splits them in shared memory by each digit of 8 bits, the lowest first, and writes
        /// them; a digit that is the same in all keys is skipped; at most 8,192 keys
        Block = "block",
        /// CPUs: a stable split by each digit of 8 bits, the lowest first, with write combining
        Lsd = "lsd",
        /// CPUs: one split of all keys by their highest digit, with write combining unless the workers' L2 caches hold keys
        /// and values; then each worker sorts parts that fit in its cache, digit by digit or, with AVX-512, by networks that
        /// sort about 200 keys (32 bits of them, or 24 with their places); if one part has more than 2^14 keys and more than
        /// a worker's share, all keys are sorted as by lsd
        Msd = "msd",
        /// one multisplit of all keys per digit, the lowest first (ashkiani2017 §7.1): by bms or fused on GPUs, by
        /// write-combining on CPUs
        MultisplitLsd = "multisplit-lsd" main "radix" {
            /// bits per digit; the last digit has the bits that remain
            radix: u64 [count(1, 8)] = "7",
            /// GPUs: the method of the multisplits
            by: Splits = "bms",
            /// how GPUs compute a key's digit ⌊u / 2^kr⌋ mod 2^r: by a shift or, with bms only, by an integer division
            /// like that of the paper's delta-buckets
            found: Found = "shift",
        },
        /// a stable split by each bit, the lowest first (sengupta2007 §5)
        SplitRadix = "split-radix" main "scope" {
            /// global: all keys are split, bit by bit; block: tiles that fit in a block's shared memory (CPUs: in a
            /// cache) are split, and pairs of sorted runs are then merged by merge path (the paper merges bitonically)
            scope: Scope = "global",
        },
        /// tiles like those of split-radix are sorted in passes of segmented scans that split every segment by its
        /// first key, and then merged (sengupta2007 §4.1)
        Quicksort = "quicksort" main "passes" {
            /// maximum number of passes; a tile that is not in order by then is sorted by splits
            passes: u64 [count(1, 1 << 16)] = "128",
        },
        /// he2007 §4.1: each phase splits every part by its next highest bits, with a histogram in one-byte counters
        /// per thread, a prefix sum and a multi-pass scatter, until parts have at most 4096 keys. GPUs sort these parts
        /// by bitonic sort in shared memory; on CPUs each thread sorts its share this way, its parts digit by digit in
        /// cache, and all threads merge the shares
        He2007Msd = "he2007-msd" {
            /// bits per phase; unset: as in the paper, 5 on GPUs and 6 on CPUs
            bits: Option<u64> [count(1, 8)] = unset,
            /// GPUs: passes of each scatter, one for each chunk of the output; 1: no division into chunks
            passes: u64 [count(1, 64)] = "4",
            /// CPUs: cache: phases have so few bits that the write positions of all parts stay in cache; none: a single
            /// phase has the bits of all phases
            optimised: Optimised = "cache",
        },
        /// a bitonic sorting network over all keys, in cache or shared memory where its spans fit; equal keys are
        /// compared by their places, and values are gathered at the end
        Bitonic = "bitonic",
        /// CPUs: the standard library's unstable sort, of keys without values, by one thread
        Library = "library",
        /// GPUs: the method that the model `sector` predicts to be fastest, from the device's profile: block, onesweep, or
        /// multisplit-lsd with digits of 4 to 8 bits
        Auto = "auto",
    }
}

words! {
    /// The size of a tile.
    pub enum Tile {
        Auto = "auto",
        Small = "small",
        Medium = "medium",
        Large = "large",
    }
}

words! {
    /// The method of a sort's multisplits on GPUs.
    pub enum Splits {
        Bms = "bms",
        Fused = "fused",
    }
}

words! {
    /// How a multisplit finds the digit of a key.
    pub enum Found {
        Shift = "shift",
        Division = "division",
    }
}

words! {
    /// The keys that are split at once.
    pub enum Scope {
        Global = "global",
        Block = "block",
    }
}

words! {
    /// The optimisation of he2007's sort on CPUs.
    pub enum Optimised {
        Cache = "cache",
        None = "none",
    }
}

/// The method that `best` stands for on GPUs, unless one block holds the keys, and `auto` until a model has chosen.
pub const ONESWEEP: Method = Method::Onesweep { tile: Tile::Auto };

/// The method that is executed.
///
/// # Errors
/// `auto` on processors.
pub fn chosen(spec: &Spec) -> Result<Method, Refusal> {
    Ok(match spec.asked {
        Method::Best if spec.backend.is_cuda() && block::suits(spec) => Method::Block,
        Method::Best | Method::Auto if spec.backend.is_cuda() => ONESWEEP,
        Method::Auto if spec.backend.is_cpu() => {
            let reason = "no model predicts the sorts of CPUs; best is msd there";
            return Err(Refusal::NotApplicable(reason.to_owned()));
        }
        Method::Best => Method::Msd,
        asked => asked,
    })
}

/// The parameters with each method that `auto` may become, the simplest first.
pub fn candidates(params: &Params) -> Vec<Params> {
    let splits = (4..=8).map(|radix| ("multisplit-lsd", vec![("radix", radix)]));
    let methods = ["block", "onesweep"].map(|method| (method, vec![])).into_iter().chain(splits);
    let runs = |spec: &Spec| spec.method != Method::Block || block::suits(spec);
    auto_candidates(params, methods, |params| Spec::from_params(params, 0).is_ok_and(|spec| runs(&spec)))
}

/// The reason why a case does not exist; `None` if it does.
pub fn refusal(spec: &Spec) -> Option<&'static str> {
    match spec.method {
        Method::Block | Method::Onesweep { .. } if spec.backend.is_cpu() => Some(OF_GPUS),
        Method::Block if spec.keys > block::MOST => Some(block::TOO_MANY),
        Method::Lsd | Method::Msd | Method::Library if spec.backend.is_cuda() => Some(OF_CPUS),
        Method::MultisplitLsd { .. } if spec.key == Key::U64 && spec.backend.is_cuda() => {
            Some("the multisplits of GPUs take u32 keys")
        }
        Method::MultisplitLsd { by, found: Found::Division, .. }
            if by != Splits::Bms || spec.backend.is_cpu() =>
        {
            Some("only bms on GPUs can find digits by division")
        }
        Method::Library if spec.value() > 0 || spec.digits(8).is_field(8 * spec.key_bytes()) => {
            Some("the standard library's sort takes only whole keys without values")
        }
        _ => None,
    }
}

/// The value that a method has chosen for its open parameter.
pub fn resolved(spec: &Spec) -> Option<(String, Value)> {
    match spec.method {
        Method::Onesweep { .. } if spec.backend.is_cuda() => {
            let size = onesweep::Shape::of(spec).size().to_owned();
            Some(("method.onesweep.tile".to_owned(), Value::Text(size)))
        }
        Method::He2007Msd { bits: None, .. } => {
            let bits = he2007_msd::Phases::of(spec).bits;
            Some(("method.he2007-msd.bits".to_owned(), Value::Int(bits.into())))
        }
        _ => None,
    }
}

/// The costs of a case by its method.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match spec.method {
        Method::Best | Method::Auto | Method::Onesweep { .. } => onesweep::costs(spec),
        Method::Block => block::costs(spec),
        Method::Lsd => lsd::costs(spec),
        Method::Msd => msd::costs(spec),
        Method::MultisplitLsd { radix, by, found } => multisplit_lsd::costs(spec, radix, by, found),
        Method::SplitRadix { scope } => split_radix::costs(spec, scope),
        Method::Quicksort { .. } => quicksort::costs(spec),
        Method::He2007Msd { passes, optimised, .. } => he2007_msd::costs(spec, passes, optimised),
        Method::Bitonic => bitonic::costs(spec),
        Method::Library => library::costs(spec),
    }
}

/// True if a method moves keys, or their places, between the input and the output by way of arrays as large as these.
pub fn uses_between(spec: &Spec) -> bool {
    match spec.method {
        Method::Block | Method::Library => false,
        Method::Bitonic => spec.value() > 0,
        _ => true,
    }
}

/// The methods on processors.
pub mod cpu {
    use super::{Method, bitonic, he2007_msd, library, lsd, msd, multisplit_lsd, quicksort, split_radix};
    use crate::primitives::of_gpus;
    use crate::primitives::sort::cpu::prelude::*;

    /// The method of a case.
    ///
    /// # Errors
    /// Missing memory, and a method of GPUs.
    pub fn method(made: &Made) -> Result<PoolMethod<Sort>, Failure> {
        match made.spec.method {
            Method::Lsd => lsd::cpu::method(made),
            Method::Msd => msd::cpu::method(made),
            Method::MultisplitLsd { radix, .. } => multisplit_lsd::cpu::method(made, radix),
            Method::SplitRadix { scope } => split_radix::cpu::method(made, scope),
            Method::Quicksort { passes } => quicksort::cpu::method(made, passes),
            Method::He2007Msd { .. } => he2007_msd::cpu::method(made),
            Method::Bitonic => Ok(bitonic::cpu::method(made)),
            Method::Library => Ok(library::cpu::method(made)),
            Method::Best | Method::Auto | Method::Block | Method::Onesweep { .. } => Err(of_gpus()),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, bitonic, block, he2007_msd, multisplit_lsd, onesweep, quicksort, split_radix};
    use crate::primitives::of_cpus;
    use crate::primitives::sort::cuda::prelude::*;

    /// The kernels that an execution launches on a GPU of this generation.
    ///
    /// # Errors
    /// A method of processors; those of a multisplit's parameters.
    pub fn kernels(spec: &Spec, capability: ComputeCapability) -> Result<KernelList, Failure> {
        match spec.method {
            Method::Best | Method::Auto | Method::Onesweep { .. } => {
                Ok(onesweep::cuda::kernels(spec, capability))
            }
            Method::Block => Ok(block::cuda::kernels(spec)),
            Method::MultisplitLsd { radix, by, .. } => {
                multisplit_lsd::cuda::kernels(spec, radix, by, capability)
            }
            Method::SplitRadix { scope } => Ok(split_radix::cuda::kernels(spec, scope)),
            Method::Quicksort { .. } => Ok(quicksort::cuda::kernels(spec)),
            Method::He2007Msd { passes, .. } => Ok(he2007_msd::cuda::kernels(spec, passes)),
            Method::Bitonic => Ok(bitonic::cuda::kernels(spec)),
            Method::Lsd | Method::Msd | Method::Library => Err(of_cpus()),
        }
    }

    /// The method of a case.
    ///
    /// # Errors
    /// A method of processors, a GPU that cannot execute it, missing memory, and those of the driver.
    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Call>, Failure> {
        match spec.method {
            Method::Best | Method::Auto | Method::Onesweep { .. } => onesweep::cuda::method(gpu, spec),
            Method::Block => block::cuda::method(gpu, spec),
            Method::MultisplitLsd { radix, by, found } => {
                multisplit_lsd::cuda::method(gpu, spec, radix, by, found)
            }
            Method::SplitRadix { scope } => split_radix::cuda::method(gpu, spec, scope),
            Method::Quicksort { passes } => quicksort::cuda::method(gpu, spec, passes),
            Method::He2007Msd { passes, .. } => he2007_msd::cuda::method(gpu, spec, passes),
            Method::Bitonic => bitonic::cuda::method(gpu, spec),
            Method::Lsd | Method::Msd | Method::Library => Err(of_cpus()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use crate::primitives::words::params;

    /// Multisplits of GPUs take keys of 32 bits.
    #[test]
    fn auto_is_chosen_among_the_methods_of_gpus() {
        let methods = |words: &str| {
            let all = candidates(&params(words)).into_iter();
            all.map(|params| params.text("method").unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        let splits = ["multisplit-lsd"; 5];
        assert_eq!(
            methods("keys=4 method=auto backend=cuda"),
            [&["block", "onesweep"][..], &splits].concat()
        );
        assert_eq!(methods("keys=8193 method=auto backend=cuda"), [&["onesweep"][..], &splits].concat());
        assert_eq!(methods("keys=4 key=u64 method=auto backend=cuda"), ["block", "onesweep"]);
        assert!(methods("keys=4 backend=cuda").is_empty());
    }

    #[test]
    fn best_becomes_a_method() {
        let method = |words: &str| spec(words).method;
        assert_eq!(method("keys=4096 backend=cuda key=u64"), Method::Block);
        assert_eq!(method("keys=2048 backend=cuda key=u64 values=8B"), Method::Block);
        assert_eq!(method("keys=8192 backend=cuda"), Method::Block);
        // 74 KiB of shared memory, and 82.
        assert_eq!(method("keys=2049 backend=cuda key=u64 values=8B"), ONESWEEP);
        assert_eq!(method("keys=4097 backend=cuda values=4B"), ONESWEEP);
        assert_eq!(method("keys=8193 backend=cuda"), ONESWEEP);
        assert_eq!(method("keys=1 backend=cpu"), Method::Msd);
        assert_eq!(method("keys=65537 backend=scalar"), Method::Msd);
        assert_eq!(method("keys=4 method=lsd"), Method::Lsd);
    }
}
