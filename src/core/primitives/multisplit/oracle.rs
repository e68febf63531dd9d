//! The sequential oracle of multisplit: counts the keys of each bucket, then places them in the order of the
//! input.

use super::buckets::Buckets;
use super::keys::Keys;
use super::{KEY, OFFSET, Spec};
use crate::primitives::oracle::{check_length, difference};

/// Compares keys, values and offsets, in this order, with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output())?;
    let Order { keys, sources, offsets } = Order::of(spec);
    let mut rest = output;
    let mut compare = |array: &str, element: u64, wanted: &mut dyn ExactSizeIterator<Item = u64>| {
        let found = rest.split_off(..element as usize * wanted.len()).unwrap_or_default();
        let width = 2 + 2 * element as usize;
        difference(found, element, wanted).map_or(Ok(()), |(at, [found, wanted])| {
            Err(format!("{array}[{at}] is {found:#0width$x} instead of {wanted:#0width$x}"))
        })
    };
    compare("keys", KEY, &mut sources.iter().map(|&i| keys.at(i).into()))?;
    compare("values", spec.value, &mut sources.iter().map(|&i| keys.value(i, spec.value)))?;
    compare("offsets", OFFSET, &mut offsets.into_iter())
}

/// The index in the input of each key of the output, and the offsets of the buckets.
pub struct Order {
    pub keys: Keys,
    pub sources: Vec<u64>,
    pub offsets: Vec<u64>,
}

impl Order {
    /// The order of a case. Memory is proportional to the number of keys.
    pub fn of(spec: &Spec) -> Order {
        let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
        let bucket = |i: u64| buckets.of(keys.at(i)) as usize;
        let offsets = begins(spec.buckets, spec.keys, bucket);
        let (mut next, mut sources) = (offsets.clone(), vec![0; spec.keys as usize]);
        for i in 0..spec.keys {
            let place = &mut next[bucket(i)];
            sources[*place as usize] = i;
            *place += 1;
        }
        Order { keys, sources, offsets }
    }
}

/// The offset of each of m buckets among the first `n` keys, followed by `n`.
pub fn begins(m: u64, n: u64, bucket: impl Fn(u64) -> usize) -> Vec<u64> {
    let mut begins = vec![0; m as usize + 1];
    (0..n).for_each(|i| begins[bucket(i) + 1] += 1);
    for b in 1..begins.len() {
        begins[b] += begins[b - 1];
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// An independent definition: a stable sort by buckets.
    fn sorted(spec: &Spec) -> Vec<u64> {
        let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
        let mut all: Vec<u64> = (0..spec.keys).collect();
        all.sort_by_key(|&i| buckets.of(keys.at(i)));
        all
    }

    #[test]
    fn it_accepts_the_definition_and_nothing_else() {
        for (by, m) in [("delta-buckets", 7), ("identity", 8), ("range", 3), ("hash", 300), ("prime", 2)] {
            let spec = spec(&format!("keys=100 buckets={m} by={by} values=8B"));
            let order = Order::of(&spec);
            let sources = sorted(&spec);
            let mut output: Vec<u8> = sources.iter().flat_map(|&i| order.keys.at(i).to_le_bytes()).collect();
            output.extend(sources.iter().flat_map(|&i| order.keys.value(i, 8).to_le_bytes()));
            output.extend(order.offsets.iter().flat_map(|&offset| (offset as u32).to_le_bytes()));
            assert_eq!(check(&spec, &output), Ok(()), "{by}");
            for (byte, array) in [(3, "keys[0]"), (399, "keys[99]"), (400, "values[0]"), (1204, "offsets[1]")]
            {
                let mut wrong = output.clone();
                wrong[byte] ^= 1;
                assert!(check(&spec, &wrong).unwrap_err().starts_with(array), "{by} {array}");
            }
            assert!(check(&spec, &output[4..]).is_err());
        }
    }

    #[test]
    fn no_keys_have_only_offsets() {
        assert_eq!(check(&spec("keys=0 buckets=2"), &[0; 12]), Ok(()));
    }
}
