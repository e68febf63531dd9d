//! Mutations of inputs, determined by a seed.

/// SplitMix64: a failing seed determines the whole input.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn pick<'t, T>(&mut self, items: &'t [T]) -> &'t T {
        &items[self.below(items.len())]
    }
}

/// Digits, signs and units.
const NUMERIC: &[u8] = b"0123456789.xkMGiB+-";

/// One of the corpus after one to eight small accidents.
pub fn mutated(corpus: &[Vec<u8>], tokens: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = random.pick(corpus).clone();
    let most = *random.pick(&[1, 2, 8]);
    for _ in 0..=random.below(most) {
        let (from, to) = span(&bytes, random);
        match random.below(7) {
            0 => bytes[from..to].iter_mut().take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
            1 => drop(bytes.drain(from..to)),
            2 => drop(bytes.splice(from..from, random.pick(tokens).bytes())),
            3 => drop(bytes.splice(from..to, random.pick(tokens).bytes())),
            4 => {
                let copy = bytes[from..to].to_vec();
                drop(bytes.splice(from..from, copy));
            }
            5 => {
                let other = random.pick(corpus);
                let (a, b) = span(other, random);
                drop(bytes.splice(from..from, other[a..b].iter().copied()));
            }
            _ => {
                let digits: Vec<u8> = (0..random.below(6)).map(|_| *random.pick(NUMERIC)).collect();
                drop(bytes.splice(from..to, digits));
            }
        }
    }
    bytes
}

/// A short span of a text, or occasionally a long one.
fn span(bytes: &[u8], random: &mut Random) -> (usize, usize) {
    let from = random.below(bytes.len() + 1);
    let longest = if random.below(8) == 0 { bytes.len() } else { 12 };
    (from, (from + random.below(longest + 1)).min(bytes.len()))
}
