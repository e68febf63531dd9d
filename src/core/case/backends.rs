//! The backends and their parameters.

use super::schema::{Kind, Param, ParamDefault, Variant};
use super::{Params, gpus, tuning};

/// The backend of a case, as far as it determines the implementation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Backend {
    /// One thread, no SIMD.
    Scalar,
    /// Threads and SIMD.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
    /// A peer, or not specified.
    #[default]
    Other,
}

impl Backend {
    /// The backend of a case with these parameters.
    pub fn of(params: &Params) -> Backend {
        match params.text("backend") {
            Some("scalar") => Backend::Scalar,
            Some("cpu") => Backend::Cpu,
            Some("cuda") => Backend::Cuda,
            _ => Backend::Other,
        }
    }

    /// True if this is the GPU backend.
    pub fn is_cuda(self) -> bool {
        self == Backend::Cuda
    }

    /// True if this is one of the CPU backends.
    pub fn is_cpu(self) -> bool {
        matches!(self, Backend::Scalar | Backend::Cpu)
    }
}

/// The largest device number of a GPU.
pub const LAST_GPU: u64 = 4095;

/// Full key of the number of threads on `cpu`.
pub const THREADS_KEY: &str = "backend.cpu.threads";

/// The backends and their parameters, for the recipe language.
pub const BACKENDS: Param = Param {
    name: "backend",
    kind: Kind::Choice(&[
        Variant::plain("scalar", "one thread, no SIMD: the baseline"),
        Variant {
            name: "cpu",
            params: &[
                Param {
                    name: "threads",
                    kind: Kind::CountOr { min: 1, max: 4096, words: &["auto"], list: 0 },
                    default: ParamDefault::Is("auto"),
                    doc: "worker threads, each pinned to one CPU of the inherited affinity mask; auto: all of them",
                },
                Param {
                    name: "isa",
                    kind: Kind::Word(&["auto", "scalar", "avx2", "avx512"]),
                    default: ParamDefault::Is("auto"),
                    doc: "instruction set of the data path; auto: detected at run time",
                },
            ],
            main: None,
            doc: "rayon threads and SIMD",
        },
        Variant {
            name: "cuda",
            params: &[
                Param {
                    name: "device",
                    kind: Kind::Count { min: 0, max: LAST_GPU },
                    default: ParamDefault::Unset,
                    doc: "the GPU, in the order of the CUDA driver; unset: 0, the first",
                },
                gpus::COUNT,
                gpus::MEMORY,
                tuning::BLOCK,
                tuning::ITEMS,
                tuning::GRID,
                tuning::HINT,
                tuning::VECTOR,
                tuning::FETCH,
                tuning::PERSIST,
            ],
            main: None,
            doc: "an NVIDIA GPU, or several of one host",
        },
    ]),
    default: ParamDefault::Required,
    doc: "where the cases run",
};

/// The names of all backends, including those that cannot run here.
pub fn names() -> impl Iterator<Item = &'static str> {
    let variants: &[Variant] = match BACKENDS.kind {
        Kind::Choice(variants) => variants,
        _ => &[],
    };
    variants.iter().map(|variant| variant.name)
}
