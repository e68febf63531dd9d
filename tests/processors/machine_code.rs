//! Checks the compiler's output for the timed kernels: this test disassembles its own executable.
//!
//! The kernels are generic functions with predictable names, one module per instruction set; every
//! instantiation is examined.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::process::Command;
use std::sync::OnceLock;

use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;

/// A function: its demangled name and its instructions (`mnemonic operands`), each with its address.
struct Function {
    name: String,
    code: Vec<(u64, String)>,
}

/// The kernels in this executable; `None` without objdump, except in CI.
fn kernels() -> Option<&'static [Function]> {
    static KERNELS: OnceLock<Option<Vec<Function>>> = OnceLock::new();
    KERNELS.get_or_init(disassemble).as_deref()
}

fn disassemble() -> Option<Vec<Function>> {
    // Keeps the executor, and with it every kernel, in this executable.
    let executor: Box<dyn Executor> = std::hint::black_box(Box::new(CpuExecutor::cpu()));
    assert_eq!(executor.backend(), "cpu");
    let binary = std::env::current_exe().expect("this executable");
    let arguments = ["--disassemble", "--demangle", "--no-show-raw-insn", "--wide"];
    let output = match Command::new("objdump").args(arguments).arg(binary).output() {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        other if std::env::var_os("CI").is_some() => panic!("objdump does not run: {other:?}"),
        _ => {
            eprintln!("skipped: objdump (binutils) is missing");
            return None;
        }
    };
    Some(output.split("\n\n").filter_map(function).collect())
}

fn function(text: &str) -> Option<Function> {
    let mut lines = text.lines().skip_while(|l| !l.ends_with(">:"));
    let name = lines.next()?.split_once('<')?.1.trim_end_matches(">:").to_owned();
    if !name.contains("::cpu::kernels::") {
        return None;
    }
    let code = lines.filter_map(|line| {
        let (address, instruction) = line.split_once(':')?;
        Some((u64::from_str_radix(address.trim(), 16).ok()?, instruction.trim().to_owned()))
    });
    Some(Function { name, code: code.collect() })
}

/// The instantiations of `primitive::cpu::kernels::isa::kernel`, at least one.
fn named(primitive: &str, isa: &str, kernel: &str) -> Vec<&'static Function> {
    let Some(all) = kernels() else { return Vec::new() };
    let path = format!("::{primitive}::cpu::kernels::{isa}::{kernel}");
    let is = |name: &str| {
        let rest = name.find(&path).map(|at| &name[at + path.len()..]);
        rest.is_some_and(|r| r.is_empty() || r.starts_with('<') || r.starts_with("::"))
    };
    let found: Vec<_> = all.iter().filter(|f| is(&f.name)).collect();
    assert!(!found.is_empty(), "no function {path}");
    found
}

impl Function {
    fn mnemonics(&self) -> impl Iterator<Item = &str> {
        self.code.iter().filter_map(|(_, text)| text.split_whitespace().next())
    }

    /// The instructions between the target of a backward jump and the jump.
    fn loops(&self) -> Vec<&str> {
        let backward = self.code.iter().filter_map(|(at, text)| {
            let mut words = text.split_whitespace();
            let jump = words.next().filter(|m| m.starts_with('j'))?;
            let target = u64::from_str_radix(words.next()?, 16).ok().filter(|t| t < at)?;
            Some((target, *at)).filter(|_| !jump.is_empty())
        });
        let spans: Vec<_> = backward.collect();
        let inside = |at: &u64| spans.iter().any(|(from, to)| from <= at && at <= to);
        self.code.iter().filter(|(at, _)| inside(at)).map(|(_, text)| text.as_str()).collect()
    }

    /// Number of stores of data (not to the stack) inside loops.
    fn stores(&self) -> usize {
        let stores = |text: &&&str| {
            let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
            let destination = operands.trim().trim_end_matches(|c| c != ')');
            let to_memory = operands.trim().split('{').next().is_some_and(|o| o.trim().ends_with(')'));
            let moves =
                mnemonic.starts_with("mov") || mnemonic.starts_with("vmov") || mnemonic.starts_with("vpmask");
            moves && to_memory && !destination.ends_with("(%rsp)") && !destination.ends_with("(%rbp)")
        };
        self.loops().iter().filter(stores).count()
    }

    /// The first instruction that does more with a vector register than move 16 bytes or compute with a single
    /// f32 or f64.
    fn vector_work(&self) -> Option<&str> {
        // Clearing a register, and moves of up to 16 bytes.
        let moves =
            ["movups", "movaps", "movdqa", "movdqu", "movntdq", "movntps", "movq", "movd", "movsd", "movapd"];
        let clears = ["xorps", "pxor", "xorpd"];
        let scalar = [
            "addsd",
            "mulsd",
            "minsd",
            "maxsd",
            "addss",
            "mulss",
            "minss",
            "maxss",
            "movss",
            "ucomisd",
            "ucomiss",
            "cvtss2sd",
            "cvtsd2ss",
            "cvttsd2si",
        ];
        // Comparing a register with itself sets it to ones.
        let ones = |text: &str| {
            let operands = text.strip_prefix("pcmpeqd").and_then(|rest| rest.trim().split_once(','));
            operands.is_some_and(|(one, other)| one == other)
        };
        let wide = |text: &str| text.contains("%ymm") || text.contains("%zmm");
        let suspicious = |text: &&str| {
            let mnemonic = text.split_whitespace().next().unwrap_or("");
            let known = moves.contains(&mnemonic)
                || clears.contains(&mnemonic)
                || scalar.contains(&mnemonic)
                || ones(text);
            wide(text) || text.contains("%xmm") && !known
        };
        self.code.iter().map(|(_, text)| text.as_str()).find(suspicious)
    }
}

const PATTERN: [&str; 7] =
    ["gather", "multigather", "scatter", "multiscatter", "gs", "read_only", "multi_read_only"];
const MOVES: [&str; 5] = ["gather", "gather_streaming", "scatter", "gather_pass", "scatter_pass"];
const STREAM: [&str; 6] = ["read", "write", "copy", "scale", "add", "triad"];
const SCAN: [&str; 2] = ["scan", "reduce"];

#[test]
fn scalar_kernels_have_no_vector_work() {
    let kernels =
        [("pattern", &PATTERN[..]), ("gather_scatter", &MOVES), ("stream", &STREAM), ("scan", &SCAN)];
    for (primitive, names) in kernels {
        for function in names.iter().flat_map(|name| named(primitive, "scalar", name)) {
            assert_eq!(function.vector_work(), None, "{}", function.name);
        }
    }
    // Includes kernels of primitives that are not named here.
    let all = self::kernels().unwrap_or_default().iter();
    for function in all.filter(|function| function.name.contains("::cpu::kernels::scalar::")) {
        assert_eq!(function.vector_work(), None, "{}", function.name);
    }
}

#[test]
fn pattern_gathers_store_what_they_gather() {
    for isa in ["scalar", "avx2", "avx512"] {
        for function in ["gather", "multigather"].iter().flat_map(|name| named("pattern", isa, name)) {
            assert!(function.stores() > 0, "{} stores nothing in its loop", function.name);
        }
    }
}

#[test]
fn read_only_kernels_store_nothing() {
    for isa in ["scalar", "avx2", "avx512"] {
        for function in ["read_only", "multi_read_only"].iter().flat_map(|n| named("pattern", isa, n)) {
            assert_eq!(function.stores(), 0, "{}", function.name);
        }
    }
}

/// Checks that every instantiation has this instruction in a loop.
fn all_use(primitive: &str, isa: &str, kernel: &str, instruction: &str) {
    for function in named(primitive, isa, kernel) {
        let used = function.loops().iter().any(|text| text.starts_with(instruction));
        assert!(used, "{} lacks {instruction}", function.name);
    }
}

/// Checks that at least `least` instantiations contain the instruction: those for tuples of 4 and 8 bytes.
fn some_use(primitive: &str, isa: &str, kernel: &str, instruction: &str, least: usize) {
    let with = |f: &&&Function| f.mnemonics().any(|m| m.starts_with(instruction));
    let functions = named(primitive, isa, kernel);
    let found = functions.iter().filter(with).count();
    assert!(functions.is_empty() || found >= least, "{isa}::{kernel}: {found} with {instruction}");
}

#[test]
fn vector_kernels_gather_and_scatter() {
    for isa in ["avx2", "avx512"] {
        for kernel in ["gather", "multigather", "read_only", "multi_read_only"] {
            all_use("pattern", isa, kernel, "vpgatherqq");
        }
        some_use("gather_scatter", isa, "gather", "vpgatherq", 4);
        some_use("gather_scatter", isa, "gather_streaming", "vpgatherq", 4);
    }
    for kernel in ["scatter", "multiscatter", "gs"] {
        all_use("pattern", "avx512", kernel, "vpscatterqq");
    }
    some_use("gather_scatter", "avx512", "scatter", "vpscatterq", 4);
    for kernel in ["gather_pass", "scatter_pass"] {
        all_use("gather_scatter", "avx512", kernel, "vpcompressd");
        all_use("gather_scatter", "avx2", kernel, "vpcmpgtq");
    }
}

/// Half of the instantiations prefetch: those for uses that move on to new lines.
#[test]
fn gathers_from_memory_ask_ahead() {
    for isa in ["scalar", "avx2", "avx512"] {
        for kernel in ["gather", "read_only"] {
            let asks = |f: &&&Function| f.loops().iter().any(|text| text.starts_with("prefetcht0"));
            let functions = named("pattern", isa, kernel);
            assert_eq!(functions.iter().filter(asks).count() * 2, functions.len(), "{isa}::{kernel}");
        }
    }
}

#[test]
fn streaming_kernels_store_without_a_temporal_hint() {
    for isa in ["scalar", "avx2", "avx512"] {
        for function in named("gather_scatter", isa, "gather_streaming") {
            let streams = |text: &&str| text.starts_with("movnt") || text.starts_with("vmovnt");
            assert!(function.loops().iter().any(streams), "{}", function.name);
        }
        for kernel in ["write", "copy", "scale", "add", "triad"] {
            let streams = |f: &&&Function| f.mnemonics().any(|m| m.contains("movnt"));
            let functions = named("stream", isa, kernel);
            assert_eq!(functions.iter().filter(streams).count() * 2, functions.len(), "{isa}::{kernel}");
        }
    }
}

#[test]
fn vector_scans_store_without_a_temporal_hint_and_ask_ahead() {
    for isa in ["avx2", "avx512"] {
        all_use("scan", isa, "scan", "vmovnt");
        all_use("scan", isa, "scan", "prefetcht1");
    }
}

/// Shows that the checks above can fail.
#[test]
fn vector_kernels_are_not_scalar() {
    for function in named("pattern", "avx512", "gather") {
        assert!(function.vector_work().is_some(), "{}", function.name);
    }
}
