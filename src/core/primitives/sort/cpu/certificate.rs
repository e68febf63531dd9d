//! The certificate: keys in order and, without values, sums over hashes of the keys that do not depend on their
//! order; with values, each of them followed to its place in the input.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Sort;
use crate::case::{Cancel, Failure};
use crate::device::cpu::Pool;
use crate::device::cpu::check::{Bitmap, find};
use crate::inputs::mix::mix64;

/// Describes the first mistake; `None` if there is none.
pub fn judge(sort: &Sort, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let mistake =
        find(pool, sort.n(), cancel, |block| block.into_iter().find_map(|i| out_of_order(sort, i)))?;
    match mistake {
        Some(mistake) => Ok(Some(mistake)),
        None if sort.spec.value() > 0 => origins(sort, pool, cancel),
        None => sums(sort, pool, cancel),
    }
}

/// The place in the input from which element `i` has come.
fn origin(sort: &Sort, i: usize) -> u64 {
    sort.spec.source_index(sort.output.value(i))
}

/// Compares element `i` with the one before it.
fn out_of_order(sort: &Sort, i: usize) -> Option<String> {
    let field = sort.spec.digits(8);
    let (before, this) = (sort.output.key(i.checked_sub(1)?), sort.output.key(i));
    match field.field(before).cmp(&field.field(this)) {
        std::cmp::Ordering::Greater => Some(format!("keys[{i}] is {this:#x}, but follows {before:#x}")),
        std::cmp::Ordering::Equal if sort.spec.value() > 0 && origin(sort, i - 1) >= origin(sort, i) => {
            let (from, to) = (origin(sort, i - 1), origin(sort, i));
            Some(format!("keys[{i}] was at {to} in the input, but the equal key before it was at {from}"))
        }
        _ => None,
    }
}

/// Compares sums of hashes with those of the input.
fn sums(sort: &Sort, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let source = &sort.keys;
    let join = |[a, b]: [u64; 2], i: usize| {
        let (found, given) = (sort.output.key(i), source.at(i as u64));
        let add = |sum: u64, plus: u64, minus: u64| sum.wrapping_add(plus).wrapping_sub(minus);
        [add(a, mix64(found), mix64(given)), add(b, mix64(!found), mix64(!given))]
    };
    let parts = pool.fold(sort.n(), cancel, [0; 2], join)?;
    let sum = |k: usize| parts.iter().fold(0u64, |sum, part| sum.wrapping_add(part[k]));
    let same = sum(0) == 0 && sum(1) == 0;
    Ok((!same).then(|| "the output is not a permutation of the input".to_owned()))
}

/// Follows every value.
fn origins(sort: &Sort, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
    let (n, source) = (sort.spec.keys, &sort.keys);
    let (touched, distinct) = (Bitmap::new(sort.n())?, AtomicU64::new(0));
    let mistake = find(pool, sort.n(), cancel, |block| {
        let mut mine = 0;
        for i in block {
            let (from, key) = (origin(sort, i), sort.output.key(i));
            if from >= n || source.at(from) != key {
                return Some(format!("the value beside keys[{i}] does not belong to its key, {key:#x}"));
            }
            mine += u64::from(!touched.set(from as usize));
        }
        distinct.fetch_add(mine, Ordering::Relaxed);
        None
    })?;
    let lost = || "the output is not a permutation of the input".to_owned();
    Ok(mistake.or_else(|| (distinct.into_inner() != n).then(lost)))
}
