//! The segment heads of a case on a device, and the bits that the kernels read, made from them. Making the bits
//! is part of every execution, for a case may represent its segments in any form.

use super::one_pass::{Launch, OnePass, Variant};
use super::{MODULE, Segments};
use crate::device::cuda::Arg;
use crate::primitives::cuda::prelude::*;
use crate::primitives::scan::Spec;
use crate::primitives::scan::methods::makes_bits;
use crate::primitives::scan::segments::Heads as Form;

const FILL: &str = "scan_fill_heads";

/// The heads of a case.
pub struct Heads {
    given: DeviceBuffer<u32>,
    /// Makes bits of the given heads, if kernels do not read those.
    make: Option<GpuMethod<DevicePtr<u32>>>,
    /// The heads that kernels read.
    pub read: DevicePtr<u32>,
}

/// The kernel that makes bits of a case's heads, if an execution makes them.
fn maker(spec: &Spec) -> Option<&'static str> {
    match spec.heads().filter(|_| makes_bits(spec))? {
        Form::Lengths | Form::Pointers => Some("heads_of_pointers"),
        Form::Bytes => Some("heads_of_bytes"),
        Form::Striped => Some("heads_of_stripes"),
        Form::Bits => None,
    }
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
        let (module, n, (entry, entries)) = (gpu.module(MODULE)?, spec.elements, spec.head_entries());
        let given = array(gpu, (entry * entries).div_ceil(4))?;
        let segments = Segments::new(&spec.segments());
        launch_over(gpu, &module.kernel(FILL)?, entries, args![given, form as u32, segments, entries])?;
        let Some(maker) = maker(spec).filter(|_| n > 0) else {
            return Ok(Some(Heads { read: given.pointer(), given, make: None }));
        };
        let (kernel, words) = (module.kernel(maker)?, n.div_ceil(32));
        let mut bits = array(gpu, words)?;
        let read = bits.pointer();
        // A segment begins at the sum of the lengths before it.
        let starts =
            || Ok::<_, Failure>((OnePass::new(gpu, Variant::COUNTS, entries)?, array(gpu, entries)?));
        let mut starts = (form == Form::Lengths).then(starts).transpose()?;
        let make: GpuMethod<DevicePtr<u32>> = Box::new(move |gpu, &given| {
            let launch =
                |threads, args: &[Arg]| gpu.launch(&kernel, grid(threads, BLOCK.into()), BLOCK, 0, args);
            match form {
                Form::Bits | Form::Bytes => launch(words, args![bits, given, n]),
                Form::Striped => launch(words.div_ceil(4) * 32, args![bits, given, words]),
                Form::Lengths | Form::Pointers => {
                    gpu.memset32(&mut bits, 0)?;
                    let mut pointers = given;
                    if let Some((scan, starts)) = &mut starts {
                        pointers = DeviceBuffer::pointer(starts);
                        scan.execute(gpu, Launch::new(given, pointers, entries))?;
                    }
                    launch(entries, args![bits, pointers, entries, n])
                }
            }
        });
        Ok(Some(Heads { given, make: Some(make), read }))
    }

    /// Queues the kernels that make the bits, if bits must be made.
    pub fn execute(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let given = self.given.pointer();
        self.make.as_mut().map_or(Ok(()), |make| make(gpu, &given))
    }
}
