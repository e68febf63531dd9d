//! Runs the CUDA backend on a driver of our own, which returns what a test asks for. This covers paths that
//! neither a machine without a GPU nor a healthy GPU ever takes.

#![cfg(all(feature = "cuda", target_os = "linux"))]

mod ahead;
mod fake;
mod several;

use std::io::Cursor;

use fake::Fake;
use scatterlab::case::{Availability, Cancel, Case, Failure, HostMemory, Params, Value};
use scatterlab::device::cuda::Gpu;
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::engine::noise_monitor::Watch;
use scatterlab::engine::protocol::Command;
use scatterlab::engine::server::serve;
use scatterlab::model::profiles::ProfileStore;
use scatterlab::recipe;
use scatterlab::recipe::plan::{Overrides, resolve};
use scatterlab::stats::noise::Conditions;

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
fn transfers_are_timed_each_way_from_either_memory() {
    let Some(_fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    for memory in [HostMemory::Pinned, HostMemory::Pageable] {
        let [there, back] = gpu.transfer([(256 << 20) + 1000, 8], memory).unwrap();
        assert!(there > back && back > 0.0, "{there} {back}");
        assert_eq!(gpu.transfer([0, 0], memory), Ok([0.0; 2]));
    }
    assert_eq!(gpu.free_memory(), Ok(9 << 30), "it keeps nothing");
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
fn each_device_is_opened_when_a_case_asks_for_it() {
    let Some(fake) = Fake::new() else { return };
    fake.devices(2);
    let executor = CudaExecutor::default();
    let listed = executor.devices();
    let number =
        |at: usize| listed[at].facts.iter().find(|(name, _)| name == "number").map(|(_, n)| n.as_str());
    assert_eq!((listed.len(), number(0), number(1)), (2, Some("0"), Some("1")));
    assert_eq!((listed[0].memory, listed[1].memory), (None, None));
    assert_eq!(fake.opened(), 0, "none is needed for that");
    let prepare = |device: Option<u64>| {
        let params =
            Params::default().with("kernel", Value::Text("copy".into())).with("elements", Value::Int(8));
        let params = device.into_iter().fold(params, |p, n| p.with("backend.cuda.device", Value::Int(n)));
        let primitive = "stream".to_owned();
        let case =
            Case { id: String::new(), experiment: 0, primitive, params, seed: 1, not_applicable: None };
        executor.prepare(&case, None, &Cancel::default()).map(drop)
    };
    assert_eq!(prepare(None), Ok(()));
    assert_eq!(fake.opened(), 1);
    assert_eq!((prepare(Some(1)), prepare(Some(1)), prepare(Some(0))), (Ok(()), Ok(()), Ok(())));
    assert_eq!(fake.opened(), 2);
    let reason = "no CUDA device 2: there are 2, counted from 0".to_owned();
    assert_eq!(prepare(Some(2)), Err(Failure::NotApplicable(reason)));
}

/// A GPU that no case names may belong to someone else.
#[test]
fn an_engine_opens_the_devices_of_its_cases_only() {
    let Some(fake) = Fake::new() else { return };
    let recipe = "title: T\nstream: {kernel: copy, elements: 8}\nbackend: {cuda: {device: 1}}\nchart: {x: elements, y: time}\n";
    let recipe = recipe::parse("one.yaml", recipe).unwrap();
    let plan = Box::new(resolve(&recipe, &Overrides::default()).unwrap());
    let run = Command::Run { plan, finished: Default::default(), pictures: Default::default() };
    let probe = Command::Probe { backends: vec!["cuda".into()], device: 1 };
    for command in [run, probe] {
        fake.devices(2);
        let already = fake.opened();
        let input = format!("{}\n", serde_json::to_string(&command).unwrap());
        let executors: Vec<Box<dyn Executor>> = vec![Box::new(CudaExecutor::default())];
        serve(Cursor::new(input), std::io::sink(), executors, Box::new(Nobody), &ProfileStore::default())
            .unwrap();
        assert_eq!((fake.opened() - already, fake.which()), (1, 0b10), "{command:?}");
    }
}

/// Observes nothing.
struct Nobody;

impl Watch for Nobody {
    fn begin(&mut self) {}

    fn end(&mut self) -> Conditions {
        Conditions::default()
    }
}

#[test]
fn other_errors_are_reasons_by_their_names() {
    let Some(fake) = Fake::new() else { return };
    fake.fail("cuInit", 803);
    assert_eq!(Gpu::open().err().unwrap().reason, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    // This code was added after CUDA 11.4, so cust has no variant for it.
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
    assert_eq!(gpu.timed(&mut || Ok(())), Ok(2.5e-4));
    assert_eq!(gpu.timed(&mut || Err(Failure::Cancelled)), Err(Failure::Cancelled));
}

#[test]
fn a_function_that_an_old_driver_lacks_is_an_error() {
    let Some(_fake) = Fake::new() else { return };
    Gpu::open().unwrap();
    // cust calls this function, which the fake driver does not have.
    assert_eq!(
        cust::context::CurrentContext::get_device().unwrap_err(),
        cust::error::CudaError::SharedObjectSymbolNotFound
    );
    assert_eq!(cust::error::CudaError::IllegalAddress.to_string(), "\"CUDA_ERROR_ILLEGAL_ADDRESS\"");
}

#[test]
fn a_kernel_is_launched_with_arguments_of_its_own_sizes_only() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let kernel = gpu.module("stream").unwrap().kernel("stream_fill").unwrap();
    let out = gpu.alloc::<f64>(8).unwrap();
    let (key, n) = (1u64, 8u64);
    gpu.launch(&kernel, 3, 256, 0, &[(&out).into(), (&key).into(), (&n).into(), (&20u32).into()]).unwrap();
    assert_eq!(fake.launched(), [3, 256, 0]);
    let narrow =
        gpu.launch(&kernel, 3, 256, 0, &[(&out).into(), (&key).into(), (&8u32).into(), (&20u32).into()]);
    let text = "kernel stream_fill takes arguments of [8, 8, 8, 4] bytes, not [8, 8, 4, 4]";
    assert_eq!(narrow, Err(Failure::Failed(text.into())));
    assert!(gpu.launch(&kernel, 3, 256, 0, &[(&out).into()]).is_err());
    fake.fail("cuLaunchKernel", 719);
    let lost = gpu.launch(&kernel, 3, 256, 0, &[(&out).into(), (&key).into(), (&n).into(), (&20u32).into()]);
    let text = "cuLaunchKernel(stream_fill): CUDA_ERROR_LAUNCH_FAILED (719)";
    assert_eq!(lost, Err(Failure::Lost(text.into())));
}

/// Kernels that wait by themselves are launched before the last launch is complete; on older devices none is.
#[test]
fn launches_overlap() {
    let Some(fake) = Fake::new() else { return };
    let launch = |gpu: &Gpu| {
        let kernel = gpu.module("histogram").unwrap().kernel("histogram_reduce").unwrap();
        let nothing = 0u64;
        gpu.launch(&kernel, 2, 256, 0, &[(&nothing).into(), (&nothing).into(), (&nothing).into()])
    };
    for (capability, overlapped) in [(8, 0), (9, 3)] {
        fake.capability(capability);
        let gpu = Gpu::open().unwrap();
        (0..3).for_each(|_| launch(&gpu).unwrap());
        assert_eq!(fake.overlapped(), overlapped, "{capability}.0");
    }
    fake.fail("cuLaunchKernelEx", 719);
    let text = "cuLaunchKernelEx(histogram_reduce): CUDA_ERROR_LAUNCH_FAILED (719)";
    assert_eq!(launch(&Gpu::open().unwrap()), Err(Failure::Lost(text.into())));
}

/// Builds a case of a primitive on `cuda` from `key=value` words.
fn case(primitive: &str, words: &str) -> Case {
    let mut params = Params::default().with("backend", Value::Text("cuda".into()));
    for (key, value) in words.split_whitespace().filter_map(|word| word.split_once('=')) {
        let value = value.parse().map_or_else(|_| Value::Text(value.into()), Value::Int);
        params = params.with(key, value);
    }
    let primitive = primitive.to_owned();
    Case { id: String::new(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
}

fn resolved(words: &[(&str, u64)]) -> Vec<(String, Value)> {
    words.iter().map(|(name, value)| (format!("backend.cuda.{name}"), Value::Int(*value))).collect()
}

#[test]
fn what_l2_fetches_is_the_cases_and_then_the_drivers_again() {
    let Some(fake) = Fake::new() else { return };
    let executor = CudaExecutor::default();
    for (primitive, words) in [("stream", "kernel=copy elements=8"), ("gather", "tuples=8")] {
        let case = case(primitive, &format!("{words} backend.cuda.fetch=128"));
        let prepared = executor.prepare(&case, None, &Cancel::default()).unwrap();
        assert_eq!(fake.limits(), [128, 0], "{primitive}");
        assert!(prepared.resolved().ends_with(&resolved(&[("fetch", 128)])), "{primitive}");
        drop(prepared);
        assert_eq!(fake.limits(), [64, 0], "{primitive}");
    }
    let large = case("stream", "kernel=copy elements=1099511627776 backend.cuda.fetch=32");
    assert!(executor.prepare(&large, None, &Cancel::default()).is_err());
    assert_eq!(fake.limits(), [64, 0], "also where it cannot be prepared");
    fake.fail("cuCtxGetLimit", 215);
    let failure =
        executor.prepare(&case("gather", "tuples=8 backend.cuda.fetch=32"), None, &Cancel::default());
    let reason = "this GPU has no such limit of its L2";
    assert_eq!(failure.err(), Some(Failure::NotApplicable(reason.into())));
}

#[test]
fn what_l2_sets_aside_is_the_cases_and_then_given_up() {
    let Some(fake) = Fake::new() else { return };
    let executor = CudaExecutor::default();
    let words = "tuple=8 backend.cuda.persist=3000000";
    // The window is limited to 1 MiB here.
    for (primitive, tuples, window) in [("gather", 1000, 8008), ("scatter", 1 << 20, 1 << 20)] {
        let case = case(primitive, &format!("tuples={tuples} {words}"));
        let resets = fake.resets();
        let prepared = executor.prepare(&case, None, &Cancel::default()).unwrap();
        assert_eq!((fake.limits(), fake.window()), ([64, 4 << 20], (window, true)), "{primitive}");
        assert!(prepared.resolved().ends_with(&resolved(&[("persist", 4 << 20)])), "as the driver rounds");
        drop(prepared);
        assert_eq!((fake.limits(), fake.window()), ([64, 0], (0, false)), "{primitive}");
        assert_eq!(fake.resets(), resets + 1);
    }
}

#[test]
fn more_of_l2_than_can_be_set_aside_is_not_applicable() {
    let Some(fake) = Fake::new() else { return };
    let case = case("gather", "tuples=1000 backend.cuda.persist=40000000");
    let refused = || CudaExecutor::default().prepare(&case, None, &Cancel::default()).err();
    let reason = "persist: this GPU can set aside at most 32.0 MiB of its L2";
    assert_eq!(refused(), Some(Failure::NotApplicable(reason.into())));
    fake.persisting(0);
    let reason = "this GPU cannot set aside part of its L2";
    assert_eq!(refused(), Some(Failure::NotApplicable(reason.into())));
    assert_eq!((fake.limits(), fake.window()), ([64, 0], (0, false)));
}

#[test]
fn a_block_and_a_grid_are_what_the_case_asks_for() {
    let Some(fake) = Fake::new() else { return };
    let launched = |words: &str| {
        let case = case("stream", &format!("kernel=copy elements=1048576 {words}"));
        let mut prepared = CudaExecutor::default().prepare(&case, None, &Cancel::default()).unwrap();
        prepared.sample(1).unwrap();
        fake.launched()
    };
    assert_eq!(launched(""), [2048, 256, 0]);
    assert_eq!(launched("backend.cuda.block=64 backend.cuda.items=4"), [2048, 64, 0]);
    assert_eq!(launched("backend.cuda.vector=8"), [4096, 256, 0]);
    // Four multiprocessors hold 2048 threads each.
    assert_eq!(launched("backend.cuda.block=128 backend.cuda.grid=resident"), [64, 128, 0]);
}

/// The sum stays in parts: no separate launch combines them.
#[test]
fn a_read_is_one_launch_whatever_its_blocks() {
    let Some(fake) = Fake::new() else { return };
    let launched = |elements: u64, words: &str| {
        let case = case("stream", &format!("kernel=read elements={elements} {words}"));
        let mut prepared = CudaExecutor::default().prepare(&case, None, &Cancel::default()).unwrap();
        prepared.sample(1).unwrap();
        fake.launched()
    };
    assert_eq!(launched(32 * 4096, ""), [32, 256, 0]);
    assert_eq!(launched(33 * 4096, ""), [33, 256, 0]);
    assert_eq!(launched(33 * 4096, "backend.cuda.grid=resident"), [32, 256, 0]);
}

#[test]
fn more_shared_memory_than_48_kib_is_opted_into() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let kernel = gpu.module("stream").unwrap().kernel("stream_fill").unwrap();
    assert_eq!(gpu.max_blocks(&kernel, 256, 48 << 10), Ok(8 * 4));
    assert_eq!(fake.raised(), 0, "not needed");
    gpu.max_blocks(&kernel, 256, 64 << 10).unwrap();
    assert_eq!(fake.raised(), 64 << 10);
    let again = gpu.module("stream").unwrap().kernel("stream_fill").unwrap();
    gpu.max_blocks(&again, 256, 50 << 10).unwrap();
    assert_eq!(fake.raised(), 64 << 10, "never lowered, for the first handle relies on it");
    let failure = gpu.max_blocks(&kernel, 256, 228 << 10).unwrap_err();
    assert!(matches!(failure, Failure::NotApplicable(_)), "{failure}");
}

#[test]
fn a_kernel_is_compiled_once_by_itself_and_unloaded_with_its_last_user() {
    let Some(fake) = Fake::new() else { return };
    let gpu = Gpu::open().unwrap();
    let module = gpu.module("stream").unwrap();
    assert_eq!(fake.loaded(), 0, "nobody has asked for a kernel yet");
    let kernel = module.kernel("stream_fill").unwrap();
    let again = gpu.module("stream").unwrap().kernel("stream_fill").unwrap();
    assert_eq!((kernel.name(), again.name(), fake.loaded()), ("stream_fill", "stream_fill", 1));
    assert_eq!(fake.compiled(), ["stream_fill"]);
    let missing = |failure: Option<Failure>| failure.unwrap().to_string();
    assert_eq!(missing(module.kernel("nothing").err()), "no kernel `nothing` in stream.ptx");
    assert_eq!(missing(gpu.module("nothing").err()), "no CUDA module `nothing` in this build");
    drop((gpu, module, again));
    assert_eq!(fake.loaded(), 1, "a kernel keeps its GPU");
    drop(kernel);
    assert_eq!(fake.loaded(), 0);
}

#[test]
fn ptx_newer_than_the_driver_names_both_versions() {
    let Some(fake) = Fake::new() else { return };
    fake.version(12080);
    let old = Gpu::open().unwrap().module("stream").err().unwrap();
    let text =
        "the kernels are PTX 9.0, but the driver (CUDA 12.8) takes PTX up to 8.7: a newer driver is needed";
    assert_eq!(old, Failure::NotApplicable(text.into()));
    assert_eq!(fake.loaded(), 0, "the driver was not asked");
    // The driver refuses a PTX version that its own version should accept.
    fake.version(13000);
    fake.fail("cuLibraryLoadData", 222);
    let refused = Gpu::open().unwrap().module("stream").unwrap().kernel("stream_fill").err().unwrap();
    assert!(refused.to_string().contains("PTX 9.0"), "{refused}");
}
