//! The generators in `kernels/common/inputs.cuh` match those of `patterns`: compares the arrays that a case generates
//! on the device, word by word.

use std::process::Command;

use scatterlab::device::cuda::{Arg, Gpu};
use scatterlab::inputs::mix::{key64, mix64, word32, word64};
use scatterlab::inputs::partitions;
use scatterlab::primitives::spmv::Spec;

use crate::host::{Host, program};
use crate::prove::case;

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

/// Prints the hash of the matrix that its arguments describe: kind, two numbers and seed.
const HASH: &str = r#"
#include <cstdio>
#include <cstdlib>
#include "benches/peers/sparse.cuh"
int main(int, char** words) {
    const auto number = [&](int at) { return (u64)std::strtoull(words[at], nullptr, 10); };
    const Generator generator{(Generator::Kind)number(1), number(2), number(3)};
    const auto made = generator.make(number(4));
    const bool sized = generator.rows(~0u) == made->rows() && generator.entries(~0u) == made->entries();
    const bool bounded = made->entries() == 0 || generator.entries(made->entries() - 1) == made->entries();
    std::printf("%llu %d", matrix_hash(generator, *made, number(4)), sized && bounded);
}
"#;

/// The matrices of the peers of spmv on GPUs are the lab's, with their values.
#[test]
fn matrices_of_peers() {
    let Some(program) = program("matrix-hash", HASH) else { return };
    let kinds = ["laplace5", "laplace7", "random", "banded", "rmat", "empty-rows", "dense-row"];
    for (kind, n, m) in [
        (0, 1, 0),
        (0, 37, 0),
        (1, 2, 0),
        (1, 9, 0),
        (2, 1000, 16),
        (2, 40_000, 3),
        (2, 5, 0),
        (3, 500, 3),
        (3, 7, 90),
        (4, 0, 2),
        (4, 9, 16),
        (4, 13, 5),
        (4, 16, 4),
        (5, 103, 4),
        (5, 34, 2),
        (6, 301, 4),
        (6, 70_001, 2),
    ] {
        let name = kinds[kind];
        let [first, second] = match name {
            "laplace5" | "laplace7" => ["side", ""],
            "banded" => ["rows", "half"],
            "rmat" => ["scale", "entries"],
            _ => ["rows", "entries"],
        };
        let mut words = format!("matrix={name} matrix.{name}.{first}={n}");
        if !second.is_empty() {
            words.push_str(&format!(" matrix.{name}.{second}={m}"));
        }
        let spec = Spec::from_params(&case("spmv", &words).params, 11).unwrap();
        let made = spec.source().generated().unwrap().unwrap();
        let mut hash = made.rows();
        for row in 0..made.rows() as usize {
            hash = mix64(hash ^ u64::from(made.starts[row + 1]));
            for at in made.row(row) {
                let value = u64::from(made.values[at] as i32 as u32);
                hash = mix64(hash ^ (value << 32 | u64::from(made.indices[at])));
            }
        }
        let numbers = [kind as u64, n, m, 11].map(|number| number.to_string());
        let output = Command::new(&program).args(numbers).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{hash} 1"), "{words}");
    }
}
