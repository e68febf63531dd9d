//! The floating-point types of matrices and vectors.

use std::ops::{Add, Div, Mul, Sub};

/// A floating-point type.
pub trait Real:
    Copy
    + Default
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// The rounding error of an operation, relative.
    const EPSILON: f64;

    fn of(value: f64) -> Self;

    fn wide(self) -> f64;

    /// A stored element.
    fn of_bytes(bytes: &[u8]) -> f64;
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON / 2.0;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    fn of_bytes(bytes: &[u8]) -> f64 {
        let array = bytes.first_chunk().copied().unwrap_or([0xFF; 8]);
        f64::from_le_bytes(array).wide()
    }
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64 / 2.0;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    fn of_bytes(bytes: &[u8]) -> f64 {
        let array = bytes.first_chunk().copied().unwrap_or([0xFF; 4]);
        f32::from_le_bytes(array).wide()
    }
}
