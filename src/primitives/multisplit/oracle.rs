//! The sequential oracle of multisplit: the keys of each bucket in the order of the input, by
//! counting them first.

use super::buckets::Buckets;
use super::keys::Keys;
use super::spec::Spec;
use crate::primitives::oracle::check_length;

/// Compares keys, values and offsets, in this order, with the definition.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.output())?;
    let order = Order::of(spec);
    let mut rest = output;
    let mut take = |bytes: u64| rest.split_off(..bytes as usize).unwrap_or_default();
    let keys = &order.keys;
    let sources = || order.sources.iter().copied();
    compare("keys", take(spec.key_bytes()), sources().map(|i| keys.at(i).to_le_bytes()))?;
    match spec.value {
        4 => compare("values", take(spec.value_bytes()), sources().map(|i| keys.value32(i).to_le_bytes()))?,
        8 => compare("values", take(spec.value_bytes()), sources().map(|i| keys.value64(i).to_le_bytes()))?,
        _ => {}
    }
    compare("offsets", take(spec.offset_bytes()), order.offsets.iter().map(|offset| offset.to_le_bytes()))
}

/// Where each place of the output takes its key from, and where buckets begin.
pub struct Order {
    pub keys: Keys,
    pub sources: Vec<u64>,
    pub offsets: Vec<u32>,
}

impl Order {
    /// That of a case. Memory in proportion to the keys.
    pub fn of(spec: &Spec) -> Order {
        let (keys, buckets) = (Keys::new(spec), Buckets::new(spec));
        let bucket = |i: u64| buckets.of(keys.at(i)) as usize;
        let mut offsets = vec![0u32; spec.buckets as usize + 1];
        (0..spec.keys).for_each(|i| offsets[bucket(i) + 1] += 1);
        for b in 1..offsets.len() {
            offsets[b] += offsets[b - 1];
        }
        let (mut next, mut sources) = (offsets.clone(), vec![0; spec.keys as usize]);
        for i in 0..spec.keys {
            let place = &mut next[bucket(i)];
            sources[*place as usize] = i;
            *place += 1;
        }
        Order { keys, sources, offsets }
    }
}

/// Compares one array element by element.
fn compare<const B: usize>(
    array: &str,
    found: &[u8],
    expected: impl Iterator<Item = [u8; B]>,
) -> Result<(), String> {
    for (at, (found, wanted)) in found.chunks_exact(B).zip(expected).enumerate() {
        if found != wanted {
            let hex = |bytes: &[u8]| bytes.iter().rev().map(|b| format!("{b:02x}")).collect::<String>();
            return Err(format!("{array}[{at}] is 0x{} instead of 0x{}", hex(found), hex(&wanted)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// The definition once more: a stable sort by buckets.
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
            output.extend(sources.iter().flat_map(|&i| order.keys.value64(i).to_le_bytes()));
            output.extend(order.offsets.iter().flat_map(|offset| offset.to_le_bytes()));
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
