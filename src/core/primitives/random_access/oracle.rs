//! The sequential oracle of random-access, access by access.

use super::{Kernel, Spec};
use crate::primitives::oracle::{check_length, words64};

/// The four-byte pattern of untouched memory.
const POISON: u32 = 0xDEAD_BEEF;

/// Compares an output with the definition: for read the sum, else the array.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    match spec.kernel {
        Kernel::Read => check_sum(spec, output),
        Kernel::Write => check_array(spec, output),
    }
}

fn check_sum(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 8)?;
    let order = spec.order();
    let wanted = (0..spec.accesses).fold(0u64, |sum, i| sum.wrapping_add(spec.sum_of(order.apply(i))));
    match words64(output).next() {
        Some(found) if found == wanted => Ok(()),
        found => Err(format!("the sum is {found:?} instead of {wanted}")),
    }
}

fn check_array(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, spec.footprint)?;
    let (order, element) = (spec.order(), spec.element as usize);
    let width = element.min(8);
    let mut visited = vec![false; spec.elements() as usize];
    (0..spec.accesses).for_each(|i| visited[order.apply(i) as usize] = true);
    for (j, words) in output.chunks_exact(element).enumerate() {
        for (w, bytes) in words.chunks_exact(width).enumerate() {
            let mut word = [0; 8];
            word[..width].copy_from_slice(bytes);
            let (found, w) = (u64::from_le_bytes(word), w as u64);
            let right = match visited[j] {
                true => spec.is_written(found, order.invert(j as u64), w, spec.accesses),
                false => bytes.chunks_exact(4).all(|half| half == POISON.to_le_bytes()),
            };
            if !right {
                return Err(format!("word {w} of element {j} is {found:#x}"));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::params;
    use super::*;

    fn spec(kernel: &str, footprint: u64, accesses: u64, element: u64) -> Spec {
        Spec::from_params(&params(kernel, footprint, accesses, element), 9).expect("a case")
    }

    #[test]
    fn it_accepts_the_definition_and_nothing_else() {
        let (read, write) = (spec("read", 64, 5, 8), spec("write", 16, 3, 4));
        let sum = (0..5).fold(0u64, |s, i| s.wrapping_add(read.sum_of(read.order().apply(i))));
        assert_eq!(check(&read, &sum.to_le_bytes()), Ok(()));
        assert!(check(&read, &(sum + 1).to_le_bytes()).is_err());
        let left = write.order().apply(3);
        let words = (0..4).map(|j| if j == left { POISON } else { write.order().invert(j) as u32 });
        let mut output: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
        assert_eq!(check(&write, &output), Ok(()));
        output[left as usize * 4] ^= 1;
        assert!(check(&write, &output).is_err());
        assert!(check(&write, &output[..3]).is_err());
    }
}
