//! On a machine without a driver the program still starts, and the backend gives its reason in one line.

use scatterlab::device::cuda::Gpu;

#[test]
fn without_a_driver_there_is_a_reason() {
    if cfg!(target_os = "linux") {
        let loaded = std::fs::read_to_string("/proc/self/maps").unwrap();
        assert!(loaded.contains("cuda_absent") && !loaded.contains("libcuda.so"), "linked to the driver");
    }
    // SAFETY: this is the only test in this executable, so no other thread reads the environment.
    unsafe { std::env::set_var("SCATTERLAB_LIBCUDA", "/nowhere/libcuda.so.1") };
    let why = Gpu::open().err().expect("no GPU can be opened through a driver that is not there");
    let built = cfg!(all(feature = "cuda", target_os = "linux"));
    if built {
        assert_eq!(why.reason, "no CUDA driver");
        assert_eq!(why.to_string(), "no CUDA driver: /nowhere/libcuda.so.1 not found");
    } else {
        assert_eq!(why.reason, "built without the cuda feature");
    }
}
