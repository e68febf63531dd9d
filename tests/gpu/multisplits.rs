//! The device generates the same inputs for multisplit as the host, and its certificate accepts the result of
//! the definition, computed on the host, and nothing else.

use scatterlab::device::cuda::Gpu;
use scatterlab::primitives::multisplit::Spec;
use scatterlab::primitives::multisplit::buckets::Buckets;
use scatterlab::primitives::multisplit::cuda::certify::{Certificate, Output};
use scatterlab::primitives::multisplit::cuda::input::Input;
use scatterlab::primitives::multisplit::keys::Keys;

use crate::host::Host;
use crate::prove::case;

/// Keys, values as words, and offsets.
type Arrays = [Vec<u32>; 3];

/// The result of the definition: a stable sort by bucket.
fn defined(spec: &Spec) -> Arrays {
    let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
    let mut order: Vec<u64> = (0..spec.keys).collect();
    order.sort_by_key(|&i| buckets.of(keys.at(i)));
    let words = |&i: &u64| match spec.value {
        0 => vec![],
        4 => vec![keys.value(i, 4) as u32],
        _ => vec![keys.value(i, 8) as u32, (keys.value(i, 8) >> 32) as u32],
    };
    let below = |b: u32| order.iter().filter(|&&i| buckets.of(keys.at(i)) < b).count() as u32;
    let offsets = (0..=spec.buckets as u32).map(below).collect();
    [order.iter().map(|&i| keys.at(i)).collect(), order.iter().flat_map(words).collect(), offsets]
}

fn judge(gpu: &Gpu, spec: &Spec, arrays: &Arrays) -> Option<String> {
    let module = gpu.module("multisplit").unwrap();
    let input = Input::new(gpu, &module, spec).unwrap();
    let [keys, values, offsets] = arrays.each_ref().map(|array| gpu.upload(array).unwrap());
    let mut certificate = Certificate::new(gpu, &module, spec).unwrap();
    certificate.judge(gpu, spec, &input, &Output { keys, values, offsets }).unwrap()
}

fn specs() -> Vec<Spec> {
    let functions =
        ["delta-buckets", "identity by.identity.shift=7", "range", "hash"].map(|by| format!("by={by}"));
    let distributions = ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"];
    let mut all = Vec::new();
    for (function, m) in functions.iter().flat_map(|by| [2, 33, 300].map(|m| (by, m))) {
        for (distribution, n) in distributions.iter().zip([1, 32, 33, 1000, 1025].iter().cycle().skip(m % 5))
        {
            let value = ["none", "4B", "8B"][n % 3];
            let distribution = format!("distribution={distribution}");
            all.push(format!("keys={n} buckets={m} values={value} {function} {distribution}"));
        }
    }
    all.push("keys=500 buckets=2 by=prime values=8B".to_owned());
    all.push("keys=100 buckets=65536 distribution=skewed".to_owned());
    let spec =
        |words: &String| Spec::from_params(&case("multisplit", &format!("{words} backend=none")).params, 42);
    all.iter().map(|words| spec(words).unwrap_or_else(|e| panic!("{words}: {e}"))).collect()
}

#[test]
fn inputs_are_those_of_the_host() {
    let Some(_host) = Host::new() else { return };
    let gpu = Gpu::open().unwrap();
    let module = gpu.module("multisplit").unwrap();
    for spec in specs() {
        let (input, keys) = (Input::new(&gpu, &module, &spec).unwrap(), Keys::new(&spec));
        let mut wanted: Vec<u32> = (0..spec.keys).map(|i| keys.at(i)).collect();
        wanted.push(keys.behind());
        assert_eq!(input.keys.to_host().unwrap(), wanted, "{spec:?}");
        let values = input.values.to_host().unwrap();
        match spec.value {
            4 => assert!((0..spec.keys).all(|i| values[i as usize] == keys.value(i, 4) as u32), "{spec:?}"),
            8 => assert!((0..spec.keys).all(|i| {
                let low = u64::from(values[2 * i as usize]);
                low | u64::from(values[2 * i as usize + 1]) << 32 == keys.value(i, 8)
            })),
            _ => {}
        }
    }
}

#[test]
fn the_certificate_accepts_the_definition_and_nothing_else() {
    let Some(_host) = Host::new() else { return };
    let gpu = Gpu::open().unwrap();
    for spec in specs() {
        let right = defined(&spec);
        assert_eq!(judge(&gpu, &spec, &right), None, "{spec:?}");
        for array in 0..3 {
            let mut wrong = right.clone();
            let Some(at) = wrong[array].len().checked_sub(1) else { continue };
            wrong[array][at / 2] ^= 1;
            assert!(judge(&gpu, &spec, &wrong).is_some(), "{spec:?} {array}");
        }
        // Swap two different keys of the same bucket.
        let buckets = Buckets::new(&spec);
        let alike = |pair: &[u32]| pair[0] != pair[1] && buckets.of(pair[0]) == buckets.of(pair[1]);
        if let Some(at) = right[0].windows(2).position(alike) {
            let mut unstable = right.clone();
            unstable[0].swap(at, at + 1);
            assert!(judge(&gpu, &spec, &unstable).is_some(), "{spec:?}");
        }
    }
}
