//! The candidates of the method `auto`.

use super::Spec;
use super::spec::Kernel;
use crate::case::Params;
use crate::primitives::candidates;

/// Maximum passes of `multipass`, as log2.
const PASSES: u32 = 6;

/// Segments and passes of the `segmented` candidates.
const SEGMENTED: [(u64, u64); 4] = [(4, 4), (4, 16), (16, 4), (16, 16)];

/// The parameters with each method that the case could use, the simplest first: `direct`, 2 to 64 passes,
/// segments, partitions sized by rule. Empty if the method is not `auto`. Methods that do not exist for the
/// case (more passes than tuples, no kernels) are omitted.
pub fn alternatives(kernel: Kernel, params: &Params) -> Vec<Params> {
    let multipass = (1..=PASSES).map(|power| ("multipass", vec![("passes", 1 << power)]));
    let segmented = SEGMENTED
        .into_iter()
        .map(|(segments, passes)| ("segmented", vec![("segments", segments), ("passes", passes)]));
    let all = [("direct", vec![])].into_iter().chain(multipass).chain(segmented);
    let exists = |params: &Params| Spec::from_params(kernel, params, 0).is_ok();
    candidates::of(params, all.chain([("partitioned", vec![])]), exists)
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
    }
}
