//! Code shared by the oracles: comparing an output's bytes with the definition.

/// The maximum output in bytes that an oracle examines: it works on one thread, in host memory.
pub const LIMIT: u64 = 1 << 30;

/// Fails unless `output` has `bytes` bytes, and few enough for an oracle.
pub fn check_length(output: &[u8], bytes: u64) -> Result<(), String> {
    if bytes > LIMIT {
        return Err(format!("{bytes} bytes are too many for the oracle, which takes at most {LIMIT}"));
    }
    match output.len() as u64 {
        found if found == bytes => Ok(()),
        found => Err(format!("the output has {found} bytes instead of {bytes}")),
    }
}

/// An array as little-endian words of `element` bytes, at most 8; an incomplete last one is dropped.
pub fn words(array: &[u8], element: u64) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    array.chunks_exact(element.max(1) as usize).map(word)
}

/// The place at which an array first differs from the wanted one, with the word found there and the one wanted.
pub fn difference(
    array: &[u8],
    element: u64,
    wanted: impl Iterator<Item = u64>,
) -> Option<(usize, [u64; 2])> {
    let mut pairs = words(array, element).zip(wanted).enumerate();
    pairs.find(|(_, (found, wanted))| found != wanted).map(|(at, (found, wanted))| (at, [found, wanted]))
}

/// The output as little-endian 64-bit words; an incomplete last word is dropped.
pub fn words64(output: &[u8]) -> impl Iterator<Item = u64> {
    output.chunks_exact(8).map(|chunk| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}

/// Compares word by word.
pub fn compare_words64(output: &[u8], expected: impl Iterator<Item = u64>) -> Result<(), String> {
    if !output.len().is_multiple_of(8) {
        return Err(format!("{} bytes are not a whole number of words", output.len()));
    }
    for (at, (found, wanted)) in words64(output).zip(expected).enumerate() {
        if found != wanted {
            return Err(format!("word {at} is {found:#018x} instead of {wanted:#018x}"));
        }
    }
    Ok(())
}
