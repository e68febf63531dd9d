//! The data path of the kernels, once for each instruction set: loads of indices,
//! gathers, scatters, and moves of the same number of words.
//!
//! Everything here is inlined into named kernels that enable the instruction set; a
//! call from elsewhere is undefined where the processor lacks it. `_some` variants
//! handle the first `n` lanes, n < [`Simd::LANES`], and touch no other memory.

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

/// An index as it lies in memory, 4 or 8 bytes.
pub trait Index: Copy + Send + Sync + 'static {
    /// Its size.
    const BYTES: usize;

    /// From a number that fits.
    fn of(value: u64) -> Self;

    /// The number.
    fn get(self) -> u64;
}

impl Index for u32 {
    const BYTES: usize = 4;

    #[inline(always)]
    fn of(value: u64) -> u32 {
        value as u32
    }

    #[inline(always)]
    fn get(self) -> u64 {
        u64::from(self)
    }
}

impl Index for u64 {
    const BYTES: usize = 8;

    #[inline(always)]
    fn of(value: u64) -> u64 {
        value
    }

    #[inline(always)]
    fn get(self) -> u64 {
        self
    }
}

/// An instruction set: vectors of indices.
///
/// # Safety
/// The functions read and write where their arguments say, and use the instruction
/// set without asking whether it is there.
#[allow(clippy::missing_safety_doc)]
pub trait Simd {
    /// Indices, and words, handled together.
    const LANES: usize;

    /// [`LANES`](Simd::LANES) element numbers.
    type At: Copy;

    /// The indices at `from`.
    unsafe fn at<I: Index>(from: *const I) -> Self::At;

    /// The first `n` of them; the others are 0.
    unsafe fn at_some<I: Index>(from: *const I, n: usize) -> Self::At;

    /// The first of them.
    unsafe fn first(at: Self::At) -> usize;

    /// `table[at]`, for an index that goes through another.
    unsafe fn through<I: Index>(table: *const I, at: Self::At) -> Self::At;

    /// Writes the positions k in [0, n) with `low` ≤ `locations[k]` < `low` + `width` to
    /// `queue`, ascending, and returns how many. May write up to 16 entries more.
    unsafe fn select<I: Index>(locations: *const I, n: usize, low: u64, width: u64, queue: *mut u32)
    -> usize;
}

/// Vectors of words of type `C` (u32 or u64), as many as indices.
///
/// # Safety
/// As [`Simd`].
#[allow(clippy::missing_safety_doc)]
pub trait Lanes<C>: Simd {
    /// The words.
    type Data: Copy;

    /// `from[at]`
    unsafe fn gather(from: *const C, at: Self::At) -> Self::Data;
    unsafe fn gather_some(from: *const C, at: Self::At, n: usize) -> Self::Data;
    /// Consecutive words.
    unsafe fn load(from: *const C) -> Self::Data;
    unsafe fn load_some(from: *const C, n: usize) -> Self::Data;
    /// Consecutive words.
    unsafe fn store(to: *mut C, data: Self::Data);
    unsafe fn store_some(to: *mut C, data: Self::Data, n: usize);
    /// [`store`](Lanes::store) without a temporal hint; `to` aligned to the vector.
    unsafe fn stream(to: *mut C, data: Self::Data);
}

/// What an instruction set with a scatter adds.
///
/// # Safety
/// As [`Simd`].
#[allow(clippy::missing_safety_doc)]
pub trait Scatter<C>: Lanes<C> {
    /// `to[at] = data`, lane after lane.
    unsafe fn scatter(to: *mut C, at: Self::At, data: Self::Data);
    unsafe fn scatter_some(to: *mut C, at: Self::At, data: Self::Data, n: usize);
}

/// Sums of 64-bit words, for kernels that store nothing.
///
/// # Safety
/// As [`Simd`].
#[allow(clippy::missing_safety_doc)]
pub trait Fold: Lanes<u64> {
    unsafe fn zero() -> Self::Data;
    unsafe fn fold(a: Self::Data, b: Self::Data) -> Self::Data;
    /// All lanes folded.
    unsafe fn total(a: Self::Data) -> u64;
}

/// How [`Fold`] combines two words: a sum that wraps. Unlike an exclusive or it does
/// not lose the words that a pattern reads an even number of times.
#[inline(always)]
pub fn fold(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

#[cfg(test)]
mod tests;
