//! Modules, kernels and their launches.

use std::collections::HashMap;
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

use cust::sys::{self, CUfunction_attribute};

use super::buffer::DeviceBuffer;
use super::error::{Code, check, check_raw, code, raw};
use super::gpu::{Gpu, Inner};
use super::ptx;
use crate::case::Failure;
use crate::device::cuda::{GpuFacts, Plain};

/// Dynamic shared memory that every kernel may have without asking, bytes (CUDA C++
/// Programming Guide, "Shared Memory").
const SHARED_WITHOUT_OPT_IN: u32 = 48 << 10;

/// A module that the driver has compiled, with the parameters of its kernels.
pub(super) struct Loaded {
    module: cust::module::Module,
    entries: HashMap<&'static str, Arc<Entry>>,
}

/// What is known of one kernel, whoever asked for it.
struct Entry {
    name: &'static str,
    /// Bytes of each parameter.
    sizes: Vec<usize>,
    /// Dynamic shared memory that the driver has been told to allow.
    allowed: Mutex<u32>,
}

impl Entry {
    fn new(name: &'static str, sizes: Vec<usize>) -> Entry {
        Entry { name, sizes, allowed: Mutex::new(SHARED_WITHOUT_OPT_IN) }
    }
}

impl Loaded {
    /// Checks the PTX of this name against the device and has the driver compile it.
    pub fn new(gpu: &Inner, name: &str) -> Result<Loaded, Failure> {
        let text = ptx::embedded(name)
            .ok_or_else(|| Failure::Failed(format!("no CUDA module `{name}` in this build")))?;
        Loaded::from_ptx(gpu, name, text)
    }

    /// As [`new`](Loaded::new), from a text.
    fn from_ptx(gpu: &Inner, name: &str, text: &'static str) -> Result<Loaded, Failure> {
        ptx::check(text, &gpu.facts)?;
        let entry = |(name, sizes)| (name, Arc::new(Entry::new(name, sizes)));
        let entries = ptx::entries(text).into_iter().map(entry).collect();
        let image = CString::new(text).map_err(|_| Failure::Failed(format!("{name}.ptx has a zero byte")))?;
        gpu.bind()?;
        let module = code(cust::module::Module::from_ptx_cstr(&image, &[])).map_err(|code| match code {
            Code(ptx::UNSUPPORTED_VERSION) => ptx::too_new(text, &gpu.facts),
            other => other.failure(&format!("cuModuleLoadDataEx({name}.ptx)")),
        })?;
        Ok(Loaded { module, entries })
    }
}

/// The kernels of one PTX file.
///
/// A clone of what the [`Gpu`] keeps: it may be dropped and asked for again at no cost.
#[derive(Clone)]
pub struct Module {
    // Dropped before the context.
    loaded: Arc<Loaded>,
    gpu: Arc<Inner>,
}

impl Module {
    pub(super) fn new(gpu: Arc<Inner>, loaded: Arc<Loaded>) -> Module {
        Module { loaded, gpu }
    }

    /// The `extern "C"` kernel of this name.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Failure> {
        let missing = || Failure::Failed(format!("no kernel `{name}` in the module"));
        let entry = self.loaded.entries.get(name).ok_or_else(missing)?.clone();
        self.gpu.bind()?;
        let function = check("cuModuleGetFunction", self.loaded.module.get_function(name))?;
        Ok(Kernel { entry, function: Handle(function.to_raw()), _module: self.clone() })
    }
}

/// The driver's handle of a kernel.
#[derive(Clone, Copy)]
struct Handle(sys::CUfunction);

// SAFETY: the driver may be called with a handle from any thread.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

/// One kernel, ready to be launched.
#[derive(Clone)]
pub struct Kernel {
    entry: Arc<Entry>,
    function: Handle,
    _module: Module,
}

impl Kernel {
    /// Its name in the PTX.
    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// `Failed` if the arguments are not as many and as large as the kernel's.
    fn check(&self, args: &[Arg]) -> Result<(), Failure> {
        let given = args.iter().map(|arg| arg.size);
        let Entry { name, sizes, .. } = &*self.entry;
        if given.clone().eq(sizes.iter().copied()) {
            return Ok(());
        }
        let given: Vec<usize> = given.collect();
        Err(Failure::Failed(format!("kernel {name} takes arguments of {sizes:?} bytes, not {given:?}")))
    }

    /// Raises the kernel's limit of dynamic shared memory where it is too low.
    fn allow_shared(&self, bytes: u32, facts: &GpuFacts) -> Result<(), Failure> {
        if bytes > facts.shared_per_block {
            return Err(Failure::NotApplicable(format!(
                "needs {bytes} bytes of shared memory per block, {} there",
                facts.shared_per_block
            )));
        }
        let mut allowed = self.entry.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= *allowed {
            return Ok(());
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the handle lives as long as the module that this kernel holds.
        let result = unsafe { sys::cuFuncSetAttribute(self.function.0, attribute, bytes.cast_signed()) };
        check_raw("cuFuncSetAttribute(max dynamic shared size)", result)?;
        *allowed = bytes;
        Ok(())
    }
}

/// One argument of a launch: a number, a `#[repr(C)]` struct or a buffer's address,
/// borrowed until the launch has copied it.
#[derive(Clone, Copy)]
pub struct Arg<'a> {
    value: *const c_void,
    size: usize,
    _borrowed: PhantomData<&'a ()>,
}

impl<'a> Arg<'a> {
    fn new<T>(value: &'a T) -> Arg<'a> {
        Arg { value: ptr::from_ref(value).cast(), size: size_of::<T>(), _borrowed: PhantomData }
    }
}

impl<'a, T: Plain> From<&'a T> for Arg<'a> {
    fn from(value: &'a T) -> Arg<'a> {
        Arg::new(value)
    }
}

impl<'a, T: Plain> From<&'a DeviceBuffer<T>> for Arg<'a> {
    fn from(buffer: &'a DeviceBuffer<T>) -> Arg<'a> {
        Arg::new(buffer.address())
    }
}

impl<'a, T: Plain> From<&'a mut DeviceBuffer<T>> for Arg<'a> {
    fn from(buffer: &'a mut DeviceBuffer<T>) -> Arg<'a> {
        Arg::new(buffer.address())
    }
}

impl Gpu {
    /// Queues a kernel on `grid` blocks of `block` threads, with `shared_bytes` of
    /// dynamic shared memory each.
    ///
    /// The number of arguments and their sizes are checked; their meaning, and that
    /// the kernel stays inside its buffers, are the caller's to get right: wrap each
    /// kernel once in a typed function. An access outside of all allocations is
    /// reported as `Lost` by the next call that waits.
    pub fn launch(
        &self,
        kernel: &Kernel,
        grid: u32,
        block: u32,
        shared_bytes: u32,
        args: &[Arg],
    ) -> Result<(), Failure> {
        kernel.check(args)?;
        self.inner.bind()?;
        kernel.allow_shared(shared_bytes, &self.inner.facts)?;
        let mut values: Vec<*mut c_void> = args.iter().map(|arg| arg.value.cast_mut()).collect();
        let stream = self.inner.stream.as_inner();
        // SAFETY: the handle is alive, `values` points to as many values of the sizes
        // that the kernel takes, and the driver copies them before it returns.
        let result = unsafe {
            sys::cuLaunchKernel(
                kernel.function.0,
                grid,
                1,
                1,
                block,
                1,
                1,
                shared_bytes,
                stream,
                values.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        raw(result).map_err(|code| code.failure(&format!("cuLaunchKernel({})", kernel.name())))
    }

    /// Blocks of this kernel that the whole device can hold at once.
    pub fn max_blocks(&self, kernel: &Kernel, block: u32, shared_bytes: u32) -> Result<u32, Failure> {
        self.inner.bind()?;
        kernel.allow_shared(shared_bytes, &self.inner.facts)?;
        let mut per_sm = 0;
        // SAFETY: `per_sm` outlives the call; the handle is alive.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut per_sm,
                kernel.function.0,
                block.cast_signed(),
                shared_bytes as usize,
            )
        };
        check_raw("cuOccupancyMaxActiveBlocksPerMultiprocessor", result)?;
        match u32::try_from(per_sm) {
            Ok(per_sm) if per_sm > 0 => Ok(per_sm * self.inner.facts.sms),
            _ => Err(Failure::NotApplicable(format!(
                "a block of {block} threads with {shared_bytes} bytes of shared memory does not fit on a \
                 multiprocessor"
            ))),
        }
    }
}
