//! What the kernels of `kernels/scan.cu` take: their structs, codes and names.

use crate::device::cuda::{DevicePtr, Plain};
use crate::inputs::mix::key64;
use crate::primitives::scan::operator::{Operator, Type};
use crate::primitives::scan::segments::{self, Heads, Lengths};
use crate::primitives::scan::spec::Spec;

/// The kernels of an operator and a type: the end of their names, and what they exclusive-or
/// elements with when they load and store them. That makes minima of maxima, ands of ors, and
/// unsigned numbers of signed ones, in the same order.
pub fn family(operator: Operator, ty: Type) -> (&'static str, u64) {
    use Operator::{Add, Affine, And, Max, Min, Or};
    match (operator, ty) {
        (Add, Type::U32 | Type::I32) => ("add_u32", 0),
        (Add, Type::U64) => ("add_u64", 0),
        (Add, Type::F32) => ("add_f32", 0),
        (Add, Type::F64) => ("add_f64", 0),
        (Min, Type::U32) => ("min_u32", 0),
        (Min, Type::I32) => ("min_u32", 0x8000_0000),
        (Min, Type::U64) => ("min_u64", 0),
        (Min, Type::F32) => ("min_f32", 0),
        (Min, Type::F64) => ("min_f64", 0),
        (Max, Type::U32) => ("min_u32", 0xFFFF_FFFF),
        (Max, Type::I32) => ("min_u32", 0x7FFF_FFFF),
        (Max, Type::U64) => ("min_u64", u64::MAX),
        (Max, Type::F32) => ("min_f32", 0x8000_0000),
        (Max, Type::F64) => ("min_f64", 1 << 63),
        (And, Type::U64) => ("and_u64", 0),
        (And, _) => ("and_u32", 0),
        (Or, Type::U64) => ("and_u64", u64::MAX),
        (Or, _) => ("and_u32", 0xFFFF_FFFF),
        (Affine, Type::U64) => ("affine_u64", 0),
        (Affine, _) => ("affine_u32", 0),
    }
}

/// `Scan`: a launch of one pass.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Scan {
    pub input: DevicePtr<u32>,
    pub output: DevicePtr<u32>,
    pub heads: DevicePtr<u32>,
    pub descriptors: DevicePtr<u64>,
    pub ticket: DevicePtr<u32>,
    pub n: u64,
    pub flip: u64,
    pub tiles: u32,
    pub epoch: u32,
    pub first_ticket: u32,
    pub backward: u32,
    pub inclusive: u32,
    pub aligned: u32,
}

/// `Flags`: head flags of one form.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Flags {
    pub at: DevicePtr<u32>,
    pub form: u32,
    pub unused: u32,
}

/// `Level`: a launch of a level of a segmented scan.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Level {
    pub input: DevicePtr<u32>,
    pub output: DevicePtr<u32>,
    pub or_tree: DevicePtr<u8>,
    pub flags: DevicePtr<u8>,
    pub heads: Flags,
    pub sums: DevicePtr<u32>,
    pub ors: DevicePtr<u8>,
    pub firsts: DevicePtr<u8>,
    pub n: u64,
    pub flip: u64,
    pub elements: u32,
    pub backward: u32,
    pub inclusive: u32,
    pub unused: u32,
}

/// `Inputs`: the elements of in.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Inputs {
    key: u64,
    n: u64,
    operator: u32,
    ty: u32,
    backward: u32,
    length: u32,
}

/// `Segments`: where segments begin.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Segments {
    key: u64,
    n: u64,
    mean: u64,
    lengths: u32,
    unused: u32,
}

// SAFETY: `#[repr(C)]` like their twins in the kernels, plain numbers and device addresses.
unsafe impl Plain for Scan {}
// SAFETY: as above.
unsafe impl Plain for Level {}
// SAFETY: as above.
unsafe impl Plain for Inputs {}
// SAFETY: as above.
unsafe impl Plain for Segments {}

impl Inputs {
    /// Those of a case.
    pub fn new(spec: &Spec) -> Inputs {
        Inputs {
            key: key64(spec.seed),
            n: spec.elements,
            operator: operator(spec.operator),
            ty: ty(spec.ty),
            backward: spec.backward().into(),
            length: spec.inputs().length,
        }
    }
}

impl Segments {
    /// Those of a case; one that is not segmented is one segment.
    pub fn new(spec: &Spec) -> Segments {
        Segments::of(&spec.segments())
    }

    /// As the kernels take them.
    pub fn of(segments: &segments::Segments) -> Segments {
        let (lengths, mean) = match segments.lengths {
            Lengths::Constant { length } => (0, length),
            Lengths::Random { mean } => (1, mean),
            Lengths::Geometric { mean } => (2, mean),
        };
        Segments { key: key64(segments.tag()), n: segments.elements, mean, lengths, unused: 0 }
    }
}

fn operator(operator: Operator) -> u32 {
    match operator {
        Operator::Add => 0,
        Operator::Min => 1,
        Operator::Max => 2,
        Operator::And => 3,
        Operator::Or => 4,
        Operator::Affine => 5,
    }
}

fn ty(ty: Type) -> u32 {
    match ty {
        Type::U32 => 0,
        Type::I32 => 1,
        Type::U64 => 2,
        Type::F32 => 3,
        Type::F64 => 4,
    }
}

/// The code of a representation.
pub fn form(heads: Heads) -> u32 {
    match heads {
        Heads::Bits => 0,
        Heads::Bytes => 1,
        Heads::Striped => 2,
        Heads::Lengths => 3,
        Heads::Pointers => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::offset_of;

    /// As the static assertions beside the kernels' structs.
    #[test]
    fn the_layouts_are_the_kernels() {
        let sizes = [size_of::<Scan>(), size_of::<Level>(), size_of::<Inputs>(), size_of::<Segments>()];
        assert_eq!(sizes, [80, 104, 32, 32]);
        assert_eq!((offset_of!(Scan, tiles), offset_of!(Level, sums), offset_of!(Level, n)), (56, 48, 72));
    }
}
