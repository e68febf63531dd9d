//! What goes on around a measurement.

use crate::measure::noise::Conditions;

/// Looks at the machine before and after a round of a case.
pub trait Watch {
    /// Right before the preparation.
    fn begin(&mut self);

    /// Right after the last sample: what went on since [`begin`](Watch::begin).
    fn end(&mut self) -> Conditions;
}

/// Sees nothing: for tests, and for systems that tell nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Blind;

impl Watch for Blind {
    fn begin(&mut self) {}

    fn end(&mut self) -> Conditions {
        Conditions::default()
    }
}
