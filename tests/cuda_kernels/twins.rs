//! The generators in `kernels/inputs.cuh` match those of `patterns`: compares the arrays that a case generates
//! on the device, word by word.

use scatterlab::device::cuda::{Arg, Gpu};
use scatterlab::inputs::mix::{key64, word32, word64};
use scatterlab::inputs::partitions;

use crate::host::Host;

#[test]
fn words() {
    let Some(_host) = Host::new() else { return };
    let gpu = Gpu::open().unwrap();
    let module = gpu.module("gather_scatter").unwrap();
    let n = 1000u64;
    for seed in [0, 1, 42, u64::MAX] {
        let (long, short) = (gpu.alloc::<u64>(1000).unwrap(), gpu.alloc::<u32>(1000).unwrap());
        let key = key64(seed);
        let fill = |name: &str, out| {
            gpu.launch(&module.kernel(name).unwrap(), 3, 256, 0, &[out, (&key).into(), (&n).into()]).unwrap();
        };
        fill("fill_words64", (&long).into());
        fill("fill_words32", (&short).into());
        assert_eq!(long.to_host().unwrap(), (0..n).map(|i| word64(seed, i)).collect::<Vec<_>>());
        assert_eq!(short.to_host().unwrap(), (0..n as u32).map(|i| word32(seed, i)).collect::<Vec<_>>());
    }
}

/// Counts and places partitions with chunks of any size.
#[test]
fn partitions_are_stable() {
    let Some(_host) = Host::new() else { return };
    let gpu = Gpu::open().unwrap();
    let module = gpu.module("gather_scatter").unwrap();
    let kernel = |name: &str| module.kernel(name).unwrap();
    for (n, p, length) in
        [(5000u64, 7u64, 64u64), (5000, 300, 1024), (33, 1, 32), (1, 1, 32), (4096, 4096, 4096)]
    {
        let (seed, chunks) = (9, n.div_ceil(length));
        let key = key64(seed);
        let counters = p * chunks;
        let mut counts = gpu.alloc::<u64>(counters as usize).unwrap();
        gpu.memset32(&mut counts, 0).unwrap();
        let out = gpu.alloc::<u64>(n as usize).unwrap();
        let scheme: [Arg; 5] = [(&key).into(), (&p).into(), (&chunks).into(), (&length).into(), (&n).into()];
        let mut args: Vec<Arg> = vec![(&counts).into()];
        args.extend(scheme);
        gpu.launch(&kernel("partition_count"), chunks as u32, 256, 0, &args).unwrap();
        gpu.launch(&kernel("exclusive_sum"), 1, 1024, 0, &[(&counts).into(), (&counters).into()]).unwrap();
        let mut args: Vec<Arg> = vec![(&out).into(), (&counts).into()];
        args.extend(scheme);
        let blocks = (chunks * 32).div_ceil(256) as u32;
        gpu.launch(&kernel("partition_place_i8"), blocks, 256, 0, &args).unwrap();
        assert_eq!(out.to_host().unwrap(), partitions::locations(seed, n, p), "{n}, {p}, {length}");
    }
}
