//! stream: STREAM's kernels on f64 arrays (McCalpin), and a pure read and a pure write.
//!
//! With q = 3: read Σ a; write a = 7; copy c = a; scale b = q·c; add c = a + b; triad a = b + q·c. The
//! effective bytes are STREAM's: every array that the formula names, once (read and write 8n, copy and scale
//! 16n, add and triad 24n). Additional reads by write-allocate are not counted.

pub mod cpu;
pub mod cuda;

use super::oracle::{check_length, compare_words64, words64};
use super::{Definition, Primitive, Problem};
use crate::case::table::{choice, count, parameters, words};
use crate::case::tuning::{DEFAULT_BLOCK as BLOCK, Grid, Hint, Offered, Tuning};
use crate::case::{Access, Params, Refusal, Work, params};
use crate::inputs::mix::word64;

/// An f64 holds integers up to 2^53.
const EXACT: u32 = 53;

/// Bits of the values that arithmetic combines.
const BITS: u32 = 20;

/// Maximum number of elements whose sum is exact in any order.
pub const MAX_SUMMED: u64 = 1 << (EXACT - BITS);

/// The factor q of scale and triad.
pub const Q: f64 = 3.0;

/// The value that `write` stores.
pub const WRITTEN: f64 = 7.0;

/// The tunables for which the CUDA kernels are built.
const OFFERED: Offered = Offered {
    block: 1024,
    items: &[1, 2, 4, 8],
    grids: &[Grid::Tiles, Grid::Resident],
    hints: &[Hint::None, Hint::Streaming],
    vectors: &[8, 16],
    fetch: &[32, 64, 128],
    persist: false,
};

words! {
    /// STREAM's kernels (McCalpin) and a read and a write alone.
    pub enum Kernel {
        /// `Σ a[i]`
        Read = "read",
        /// `a[i] = 7`
        Write = "write",
        /// `c[i] = a[i]`
        Copy = "copy",
        /// `b[i] = q·c[i]`
        Scale = "scale",
        /// `c[i] = a[i] + b[i]`
        Add = "add",
        /// `a[i] = b[i] + q·c[i]`
        Triad = "triad",
    }
}

choice! {
    /// How results are stored.
    #[derive(Eq)]
    pub enum Method {
        /// ordinary stores
        Direct = "direct",
        /// non-temporal stores (CPUs)
        Streaming = "streaming",
    }
}

parameters! {
    /// A stream case, typed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Spec {
        /// read: sum of a; write: a = 7; copy: c = a; scale: b = 3c; add: c = a + b; triad: a = b + 3c
        kernel: Kernel,
        /// f64 elements of each array
        elements: u64 [count(1, 1 << 45)],
        /// how results are stored
        method: Method = "direct",
    }
}

/// One of the three arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Array {
    A,
    B,
    C,
}

impl Kernel {
    /// Arrays that the kernel reads, in the order of its formula.
    pub fn sources(self) -> &'static [Array] {
        match self {
            Kernel::Read | Kernel::Copy => &[Array::A],
            Kernel::Write => &[],
            Kernel::Scale => &[Array::C],
            Kernel::Add => &[Array::A, Array::B],
            Kernel::Triad => &[Array::B, Array::C],
        }
    }

    /// The array that the kernel writes.
    pub fn destination(self) -> Option<Array> {
        match self {
            Kernel::Read => None,
            Kernel::Write | Kernel::Triad => Some(Array::A),
            Kernel::Scale => Some(Array::B),
            Kernel::Copy | Kernel::Add => Some(Array::C),
        }
    }
}

impl Array {
    /// The array's letter.
    pub fn name(self) -> &'static str {
        match self {
            Array::A => "a",
            Array::B => "b",
            Array::C => "c",
        }
    }

    /// The seed of the array's elements: seed, seed + 1 and seed + 2.
    #[inline(always)]
    pub fn seed(self, seed: u64) -> u64 {
        seed.wrapping_add(self as u64)
    }
}

impl Spec {
    /// Bits of the integers that are read. A sum says the more of what was read the wider its terms are: for `read`
    /// as many bits as keep the sum exact in any order, 20 for 2^33 elements and 32 for 2^21.
    #[inline(always)]
    pub fn bits(&self) -> u32 {
        match self.kernel {
            Kernel::Read => EXACT - self.elements.max(2).next_power_of_two().ilog2().min(EXACT - BITS),
            _ => BITS,
        }
    }

    /// Element `i` of an array that is read.
    #[inline(always)]
    pub fn input(&self, array: Array, i: u64) -> f64 {
        (word64(array.seed(self.seed), i) >> (64 - self.bits())) as f64
    }

    /// Element `i` of the destination; for `read`, element `i` of the sum. Exact.
    #[inline(always)]
    pub fn element(&self, i: u64) -> f64 {
        let [a, b, c] = [Array::A, Array::B, Array::C].map(|array| move || self.input(array, i));
        match self.kernel {
            Kernel::Read | Kernel::Copy => a(),
            Kernel::Write => WRITTEN,
            Kernel::Scale => Q * c(),
            Kernel::Add => a() + b(),
            Kernel::Triad => b() + Q * c(),
        }
    }

    /// Arrays that the case needs: those that it reads and the one that it writes.
    pub fn arrays(&self) -> impl Iterator<Item = Array> {
        self.kernel.sources().iter().copied().chain(self.kernel.destination())
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "stream",
        "read, write, copy, scale, add or triad of f64 arrays, in order",
        Spec::TABLE,
    )
    // 2: the elements of a read have as many bits as their sum leaves.
    .with_version(|params| if params.text("kernel") == Some("read") { 2 } else { 1 })];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let spec = Spec::of_table(params, seed)?;
        params::bytes("elements", &[spec.elements, 8])?;
        if spec.kernel == Kernel::Read && spec.elements > MAX_SUMMED {
            return Err(Refusal::invalid("elements", "beyond 2^33 elements a sum in f64 is not exact"));
        }
        let reason = match spec.method {
            Method::Streaming if spec.backend.is_cuda() => "non-temporal stores are a method of CPUs",
            Method::Streaming if spec.kernel == Kernel::Read => "read stores nothing",
            _ => return Ok(spec),
        };
        Err(Refusal::NotApplicable(reason.to_owned()))
    }

    fn tunables(name: &str, params: &Params) -> Result<(), Refusal> {
        Tuning::of(params)?.within(name, &OFFERED).map(drop)
    }
}

impl Problem for Spec {
    fn work(&self) -> Work {
        let read = self.kernel.sources().iter().map(|array| Access::reads(array.name(), 8, self.elements));
        let written = self.kernel.destination().map(|array| Access::writes(array.name(), 8, self.elements));
        Work::once(self.elements, read.chain(written))
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        check(self, output)
    }
}

/// Compares an output with the definition: for read one f64, else the destination.
fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    if spec.kernel == Kernel::Read {
        return check_sum(spec, output);
    }
    check_length(output, spec.elements.saturating_mul(8))?;
    compare_words64(output, (0..spec.elements).map(|i| element(spec, i).to_bits()))
}

fn check_sum(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 8)?;
    let wanted: u64 = (0..spec.elements).map(|i| spec.input(Array::A, i) as u64).sum();
    match words64(output).next().map(f64::from_bits) {
        Some(found) if found == wanted as f64 => Ok(()),
        found => Err(format!("the sum is {found:?} instead of {wanted}")),
    }
}

fn element(spec: &Spec, i: u64) -> f64 {
    let [a, b, c] = [Array::A, Array::B, Array::C].map(|array| spec.input(array, i));
    match spec.kernel {
        Kernel::Read | Kernel::Copy => a,
        Kernel::Write => WRITTEN,
        Kernel::Scale => Q * c,
        Kernel::Add => a + b,
        Kernel::Triad => b + Q * c,
    }
}

/// The tunables of a case, with no open value among those that stream offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuned(pub Tuning);

/// Bytes that a thread of a read has in flight: on an H200, 64 and 128 performed alike, 16 worse.
const READ_BYTES: u32 = 128;

impl Tuned {
    /// Open tunables get the values that measured best on an H200 with 8 GiB per array: 16-byte vectors, one
    /// block of 256 per tile, the smallest tile except for read (the figures are in the kernels; with 128 bytes
    /// in flight a copy is 4 % slower). Hints made no difference.
    pub fn new(kernel: Kernel, asked: Tuning) -> Tuned {
        let vector = asked.vector.unwrap_or(16);
        let items = if kernel == Kernel::Read { (READ_BYTES / vector).min(8) } else { 1 };
        Tuned(Tuning {
            block: asked.block.or(Some(BLOCK)),
            items: asked.items.or(Some(items)),
            grid: asked.grid.or(Some(Grid::Tiles)),
            hint: asked.hint.or(Some(Hint::None)),
            vector: Some(vector),
            ..Tuning::default()
        })
    }

    /// f64 elements of a load or store.
    pub fn lanes(&self) -> u64 {
        u64::from(self.0.vector.unwrap_or(8)) / 8
    }

    /// The timed kernel's name in the PTX.
    pub fn kernel_name(&self, kernel: Kernel) -> String {
        let hint = if self.0.hint == Some(Hint::Streaming) { "_cs" } else { "" };
        let items = self.0.items.unwrap_or(1);
        format!("stream_{}_v{}_n{items}{hint}", kernel.name(), 8 * self.lanes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Value;

    fn params(kernel: &str, elements: u64) -> Params {
        Params::default().with("kernel", Value::Text(kernel.into())).with("elements", Value::Int(elements))
    }

    #[test]
    fn bytes_are_those_of_stream() {
        let bytes =
            |kernel: &str| Spec::read("stream", &params(kernel, 100), 1).unwrap().work().effective_bytes;
        let kernels = ["read", "write", "copy", "scale", "add", "triad"];
        assert_eq!(kernels.map(bytes), [800, 800, 1600, 1600, 2400, 2400]);
    }

    #[test]
    fn the_oracle_accepts_the_formula_and_nothing_else() {
        for kernel in ["write", "copy", "scale", "add", "triad"] {
            let p = params(kernel, 33);
            let spec = Spec::read("stream", &p, 5).unwrap();
            let mut out: Vec<u8> = (0..33).flat_map(|i| spec.element(i).to_le_bytes()).collect();
            assert_eq!(spec.check(&out), Ok(()), "{kernel}");
            out[32 * 8] ^= 1;
            assert!(spec.check(&out).unwrap_err().starts_with("word 32"), "{kernel}");
            assert!(spec.check(&out[8..]).is_err(), "{kernel}");
        }
    }

    #[test]
    fn a_sum_is_exact() {
        let p = params("read", 1000);
        let spec = Spec::read("stream", &p, 5).unwrap();
        let sum: f64 = (0..1000).rev().map(|i| spec.element(i)).sum();
        assert_eq!(spec.check(&sum.to_le_bytes()), Ok(()));
        assert!(spec.check(&(sum + 1.0).to_le_bytes()).is_err());
    }

    fn refusal(params: &Params) -> String {
        Spec::read("stream", params, 1).expect_err("refused").to_string()
    }

    #[test]
    fn kernels_and_arrays() {
        let arrays = |kernel: &str| {
            let spec = Spec::read("stream", &params(kernel, 4), 1).unwrap();
            spec.arrays().map(Array::name).collect::<String>()
        };
        assert_eq!(
            Kernel::NAMES.iter().map(|(name, _)| arrays(name)).collect::<Vec<_>>(),
            ["a", "a", "ac", "cb", "abc", "bca"]
        );
    }

    #[test]
    fn what_does_not_exist_is_not_applicable() {
        let streaming = |kernel| params(kernel, 4).with("method", Value::Text("streaming".into()));
        assert!(Spec::read("stream", &streaming("copy"), 1).is_ok());
        assert!(refusal(&streaming("read")).starts_with("n/a"));
        let cuda = streaming("copy").with("backend", Value::Text("cuda".into()));
        assert!(refusal(&cuda).starts_with("n/a"));
    }

    #[test]
    fn sizes_are_limited() {
        assert!(refusal(&params("copy", (1 << 45) + 1)).starts_with("elements"));
        assert!(Spec::read("stream", &params("copy", MAX_SUMMED + 1), 1).is_ok());
        assert!(refusal(&params("read", MAX_SUMMED + 1)).starts_with("elements"));
    }

    #[test]
    fn inputs_are_integers_whose_sum_is_exact() {
        let spec = |kernel: &str, n: u64| Spec::read("stream", &params(kernel, n), 3).expect("a case");
        assert_eq!(
            [1, 2, 3, 1 << 21, (1 << 21) + 1, 1 << 33].map(|n| spec("read", n).bits()),
            [52, 52, 51, 32, 31, 20]
        );
        for (spec, bits) in [(spec("copy", 1000), 20), (spec("read", 1000), 43)] {
            let values = || (0..1000).map(|i| spec.input(Array::A, i));
            assert!(values().all(|v| (0.0..2f64.powi(bits)).contains(&v) && v.fract() == 0.0));
            assert!(values().any(|v| v >= 2f64.powi(bits - 1)), "all bits are in use");
            assert!(values().sum::<f64>() < 2f64.powi(53));
        }
    }

    #[test]
    fn open_tunables_are_chosen_and_set_ones_kept() {
        let name = |kernel, asked| Tuned::new(kernel, asked).kernel_name(kernel);
        assert_eq!(name(Kernel::Read, Tuning::default()), "stream_read_v16_n8");
        assert_eq!(name(Kernel::Write, Tuning::default()), "stream_write_v16_n1");
        let asked = Tuning {
            vector: Some(8),
            items: Some(4),
            hint: Some(Hint::Streaming),
            block: Some(64),
            grid: Some(Grid::Resident),
            ..Tuning::default()
        };
        assert_eq!(name(Kernel::Triad, asked), "stream_triad_v8_n4_cs");
        assert_eq!(Tuned::new(Kernel::Triad, asked).0, asked);
    }
}
