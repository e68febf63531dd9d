//! Code shared by the CPU implementations of the primitives: arrays of keys and values, moves of single tuples, and
//! software write-combining.

pub mod tuple;
pub mod write_combining;

use crate::case::{Cancel, Failure};
use crate::device::cpu::{Buffer, OutputArray, Pool};

/// The names that most implementations on CPUs use: `use crate::primitives::cpu::prelude::*`.
pub mod prelude {
    pub use std::ops::Range;

    pub use crate::case::{Cancel, Failure, Fault, Verdict};
    pub use crate::device::cpu::{
        Buffer, Context, InputArray, Isa, OutputArray, Pool, PoolJob, PoolMethod, Worker, part, pieces,
    };
}

/// Keys and their values.
#[derive(Debug)]
pub struct Pairs {
    pub keys: Buffer,
    pub values: Buffer,
    /// Bytes of a key, and of a value; 0 without values.
    sizes: [u64; 2],
}

impl Pairs {
    /// Room for `n` keys and values of so many bytes.
    pub fn new(n: u64, sizes: [u64; 2]) -> Result<Pairs, Failure> {
        let buffer = |bytes: u64| Buffer::new((n * bytes) as usize);
        Ok(Pairs { keys: buffer(sizes[0])?, values: buffer(sizes[1])?, sizes })
    }

    /// Writes all keys and values, each a function of its place.
    pub fn fill(
        &mut self,
        pool: &Pool,
        cancel: &Cancel,
        key: impl Fn(u64) -> u64 + Sync,
        value: impl Fn(u64) -> u64 + Sync,
    ) -> Result<(), Failure> {
        let [key_bytes, value_bytes] = self.sizes;
        let n = self.keys.bytes() / key_bytes as usize;
        pool.fill_words(&mut self.keys, key_bytes, n, cancel, |i| key(i as u64))?;
        match value_bytes {
            0 => Ok(()),
            _ => pool.fill_words(&mut self.values, value_bytes, n, cancel, |i| value(i as u64)),
        }
    }

    /// The arrays, keys first.
    pub fn outputs(&self) -> Vec<OutputArray<'_>> {
        let [key, value] = self.sizes;
        vec![OutputArray::new(&self.keys, key), OutputArray::new(&self.values, value.max(4))]
    }

    /// Key `i`, once the workers are done.
    pub fn key(&self, i: usize) -> u64 {
        word(&self.keys, self.sizes[0], i)
    }

    /// Value `i`, once the workers are done; 0 without values.
    pub fn value(&self, i: usize) -> u64 {
        if self.sizes[1] == 0 { 0 } else { word(&self.values, self.sizes[1], i) }
    }
}

/// Element `i` of an array of elements of 4 or 8 bytes, to which nobody writes meanwhile. Unlike [`Buffer::number`] it never
/// reads behind the array.
pub fn word(array: &Buffer, bytes: u64, i: usize) -> u64 {
    assert!(i < array.bytes() / bytes as usize, "element {i} is in the array");
    // SAFETY: inside the array, and nobody writes.
    unsafe { array.number(bytes, i) }
}
