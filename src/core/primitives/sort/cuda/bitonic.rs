//! The bitonic sorting network (`kernels/sort/bitonic.cuh`). Keys with values take the numbers of their places along, in the
//! array between, and the values are gathered at the end.

use super::{Arrays, Sorter};
use crate::case::Failure;
use crate::device::cuda::{DevicePtr, Gpu, Kernel, KernelList, KernelName, args, device_struct};
use crate::primitives::cuda::{BLOCK, grid, launch_over};
use crate::primitives::sort::Spec;
use crate::primitives::sort::bitonic::{LEVELS, Launch, TILE, launches as plan};
use crate::primitives::sort::digits::Digits;

/// The module of he2007's sorts.
pub const MODULE: &str = "sort_he2007";

device_struct! {
    /// `Bitonic` in the kernels.
    struct Network: 48 {
        keys_in: DevicePtr<u32>,
        keys: DevicePtr<u32>,
        places: DevicePtr<u32>,
        n: u32,
        begin: u32,
        bits: u32,
        span: u32,
        mirrored: u32,
        unused: u32,
    }
}

/// Bytes of dynamic shared memory of a block that sorts a tile: its keys and, with values, their places.
pub fn shared(spec: &Spec) -> u32 {
    let place = if spec.value() > 0 { 4 } else { 0 };
    (TILE * (spec.key_bytes() + place)) as u32
}

/// The kernel of a launch.
fn name(spec: &Spec, launch: Launch) -> String {
    let what = match launch {
        Launch::Tiles => "tiles".to_owned(),
        Launch::Levels { levels, .. } => format!("levels_{levels}"),
        Launch::Rest => "rest".to_owned(),
    };
    format!("bitonic_{what}_u{}_{}", 8 * spec.key_bytes(), if spec.value() > 0 { "pairs" } else { "keys" })
}

/// The kernel that gathers the values.
fn gathering(spec: &Spec) -> Option<String> {
    (spec.value() > 0).then(|| format!("bitonic_values_{}", spec.value()))
}

/// The kernels of a case.
pub fn kernels(spec: &Spec) -> KernelList {
    let launches = plan(spec.keys, LEVELS).into_iter().map(|launch| name(spec, launch));
    KernelList::default().timed_all(MODULE, launches.chain(gathering(spec)).map(|name| (name, 1)))
}

/// The kernels of a case.
pub struct Bitonic {
    spec: Spec,
    kernels: Vec<(String, Kernel)>,
}

impl Bitonic {
    /// Loads the kernels.
    ///
    /// # Errors
    /// The driver's.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Bitonic, Failure> {
        let module = gpu.module(MODULE)?;
        let named = |(_, name): KernelName| Ok((name.clone(), module.kernel(&name)?));
        Ok(Bitonic {
            spec: *spec,
            kernels: kernels(spec).names().map(named).collect::<Result<_, Failure>>()?,
        })
    }

    fn kernel(&self, name: &str) -> Result<&Kernel, Failure> {
        let found = self.kernels.iter().find(|(own, _)| own == name);
        found.map(|(_, kernel)| kernel).ok_or_else(|| Failure::Failed(format!("{name} is not loaded")))
    }
}

impl Sorter for Bitonic {
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        let (n, Digits { begin, end, .. }) = (arrays.n, self.spec.digits(8));
        let places = arrays.between[0];
        let all = Network {
            keys_in: arrays.from[0],
            keys: arrays.to[0],
            places,
            n: n as u32,
            begin,
            bits: end - begin,
            span: 0,
            mirrored: 0,
            unused: 0,
        };
        for launch in plan(n, LEVELS) {
            let (network, blocks, shared) = match launch {
                Launch::Levels { span, levels, mirrored } => {
                    let threads = n.div_ceil(span) * (span >> levels);
                    let network = Network { span: span as u32, mirrored: u32::from(mirrored), ..all };
                    (network, grid(threads, BLOCK.into()), 0)
                }
                _ => (all, grid(n, TILE), shared(&self.spec)),
            };
            gpu.launch(self.kernel(&name(&self.spec, launch))?, blocks, BLOCK, shared, args![network])?;
        }
        match gathering(&self.spec) {
            Some(name) => {
                let (kernel, n32) = (self.kernel(&name)?, n as u32);
                launch_over(gpu, kernel, n, args![arrays.to[1], arrays.from[1], places, n32])
            }
            None => Ok(()),
        }
    }
}
