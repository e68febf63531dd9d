//! scan and segmented-scan (sengupta2007 §2.1 and §2.2): out\[i\] combines all elements before i with an
//! associative operator ⊕ that has an identity.
//!
//! ```text
//! inclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i]
//! exclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i−1], out[0] the identity
//! backward    in reversed, scanned, and the result reversed: in[n−1] comes first
//! segmented   each segment by itself
//! ```
//!
//! A backward scan has the same segments as a forward one, so its flags are shifted by one (§2.2.2). The
//! effective bytes are n elements read, n elements written, and the representation of the segment heads.
//!
//! The certificate is the recurrence: out\[i\] = out\[i−1\] ⊕ in\[i\] inside a segment, and in\[i\] (or the
//! identity) where a segment begins. [`inputs`] explains why this holds bit for bit for floats too.

pub mod block_costs;
pub mod cpu;
pub mod cuda;
pub mod inputs;
pub mod operator;
pub(in crate::primitives) mod oracle;
pub mod segments;
pub mod spec;
mod work;

pub use spec::Spec;

use super::{Definition, Primitive, Problem};
use crate::case::{BlockCost, Params, Refusal, Value, Work};

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[
        Primitive::of::<Spec>(
            "scan",
            "prefix sums, and scans with other associative operators (sengupta2007)",
            Spec::PLAIN,
        ),
        Primitive::of::<Spec>(
            "segmented-scan",
            "scans of the segments of an array, each by itself (sengupta2007)",
            Spec::TABLE,
        ),
    ];

    fn read(name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(name == "segmented-scan", params, seed)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        work::work(self)
    }

    /// The method that `best` resolved to.
    fn resolved(&self) -> Vec<(String, Value)> {
        let method = || ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        self.open.then(method).into_iter().collect()
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Ok(if self.backend.is_cuda() { block_costs::block_costs(self) } else { Vec::new() })
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        oracle::check(self, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn params(segmented: bool, elements: u64) -> Params {
        let params = Params::default().with("elements", Value::Int(elements));
        if !segmented {
            return params;
        }
        params
            .with("segments", Value::Text("constant".into()))
            .with("segments.constant.length", Value::Int(7))
    }

    #[test]
    fn the_oracle_accepts_the_definition_and_nothing_else() {
        let params = params(true, 20).with("kind", Value::Text("inclusive".into()));
        let [segmented, whole] = [true, false].map(|of| Spec::from_params(of, &params, 5).expect("a case"));
        let inputs = segmented.inputs();
        let mut total = 0u32;
        let sums = (0..20u64).map(|i| {
            total = if i % 7 == 0 { 0 } else { total }.wrapping_add(inputs.bits(i)[0] as u32);
            total
        });
        let mut output: Vec<u8> = sums.flat_map(u32::to_le_bytes).collect();
        assert_eq!(segmented.check(&output), Ok(()));
        assert!(whole.check(&output).is_err_and(|e| e.starts_with("out[7]")));
        output[79] ^= 1;
        let mistake = segmented.check(&output);
        assert!(mistake.is_err_and(|e| e.starts_with("out[19]")));
        assert!(segmented.check(&output[..76]).is_err());
    }
}
