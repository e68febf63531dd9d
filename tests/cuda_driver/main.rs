//! The CUDA backend over a driver of our own, which answers what a test asks for: the
//! paths that a machine without a GPU, or a healthy GPU, never takes.

#![cfg(all(feature = "cuda", target_os = "linux"))]

mod fake;

use fake::Fake;
use scatterlab::backend::cuda::Gpu;
use scatterlab::backend::{Availability, Executor, Failure};
use scatterlab::engine::executors::cuda::CudaExecutor;

#[test]
fn opens_the_device_and_reads_its_facts() {
    let Some(_fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let facts = gpu.device();
    assert_eq!(facts.name, "Imaginary GPU");
    assert_eq!((facts.sms, facts.l2_bytes, facts.memory), (4, 50 << 20, 10 << 30));
    assert_eq!((facts.compute_capability, facts.driver_cuda), ((9, 0), (13, 0)));
    assert_eq!((facts.shared_per_block, facts.ecc), (227 << 10, Some(true)));
    assert_eq!(gpu.free_memory(), Ok(9 << 30));
}

#[test]
fn a_driver_without_a_device_is_a_reason() {
    let Some(fake) = Fake::new() else { return };
    fake.devices(0);
    let why = Gpu::open().err().unwrap();
    assert_eq!(why.reason, "no CUDA device");
    assert_eq!(why.to_string(), "no CUDA device: cuInit found none");
}

#[test]
fn the_engine_sees_the_device_or_the_reason() {
    let Some(fake) = Fake::new() else { return };
    let device = CudaExecutor::default().device();
    assert_eq!((device.name.as_str(), device.memory), ("Imaginary GPU", Some(9 << 30)));
    assert_eq!(device.availability, Availability::Available);
    fake.devices(0);
    let none = CudaExecutor::default();
    let reason = "no CUDA device".to_owned();
    assert_eq!(none.device().availability, Availability::Unavailable { reason: reason.clone() });
    assert_eq!(none.copy_probe(), Err(Failure::NotApplicable(reason)));
}

#[test]
fn other_errors_are_reasons_by_their_names() {
    let Some(fake) = Fake::new() else { return };
    fake.fail("cuInit", 803);
    assert_eq!(Gpu::open().err().unwrap().reason, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    // Newer than CUDA 11.4, so cust has no variant for it.
    fake.fail("cuDevicePrimaryCtxRetain", 46);
    assert_eq!(Gpu::open().err().unwrap().reason, "CUDA_ERROR_DEVICE_UNAVAILABLE");
}

#[test]
fn a_code_that_nobody_knows_yet_is_an_error_like_others() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    fake.fail("cuMemGetInfo_v2", 4711);
    assert_eq!(gpu.free_memory(), Err(Failure::Failed("cuMemGetInfo: unknown CUDA error (4711)".into())));
}

#[test]
fn data_goes_there_and_back() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let from = gpu.upload(&[1u64, 2, 3, 4]).unwrap();
    let mut to = gpu.alloc::<u64>(6).unwrap();
    gpu.memset32(&mut to, 7).unwrap();
    gpu.copy(&from, 1..3, &mut to, 4).unwrap();
    let sevens = 7 << 32 | 7;
    assert_eq!(to.to_host().unwrap(), [sevens, sevens, sevens, sevens, 2, 3]);
    assert_eq!(from.range_to_host(2..4).unwrap(), [3, 4]);
    for outside in [gpu.copy(&from, 1..5, &mut to, 0), gpu.copy(&from, 0..4, &mut to, 3)] {
        assert!(matches!(outside, Err(Failure::Failed(_))), "{outside:?}");
    }
    assert!(from.range_to_host(4..5).is_err() && from.pointer_at(5).is_err());
    assert_eq!(gpu.alloc::<u32>(0).unwrap().to_host(), Ok(vec![]));
    assert_eq!(fake.allocations(), 2);
    drop(gpu);
    drop((from, to));
    assert_eq!(fake.allocations(), 0, "buffers outlive the handle that made them and are freed");
}

#[test]
fn an_array_that_does_not_fit_is_not_applicable() {
    let Some(_fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let text = "n/a: needs 12.0 GiB of device memory, 9.00 GiB free";
    assert_eq!(gpu.alloc::<u64>(12 << 27).err().unwrap().to_string(), text);
    assert_eq!(gpu.require(12 << 30).unwrap_err().to_string(), text);
    assert!(matches!(gpu.alloc::<u64>(usize::MAX), Err(Failure::NotApplicable(_))));
    assert_eq!(gpu.require(9 << 30), Ok(()));
}

#[test]
fn an_illegal_address_loses_the_device() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    fake.fail("cuStreamSynchronize", 700);
    let lost = Failure::Lost("cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)".into());
    assert_eq!(gpu.synchronize(), Err(lost));
    fake.fail("cuEventSynchronize", 226);
    assert!(matches!(gpu.timed(&mut || Ok(())), Err(Failure::Lost(_))), "newer than cust's codes");
}

#[test]
fn the_clock_is_the_devices() {
    let Some(_fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    assert_eq!(gpu.timed(&mut || Ok(())), Ok(2.5e-3));
    assert_eq!(gpu.timed(&mut || Err(Failure::Cancelled)), Err(Failure::Cancelled));
}

#[test]
fn a_function_that_an_old_driver_lacks_is_an_error() {
    let Some(_fake) = Fake::new() else { return };
    Gpu::open().unwrap();
    // The fake driver has no such function, and cust asks for it.
    assert_eq!(
        cust::context::CurrentContext::get_device().unwrap_err(),
        cust::error::CudaError::SharedObjectSymbolNotFound
    );
    assert_eq!(cust::error::CudaError::IllegalAddress.to_string(), "\"CUDA_ERROR_ILLEGAL_ADDRESS\"");
}
