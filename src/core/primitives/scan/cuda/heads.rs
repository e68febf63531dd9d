//! The segment heads of a case on a device, and the bits that the kernels read, made from them. Making the bits
//! is part of every execution, for a case may represent its segments in any form.

use super::one_pass::{Launch, OnePass, Variant};
use super::sengupta2007::Flags;
use super::{MODULE, Segments};
use crate::case::Failure;
use crate::device::cuda::{Arg, DeviceBuffer, Gpu, Kernel, KernelList, args};
use crate::primitives::cuda::{BLOCK, array, grid, launch_over};
use crate::primitives::scan::segments::Heads as Form;
use crate::primitives::scan::spec::{Method, Spec};

const FILL: &str = "scan_fill_heads";

/// The segments of a case as they are given, and the bits made from them.
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
    /// The first elements of the segments, where their lengths are given.
    starts: Option<(OnePass, DeviceBuffer<u32>)>,
}

/// The kernel that makes bits of a case's heads, if bits must be made: one-pass kernels read nothing else, and
/// the paper's kernels read flags of any form.
fn maker(spec: &Spec) -> Option<&'static str> {
    let by_paper = matches!(spec.method, Method::Sengupta2007 { .. });
    match spec.heads()? {
        Form::Lengths | Form::Pointers => Some("heads_of_pointers"),
        Form::Bytes if !by_paper => Some("heads_of_bytes"),
        Form::Striped if !by_paper => Some("heads_of_stripes"),
        Form::Bits | Form::Bytes | Form::Striped => None,
    }
}

/// Words that hold one bit per element.
fn words(spec: &Spec) -> u64 {
    spec.elements.div_ceil(32)
}

/// The kernels that handle a case's heads.
pub fn kernels(spec: &Spec) -> KernelList {
    let starts = (spec.heads() == Some(Form::Lengths)).then(|| Variant::COUNTS.name());
    let given = KernelList::default().untimed(MODULE, spec.heads().map(|_| FILL));
    let made = maker(spec).map(str::to_owned).into_iter().chain(starts);
    given.timed_all(MODULE, made.map(|name| (name, 1)))
}

impl Heads {
    /// Allocates and generates the heads of a case; `None` for an unsegmented scan.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Option<Heads>, Failure> {
        let Some(form) = spec.heads() else { return Ok(None) };
        let (entry, entries) = spec.head_entries();
        let given = array(gpu, (entry * entries).div_ceil(4))?;
        let fill = gpu.module(MODULE)?.kernel(FILL)?;
        let segments = Segments::new(&spec.segments());
        launch_over(gpu, &fill, entries, args![given, form as u32, segments, entries])?;
        let made = maker(spec).map(|maker| Made::new(gpu, maker, spec)).transpose()?;
        Ok(Some(Heads { form, elements: spec.elements, entries, given, made }))
    }

    /// Queues the kernels that make the bits, if bits must be made.
    pub fn execute(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let (given, n, entries) = (self.given.pointer(), self.elements, self.entries);
        let Some(Made { kernel, bits, starts }) = self.made.as_mut().filter(|_| n > 0) else { return Ok(()) };
        let launch = |threads, args: &[Arg]| gpu.launch(kernel, grid(threads, BLOCK.into()), BLOCK, 0, args);
        let words = bits.len() as u64;
        match self.form {
            Form::Bits | Form::Bytes => launch(words, args![bits, given, n]),
            Form::Striped => launch(words.div_ceil(4) * 32, args![bits, given, words]),
            Form::Lengths | Form::Pointers => {
                gpu.memset32(bits, 0)?;
                let mut pointers = given;
                // A segment begins at the sum of the lengths before it.
                if let Some((scan, starts)) = starts {
                    pointers = starts.pointer();
                    scan.execute(gpu, Launch::new(given, pointers, entries))?;
                }
                launch(entries, args![bits, pointers, entries, n])
            }
        }
    }

    /// The flags: bits that were made, or else the given flags.
    pub fn flags(&self) -> Flags {
        match &self.made {
            Some(made) => Flags::new(made.bits.pointer(), Form::Bits),
            None => Flags::new(self.given.pointer(), self.form),
        }
    }
}

impl Made {
    fn new(gpu: &Gpu, maker: &str, spec: &Spec) -> Result<Made, Failure> {
        let (_, entries) = spec.head_entries();
        let starts =
            || Ok::<_, Failure>((OnePass::new(gpu, Variant::COUNTS, entries)?, array(gpu, entries)?));
        Ok(Made {
            kernel: gpu.module(MODULE)?.kernel(maker)?,
            bits: array(gpu, words(spec))?,
            starts: (spec.heads == Form::Lengths).then(starts).transpose()?,
        })
    }
}
