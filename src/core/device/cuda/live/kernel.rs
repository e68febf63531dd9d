//! Modules, kernels, the libraries into which the driver compiles them, and their launches.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;
use std::mem::transmute;
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use cust::sys::{self, CUfunction, CUfunction_attribute};

use super::gpu::{Gpu, Inner};
use super::overlap::{Dependent, Shape};
use super::packed::{self, Entry, Text};
use super::ptx;
use super::{Code, check_raw, driver, raw};
use crate::case::Failure;
use crate::device::cuda::{GpuFacts, Plain};

/// Dynamic shared memory available to every kernel without opt-in, bytes (CUDA C++ Programming Guide, "Shared
/// Memory").
const SHARED_WITHOUT_OPT_IN: u32 = 48 << 10;

/// A compiled kernel, alone in a library of the driver.
struct Compiled {
    name: &'static str,
    /// Size of each parameter, bytes.
    sizes: Vec<usize>,
    function: Handle,
    /// Current limit of dynamic shared memory, bytes.
    allowed: Mutex<u32>,
    /// The launch that overlaps with the one before it; `None` if the kernel waits for that one.
    dependent: Option<Dependent>,
    _library: Library,
}

impl Compiled {
    /// Compiles a kernel.
    fn new(gpu: &Inner, entry: Entry) -> Result<Compiled, Failure> {
        let Entry { module, name, text } = entry;
        gpu.bind()?;
        let failed = |call: &'static str| {
            move |failed: Code| match failed {
                Code(ptx::UNSUPPORTED_VERSION) => ptx::too_new(&module.shared, &gpu.facts),
                other => other.failure(&format!("{call}({name} of {}.ptx)", module.name)),
            }
        };
        let zero = |_| Failure::Failed(format!("{}.ptx has a zero byte", module.name));
        let dependent = ptx::overlaps(text, &gpu.facts).then(Dependent::new).transpose();
        let dependent = dependent.map_err(|code| code.failure("cuLaunchKernelEx"))?;
        let image = if dependent.is_some() { ptx::overlapping(&entry.image())? } else { entry.image() };
        let (image, name_there) = (CString::new(image).map_err(zero)?, CString::new(name).map_err(zero)?);
        let library = Library::new(&image).map_err(failed("cuLibraryLoadData"))?;
        let function = Handle(library.function(&name_there).map_err(failed("cuLibraryGetKernel"))?);
        let (sizes, allowed) = (ptx::parameters(text), Mutex::new(SHARED_WITHOUT_OPT_IN));
        Ok(Compiled { name, sizes, function, allowed, dependent, _library: library })
    }
}

/// The kernels compiled for a GPU, each once.
#[derive(Default)]
pub(super) struct Kernels(Mutex<HashMap<(&'static str, &'static str), Slot>>);

/// The slot of a kernel. The thread that compiles the kernel holds the lock, and others wait for it; a failed
/// compilation is retried at the next request.
type Slot = Arc<Mutex<Option<Arc<Compiled>>>>;

impl Kernels {
    fn slot(&self, entry: &Entry) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry((entry.module.name, entry.name)).or_default().clone()
    }
}

/// The kernel in a slot; compiles it if the slot is empty.
fn fill(place: &mut Option<Arc<Compiled>>, gpu: &Inner, entry: Entry) -> Result<Arc<Compiled>, Failure> {
    match place {
        Some(compiled) => Ok(compiled.clone()),
        None => Ok(place.insert(Arc::new(Compiled::new(gpu, entry)?)).clone()),
    }
}

/// The kernels of one PTX file.
#[derive(Clone)]
pub struct Module {
    text: &'static Text,
    gpu: Arc<Inner>,
}

impl Module {
    /// The module with this name, if the driver and the device support it.
    pub(super) fn new(gpu: Arc<Inner>, name: &str) -> Result<Module, Failure> {
        let text = packed::module(name)?;
        ptx::check(&text.shared, &gpu.facts)?;
        Ok(Module { text, gpu })
    }

    /// The `extern "C"` kernel with this name. The driver compiles it at the first request, which takes about a
    /// tenth of a second; concurrent requests wait for each other.
    ///
    /// # Errors
    /// `Failed` if the module has no such kernel; errors reported by the driver.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Failure> {
        let entry = self.text.entry(name)?;
        let slot = self.gpu.kernels.slot(&entry);
        let mut place = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let compiled = fill(&mut place, &self.gpu, entry)?;
        Ok(Kernel { compiled, overlaps: true, _gpu: self.gpu.clone() })
    }

    /// Several kernels of the module.
    ///
    /// # Errors
    /// As for [`kernel`](Module::kernel).
    pub fn kernels<const N: usize>(&self, names: [impl AsRef<str>; N]) -> Result<[Kernel; N], Failure> {
        let kernels = names.iter().map(|name| self.kernel(name.as_ref())).collect::<Result<Vec<_>, _>>()?;
        let number = |kernels: Vec<Kernel>| Failure::Failed(format!("{} kernels of {N}", kernels.len()));
        kernels.try_into().map_err(number)
    }

    /// Compiles a kernel in advance, unless another thread is already doing so.
    pub(super) fn compile(&self, name: &str) -> Result<(), Failure> {
        let entry = self.text.entry(name)?;
        let slot = self.gpu.kernels.slot(&entry);
        let mut place = match slot.try_lock() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(place)) => place.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok(()),
        };
        fill(&mut place, &self.gpu, entry).map(drop)
    }
}

/// The driver's handle of a kernel.
#[derive(Clone, Copy)]
struct Handle(sys::CUfunction);

// SAFETY: the driver may be called with a handle from any thread.
unsafe impl Send for Handle {}
// SAFETY: see `Send` above.
unsafe impl Sync for Handle {}

/// One kernel, ready to be launched.
#[derive(Clone)]
pub struct Kernel {
    // Declared first, so that it is dropped before the context.
    compiled: Arc<Compiled>,
    /// False if it must be launched after earlier launches are complete.
    overlaps: bool,
    _gpu: Arc<Inner>,
}

impl Kernel {
    /// Name of the kernel in the PTX.
    pub fn name(&self) -> &'static str {
        self.compiled.name
    }

    /// The kernel, to be launched once earlier launches are complete.
    pub fn in_turn(&self) -> Kernel {
        Kernel { overlaps: false, ..self.clone() }
    }

    /// `Failed` unless the number and sizes of the arguments match the kernel's parameters.
    fn check(&self, args: &[Arg]) -> Result<(), Failure> {
        let given = args.iter().map(|arg| arg.size);
        let Compiled { name, sizes, .. } = &*self.compiled;
        if given.clone().eq(sizes.iter().copied()) {
            return Ok(());
        }
        let given: Vec<usize> = given.collect();
        Err(Failure::Failed(format!("kernel {name} takes arguments of {sizes:?} bytes, not {given:?}")))
    }

    /// Raises the kernel's limit of dynamic shared memory if necessary.
    fn allow_shared(&self, bytes: u32, facts: &GpuFacts) -> Result<(), Failure> {
        if bytes > facts.shared_per_block {
            return Err(Failure::NotApplicable(format!(
                "needs {bytes} bytes of shared memory per block, but there are {}",
                facts.shared_per_block
            )));
        }
        let mut allowed = self.compiled.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes <= *allowed {
            return Ok(());
        }
        let attribute = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the handle lives as long as the library held by this kernel.
        let result =
            unsafe { sys::cuFuncSetAttribute(self.compiled.function.0, attribute, bytes.cast_signed()) };
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
    /// A value, passed to the kernel as it is.
    pub fn new<T: Plain>(value: &'a T) -> Arg<'a> {
        Arg { value: ptr::from_ref(value).cast(), size: size_of::<T>(), _borrowed: PhantomData }
    }
}

impl Gpu {
    /// Queues a kernel with `grid` blocks of `block` threads, and `shared_bytes` of dynamic shared memory per
    /// block. If the kernel waits for earlier launches by itself (`kernels/common/overlap.cuh`), it is launched while the
    /// one before it ends.
    ///
    /// The number and sizes of the arguments are checked. Their meaning, and that the kernel stays inside its
    /// buffers, are up to the caller: wrap each kernel once in a typed function. An access outside all
    /// allocations is reported as `Lost` by the next call that waits.
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
        let failed = |call| move |code: Code| code.failure(&format!("{call}({})", kernel.name()));
        if let Some(dependent) = kernel.compiled.dependent.filter(|_| kernel.overlaps) {
            let shape = Shape { grid, block, shared_bytes };
            // SAFETY: as for `cuLaunchKernel` below.
            let result = unsafe { dependent.launch(kernel.compiled.function.0, shape, stream, &mut values) };
            return result.map_err(failed("cuLaunchKernelEx"));
        }
        // SAFETY: the handle is alive, `values` points to as many values of the sizes
        // that the kernel takes, and the driver copies them before it returns.
        let result = unsafe {
            sys::cuLaunchKernel(
                kernel.compiled.function.0,
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
        raw(result).map_err(failed("cuLaunchKernel"))
    }

    /// Number of blocks of this kernel that can be resident on the whole device.
    pub fn max_blocks(&self, kernel: &Kernel, block: u32, shared_bytes: u32) -> Result<u32, Failure> {
        self.inner.bind()?;
        kernel.allow_shared(shared_bytes, &self.inner.facts)?;
        let mut per_sm = 0;
        // SAFETY: `per_sm` outlives the call, and the handle is alive.
        let result = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut per_sm,
                kernel.compiled.function.0,
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

/// A compiled PTX text.
///
/// Libraries of machine code, compiled by the driver from PTX independently of any context.
///
/// The driver's older call, `cuModuleLoadDataEx`, holds the context while it compiles, which serializes threads.
/// Libraries are compiled in parallel: sixteen kernels that take one thread 0.7 s take four threads 0.17 s (H200,
/// driver 580), and the driver's cache serves both calls. Its linker compiles in parallel as well, but leaves
/// functions to be linked: they are called instead of inlined, and kernels run up to a half slower.
///
/// `cust` lacks these functions, which were added in CUDA 12.0; the kernels require an even newer driver.
pub(super) struct Library(*mut c_void);

// SAFETY: the driver may be called with a handle from any thread.
unsafe impl Send for Library {}
// SAFETY: see `Send` above.
unsafe impl Sync for Library {}

impl Library {
    /// Compiles a text. Concurrent calls do not wait for each other.
    pub fn new(text: &CStr) -> Result<Library, Code> {
        type Load = unsafe extern "C" fn(
            *mut *mut c_void,
            *const c_void,
            *mut c_void,
            *mut *mut c_void,
            u32,
            *mut c_void,
            *mut *mut c_void,
            u32,
        ) -> u32;
        let address = driver::symbol(c"cuLibraryLoadData").map_err(Code)?;
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let load: Load = unsafe { transmute(address) };
        let mut library = ptr::null_mut();
        let (none, nothing) = (ptr::null_mut::<c_void>(), ptr::null_mut::<*mut c_void>());
        // SAFETY: the text is null-terminated, and there are no options.
        let answer = unsafe { load(&mut library, text.as_ptr().cast(), none, nothing, 0, none, nothing, 0) };
        done(answer).map(|()| Library(library))
    }

    /// The function of a kernel in the current context.
    pub fn function(&self, kernel: &CStr) -> Result<CUfunction, Code> {
        let address = driver::symbol(c"cuLibraryGetKernel").map_err(Code)?;
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let find: unsafe extern "C" fn(*mut *mut c_void, *mut c_void, *const c_char) -> u32 =
            unsafe { transmute(address) };
        let address = driver::symbol(c"cuKernelGetFunction").map_err(Code)?;
        // SAFETY: as for `cuLibraryGetKernel`.
        let get: unsafe extern "C" fn(*mut CUfunction, *mut c_void) -> u32 = unsafe { transmute(address) };
        let (mut handle, mut function) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the library is loaded, and both results outlive the calls.
        done(unsafe { find(&mut handle, self.0, kernel.as_ptr()) })?;
        // SAFETY: `handle` was just returned by the driver.
        done(unsafe { get(&mut function, handle) }).map(|()| function)
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        let Ok(address) = driver::symbol(c"cuLibraryUnload") else { return };
        // SAFETY: the driver's function of this name has this type (CUDA driver API).
        let unload: unsafe extern "C" fn(*mut c_void) -> u32 = unsafe { transmute(address) };
        // SAFETY: no kernel of the library is in use any more. If unloading fails, the library stays loaded.
        let _ = unsafe { unload(self.0) };
    }
}

fn done(answer: u32) -> Result<(), Code> {
    if answer == 0 { Ok(()) } else { Err(Code(answer)) }
}
