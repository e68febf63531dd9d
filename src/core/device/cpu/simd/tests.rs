use super::*;
use proptest::prelude::*;

/// Calls `select` with the instruction set enabled.
macro_rules! select {
    ($name:ident, $simd:ty $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        unsafe fn $name<I: Index>(l: &[I], low: u64, width: u64, queue: &mut [u32]) -> usize {
            // SAFETY: the caller checks the CPU and provides 16 spare entries.
            unsafe { <$simd>::select(l.as_ptr(), l.len(), low, width, queue.as_mut_ptr()) }
        }
    };
}

select!(scalar, Scalar);
#[cfg(target_arch = "x86_64")]
select!(avx2, Avx2, "avx2,popcnt");
#[cfg(target_arch = "x86_64")]
select!(avx512, Avx512, "avx512f,avx512vl,avx512bw,avx512dq,popcnt");

fn check<I: Index>(locations: &[u64], low: u64, width: u64) {
    use crate::device::cpu::Isa;
    let narrow: Vec<I> = locations.iter().map(|&l| I::of(l)).collect();
    let wanted: Vec<u32> = (0..locations.len() as u32)
        .filter(|&k| (low..low + width).contains(&locations[k as usize]))
        .collect();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.present()) {
        let mut queue = vec![0; locations.len() + 16];
        // SAFETY: the instruction set is present, and the queue has room.
        let found = unsafe {
            match isa {
                Isa::Scalar => scalar(&narrow, low, width, &mut queue),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => avx2(&narrow, low, width, &mut queue),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512(&narrow, low, width, &mut queue),
                #[cfg(not(target_arch = "x86_64"))]
                _ => unreachable!("not present"),
            }
        };
        assert_eq!(&queue[..found], wanted, "{isa}");
    }
}

proptest! {
    #[test]
    fn the_selected_are_those_in_range(
        locations in proptest::collection::vec(0u64..1 << 32, 0..40),
        low in 0u64..1 << 32,
        width in 0u64..1 << 32,
    ) {
        check::<u32>(&locations, low, width);
        check::<u64>(&locations, low, width);
    }
}
