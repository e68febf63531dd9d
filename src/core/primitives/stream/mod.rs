//! stream: STREAM's kernels on f64 arrays (McCalpin), and a pure read and a pure write.
//!
//! With q = 3: read Σ a; write a = 7; copy c = a; scale b = q·c; add c = a + b; triad a = b + q·c. The
//! effective bytes are STREAM's: every array that the formula names, once (read and write 8n, copy and scale
//! 16n, add and triad 24n). Additional reads by write-allocate are not counted.

pub mod cpu;
pub mod cuda;
mod oracle;
pub mod spec;
mod tuned;

pub use spec::Spec;

use super::{Definition, Primitive, Problem};
use crate::case::tuning::Tuning;
use crate::case::{Access, Params, Refusal, Work};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "stream",
        "read, write, copy, scale, add or triad of f64 arrays, in order",
        Spec::TABLE,
    )
    // 2: the elements of a read have as many bits as their sum leaves.
    .with_version(|params| if params.text("kernel") == Some("read") { 2 } else { 1 })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &spec::OFFERED).map(drop)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let read = self.kernel.sources().iter().map(|array| Access::reads(array.name(), 8, self.elements));
        let written = self.kernel.destination().map(|array| Access::writes(array.name(), 8, self.elements));
        Work::once(self.elements, read.chain(written))
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    fn params(kernel: &str, elements: u64) -> Params {
        Params::default().with("kernel", Value::Text(kernel.into())).with("elements", Value::Int(elements))
    }

    #[test]
    fn bytes_are_those_of_stream() {
        let bytes = |kernel: &str| Spec::from_params(&params(kernel, 100), 1).unwrap().work().effective_bytes;
        let kernels = ["read", "write", "copy", "scale", "add", "triad"];
        assert_eq!(kernels.map(bytes), [800, 800, 1600, 1600, 2400, 2400]);
    }

    #[test]
    fn the_oracle_accepts_the_formula_and_nothing_else() {
        for kernel in ["write", "copy", "scale", "add", "triad"] {
            let p = params(kernel, 33);
            let spec = Spec::from_params(&p, 5).unwrap();
            let mut out: Vec<u8> = (0..33).flat_map(|i| spec.element(i).to_le_bytes()).collect();
            assert_eq!(spec.check(&out), Ok(()), "{kernel}");
            out[32 * 8] ^= 1;
            assert!(spec.check(&out).unwrap_err().starts_with("word 32"), "{kernel}");
            assert!(spec.check(&out[8..]).is_err(), "{kernel}");
        }
    }

    #[test]
    fn a_sum_is_exact() {
        let p = params("read", 1000);
        let spec = Spec::from_params(&p, 5).unwrap();
        let sum: f64 = (0..1000).rev().map(|i| spec.element(i)).sum();
        assert_eq!(spec.check(&sum.to_le_bytes()), Ok(()));
        assert!(spec.check(&(sum + 1.0).to_le_bytes()).is_err());
    }
}
