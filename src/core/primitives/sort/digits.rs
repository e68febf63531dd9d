//! Digits of keys.

/// Bits of the digits of most methods.
pub const DIGIT_BITS: u32 = 8;

/// The digits of a field of keys, the lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    /// The lowest bit of the field.
    pub begin: u32,
    /// The bit behind the highest.
    pub end: u32,
    /// Bits of a digit; the highest digit may have fewer.
    pub radix: u32,
}

/// A digit of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// The lowest bit.
    pub shift: u32,
    /// The number of bits.
    pub bits: u32,
}

impl Digits {
    /// The number of digits.
    pub fn count(self) -> u32 {
        (self.end - self.begin).div_ceil(self.radix)
    }

    /// Digit `d`.
    pub fn digit(self, d: u32) -> Digit {
        let shift = self.begin + d * self.radix;
        Digit { shift, bits: self.radix.min(self.end - shift) }
    }

    /// All digits.
    pub fn all(self) -> impl DoubleEndedIterator<Item = Digit> {
        (0..self.count()).map(move |d| self.digit(d))
    }

    /// True if the field is not a whole key of `width` bits.
    pub fn is_field(self, width: u64) -> bool {
        (self.begin, u64::from(self.end)) != (0, width)
    }

    /// The bits of the field in a key: keys masked by them are in the order of their fields.
    pub fn mask(self) -> u64 {
        self.field(u64::MAX) << self.begin
    }

    /// The field of a key; 0 if it has no bits.
    #[inline(always)]
    pub fn field(self, key: u64) -> u64 {
        let bits = self.end - self.begin;
        if bits == 0 { 0 } else { key >> self.begin & u64::MAX >> (64 - bits) }
    }
}

impl Digit {
    /// The number of values of the digit.
    pub fn values(self) -> usize {
        1 << self.bits
    }

    /// The digit of a key.
    #[inline(always)]
    pub fn of(self, key: u64) -> usize {
        (key >> self.shift) as usize & (self.values() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 8's digits of 5 bits: six of them, and one of two.
    #[test]
    fn the_last_digit_has_the_rest() {
        let digits = Digits { begin: 0, end: 32, radix: 5 };
        let bits: Vec<u32> = digits.all().map(|digit| digit.bits).collect();
        assert_eq!(bits, [5, 5, 5, 5, 5, 5, 2]);
        let field = Digits { begin: 3, end: 13, radix: 8 };
        assert_eq!((field.count(), field.digit(1)), (2, Digit { shift: 11, bits: 2 }));
        assert_eq!((field.field(u64::MAX), field.digit(1).of(1 << 12)), (1023, 2));
        assert_eq!(Digits { begin: 0, end: 64, radix: 8 }.field(u64::MAX), u64::MAX);
        assert_eq!((field.mask(), Digits { begin: 0, end: 64, radix: 1 }.mask()), (0x1FF8, u64::MAX));
        let none = Digits { begin: 4, end: 4, radix: 8 };
        assert_eq!((none.count(), none.field(u64::MAX)), (0, 0));
    }
}
