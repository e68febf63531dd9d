//! Several GPUs: arrays that span them, and cases that run on all of them at the same time.

use scatterlab::case::{Cancel, Case, Failure, Params, Value};
use scatterlab::device::Prepared;
use scatterlab::device::cuda::{DeviceBuffer, Gpu};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;

use crate::fake::Fake;

/// The fake driver's mapping granularity.
const GRAIN: u64 = 4096;

fn both(fake: &Fake) -> [Gpu; 2] {
    fake.devices(2);
    [0, 1].map(|number| Gpu::open_device(number).unwrap())
}

fn across(gpus: &[Gpu; 2], words: usize) -> Result<DeviceBuffer<u32>, Failure> {
    gpus[0].alloc_across(&gpus[1..], words)
}

#[test]
fn an_array_lies_across_gpus_in_equal_parts() {
    let Some(fake) = Fake::new() else { return };
    let gpus = both(&fake);
    let data: Vec<u32> = (0..8 * 1024 + 1).collect();
    let mut array = across(&gpus, data.len()).unwrap();
    assert_eq!((fake.backing(0), fake.backing(1)), (4 * GRAIN, 5 * GRAIN));
    assert_eq!(fake.mapped(), (1, 0), "memory is held by where it is mapped, not by its handle");
    gpus[0].put(&data, &mut array).unwrap();
    assert_eq!(array.to_host().unwrap(), data);
    assert_eq!(array.range_to_host(4090..4100).unwrap(), data[4090..4100], "on both sides of the cut");
    gpus[0].memset32(&mut array, 7).unwrap();
    assert_eq!(array.to_host().unwrap(), vec![7; data.len()]);
    assert!(gpus[0].put(&[0; 8 * 1024 + 2], &mut array).is_err());
    drop(array);
    assert_eq!(fake.mapped(), (0, 0));
}

#[test]
fn an_array_of_nothing_or_of_less_than_a_part_is_one_too() {
    let Some(fake) = Fake::new() else { return };
    let gpus = both(&fake);
    assert_eq!(across(&gpus, 0).unwrap().to_host(), Ok(vec![]));
    let mut little = across(&gpus, 3).unwrap();
    gpus[0].put(&[1, 2, 3], &mut little).unwrap();
    assert_eq!((little.to_host().unwrap(), little.bytes()), (vec![1, 2, 3], 12));
}

#[test]
fn what_cannot_span_gpus_is_a_reason_and_leaves_nothing_behind() {
    let Some(fake) = Fake::new() else { return };
    let gpus = both(&fake);
    let refusal = || across(&gpus, 8 << 10).err().unwrap().to_string();
    fake.peers(false);
    assert_eq!(refusal(), "n/a: GPU 0 cannot access the memory of GPU 1");
    fake.peers(true);
    let missing = 302;
    for function in ["cuMemAddressReserve", "cuMemCreate", "cuMemMap", "cuMemSetAccess"] {
        fake.fail(function, missing);
        assert_eq!(refusal(), format!("n/a: this driver has no {function}"));
        assert_eq!(fake.mapped(), (0, 0), "{function}");
    }
    fake.fail("cuMemMap", 1);
    assert_eq!(refusal(), "cuMemMap: CUDA_ERROR_INVALID_VALUE (1)");
    fake.fail("cuMemCreate", 2);
    assert_eq!(refusal(), "n/a: needs 16.0 KiB of device memory, 9.00 GiB free");
    assert_eq!(fake.mapped(), (0, 0));
}

fn case(primitive: &str, words: &[(&str, Value)]) -> Case {
    let params = Params::default()
        .with("backend", Value::Text("cuda".into()))
        .with("kernel", Value::Text("copy".into()))
        .with("elements", Value::Int(8));
    let params = words.iter().fold(params, |p, (key, value)| p.with(key, value.clone()));
    let primitive = primitive.to_owned();
    Case { id: String::new(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
}

fn gpus(count: u64) -> (&'static str, Value) {
    ("backend.cuda.gpus", Value::Int(count))
}

/// The recorded number of GPUs that took part.
fn part_taking(case: &dyn Prepared) -> Option<Value> {
    case.resolved().into_iter().find(|(key, _)| key == "backend.cuda.gpus").map(|(_, count)| count)
}

#[test]
fn a_case_takes_as_many_gpus_as_it_asks_for() {
    let Some(fake) = Fake::new() else { return };
    let executor = CudaExecutor::default();
    let prepare = |case: &Case| executor.prepare(case, None, &Cancel::default());
    let refused = |case: &Case| prepare(case).err().unwrap().to_string();
    assert_eq!(refused(&case("stream", &[gpus(2)])), "n/a: needs 2 GPUs, 1 is here");
    fake.devices(3);
    let mut two = prepare(&case("stream", &[gpus(2)])).unwrap();
    assert_eq!((fake.opened(), fake.which()), (2, 0b11), "and no others");
    assert_eq!(part_taking(two.as_ref()), Some(Value::Int(2)));
    assert!(two.sample(1).unwrap() >= 2.5e-4, "the device's clock, from the first start on");
    let alone = prepare(&case("stream", &[])).unwrap();
    assert_eq!((two.memory(), part_taking(alone.as_ref())), (2 * alone.memory(), None));
    let all = ("backend.cuda.gpus", Value::Text("all".into()));
    let rest = case("stream", &[all, ("backend.cuda.device", Value::Int(1))]);
    assert_eq!(part_taking(prepare(&rest).unwrap().as_ref()), Some(Value::Int(2)), "from the second on");
    assert_eq!(executor.evict(), Ok(2 * 2 * (50 << 20)), "twice the L2 of each");
    let spanning = case("stream", &[gpus(2), ("backend.cuda.memory", Value::Text("spanning".into()))]);
    assert_eq!(refused(&spanning), "n/a: stream cannot span GPUs; only gather and scatter can");
}

#[test]
fn what_goes_wrong_on_one_gpu_goes_wrong() {
    let Some(fake) = Fake::new() else { return };
    fake.devices(2);
    let executor = CudaExecutor::default();
    let mut two = executor.prepare(&case("stream", &[gpus(2)]), None, &Cancel::default()).unwrap();
    fake.fail("cuLaunchKernel", 719);
    let lost = two.sample(1).err().unwrap();
    assert!(matches!(&lost, Failure::Lost(why) if why.contains("LAUNCH_FAILED")), "{lost}");
    fake.fail("cuStreamSynchronize", 700);
    assert!(matches!(two.sample(1), Err(Failure::Lost(_))));
}
