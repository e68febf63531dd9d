//! histogram: how many of n values lie in each of m bins (ashkiani2017 §7.3).
//!
//! Values are f32 in [0, 1024): k · 2^-14 with a pseudo-random k < 2^24 ([`values`]). With the
//! splitters s_0 = 0 < s_1 ≤ … ≤ s_(m-1) < s_m = 1024 bin j counts the x with s_j ≤ x < s_(j+1):
//!
//! ```text
//! even    s_j = 1024 · j / m: the bin of x is ⌊x · m / 1024⌋, without rounding
//! range   s_1 … s_(m-1) random: the bin of x is the number of them that are ≤ x
//! ```
//!
//! The counts are 64-bit integers; an execution begins with none of them and includes whatever
//! tables it makes of the splitters. The effective bytes are the values, read once: 4 · n.

pub mod cpu;
pub mod cuda;
mod layout;
mod near;
mod oracle;
pub mod spec;
mod table;
pub mod values;

pub use spec::Spec;

use super::Primitive;
use crate::case::schema::{Default, Kind, Param, Variant};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Fault, Near, Params, Pass, Refusal, Work, reader};
use spec::{Ending, MAX_BINS, Method};

/// The primitive `histogram`.
pub struct Histogram;

const ENDING: Param = Param {
    name: "ending",
    kind: Kind::Word(&["atomics", "reduction"]),
    default: Default::Is("atomics"),
    doc: "atomics: the counts of 2^16 elements are added to the result in place; reduction: they are stored, and \
          each bin's summed (ashkiani2017 §7.3)",
};

const EXPONENT: Param = Param {
    name: "exponent",
    kind: Kind::Float { min: 0.0, max: 16.0 },
    default: Default::Required,
    doc: "the 4096th of rank r is drawn in proportion to r^-exponent",
};

const PARAMS: &[Param] = &[
    Param {
        name: "elements",
        kind: Kind::Count { min: 1, max: 1 << 45 },
        default: Default::Required,
        doc: "f32 values (ashkiani2017's n)",
    },
    Param {
        name: "bins",
        kind: Kind::Count { min: 2, max: MAX_BINS },
        default: Default::Required,
        doc: "bins (ashkiani2017's m)",
    },
    Param {
        name: "by",
        kind: Kind::Word(&["even", "range"]),
        default: Default::Is("even"),
        doc: "even: bins of the same width; range: between random splitters",
    },
    Param {
        name: "distribution",
        kind: Kind::Choice(&[
            Variant::plain("uniform", "everywhere alike"),
            Variant::plain("skewed", "15 of 16 in one 4096th of the domain, the others everywhere"),
            Variant {
                name: "zipf",
                params: &[EXPONENT],
                main: Some("exponent"),
                doc: "4096ths of the domain by Zipf's law",
            },
        ]),
        default: Default::Is("uniform"),
        doc: "where in [0, 1024) the values lie",
    },
    Param {
        name: "method",
        kind: Kind::Choice(&[
            Variant::plain(
                "best",
                "ours: as many copies of the counts as there is room for close to the processor",
            ),
            Variant {
                name: "ballot",
                params: &[ENDING],
                main: Some("ending"),
                doc: "warps vote on each bit of their elements' bins (ashkiani2017 Algorithm 2), on GPUs, up to 256 bins",
            },
        ]),
        default: Default::Is("best"),
        doc: "how it is computed",
    },
];

impl Primitive for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn summary(&self) -> &'static str {
        "how many of the values lie in each bin, bins of the same width or between splitters"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn methods(&self) -> &'static [&'static str] {
        &["best", "ballot"]
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        let spec = Spec::from_params(params, 0)?;
        Ok(Work {
            passes: passes(&spec, reader::on_cuda(params)),
            elements: spec.elements,
            effective_bytes: spec.input(),
            system_bytes: spec.input(),
            footprint: spec.input() + spec.output() + spec.stored(),
            scratch: spec.output(),
        })
    }

    fn near(&self, params: &Params) -> Result<Vec<Near>, String> {
        let spec = Spec::from_params(params, 0).map_err(|e| e.to_string())?;
        Ok(if reader::on_cuda(params) { near::near(&spec) } else { Vec::new() })
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        let spec = Spec::from_params(params, seed).map_err(|e| e.to_string())?;
        oracle::check(&spec, output)
    }

    /// Of an even number of values a worker that counts its neighbour's in the place of its own
    /// counts as many, which may lie in the same bins.
    fn shows(&self, params: &Params, fault: Fault) -> bool {
        fault != Fault::WrongChunk || params.int("elements").is_some_and(|n| !n.is_multiple_of(2))
    }
}

/// The counts that all methods end with are no access: m are few beside n. On GPUs they are cleared by a launch
/// of its own where they are added to.
fn passes(spec: &Spec, on_cuda: bool) -> Vec<Pass> {
    let pass = |accesses| Pass { times: 1, accesses };
    let values = access("x", Direction::Read, (4, spec.elements), spec.input());
    let cleared = pass(vec![access("counts", Direction::Write, (8, spec.bins), spec.output())]);
    let counts = spec.bins * spec.subproblems();
    let counted = match spec.method {
        Method::Best => pass(vec![values]),
        Method::Ballot(Ending::Atomics) => {
            pass(vec![values, access("counts", Direction::Write, (8, counts), spec.output())])
        }
        Method::Ballot(Ending::Reduction) => {
            let stored = |direction| access("h", direction, (4, counts), spec.stored());
            return vec![pass(vec![values, stored(Direction::Write)]), pass(vec![stored(Direction::Read)])];
        }
    };
    on_cuda.then_some(cleared).into_iter().chain([counted]).collect()
}

fn access(array: &str, direction: Direction, (element, count): (u64, u64), footprint: u64) -> Access {
    Access {
        array: array.to_owned(),
        direction,
        element,
        count,
        footprint,
        order: Order::Sequential,
        concurrency: Concurrency::Independent,
    }
}

#[cfg(test)]
mod tests {
    pub(super) use super::super::words::params;
    use super::*;
    use crate::case::Value;
    use proptest::prelude::*;

    pub(super) fn spec(words: &str) -> Spec {
        Spec::from_params(&params(words), 7).expect("a case")
    }

    fn work(words: &str) -> Work {
        Histogram.work(&params(words)).expect("a case")
    }

    #[test]
    fn what_counts_is_the_values() {
        let best = work("elements=1000000 bins=64");
        assert_eq!(
            (best.effective_bytes, best.declared_bytes(), best.footprint),
            (4_000_000, 4_000_000, 4_000_512)
        );
        let stored = work("elements=1000000 bins=64 method=ballot method.ballot.ending=reduction");
        assert_eq!(stored.declared_bytes() - stored.effective_bytes, 2 * 16 * 64 * 4);
        let added = work("elements=1000000 bins=64 method=ballot");
        assert_eq!((added.effective_bytes, added.declared_bytes()), (4_000_000, 4_000_000 + 16 * 64 * 8));
    }

    #[test]
    fn a_mistake_shows_where_it_changes_the_number_of_values() {
        let shows =
            |n: u64| Fault::ALL.map(|fault| Histogram.shows(&params(&format!("elements={n} bins=2")), fault));
        assert_eq!(shows(33), [true; 4]);
        assert_eq!(shows(34), [true, true, false, true]);
    }

    proptest! {
        #[test]
        fn no_parameters_make_work_panic(
            by in prop::sample::select(vec!["even", "range", "none"]),
            method in prop::sample::select(vec!["best", "ballot", "none"]),
            backend in prop::sample::select(vec!["scalar", "cpu", "cuda"]),
            elements in any::<u64>().prop_map(|v| v >> (v % 64)),
            bins in any::<u64>().prop_map(|v| v >> (v % 64)),
        ) {
            let words = format!("by={by} method={method} backend={backend}");
            let params = params(&words).with("elements", Value::Int(elements)).with("bins", Value::Int(bins));
            if let Ok(work) = Histogram.work(&params) {
                prop_assert_eq!(work.effective_bytes, 4 * elements);
                prop_assert!(work.declared_bytes() >= work.effective_bytes);
            }
        }
    }
}
