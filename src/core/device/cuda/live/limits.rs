//! Settings of the context and its stream for one case. They are restored on drop, because the next case shares
//! both.

use std::sync::Arc;

use cust::sys::{
    self, CUaccessPolicyWindow_st as Window, CUaccessProperty as Property, CUlimit, CUstreamAttrID,
    CUstreamAttrValue,
};

use super::buffer::DeviceBuffer;
use super::gpu::{Gpu, Inner};
use super::{Code, check_raw, raw};
use crate::case::Failure;
use crate::device::cuda::Plain;

/// A changed limit of the context, restored when this is dropped.
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

    /// The limit that the driver actually set.
    pub fn bytes(&self) -> u64 {
        self.now as u64
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // There is no one to report an error to; a lost device fails the next case.
        let _ = self.gpu.bind().and_then(|()| set_limit(self.which, self.before));
    }
}

/// A part of L2 reserved for an array until this is dropped.
pub struct Persisting {
    gpu: Arc<Inner>,
    part: Limit,
}

impl Persisting {
    /// Bytes of L2 that the driver actually set aside.
    pub fn bytes(&self) -> u64 {
        self.part.bytes()
    }
}

impl Drop for Persisting {
    fn drop(&mut self) {
        // Errors are ignored as above. The persisting lines are released, too.
        let _ = self.gpu.synchronize();
        let _ = set_window(&self.gpu, window(0, 0, 0.0));
        // SAFETY: the context is current.
        let _ = unsafe { sys::cuCtxResetPersistingL2Cache() };
    }
}

impl Gpu {
    /// Sets the number of bytes that L2 fetches from memory on a miss, which the driver treats as a hint.
    pub fn fetching(&self, bytes: u32) -> Result<Limit, Failure> {
        Limit::new(&self.inner, CUlimit::CU_LIMIT_MAX_L2_FETCH_GRANULARITY, bytes as usize)
    }

    /// Sets `bytes` of L2 aside for the stream's accesses to `array`, or to as much of the array as a window can
    /// cover. If that is more than `bytes`, the device chooses a matching share of the accesses.
    ///
    /// # Errors
    /// `NotApplicable` if the GPU cannot set L2 aside, or not this much.
    pub fn persisting<T: Plain>(&self, array: &DeviceBuffer<T>, bytes: u64) -> Result<Persisting, Failure> {
        let facts = self.device();
        if bytes > facts.persisting_l2 {
            let most = crate::case::units::fmt_bytes(facts.persisting_l2);
            let reason = match facts.persisting_l2 {
                0 => "this GPU cannot set aside part of its L2".to_owned(),
                _ => format!("persist: this GPU can set aside at most {most} of its L2"),
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

/// The error code for a limit that the device does not have.
const UNSUPPORTED: Code = Code(215);

fn limit(which: CUlimit) -> Result<usize, Failure> {
    let mut value = 0;
    // SAFETY: `value` outlives the call, which writes one number to it.
    match raw(unsafe { sys::cuCtxGetLimit(&mut value, which) }) {
        Ok(()) => Ok(value),
        Err(UNSUPPORTED) => Err(Failure::NotApplicable("this GPU has no such limit of its L2".to_owned())),
        Err(other) => Err(other.failure("cuCtxGetLimit")),
    }
}

fn set_limit(which: CUlimit, value: usize) -> Result<(), Failure> {
    // SAFETY: sets a number of the current context.
    check_raw("cuCtxSetLimit", unsafe { sys::cuCtxSetLimit(which, value) })
}

/// An access window of `bytes` at `address`: a `share` of its accesses persists, the others are normal.
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

/// The value of a stream attribute in the size expected by drivers since CUDA 11.8: 64 bytes.
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
