//! What tells the segments on a device, and the bits that kernels read made of it. That is part of
//! every execution, for a case may have its segments in any form.

use super::forms::{Flags, Segments, form};
use super::one_pass::{self, Arrays, Manner, Means, OnePass};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::scan::segments::Heads as Form;
use crate::primitives::scan::spec::{Method, Spec};

/// The segments of a case as they are given, and what is made of them.
pub struct Heads {
    form: Form,
    elements: u64,
    entries: u64,
    given: DeviceBuffer<u32>,
    made: Option<Made>,
}

/// Bits that an execution makes.
struct Made {
    kernel: Kernel,
    bits: DeviceBuffer<u32>,
    /// Of lengths: where the segments begin.
    starts: Option<(OnePass, DeviceBuffer<u32>)>,
}

/// Whether bits must be made: one pass reads nothing else, and the paper's kernels read flags of
/// any form.
fn makes_bits(method: Method, form: Form) -> bool {
    match method {
        Method::Sengupta2007 { .. } => form.per_segment(),
        _ => form != Form::Bits,
    }
}

/// Bytes of a case's heads on the device.
pub fn bytes(spec: &Spec) -> u64 {
    let Some(form) = spec.segmented.map(|segmented| segmented.heads) else { return 0 };
    let (entry, entries) = spec.head_entries();
    let starts =
        if form == Form::Lengths { 4 * entries + one_pass::bytes(Means::Spine, entries, 4) } else { 0 };
    let bits = if makes_bits(spec.method, form) { 4 * spec.elements.div_ceil(32) } else { 0 };
    (entry * entries).next_multiple_of(4) + starts + bits
}

/// The kernel that makes bits of heads of a form.
fn maker(form: Form) -> &'static str {
    match form {
        Form::Bits | Form::Bytes => "heads_of_bytes",
        Form::Striped => "heads_of_stripes",
        Form::Lengths | Form::Pointers => "heads_of_pointers",
    }
}

/// The scan that makes pointers of lengths.
const STARTS: (bool, &str) = (false, "add_u32");

/// The names of the kernels that a case's heads take.
pub fn names(spec: &Spec) -> Vec<String> {
    let Some(form) = spec.segmented.map(|segmented| segmented.heads) else { return Vec::new() };
    let made = makes_bits(spec.method, form).then(|| maker(form).to_owned());
    let starts =
        (made.is_some() && form == Form::Lengths).then(|| one_pass::name(Means::Spine, STARTS.0, STARTS.1));
    ["scan_fill_heads".to_owned()].into_iter().chain(made).chain(starts).collect()
}

impl Heads {
    /// Allocates and generates those of a case; `None` where it is not segmented.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Option<Heads>, Failure> {
        let Some(form) = spec.segmented.map(|segmented| segmented.heads) else { return Ok(None) };
        let (entry, entries) = spec.head_entries();
        let given = gpu.alloc(length((entry * entries).div_ceil(4))?)?;
        let mut heads = Heads { form, elements: spec.elements, entries, given, made: None };
        heads.fill(gpu, module, spec)?;
        if makes_bits(spec.method, form) {
            heads.made = Some(heads.made(gpu, module)?);
        }
        Ok(Some(heads))
    }

    fn fill(&self, gpu: &Gpu, module: &Module, spec: &Spec) -> Result<(), Failure> {
        let (code, segments) = (form(self.form), Segments::new(spec));
        let args = [(&self.given).into(), (&code).into(), (&segments).into(), (&self.entries).into()];
        launch_over(gpu, &module.kernel("scan_fill_heads")?, self.entries, &args)
    }

    fn made(&self, gpu: &Gpu, module: &Module) -> Result<Made, Failure> {
        let starts = match self.form {
            Form::Lengths => {
                let scan = OnePass::new(gpu, module, Means::Spine, STARTS, 4, self.entries)?;
                Some((scan, gpu.alloc(length(self.entries)?)?))
            }
            _ => None,
        };
        let bits = gpu.alloc(length(self.elements.div_ceil(32))?)?;
        Ok(Made { kernel: module.kernel(maker(self.form))?, bits, starts })
    }

    /// Bytes that they hold.
    pub fn bytes(&self) -> u64 {
        let starts =
            |made: &Made| made.starts.as_ref().map_or(0, |(scan, starts)| scan.bytes() + starts.bytes());
        self.given.bytes() + self.made.as_ref().map_or(0, |made| made.bits.bytes() + starts(made))
    }

    /// Queues what makes the bits, where there is something to make.
    pub fn execute(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let (given, n, entries) = (self.given.pointer(), self.elements, self.entries);
        let Some(made) = &mut self.made else { return Ok(()) };
        if n == 0 {
            return Ok(());
        }
        let words = made.bits.len() as u64;
        match self.form {
            Form::Bits | Form::Bytes => made.launch(gpu, words, &[(&given).into(), (&n).into()]),
            Form::Striped => made.launch(gpu, words.div_ceil(4) * 32, &[(&given).into(), (&words).into()]),
            Form::Lengths | Form::Pointers => {
                gpu.memset32(&mut made.bits, 0)?;
                let pointers = made.pointers(gpu, given, entries)?;
                made.launch(gpu, entries, &[(&pointers).into(), (&entries).into(), (&n).into()])
            }
        }
    }

    /// The flags as the paper's kernels take them.
    pub fn flags(&self) -> Flags {
        match &self.made {
            Some(made) => Flags { at: made.bits.pointer(), form: form(Form::Bits), unused: 0 },
            None => Flags { at: self.given.pointer(), form: form(self.form), unused: 0 },
        }
    }
}

impl Made {
    fn launch(&self, gpu: &Gpu, threads: u64, args: &[crate::device::cuda::Arg]) -> Result<(), Failure> {
        let all: Vec<_> = [(&self.bits).into()].into_iter().chain(args.iter().copied()).collect();
        gpu.launch(&self.kernel, grid(threads, BLOCK.into()), BLOCK, 0, &all)
    }

    /// Where the segments begin: the entries themselves, or the lengths' exclusive sum.
    fn pointers(
        &mut self,
        gpu: &Gpu,
        given: DevicePtr<u32>,
        entries: u64,
    ) -> Result<DevicePtr<u32>, Failure> {
        let Some((scan, starts)) = &mut self.starts else { return Ok(given) };
        let output = starts.pointer();
        let arrays = Arrays { input: given, output, heads: DevicePtr::null(), aligned: true };
        scan.execute(gpu, &arrays, entries, Manner { flip: 0, backward: false, inclusive: false })?;
        Ok(output)
    }
}
