//! The proof of a scatter whose uses start anywhere, and of gs: who may write a word is not
//! computed from its place, where many entries of a pattern would have to be tried; instead,
//! each writer looks whether the word is the one that it stores.

use super::Patterns;
use super::scattered::Writers;
use crate::case::{Cancel, Failure};
use crate::device::cpu::Pool;
use crate::device::cpu::check::{Bitmap, poison};
use crate::inputs::mix::word64;
use crate::primitives::pattern::spec::Kernel;

impl Patterns {
    /// After an execution as the clock does it: every word that the definition writes holds
    /// a word that one of its writers stores, and the others the poison.
    pub(super) fn unexplained(
        &self,
        writers: &Writers,
        touched: &Bitmap,
        pool: &Pool,
        cancel: &Cancel,
    ) -> Result<Option<String>, Failure> {
        poison(pool, self.destination(), 8, cancel)?;
        self.run_timed(pool);
        let explained = Bitmap::new(self.destination().holds::<u64>())?;
        self.for_entries(pool, cancel, |i, j| {
            let place = writers.place(i, j);
            if self.word(place) == word64(self.spec.seed, self.stored(i, j)) {
                explained.set(place as usize);
            }
        })?;
        self.wrong_word(touched, pool, cancel, |place, _| explained.get(place as usize))
    }

    /// Which word of its source entry `j` of visit `i` stores.
    fn stored(&self, i: u64, j: u64) -> u64 {
        match self.spec.kernel {
            Kernel::Gs => self.spec.gather[j as usize] + self.sources.at(i),
            _ => j + self.spec.length() * (i % self.spec.wrap),
        }
    }
}
