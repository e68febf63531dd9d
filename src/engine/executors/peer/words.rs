//! Encodes a case for a peer: its parameters by their full keys.

use crate::case::{Case, Failure, Params, Refusal, Value};
use crate::primitives::pattern::Spec;
use crate::primitives::pattern::spec::Kernel;

/// Parameters that do not affect the computation of a peer: its own name, the cache state, which the engine
/// sets up, and the label for charts.
const ASIDE: [&str; 3] = ["backend", "cache", "label"];

/// Parameters by which a recipe describes a pattern and its repetitions.
const RESOLVED: [&str; 5] = ["source", "delta", "count", "footprint", "traffic"];

/// `primitive=gather seed=1 index=4 locations=random tuple=8 tuples=1024`: words without whitespace. A pattern
/// is sent as explicit `source.custom.indices`, with numeric delta and count.
pub fn of(case: &Case) -> Result<String, Failure> {
    let mut params = case.params.clone();
    params.0.retain(|key, _| !ASIDE.contains(&key.as_str()));
    if case.primitive == "pattern" {
        params = resolved(params, case.seed).map_err(|refusal| match refusal {
            Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
            wrong => Failure::Failed(wrong.to_string()),
        })?;
    }
    let head = format!("primitive={} seed={}", case.primitive, case.seed);
    let words = params.0.iter().map(|(key, value)| format!("{key}={}", escaped(&value.to_string())));
    Ok(std::iter::once(head).chain(words).collect::<Vec<_>>().join(" "))
}

fn resolved(mut params: Params, seed: u64) -> Result<Params, Refusal> {
    let spec = Spec::from_params(&params, seed)?;
    let kernel = Value::Text(spec.kernel.name().to_owned());
    params.0.insert("kernel".to_owned(), kernel);
    // Other kernels keep their parameters: a peer that does not support them reports it.
    if !matches!(spec.kernel, Kernel::Gather | Kernel::Scatter) {
        return Ok(params);
    }
    params.0.retain(|key, _| !RESOLVED.contains(&key.split('.').next().unwrap_or(key)));
    let delta =
        if spec.deltas.is_empty() { Value::Int(spec.delta) } else { Value::Indices(spec.deltas.into()) };
    Ok(params
        .with("source", Value::Text("custom".to_owned()))
        .with("source.custom.indices", Value::Indices(spec.pattern.to_vec().into()))
        .with("delta", delta)
        .with("count", Value::Int(spec.count)))
}

/// Percent-encodes the characters that would end a word, such as `%20`.
fn escaped(text: &str) -> String {
    let mut words = String::new();
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes).bytes().for_each(|byte| words.push_str(&format!("%{byte:02X}")));
        } else {
            words.push(c);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::parse;
    use crate::recipe::plan::{Overrides, resolve};

    fn words(recipe: &str) -> Vec<String> {
        let plan =
            resolve(&parse("a.yaml", recipe).expect("a recipe"), &Overrides::default()).expect("a plan");
        let peers = plan.cases.iter().filter(|case| case.peer().is_some());
        peers.map(|case| of(case).expect("words")).collect()
    }

    #[test]
    fn a_case_is_told_by_its_full_keys_without_our_method() {
        let gather = "gather: {method: [direct, {multipass: {passes: 2}}], tuples: 1Ki}\nbackend: {cuda: {device: 1}}\n\
            peers: plain\nchart: {x: tuples, lines: method}\nmeasure: {cache: cold}\nseed: 7\n";
        assert_eq!(
            words(gather),
            ["primitive=gather seed=7 backend.cuda.device=1 index=4 locations=random tuple=8 tuples=1024"]
        );
    }

    #[test]
    fn a_pattern_is_told_in_numbers() {
        let pattern = "pattern: {kernel: [gather, gs], uniform: {length: 2, stride: 4}, delta: no-reuse, \
            footprint: 1kB, label: my case}\nbackend: cuda\npeers: spatter\nchart: {x: kernel}\n";
        let plan = pattern.replace("[gather, gs]", "gather");
        assert_eq!(
            words(&plan),
            ["primitive=pattern seed=1 count=16 delta=8 index=4 kernel=gather source=custom \
              source.custom.indices=0,4 wrap=1"]
        );
    }

    #[test]
    fn a_word_holds_no_space() {
        assert_eq!(escaped("my file\n50%.npy"), "my%20file%0A50%25.npy");
    }
}
