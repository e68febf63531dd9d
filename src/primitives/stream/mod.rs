//! stream: STREAM's kernels on f64 arrays (McCalpin), and a read and a write alone.
//!
//! With q = 3: read Σ a; write a = 7; copy c = a; scale b = q·c; add c = a + b; triad
//! a = b + q·c. The effective bytes are STREAM's: every array that the formula names,
//! once (read and write 8n, copy and scale 16n, add and triad 24n). What a write
//! allocate reads besides is not counted.

pub mod cpu;
pub mod cuda;
mod oracle;
pub mod spec;

pub use spec::Spec;

use super::Primitive;
use crate::case::schema::{Default, Kind, Param, Variant};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Params, Pass, Refusal, Work};
use spec::Array;

/// The primitive `stream`.
pub struct Stream;

const PARAMS: &[Param] = &[
    Param {
        name: "kernel",
        kind: Kind::Word(&["read", "write", "copy", "scale", "add", "triad"]),
        default: Default::Required,
        doc: "read: sum of a; write: a = 7; copy: c = a; scale: b = 3c; add: c = a + b; triad: a = b + 3c",
    },
    Param {
        name: "elements",
        kind: Kind::Count { min: 1, max: 1 << 45 },
        default: Default::Required,
        doc: "f64 elements of each array",
    },
    Param {
        name: "method",
        kind: Kind::Choice(&[
            Variant::plain("direct", "ordinary stores"),
            Variant::plain("streaming", "non-temporal stores, on CPUs"),
        ]),
        default: Default::Is("direct"),
        doc: "how results are stored",
    },
];

impl Primitive for Stream {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn summary(&self) -> &'static str {
        "read, write, copy, scale, add or triad of f64 arrays, in order"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn methods(&self) -> &'static [&'static str] {
        &["direct", "streaming"]
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        let spec = Spec::from_params(params, 0)?;
        let reads = spec.kernel.sources().iter().map(|&a| access(&spec, a, Direction::Read));
        let writes = spec.kernel.destination().map(|a| access(&spec, a, Direction::Write));
        let accesses: Vec<Access> = reads.chain(writes).collect();
        let bytes = accesses.iter().map(Access::bytes).sum();
        Ok(Work {
            passes: vec![Pass { times: 1, accesses }],
            elements: spec.elements,
            effective_bytes: bytes,
            system_bytes: bytes,
            footprint: bytes,
            scratch: 0,
        })
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        let spec = Spec::from_params(params, seed).map_err(|e| e.to_string())?;
        oracle::check(&spec, output)
    }
}

fn access(spec: &Spec, array: Array, direction: Direction) -> Access {
    Access {
        array: array.name().to_owned(),
        direction,
        element: 8,
        count: spec.elements,
        footprint: spec.elements * 8,
        order: Order::Sequential,
        concurrency: Concurrency::Independent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;
    use proptest::prelude::*;

    fn params(kernel: &str, elements: u64) -> Params {
        Params::default().with("kernel", Value::Text(kernel.into())).with("elements", Value::Int(elements))
    }

    #[test]
    fn bytes_are_those_of_stream() {
        let bytes = |kernel: &str| Stream.work(&params(kernel, 100)).unwrap().effective_bytes;
        let kernels = ["read", "write", "copy", "scale", "add", "triad"];
        assert_eq!(kernels.map(bytes), [800, 800, 1600, 1600, 2400, 2400]);
    }

    proptest! {
        #[test]
        fn no_parameters_make_work_panic(
            kernel in prop::sample::select(vec!["read", "write", "copy", "scale", "add", "triad", "none"]),
            method in prop::sample::select(vec!["direct", "streaming", "none"]),
            backend in prop::sample::select(vec!["scalar", "cpu", "cuda"]),
            elements in any::<u64>().prop_map(|v| v >> (v % 64)),
        ) {
            let p = params(kernel, elements)
                .with("method", Value::Text(method.into()))
                .with("backend", Value::Text(backend.into()));
            if let Ok(work) = Stream.work(&p) {
                prop_assert_eq!(work.declared_bytes(), work.effective_bytes);
                prop_assert!(work.effective_bytes >= 8 * elements);
            }
        }
    }

    #[test]
    fn the_oracle_accepts_the_formula_and_nothing_else() {
        for kernel in ["write", "copy", "scale", "add", "triad"] {
            let p = params(kernel, 33);
            let spec = Spec::from_params(&p, 5).unwrap();
            let mut out: Vec<u8> = (0..33).flat_map(|i| spec.kernel.element(5, i).to_le_bytes()).collect();
            assert_eq!(Stream.check_against_oracle(&p, 5, &out), Ok(()), "{kernel}");
            out[32 * 8] ^= 1;
            assert!(Stream.check_against_oracle(&p, 5, &out).unwrap_err().starts_with("word 32"), "{kernel}");
            assert!(Stream.check_against_oracle(&p, 5, &out[8..]).is_err(), "{kernel}");
        }
    }

    #[test]
    fn a_sum_is_exact() {
        let p = params("read", 1000);
        let spec = Spec::from_params(&p, 5).unwrap();
        let sum: f64 = (0..1000).rev().map(|i| spec.kernel.element(5, i)).sum();
        assert_eq!(Stream.check_against_oracle(&p, 5, &sum.to_le_bytes()), Ok(()));
        assert!(Stream.check_against_oracle(&p, 5, &(sum + 1.0).to_le_bytes()).is_err());
    }
}
