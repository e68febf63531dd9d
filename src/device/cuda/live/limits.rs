//! What a case sets of the context and of its stream. All of it is put back when it is
//! dropped, for the next case shares both.

use std::sync::Arc;

use cust::sys::{
    self, CUaccessPolicyWindow_st as Window, CUaccessProperty as Property, CUlimit, CUstreamAttrID,
    CUstreamAttrValue,
};

use super::buffer::DeviceBuffer;
use super::error::{Code, check_raw, raw};
use super::gpu::{Gpu, Inner};
use crate::case::Failure;
use crate::device::cuda::Plain;

/// A limit of the context that is another one until this is dropped.
pub struct Limit {
    gpu: Arc<Inner>,
    which: CUlimit,
    before: usize,
    now: usize,
}

impl Limit {
    fn new(gpu: &Arc<Inner>, which: CUlimit, wanted: usize) -> Result<Limit, Failure> {
        gpu.bind()?;
        let before = limit(which)?;
        set_limit(which, wanted)?;
        let mut changed = Limit { gpu: gpu.clone(), which, before, now: wanted };
        changed.now = limit(which)?;
        Ok(changed)
    }

    /// What the driver made of it.
    pub fn bytes(&self) -> u64 {
        self.now as u64
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // There is nobody to tell of an error; a lost device fails at the next case.
        let _ = self.gpu.bind().and_then(|()| set_limit(self.which, self.before));
    }
}

/// A part of L2 that is kept for an array until this is dropped.
pub struct Persisting {
    gpu: Arc<Inner>,
    part: Limit,
}

impl Persisting {
    /// What the driver set aside.
    pub fn bytes(&self) -> u64 {
        self.part.bytes()
    }
}

impl Drop for Persisting {
    fn drop(&mut self) {
        // As above. The lines that were kept are given up, too.
        let _ = self.gpu.synchronize();
        let _ = set_window(&self.gpu, window(0, 0, 0.0));
        // SAFETY: the context is current.
        let _ = unsafe { sys::cuCtxResetPersistingL2Cache() };
    }
}

impl Gpu {
    /// Has L2 fetch so many bytes from memory at a miss, which the driver takes for a wish.
    pub fn fetching(&self, bytes: u32) -> Result<Limit, Failure> {
        Limit::new(&self.inner, CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, bytes as usize)
    }

    /// Sets `bytes` of L2 aside for accesses of the stream to `array`, or to the part of it that
    /// a window may have, as many of them (chosen by the device) as fit there.
    ///
    /// # Errors
    /// `NotApplicable` where L2 cannot be divided, or not so far.
    pub fn persisting<T: Plain>(&self, array: &DeviceBuffer<T>, bytes: u64) -> Result<Persisting, Failure> {
        let facts = self.device();
        if bytes > facts.persisting_l2 {
            let most = crate::case::units::fmt_bytes(facts.persisting_l2);
            let reason = match facts.persisting_l2 {
                0 => "this GPU sets no part of its L2 aside".to_owned(),
                _ => format!("persist: this GPU sets at most {most} of its L2 aside"),
            };
            return Err(Failure::NotApplicable(reason));
        }
        let part = Limit::new(&self.inner, CUlimit::CU_LIMIT_PERSISTING_L2_CACHE_SIZE, bytes as usize)?;
        let persisting = Persisting { gpu: self.inner.clone(), part };
        let covered = array.bytes().min(facts.policy_window);
        let share = (persisting.bytes() as f32 / covered.max(1) as f32).min(1.0);
        set_window(&self.inner, window(array.pointer().0, covered, share))?;
        Ok(persisting)
    }
}

/// The code of a limit that the device does not have.
const UNSUPPORTED: Code = Code(215);

fn limit(which: CUlimit) -> Result<usize, Failure> {
    let mut value = 0;
    // SAFETY: `value` outlives the call, which writes one number there.
    match raw(unsafe { sys::cuCtxGetLimit(&mut value, which) }) {
        Ok(()) => Ok(value),
        Err(UNSUPPORTED) => Err(Failure::NotApplicable("this GPU has no such limit of its L2".to_owned())),
        Err(other) => Err(other.failure("cuCtxGetLimit")),
    }
}

fn set_limit(which: CUlimit, value: usize) -> Result<(), Failure> {
    // SAFETY: a number for the current context.
    check_raw("cuCtxSetLimit", unsafe { sys::cuCtxSetLimit(which, value) })
}

/// Accesses to `bytes` at `address`: a `share` of them persists, the others are ordinary.
fn window(address: u64, bytes: u64, share: f32) -> Window {
    let hit =
        if bytes > 0 { Property::CU_ACCESS_PROPERTY_PERSISTING } else { Property::CU_ACCESS_PROPERTY_NORMAL };
    Window {
        base_ptr: address as *mut _,
        num_bytes: bytes as usize,
        hitRatio: share,
        hitProp: hit,
        missProp: Property::CU_ACCESS_PROPERTY_NORMAL,
    }
}

/// The value of an attribute as drivers since CUDA 11.8 have it: 64 bytes.
#[repr(C)]
struct Attribute {
    value: CUstreamAttrValue,
    room: [u8; 64 - size_of::<CUstreamAttrValue>()],
}

fn set_window(gpu: &Inner, window: Window) -> Result<(), Failure> {
    let value = CUstreamAttrValue { accessPolicyWindow: window };
    let attribute = Attribute { value, room: [0; 64 - size_of::<CUstreamAttrValue>()] };
    let which = CUstreamAttrID::CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW;
    // SAFETY: the stream is alive, and the driver copies the attribute before it returns.
    let result = unsafe {
        sys::cuStreamSetAttribute(gpu.stream.as_inner(), which, std::ptr::from_ref(&attribute).cast())
    };
    check_raw("cuStreamSetAttribute", result)
}
