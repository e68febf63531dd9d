//! random-access: independent reads or writes of an array's elements in random order, and
//! nothing else: no location array, no second data array. What gathers and scatters come to
//! at best in a footprint.
//!
//! With m = footprint / element a power of two and h a random-looking bijection of [0, m)
//! that is computed on the way ([`Scramble`](crate::inputs::Scramble)), access i goes to
//! a\[h(i mod m)\]:
//!
//! ```text
//! read    Σ words of a[h(i mod m)], modulo 2^64      write   a[h(i mod m)] = its own place
//! ```
//!
//! Every element comes once before the first comes again, in the same order each time. An
//! execution goes on where the one before it ended, so that of a footprint that is larger than
//! what one execution visits not always the same part is found in a cache. The effective bytes
//! are element · accesses.
//!
//! With `method: chained` element h(x) holds h(x + 1 mod m), and each access goes where the
//! one before it says: what comes out is the latency. On CPUs each thread follows a chain of
//! its own through its share of the accesses, on a GPU one thread follows one.

pub mod cpu;
pub mod cuda;
mod oracle;
pub mod spec;

pub use spec::Spec;

use super::Primitive;
use crate::case::schema::{Default, Kind, Param, Variant};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Fault, Params, Pass, Refusal, Work};
use spec::{Kernel, MAX_BYTES, Method};

/// The primitive `random-access`.
pub struct RandomAccess;

/// A chain of so many elements that begins elsewhere reads something else.
const LONG_CHAIN: u64 = 1024;

const PARAMS: &[Param] = &[
    Param {
        name: "kernel",
        kind: Kind::Word(&["read", "write"]),
        default: Default::Required,
        doc: "read: the sum of the elements visited; write: each becomes its own place",
    },
    Param {
        name: "footprint",
        kind: Kind::Bytes { min: 4, max: MAX_BYTES, accepted: &[] },
        default: Default::Required,
        doc: "size of the array: a power of two times the element",
    },
    Param {
        name: "accesses",
        kind: Kind::Count { min: 1, max: 1 << 40 },
        default: Default::Required,
        doc: "elements visited, in random order, each once before the first comes again",
    },
    Param {
        name: "element",
        kind: Kind::Bytes { min: 4, max: 16, accepted: &[4, 8, 16] },
        default: Default::Is("8B"),
        doc: "size of an element",
    },
    Param {
        name: "method",
        kind: Kind::Choice(&[
            Variant::plain("direct", "accesses that do not wait for each other"),
            Variant::plain("chained", "reads of which each says where the next one goes"),
        ]),
        default: Default::Is("direct"),
        doc: "how they follow each other",
    },
];

impl Primitive for RandomAccess {
    fn name(&self) -> &'static str {
        "random-access"
    }

    fn summary(&self) -> &'static str {
        "elements of one array read or written in random order, without a location array"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn methods(&self) -> &'static [&'static str] {
        &["direct", "chained"]
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        let spec = Spec::from_params(params, 0)?;
        let bytes = spec.element * spec.accesses;
        let access = Access {
            array: "a".to_owned(),
            direction: if spec.kernel == Kernel::Read { Direction::Read } else { Direction::Write },
            element: spec.element,
            count: spec.accesses,
            footprint: spec.bytes(),
            order: Order::Random,
            concurrency: match spec.method {
                Method::Direct => Concurrency::Independent,
                Method::Chained => Concurrency::Chained,
            },
        };
        Ok(Work {
            passes: vec![Pass { times: 1, accesses: vec![access] }],
            elements: spec.accesses,
            effective_bytes: bytes,
            system_bytes: bytes,
            footprint: spec.bytes(),
            scratch: 0,
        })
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        let spec = Spec::from_params(params, seed).map_err(|e| e.to_string())?;
        oracle::check(&spec, output)
    }

    /// Once elements are visited again, an access that is left out, or made twice in the
    /// place of another, hides behind the others to the same element. A chain through a
    /// handful of elements comes to the same ones wherever it begins.
    fn shows(&self, params: &Params, fault: Fault) -> bool {
        let shows = |spec: Spec| match (fault, spec.method) {
            (Fault::OffByOne, Method::Direct) => true,
            (Fault::OffByOne, Method::Chained) => spec.elements() >= LONG_CHAIN,
            _ => spec.accesses <= spec.elements(),
        };
        Spec::from_params(params, 0).is_ok_and(shows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    pub(super) fn params(kernel: &str, footprint: u64, accesses: u64, element: u64) -> Params {
        Params::default()
            .with("kernel", Value::Text(kernel.into()))
            .with("footprint", Value::Int(footprint))
            .with("accesses", Value::Int(accesses))
            .with("element", Value::Int(element))
    }

    #[test]
    fn what_counts_is_what_is_visited() {
        let work = RandomAccess.work(&params("write", 1 << 20, 300, 8)).expect("a case");
        assert_eq!((work.effective_bytes, work.footprint, work.elements), (2400, 1 << 20, 300));
        assert_eq!(work.declared_bytes(), 2400);
        assert_eq!(work.passes[0].accesses[0].direction, Direction::Write);
    }

    #[test]
    fn chained_accesses_are_declared_as_such() {
        let chained = params("read", 1 << 20, 300, 8).with("method", Value::Text("chained".into()));
        let work = RandomAccess.work(&chained).expect("a case");
        assert_eq!(work.passes[0].accesses[0].concurrency, Concurrency::Chained);
        assert_eq!((work.effective_bytes, work.footprint), (2400, 1 << 20));
    }

    #[test]
    fn a_mistake_shows_where_each_element_comes_once() {
        let shows =
            |accesses| Fault::ALL.map(|fault| RandomAccess.shows(&params("read", 64, accesses, 8), fault));
        assert_eq!(shows(8), [true; 4]);
        assert_eq!(shows(9), [true, false, false, false]);
    }
}
