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

/// An expression in which a name stands for the number of a case's type, which the caller calls `Type`.
macro_rules! for_type {
    ($ty:expr, $number:ident => $of_number:expr) => {
        match $ty {
            Type::F32 => {
                type $number = f32;
                $of_number
            }
            Type::F64 => {
                type $number = f64;
                $of_number
            }
        }
    };
}

pub(crate) use for_type;

macro_rules! reals {
    ($($t:ident)+) => { $(
        impl Real for $t {
            const EPSILON: f64 = $t::EPSILON as f64 / 2.0;

            #[inline(always)]
            fn of(value: f64) -> $t {
                value as $t
            }

            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }

            fn of_bytes(bytes: &[u8]) -> f64 {
                let array = bytes.first_chunk().copied().unwrap_or([0xFF; size_of::<$t>()]);
                $t::from_le_bytes(array).wide()
            }
        }
    )+ };
}

reals!(f64 f32);
