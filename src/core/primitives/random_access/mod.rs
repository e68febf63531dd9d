//! random-access: independent reads or writes of an array's elements in random order and nothing else: no
//! location array, no second data array. This is an upper bound for gathers and scatters in a footprint.
//!
//! With m = footprint / element a power of two and h a random-looking bijection of [0, m)
//! that is computed on the fly ([`Scramble`](crate::inputs::Scramble)), access i goes to
//! a\[h(i mod m)\]:
//!
//! ```text
//! read    Σ words of a[h(i mod m)], modulo 2^64      write   a[h(i mod m)] = i
//! ```
//!
//! Every element is visited once before the first is visited again, in the same order each time. An execution
//! continues where the previous one ended, so that, if the footprint is larger than the part that one execution
//! visits, it is not always the same part that is found in a cache. The effective bytes are element · accesses.
//!
//! With `method: chained`, element h(x) holds h(x + 1 mod m), and each access goes to the place read by the
//! previous one: the result is the latency. On CPUs each thread follows a chain of its own through its share of
//! the accesses; on a GPU one thread follows one chain.

pub mod cpu;
pub mod cuda;
mod oracle;
pub mod spec;

pub use spec::Spec;

use super::{Definition, Primitive, Problem};
use crate::case::work::{Access, Concurrency, Order, Pass, Work};
use crate::case::{Fault, Params, Refusal};
use spec::{Kernel, Method};

/// Chains of at least this many elements have a different sum if they begin elsewhere.
const LONG_CHAIN: u64 = 1024;

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "random-access",
        "elements of one array read or written in random order, without a location array",
        Spec::TABLE,
    )
    // 2: an element that is written becomes the number of its visit instead of its place.
    .with_version(|params| if params.text("kernel") == Some("write") { 2 } else { 1 })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let bytes = self.element * self.accesses;
        let visits = match self.kernel {
            Kernel::Read => Access::reads("a", self.element, self.accesses),
            Kernel::Write => Access::writes("a", self.element, self.accesses),
        };
        let concurrency = match self.method {
            Method::Direct => Concurrency::Independent,
            Method::Chained => Concurrency::Chained,
        };
        let visits = Access { concurrency, ..visits.within(self.footprint).ordered(Order::Random) };
        Work::of(self.accesses, bytes, [Pass::once([visits])]).footprint(self.footprint)
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }

    /// Once elements are visited again, an access that is omitted, or repeated in place of another, hides
    /// behind other accesses to the same element. A chain through a handful of elements visits the same
    /// elements wherever it begins.
    fn fault_is_detectable(&self, fault: Fault) -> bool {
        match (fault, self.method) {
            (Fault::OffByOne, Method::Direct) => true,
            (Fault::OffByOne, Method::Chained) => self.elements() >= LONG_CHAIN,
            _ => self.accesses <= self.elements(),
        }
    }

    fn order_is_detectable(&self) -> bool {
        self.differs_from_sequence()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Direction, Value};

    pub(super) fn params(kernel: &str, footprint: u64, accesses: u64, element: u64) -> Params {
        Params::default()
            .with("kernel", Value::Text(kernel.into()))
            .with("footprint", Value::Int(footprint))
            .with("accesses", Value::Int(accesses))
            .with("element", Value::Int(element))
    }

    #[test]
    fn what_counts_is_what_is_visited() {
        let work = Spec::from_params(&params("write", 1 << 20, 300, 8), 1).expect("a case").work();
        assert_eq!((work.effective_bytes, work.footprint, work.elements), (2400, 1 << 20, 300));
        assert_eq!(work.declared_bytes(), 2400);
        assert_eq!(work.passes[0].accesses[0].direction, Direction::Write);
    }

    #[test]
    fn chained_accesses_are_declared_as_such() {
        let chained = params("read", 1 << 20, 300, 8).with("method", Value::Text("chained".into()));
        let work = Spec::from_params(&chained, 1).expect("a case").work();
        assert_eq!(work.passes[0].accesses[0].concurrency, Concurrency::Chained);
        assert_eq!((work.effective_bytes, work.footprint), (2400, 1 << 20));
    }

    #[test]
    fn a_mistake_shows_where_each_element_comes_once() {
        let fault_is_detectable = |accesses| {
            Fault::ELEMENTS.map(|fault| {
                Spec::from_params(&params("read", 64, accesses, 8), 1)
                    .expect("a case")
                    .fault_is_detectable(fault)
            })
        };
        assert_eq!(fault_is_detectable(8), [true; 4]);
        assert_eq!(fault_is_detectable(9), [true, false, false, false]);
    }
}
