//! What is sorted: keys alone, or a key and its value side by side in one element, as the crates take them. (The lab's
//! pairs are two arrays.)

use rdst::RadixKey;
use voracious_radix_sort::{RadixSort as _, Radixable};

use crate::keys::SortKeys;

/// An element of an array to be sorted.
pub trait Item: Copy + Default + Send + Sync + RadixKey {
    type Key: Ord;

    fn key(&self) -> Self::Key;

    /// The key, widened.
    fn word(&self) -> u64;

    /// The value; `None` of a key alone.
    fn value(&self) -> Option<u64>;

    /// Element `i` of the input.
    fn at(keys: &SortKeys, i: u64) -> Self;

    /// The sort of `voracious_radix_sort` with this many threads.
    fn voracious(items: &mut [Self], threads: usize);
}

/// A key and its value. Equal and ordered as the keys are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pair<K, V> {
    key: K,
    value: V,
}

impl<K: PartialEq, V> PartialEq for Pair<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<K: PartialOrd, V> PartialOrd for Pair<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.key.partial_cmp(&other.key)
    }
}

impl<K: RadixKey, V> RadixKey for Pair<K, V> {
    const LEVELS: usize = K::LEVELS;

    #[inline]
    fn get_level(&self, level: usize) -> u8 {
        self.key.get_level(level)
    }
}

/// Sorts by `voracious_radix_sort`: one thread has a sort of its own there.
fn voracious<T: Radixable<K>, K: voracious_radix_sort::RadixKey>(items: &mut [T], threads: usize) {
    if threads == 1 { items.voracious_sort() } else { items.voracious_mt_sort(threads) }
}

macro_rules! key {
    ($key:ty) => {
        impl Item for $key {
            type Key = $key;

            #[inline]
            fn key(&self) -> $key {
                *self
            }

            fn word(&self) -> u64 {
                (*self).into()
            }

            fn value(&self) -> Option<u64> {
                None
            }

            fn at(keys: &SortKeys, i: u64) -> $key {
                keys.key(i) as $key
            }

            fn voracious(items: &mut [$key], threads: usize) {
                voracious(items, threads);
            }
        }

        impl<V: Copy + Send + Sync> Radixable<$key> for Pair<$key, V> {
            type Key = $key;

            #[inline]
            fn key(&self) -> $key {
                self.key
            }
        }
    };
}

macro_rules! pair {
    ($key:ty, $value:ty) => {
        impl Item for Pair<$key, $value> {
            type Key = $key;

            #[inline]
            fn key(&self) -> $key {
                self.key
            }

            fn word(&self) -> u64 {
                self.key.into()
            }

            fn value(&self) -> Option<u64> {
                Some(self.value.into())
            }

            fn at(keys: &SortKeys, i: u64) -> Self {
                Pair { key: keys.key(i) as $key, value: keys.value(i) as $value }
            }

            fn voracious(items: &mut [Self], threads: usize) {
                voracious(items, threads);
            }
        }
    };
}

key!(u32);
key!(u64);
pair!(u32, u32);
pair!(u32, u64);
pair!(u64, u32);
pair!(u64, u64);
