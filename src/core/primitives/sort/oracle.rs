//! The sequential oracle of sort: the standard library's stable sort.

use super::Spec;
use super::keys::Keys;
use crate::primitives::oracle::{check_length, difference, words};

/// Compares keys, and then values, with the definition. Keys alone whose fields are equal may be in any order.
pub fn check(spec: &Spec, keys: &Keys, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.bytes())?;
    let field = spec.digits(8);
    let mut order: Vec<u64> = (0..spec.keys).collect();
    order.sort_by_key(|&i| field.field(keys.at(i)));
    let (found_keys, found_values) = output.split_at((spec.keys * spec.key_bytes()) as usize);
    let wanted = |i: &u64| keys.at(*i);
    if spec.value() > 0 {
        compare("keys", found_keys, spec.key_bytes(), order.iter().map(wanted))?;
        return compare(
            "values",
            found_values,
            spec.value(),
            order.iter().map(|&i| keys.value(i, spec.value())),
        );
    }
    // The fields, which leave no choice, and then all keys by field and whole key.
    let mut found: Vec<u64> = words(found_keys, spec.key_bytes()).collect();
    let fields = found.iter().map(|key| field.field(*key)).zip(order.iter().map(|i| field.field(wanted(i))));
    if let Some(at) = fields.map(|(found, wanted)| found == wanted).position(|same| !same) {
        return Err(format!("keys[{at}] is {:#x}, whose field is not the {at}th in order", found[at]));
    }
    found.sort_by_key(|key| (field.field(*key), *key));
    let mut all: Vec<u64> = order.iter().map(wanted).collect();
    all.sort_by_key(|key| (field.field(*key), *key));
    match found.iter().zip(&all).find(|(found, wanted)| found != wanted) {
        None => Ok(()),
        Some((found, wanted)) => Err(format!("the output has {found:#x} where the input has {wanted:#x}")),
    }
}

fn compare(array: &str, found: &[u8], element: u64, wanted: impl Iterator<Item = u64>) -> Result<(), String> {
    difference(found, element, wanted).map_or(Ok(()), |(at, [found, wanted])| {
        Err(format!("{array}[{at}] is {found:#x} instead of {wanted:#x}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    const ENTROPY: &str = "values=4B distribution=entropy distribution.entropy.words=4";

    fn bytes(words: impl Iterator<Item = u64>, element: usize) -> Vec<u8> {
        words.flat_map(|word| word.to_le_bytes()[..element].to_vec()).collect()
    }

    #[test]
    fn it_accepts_a_sort_and_nothing_else() {
        for words in ["values=4B", "key=u64 values=8B distribution=few", "values=8B begin=3 end=9", ENTROPY] {
            let spec = spec(&format!("keys=100 {words}"));
            let keys = spec.source();
            let mut order: Vec<u64> = (0..100).collect();
            order.sort_by_key(|&i| (spec.digits(8).field(keys.at(i)), i));
            let mut output = bytes(order.iter().map(|&i| keys.at(i)), spec.key_bytes() as usize);
            output.extend(bytes(order.iter().map(|&i| keys.value(i, spec.value())), spec.value() as usize));
            assert_eq!(check(&spec, &keys, &output), Ok(()), "{words}");
            for at in [0, 3, output.len() - 1] {
                let mut wrong = output.clone();
                wrong[at] ^= 1;
                assert!(check(&spec, &keys, &wrong).is_err(), "{words} {at}");
            }
        }
    }

    /// Keys alone with equal fields may change places, but none may become another.
    #[test]
    fn the_order_of_equal_fields_is_free_without_values() {
        let spec = spec("keys=64 begin=8 end=9");
        let keys = spec.source();
        let mut sorted: Vec<u64> = (0..64).map(|i| keys.at(i)).collect();
        sorted.sort_by_key(|key| (key >> 8 & 1, *key));
        assert_eq!(check(&spec, &keys, &bytes(sorted.iter().copied(), 4)), Ok(()));
        sorted.reverse();
        assert!(check(&spec, &keys, &bytes(sorted.iter().copied(), 4)).unwrap_err().contains("not the 0th"));
        sorted.reverse();
        sorted[5] ^= 1;
        assert!(check(&spec, &keys, &bytes(sorted.iter().copied(), 4)).is_err());
    }
}
