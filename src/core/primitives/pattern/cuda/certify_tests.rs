use super::*;
use crate::primitives::pattern::spec::tests::spec_of;

fn spec(kernel: Kernel, length: u64, delta: u64, count: u64) -> Spec {
    let pattern = (0..length).collect::<Vec<u64>>().into();
    // Replaces the pattern, because the list may be longer than a recipe allows.
    Spec { pattern, ..spec_of(kernel.name(), &[0], delta, count) }
}

/// The codes passed to the device are those of the kernels.
#[test]
fn the_codes_are_the_kernels() {
    assert_eq!([Expect::Dense, Expect::Computed, Expect::Sparse].map(|e| e as u32), [0, 1, 2]);
}

#[test]
fn windows_are_never_empty() {
    assert_eq!(kept_window(&spec(Kernel::Gather, 1 << 26, 1, 5)), 1);
    assert_eq!(marked_window(&spec(Kernel::Scatter, 8, 8, 5), 1 << 40), 1);
    assert_eq!(marked_window(&spec(Kernel::Scatter, 8, 0, 5), 8), 5);
}

/// A window's words lie inside its largest region.
#[test]
fn regions_hold_their_windows() {
    let spec = spec(Kernel::Scatter, 8, 1 << 28, 1 << 10);
    let window = marked_window(&spec, 8);
    assert!(window < spec.count && largest_region(&spec, 8) == 8 + (window - 1) * spec.delta);
    assert!(largest_region(&spec, 8) <= MAPPED);
}
