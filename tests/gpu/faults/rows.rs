//! The table of faults.

/// Four cases on the GPU and four beside it, two rounds each.
pub const RECIPE: &str = "\
title: Faults
stream: {kernel: [copy, scale, add, triad], elements: 1Ki}
backend: [scalar, cuda]
chart: {x: kernel, y: time, lines: backend}
measure: {rounds: 2, samples: 2, second-look: never}
";

/// The number of rounds of all eight cases.
pub const ALL: usize = 16;

pub const LOST: &str = "; the run continues in a fresh engine";

/// A fault and its effect on the run.
pub struct Row {
    pub fault: &'static str,
    pub environment: &'static [(&'static str, &'static str)],
    /// Words in the line that reports the fault.
    pub words: &'static str,
    /// The end of that line.
    pub next: &'static str,
    /// Number of the GPU's cases that get this status; the others are done.
    pub struck: (usize, &'static str),
    pub status: i32,
    /// Number of rounds on file.
    pub rounds: usize,
}

/// A fault in the case `scale` that does not affect the GPU's other cases.
pub const ONE: Row = Row {
    fault: "",
    environment: &[],
    words: "",
    next: "",
    struck: (1, "failed"),
    status: 3,
    rounds: ALL - 2,
};

/// A round on the GPU waits for four events: after two warm-up executions and two samples. The cases take
/// turns.
pub const ROWS: &[Row] = &[
    Row {
        fault: "no driver",
        environment: &[("SCATTERLAB_LIBCUDA", "/nowhere/libcuda.so.1")],
        words: "n/a: no CUDA driver",
        struck: (4, "n/a"),
        status: 0,
        rounds: ALL / 2,
        ..ONE
    },
    Row {
        fault: "a driver without a device",
        environment: &[("FAULT_CALL", "cuInit"), ("FAULT_DOES", "100")],
        words: "n/a: no CUDA device",
        struck: (4, "n/a"),
        status: 0,
        rounds: ALL / 2,
        ..ONE
    },
    Row {
        fault: "a driver that does not know its device",
        environment: &[("FAULT_CALL", "cuInit"), ("FAULT_DOES", "803")],
        words: "n/a: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        struck: (4, "n/a"),
        status: 0,
        rounds: ALL / 2,
        ..ONE
    },
    Row {
        fault: "a driver too old for the PTX",
        environment: &[("FAULT_CUDA", "12080")],
        words: "n/a: the kernels are PTX 9.0, but the driver (CUDA 12.8) takes PTX up to 8.7",
        next: "a newer driver is needed",
        struck: (4, "n/a"),
        status: 0,
        rounds: ALL / 2,
    },
    Row {
        fault: "PTX that the driver refuses",
        environment: &[("FAULT_CALL", "cuLibraryLoadData"), ("FAULT_DOES", "218")],
        words: " of stream.ptx): CUDA_ERROR_INVALID_PTX (218)",
        struck: (4, "failed"),
        rounds: ALL / 2,
        ..ONE
    },
    Row {
        fault: "out of memory, although the plan fitted",
        environment: &[("FAULT_CALL", "cuMemAlloc_v2"), ("FAULT_AT", "6"), ("FAULT_DOES", "2")],
        words: "FAILED: cuMemAlloc of 8.01 KiB with 64.0 MiB free: CUDA_ERROR_OUT_OF_MEMORY (2)",
        ..ONE
    },
    Row {
        fault: "an illegal address",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuEventSynchronize"),
            ("FAULT_AT", "1"),
            ("FAULT_DOES", "700"),
        ],
        words: "scale · cuda: FAILED: cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        next: LOST,
        ..ONE
    },
    Row {
        fault: "an illegal address in the second round",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuEventSynchronize"),
            ("FAULT_AT", "22"),
            ("FAULT_DOES", "700"),
        ],
        words: "scale · cuda: FAILED: cuEventSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS (700)",
        next: LOST,
        rounds: ALL - 1,
        ..ONE
    },
    Row {
        fault: "a kernel that never ends",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuEventSynchronize"),
            ("FAULT_AT", "3"),
            ("FAULT_DOES", "hang"),
            ("SCATTERLAB_HUNG_AFTER", "15"),
        ],
        words: "scale · cuda: FAILED: the engine died: hung while sampling: killed after 15 s without progress",
        next: LOST,
        ..ONE
    },
    Row {
        fault: "a launch timeout in the middle of a round",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuEventSynchronize"),
            ("FAULT_AT", "3"),
            ("FAULT_DOES", "702"),
        ],
        words: "scale · cuda: FAILED: cuEventSynchronize: CUDA_ERROR_LAUNCH_TIMEOUT (702)",
        next: LOST,
        ..ONE
    },
    Row {
        fault: "a launch that fails",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuLaunchKernel"),
            ("FAULT_AT", "1"),
            ("FAULT_DOES", "719"),
        ],
        words: "): CUDA_ERROR_LAUNCH_FAILED (719)",
        next: LOST,
        ..ONE
    },
    Row {
        fault: "a driver that crashes",
        environment: &[
            ("FAULT_KERNEL", "stream_scale"),
            ("FAULT_CALL", "cuLaunchKernel"),
            ("FAULT_AT", "2"),
            ("FAULT_DOES", "crash"),
        ],
        words: "scale · cuda: FAILED: the engine died: ended by signal 11 (a crash, of its own or in a driver)",
        next: LOST,
        ..ONE
    },
    Row {
        fault: "a kernel that stores garbage",
        environment: &[("FAULT_KERNEL", "stream_scale"), ("FAULT_DOES", "garbage")],
        words: "scale · cuda: FAILED: wrong result: ",
        // The wrong round is on file, and no further one follows.
        rounds: ALL - 1,
        ..ONE
    },
];
