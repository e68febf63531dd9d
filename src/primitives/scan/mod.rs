//! scan and segmented-scan (sengupta2007 §2.1 and §2.2): out\[i\] is made of all elements before i,
//! by an associative operator ⊕ with an identity.
//!
//! ```text
//! inclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i]
//! exclusive   out[i] = in[0] ⊕ in[1] ⊕ … ⊕ in[i−1], out[0] the identity
//! backward    in reversed, scanned, and the result reversed: in[n−1] comes first
//! segmented   each segment by itself
//! ```
//!
//! A backward scan has the same segments as a forward one, so its flags are shifted by one
//! (§2.2.2). The effective bytes are n elements read, n elements written, and what tells the
//! segments.
//!
//! The certificate is the recurrence: out\[i\] = out\[i−1\] ⊕ in\[i\] inside a segment, in\[i\] (or the
//! identity) where one begins. [`inputs`] says why that holds to the bit for floats too.

pub mod cpu;
pub mod cuda;
pub mod inputs;
pub mod near;
pub mod operator;
mod oracle;
mod schema;
pub mod segments;
pub mod spec;
mod tree;
mod work;

pub use spec::Spec;

use super::Primitive;
use crate::case::schema::Param;
use crate::case::{Near, Params, Refusal, Work, reader};

/// The primitive `scan`.
pub struct Scan;

/// The primitive `segmented-scan`.
pub struct SegmentedScan;

const METHODS: &[&str] = &["best", "spine", "lookback", "two-pass", "sengupta2007"];

fn check(segmented: bool, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
    let spec = Spec::from_params(segmented, params, seed).map_err(|e| e.to_string())?;
    oracle::check(&spec, output)
}

fn near(segmented: bool, params: &Params) -> Result<Vec<Near>, String> {
    let spec = Spec::from_params(segmented, params, 0).map_err(|e| e.to_string())?;
    Ok(if reader::on_cuda(params) { near::near(&spec) } else { Vec::new() })
}

impl Primitive for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    fn summary(&self) -> &'static str {
        "prefix sums, and what other operators make of all elements before each (sengupta2007)"
    }

    fn params(&self) -> &'static [Param] {
        schema::SCAN
    }

    fn methods(&self) -> &'static [&'static str] {
        METHODS
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        Ok(work::work(&Spec::from_params(false, params, 0)?))
    }

    fn near(&self, params: &Params) -> Result<Vec<Near>, String> {
        near(false, params)
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        check(false, params, seed, output)
    }
}

impl Primitive for SegmentedScan {
    fn name(&self) -> &'static str {
        "segmented-scan"
    }

    fn summary(&self) -> &'static str {
        "scans of the segments of an array, each by itself (sengupta2007)"
    }

    fn params(&self) -> &'static [Param] {
        schema::SEGMENTED
    }

    fn methods(&self) -> &'static [&'static str] {
        METHODS
    }

    fn work(&self, params: &Params) -> Result<Work, Refusal> {
        Ok(work::work(&Spec::from_params(true, params, 0)?))
    }

    fn near(&self, params: &Params) -> Result<Vec<Near>, String> {
        near(true, params)
    }

    fn check_against_oracle(&self, params: &Params, seed: u64, output: &[u8]) -> Result<(), String> {
        check(true, params, seed, output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;
    use proptest::prelude::*;

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
        let inputs = Spec::from_params(true, &params, 5).expect("a case").inputs();
        let mut total = 0u32;
        let sums = (0..20u64).map(|i| {
            total = if i % 7 == 0 { 0 } else { total }.wrapping_add(inputs.bits(i)[0] as u32);
            total
        });
        let mut output: Vec<u8> = sums.flat_map(u32::to_le_bytes).collect();
        assert_eq!(SegmentedScan.check_against_oracle(&params, 5, &output), Ok(()));
        assert!(Scan.check_against_oracle(&params, 5, &output).is_err_and(|e| e.starts_with("out[7]")));
        output[79] ^= 1;
        let mistake = SegmentedScan.check_against_oracle(&params, 5, &output);
        assert!(mistake.is_err_and(|e| e.starts_with("out[19]")));
        assert!(SegmentedScan.check_against_oracle(&params, 5, &output[..76]).is_err());
    }

    proptest! {
        #[test]
        fn no_parameters_make_work_panic(
            operator in prop::sample::select(vec!["add", "and", "affine", "none"]),
            ty in prop::sample::select(vec!["u32", "f64", "none"]),
            method in prop::sample::select(vec!["best", "spine", "lookback", "two-pass", "sengupta2007", "none"]),
            segments in prop::sample::select(vec!["constant", "random", "geometric", "none"]),
            heads in prop::sample::select(vec!["bits", "striped", "pointers", "none"]),
            elements in any::<u64>().prop_map(|v| v >> (v % 64)),
            length in any::<u64>().prop_map(|v| v >> (v % 64)),
            segmented: bool,
        ) {
            let text = |word: &str| Value::Text(word.to_owned());
            let p = Params::default()
                .with("operator", text(operator))
                .with("type", text(ty))
                .with("method", text(method))
                .with("segments", text(segments))
                .with("segments.constant.length", Value::Int(length))
                .with("segments.random.mean", Value::Int(length))
                .with("segments.geometric.mean", Value::Int(length))
                .with("heads", text(heads))
                .with("elements", Value::Int(elements));
            let primitive: &dyn Primitive = if segmented { &SegmentedScan } else { &Scan };
            if let Ok(work) = primitive.work(&p) {
                prop_assert!(work.declared_bytes() >= work.effective_bytes);
                prop_assert!(work.effective_bytes >= 8 * elements && work.footprint >= work.effective_bytes);
            }
        }
    }
}
