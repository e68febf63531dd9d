//! The data path of the kernels, implemented for each instruction set: loads of indices, gathers and scatters of
//! words, and loads and stores of as many consecutive words.
//!
//! All of it is inlined into named kernels that enable the instruction set; calls from elsewhere are undefined
//! behavior if the CPU lacks it. `_some` variants process the first `n` lanes, n < [`Simd::LANES`], and access no
//! other memory.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
pub use scalar::Scalar;

/// Defines functions of a vector trait, as `fn name(…) { … }`: unsafe, as the trait demands, and inlined into the
/// calling loop, which enables the instruction set.
macro_rules! inlined {
    ($(
        $(#[$meta:meta])*
        fn $name:ident $(<$($generic:ident)+: $bound:ident>)? ($($args:tt)*) $(-> $out:ty)? { $($body:tt)* }
    )*) => { $(
        $(#[$meta])*
        #[inline(always)]
        #[allow(unused_unsafe, reason = "some of them do nothing unsafe")]
        unsafe fn $name $(<$($generic)+: $bound>)? ($($args)*) $(-> $out)? {
            // SAFETY: by the caller's promise, which the trait demands.
            unsafe { $($body)* }
        }
    )* };
}

pub(crate) use inlined;

/// An index as stored in memory, 4 or 8 bytes.
pub trait Index: Copy + Send + Sync + 'static {
    /// Size in bytes.
    const BYTES: usize;

    /// Converts from a number that fits.
    fn of(value: u64) -> Self;

    /// Converts to a number.
    fn get(self) -> u64;
}

macro_rules! indices {
    ($($t:ident)+) => { $(
        impl Index for $t {
            const BYTES: usize = size_of::<$t>();

            #[inline(always)]
            fn of(value: u64) -> $t {
                value as $t
            }

            #[inline(always)]
            fn get(self) -> u64 {
                self.into()
            }
        }
    )+ };
}

indices!(u32 u64);

/// An instruction set, with vectors of indices.
///
/// # Safety
/// The functions read and write wherever their arguments point, and use the instruction set without checking
/// for it.
#[expect(clippy::missing_safety_doc, reason = "the trait says it for all its functions")]
pub trait Simd {
    /// Number of indices, and of words, processed together.
    const LANES: usize;

    /// [`LANES`](Simd::LANES) element indices.
    type At: Copy;

    /// Loads the indices at `from`.
    unsafe fn at<I: Index>(from: *const I) -> Self::At;

    /// Loads the first `n` indices; the other lanes are 0.
    unsafe fn at_some<I: Index>(from: *const I, n: usize) -> Self::At;

    /// The first lane.
    unsafe fn first(at: Self::At) -> usize;

    /// `table[at]`, for indirect indices.
    unsafe fn through<I: Index>(table: *const I, at: Self::At) -> Self::At;

    /// Writes the positions k in [0, n) with `low` ≤ `locations[k]` < `low` + `width` to `queue`, ascending,
    /// and returns their number. May write up to 16 more entries.
    unsafe fn select<I: Index>(locations: *const I, n: usize, low: u64, width: u64, queue: *mut u32)
    -> usize;
}

/// Vectors of words of type `C` (u32 or u64), with as many lanes as those of indices.
///
/// # Safety
/// As for [`Simd`].
#[expect(clippy::missing_safety_doc, reason = "the trait says it for all its functions")]
pub trait Lanes<C>: Simd {
    /// A vector of words.
    type Data: Copy;

    /// `from[at]`
    unsafe fn gather(from: *const C, at: Self::At) -> Self::Data;
    unsafe fn gather_some(from: *const C, at: Self::At, n: usize) -> Self::Data;
    /// Loads consecutive words.
    unsafe fn load(from: *const C) -> Self::Data;
    unsafe fn load_some(from: *const C, n: usize) -> Self::Data;
    /// Stores consecutive words.
    unsafe fn store(to: *mut C, data: Self::Data);
    unsafe fn store_some(to: *mut C, data: Self::Data, n: usize);
    /// Non-temporal [`store`](Lanes::store); `to` must be aligned to the vector.
    unsafe fn stream(to: *mut C, data: Self::Data);
}

/// Scatters, for instruction sets that have them.
///
/// # Safety
/// As for [`Simd`].
#[expect(clippy::missing_safety_doc, reason = "the trait says it for all its functions")]
pub trait Scatter<C>: Lanes<C> {
    /// `to[at] = data`, in lane order.
    unsafe fn scatter(to: *mut C, at: Self::At, data: Self::Data);
    unsafe fn scatter_some(to: *mut C, at: Self::At, data: Self::Data, n: usize);
}

/// Sums of 64-bit words, for kernels that store nothing.
///
/// # Safety
/// As for [`Simd`].
#[expect(clippy::missing_safety_doc, reason = "the trait says it for all its functions")]
pub trait Fold: Lanes<u64> {
    unsafe fn zero() -> Self::Data;
    unsafe fn fold(a: Self::Data, b: Self::Data) -> Self::Data;
    /// Folds all lanes into one word.
    unsafe fn total(a: Self::Data) -> u64;
}

/// Combines two words for [`Fold`]: a wrapping sum. Unlike an exclusive or, it does not cancel the words that a
/// pattern reads an even number of times.
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

#[cfg(test)]
mod tests;
