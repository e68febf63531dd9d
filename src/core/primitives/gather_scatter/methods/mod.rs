//! The methods of gather and scatter, each in a file that states what it does, its passes over memory and its code for each
//! device: [`passes`] has he2007's scheme, of which all methods but one are cases; `partitioned` is there for processors, with
//! the [`Cut`] of locations into digits, and in [`levels`] for GPUs.

mod levels;
mod partitioned;
pub mod passes;

pub use partitioned::{Cut, Digit};

use super::{Kernel, Spec};
use crate::case::Params;
use crate::case::table::{choice, count, words};
use crate::primitives::{Costs, auto_candidates};

/// Maximum number of passes over one segment.
pub const MAX_PASSES: u64 = 4096;

choice! {
    /// How it is computed.
    ///
    /// Pass k of `passes` (he2007's nChunk) scans L and handles the tuples whose location is in
    /// [k·n/passes, (k+1)·n/passes) (he2007 §3.4). Segment s of `segments` (he2007's #bin) is tuples
    /// [s·n/segments, (s+1)·n/segments), one after another (he2007 Fig. 10). The work of `Auto` is that of `Direct` until it is
    /// chosen among the `alternatives`.
    #[derive(Eq)]
    pub enum Method {
        /// one scan of L
        Direct = "direct",
        /// one scan of L; R_out is written with non-temporal stores (CPUs)
        Streaming = "streaming",
        /// several scans of L, each moving the tuples of one chunk (he2007 §3.4)
        Multipass = "multipass" {
            /// scans of L, each for one chunk of the randomly accessed array (he2007's nChunk)
            passes: u64 [count(1, MAX_PASSES)],
        },
        /// the multi-pass scheme on each segment of L (he2007 Fig. 10)
        Segmented = "segmented" {
            /// contiguous parts of L, processed one after another (he2007's #bin)
            segments: u64 [count(1, 1 << 40)],
            /// scans of L, each for one chunk of the randomly accessed array (he2007's nChunk)
            passes: u64 [count(1, MAX_PASSES)],
        },
        /// L and R_in are partitioned by the high bits of L; then R_out is written chunk by chunk
        Partitioned = "partitioned" {
            /// number of high bits of a location that select its chunk of R_out; unset: the fewest with which a chunk
            /// fits in fast memory
            bits: Option<u64> [count(1, partitioned::MAX_BITS)] = unset,
            /// number of partitioning passes over those bits; unset: the fewest with which a pass's buffers stay in
            /// fast memory
            passes: Option<u64> [count(1, partitioned::MAX_PASSES)] = unset,
        },
        /// the method that a model predicts to be fastest, from the device's profile
        Auto = "auto" main "model" {
            /// sector: every method is a candidate; he2007: the numbers of passes alone, among which the paper chooses by
            /// its model (§3.4); unset: sector
            model: Option<Chooser> = unset,
        },
    }
}

words! {
    /// The model that chooses a method.
    pub enum Chooser {
        Sector = "sector",
        He2007 = "he2007",
    }
}

impl Method {
    /// Segments and passes of he2007's scheme; one each for methods that move all tuples at once.
    pub fn segments_and_passes(self) -> (u64, u64) {
        match self {
            Method::Direct | Method::Streaming | Method::Partitioned { .. } | Method::Auto { .. } => (1, 1),
            Method::Multipass { passes } => (1, passes),
            Method::Segmented { segments, passes } => (segments, passes),
        }
    }
}

/// The costs of a case by its method.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match &spec.cut {
        None => passes::costs(spec),
        Some(cut) if spec.backend.is_cuda() => levels::costs(spec, cut),
        Some(cut) => partitioned::costs(spec, cut),
    }
}

/// Maximum passes of `multipass` among the alternatives, as log2.
const PASSES: u32 = 6;

/// Segments and passes of the alternatives by `segmented`.
const SEGMENTED: [(u64, u64); 4] = [(4, 4), (4, 16), (16, 4), (16, 16)];

/// The parameters with each method that the case could use, the simplest first: `direct`, 2 to 64 passes,
/// segments, partitions sized by rule; `he2007` chooses among passes alone. Empty if the method is not `auto`. Methods that do
/// not exist for the case (more passes than tuples, no kernels) are omitted.
pub fn alternatives(kernel: Kernel, params: &Params) -> Vec<Params> {
    let multipass = (1..=PASSES).map(|power| ("multipass", vec![("passes", 1 << power)]));
    let segmented = SEGMENTED
        .into_iter()
        .map(|(segments, passes)| ("segmented", vec![("segments", segments), ("passes", passes)]));
    let others = segmented.chain([("partitioned", vec![])]);
    let papers = params.text("method.auto.model") == Some(Chooser::He2007.name());
    let all = [("direct", vec![])].into_iter().chain(multipass).chain(others.filter(|_| !papers));
    let exists = |params: &Params| Spec::from_params(kernel, params, 0).is_ok();
    auto_candidates(params, all, exists)
}

/// The methods on processors.
pub mod cpu {
    use super::{partitioned, passes};
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::gather_scatter::Spec;
    use crate::primitives::gather_scatter::cpu::GatherScatter;

    /// The instruction set of a case that leaves it open.
    pub fn isa(spec: &Spec) -> Isa {
        if spec.cut.is_some() { partitioned::cpu::isa() } else { passes::cpu::isa(spec) }
    }

    /// The method of a case.
    ///
    /// # Errors
    /// Missing memory, a request to stop, and stores that this architecture does not have.
    pub fn method(spec: &Spec, isa: Isa, context: &Context) -> Result<PoolMethod<GatherScatter>, Failure> {
        match &spec.cut {
            None => passes::cpu::method(spec, isa),
            Some(cut) => partitioned::cpu::method(spec, cut, isa, context),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::passes::Span;
    use super::{levels, passes};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::gather_scatter::Spec;
    use crate::primitives::gather_scatter::cuda::Arrays;

    /// The kernels that each launch of an execution takes.
    pub fn kernels(spec: &Spec) -> KernelList {
        match &spec.cut {
            None => passes::cuda::kernels(spec),
            Some(cut) => levels::cuda::kernels(spec, cut),
        }
    }

    /// The method of a case, which handles these spans.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn method(gpu: &Gpu, spec: &Spec, spans: Vec<Span>) -> Result<GpuMethod<Arrays>, Failure> {
        match &spec.cut {
            None => passes::cuda::method(gpu, spec, spans),
            Some(cut) => levels::cuda::method(gpu, spec, cut, spans),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    fn methods(kernel: Kernel, method: &str, tuples: u64) -> Vec<String> {
        let params = Params::default()
            .with("tuples", Value::Int(tuples))
            .with("method", Value::Text(method.to_owned()))
            .with("backend", Value::Text("cpu".to_owned()));
        let told = |params: Params| {
            let words = params.0.iter().filter(|(key, _)| key.starts_with("method"));
            words.map(|(_, value)| value.to_string()).collect::<Vec<_>>().join(" ")
        };
        alternatives(kernel, &params).into_iter().map(told).collect()
    }

    #[test]
    fn what_exists_is_an_alternative() {
        let all = methods(Kernel::Scatter, "auto", 1 << 20);
        assert_eq!(all[..4], ["direct", "multipass 2", "multipass 4", "multipass 8"]);
        assert_eq!((all.len(), all[11].as_str()), (12, "partitioned"));
        assert_eq!(methods(Kernel::Gather, "auto", 1 << 20), all[..11]);
        assert_eq!(methods(Kernel::Scatter, "auto", 3), ["direct", "multipass 2", "partitioned"]);
        assert!(methods(Kernel::Scatter, "direct", 1 << 20).is_empty());
        let papers = Params::default()
            .with("tuples", Value::Int(1 << 20))
            .with("method", Value::Text("auto".to_owned()))
            .with("method.auto.model", Value::Text("he2007".to_owned()))
            .with("backend", Value::Text("cpu".to_owned()));
        let candidates = alternatives(Kernel::Scatter, &papers);
        assert_eq!(candidates.len(), 7);
        assert!(candidates.iter().all(|params| params.get("method.auto.model").is_none()));
    }
}
