//! Inputs in host memory that cases share: matrices, graphs and what is rearranged from them. Each is made once, by the first
//! case that asks for it, and nobody can change it afterwards: it is handed out behind an [`Arc`], and a case copies it into
//! arrays of its own before anything is timed.
//!
//! An input is known by a name, which states all that determines it (generator, sizes and seed, or the hash of a file), and a
//! form of it by a name and its type. What is kept takes at most half of the memory that would be free without it; the input
//! that was used least recently goes first, and any of them goes when a case needs its room. So what fits does not depend on
//! what is kept: a case may take all that is free and all that is kept ([`Shared::room`]).

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::graph::Graph;
use super::sparse::Csr;
use crate::memory;

/// Contents that are kept, and their size.
pub trait Contents: Any + Send + Sync {
    /// Bytes in memory.
    fn bytes(&self) -> u64;
}

impl<T: Copy + Send + Sync + 'static> Contents for Vec<T> {
    fn bytes(&self) -> u64 {
        size_of_val(&self[..]) as u64
    }
}

impl<V: Copy + Send + Sync + 'static> Contents for Csr<V> {
    fn bytes(&self) -> u64 {
        self.starts.bytes() + self.indices.bytes() + self.values.bytes()
    }
}

impl Contents for Graph {
    fn bytes(&self) -> u64 {
        Graph::bytes(self)
    }
}

/// A form of an input.
struct Kept {
    input: String,
    form: String,
    bytes: u64,
    contents: Arc<dyn Any + Send + Sync>,
}

#[derive(Default)]
struct State {
    /// The least recently used first.
    kept: Vec<Kept>,
    /// Forms that were made.
    made: u64,
}

impl State {
    fn bytes(&self) -> u64 {
        self.kept.iter().map(|kept| kept.bytes).sum()
    }

    fn find<T: Contents>(&mut self, input: &str, form: &str) -> Option<Arc<T>> {
        let is = |kept: &Kept| kept.input == input && kept.form == form && kept.contents.is::<T>();
        let at = self.kept.iter().position(is)?;
        let latest = self.kept.remove(at);
        let contents = latest.contents.clone();
        self.kept.push(latest);
        contents.downcast().ok()
    }
}

/// The inputs that the cases of a plan share.
#[derive(Default)]
pub struct Shared {
    state: Mutex<State>,
    /// Most bytes that are kept, in place of the rule.
    limit: Option<u64>,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("bytes", &self.bytes()).field("made", &self.made()).finish()
    }
}

impl Shared {
    /// Inputs of which at most so many bytes are kept.
    pub fn with_limit(bytes: u64) -> Shared {
        Shared { limit: Some(bytes), ..Shared::default() }
    }

    /// A form of an input: as it was made before, or made by `make`, which needs `needs` bytes meanwhile.
    ///
    /// # Errors
    /// Errors of `make`.
    pub fn get<T: Contents, E>(
        &self,
        input: &str,
        form: &str,
        needs: u64,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        if let Some(found) = self.state().find(input, form) {
            return Ok(found);
        }
        self.touch(input);
        self.make_room(needs);
        // Without the lock: a form is made of another one.
        let made = Arc::new(make()?);
        self.keep(input, form, &made);
        Ok(made)
    }

    fn keep<T: Contents>(&self, input: &str, form: &str, made: &Arc<T>) {
        let bytes = made.bytes();
        let free = || memory::available().unwrap_or(UNKNOWN);
        let mut state = self.state();
        state.made += 1;
        let most = self.limit.unwrap_or_else(|| (free() + state.bytes() + bytes) / 2);
        if bytes > most {
            return;
        }
        while state.bytes() + bytes > most {
            state.kept.remove(0);
        }
        let (input, form) = (input.to_owned(), form.to_owned());
        state.kept.push(Kept { input, form, bytes, contents: made.clone() });
    }

    /// True if some form of an input is kept.
    pub fn holds(&self, input: &str) -> bool {
        self.state().kept.iter().any(|kept| kept.input == input)
    }

    /// Counts an input as the one used last, which goes last: a case's own, before room is made for the case.
    pub fn touch(&self, input: &str) {
        // The order is otherwise unchanged, because the sort is stable.
        self.state().kept.sort_by_key(|kept| kept.input == input);
    }

    /// Lets go of all forms of an input.
    pub fn let_go(&self, input: &str) {
        self.state().kept.retain(|kept| kept.input != input);
    }

    /// Lets go of everything.
    pub fn clear(&self) {
        self.state().kept.clear();
    }

    /// Bytes that are kept.
    pub fn bytes(&self) -> u64 {
        self.state().bytes()
    }

    /// The number of forms that were made so far.
    pub fn made(&self) -> u64 {
        self.state().made
    }

    /// Bytes that a case may take: those that are free, and those that are kept. `None` if the system does not tell.
    pub fn room(&self) -> Option<u64> {
        memory::available().map(|free| free.saturating_add(self.bytes()))
    }

    /// Lets go of inputs, the least recently used first, until so many bytes are free or nothing is kept.
    pub fn make_room(&self, bytes: u64) {
        let mut state = self.state();
        while !state.kept.is_empty() && memory::available().is_some_and(|free| free < bytes) {
            state.kept.remove(0);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that count as free where the system does not tell.
const UNKNOWN: u64 = 2 << 30;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Generator;

    type Never = std::convert::Infallible;

    fn numbers(shared: &Shared, input: &str, count: usize) -> Arc<Vec<u32>> {
        shared.get(input, "numbers", 0, || Ok::<_, Never>(vec![7; count])).expect("made")
    }

    #[test]
    fn an_input_is_made_once_and_is_the_same_array_for_all() {
        let shared = Shared::default();
        let make = || Generator::Rmat { scale: 9, entries: 4 }.make(3);
        let [one, other] = [0, 1].map(|_| shared.get("rmat", "rows", 0, make).expect("made"));
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!((shared.made(), *one == make().expect("made")), (1, true));
        assert_eq!(shared.bytes(), one.bytes());
        // Another type, another form and another input are others.
        numbers(&shared, "rmat", 1);
        let form = shared.get("rmat", "transposed", 0, make).expect("made");
        assert!(!Arc::ptr_eq(&one, &form) && shared.made() == 3);
    }

    #[test]
    fn what_was_used_least_recently_goes_first() {
        let shared = Shared::with_limit(100);
        numbers(&shared, "a", 10);
        numbers(&shared, "b", 10);
        numbers(&shared, "a", 10);
        numbers(&shared, "c", 10);
        assert_eq!(["a", "b", "c"].map(|input| shared.holds(input)), [true, false, true]);
        assert_eq!((shared.bytes(), shared.made()), (80, 3));
        let large = numbers(&shared, "d", 26);
        assert_eq!((large.len(), shared.holds("d"), shared.bytes()), (26, false, 80), "too large to be kept");
        shared.let_go("a");
        assert_eq!((shared.holds("a"), shared.bytes()), (false, 40));
        numbers(&shared, "e", 10);
        shared.touch("c");
        numbers(&shared, "f", 10);
        assert_eq!(
            ["c", "e", "f"].map(|input| shared.holds(input)),
            [true, false, true],
            "e has waited longest"
        );
    }

    /// A case that needs more than is free gets what is kept; what another case still uses stays whole.
    #[test]
    fn inputs_go_when_a_case_needs_the_room() {
        let shared = Shared::default();
        let used = numbers(&shared, "a", 1000);
        shared.make_room(1);
        assert!(shared.holds("a"));
        assert!(shared.room() >= Some(shared.bytes()));
        shared.make_room(u64::MAX);
        assert_eq!((shared.holds("a"), shared.bytes(), used.len()), (false, 0, 1000));
        numbers(&shared, "a", 1000);
        assert_eq!(shared.made(), 2);
    }

    #[test]
    fn a_form_may_be_made_of_another_and_a_failure_is_not_kept() {
        let shared = Shared::default();
        let twice = shared.get("a", "twice", 0, || {
            Ok::<_, Never>(numbers(&shared, "a", 3).iter().map(|n| 2 * n).collect::<Vec<u32>>())
        });
        assert_eq!((twice.expect("made").as_slice(), shared.made()), (&[14; 3][..], 2));
        assert_eq!(shared.get("b", "numbers", 0, || Err::<Vec<u32>, _>("no file")), Err("no file"));
        assert!(!shared.holds("b"));
    }
}
