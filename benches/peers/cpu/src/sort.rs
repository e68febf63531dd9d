//! The peers of the primitive sort.

use std::time::Instant;

use rayon::prelude::*;
use rdst::RadixSort as _;

use crate::case::{Case, NotApplicable};
use crate::inputs::mix::mix64;
use crate::item::{Item, Pair};
use crate::keys::SortKeys;
use crate::threads::{Pinning, Threads, require};
use crate::work::{Setting, Work};

/// A sort of a crate, with the setting that selects it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sort {
    RdstStandard,
    RdstLowMemory,
    RdstSingle,
    Voracious,
    RayonUnstable,
    RayonStable,
    StdUnstable,
    StdStable,
}

impl Sort {
    /// The sorts of a peer, the usual one first. Pairs are sorted stably where the crate has a stable sort.
    fn of(peer: &str, pairs: bool, threads: usize) -> Vec<Sort> {
        match (peer, pairs) {
            ("rdst", _) if threads == 1 => vec![Sort::RdstSingle],
            ("rdst", _) => vec![Sort::RdstStandard, Sort::RdstLowMemory],
            ("voracious", _) => vec![Sort::Voracious],
            ("rayon-sort", true) => vec![Sort::RayonStable],
            ("rayon-sort", false) => vec![Sort::RayonUnstable, Sort::RayonStable],
            (_, true) => vec![Sort::StdStable],
            (_, false) => vec![Sort::StdUnstable, Sort::StdStable],
        }
    }

    fn setting(self, threads: usize) -> Setting {
        let (name, word) = match self {
            Sort::RdstStandard => ("tuner", "standard"),
            Sort::RdstLowMemory => ("tuner", "low-memory"),
            Sort::RdstSingle => ("tuner", "single-threaded"),
            Sort::Voracious if threads == 1 => ("order", "unstable-single"),
            Sort::Voracious => ("order", "unstable-multi"),
            Sort::RayonUnstable | Sort::StdUnstable => ("order", "unstable"),
            Sort::RayonStable | Sort::StdStable => ("order", "stable"),
        };
        (name, word.to_owned())
    }

    fn is_stable(self) -> bool {
        matches!(self, Sort::RayonStable | Sort::StdStable)
    }

    fn sort<T: Item>(self, items: &mut [T], threads: usize) {
        match self {
            Sort::RdstStandard => items.radix_sort_unstable(),
            Sort::RdstLowMemory => items.radix_sort_builder().with_low_mem_tuner().sort(),
            Sort::RdstSingle => {
                items.radix_sort_builder().with_parallel(false).with_single_threaded_tuner().sort();
            }
            Sort::Voracious => T::voracious(items, threads),
            Sort::RayonUnstable => items.par_sort_unstable_by_key(T::key),
            Sort::RayonStable => items.par_sort_by_key(T::key),
            Sort::StdUnstable => items.sort_unstable_by_key(T::key),
            Sort::StdStable => items.sort_by_key(T::key),
        }
    }
}

/// Prepares a case of the primitive sort.
pub fn prepare(peer: &str, case: &mut Case) -> Result<Box<dyn Work>, NotApplicable> {
    let pinning = if peer == "voracious" { Pinning::Together } else { Pinning::Each };
    let (threads, keys) = (Threads::of(case, pinning)?, SortKeys::of(case)?);
    case.nothing_else()?;
    Ok(match (keys.wide(), keys.value) {
        (false, 0) => Box::new(Sorting::<u32>::new(peer, keys, threads)?),
        (false, 4) => Box::new(Sorting::<Pair<u32, u32>>::new(peer, keys, threads)?),
        (false, _) => Box::new(Sorting::<Pair<u32, u64>>::new(peer, keys, threads)?),
        (true, 0) => Box::new(Sorting::<u64>::new(peer, keys, threads)?),
        (true, 4) => Box::new(Sorting::<Pair<u64, u32>>::new(peer, keys, threads)?),
        (true, _) => Box::new(Sorting::<Pair<u64, u64>>::new(peer, keys, threads)?),
    })
}

/// Sorts in place a fresh copy of the input.
struct Sorting<T> {
    keys: SortKeys,
    sorts: Vec<Sort>,
    threads: Threads,
    /// Threads that the crate uses.
    used: usize,
    input: Vec<T>,
    items: Vec<T>,
    stable: bool,
}

impl<T: Item> Sorting<T> {
    fn new(peer: &str, keys: SortKeys, threads: Threads) -> Result<Sorting<T>, NotApplicable> {
        let used = if peer == "std-sort" { 1 } else { threads.count };
        // The sorts that are not in place need as much again.
        require(3 * keys.n * size_of::<T>() as u64)?;
        let input: Vec<T> = threads.array(keys.n as usize, |i| T::at(&keys, i));
        let items = threads.array(keys.n as usize, |_| T::default());
        let sorts = Sort::of(peer, keys.value > 0, used);
        Ok(Sorting { keys, sorts, threads, used, input, items, stable: false })
    }

    /// Elements out of order, pairs whose value belongs to another key, and, after a stable sort, pairs of equal keys
    /// that have traded places.
    fn misplaced(&self) -> u64 {
        let index = |item: &T| item.value().map(|value| self.keys.index(value));
        let strange = |item: &&T| {
            index(item).is_some_and(|i| i >= self.keys.n || T::at(&self.keys, i).word() != item.word())
        };
        let turned = |pair: &&[T]| {
            let (a, b) = (&pair[0], &pair[1]);
            let equal = self.stable && a.word() == b.word();
            a.word() > b.word() || (equal && index(a).is_some() && index(a) >= index(b))
        };
        self.items.iter().filter(strange).count() as u64 + self.items.windows(2).filter(turned).count() as u64
    }
}

/// A sum that depends on the keys and not on their order.
fn sum_of<T: Item>(items: &[T]) -> u64 {
    items.iter().fold(0, |sum, item| sum.wrapping_add(mix64(item.word().wrapping_add(1))))
}

impl<T: Item> Work for Sorting<T> {
    fn ways(&self) -> Vec<Vec<Setting>> {
        let threads = ("threads", self.used.to_string());
        self.sorts.iter().map(|sort| vec![sort.setting(self.used), threads.clone()]).collect()
    }

    fn execute(&mut self, way: usize) -> f64 {
        let (sort, used) = (self.sorts[way], self.used);
        self.stable = sort.is_stable();
        self.threads.copy(&self.input, &mut self.items);
        let items = &mut self.items;
        // The clock is read in the pool, so that waking it up is not included.
        self.threads.install(|| {
            let start = Instant::now();
            sort.sort(items, used);
            start.elapsed().as_secs_f64()
        })
    }

    fn wrong(&self) -> u64 {
        self.misplaced() + u64::from(sum_of(&self.items) != sum_of(&self.input))
    }

    fn effective_bytes(&self) -> u64 {
        let key = if self.keys.wide() { 8 } else { 4 };
        2 * self.keys.n * (key + self.keys.value)
    }

    fn memory(&self) -> u64 {
        2 * self.keys.n * size_of::<T>() as u64
    }
}
