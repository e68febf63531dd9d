//! Keys and values on the device, and the arguments from which kernels regenerate them and compute their
//! buckets (`kernels/multisplit/inputs.cuh`).

use super::words;
use crate::device::cuda::Plain;
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use crate::primitives::multisplit::buckets::{Buckets, Image};
use crate::primitives::multisplit::keys::{BITS, Keys, VALUE, coin};
use crate::primitives::multisplit::tiles::field;
use crate::primitives::multisplit::{Distribution, Spec};

device_struct! {
    /// `BucketFunction` in the kernels.
    pub struct Function: 32 {
        reciprocal: u64,
        splitters: DevicePtr<u32>,
        by: u32,
        buckets: u32,
        shift: u32,
        mask: u32,
    }

    /// `KeySource` in the kernels.
    pub struct KeySource: 64 {
        key: u64,
        bits: u64,
        values: u64,
        coin: u64,
        first: DevicePtr<u64>,
        draw: u32,
        image: u32,
        buckets: u32,
        hot: u32,
        shift: u32,
        mask: u32,
    }
}

impl Function {
    /// The function whose bucket is the key's field of `bits` bits from bit `shift` on; only `buckets` values
    /// occur.
    pub fn field(shift: u32, bits: u32, buckets: u64) -> Function {
        Function { by: 1, buckets: buckets as u32, shift, mask: (1 << bits) - 1, ..Function::zeroed() }
    }

    /// The same field, found by a division by the power of two of its lowest bit.
    pub fn quotient(shift: u32, bits: u32) -> Function {
        Function { reciprocal: 1 << shift, by: 5, ..Function::field(shift, bits, 1 << bits) }
    }

    /// The function with which a case is executed; certificates keep the one that inputs were made for.
    pub fn executed(self, spec: &Spec) -> Function {
        match spec.divides() {
            true => Function { reciprocal: spec.delta(), by: 5, mask: (1 << spec.bits()) - 1, ..self },
            false => self,
        }
    }

    /// The high bits of a key's hash.
    pub fn high_bits_of_hash(bits: u32) -> Function {
        Function { by: 3, ..Function::field(0, bits, 1 << bits) }
    }

    /// The function of a case as a split takes it: delta-buckets that are fields of the key become these fields, and others
    /// the digit that is their whole number.
    pub fn as_number(self, spec: &Spec) -> Function {
        match field(spec) {
            Some(shift) if self.by == 0 => Function::field(shift, spec.bits(), spec.buckets),
            None if self.by == 0 => self.digit(0, spec.bits()),
            _ => self,
        }
    }

    /// The same function restricted to `bits` bits of the bucket's number, from bit `shift` on.
    pub fn digit(self, shift: u32, bits: u32) -> Function {
        Function { shift, mask: (1 << bits) - 1, ..self }
    }
}

/// The keys and values, and one extra element of each, which only a deliberate mistake reads.
pub struct Input {
    pub keys: DeviceBuffer<u32>,
    /// The values as words; one element if there are no values.
    pub values: DeviceBuffer<u32>,
    pub source: KeySource,
    pub function: Function,
    _splitters: DeviceBuffer<u32>,
    _first: DeviceBuffer<u64>,
}

/// The kernel that generates keys and values.
pub const FILL: &str = "multisplit_fill";

impl Input {
    /// Generates the keys and values of a case.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Input, Failure> {
        let keys = Keys::new(spec);
        let (splitters, function) = function(gpu, spec)?;
        let first = gpu.upload(if keys.members.first.is_empty() { &[0] } else { &keys.members.first[..] })?;
        let input = Input {
            keys: array(gpu, spec.keys + 1)?,
            values: words(gpu, (spec.keys + 1) * spec.value / 4)?,
            source: source(&keys, first.pointer()),
            function,
            _splitters: splitters,
            _first: first,
        };
        let (n, behind, words) = (spec.keys, keys.behind(), (spec.value / 4) as u32);
        let args = args![input.keys, input.values, words, input.source, n, behind];
        launch_over(gpu, &module.kernel(FILL)?, n + 1, args)?;
        Ok(input)
    }
}

/// The bucket function of a case with its splitters.
fn function(gpu: &Gpu, spec: &Spec) -> Result<(DeviceBuffer<u32>, Function), Failure> {
    let buckets = Buckets::new(spec);
    let splitters = match &buckets {
        Buckets::Range(splitters) => gpu.upload(&splitters.0)?,
        _ => gpu.upload(&[0])?,
    };
    let plain = Function { by: 0, splitters: splitters.pointer(), ..Function::field(0, 0, spec.buckets) };
    let function = match buckets {
        Buckets::Delta(delta) => Function { reciprocal: delta.reciprocal, ..plain },
        Buckets::Identity(field) => Function { by: 1, shift: field.shift, mask: field.mask, ..plain },
        Buckets::Range(_) => Function { by: 2, ..plain },
        Buckets::Hash(_) => Function { by: 3, ..plain },
        Buckets::Prime(_) => Function { by: 4, ..plain },
    };
    Ok((splitters, function))
}

fn source(keys: &Keys, first: DevicePtr<u64>) -> KeySource {
    let (draw, coin, hot) = match keys.distribution {
        Distribution::Uniform => (0, 0, 0),
        Distribution::AlphaUniform { alpha } => (1, coin(alpha), keys.hot),
        Distribution::Binomial => (2, 0, 0),
        Distribution::Skewed => (3, 0, 0),
        Distribution::OneBucket => (4, 0, keys.hot),
    };
    let (image, shift, mask) = match keys.members.image {
        Image::Key => (0, 0, 0),
        Image::Hash => (1, 0, 0),
        Image::Field(field) => (2, field.shift, field.mask),
        Image::Prime => (3, 0, 0),
    };
    let [key, bits, values] = [0, BITS, VALUE].map(|tag| key64(keys.seed ^ tag));
    let buckets = keys.buckets as u32;
    KeySource { key, bits, values, coin, first, draw, image, buckets, hot, shift, mask }
}
