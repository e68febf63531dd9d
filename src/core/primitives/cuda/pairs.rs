//! Arrays of keys and of their values on a GPU, as sorts and multisplits read and write them.

use super::prelude::*;

/// Pointers to keys and to values, either of one word or two; the second is unused if there are no values.
pub type Pair = [DevicePtr<u32>; 2];

/// Keys and their values, as words; of either at least one.
pub struct Pairs {
    pub keys: DeviceBuffer<u32>,
    pub values: DeviceBuffer<u32>,
    n: u64,
    /// Bytes of a key, and of a value; 0 without values.
    sizes: [u64; 2],
}

impl Pairs {
    /// Room for `n` keys and values of so many bytes.
    pub fn new(gpu: &Gpu, n: u64, sizes: [u64; 2]) -> Result<Pairs, Failure> {
        let [keys, values] = sizes.map(|bytes| array(gpu, (n * bytes / 4).max(1)));
        Ok(Pairs { keys: keys?, values: values?, n, sizes })
    }

    /// The addresses of the arrays.
    pub fn pointers(&self) -> Pair {
        [self.keys.pointer(), self.values.pointer()]
    }

    /// The addresses of key and value `i`.
    pub fn pointers_at(&self, i: u64) -> Result<Pair, Failure> {
        let at = |array: &DeviceBuffer<u32>, bytes: u64| array.pointer_at(length(i * bytes / 4)?);
        Ok([at(&self.keys, self.sizes[0])?, at(&self.values, self.sizes[1])?])
    }

    /// The arrays as outputs, keys first.
    pub fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let [key, value] = self.sizes;
        vec![
            OutputArray::new(&mut self.keys, key).first(self.n),
            OutputArray::new(&mut self.values, value).first(self.n),
        ]
    }
}
